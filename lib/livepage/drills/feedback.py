"""From an outcome to what a teacher would say about it.

What to say has been decided before: of code and kernels by their graders, of all else
by ``grading.json``. The kind puts it into words, and numbers are written as a reader of
the notebook sees them; ``page/feedback.mjs`` does that for the page.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from livepage.drills.entry import Drill, in_language
from livepage.drills.grade import is_miss
from livepage.drills.kind import Table
from livepage.drills.kinds import KINDS
from livepage.drills.visit import Visit
from livepage.drills.words import word


def feedback(
    drill: Drill,
    data: Mapping[str, Any],
    outcome: Mapping[str, Any],
    visit: Visit,
    language: str = "en",
) -> tuple[tuple[str, ...], Table]:
    """Return the lines to say about an outcome, and perhaps a table.

    `data` is the drill's payload. What was said before is in `visit`; what is said now is
    added to it.
    """
    kind = KINDS[drill.kind]
    visit.record(drill, outcome)
    lines = [*kind.echo(outcome, language)]
    if outcome["passed"]:
        why = in_language(drill.fields.get("solution"), language)
        right = f"**✓ {word('right', language)}**"
        return (*lines, right, why), kind.praise(outcome, language)
    reply, table = kind.reply(drill, data, outcome, visit, language)
    heading = "close" if outcome.get("near") else "notYet"
    lines += [f"**→ {word(heading, language)}**", *reply]
    if is_miss(outcome):
        lines += visit.lines(drill, language)
    return tuple(lines), table


def answer_text(drill: Drill, language: str = "en") -> str:
    """Return the answer of a drill as text, from what the bank computes."""
    return KINDS[drill.kind].answer_text(drill, language)
