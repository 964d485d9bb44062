"""The kind of drill whose answer is a number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from livepage.drills import exactness
from livepage.drills.entry import Drill
from livepage.drills.exactness import Rule
from livepage.drills.expression import evaluate, nouns
from livepage.drills.grade import Outcome
from livepage.drills.kind import Kind, compute, readings, typed_line
from livepage.drills.marking import mark
from livepage.drills.words import Say, in_language
from livepage.numbers import show
from livepage.words import ENGLISH

# Units that a reader may add. Bytes and operations are converted; other units only name
# what is counted. A lower-case name matches any case. B is case-sensitive, because b may
# mean bits.
BYTES = {"bytes": 1, "byte": 1, "B": 1, "kib": 2**10, "mib": 2**20, "gib": 2**30,
         "tib": 2**40}  # fmt: skip
SIZES = {"": 1, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12, "p": 1e15}
FLOPS = {
    prefix + name: size for name in ("flop", "flops") for prefix, size in SIZES.items()
}


class Numeric(Kind):
    """A number, compared with the drill's precision."""

    minutes = 2
    needs = {"answer"}
    may_have = {"wrong", "unit"}
    entries = {"wrong": [{"hint", "value"}]}

    def rule(self, drill: Drill) -> Rule:
        answer = drill.get("answer")
        if not isinstance(answer, dict) or not {"value", "to"} <= set(answer):
            raise drill.fault("answer", f"expected {{value: …, to: …}}, got {answer!r}")
        try:
            return exactness.rule(answer["to"], answer.get("side", ""))
        except ValueError as error:
            raise drill.fault("answer", str(error)) from None

    def payload(self, drill: Drill) -> dict[str, Any]:
        """Return the accepted range, the values of mistakes, and the units."""
        value = float(compute(drill, "answer", drill.get("answer")["value"]))
        listed = [entry["value"] for entry in drill.get("wrong", [])]
        return {
            "names": _units(drill.get("unit", "")),
            "nouns": _nouns(drill),
            "goal": exactness.goal(value, self.rule(drill)),
            "wrong": [compute(drill, "wrong", value) for value in listed],
        }

    def on_page(
        self, drill: Drill, data: dict[str, Any], language: str
    ) -> dict[str, Any]:
        """Let words of the translated prompt follow a number, too: 16 bloques."""
        own = set(_nouns(drill, language)) - set(data["nouns"])
        return {**data, "nouns": data["nouns"] + sorted(own)} if own else data

    def mark(
        self, data: Mapping[str, Any], answer: Any, language: str = "en"
    ) -> Outcome:
        nouns = data.get("nouns", ())
        wrong, names = data["wrong"], data["names"]
        return mark(data["goal"], wrong, names, answer, nouns, language)

    def echo(self, outcome: Outcome) -> list[Any]:
        """Return how the number was read."""
        read = outcome.get("read", ())
        key = "readAs" if len(read) == 1 else "readEither"
        return [Say(key, readings(read))] if read else []

    def answer_text(self, drill: Drill, language: str) -> str:
        """Return the expression and its value."""
        value = str(drill.get("answer")["value"])
        shown = show(exactness.safe(evaluate(value), self.rule(drill), digits=5))
        return shown if value == shown else f"`{value}` = {shown}"

    def html(self, card: Any) -> str:
        return typed_line(card, card.word("answer"), card.word("answerHelp"))


def _nouns(drill: Drill, language: str = ENGLISH) -> list[str]:
    """Return the words of the prompt that may follow a number, or none for a size."""
    sizes = {name.lower() for name in (*BYTES, *FLOPS)}
    if sizes & set(drill.get("unit", "").lower().split()):
        return []
    prompt = in_language(drill.get("prompt"), language)
    return [n for n in nouns(prompt) if n not in sizes]


def _units(unit: str) -> dict[str, float]:
    """Map the units that may follow a number to their factors."""
    factors = {}
    for name in unit.split():
        own = name.lower()
        known = next((table for table in (BYTES, FLOPS) if own in table), {own: 1})
        factors |= {other: size / known[own] for other, size in known.items()}
    return factors


KIND = Numeric()
