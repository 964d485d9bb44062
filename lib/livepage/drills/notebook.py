"""Drills in a notebook: show one with ``drill(id)``, answer with ``check(id, x)``."""

from __future__ import annotations

import ast
import contextlib
import inspect
import io
import sys
import textwrap
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from blocksim import functions
from livepage import markup
from livepage.drills import code, grader, kernel_grader, kernels, syntax
from livepage.drills.bank import WRITTEN, Drill, find, in_language
from livepage.drills.deadline import OutOfTime, within
from livepage.drills.exactness import asked
from livepage.drills.feedback import answer_text, feedback, slots
from livepage.drills.grade import GRADERS
from livepage.drills.payload import how_exact, payload
from livepage.drills.visit import Visit
from livepage.drills.words import word

LETTERS = "abcdefghijklmnopqrstuvwxyz"

visits: dict[str, Visit] = defaultdict(Visit)  # since the kernel was started


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
        parts = [markup.blocks(line) for line in self.lines]
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
        inner = markup.blocks(repr(self))
        return f'<div class="os-drill" data-drill="{id}" id="drill-{id}">{inner}</div>'

    def _parts(self) -> list[str]:
        """Return the question, how exact the answer has to be, and how to give it."""
        rule = how_exact(self.drill)
        precision = [asked(rule)] if rule else []
        return [
            in_language(self.drill.get("prompt")),
            *precision,
            *self._extra(),
            self._how(),
        ]

    def _extra(self) -> list[str]:
        """Return what has to be seen to answer: choices, lines, columns, a start."""
        drill = self.drill
        if drill.kind == "choice":
            return _lettered(
                [in_language(choice["text"]) for choice in drill.get("choices")]
            )
        if drill.kind == "order":
            lines = [in_language(line) for line in drill.get("lines")]
            return _lettered([lines[place] for place in payload(drill)["shown"]])
        if drill.kind in WRITTEN:
            return [f"```\n{drill.get('starter')}```"]
        return []

    def _how(self) -> str:
        drill = self.drill
        kind = "own" if "points" in drill.fields else drill.kind
        return word(
            "how" + kind.capitalize(),
            **slots(drill, {}, "en"),
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
    *more: Any,
    hint: bool = False,
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
    hint : bool
        Show the next hint instead.
    show : bool
        Show the solution instead.
    on : {"simulator", "device"}
        Where a kernel runs: on the book's simulator, which looks for races, or, if it
        passes there, on a GPU as well: as it is, on one of NVIDIA or on Numba's
        simulator, or else on one of any make, by the package wgpu.
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
    if hint:
        visits[id].hint(drill)
        return Verdict(False, tuple(visits[id].lines(drill, "en")))
    if show:
        visits[id].offered = True
        return Verdict(False, (answer_text(drill), in_language(drill.get("solution"))))
    if more:
        raise ValueError(
            f"answer: expected one, got {1 + len(more)}; a table or an order is one list"
        )
    if drill.kind not in WRITTEN:
        answer = _no_function(drill, answer)
    data = payload(drill)
    if "points" in data:
        return _compare(drill, str(answer), had)
    if on not in ("simulator", "device"):
        raise ValueError(f'on: expected "simulator" or "device", got {on!r}')
    if drill.kind in WRITTEN:
        outcome = _mark_function(drill, data, answer, on)
    else:
        outcome = GRADERS[drill.kind](data, answer)
    lines, table = feedback(drill, data, outcome, visits[id])
    if outcome.get("device"):
        lines = *lines, word("rightOn", device=outcome["device"])
    return Verdict(outcome["passed"], lines, table)


def _compare(drill: Drill, answer: str, had: Sequence[int] | None) -> Verdict:
    """Show the points of an answer in own words, or count those that the reader had."""
    points = [in_language(point) for point in drill.get("points")]
    if not answer.strip():
        return Verdict(False, (word("emptyOwn"),))
    if had is None:
        listed = "\n".join(f"- **{n}**  {point}" for n, point in enumerate(points, 1))
        how = word("howHad", id=drill.id)
        return Verdict(False, (in_language(drill.get("solution")), listed, how))
    ticked = _ticked(had, len(points))
    said = word("had", n=len(ticked), all=len(points))
    left = [
        f"- **{n}**  {point}" for n, point in enumerate(points, 1) if n not in ticked
    ]
    if not left:
        return Verdict(True, (f"**✓ {said}**",))
    return Verdict(False, (f"**→ {said}**", word("missed"), "\n".join(left)))


def _ticked(had: Sequence[int], count: int) -> set[int]:
    """Return the numbers of the points that the reader had; refuse other numbers."""
    had = had.tolist() if hasattr(had, "tolist") else had  # an array
    numbers = list(had) if isinstance(had, (list, tuple, set, range)) else [had]
    if not all(number in range(1, count + 1) for number in numbers):
        raise ValueError(
            f"had: expected numbers of points, from 1 to {count}, such as [1, {count}],"
            f" got {had!r}"
        )
    return set(numbers)


# ---- answers of the wrong kind


def _no_function(drill: Drill, answer: Any) -> Any:
    """Return an answer, arrays as lists; refuse a function, and nothing at all.

    Of a choice a number is refused as well: some count the first option as 0, some as 1.
    """
    came = answer
    answer = answer.tolist() if hasattr(answer, "tolist") else answer  # an array
    is_number = drill.kind == "choice" and not isinstance(answer, str)
    if answer is None or is_number or callable(answer) or inspect.isgenerator(answer):
        how = word(
            "how" + drill.kind.capitalize(), id=drill.id, letters="…", columns="…"
        )
        raise ValueError(f"answer: got {_described(came)}. {how}")
    return answer


def _function(drill: Drill, answer: Any) -> Any:
    """Return the function or kernel that was handed over, or say what came instead."""
    name, kernel = drill.get("function"), drill.kind == "kernel"
    if kernel and functions.bare(answer) is not None:
        return answer
    if not kernel and callable(answer) and not isinstance(answer, type):
        return answer
    wanted = "kernel" if kernel else "function"
    raise ValueError(
        f"answer: drill {drill.id!r} expects a {wanted}, got {_described(answer)}. Hand it"
        f' over without calling it: check("{drill.id}", {name})'
    )


def _described(answer: Any) -> str:
    """Return what an answer is, in words."""
    if answer is None or (isinstance(answer, str) and not answer):
        return "nothing"
    if isinstance(answer, type):
        return f"the class {answer.__name__}"
    if inspect.isgenerator(answer):
        return "a generator"
    if callable(answer):
        return f"the function {getattr(answer, '__name__', answer)}"
    if hasattr(answer, "shape"):
        return f"an array of shape {tuple(answer.shape)}"
    return f"{type(answer).__name__} {grader.brief(grader.plain(answer, 0))[:60]}"


# ---- functions and kernels

LIMIT_S = 20.0  # as on the page


def _mark_function(drill: Drill, data: dict[str, Any], answer: Any, on: str) -> Any:
    """Mark a function or a kernel, in the time that the page gives it too."""
    answer = _function(drill, answer)
    cases = data["cases"]
    if drill.kind == "kernel":
        marks, play = kernel_grader, kernels.player(kernels.maker(answer), cases)
    else:
        marks, play = grader, code.player(data["drive"], answer, cases)
    outcome = _wrong_parameters(drill, answer) or _mark_in_time(marks, play, data)
    # On the simulator first: there a thread that waits for ever is a fault, and a GPU
    # would hang.
    if not outcome["passed"] and _is_untouched(drill, answer):
        outcome["untouched"] = True
    if on == "device" and outcome["passed"] and drill.kind == "kernel":
        fault, name = kernels.on_device(answer, cases)
        outcome = fault or outcome | {"device": name}
    _show_in_figures(answer, outcome)
    return outcome


def _wrong_parameters(drill: Drill, answer: Any) -> dict[str, Any] | None:
    """Return the fault of a function that cannot be called with what it will get."""
    tree = ast.parse(drill.get("starter"))
    name = drill.get("function")
    [wanted] = [node for node in tree.body if getattr(node, "name", "") == name]
    names = [argument.arg for argument in wanted.args.args]
    try:
        signature = inspect.signature(functions.bare(answer) or answer)
        signature.bind(*names)
    except ValueError:
        return None  # written in C: it will say so itself
    except TypeError:
        got = str(signature)[1:-1] or "nothing"
        slots = {"value": grader.code(got), "wanted": grader.code(", ".join(names))}
        fault = grader.new_fault("raised", "", "parameters", **slots)
        return grader.fail(None, [], {**fault, "type": "TypeError"})
    return None


def _is_untouched(drill: Drill, answer: Any) -> bool:
    """Say whether a function, and those it came with, are still as the drill has them."""
    function = functions.bare(answer)
    if function is None:
        return False
    around = {**functions.used(function), drill.get("function"): function}
    return all(
        syntax.same_program(_own_text(around.get(name), name), text)
        for name, text in _definitions(drill.get("starter")).items()
    )


def _own_text(function: Any, name: str) -> str:
    """Return the text of a function of the reader's, nothing where there is none."""
    try:
        text = textwrap.dedent(inspect.getsource(functions.bare(function)))
        return _definitions(text).get(name, "")
    except (OSError, SyntaxError, TypeError):
        return ""


def _definitions(source: str) -> dict[str, str]:
    """Return the text of each function of a source, without its decorators."""
    lines = source.splitlines()
    return {
        node.name: "\n".join(lines[node.lineno - 1 : node.end_lineno])
        for node in ast.parse(source).body
        if isinstance(node, ast.FunctionDef)
    }


def _mark_in_time(marks: Any, play: Callable[..., Any], data: dict[str, Any]) -> Any:
    """Mark within the limit. What is printed after the verdict is not shown."""
    known: dict[str, Any] = {"case": None, "first": None}
    quiet = contextlib.ExitStack()

    def played(index: int, *how: str) -> Any:
        known["case"] = index
        return play(index, *how)

    def settled(report: dict[str, Any] | None) -> None:
        known["first"] = report
        quiet.enter_context(contextlib.redirect_stdout(io.StringIO()))

    def work() -> Any:
        asked = data["cases"], lambda: data["slips"], data["tolerance"], settled
        return marks.grade(played, *asked)

    try:
        with quiet:
            return within(LIMIT_S, work)
    except OutOfTime as error:
        fault = grader.new_fault("tooLong", LIMIT_S, "tooLong", n=LIMIT_S)
        fault["ended"] = error.ended
        at = known["case"]
        case = None if at is None else data["cases"][at]
        return known["first"] or marks.fail(at, [], fault, case)


def _show_in_figures(kernel: Any, outcome: dict[str, Any]) -> None:
    """Hand what the kernel did to the figures of this notebook, if there are any."""
    widget = sys.modules.get("livepage.figures.widget")
    if widget and outcome.get("log"):
        widget.tell(functions.text(kernel), outcome["log"])
