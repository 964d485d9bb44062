"""Drills in a notebook: ``drill(id)`` shows one, ``check(id, x)`` marks an answer."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from html import escape
from typing import Any

from livepage import markup
from livepage.drills.bank import find
from livepage.drills.entry import Drill
from livepage.drills.exactness import asked
from livepage.drills.grade import Visit
from livepage.drills.kinds import KINDS
from livepage.drills.words import in_language, word, write

visits: dict[str, Visit] = defaultdict(Visit)  # since the notebook's kernel started


@dataclass(frozen=True)
class Verdict:
    """The result of `check`. It is true if the answer passed.

    Attributes
    ----------
    passed : bool
    lines : tuple of str
        The reply, in the bank's markup.
    table : tuple of (tuple of str), optional
        A heading and rows, such as the steps of a code drill beside the expected ones.
    """

    passed: bool
    lines: tuple[str, ...]
    table: tuple[tuple[str, ...], ...] = field(default=())

    def __bool__(self) -> bool:
        return self.passed

    def __repr__(self) -> str:
        widths = [max(map(len, column)) for column in zip(*self.table)]
        rows = (
            "  ".join(cell.rjust(width) for cell, width in zip(row, widths))
            for row in self.table
        )
        return "\n".join([*self.lines, *rows])

    def _repr_markdown_(self) -> str:
        parts = [*self.lines]
        if self.table:
            head, *rows = (" | ".join(row) for row in self.table)
            rule = " | ".join("---" for _ in self.table[0])
            parts.append("\n".join(f"| {row} |" for row in [head, rule, *rows]))
        return "\n\n".join(parts)

    def _repr_html_(self) -> str:
        parts = [markup.blocks(line) for line in self.lines]
        for index, row in enumerate(self.table):
            tag = "td" if index else "th"
            cells = "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in row)
            parts.append(f"{'' if index else '<table>'}<tr>{cells}</tr>")
        end = "</table>" if self.table else ""
        return f'<div class="os-verdict">{"".join(parts)}{end}</div>'


class Shown:
    """A drill as a cell's output: readable in a notebook, replaced on the site."""

    def __init__(self, drill: Drill) -> None:
        self.drill = drill

    def __repr__(self) -> str:
        return "\n\n".join(self._parts())

    def _repr_html_(self) -> str:
        id = self.drill.id
        inner = markup.blocks(repr(self))
        return f'<div class="os-drill" data-drill="{id}" id="drill-{id}">{inner}</div>'

    def _parts(self) -> list[str]:
        """Return the prompt, the precision, and how to answer."""
        drill, kind = self.drill, KINDS[self.drill.kind]
        rule = kind.rule(drill)
        how = word(
            f"how{kind.instructions(drill).capitalize()}",
            **kind.fill(drill, "en"),
            columns=", ".join(drill.get("columns", ())),
            function=drill.get("function", ""),
        )
        return [
            in_language(drill.get("prompt")),
            *([asked(rule)] if rule else []),
            *kind.extra(drill),
            how,
        ]


def drill(id: str) -> Shown:
    """Show a drill.

    Parameters
    ----------
    id : str
        The drill's name in the bank, such as ``"rescale-hard"``.
    """
    return Shown(find(id))


def check(
    id: str,
    answer: Any = "",
    *more: Any,
    hint: bool = False,
    show: bool = False,
    on: str = "simulator",
    had: bool | None = None,
) -> Verdict:
    """Mark an answer, with the same hints as the page.

    Parameters
    ----------
    id : str
        The drill.
    answer : float, str, list or callable
        A number or an expression; a letter; letters in order; a table as a list of rows;
        a function or a kernel.
    hint : bool
        Show the next hint instead.
    show : bool
        Show the solution instead.
    on : {"simulator", "device"}
        Where a kernel runs. "simulator" is the book's simulator, which detects races.
        With "device", a kernel that passes there also runs on a GPU: unchanged on an
        NVIDIA GPU or Numba's simulator, or else on any GPU through the package wgpu.
    had : bool, optional
        For an answer in your own words, whether it makes all the points. Only you can
        tell, so nothing is marked without it.

    Returns
    -------
    Verdict
        True if the answer passed.

    Examples
    --------
    >>> check("alpha-tie", "e^(3-3)").passed
    True
    """
    drill = find(id)
    if hint:
        visits[id].hint(drill)
        return Verdict(False, write(visits[id].lines(drill), "en"))
    if show:
        visits[id].offered = True
        answer = KINDS[drill.kind].answer_text(drill, "en")
        return Verdict(False, (answer, in_language(drill.get("solution"))))
    if more:
        raise ValueError(
            f"answer: expected one, got {1 + len(more)}; a table or an order is one list"
        )
    kind = KINDS[drill.kind]
    return Verdict(*kind.check(drill, answer, visits[id], on=on, had=had))
