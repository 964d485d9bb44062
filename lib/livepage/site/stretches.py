"""What there is to read and to do on a page, section by section, in minutes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from docutils import nodes
from myst_nb.sphinx_ext import HideCodeCellNode

from livepage.sittings import Stretch

from . import hosts, search

WORDS = 200  # a minute
LINES = 15  # of code, a minute
FIGURE = 2  # minutes: a prediction, and some play
AFTERWARDS = 3  # minutes of reading that may follow the drill that closes a section
LITTLE = 0.5  # minutes of reading in a section that holds little but drills


class Piece(NamedTuple):
    """A part of a section: minutes to read it, and its drills."""

    reading: float
    drills: list[str]


def stretches(page: nodes.document) -> list[Stretch]:
    """Return the stretches of a page; what precedes its first section is in the first."""
    found: list[Stretch] = []
    met: set[str] = set()
    before = 0.0
    for part in _parts(page):
        if isinstance(part, nodes.section):
            here = _of_section(part, met)
            found += [here[0]._replace(reading=here[0].reading + before), *here[1:]]
            before = 0.0
        else:
            before += _piece(part, met).reading
    return found or [Stretch("", "", "", before, 0, (), False)]


def _parts(page: nodes.document) -> Iterator[nodes.Node]:
    """The sections of a page, and what stands beside them below its heading."""
    for part in page.children:
        yield from part.children if isinstance(part, nodes.section) else [part]


def _of_section(section: nodes.section, met: set[str]) -> list[Stretch]:
    """The section; each drill of one that holds little else."""
    pieces = [_piece(part, met) for part in section.children]
    asking = [place for place, piece in enumerate(pieces) if piece.drills]
    little = sum(piece.reading for piece in pieces) <= LITTLE
    apart = len(asking) > 1 and little
    starts = [0, *(place + 1 for place in asking[:-1])] if apart else [0]
    ends = [*starts[1:], len(pieces)]
    name, title = section["ids"][0], _title(section)
    found = [_joined(pieces[a:b], name, title) for a, b in zip(starts, ends)]
    found = [one._replace(optional=_is_optional(section)) for one in found]
    found[1:] = [one._replace(anchor=f"drill-{one.drills[0]}") for one in found[1:]]
    return [*found[:-1], found[-1]._replace(section=name)]


def _piece(part: nodes.Node, met: set[str]) -> Piece:
    """Measure a part of a page; `met` are the figures above it."""
    html = [node.astext() for node in part.findall(nodes.raw)]
    figures = {name for text in html for name in hosts.figures_on(text)}
    reading = _words(part) / WORDS + _lines(part) / LINES
    reading += len(figures - met) * FIGURE
    met |= figures
    return Piece(reading, [name for text in html for name in hosts.drills_on(text)])


def _joined(pieces: list[Piece], anchor: str, title: str) -> Stretch:
    drills = tuple(name for piece in pieces for name in piece.drills)
    last = max(
        (place for place, piece in enumerate(pieces) if piece.drills), default=-1
    )
    afterwards = sum(piece.reading for piece in pieces[last + 1 :])
    return Stretch(
        anchor,
        title,
        "",
        sum(piece.reading for piece in pieces),
        sum(hosts.minutes(list(drills))),
        drills,
        bool(drills) and afterwards <= AFTERWARDS,
    )


def _labels(heading: nodes.Element) -> list[nodes.inline]:
    found = heading.findall(nodes.inline)
    return [each for each in found if "label" in each["classes"]]


def _is_optional(section: nodes.section) -> bool:
    labels = _labels(section.next_node(nodes.title))
    return "optional" in [label.astext() for label in labels]


def _title(section: nodes.section) -> str:
    """A heading in plain text, without the label beside it."""
    heading = section.next_node(nodes.title).deepcopy()
    for mark in _labels(heading):
        mark.parent.remove(mark)
    return " ".join("".join(map(search.words, heading.children)).split())


def _words(part: nodes.Node) -> int:
    """The words of the prose."""
    if not isinstance(part, nodes.section):
        return len(search.words(part, search.NO_PROSE).split())
    return sum(map(_words, part.children))


def _lines(part: nodes.Node) -> int:
    """The lines of code to read: not what code printed, and not what is folded away."""
    code = [node for node in part.findall(nodes.literal_block) if _is_read(node)]
    return sum(len(node.astext().strip().splitlines()) for node in code)


def _is_read(block: nodes.literal_block) -> bool:
    folded: nodes.Node | None = block
    while folded is not None and not isinstance(folded, HideCodeCellNode):
        folded = folded.parent
    return folded is None and "output" not in block["classes"]
