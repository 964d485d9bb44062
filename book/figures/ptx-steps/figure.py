"""One thread through PTX: a turn of a loop, instruction by instruction.

What the thread does is stored by `make kernels` in excerpts.json: two loops that copy a
tile, compiled as for a launch and run. It shows no quantity of the book.

Prediction. How many instructions does the compiler make of `r = x // d`, where d is 64?
Why wrong answers tempt. "One": a division by 64 is a shift by six bits. "Three": that is
what `x % d` takes. "More than 20": a division of unknown numbers does take so many. What
settles it: the first eight steps of the loop as it was first written.
"""

import json
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np

from livepage.figures.spec import Choice, Prediction, Spec, Step, Values

STORED = json.loads(Path(__file__).with_name("excerpts.json").read_text("utf-8"))
LOOPS = STORED["loops"]
DIVIDED = {"loop": "plain", "step": 8}


def expected(state: Values) -> Values:
    """Count the lines' instructions, and let values live from writing to last reading."""
    loop = LOOPS[state["loop"]]
    steps = loop["steps"]
    at = min(state["step"], len(steps))
    lines = [line for _, line, _ in steps[:at]]
    return {
        "steps": len(steps),
        "done": [lines.count(line) for line in range(len(loop["lines"]))],
        "share": at / len(steps),
        "held": [held and held[1] for held in rows(loop, at)],
        "values": {held[1]: held[2] for held in rows(loop, at) if held},
    }


def lives(loop: Values) -> list[tuple[int, int, str, object]]:
    """Every value of the turn: when it is written, when it is last read, where, what."""
    end = len(loop["steps"]) + 1
    found = [[0, 0, reg, value] for reg, value in loop["given"].items()]
    for k, (text, _, wrote) in enumerate(loop["steps"], 1):
        read = re.findall(r"%\w+", text)
        for reg in wrote:
            read.remove(reg)
        for reg in read:
            max((life for life in found if life[2] == reg), key=lambda x: x[0])[1] = k
        found += [[k, k, reg, value] for reg, value in wrote.items()]
    for reg in loop["later"]:
        for life in found[::-1]:
            if life[2] == reg:
                life[1] = end
                break
    return [tuple(life) for life in found]


def rows(loop: Values, at: int) -> list[tuple[int, str, object] | None]:
    """Return which value stands in which row: a row is free once its value was read."""
    table: list[tuple[int, str, object] | None] = []
    for k in range(at + 1):
        table = [one if one and one[0] >= k else None for one in table]
        for written, last, reg, value in lives(loop):
            if written == k:
                place(table, (last, reg, value))
    return table


def place(table: list, one: tuple[int, str, object]) -> None:
    """Put a value in the row of its register, in the first free one, or in a new one."""
    same = [i for i, other in enumerate(table) if other and other[1] == one[1]]
    free = [i for i, other in enumerate(table) if other is None]
    if same or free:
        table[(same or free)[0]] = one
    else:
        table.append(one)


def states(random: np.random.Generator) -> Iterator[Values]:
    """Every step of both loops, again and again."""
    every = [
        {"loop": name, "step": step}
        for name, loop in LOOPS.items()
        for step in range(len(loop["steps"]) + 2)
    ]
    for _, state in product(range(-(-200 // len(every))), every):
        yield state


# What the drawing needs of it, and no more.
FIELDS = "lines once turns copies given names steps results later".split()

SPEC = Spec(
    controls=(Choice("loop", "plain", of=tuple(LOOPS)), Step("step")),
    still=DIVIDED,
    prediction=Prediction(answer=2, shown_by=(DIVIDED,) * 4),
    constants={
        "LOOPS": {name: {f: loop[f] for f in FIELDS} for name, loop in LOOPS.items()},
        "THREAD": STORED["thread"],
        "D": STORED["d"],
        "ROWS": max(
            len(rows(loop, at))
            for loop in LOOPS.values()
            for at in range(len(loop["steps"]) + 1)
        ),
    },
    expected=expected,
    states=states,
    pace=2200,
)
