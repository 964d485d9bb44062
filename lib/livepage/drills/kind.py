"""What a kind of drill can do. Each folder of `kinds` has an object of a subclass.

In a notebook `check` marks an answer: the kind takes it, an outcome comes of it, and the
outcome is put into words. The page does the same in JavaScript, from the kind's `payload`
and `html`; there, too, graders and ``grading.json`` decide what to say.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from livepage.drills.entry import Drill
from livepage.drills.exactness import Rule, asked
from livepage.drills.expression import evaluate
from livepage.drills.grade import Earned, Outcome, Visit
from livepage.drills.values import brief, plain
from livepage.drills.words import Say, in_language, word, write
from livepage.numbers import show

Table = tuple[tuple[str, ...], ...]


class Kind:
    """A kind of drill."""

    # Fields that a drill has, and may have, besides those of every drill; and of the
    # lists among them, the fields that each entry may consist of.
    needs: set[str] = set()
    may_have: set[str] = set()
    entries: Mapping[str, list[set[str]]] = {}
    minutes = 5  # that a reader is told to allow for it
    written = False  # whether the answer is code that is run
    restarts = False  # whether the page offers to begin again
    # Modules of the kind's folder that judge code on the page, in MicroPython, and
    # whether they need the block simulator there.
    graders: tuple[str, ...] = ()
    simulated = False

    def rule(self, drill: Drill) -> Rule | None:
        """Return how exact an answer has to be, if it is a number."""
        return None

    def payload(self, drill: Drill) -> dict[str, Any]:
        """Return what marks an answer: numbers in place of expressions, in JSON."""
        raise NotImplementedError

    def slots(self, drill: Drill) -> dict[str, str]:
        """Return what fills the slots of sentences about any answer."""
        return {}

    def fill(self, drill: Drill, language: str) -> dict[str, str]:
        """Return `slots`, with the drill's name and how exact an answer has to be."""
        filled = {"id": drill.id, **self.slots(drill)}
        if rule := self.rule(drill):
            filled["asked"] = asked(rule, language)
        return filled

    def form(self, drill: Drill) -> str:
        """Return the name of the form that the page shows."""
        return drill.kind

    def instructions(self, drill: Drill) -> str:
        """Return whose instructions a notebook shows."""
        return drill.kind

    # ---- in a notebook

    def check(
        self,
        drill: Drill,
        answer: Any,
        visit: Visit,
        *,
        on: str = "simulator",
        had: Sequence[int] | None = None,
    ) -> tuple[bool, tuple[str, ...], Table]:
        """Mark an answer; return whether it passed, what to say, and perhaps a table."""
        if on not in ("simulator", "device"):
            raise ValueError(f'on: expected "simulator" or "device", got {on!r}')
        data = payload(self, drill)
        outcome = self.take(drill, data, answer, on)
        return outcome["passed"], *self.feedback(drill, data, outcome, visit)

    def take(
        self, drill: Drill, data: Mapping[str, Any], answer: Any, on: str
    ) -> Outcome:
        """Return the outcome of an answer, or refuse what cannot be one."""
        return self.mark(data, self.accept(drill, answer))

    def feedback(
        self,
        drill: Drill,
        data: Mapping[str, Any],
        outcome: Outcome,
        visit: Visit,
        language: str = "en",
    ) -> tuple[tuple[str, ...], Table]:
        """Return the lines to say about an outcome, and perhaps a table.

        What was said before is in `visit`; what is said now is added to it.
        """
        earned = visit.record(drill, outcome)
        lines = self.echo(outcome)
        if outcome["passed"]:
            lines += [Say("right", around="**✓ {}**"), drill.fields["solution"]]
            lines += [Say("rightOn", {"device": x}) for x in self.devices(outcome)]
            return write(lines, language), self.praise(outcome, language)
        reply, table = self.reply(drill, data, outcome, visit, earned, language)
        heading = "close" if outcome.get("near") else "notYet"
        lines += [Say(heading, around="**→ {}**"), *reply]
        if earned.miss:
            lines += visit.lines(drill)
        return write(lines, language), table

    def devices(self, outcome: Outcome) -> list[str]:
        """Return the GPUs on which an answer passed as well."""
        return [outcome["device"]] if outcome.get("device") else []

    def extra(self, drill: Drill) -> list[str]:
        """Return what a reader has to see besides the question."""
        return []

    def accept(self, drill: Drill, answer: Any) -> Any:
        """Return an answer, arrays as lists; refuse a function, and nothing at all."""
        plain = answer.tolist() if hasattr(answer, "tolist") else answer
        if plain is None or callable(plain) or inspect.isgenerator(plain):
            raise self.refusal(drill, answer)
        return plain

    def refusal(self, drill: Drill, answer: Any) -> ValueError:
        """Return the error for an answer that cannot be one."""
        key = f"how{drill.kind.capitalize()}"
        how = word(key, id=drill.id, letters="…", columns="…")
        return ValueError(f"answer: got {described(answer)}. {how}")

    def mark(self, data: Mapping[str, Any], answer: Any) -> Outcome:
        """Return the outcome of an answer."""
        raise NotImplementedError

    def echo(self, outcome: Outcome) -> list[Any]:
        """Return how an answer was read; most need no echo."""
        return []

    def praise(self, outcome: Outcome, language: str) -> Table:
        """Return a table that goes with a right answer; most have none."""
        return ()

    def reply(
        self,
        drill: Drill,
        data: Mapping[str, Any],
        outcome: Outcome,
        visit: Visit,
        earned: Earned,
        language: str,
    ) -> tuple[list[Any], Table]:
        """Return why an answer is close, or the hint it earns, else the nudge."""
        hint = in_language(hint_of(drill, outcome) or "", language)
        nudge = drill.fields.get("nudge") or Say("nudge")
        own = {"hint": hint, "nudge": nudge}
        filled = self.fill(drill, language) | outcome.get("slots", {})
        filled |= {"hint": hint, **readings(outcome.get("ask", ()))}
        return [[own.get(key) or Say(key, filled) for key in earned.replies]], ()

    def answer_text(self, drill: Drill, language: str) -> str:
        """Return the answer as text, from what the bank computes."""
        return ""

    # ---- on the page; `card` is a `forms.Card`

    def html(self, card: Any) -> str:
        """Return the form that answers the drill."""
        raise NotImplementedError

    def page_data(self, card: Any) -> dict[str, Any]:
        """Return what the page's script knows besides the payload."""
        return {}

    def solution(self, card: Any) -> str:
        """Return the answer as it stands in the folded solution."""
        return card.text(self.answer_text(card.drill, card.lang))


def described(answer: Any) -> str:
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
    return f"{type(answer).__name__} {brief(plain(answer, 0))[:60]}"


@cache
def payload(kind: Kind, drill: Drill) -> dict[str, Any]:
    """Return what the graders need to know about a drill; texts are not in it.

    Of a code drill every mutant is run for it, which takes seconds. So a drill's payload
    is computed once and shared: nobody may change it.
    """
    return {"kind": drill.kind, **kind.payload(drill)}


def hint_of(drill: Drill, outcome: Mapping[str, Any]) -> Any:
    """Return the hint that an outcome earns from the drill's listed mistakes."""
    index = outcome.get("slip", outcome.get("hint"))
    return None if index is None else drill.mistakes[index]["hint"]


def readings(values: Sequence[float]) -> dict[str, str]:
    """Return what an answer may mean, for the slots of a sentence: one value or two."""
    return dict(zip("ab", map(show, values)))


def lettered(lines: Sequence[str], letters: str) -> list[str]:
    """Return lines as a list, each with its letter."""
    return ["\n".join(f"- **{letters[i]}**  {line}" for i, line in enumerate(lines))]


def number(value: float) -> float | str:
    """Return a float for JSON: −∞, ∞ and NaN as text."""
    return float(value) if math.isfinite(value) else str(float(value))


def compute(
    drill: Drill, field: str, text: Any, names: Mapping[str, float] | None = None
) -> float | str:
    """Return the value of one of a drill's expressions, ready for JSON."""
    try:
        return number(evaluate(str(text), names))
    except ValueError as error:
        raise drill.fault(field, str(error)) from None


def typed_line(card: Any, label: str, how: str) -> str:
    """Return the form for an answer of one line."""
    name = card.name
    return f"""\
<label class="os-drill-caption" for="{name}-answer">{label}</label>
<div class="os-drill-line"><input id="{name}-answer" name="answer" type="text"\
 spellcheck="false" autocapitalize="off" aria-describedby="{name}-how">\
<output class="os-drill-echo" for="{name}-answer"></output></div>
<p class="os-drill-how" id="{name}-how">{how}</p>"""
