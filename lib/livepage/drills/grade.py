"""What an outcome earns: whether it is a miss, and which words it deserves.

A kind of drill marks an answer and returns an outcome, a small mapping without any words:
``passed``, and where it applies ``read`` (the value as understood, or two of them),
``near`` (why an answer is close and not right), ``ask`` (the two values of which the
reader has to choose one), ``hint`` (the number of the mistake whose hint is earned),
``cell`` (the row and column of the first wrong cell) and ``slots`` (what fills the slots
of a sentence about it).

``grading.json``, which the page reads as well, holds "rules", in the order they are tried,
each with what has to be true of an outcome and the words it earns; "free", what makes an
outcome no miss; and "untried", how the word begins for code that did not run.
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
    """Say whether an outcome is a miss: what is close, or cannot be read, is none."""
    return facts(outcome).isdisjoint(GRADING["free"])


def is_unexplained(outcome: Mapping[str, Any]) -> bool:
    """Say whether an outcome names no mistake, and a hint on the computation would help.

    Of code that fails before it computes anything, the error says more.
    """
    named = outcome.get("slip", outcome.get("hint")) is not None
    broke = outcome.get("fault") == "raised"
    broke = broke or outcome.get("word", "").startswith(tuple(GRADING["untried"]))
    return not named and not (broke and not outcome.get("case"))


def facts(outcome: Mapping[str, Any]) -> set[Any]:
    """Return what is true of an outcome: the fields it has, and why it is close."""
    present = {k for k, v in outcome.items() if v is not None and v is not False}
    return {outcome.get("near"), *present}


def replies(kind: str, outcome: Mapping[str, Any]) -> list[str]:
    """Return the words an answer earns; "hint" and "nudge" are the drill's own."""
    known = facts(outcome) | {kind}
    return next(words for needs, words in GRADING["rules"] if known.issuperset(needs))


class Earned(NamedTuple):
    """What an outcome earns."""

    miss: bool
    unexplained: bool
    replies: list[str]


def earn(kind: str, outcome: Mapping[str, Any]) -> Earned:
    """Return whether an outcome is a miss, whether it is explained, and its replies."""
    if outcome["passed"]:
        return Earned(False, False, [])
    said = replies(kind, outcome)
    return Earned(is_miss(outcome), is_unexplained(outcome), said)


# ---- what a reader has been told since the kernel was started; page/drill.mjs keeps the
# same for a visit to a page


@dataclass
class Visit:
    """One drill in one visit.

    Attributes
    ----------
    misses : int
        How often the drill was missed since it was last passed.
    hints : int
        How many of its hints are out. They stay: who comes nearer never gets less help.
    offered, passed : bool
        Whether the solution was offered, or is not needed any more.
    """

    misses: int = 0
    hints: int = 0
    offered: bool = False
    passed: bool = False

    def hint(self, drill: Drill) -> None:
        """Release the next hint."""
        self.hints = min(self.hints + 1, len(staged(drill)))

    def record(self, drill: Drill, outcome: Mapping[str, Any]) -> Earned:
        """Take note of an outcome, and return what it earns."""
        earned = earn(drill.kind, outcome)
        if outcome["passed"]:
            self.passed, self.misses = True, 0
        elif earned.miss:
            self.misses += 1
            if earned.unexplained:
                self.hint(drill)
        return earned

    def lines(self, drill: Drill) -> list[Any]:
        """Return the hints that are out, and once, after two misses, the way out."""
        texts = staged(drill)
        lines: list[Any] = [
            [Say("hintOf", {"n": n, "all": len(texts)}, around="*{}.*"), text]
            for n, text in enumerate(texts[: self.hints], 1)
        ]
        if self.misses >= 2 and not self.offered and not self.passed:
            self.offered = True
            lines.append(Say("howShow", {"id": drill.id}))
        return lines


def staged(drill: Drill) -> list[Any]:
    """Return the hints of a drill in the order in which they are given."""
    return [*drill.fields.get("hints", []), *drill.fields.get("steps", [])]
