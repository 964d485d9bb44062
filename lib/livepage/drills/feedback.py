"""From an outcome to what a teacher would say: echo, hint or nudge, then the next help.

``page/feedback.mjs`` says the same on the page; both take their words from
``words/`` and the bank.
"""

from __future__ import annotations

from collections.abc import Mapping
from string import ascii_lowercase
from typing import Any

from livepage.drills.bank import WRITTEN, Drill, in_language
from livepage.drills.exactness import asked, safe
from livepage.drills.expression import evaluate
from livepage.drills.payload import how_exact
from livepage.drills.words import column, show, word

Table = tuple[tuple[str, ...], ...]

# What a case that was drawn is called.
RANDOM = {"code": "random", "kernel": "randomLaunch"}

# After a wrong result that no known mistake gives.
NUDGES = {"differs": "codeNudge", "element": "kernelNudge"}


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
    times = show(score["bytes"] / score["ideal"], 3)
    moved = {"bytes": score["bytes"], "ideal": score["ideal"], "times": times}
    cells = [
        ("score", "scoreOn", {"name": in_language(score["case"], language)}),
        ("scoreCorrect", "scoreCases", {"n": len(data["cases"])}),
        ("scoreRaces", "scoreNoRace", {}),
        ("scoreBytes", "scoreOfIdeal", moved),
        ("scoreShared", "scoreSharedBytes", {"bytes": score["shared"]}),
        ("scorePrecision", *_precision(score["double"])),
    ]
    return tuple(
        (word(name, language), word(value, language, **places))
        for name, value, places in cells
    )


def _precision(line: int | None) -> tuple[str, dict[str, Any]]:
    return ("scoreDouble", {"line": line}) if line else ("scoreSingle", {})


def is_miss(outcome: Mapping[str, Any]) -> bool:
    """Say whether an outcome is a miss: what is close, or cannot be read, is none."""
    costless = ("passed", "unreadable", "ask", "near")
    return not any(outcome.get(reason) for reason in costless)


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
    hint = earned(drill, outcome)
    if outcome.get("unreadable"):
        return unreadable(drill, data, outcome, language)
    if outcome.get("ask"):
        a, b = map(show, outcome["ask"])
        said = word("which", language, a=a, b=b)
        return f"{_place(data, outcome, language)}{said}"
    if outcome.get("near"):
        said = _close(drill, outcome, hint, language)
        return f"{_place(data, outcome, language)}{said}"
    if hint is not None:
        return in_language(hint, language)
    if drill.kind == "order":
        n = outcome["place"]
        key = "nudgeOrder" if n else "nudgeOrderStart"
        return word(key, language, n=n)
    if drill.kind == "trace":
        row, cell = outcome["place"]
        name = column(data["columns"][cell], language)
        return word("nudgeTrace", language, row=row + 1, column=name)
    return in_language(drill.get("nudge") or word("nudge", language), language)


def _close(drill: Drill, outcome: Mapping[str, Any], hint: Any, language: str) -> str:
    """Say what a close answer lacks, and what else it may be if it is not rounded."""
    key = f"near{outcome['near'].capitalize()}"
    said = word(key, language, asked=asked(how_exact(drill), language))
    if hint is None:
        return said
    return f"{said} {word('unlessRounded', language, hint=in_language(hint, language))}"


def _place(data: Mapping[str, Any], outcome: Mapping[str, Any], language: str) -> str:
    """Name the cell of a table that an outcome is about."""
    if data["kind"] != "trace":
        return ""
    row, cell = outcome["place"]
    name = column(data["columns"][cell], language)
    return word("placeTrace", language, row=row + 1, column=name) + " "


def earned(drill: Drill, outcome: Mapping[str, Any]) -> Any:
    """Return the hint an outcome earns from the drill's listed misconceptions."""
    if outcome.get("slip") is not None:
        return drill.get("mutants")[outcome["slip"]]["hint"]
    if outcome.get("hint") is None:
        return None
    listed = drill.get("choices") if drill.kind == "choice" else drill.get("wrong")
    return listed[outcome["hint"]]["hint"]


def unreadable(
    drill: Drill, data: Mapping[str, Any], outcome: Mapping[str, Any], language: str
) -> str:
    """Return what to say about an answer that could not be read."""
    if outcome.get("empty") and drill.kind != "trace":
        return word("empty", language)
    if drill.kind == "choice":
        return word("noChoice", language)
    if drill.kind == "trace":
        row, cell = outcome["place"]
        name = column(data["columns"][cell], language)
        return word("unreadableTrace", language, row=row + 1, column=name)
    if drill.kind == "order":
        letters = ascii_lowercase[: len(drill.get("lines"))]
        return word("howOrder", language, id=drill.id, letters=letters)
    if drill.kind == "recall":
        return word("unreadableFormula", language, names=names(data))
    return word("unreadable", language)


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
    if drill.kind == "kernel" and outcome["case"] is not None:
        lines.append(launched(data["cases"][outcome["case"]], language))
    hint = earned(drill, outcome)
    if hint:
        lines.append(in_language(hint, language))
    elif outcome["fault"] in NUDGES:
        lines.append(word(NUDGES[outcome["fault"]], language))
    if outcome["case"] is None or "word" in outcome:
        return lines, ()
    table = steps(data, outcome, language) if drill.kind == "code" else ()
    return lines, table


def fault(data: Mapping[str, Any], outcome: Mapping[str, Any], language: str) -> str:
    """Return one sentence on what went wrong."""
    kind, value = outcome["fault"], outcome["value"]
    if "word" in outcome:
        return word(outcome["word"], language, **written(outcome["places"]))
    if kind == "differs":
        several = len(data["cases"][outcome["case"]]["expected"]) > 1
        key = "differs" if several else "differsOnce"
        return word(key, language, n=len(outcome["rows"]))
    if kind == "shape" and outcome["form"] == ["#"]:
        return word("shapeNumber", language, value=f"`{value}`")
    if kind == "shape":
        named = zip(outcome["form"], data["compared"])
        cells = [cell.replace("#", column(name, language)) for cell, name in named]
        wanted = f"`{', '.join(cells)}`"
        return word("shape", language, form=wanted, value=f"`{value}`")
    if kind == "count":
        wanted = len(data["cases"][outcome["case"]]["expected"])
        return word("count", language, n=value, all=wanted)
    if kind == "rule":
        return value[0].upper() + value[1:] + "."
    if kind == "missing":
        return word("missing", language, value=f"`{value}`")
    if kind in ("changed", "differently"):
        return word(kind, language)
    if kind == "tooLong":
        still = [] if outcome["ended"] else [word("stillRuns", language)]
        return " ".join([word("tooLong", language, n=value), *still])
    said = f"{outcome['type']}: {value}".removesuffix(": ")
    line = word("atLine", language, line=outcome["line"]) if outcome["line"] else ""
    return f"`{said}`, {line}." if line else f"`{said}`."


MOST_SHOWN = 24  # numbers of an input


def launched(case: Mapping[str, Any], language: str) -> str:
    """Return how a kernel was launched, and on what."""
    blocks, threads = (
        " × ".join(str(n) for n in case[part] if n > 1) or "1"
        for part in ("grid", "block")
    )
    grid = "oneBlock" if blocks == "1" else "blockCount"
    inputs = [
        f"`{name}` = {_input(value)}"
        for name, kind, value in case["args"]
        if kind != "out"
    ]
    return word(
        "launched",
        language,
        grid=word(grid, language, n=blocks),
        block=threads,
        inputs=", ".join(inputs),
    )


def _input(value: Any) -> str:
    if not isinstance(value, list):
        return show(value)
    rows = value if isinstance(value[0], list) else [value]
    shown = [
        f"[{show(row[:MOST_SHOWN])}{', …' if len(row) > MOST_SHOWN else ''}]"
        for row in rows[:3]
    ]
    return ", ".join([*shown, *(["…"] if len(rows) > 3 else [])])


def written(places: Mapping[str, Any]) -> dict[str, Any]:
    """Return what fills the places of a kernel's fault; names are code."""
    coded = [name for name in ("what", "array", "error") if name in places]
    shown = {name: f"`{places[name]}`" for name in coded}
    if "right" in places:
        mine, right = pair(places["mine"], places["right"])
        shown |= {"mine": mine, "right": right}
    return {**places, **shown}


def steps(data: Mapping[str, Any], outcome: Mapping[str, Any], language: str) -> Table:
    """Return the steps up to the first fault: what is given, yours beside expected.

    A column that agrees in every row is shown once.
    """
    case = data["cases"][outcome["case"]]
    count = min(len(outcome["rows"]) or 1, len(case["expected"]))
    columns = [[word("stepColumn", language), *map(str, range(1, count + 1))]]
    for j, name in enumerate(data["given"]):
        columns.append([column(name, language), *(show(r[j]) for r in case["given"])])
    for j, name in enumerate(data["compared"]):
        pairs = [
            pair(_cell(outcome["rows"], i, j), case["expected"][i][j])
            for i in range(count)
        ]
        columns += _beside(column(name, language), pairs, language)
    return tuple(zip(*columns))


def _beside(name: str, pairs: list[tuple[str, str]], language: str) -> list[list[str]]:
    """Return one column where all pairs agree, else yours beside expected."""
    yours, expected = map(list, zip(*pairs))
    if yours == expected:
        return [[name, *expected]]
    return [
        [f"{name}, {word('yours', language)}", *yours],
        [f"{name}, {word('expected', language)}", *expected],
    ]


def _cell(rows: list[Any], i: int, j: int) -> Any:
    row = rows[i] if i < len(rows) else None
    return row[j] if isinstance(row, list) and j < len(row) else "–"


def pair(mine: Any, right: Any) -> tuple[str, str]:
    """Write two values with as many digits as it takes to tell them apart."""
    written = [(show(mine, digits), show(right, digits)) for digits in (5, 12)]
    return next((two for two in written if two[0] != two[1]), written[0])


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
