"""What a reader has been told about a drill since the kernel was started.

``page/drill.mjs`` keeps the same for a visit to a page.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from livepage.drills.entry import Drill, in_language
from livepage.drills.grade import is_miss, is_unexplained
from livepage.drills.words import word


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

    def record(self, drill: Drill, outcome: Mapping[str, Any]) -> None:
        """Take note of an outcome, before anything is said about it."""
        if outcome["passed"]:
            self.passed, self.misses = True, 0
        elif is_miss(outcome):
            self.misses += 1
            if is_unexplained(outcome):
                self.hint(drill)

    def lines(self, drill: Drill, language: str) -> list[str]:
        """Return the hints that are out, and once, after two misses, the way out."""
        texts = staged(drill)
        lines = [
            f"*{word('hintOf', language, n=n, all=len(texts))}.* "
            + in_language(text, language)
            for n, text in enumerate(texts[: self.hints], 1)
        ]
        if self.misses >= 2 and not self.offered and not self.passed:
            self.offered = True
            lines.append(word("howShow", language, id=drill.id))
        return lines


def staged(drill: Drill) -> list[Any]:
    """Return the hints of a drill in the order in which they are given."""
    return [*drill.get("hints", []), *drill.get("steps", [])]
