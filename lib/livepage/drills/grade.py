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
from pathlib import Path
from typing import Any

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
