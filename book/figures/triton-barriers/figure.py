"""Triton's barriers: each barrier, commit and wait of its attention kernel, deleted.

The verdicts are stored in `data/tensor.json`: what ptxsim says of a run without the
instruction, whether the run's numbers are right all the same, and whether a check of all
pairs of accesses finds two that nothing orders. One small grid is run. Nothing here has
run on a GPU, and a GPU may take its threads in any other order.
It shows no quantity of the book.

Prediction. A barrier of the loop is deleted: are the numbers of that run wrong? Why wrong
answers tempt. "Yes": a race is a fault, and a fault is thought to show. "NaN": what nobody
has written could be anything. "The barrier is redundant": right numbers look like a proof.
What settles it: lines 524 and 1535, each with both sides of its race and right numbers.
"""

import json
import re
from collections.abc import Iterator
from functools import cache
from itertools import chain, pairwise

import numpy as np

import rescaling
from livepage import book
from livepage.figures.spec import Prediction, Spec, Step, Values

KINDS = {
    "bar.sync": "barrier",
    "cp.async.commit_group": "commit",
    "cp.async.wait_group": "wait",
}
VERDICTS = ("race", "copy under way", "nothing")
WRITES = ("st.", "cp.async.cg")  # the other accesses of both sides read

# How a line of PTX is shortened, with … for what is left out.
SHORT = {
    r"\.sync\.aligned\.m8n8\.x4": "…",
    r"\.b16": "",
    r"^cp\.async\.cg\.shared\.global": "cp.async…",
    r"(\[%r\w+\], \[%rd\w+\]), .*": r"\1, …",
    r"\{[^}]*\}": "{…}",
    r";$": "",
}


@cache
def ptx() -> list[str]:
    """Return the lines of the PTX, without tabs and without blanks around addresses."""
    text = (book.current().data / "attention-triton.ptx").read_text("utf-8")
    lines = (re.sub(r"\s+", " ", line).strip() for line in text.splitlines())
    return [re.sub(r"\[ (%\w+) \+ 0 \]", r"[\1]", line) for line in lines]


@cache
def removed() -> list[Values]:
    """Return what is stored of each instruction that is deleted, in the text's order."""
    stored = json.loads((book.current().data / "tensor.json").read_text("utf-8"))
    rows = [row for row in stored["planted"] if row["change"] == "removed"]
    return sorted(rows, key=lambda row: row["ptx_line"])


# ---- what the figure's script is given ----


def rows() -> list[Values]:
    """Return a row for each instruction that is deleted."""
    return [
        {
            "line": row["ptx_line"],
            "kind": row["kind"],
            "loop": row["in_loop"],
            "verdict": VERDICTS.index((row["fault"] or {"kind": "nothing"})["kind"]),
            "right": row["right"],
            "source": row["source_line"],
            "lines": excerpt(row),
            **(sides(row["fault"]) if row["needed"] else {}),
        }
        for row in removed()
    ]


def sides(fault: Values) -> Values:
    """Return the two accesses of a fault, the earlier one first, and who makes them."""
    message = fault["message"]
    lines = [int(x) for x in re.findall(r"\bline (\d+)", message)]
    sources = {side["ptx"]: side["source"] for side in fault["lines"]}
    threads = re.findall(r"thread (\d+)", message)
    later, earlier = [(line, sources[line]) for line in lines]
    return {
        "sides": [
            {
                "line": line,
                "source": source,
                "writes": ptx()[line - 1].startswith(WRITES),
            }
            for line, source in (earlier, later)
        ],
        "who": int(threads[0]),
        "other": int(threads[1]) if len(threads) > 1 else None,
        "byte": int(re.findall(r"byte (\d+)", message)[0]),
    }


def excerpt(row: Values) -> list[int]:
    """Return the lines shown: the deleted one, its neighbours, both sides of the fault.

    0 stands for lines that are left out.
    """
    at = row["ptx_line"]
    near = [neighbour(at, -1), at, neighbour(at, 1)]
    faults = [side["ptx"] for side in (row["fault"] or {"lines": []})["lines"]]
    lines = sorted({*near, *faults})
    gaps = [[0] if neighbour(a, 1) < b else [] for a, b in pairwise(lines)]
    return lines[:1] + [x for gap, b in zip(gaps, lines[1:]) for x in (*gap, b)]


def neighbour(at: int, way: int) -> int:
    """Return the nearest line that is an instruction."""
    at += way
    while re.match(r"\.loc|\$|//|$", ptx()[at - 1]):
        at += way
    return at


def shortened(line: int) -> str:
    """Return a line of PTX as the excerpt shows it."""
    text = ptx()[line - 1]
    for pattern, short in SHORT.items():
        text = re.sub(pattern, short, text)
    return text


def source() -> list[list]:
    """Return `[number, depth, text]` for the lines of Triton that are shown.

    They are the lines of all faults, and what stands close to them; 0 is a gap.
    """
    file = rescaling.BESIDE / "triton_attention.py"
    lines = file.read_text("utf-8").splitlines()
    lit = sorted(set(chain.from_iterable(lines_lit(row) for row in removed())))
    shown: list[list] = []
    for before, at in zip([lit[0], *lit], lit):
        close = at - before <= 4
        if not close:
            shown.append([0, 1, "⋯"])
        for number in range(before + 1 if close and shown else at, at + 1):
            code = lines[number - 1]
            depth = (len(code) - len(code.lstrip())) // 4
            shown.append([number, depth, code.strip()])
    return shown


def lines_lit(row: Values) -> set[int]:
    """Return the lines of Triton that belong to an instruction or to its fault."""
    faults = (row["fault"] or {"lines": []})["lines"]
    return {row["source_line"], *(side["source"] for side in faults)}


# ---- what the picture has to find ----


def expected(state: Values) -> Values:
    """Derive from the text of the PTX and the messages what the stored fields say."""
    found = [instruction(at) for at in instructions()]
    step = min(state["step"], len(found))
    gone = found[step - 1] if step else None
    tried = [row["verdict"] for row in found[:step]]
    return {
        "steps": len(found),
        "at": step,
        "gone": gone and {"line": gone["line"], "kind": gone["kind"]},
        "places": [row["line"] / len(ptx()) for row in found],
        "loop": [at / len(ptx()) for at in loop()],
        "ends": [side / len(ptx()) for side in gone["sides"]] if gone else [],
        "tried": [tried.count(verdict) for verdict in VERDICTS],
        "right": sum(
            row["right"] for row in found[:step] if row["verdict"] != "nothing"
        ),
    }


def instructions() -> list[int]:
    """Return the lines of all barriers, commits and waits."""
    return [at for at, text in enumerate(ptx(), 1) if text.startswith(tuple(KINDS))]


@cache
def loop() -> tuple[int, int]:
    """Return the line of the label that a branch goes back to, and that of the branch."""
    labels = {text[:-1]: at for at, text in enumerate(ptx(), 1) if text.endswith(":")}
    jumps = (
        (labels[text.rstrip(";").split()[-1]], at)
        for at, text in enumerate(ptx(), 1)
        if re.search(r"\bbra\b", text)
    )
    (back,) = [(first, last) for first, last in jumps if first < last]
    return back


def instruction(at: int) -> Values:
    """Return what the text says of an instruction, and the message of its fault."""
    (row,) = (row for row in removed() if row["ptx_line"] == at)
    message = row["fault"]["message"] if row["needed"] else "nothing"
    sides = sorted(int(x) for x in re.findall(r"\bline (\d+)", message))
    return {
        "line": at,
        "kind": KINDS[ptx()[at - 1].rstrip(";").split()[0]],
        "verdict": message.split(":")[0],
        "right": row["right"],
        "sides": sides,
    }


def states(random: np.random.Generator) -> Iterator[Values]:
    """Every instruction, again and again."""
    for k in range(200):
        yield {"step": k % (len(removed()) + 2)}


def step_of(kind: str, nth: int) -> Values:
    """Return the state in which the nth instruction of this kind in the loop is gone."""
    steps = [
        k for k, row in enumerate(rows(), 1) if row["loop"] and row["kind"] == kind
    ]
    return {"step": steps[nth]}


SPEC = Spec(
    controls=(Step("step"),),
    still=step_of("barrier", 0),
    prediction=Prediction(
        answer=3,
        shown_by=(
            step_of("barrier", 0),
            step_of("barrier", 0),
            step_of("barrier", 1),
            step_of("barrier", 1),
        ),
    ),
    constants={
        "ROWS": rows(),
        "PTX": {
            line: shortened(line) for row in removed() for line in excerpt(row) if line
        },
        "SOURCE": source(),
        "LENGTH": len(ptx()),
        "LOOP": list(loop()),
    },
    expected=expected,
    states=states,
    pace=4000,
)
