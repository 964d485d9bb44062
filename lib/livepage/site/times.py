"""How long a page takes: its reading and its drills, apart, by a rule that is stated.

Nobody can know how long a reader takes. The rule counts what is on the page, so that a
chapter full of code is not called short because it has few words.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from docutils import nodes
from myst_nb.sphinx_ext import HideCodeCellNode
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from . import hosts, search

WORDS = 200  # a minute
LINES = 15  # of code, a minute
FIGURE = 2  # minutes: a prediction, and some play


class Times(NamedTuple):
    """Minutes to read a page, how many drills it has, and minutes to do them."""

    reading: int
    drills: int
    doing: int

    def said(self, words: dict[str, str]) -> list[str]:
        """Both times in words; that of the drills only where there are any."""
        said = [words["reading"].format(n=self.reading)]
        if self.drills:
            key = "doing_one" if self.drills == 1 else "doing"
            said.append(words[key].format(drills=self.drills, n=self.doing))
        return said


def rounded(minutes: float) -> int:
    """Whole minutes up to ten, then fives: more would be pretended."""
    step = 1 if minutes <= 10 else 5
    return max(1, step * round(minutes / step))


def rule(words: dict[str, str]) -> str:
    """The rule in a sentence."""
    from livepage.drills.kinds import KINDS

    numbers = {"words": WORDS, "lines": LINES, "figure": FIGURE}
    minutes = {name: kind.minutes for name, kind in KINDS.items()}
    return words["times_rule"].format(**numbers, **minutes)


def remember(app: Sphinx, doctree: nodes.document) -> None:
    """Keep how much code there is to read on a page, and its figures, when it is read."""
    outputs = [node.astext() for node in doctree.findall(nodes.raw)]
    figures = [name for html in outputs for name in hosts.figures_on(html)]
    code = [node for node in doctree.findall(nodes.literal_block) if _is_read(node)]
    lines = sum(len(node.astext().strip().splitlines()) for node in code)
    about = app.env.metadata[app.env.docname]
    about["amounts"] = {"lines": lines, "figures": len(set(figures))}


def _is_read(block: nodes.literal_block) -> bool:
    """Whether it is code, not what code printed, and not folded away."""
    folded: nodes.Node | None = block
    while folded is not None and not isinstance(folded, HideCodeCellNode):
        folded = folded.parent
    return folded is None and "output" not in block["classes"]


def of(env: BuildEnvironment, page: str) -> Times:
    """The times of a page."""
    words = sum(section["words"] for section in search.store(env).get(page, []))
    about: dict[str, Any] = env.metadata.get(page, {})
    amounts = about.get("amounts", {"lines": 0, "figures": 0})
    reading = words / WORDS + amounts["lines"] / LINES + amounts["figures"] * FIGURE
    minutes = hosts.minutes(about.get("drills", []))
    return Times(rounded(reading), len(minutes), rounded(sum(minutes)))


def setup(app: Sphinx) -> None:
    """Look at every page as it is read."""
    app.connect("doctree-read", remember)
