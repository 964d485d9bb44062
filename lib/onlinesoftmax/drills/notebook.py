"""Drills in a notebook: show one with ``drill(id)``, answer with ``check(id, x)``."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from onlinesoftmax.blocksim import functions
from onlinesoftmax.drills import grader, kernels, text
from onlinesoftmax.drills.bank import WRITTEN, Drill, find, say
from onlinesoftmax.drills.feedback import answer_text, feedback
from onlinesoftmax.drills.grade import GRADERS
from onlinesoftmax.drills.payload import payload
from onlinesoftmax.drills.words import word

LETTERS = "abcdefghijklmnopqrstuvwxyz"

# How often each drill has been missed since the kernel started: hints come one by one.
misses: dict[str, int] = {}


@dataclass(frozen=True)
class Verdict:
    """What a check found. True if the answer passed.

    Attributes
    ----------
    passed : bool
    lines : tuple of str
        What there is to say, in the small markup of the bank.
    table : tuple of (tuple of str), optional
        A heading and rows: a code drill's steps, yours beside expected.
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
        parts = [text.blocks(line) for line in self.lines]
        for place, row in enumerate(self.table):
            tag = "td" if place else "th"
            cells = "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in row)
            parts.append(f"{'' if place else '<table>'}<tr>{cells}</tr>")
        end = "</table>" if self.table else ""
        return f'<div class="os-verdict">{"".join(parts)}{end}</div>'


class Shown:
    """A drill as a cell's output: readable alone, and a host the site fills."""

    def __init__(self, drill: Drill) -> None:
        self.drill = drill

    def __repr__(self) -> str:
        return "\n\n".join([say(self.drill.get("prompt")), *self._extra(), self._how()])

    def _repr_html_(self) -> str:
        id = self.drill.id
        parts = [say(self.drill.get("prompt")), *self._extra(), self._how()]
        inner = text.blocks("\n\n".join(parts))
        return f'<div class="os-drill" data-drill="{id}" id="drill-{id}">{inner}</div>'

    def _extra(self) -> list[str]:
        """Return what has to be seen to answer: choices, lines, columns, a start."""
        drill = self.drill
        if drill.kind == "choice":
            return _lettered([say(choice["text"]) for choice in drill.get("choices")])
        if drill.kind == "order":
            lines = [say(line) for line in drill.get("lines")]
            return _lettered([lines[place] for place in payload(drill)["shown"]])
        if drill.kind in WRITTEN:
            return [f"```\n{drill.get('starter')}```"]
        return []

    def _how(self) -> str:
        drill = self.drill
        count = len(drill.get("lines", ()))
        return word(
            "how" + drill.kind.capitalize(),
            id=drill.id,
            letters=LETTERS[:count],
            columns=", ".join(drill.get("columns", ())),
            function=drill.get("function", ""),
        )


def _lettered(lines: Sequence[str]) -> list[str]:
    return ["\n".join(f"- **{LETTERS[i]}**  {line}" for i, line in enumerate(lines))]


def drill(id: str) -> Shown:
    """Show a drill.

    Parameters
    ----------
    id : str
        Its name in the bank, such as ``"rescale-hard"``.
    """
    return Shown(find(id))


def check(
    id: str, answer: Any = None, *, show: bool = False, on: str = "simulator"
) -> Verdict:
    """Mark an answer, with the same hints as the page.

    Parameters
    ----------
    id : str
        The drill.
    answer : float, str, list or callable
        A number or an expression; a letter; letters in order; a table, one list a row;
        a function or a kernel.
    show : bool
        Show the solution instead.
    on : {"simulator", "device"}
        Where a kernel runs: on the book's simulator, which looks for races, or, if it
        passes there, as it is as well, on a GPU or on Numba's simulator.

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
    if show:
        return Verdict(False, (answer_text(drill), say(drill.get("solution"))))
    data = payload(drill)
    if on not in ("simulator", "device"):
        raise ValueError(f'on: expected "simulator" or "device", got {on!r}')
    if drill.kind == "kernel":
        outcome = kernels.mark(data, answer, on)
        _draw(answer, outcome)
    elif drill.kind == "code":
        outcome = _run(drill, data, answer)
    else:
        outcome = GRADERS[drill.kind](data, answer)
    misses[id] = 0 if outcome["passed"] else misses.get(id, 0) + 1
    lines, table = feedback(drill, data, outcome, misses[id])
    return Verdict(outcome["passed"], lines, table)


def _draw(kernel: Any, outcome: dict[str, Any]) -> None:
    """Hand what the kernel did to the figures of this notebook, if there are any."""
    widget = sys.modules.get("onlinesoftmax.figures.widget")
    if widget and outcome.get("log"):
        widget.tell(functions.text(kernel), outcome["log"])


def _run(drill: Drill, data: dict[str, Any], function: Callable[..., Any]) -> Any:
    """Mark a function; its cases travel through JSON, as they do to the page."""
    if not callable(function):
        raise ValueError(
            f"answer: drill {drill.id!r} expects a function, got {function!r}"
        )
    drive = grader.load(data["drive"], "drive")
    cases = json.loads(json.dumps(data["cases"], allow_nan=False))
    return grader.grade(function, drive, cases, data["tolerance"], lambda case: None)
