"""The payload of a drill: the data that its graders need, in JSON.

The notebook and the page's graders read the same payload. Expressions are evaluated and
expected results are computed at build time, so no grader contains mathematics of its own.
JSON has no infinities and no NaN, so they are written as text.
"""

from __future__ import annotations

from typing import Any

from livepage.drills import kind
from livepage.drills.entry import Drill
from livepage.drills.kinds import KINDS


def payload(drill: Drill) -> dict[str, Any]:
    """Return the payload of a drill. It is cached: callers must not modify it."""
    return kind.payload(KINDS[drill.kind], drill)
