"""From an outcome to what a teacher would say: echo, hint or nudge, then the next help.

What to say has been decided before: of code and kernels by their graders, of all else
by ``replies.json``. Here it is put into words, and numbers are written as a reader of
the notebook sees them; ``page/feedback.mjs`` does that for the page.
"""

from __future__ import annotations

from collections.abc import Mapping
from string import ascii_lowercase
from typing import Any

from livepage.drills import grader
from livepage.drills.bank import WRITTEN, Drill, in_language
from livepage.drills.exactness import asked, safe
from livepage.drills.expression import evaluate
from livepage.drills.grade import is_miss, replies
from livepage.drills.payload import how_exact
from livepage.drills.words import column, show, word

Table = tuple[tuple[str, ...], ...]

# What a case that was drawn is called.
RANDOM = {"code": "random", "kernel": "randomLaunch"}


def feedback(
    drill: Drill,
    data: Mapping[str, Any],
    outcome: Mapping[str, Any],
    misses: int,
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
    misses : int
        How often the drill was missed so far, this time included.
    language : str

    Returns
    -------
    lines : tuple of str
    table : tuple of rows
    """
    lines = [*_echo(data, outcome, language)]
    if outcome["passed"]:
        why = in_language(drill.get("solution"), language)
        score = _score(data, outcome, language)
        return (*lines, f"**✓ {word('right', language)}**", why), score
    if drill.kind in WRITTEN:
        told, table = _code(drill, data, outcome, language)
    else:
        told, table = [_told(drill, data, outcome, language)], ()
    heading = "close" if outcome.get("near") else "notYet"
    lines += [f"**→ {word(heading, language)}**", *told]
    if is_miss(outcome):
        lines += _more(drill, outcome, misses, language)
    return tuple(lines), table


def _score(data: Mapping[str, Any], outcome: Mapping[str, Any], language: str) -> Table:
    """Return the score card of a kernel, where its drill has one."""
    score = outcome.get("score")
    if not score:
        return ()
    counted = ["score", "scoreOn", {"name": in_language(score["case"], language)}]
    return tuple(
        (word(name, language), sentence(value, places, language))
        for name, value, places in [counted, *score["rows"]]
    )


def _echo(
    data: Mapping[str, Any], outcome: Mapping[str, Any], language: str
) -> list[str]:
    """Say how a number was read; a formula, a choice or a table needs no echo."""
    if data["kind"] != "numeric" or "read" not in outcome:
        return []
    read = outcome["read"]
    if isinstance(read, list):
        a, b = map(show, read)
        return [word("readEither", language, a=a, b=b)]
    return [word("readAs", language, value=show(read))]


def _told(
    drill: Drill, data: Mapping[str, Any], outcome: Mapping[str, Any], language: str
) -> str:
    """Return why an answer is close, or the hint it earns, else the kind's nudge."""
    hint = in_language(earned(drill, outcome) or "", language)
    nudge = in_language(drill.get("nudge") or word("nudge", language), language)
    own = {"hint": hint, "nudge": nudge}
    places = _places(drill, data, outcome, language) | {"hint": hint}
    return " ".join(
        own.get(key) or word(key, language, **places)
        for key in replies(drill.kind, outcome)
    )


def _places(
    drill: Drill, data: Mapping[str, Any], outcome: Mapping[str, Any], language: str
) -> dict[str, Any]:
    """Return what fills the places of what an answer may be told."""
    places = {"id": drill.id, "n": outcome.get("place")}
    if "ask" in outcome:
        places["a"], places["b"] = map(show, outcome["ask"])
    if drill.kind == "order":
        places["letters"] = ascii_lowercase[: len(drill.get("lines"))]
    if drill.kind == "recall":
        places["names"] = names(data)
    if rule := how_exact(drill):
        places["asked"] = asked(rule, language)
    if drill.kind == "trace" and "place" in outcome:
        row, cell = outcome["place"]
        places["row"] = row + 1
        places["column"] = column(data["columns"][cell], language)
    return places


def earned(drill: Drill, outcome: Mapping[str, Any]) -> Any:
    """Return the hint an outcome earns from the drill's listed misconceptions."""
    if outcome.get("slip") is not None:
        return drill.get("mutants")[outcome["slip"]]["hint"]
    if outcome.get("hint") is None:
        return None
    listed = drill.get("choices") if drill.kind == "choice" else drill.get("wrong")
    return listed[outcome["hint"]]["hint"]


def names(data: Mapping[str, Any]) -> str:
    """Return the variables of a formula, as code."""
    return ", ".join(f"`{name}`" for name in data["samples"][0])


def _more(
    drill: Drill, outcome: Mapping[str, Any], misses: int, language: str
) -> list[str]:
    """Return the staged help of a second and later miss, then the way out."""
    staged = [in_language(hint, language) for hint in drill.get("hints", [])]
    staged += [in_language(step, language) for step in drill.get("steps", [])]
    lines = []
    broken = outcome.get("fault") == "raised" or outcome.get("word") == "kernelError"
    alone = earned(drill, outcome) is None
    if alone and staged and not broken:
        lines.append(staged[min(misses, len(staged)) - 1])
    if misses >= 2:
        lines.append(word("howShow", language, id=drill.id))
    return lines


def _code(
    drill: Drill, data: Mapping[str, Any], outcome: Mapping[str, Any], language: str
) -> tuple[list[str], Table]:
    """Say where a function first differs, and show the steps up to there."""
    lines = []
    if outcome["case"] is not None:
        case = data["cases"][outcome["case"]]
        name = case["name"]
        drawn = word(RANDOM[drill.kind], language)
        name = drawn if name == "random" else in_language(name, language)
        lines.append(word("failedOn", language, name=f"*{name}*"))
    lines.append(fault(data, outcome, language))
    if "launched" in outcome:
        lines.append(sentence(*outcome["launched"], language))
    hint = earned(drill, outcome)
    if hint:
        lines.append(in_language(hint, language))
    elif "nudge" in outcome:
        lines.append(word(outcome["nudge"], language))
    told = outcome["word"] in grader.WORDS.values()  # these say all there is to see
    shown = "table" in outcome and not told
    return lines, steps(data, outcome["table"], language) if shown else ()


def fault(data: Mapping[str, Any], outcome: Mapping[str, Any], language: str) -> str:
    """Return what went wrong."""
    places = dict(outcome["places"])
    if "form" in outcome:
        named = zip(outcome["form"], data["compared"])
        cells = [cell.replace("#", column(name, language)) for cell, name in named]
        places["form"] = f"`{', '.join(cells)}`"
    said = sentence(outcome["word"], places, language)
    if outcome.get("ended", True):
        return said
    return f"{said} {word('stillRuns', language)}"


def sentence(key: str, places: Mapping[str, Any], language: str) -> str:
    """Return a sentence with its places filled, numbers as a reader writes them."""
    filled = {
        name: "".join(part if isinstance(part, str) else show(*part) for part in place)
        if isinstance(place, list)
        else place
        for name, place in places.items()
    }
    return word(key, language, **filled)


def steps(data: Mapping[str, Any], table: Mapping[str, Any], language: str) -> Table:
    """Return the steps up to the first fault: what is given, yours beside expected."""
    columns = [
        (column(name, language), cells)
        for name, cells in zip(data["given"], table["given"])
    ]
    for name, (yours, expected) in zip(data["compared"], table["compared"]):
        title = column(name, language)
        if yours:
            columns.append((f"{title}, {word('yours', language)}", yours))
            title = f"{title}, {word('expected', language)}"
        columns.append((title, expected))
    count = len(columns[-1][1])
    shown = [(word("stepColumn", language), *map(str, range(1, count + 1)))]
    shown += [(title, *(show(*cell) for cell in cells)) for title, cells in columns]
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
