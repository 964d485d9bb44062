"""From an outcome to what a teacher would say about it.

What to say has been decided before: of code and kernels by their graders, of all else
by ``grading.json``. Here it is put into words, and numbers are written as a reader of
the notebook sees them; ``page/feedback.mjs`` does that for the page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import ascii_lowercase
from typing import Any

from livepage.drills.bank import WRITTEN, Drill, in_language
from livepage.drills.exactness import asked, safe
from livepage.drills.expression import evaluate
from livepage.drills.grade import is_miss, replies
from livepage.drills.payload import how_exact
from livepage.drills.visit import Visit
from livepage.drills.words import column, word
from livepage.numbers import show

Table = tuple[tuple[str, ...], ...]


def feedback(
    drill: Drill,
    data: Mapping[str, Any],
    outcome: Mapping[str, Any],
    visit: Visit,
    language: str = "en",
) -> tuple[tuple[str, ...], Table]:
    """Return the lines to say about an outcome, and a table for code drills.

    Parameters
    ----------
    drill : Drill
    data : mapping
        The drill's payload.
    outcome : mapping
        From a grader.
    visit : Visit
        What was said before; what is said now is added to it.
    language : str

    Returns
    -------
    lines : tuple of str
    table : tuple of rows
    """
    visit.record(drill, outcome)
    lines = [*_echo(data, outcome, language)]
    if outcome["passed"]:
        why = in_language(drill.get("solution"), language)
        score = _score(data, outcome, language)
        return (*lines, f"**✓ {word('right', language)}**", why), score
    if drill.kind in WRITTEN:
        reply, table = _code(drill, data, outcome, visit, language)
    else:
        reply, table = [_reply(drill, data, outcome, language)], ()
    heading = "close" if outcome.get("near") else "notYet"
    lines += [f"**→ {word(heading, language)}**", *reply]
    if is_miss(outcome):
        lines += visit.lines(drill, language)
    return tuple(lines), table


def _score(data: Mapping[str, Any], outcome: Mapping[str, Any], language: str) -> Table:
    """Return the score card of a kernel, where its drill has one."""
    score = outcome.get("score")
    if not score:
        return ()
    counted = ["score", "scoreOn", {"name": in_language(score["case"], language)}]
    return tuple(
        (word(name, language), sentence(value, slots, language))
        for name, value, slots in [counted, *score["rows"]]
    )


def _echo(
    data: Mapping[str, Any], outcome: Mapping[str, Any], language: str
) -> list[str]:
    """Say how a number was read; a formula, a choice or a table needs no echo."""
    read = outcome.get("read", ()) if data["kind"] == "numeric" else ()
    key = "readAs" if len(read) == 1 else "readEither"
    return [word(key, language, **_readings(read))] if read else []


def _readings(values: Sequence[float]) -> dict[str, str]:
    """Return what an answer may mean, for the slots of a sentence: one value or two."""
    return dict(zip("ab", map(show, values)))


def _reply(
    drill: Drill, data: Mapping[str, Any], outcome: Mapping[str, Any], language: str
) -> str:
    """Return why an answer is close, or the hint it earns, else the kind's nudge."""
    hint = in_language(earned(drill, outcome) or "", language)
    nudge = in_language(drill.get("nudge") or word("nudge", language), language)
    own = {"hint": hint, "nudge": nudge}
    filled = slots(drill, data, language) | outcome.get("slots", {}) | {"hint": hint}
    filled |= _readings(outcome.get("ask", ()))
    return " ".join(
        own.get(key) or sentence(key, filled, language)
        for key in replies(drill.kind, outcome)
    )


def slots(drill: Drill, data: Mapping[str, Any], language: str) -> dict[str, str]:
    """Return what fills the slots of sentences about a drill, whatever the answer."""
    found = {"id": drill.id}
    if drill.kind == "order":
        found["letters"] = ascii_lowercase[: len(drill.get("lines"))]
    if "samples" in data:
        found["names"] = ", ".join(f"`{name}`" for name in data["samples"][0])
    if rule := how_exact(drill):
        found["asked"] = asked(rule, language)
    return found


def earned(drill: Drill, outcome: Mapping[str, Any]) -> Any:
    """Return the hint an outcome earns from the drill's listed mistakes."""
    index = outcome.get("slip", outcome.get("hint"))
    return None if index is None else drill.mistakes[index]["hint"]


def _code(
    drill: Drill,
    data: Mapping[str, Any],
    outcome: Mapping[str, Any],
    visit: Visit,
    language: str,
) -> tuple[list[str], Table]:
    """Say where a function first differs, and show the steps up to there."""
    lines = []
    if outcome["case"] is not None:
        name = case_name(drill, data["cases"][outcome["case"]], language)
        lines.append(word("failedOn", language, name=f"*{name}*"))
    lines.append(fault(outcome, language))
    if "launched" in outcome:
        lines.append(sentence(*outcome["launched"], language))
    hint = earned(drill, outcome)
    if outcome.get("untouched") and not visit.hints:
        lines += [word(key, language, id=drill.id) for key in ("untouched", "howHint")]
    elif hint:
        lines.append(in_language(hint, language))
    elif "nudge" in outcome:
        lines.append(word(outcome["nudge"], language))
    return lines, steps(outcome["table"], language) if "table" in outcome else ()


def case_name(drill: Drill, case: Mapping[str, Any], language: str) -> str:
    """Return what a case is called: by its name, or as one drawn at random."""
    if case["drawn"]:
        return word("randomLaunch" if drill.kind == "kernel" else "random", language)
    return in_language(case["name"], language)


def fault(outcome: Mapping[str, Any], language: str) -> str:
    """Return what went wrong."""
    said = sentence(outcome["word"], outcome["slots"], language)
    if outcome.get("ended", True):
        return said
    return f"{said} {word('stillRuns', language)}"


def sentence(key: str, slots: Mapping[str, Any], language: str) -> str:
    """Return a sentence with its slots filled; ``grader.py`` says what may fill one."""

    def written(part: Any) -> str:
        if isinstance(part, dict):
            return column(part["column"], language)
        return part if isinstance(part, str) else show(*part)

    filled = {
        name: "".join(map(written, given)) if isinstance(given, list) else given
        for name, given in slots.items()
    }
    return word(key, language, **filled)


def steps(columns: Sequence[Mapping[str, Any]], language: str) -> Table:
    """Return the table of a report: a heading, then a row for each step."""
    count = len(columns[-1]["cells"])
    shown = [(word("stepColumn", language), *map(str, range(1, count + 1)))]
    for one in columns:
        title = column(one["name"], language)
        whose = f", {word(one['whose'], language)}" if one["whose"] else ""
        shown.append((title + whose, *(show(*cell) for cell in one["cells"])))
    return tuple(zip(*shown))


def right_choice(drill: Drill) -> Mapping[str, Any]:
    """Return the one correct entry of a choice drill."""
    return next(choice for choice in drill.get("choices") if choice.get("correct"))


def answer_text(drill: Drill, language: str = "en") -> str:
    """Return the answer of a drill as a line of text, from what the bank computes."""
    if drill.kind == "choice":
        return in_language(right_choice(drill)["text"], language)
    if drill.kind == "order":
        lines = [in_language(line, language) for line in drill.get("lines")]
        return "\n".join(f"- {line}" for line in lines)
    if drill.kind in WRITTEN:
        return f"```\n{drill.get('code')}```"
    if drill.kind == "numeric":
        value = str(drill.get("answer")["value"])
        shown = show(safe(evaluate(value), how_exact(drill), digits=5))
        return shown if value == shown else f"`{value}` = {shown}"
    if "points" in drill.fields:
        points = [in_language(point, language) for point in drill.get("points")]
        return "\n".join(f"- {point}" for point in points)
    if drill.kind == "recall":
        return f"`{drill.get('answer')['value']}`"
    return ""
