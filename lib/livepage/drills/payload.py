"""What a drill hands to its graders: numbers instead of expressions, in JSON.

``payload(drill)`` is the one form that the notebook and the page's ``grade.mjs`` read.
Expressions are computed here, traces come from the lib, code drills bring the expected
steps with them, so that no grader holds mathematics of its own. JSON knows no infinity:
such numbers travel as text.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from livepage.drills.entry import Drill
from livepage.drills.exactness import Rule
from livepage.drills.kinds import KINDS


@cache
def payload(drill: Drill) -> dict[str, Any]:
    """Return what the graders need to know about a drill; texts are not in it.

    Of a code drill every mutant is run for it, which takes seconds. So a drill's payload
    is computed once and shared: nobody may change it.
    """
    return {"kind": drill.kind, **KINDS[drill.kind].payload(drill)}


def how_exact(drill: Drill) -> Rule | None:
    """Return how exact a drill's answer has to be, if it is a number."""
    return KINDS[drill.kind].rule(drill)
