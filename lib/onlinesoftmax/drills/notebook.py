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
from onlinesoftmax.drills.exactness import asked
from onlinesoftmax.drills.feedback import answer_text, feedback, is_miss
from onlinesoftmax.drills.grade import GRADERS
from onlinesoftmax.drills.payload import how_exact, payload
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
        return "\n\n".join(self._parts())

    def _repr_html_(self) -> str:
        id = self.drill.id
        inner = text.blocks(repr(self))
        return f'<div class="os-drill" data-drill="{id}" id="drill-{id}">{inner}</div>'

    def _parts(self) -> list[str]:
        """Return the question, how exact the answer has to be, and how to give it."""
        rule = how_exact(self.drill)
        precision = [asked(rule)] if rule else []
        return [say(self.drill.get("prompt")), *precision, *self._extra(), self._how()]

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
        kind = "own" if "points" in drill.fields else drill.kind
        return word(
            "how" + kind.capitalize(),
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
    id: str,
    answer: Any = "",
    *,
    show: bool = False,
    on: str = "simulator",
    had: Sequence[int] | None = None,
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
    had : sequence of int, optional
        Of an answer in your own words: the numbers of the points it makes. Only you can
        tell, so nothing is marked before you say it.

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
    if "points" in data:
        return _compare(drill, str(answer), had)
    if on not in ("simulator", "device"):
        raise ValueError(f'on: expected "simulator" or "device", got {on!r}')
    if drill.kind == "kernel":
        outcome = kernels.mark(data, answer, on)
        _draw(answer, outcome)
    elif drill.kind == "code":
        outcome = _run(drill, data, answer)
    else:
        outcome = GRADERS[drill.kind](data, answer)
    misses[id] = 0 if outcome["passed"] else misses.get(id, 0) + is_miss(outcome)
    lines, table = feedback(drill, data, outcome, misses[id])
    return Verdict(outcome["passed"], lines, table)


def _compare(drill: Drill, answer: str, had: Sequence[int] | None) -> Verdict:
    """Show what an answer in one's own words should say, or take what its owner had."""
    points = [say(point) for point in drill.get("points")]
    if not answer.strip():
        return Verdict(False, (word("emptyOwn"),))
    if had is None:
        listed = "\n".join(f"- **{n}**  {point}" for n, point in enumerate(points, 1))
        how = word("howHad", id=drill.id)
        return Verdict(False, (say(drill.get("solution")), listed, how))
    ticked = _ticked(had, len(points))
    said = word("had", n=len(ticked), all=len(points))
    left = [
        f"- **{n}**  {point}" for n, point in enumerate(points, 1) if n not in ticked
    ]
    if not left:
        return Verdict(True, (f"**✓ {said}**",))
    return Verdict(False, (f"**→ {said}**", word("missed"), "\n".join(left)))


def _ticked(had: Sequence[int], count: int) -> set[int]:
    """Return the numbers of the points somebody had, if they are such numbers."""
    numbers = set(had) if isinstance(had, (list, tuple, set, range)) else {had}
    if not numbers <= set(range(1, count + 1)):
        raise ValueError(
            f"had: expected numbers of points, from 1 to {count}, such as [1, {count}],"
            f" got {had!r}"
        )
    return numbers


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
