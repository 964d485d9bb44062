"""Turns an outcome into a reply: whether it counts as a miss, and which texts to show.

A kind of drill marks an answer and returns an outcome, a mapping without any text. It has
``passed`` and, where they apply, ``read`` (the value as understood, or two of them),
``near`` (why an answer is close but not right), ``ask`` (two values, of which the reader
has to choose one), ``hint`` (the index of the mistake whose hint is earned), ``cell``
(the row and column of the first wrong cell) and ``slots`` (values for the slots of a
sentence).

The page reads ``grading.json`` as well. Its "rules" are tried in order; each has the facts
that an outcome must have and the keys of its reply. A fact in "free" means that the
outcome is no miss. "explained" holds the faults whose own sentence is a hint. "untried"
holds the first letters of a fault's key for code that did not run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from livepage.drills.entry import Drill
from livepage.drills.words import Say

Outcome = dict[str, Any]

GRADING = json.loads(Path(__file__).with_name("grading.json").read_text("utf-8"))


def is_miss(outcome: Mapping[str, Any]) -> bool:
    """Say whether an outcome is a miss. Close or unreadable answers are not."""
    return facts(outcome).isdisjoint(GRADING["free"])


def is_unexplained(outcome: Mapping[str, Any]) -> bool:
    """Say whether no mistake was recognised, so that a hint would help.

    If code fails before it computes anything, its error message helps more.
    """
    named = outcome.get("slip", outcome.get("hint")) is not None
    broke = outcome.get("fault") == "raised"
    broke = broke or outcome.get("word", "").startswith(tuple(GRADING["untried"]))
    told = outcome.get("word") in GRADING["explained"]
    return not (named or told or (broke and not outcome.get("case")))


def facts(outcome: Mapping[str, Any]) -> set[Any]:
    """Return the facts for the rules: the fields that are set, and why it is close."""
    present = {k for k, v in outcome.items() if v is not None and v is not False}
    return {outcome.get("near"), *present}


def replies(kind: str, outcome: Mapping[str, Any]) -> list[str]:
    """Return the keys of a reply; "hint" and "nudge" stand for texts of the drill."""
    known = facts(outcome) | {kind}
    return next(words for needs, words in GRADING["rules"] if known.issuperset(needs))


class Earned(NamedTuple):
    """The reply that an outcome earns."""

    miss: bool
    unexplained: bool
    replies: list[str]


def earn(kind: str, outcome: Mapping[str, Any]) -> Earned:
    if outcome["passed"]:
        return Earned(False, False, [])
    keys = replies(kind, outcome)
    return Earned(is_miss(outcome), is_unexplained(outcome), keys)


# ---- what the reader has seen since the notebook's kernel started; page/drill.mjs keeps
# the same state while a page is open


@dataclass
class Visit:
    """The state of one drill in a notebook session.

    Attributes
    ----------
    misses : int
        Misses since the drill was last passed.
    hints : int
        The number of hints released. They stay visible, so a closer answer never gets
        less help.
    offered, passed : bool
        Whether the solution was offered, and whether the drill was passed.
    """

    misses: int = 0
    hints: int = 0
    offered: bool = False
    passed: bool = False

    def hint(self, drill: Drill) -> None:
        """Release the next hint."""
        self.hints = min(self.hints + 1, len(staged(drill)))

    def record(self, drill: Drill, outcome: Mapping[str, Any]) -> Earned:
        """Count an outcome, and return the reply that it earns."""
        earned = earn(drill.kind, outcome)
        if outcome["passed"]:
            self.passed, self.misses = True, 0
        elif earned.miss:
            self.misses += 1
            if earned.unexplained:
                self.hint(drill)
        return earned

    def lines(self, drill: Drill) -> list[Any]:
        """Return the released hints and, after two misses, the way to more help.

        That is the next hint as long as there is one, and then, once, the solution.
        """
        texts = staged(drill)
        lines: list[Any] = [
            [Say("hintOf", {"n": n, "all": len(texts)}, around="*{}.*"), text]
            for n, text in enumerate(texts[: self.hints], 1)
        ]
        if self.misses < 2 or self.offered or self.passed:
            return lines
        self.offered = self.hints >= len(drill.fields.get("hints", []))
        key = "howShow" if self.offered else "howHint"
        return [*lines, Say(key, {"id": drill.id})]


def staged(drill: Drill) -> list[Any]:
    """Return the hints and steps of a drill in the order of their release."""
    return [*drill.fields.get("hints", []), *drill.fields.get("steps", [])]
