"""The kind of drill whose answer is a formula, or a text in the reader's own words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from livepage import markup
from livepage.drills.entry import Drill
from livepage.drills.expression import read, unknown
from livepage.drills.grade import Outcome, Visit
from livepage.drills.kind import Kind, Table, compute, typed_line
from livepage.drills.marking import EMPTY, UNREADABLE, same
from livepage.drills.words import in_language, word


class Recall(Kind):
    """A formula, compared by its values, or a text that its writer compares."""

    minutes = 3
    may_have = {"answer", "points", "wrong"}
    entries = {"wrong": [{"hint", "value"}]}

    def form(self, drill: Drill) -> str:
        return "own" if drill.get("points") else "formula"

    def payload(self, drill: Drill) -> dict[str, Any]:
        """Return the values of a formula at its samples; own words are not marked."""
        if ("answer" in drill.fields) == ("points" in drill.fields):
            raise drill.fault(
                "answer", "a recall drill has either 'answer' or 'points'"
            )
        if "points" in drill.fields:
            return {}
        answer = drill.get("answer")
        samples = answer["where"]

        def at_samples(field: str, text: str) -> list[float]:
            values = [compute(drill, field, text, at) for at in samples]
            if not all(isinstance(value, float) for value in values):
                raise drill.fault(field, f"{text!r} is not finite at every sample")
            return values

        listed = [entry["value"] for entry in drill.get("wrong", [])]
        return {
            "samples": samples,
            "values": at_samples("answer", answer["value"]),
            "wrong": [at_samples("wrong", text) for text in listed],
        }

    def slots(self, drill: Drill) -> dict[str, str]:
        """Return the names of the variables."""
        if "answer" not in drill.fields:
            return {}
        names = drill.get("answer")["where"][0]
        return {"names": ", ".join(f"`{name}`" for name in names)}

    def mark(
        self, data: Mapping[str, Any], answer: Any, language: str = "en"
    ) -> Outcome:
        """Mark a formula by its values at the samples."""
        text = str(answer)
        if not text.strip(" "):
            return EMPTY
        try:
            values = [read(text, at, language)[0].value for at in data["samples"]]
        except ValueError:
            return _unknown(text, data["samples"][0])
        if text.count("=") > 1:  # two lines of code: only the last would be read
            return UNREADABLE

        def equals(targets: Sequence[float]) -> bool:
            return all(same(a, b) for a, b in zip(values, targets, strict=True))

        if equals(data["values"]):
            return {"passed": True}
        wrong = (i for i, targets in enumerate(data["wrong"]) if equals(targets))
        return {"passed": False, "hint": next(wrong, None)}

    def instructions(self, drill: Drill) -> str:
        return "own" if drill.get("points") else drill.kind

    def check(
        self,
        drill: Drill,
        answer: Any,
        visit: Visit,
        *,
        on: str = "simulator",
        had: bool | None = None,
        language: str = "en",
    ) -> tuple[bool, tuple[str, ...], Table]:
        """Mark a formula; show what own words should say, or take the reader's verdict."""
        if self.form(drill) == "formula":
            return super().check(drill, answer, visit, on=on, language=language)
        return *self.compare(drill, str(self.accept(drill, answer)), had), ()

    def compare(
        self, drill: Drill, answer: str, had: bool | None
    ) -> tuple[bool, tuple[str, ...]]:
        """Show the points of an answer, or say what the reader found."""
        if had is not None and not isinstance(had, bool):
            raise ValueError(f"had: expected True or False, got {had!r}")
        if not answer.strip():
            return False, (word("emptyOwn"),)
        if had is None:
            points = self.answer_text(drill, "en")
            how = word("howHad", id=drill.id)
            return False, (in_language(drill.get("solution")), points, how)
        return had, (f"**✓ {word('ownAll')}**" if had else word("ownLess"),)

    def answer_text(self, drill: Drill, language: str) -> str:
        """Return the formula, or the points."""
        if "points" not in drill.fields:
            return f"`{drill.get('answer')['value']}`"
        points = [in_language(point, language) for point in drill.get("points")]
        return "\n".join(f"- {point}" for point in points)

    def html(self, card: Any) -> str:
        """Return an input for a formula, or a text area for words."""
        if self.form(card.drill) == "formula":
            how = word("formulaHelp", card.lang, **card.slots)
            return typed_line(card, card.word("formula"), markup.inline(how))
        name, label = card.name, card.word("own")
        return f"""\
<label class="os-drill-caption" for="{name}-answer">{label}</label>
<textarea id="{name}-answer" name="answer" rows="3"></textarea>"""

    def solution(self, card: Any) -> str:
        """Return the formula, or the points."""
        if self.form(card.drill) == "formula":
            return super().solution(card)
        points = map(card.inline, card.drill.get("points"))
        items = "".join(f"<li>{point}</li>" for point in points)
        heading = f"<p>{card.word('points')}:</p>"
        return f"<div>{heading}\n<ul>{items}</ul></div>"


def _unknown(text: str, names: Mapping[str, Any]) -> Outcome:
    """Return the outcome of an unreadable formula, with its first unknown name if any."""
    name = unknown(text, names)
    cause = {"unknown": True, "slots": {"name": name}} if name else {}
    return {**UNREADABLE, **cause}


KIND = Recall()
