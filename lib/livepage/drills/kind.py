"""The interface of a kind of drill. Each folder of `kinds` has an instance of a subclass.

In a notebook `check` passes an answer to its kind, which marks it and returns an outcome,
and turns the outcome into sentences. The page does the same in JavaScript, with the
kind's `payload` and `html`. In both, graders and ``grading.json`` decide which sentences.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from livepage.drills.entry import Drill
from livepage.drills.exactness import Rule, asked
from livepage.drills.expression import LEAST, evaluate
from livepage.drills.grade import Earned, Outcome, Visit
from livepage.drills.values import brief, plain
from livepage.drills.words import Say, in_language, word, write
from livepage.numbers import show

Table = tuple[tuple[str, ...], ...]


class Kind:
    """A kind of drill."""

    # Required and optional fields, besides those of every drill, and for fields that are
    # lists, the sets of keys that an entry may have.
    needs: set[str] = set()
    may_have: set[str] = set()
    entries: Mapping[str, list[set[str]]] = {}
    minutes = 5  # the estimate that readers see
    written = False  # whether the answer is code to run
    restarts = False  # whether the page offers to start again
    # Modules of the kind's folder that judge code in the page's MicroPython, and whether
    # they need the block simulator.
    graders: tuple[str, ...] = ()
    simulated = False

    def minutes_of(self, drill: Drill) -> float:
        """Return the estimate for one drill."""
        return self.minutes

    def rule(self, drill: Drill) -> Rule | None:
        """Return the precision of an answer that is a number."""
        return None

    def payload(self, drill: Drill) -> dict[str, Any]:
        """Return the data for marking as JSON, with each expression evaluated."""
        raise NotImplementedError

    def slots(self, drill: Drill) -> dict[str, str]:
        """Return the slots of sentences about any answer to a drill."""
        return {}

    def fill(self, drill: Drill, language: str) -> dict[str, str]:
        """Return `slots` with the drill's name and the sentence about precision."""
        filled = {"id": drill.id, **self.slots(drill)}
        if rule := self.rule(drill):
            filled["asked"] = asked(rule, language)
        return filled

    def form(self, drill: Drill) -> str:
        """Return the name of the form on the page."""
        return drill.kind

    def instructions(self, drill: Drill) -> str:
        """Return the kind whose instructions a notebook shows."""
        return drill.kind

    # ---- in a notebook

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
        """Mark an answer; return whether it passed, the lines to show, and a table."""
        if on not in ("simulator", "device"):
            raise ValueError(f'on: expected "simulator" or "device", got {on!r}')
        data = payload(self, drill)
        outcome = self.take(drill, data, answer, on, language)
        return outcome["passed"], *self.feedback(drill, data, outcome, visit, language)

    def take(
        self,
        drill: Drill,
        data: Mapping[str, Any],
        answer: Any,
        on: str,
        language: str = "en",
    ) -> Outcome:
        """Return the outcome of an answer; raise if it has the wrong type."""
        return self.mark(data, self.accept(drill, answer), language)

    def feedback(
        self,
        drill: Drill,
        data: Mapping[str, Any],
        outcome: Outcome,
        visit: Visit,
        language: str = "en",
    ) -> tuple[tuple[str, ...], Table]:
        """Return the lines to show for an outcome, and a table; update the visit."""
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
        """Return the GPUs on which an answer also passed."""
        return [outcome["device"]] if outcome.get("device") else []

    def on_page(
        self, drill: Drill, data: dict[str, Any], language: str
    ) -> dict[str, Any]:
        """Return the payload for a page in a language."""
        return data

    def extra(self, drill: Drill) -> list[str]:
        """Return what a notebook shows besides the prompt."""
        return []

    def accept(self, drill: Drill, answer: Any) -> Any:
        """Return an answer with arrays as lists; raise for None and for functions."""
        plain = answer.tolist() if hasattr(answer, "tolist") else answer
        if plain is None or callable(plain) or inspect.isgenerator(plain):
            raise self.refusal(drill, answer)
        return plain

    def refusal(self, drill: Drill, answer: Any) -> ValueError:
        """Return the error for an answer of the wrong type."""
        key = f"how{drill.kind.capitalize()}"
        how = word(key, id=drill.id, letters="…", columns="…")
        return ValueError(f"answer: got {described(answer)}. {how}")

    def mark(
        self, data: Mapping[str, Any], answer: Any, language: str = "en"
    ) -> Outcome:
        """Return the outcome of an accepted answer, typed on a page in a language."""
        raise NotImplementedError

    def echo(self, outcome: Outcome) -> list[Any]:
        """Return how an answer was read. Most kinds have no echo."""
        return []

    def praise(self, outcome: Outcome, language: str) -> Table:
        """Return a table for a right answer. Most kinds have none."""
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
        """Return why an answer is close, or its hint, or else the nudge."""
        hint = in_language(hint_of(drill, outcome) or "", language)
        nudge = drill.fields.get("nudge") or Say("nudge")
        own = {"hint": hint, "nudge": nudge}
        filled = self.fill(drill, language) | outcome.get("slots", {})
        filled |= {"hint": hint, **readings(outcome.get("ask", ()))}
        return [[own.get(key) or Say(key, filled) for key in earned.replies]], ()

    def answer_text(self, drill: Drill, language: str) -> str:
        """Return the right answer as text."""
        return ""

    # ---- on the page; `card` is a `forms.Card`

    def html(self, card: Any) -> str:
        """Return the form for the answer."""
        raise NotImplementedError

    def page_data(self, card: Any) -> dict[str, Any]:
        """Return data for the page's script, besides the payload."""
        return {}

    def solution(self, card: Any) -> str:
        """Return the right answer for the folded solution."""
        return card.text(self.answer_text(card.drill, card.lang))


def described(answer: Any) -> str:
    """Describe an answer of the wrong type in an error message."""
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
    """Return what the graders need to know about a drill, without its texts.

    The payload is cached, because running every mutant of a code drill takes seconds.
    Callers must not modify it.
    """
    return {"kind": drill.kind, **kind.payload(drill)}


def hint_of(drill: Drill, outcome: Mapping[str, Any]) -> Any:
    """Return the hint of the mistake that an outcome names, or None."""
    index = outcome.get("slip", outcome.get("hint"))
    return None if index is None else drill.mistakes[index]["hint"]


def readings(values: Sequence[float]) -> dict[str, str]:
    """Return one or two readings of an answer as slots of a sentence."""
    return dict(
        zip("ab", ["≈ 0" if value == LEAST else show(value) for value in values])
    )


def lettered(lines: Sequence[str], letters: str) -> list[str]:
    """Return lines as one list, each with its letter."""
    return ["\n".join(f"- **{letters[i]}**  {line}" for i, line in enumerate(lines))]


def number(value: float) -> float | str:
    """Return a float for JSON, with infinities and NaN as text."""
    return float(value) if math.isfinite(value) else str(float(value))


def compute(
    drill: Drill, field: str, text: Any, names: Mapping[str, float] | None = None
) -> float | str:
    """Evaluate an expression of a drill, for JSON."""
    try:
        return number(evaluate(str(text), names))
    except ValueError as error:
        raise drill.fault(field, str(error)) from None


def typed_line(card: Any, label: str, how: str) -> str:
    """Return the form for an answer on one line."""
    name = card.name
    return f"""\
<label class="os-drill-caption" for="{name}-answer">{label}</label>
<div class="os-drill-line"><input id="{name}-answer" name="answer" type="text"\
 spellcheck="false" autocapitalize="off" aria-describedby="{name}-how">\
<output class="os-drill-echo" for="{name}-answer"></output></div>
<p class="os-drill-how" id="{name}-how">{how}</p>"""
