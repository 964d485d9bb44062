"""The kind of drill whose answer is a GPU kernel; it runs on the block simulator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from blocksim import functions
from livepage.drills.entry import Drill
from livepage.drills.grade import Outcome
from livepage.drills.kind import Table
from livepage.drills.kinds.code.kind import Code
from livepage.drills.kinds.kernel import cases, device, grader
from livepage.drills.words import in_language, sentence, word


class Kernel(Code):
    """A kernel that is launched in each case."""

    minutes = 6
    needs = {"function", "starter", "code", "launch", "oracle", "cases", "mutants"}
    may_have = (
        {"tolerance", "random", "larger", "ideal", "most", "together"}
        | {"share", "shared"}  # limits per thread and per block
        | {"single"}  # no arithmetic in float64
        | {"lean", "counts", "sizes"}  # rules for its loops, and their costs
        | {"bench"}  # times it on the reader's GPU
    )
    wanted = "kernel"
    graders = ("grader", "loops")
    simulated = True
    marks = grader
    drawn = "randomLaunch"

    def payload(self, drill: Drill) -> dict[str, Any]:
        return cases.payload(drill)

    def is_one(self, answer: Any) -> bool:
        """Return whether an answer is a function, decorated or not."""
        return functions.bare(answer) is not None

    def player(self, data: Mapping[str, Any], answer: Any) -> Callable[..., Any]:
        return grader.player(device.maker(answer), data["cases"])

    def on_device(
        self, data: Mapping[str, Any], answer: Any, outcome: Outcome
    ) -> Outcome:
        """Return the outcome after a run on a GPU."""
        fault, name = device.on_device(answer, data["cases"])
        return fault or outcome | {"device": name}

    def praise(self, outcome: Outcome, language: str) -> Table:
        """Return the score card, if the drill has one."""
        score = outcome.get("score")
        if not score:
            return ()
        counted = ["score", "scoreOn", {"name": in_language(score["case"], language)}]
        return tuple(
            (word(name, language), sentence(value, slots, language))
            for name, value, slots in [counted, *score["rows"]]
        )

    def how(self, card: Any) -> str:
        """Return no note: the simulator has everything that a kernel may use."""
        return ""


KIND = Kernel()
