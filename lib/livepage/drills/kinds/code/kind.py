"""The kind of drill whose answer is a function; its results are compared step by step."""

from __future__ import annotations

import ast
import contextlib
import inspect
import io
import sys
import textwrap
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

from blocksim import functions
from livepage import markup, sentences
from livepage.drills import syntax
from livepage.drills.entry import Drill
from livepage.drills.faults import new_fault
from livepage.drills.grade import Earned, Outcome, Visit
from livepage.drills.kind import Kind, Table, described, hint_of
from livepage.drills.kinds.code import cases, grader
from livepage.drills.kinds.code.deadline import OutOfTime, within
from livepage.drills.kinds.code.puzzle import puzzle
from livepage.drills.values import as_code
from livepage.drills.words import Say, column, in_language, word
from livepage.numbers import show
from livepage.words import ENGLISH

LIMIT_S = 20.0  # as on the page


class Code(Kind):
    """A function that is called in each case."""

    minutes = 4  # and a half for each line that the starter lacks
    needs = {"function", "starter", "code", "oracle", "cases", "compared", "mutants"}
    may_have = {"drive", "given", "tolerance", "random"}
    entries = {"mutants": [{"hint", "name", "code"}, {"hint", "name", "change"}]}
    written = restarts = True
    graders = ("grader",)
    wanted = "function"
    marks: Any = grader

    def minutes_of(self, drill: Drill) -> float:
        return self.minutes + len(_missing_lines(drill)) / 2

    def form(self, drill: Drill) -> str:
        return "code"

    def payload(self, drill: Drill) -> dict[str, Any]:
        return cases.payload(drill)

    def extra(self, drill: Drill) -> list[str]:
        """Return the starter."""
        return [f"```\n{drill.get('starter')}```"]

    def accept(self, drill: Drill, answer: Any) -> Any:
        """Raise for an answer that is no function, and explain how to pass one."""
        if not self.is_one(answer):
            id, name = drill.id, drill.get("function")
            raise ValueError(
                f"answer: drill {id!r} expects a {self.wanted}, got {described(answer)}."
                f' Hand it over without calling it: check("{id}", {name})'
            )
        return answer

    def is_one(self, answer: Any) -> bool:
        """Return whether an answer is a function."""
        return callable(answer) and not isinstance(answer, type)

    def player(self, data: Mapping[str, Any], answer: Any) -> Callable[..., Any]:
        return grader.player(data["drive"], answer, data["cases"])

    def take(
        self,
        drill: Drill,
        data: Mapping[str, Any],
        answer: Any,
        on: str,
        language: str = "en",
    ) -> Outcome:
        """Mark a function, within the page's time limit."""
        play = self.player(data, self.accept(drill, answer))
        outcome = _wrong_parameters(drill, answer)
        outcome = outcome or _mark_in_time(self.marks, play, data)
        if not outcome["passed"] and _is_untouched(drill, answer):
            outcome["untouched"] = True
        # Only after the simulator: it reports a thread that waits forever, whereas a GPU
        # would hang.
        if on == "device" and outcome["passed"]:
            outcome = self.on_device(data, answer, outcome)
        _show_in_figures(answer, outcome)
        return outcome

    def on_device(
        self, data: Mapping[str, Any], answer: Any, outcome: Outcome
    ) -> Outcome:
        """Return the outcome after a run on a GPU. Functions do not run on GPUs."""
        return outcome

    def reply(
        self,
        drill: Drill,
        data: Mapping[str, Any],
        outcome: Outcome,
        visit: Visit,
        earned: Earned,
        language: str,
    ) -> tuple[list[Any], Table]:
        """Return the first fault in words, and a table of the steps up to it."""
        own = self.sentences(drill, language)
        slots = sentences.in_slots(outcome["slots"], language, own)
        lines: list[Any] = []
        if outcome["case"] is not None:
            name = self.case_name(data["cases"][outcome["case"]], language)
            lines.append(Say("failedOn", {"name": f"*{name}*"}))
        fault = [Say(outcome["word"], slots)]
        lines.append(
            fault if outcome.get("ended", True) else [*fault, Say("stillRuns")]
        )
        if "launched" in outcome:
            lines.append(Say(*outcome["launched"]))
        hint = hint_of(drill, outcome)
        if outcome.get("untouched") and not visit.hints:
            lines += [Say(key, {"id": drill.id}) for key in ("untouched", "howHint")]
        elif hint:
            lines.append(hint)
        elif "nudge" in outcome:
            lines.append(Say(outcome["nudge"]))
        table = outcome.get("table")
        return lines, _steps(table, language, own) if table else ()

    def sentences(self, drill: Drill, language: str) -> dict[str, str]:
        """Return the drill's own sentences: English pattern → pattern in a language."""
        if language == ENGLISH or "drive" not in drill.fields:
            return {}
        return sentences.pairs_of_code(drill.get("drive"), language)

    drawn = "random"  # the name of a case that was drawn at random

    def case_name(self, case: Mapping[str, Any], language: str) -> str:
        """Return the name of a case, or the phrase for a random one."""
        if case["drawn"]:
            return word(self.drawn, language)
        return in_language(case["name"], language)

    def answer_text(self, drill: Drill, language: str) -> str:
        """Return an answer that passes."""
        return f"```\n{drill.get('code')}```"

    # ---- on the page

    def html(self, card: Any) -> str:
        """Return an editor with the starter."""
        name, starter = card.name, card.drill.get("starter").rstrip()
        rows = starter.count("\n") + 1
        return f"""\
{self.how(card)}\
<label class="os-drill-caption" for="{name}-answer">{card.word("editor")}</label>
<div class="os-drill-editor"><div class="os-drill-gutter" aria-hidden="true"></div>\
<textarea id="{name}-answer" name="answer" rows="{rows}" wrap="off" spellcheck="false"\
 autocapitalize="off" autocorrect="off" aria-describedby="{name}-how">
{escape(starter, quote=False)}</textarea></div>
<p class="os-drill-how os-drill-keys" id="{name}-how" hidden>\
{card.word("editorHelp")}</p>"""

    def how(self, card: Any) -> str:
        """Return the note on what the page's MicroPython lacks."""
        return f'<p class="os-drill-how">{card.word("small")}</p>\n'

    def solution(self, card: Any) -> str:
        """Return an answer that passes."""
        return markup.blocks(self.answer_text(card.drill, card.lang), card.maths)

    def page_data(self, card: Any) -> dict[str, Any]:
        """Return the starter, the cases, the answer's lines, sorted, and its puzzle."""
        lines_to_order = puzzle(card.drill)
        named = [
            {**case, "name": self.case_name(case, card.lang)}
            for case in card.data["cases"]
        ]
        lines = {line.strip() for line in card.drill.get("code").splitlines()} - {""}
        said = self.sentences(card.drill, card.lang)
        return {
            **({"said": said} if said else {}),
            "payload": {**card.data, "cases": named},
            "starter": card.drill.get("starter"),
            "steps": [markup.code("\n".join(sorted(lines, key=str.lower)))],
            "puzzle": lines_to_order.data() if lines_to_order else None,
        }


def _missing_lines(drill: Drill) -> list[str]:
    """Return the lines of the solution that the starter lacks, wherever they stand."""
    there = Counter(map(str.strip, drill.get("starter").splitlines()))
    needed = Counter(map(str.strip, drill.get("code").splitlines()))
    return [line for line in (needed - there).elements() if line]


def _wrong_parameters(drill: Drill, answer: Any) -> dict[str, Any] | None:
    """Return the fault of a function with the wrong parameters, or None."""
    tree = ast.parse(drill.fields["starter"])
    name = drill.fields["function"]
    [wanted] = [node for node in tree.body if getattr(node, "name", "") == name]
    names = [argument.arg for argument in wanted.args.args]
    try:
        signature = inspect.signature(functions.bare(answer) or answer)
        signature.bind(*names)
    except ValueError:
        return None  # written in C: the call itself will fail
    except TypeError:
        got = str(signature)[1:-1] or "nothing"
        slots = {"value": as_code(got), "wanted": as_code(", ".join(names))}
        fault = new_fault("raised", "", "parameters", **slots)
        return grader.fail(None, [], {**fault, "type": "TypeError"})
    return None


def _is_untouched(drill: Drill, answer: Any) -> bool:
    """Say whether the functions of the starter and the numbers around are unchanged."""
    function = functions.bare(answer)
    if function is None:
        return False
    around = {**functions.used(function), drill.get("function"): function}
    for name, literal in _literals(drill.get("starter")).items():
        value = around.get(name, literal)
        if type(value) is not type(literal) or value != literal:
            return False
    return all(
        syntax.same_program(_own_text(around.get(name), name), text)
        for name, text in _definitions(drill.get("starter")).items()
    )


def _literals(source: str) -> dict[str, Any]:
    """Map the names that a source gives a literal value, alone or in a tuple, to it."""
    found: dict[str, Any] = {}
    for node in ast.parse(source).body:
        if not isinstance(node, ast.Assign):
            continue
        try:
            value = ast.literal_eval(node.value)
        except ValueError:
            continue  # it is computed
        target = node.targets[0]
        if isinstance(target, ast.Tuple):
            found |= {name.id: one for name, one in zip(target.elts, value)}
        else:
            found[target.id] = value
    return found


def _own_text(function: Any, name: str) -> str:
    """Return the source of a reader's function, or "" if there is none."""
    try:
        text = textwrap.dedent(inspect.getsource(functions.bare(function)))
        return _definitions(text).get(name, "")
    except (OSError, SyntaxError, TypeError):
        return ""


def _definitions(source: str) -> dict[str, str]:
    """Map the functions of a source to their texts, without decorators."""
    lines = source.splitlines()
    return {
        node.name: "\n".join(lines[node.lineno - 1 : node.end_lineno])
        for node in ast.parse(source).body
        if isinstance(node, ast.FunctionDef)
    }


def _mark_in_time(marks: Any, play: Callable[..., Any], data: dict[str, Any]) -> Any:
    """Mark within the time limit. Output after the verdict is not shown."""
    known: dict[str, Any] = {"case": None, "first": None}
    quiet = contextlib.ExitStack()

    def played(index: int, *how: str) -> Any:
        known["case"] = index
        return play(index, *how)

    def settled(report: dict[str, Any] | None) -> None:
        known["first"] = report
        quiet.enter_context(contextlib.redirect_stdout(io.StringIO()))

    def work() -> Any:
        slips = lambda: data["slips"]  # noqa: E731
        return marks.grade(played, data["cases"], slips, data["tolerance"], settled)

    try:
        with quiet:
            return within(LIMIT_S, work)
    except OutOfTime as error:
        fault = new_fault("tooLong", LIMIT_S, "tooLong", n=LIMIT_S)
        fault["ended"] = error.ended
        at = known["case"]
        case = None if at is None else data["cases"][at]
        return known["first"] or marks.fail(at, [], fault, case)


def _show_in_figures(kernel: Any, outcome: dict[str, Any]) -> None:
    """Pass the log of a kernel to the figures of this notebook, if there are any."""
    widget = sys.modules.get("livepage.figures.widget")
    if widget and outcome.get("log"):
        widget.tell(functions.text(kernel), outcome["log"])


def _steps(
    columns: Sequence[Mapping[str, Any]], language: str, own: Mapping[str, str]
) -> Table:
    """Return the table of a report: a heading and a row per step."""

    def cell(value: Any, *digits: int) -> str:
        return show(own.get(value, value) if isinstance(value, str) else value, *digits)

    count = len(columns[-1]["cells"])
    shown = [(word("stepColumn", language), *map(str, range(1, count + 1)))]
    for one in columns:
        title = column(one["name"], language)
        whose = f", {word(one['whose'], language)}" if one["whose"] else ""
        shown.append((title + whose, *(cell(*each) for each in one["cells"])))
    return tuple(zip(*shown))


KIND = Code()
