"""What a drill hands to its graders: numbers instead of expressions, in JSON.

``payload(drill)`` is the one form that the notebook and the page's ``grade.mjs`` read.
Expressions are computed here, traces come from the lib, code drills bring the expected
steps with them, so that no grader holds mathematics of its own. JSON knows no infinity:
such numbers travel as text.
"""

from __future__ import annotations

from typing import Any

from livepage.drills import kind
from livepage.drills.entry import Drill
from livepage.drills.kinds import KINDS


def payload(drill: Drill) -> dict[str, Any]:
    """Return what the graders need to know about a drill; nobody may change it."""
    return kind.payload(KINDS[drill.kind], drill)
