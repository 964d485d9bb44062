"""The fourteen tasks of GPU-Puzzles, with right answers and the mistakes people make.

The tasks and their sizes are those of https://github.com/srush/GPU-Puzzles (Sasha Rush,
MIT licence), stated anew; the answers are ours. An input holds numbers that tell it from
the others, and ``out`` holds NaN at first, as an array of the device may. Launches whose
name ends in "here" are not among the original ones.

``python -m blocksim tests/blocksim/puzzles.py FOLDER`` launches every answer by the names of
``numba.cuda``, writes their text to the folder, and prints the verdicts as JSON.
"""

import importlib.util
import json
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent, indent
from typing import Any

import numpy as np

Inputs = list[np.ndarray]
Edits = list[tuple[str, str]]
NUMBERS = "numbers"  # the verdict: nothing but the numbers is wrong
DECLINED = "declined"
RIGHT = "right"
TPB = 8
SIDE = 3


@dataclass(frozen=True)
class Launch:
    """One launch of a task, and what it has to leave in ``out``."""

    inputs: Inputs
    sizes: tuple[int, ...]
    expected: np.ndarray
    grid: tuple[int, int] = (1, 1)
    block: tuple[int, int] = (1, 1)


@dataclass(frozen=True)
class Fault:
    """The fault that a wrong answer has.

    Attributes
    ----------
    kind : str
    array : str or None
    line : str
        A part of its line.
    said : str
        A part of the message and its notes.
    """

    kind: str
    array: str | None
    line: str
    said: str = ""


@dataclass(frozen=True)
class Task:
    """A task.

    Attributes
    ----------
    parameters : str
    launches : list of Launch
    right : dict
        Name of an answer -> its text.
    wrong : dict
        Name of an answer -> what it changes in the first right one (or a whole text),
        and the verdict.
    benign : dict
        Likewise, answers that are right but let threads repeat each other's work.
    """

    parameters: str
    launches: list[Launch]
    right: dict[str, str]
    wrong: dict[str, tuple[Edits | str, Fault | str]]
    benign: dict[str, tuple[Edits | str, str]] = field(default_factory=dict)

    def answers(self) -> dict[str, str]:
        """Return the text of every answer."""
        first = dedent(next(iter(self.right.values())))
        others = {name: edit for name, (edit, _) in (self.wrong | self.benign).items()}
        return {
            **{name: dedent(text) for name, text in self.right.items()},
            **{name: edited(first, edit) for name, edit in others.items()},
        }


def edited(text: str, edit: Edits | str) -> str:
    """Return a text with its edits, each of which has to change something."""
    if isinstance(edit, str):
        return dedent(edit)
    for old, new in edit:
        assert old in text, old
        text = text.replace(old, new)
    return text


def numbers(*shape: int, first: int = 0) -> np.ndarray:
    return np.arange(first, first + np.prod(shape)).reshape(shape)


# ---- what is to be computed


def last_three(x: np.ndarray) -> np.ndarray:
    return np.array([x[max(i - 2, 0) : i + 1].sum() for i in range(len(x))])


def correlated(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    longer = np.concatenate([x, np.zeros(len(w) - 1)])
    return np.correlate(longer, w, "valid")


def block_sums(x: np.ndarray) -> np.ndarray:
    ends = range(0, x.shape[-1], TPB)
    return np.stack([x[..., i : i + TPB].sum(-1) for i in ends], -1)


def ten_more(x: np.ndarray, *sizes: int, **where: tuple[int, int]) -> Launch:
    return Launch([x], sizes, x + 10, **where)


def convolution(n: int, k: int, blocks: int) -> Launch:
    x, w = numbers(n, first=1), numbers(k, first=2)
    return Launch([x, w], (n, k), correlated(x, w), (blocks, 1), (TPB, 1))


def sums(x: np.ndarray, *grid: int) -> Launch:
    return Launch([x], x.shape[-1:], block_sums(x), grid, (TPB, 1))


def product(n: int, blocks: int) -> Launch:
    x, y = numbers(n, n), numbers(n, n, first=1).T
    return Launch([x, y], (n,), x @ y, (blocks, blocks), (SIDE, SIDE))


# ---- the tasks

TASKS: dict[str, Task] = {}

TASKS["map"] = Task(
    "out, x",
    [ten_more(numbers(4), block=(4, 1))],
    {
        "one line": """
            t = cuda.threadIdx.x
            out[t] = x[t] + 10
            """,
        "by grid": """
            i = cuda.grid(1)
            v = 10
            v += x[i]
            out[i] = v
            """,
    },
    {
        "one further": (
            [("out[t]", "out[t + 1]")],
            Fault("index", "out", "out[t + 1]"),
        ),
        "counts from one": ([("x[t]", "x[t - 1]")], NUMBERS),
        "another number": ([("10", "1")], NUMBERS),
        "all to the first": ([("out[t]", "out[0]")], Fault("race", "out", "out[0]")),
        "stores nothing": ([("out[t] =", "y =")], NUMBERS),
        "the whole array": (
            [("out[t] = x[t] + 10", "out = x + 10")],
            Fault("compile", None, "x + 10"),
        ),
        "the number of the block": ([("threadIdx", "blockIdx")], NUMBERS),
        "adds to out": ([("out[t] =", "out[t] +=")], NUMBERS),
        "misspelt": ([("threadIdx", "threadIDx")], Fault("compile", None, "threadIDx")),
        "the index without x": (
            [("threadIdx.x", "threadIdx")],
            Fault("compile", None, "[t]"),
        ),
        "a comprehension": (
            "out[:] = [v + 10 for v in x]",
            Fault("compile", None, "for v"),
        ),
        "returns it": (
            [("out[t] = x[t] + 10", "return x[t] + 10")],
            Fault("compile", None, "return"),
        ),
    },
    {
        "every thread does all": (
            "for i in range(4):\n    out[i] = x[i] + 10",
            "out",
        ),
    },
)

TASKS["zip"] = Task(
    "out, x, y",
    [Launch([numbers(4), numbers(4, first=7)], (), numbers(4) * 2 + 7, block=(4, 1))],
    {
        "one line": """
            t = cuda.threadIdx.x
            out[t] = x[t] + y[t]
            """,
        "in two steps": """
            t = cuda.threadIdx.x
            out[t] = x[t]
            out[t] += y[t]
            """,
    },
    {
        "one input twice": ([("y[t]", "x[t]")], NUMBERS),
        "multiplies": ([("+", "*")], NUMBERS),
        "a neighbour": ([("y[t]", "y[t + 1]")], Fault("index", "y", "y[t + 1]")),
        "changes an input": ([("out[t] = x[t] +", "x[t] +=")], NUMBERS),
        "one element of all": (
            [("out[t]", "out[cuda.blockIdx.x]")],
            Fault("race", "out", "out["),
        ),
        "the array itself": (
            [("out[t] =", "out +=")],
            Fault("compile", None, "out +="),
        ),
    },
)

TASKS["guards"] = Task(
    "out, x, n",
    [ten_more(numbers(4), 4, block=(8, 1))],
    {
        "an if": """
            t = cuda.threadIdx.x
            if t < n:
                out[t] = x[t] + 10
            """,
        "returns early": """
            t = cuda.threadIdx.x
            if t >= n:
                return
            out[t] = x[t] + 10
            """,
    },
    {
        "no guard": ([("t < n", "True")], Fault("index", "x", "x[t]")),
        "one too many": ([("<", "<=")], Fault("index", "x", "x[t]")),
        "the wrong way": ([("<", ">")], Fault("index", "x", "x[t]")),
        "size of the block": (
            [("n:", "cuda.blockDim.x:")],
            Fault("index", "x", "x[t]"),
        ),
        "reads before the guard": (
            "t = cuda.threadIdx.x\nv = x[t] + 10\nif t < n:\n    out[t] = v",
            Fault("index", "x", "v = x[t]"),
        ),
        "one too few": ([("< n", "< n - 1")], NUMBERS),
        "to the first": ([("out[t]", "out[0]")], Fault("race", "out", "out[0]")),
        "by len of out": (
            [("t < n", "t < len(out) + 1")],
            Fault("index", "x", "x[t]"),
        ),
    },
    {
        "modulo": (
            "t = cuda.threadIdx.x % n\nout[t] = x[t] + 10",
            "out",
        ),
    },
)

TASKS["map 2D"] = Task(
    "out, x, n",
    [ten_more(numbers(2, 2), 2, block=(3, 3))],
    {
        "both guards": """
            i = cuda.threadIdx.x
            j = cuda.threadIdx.y
            if i < n and j < n:
                out[i, j] = x[i, j] + 10
            """,
        "by rows": """
            j, i = cuda.grid(2)
            if i < n:
                if j < n:
                    out[i][j] = x[i][j] + 10
            """,
    },
    {
        "no guard": ([("i < n and j < n", "True")], Fault("index", "x", "x[i, j]")),
        "one guard": ([(" and j < n", "")], Fault("index", "x", "x[i, j]")),
        "or": ([("and", "or")], Fault("index", "x", "x[i, j]")),
        "guards the same twice": ([("j < n", "i < n")], Fault("index", "x", "x[i, j]")),
        "turned": ([("x[i, j]", "x[j, i]")], NUMBERS),
        "x for both": ([("threadIdx.y", "threadIdx.x")], NUMBERS),
        "one index": (
            [("out[i, j] = x[i, j]", "out[i * n + j] = x[i * n + j]")],
            Fault("compile", None, "out[i * n + j]"),
        ),
        "a chained guard": ([("i < n and j < n", "i + j < n")], NUMBERS),
    },
)

TASKS["broadcast"] = Task(
    "out, x, y, n",
    [
        Launch(
            [numbers(2, 1), numbers(1, 2, first=5) * 3],
            (2,),
            numbers(2, 1) + numbers(1, 2, first=5) * 3,
            block=(3, 3),
        )
    ],
    {
        "both guards": """
            i = cuda.threadIdx.x
            j = cuda.threadIdx.y
            if i < n and j < n:
                out[i, j] = x[i, 0] + y[0, j]
            """,
        "rows": """
            j = cuda.threadIdx.x
            i = cuda.threadIdx.y
            if max(i, j) >= n:
                return
            out[i, j] = y[0, j] + x[i, 0]
            """,
    },
    {
        "as if they were square": (
            [("x[i, 0] + y[0, j]", "x[i, j] + y[i, j]")],
            Fault("index", "y", "y[i, j]"),
        ),
        "inputs swapped": (
            [("x[i, 0] + y[0, j]", "x[0, i] + y[j, 0]")],
            Fault("index", "x", "x[0, i]"),
        ),
        "indices swapped": ([("x[i, 0] + y[0, j]", "x[j, 0] + y[0, i]")], NUMBERS),
        "no guard": ([("i < n and j < n", "True")], Fault("index", "x", "x[i, 0]")),
        "one guard": ([("i < n and ", "")], Fault("index", "x", "x[i, 0]")),
        "as vectors": (
            [("x[i, 0] + y[0, j]", "x[i] + y[j]")],
            Fault("compile", None, "x[i] + y[j]"),
        ),
        "a row for all": ([("out[i, j]", "out[0, j]")], Fault("race", "out", "out[0")),
    },
)

TASKS["blocks"] = Task(
    "out, x, n",
    [ten_more(numbers(9), 9, grid=(3, 1), block=(4, 1))],
    {
        "by hand": """
            i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
            if i < n:
                out[i] = x[i] + 10
            """,
        "strides": """
            for i in range(cuda.grid(1), n, cuda.gridsize(1)):
                out[i] = x[i] + 10
            """,
    },
    {
        "no guard": ([("i < n", "True")], Fault("index", "x", "x[i]")),
        "forgets the block": ([("cuda.blockIdx.x * cuda.blockDim.x + ", "")], NUMBERS),
        "forgets the thread": ([(" + cuda.threadIdx.x", "")], NUMBERS),
        "adds the two": ([(" * cuda.blockDim.x", "")], NUMBERS),
        "guards the thread": (
            [("i < n", "cuda.threadIdx.x < n")],
            Fault("index", "x", "x[i]"),
        ),
        "writes by thread": (
            [("out[i]", "out[cuda.threadIdx.x]")],
            Fault("race", "out", "out["),
        ),
        "numbers from one": (
            [("out[i] =", "out[i + 1] =")],
            Fault("index", "out", "out["),
        ),
        "forgets to go on": (
            "i = cuda.grid(1)\nwhile i < n:\n    out[i] = x[i] + 10",
            Fault("endless", None, "while"),
        ),
    },
    {
        "the grid for the block": ([("blockDim", "gridDim")], "out"),
    },
)

TASKS["blocks 2D"] = Task(
    "out, x, n",
    [ten_more(numbers(5, 5), 5, grid=(2, 2), block=(3, 3))],
    {
        "by hand": """
            i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
            j = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
            if i < n and j < n:
                out[i, j] = x[i, j] + 10
            """,
        "by grid": """
            i, j = cuda.grid(2)
            if i >= n or j >= n:
                return
            out[i, j] = x[i, j] + 10
            """,
    },
    {
        "no guard": ([("i < n and j < n", "True")], Fault("index", "x", "x[i, j]")),
        "one guard": ([("i < n and ", "")], Fault("index", "x", "x[i, j]")),
        "forgets y": (
            [("cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y", "i")],
            NUMBERS,
        ),
        "one block along y": ([("cuda.blockIdx.y * cuda.blockDim.y + ", "")], NUMBERS),
        "x of the block for y": ([("blockIdx.y", "blockIdx.x")], NUMBERS),
        "turned": ([("out[i, j]", "out[j, i]")], NUMBERS),
        "grid of one": (
            [
                (
                    "cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x",
                    "cuda.grid(1)",
                ),
                (
                    "cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y",
                    "cuda.grid(2)",
                ),
            ],
            Fault("compile", None, "j < n"),
        ),
    },
)

TASKS["shared"] = Task(
    "out, x, n",
    [
        ten_more(numbers(8), 8, grid=(2, 1), block=(4, 1)),
        # A block that is not full: the barrier of the original text stands inside the if.
        ten_more(numbers(7), 7, grid=(2, 1), block=(4, 1)),
    ],
    {
        "barrier for all": """
            s = cuda.shared.array(4, numba.float32)
            i = cuda.grid(1)
            t = cuda.threadIdx.x
            if i < n:
                s[t] = x[i]
            cuda.syncthreads()
            if i < n:
                out[i] = s[t] + 10
            """,
        "its own element": """
            s = cuda.shared.array(4, numba.float32)
            i = cuda.grid(1)
            t = cuda.threadIdx.x
            if i < n:
                s[t] = x[i]
                out[i] = s[t] + 10
            """,
    },
    {
        "barrier inside the if": (
            [("cuda.syncthreads()\nif i < n:\n", "    cuda.syncthreads()\n")],
            Fault("barrier", None, "syncthreads"),
        ),
        "loads nothing": (
            [("s[t] = x[i]", "pass")],
            Fault("uninitialised", "s", "s[t] + 10"),
        ),
        "by the index of the grid": (
            [("s[t]", "s[i]")],
            Fault("index", "s", "s[i] = "),
        ),
        "a neighbour, no barrier": (
            [("cuda.syncthreads()\n", ""), ("= s[t]", "= s[3 - t]")],
            Fault("race", "s", "s[3 - t]"),
        ),
        "a neighbour": ([("= s[t]", "= s[3 - t]")], NUMBERS),
        "beyond the tile": (
            [("= s[t]", "= s[t + 1]")],
            Fault("index", "s", "s[t + 1]"),
        ),
        "a size that is no constant": (
            [("array(4,", "array(n,")],
            Fault("compile", None, "shared.array"),
        ),
        "no guard": (
            [("if i < n:\n    s", "if True:\n    s")],
            Fault("index", "x", "x[i]"),
        ),
        "forgets to call": (
            [("syncthreads()", "syncthreads"), ("= s[t]", "= s[3 - t]")],
            Fault("compile", None, "cuda.syncthreads", "is not called"),
        ),
        "too small": ([("array(4,", "array(3,")], Fault("index", "s", "s[t] = x[i]")),
    },
)

TASKS["pooling"] = Task(
    "out, x, n",
    [
        Launch(
            [numbers(8, first=1)], (8,), last_three(numbers(8, first=1)), block=(8, 1)
        )
    ],
    {
        "cases": """
            s = cuda.shared.array(8, numba.float32)
            i = cuda.grid(1)
            t = cuda.threadIdx.x
            if i < n:
                s[t] = x[i]
            cuda.syncthreads()
            if i < n:
                v = s[t]
                if t > 0:
                    v += s[t - 1]
                if t > 1:
                    v += s[t - 2]
                out[i] = v
            """,
        "a loop": """
            s = cuda.shared.array(8, numba.float32)
            t = cuda.threadIdx.x
            s[t] = x[t]
            cuda.syncthreads()
            v = 0.0
            for k in range(max(t - 2, 0), t + 1):
                v += s[k]
            out[t] = v
            """,
    },
    {
        "no barrier": (
            [("cuda.syncthreads()", "pass")],
            Fault("race", "s", "v += s[t - 1]"),
        ),
        "no start": ([("if t > 0", "if True"), ("if t > 1", "if True")], NUMBERS),
        "looks ahead": (
            [("t - 1", "t + 1"), ("t - 2", "t + 2")],
            Fault("index", "s", "t + 2"),
        ),
        "sums up in place": (
            [("v += s[t - 1]", "s[t] += s[t - 1]"), ("v += s[t - 2]", "pass")],
            Fault("race", "s", "s[t] += s[t - 1]"),
        ),
        "two of three": ([("v += s[t - 2]", "pass")], NUMBERS),
        "four": ([("t - 2", "t - 3")], NUMBERS),
        "barrier in the branch": (
            [("cuda.syncthreads()", "if t > 1:\n    cuda.syncthreads()")],
            Fault("race", "s", "v += s[t - 1]", "thread 2 waits, thread 0 never comes"),
        ),
        "barrier misspelt": (
            [("syncthreads", "syncthread")],
            Fault("compile", None, "cuda.syncthread()", "instead: cuda.syncthreads"),
        ),
        "barrier too early": (
            "s = cuda.shared.array(8, numba.float32)\nt = cuda.threadIdx.x\n"
            "cuda.syncthreads()\ns[t] = x[t]\nv = s[t]\nif t > 0:\n    v += s[t - 1]\n"
            "if t > 1:\n    v += s[t - 2]\nout[t] = v",
            Fault("race", "s", "v += s[t - 1]"),
        ),
        "adds in global memory": (
            "t = cuda.threadIdx.x\nfor k in range(3):\n"
            "    if t + k < n:\n        out[t + k] += x[t]",
            Fault("race", "out", "out[t + k] += x[t]"),
        ),
        "a memory fence": (
            [("syncthreads", "threadfence_block")],
            Fault("race", "s", "v += s[t - 1]"),
        ),
    },
)

TASKS["dot product"] = Task(
    "out, x, y, n",
    [
        Launch(
            [numbers(8, first=1), numbers(8, first=3)],
            (8,),
            np.array([numbers(8, first=1) @ numbers(8, first=3)]),
            block=(8, 1),
        )
    ],
    {
        "one thread adds": """
            s = cuda.shared.array(8, numba.float32)
            i = cuda.grid(1)
            t = cuda.threadIdx.x
            if i < n:
                s[t] = x[i] * y[i]
            cuda.syncthreads()
            if t == 0:
                v = 0.0
                for k in range(n):
                    v += s[k]
                out[0] = v
            """,
        "a tree": """
            s = cuda.shared.array(8, numba.float32)
            t = cuda.threadIdx.x
            s[t] = x[t] * y[t]
            cuda.syncthreads()
            half = n // 2
            while half > 0:
                if t < half:
                    s[t] += s[t + half]
                cuda.syncthreads()
                half //= 2
            if t == 0:
                out[0] = s[0]
            """,
        "an atomic": """
            s = cuda.shared.array(1, numba.float32)
            t = cuda.threadIdx.x
            if t == 0:
                s[0] = 0
            cuda.syncthreads()
            cuda.atomic.add(s, 0, x[t] * y[t])
            cuda.syncthreads()
            if t == 0:
                out[0] = s[0]
            """,
    },
    {
        "no barrier": (
            [("cuda.syncthreads()", "pass")],
            Fault("race", "s", "v += s[k]"),
        ),
        "all add to out": (
            "t = cuda.threadIdx.x\nout[0] += x[t] * y[t]",
            Fault("race", "out", "out[0] +="),
        ),
        "atomics on what holds nothing": (
            "t = cuda.threadIdx.x\ncuda.atomic.add(out, 0, x[t] * y[t])",
            NUMBERS,
        ),
        "zeroes it without a barrier": (
            "t = cuda.threadIdx.x\nif t == 0:\n    out[0] = 0\n"
            "cuda.atomic.add(out, 0, x[t] * y[t])",
            Fault("race", "out", "cuda.atomic.add"),
        ),
        "all write their part": (
            [("if t == 0:", "if True:"), ("range(n)", "range(t + 1)")],
            Fault("race", "out", "out[0]"),
        ),
        "all add in shared memory": (
            "s = cuda.shared.array(1, numba.float32)\nt = cuda.threadIdx.x\n"
            "s[0] = 0\ncuda.syncthreads()\ns[0] += x[t] * y[t]\n"
            "cuda.syncthreads()\nif t == 0:\n    out[0] = s[0]",
            Fault("race", "s", "s[0] +="),
        ),
        "one too few": ([("range(n)", "range(n - 1)")], NUMBERS),
        "one too many": ([("range(n)", "range(n + 1)")], Fault("index", "s", "s[k]")),
        "one input": ([("x[i] * y[i]", "x[i]")], NUMBERS),
        "a thread that is not there": ([("t == 0", "t == n")], NUMBERS),
        "loads a half": (
            [("if i < n", "if i < n // 2")],
            Fault("uninitialised", "s", "s[k]"),
        ),
        "a tree without barriers": (
            "s = cuda.shared.array(8, numba.float32)\nt = cuda.threadIdx.x\n"
            "s[t] = x[t] * y[t]\ncuda.syncthreads()\nhalf = n // 2\nwhile half > 0:\n"
            "    if t < half:\n        s[t] += s[t + half]\n    half //= 2\n"
            "if t == 0:\n    out[0] = s[0]",
            Fault("race", "s", "s[t] += s[t + half]"),
        ),
        "a tree with barriers for some": (
            "s = cuda.shared.array(8, numba.float32)\nt = cuda.threadIdx.x\n"
            "s[t] = x[t] * y[t]\ncuda.syncthreads()\nhalf = n // 2\nwhile half > 0:\n"
            "    if t < half:\n        s[t] += s[t + half]\n"
            "        cuda.syncthreads()\n    half //= 2\n"
            "if t == 0:\n    out[0] = s[0]",
            Fault("barrier", None, "cuda.syncthreads"),
        ),
        "the operator of arrays": (
            "out[0] = x @ y",
            Fault("compile", None, "x @ y"),
        ),
        "sum": (
            [("v = 0.0\n    for k in range(n):\n        v += s[k]", "v = sum(s)")],
            Fault(DECLINED, None, "sum(s)"),
        ),
    },
    {
        "all add and write": ([("if t == 0:", "if True:")], "out"),
    },
)

TASKS["convolution"] = Task(
    "out, x, w, n, k",
    [convolution(6, 3, 1), convolution(15, 4, 2)],
    {
        "halo by the first threads": """
            s = cuda.shared.array(12, numba.float32)
            u = cuda.shared.array(4, numba.float32)
            i = cuda.grid(1)
            t = cuda.threadIdx.x
            if i < n:
                s[t] = x[i]
            if t < k:
                u[t] = w[t]
                if i + 8 < n:
                    s[t + 8] = x[i + 8]
            cuda.syncthreads()
            if i < n:
                v = 0.0
                for m in range(k):
                    if i + m < n:
                        v += s[t + m] * u[m]
                out[i] = v
            """,
        "zeroes beyond the end": """
            s = cuda.shared.array(12, numba.float32)
            u = cuda.shared.array(4, numba.float32)
            t = cuda.threadIdx.x
            i = cuda.grid(1)
            for m in range(t, 12, 8):
                at = cuda.blockIdx.x * 8 + m
                s[m] = x[at] if at < n else 0
            if t < 4:
                u[t] = w[t] if t < k else 0
            cuda.syncthreads()
            v = 0.0
            for m in range(4):
                v += s[t + m] * u[m]
            if i < n:
                out[i] = v
            """,
    },
    {
        "no halo": (
            [("if i + 8 < n:", "if False:")],
            Fault("uninitialised", "s", "s[t + m]"),
        ),
        "a tile without room": (
            [("array(12", "array(8")],
            Fault("index", "s", "s[t + 8]"),
        ),
        "halo without a guard": (
            [("i + 8 < n", "True")],
            Fault("index", "x", "x[i + 8]"),
        ),
        "halo from the next block": (
            [("= x[i + 8]", "= x[t + 7]")],
            NUMBERS,
        ),
        "no barrier": (
            [("cuda.syncthreads()", "pass")],
            Fault("race", "s", "v += s[t + m]"),
        ),
        "turned about": ([("u[m]", "u[k - 1 - m]")], NUMBERS),
        "backwards": (
            [("s[t + m]", "s[t - m]")],
            Fault("uninitialised", "s", "s[t - m]", "s[-1], which is s[11]"),
        ),
        "no end": (
            [("if i + m < n:", "if True:")],
            Fault("uninitialised", "s", "s[t + m]"),
        ),
        "all load the filter": (
            [("if t < k:", "if True:")],
            Fault("index", "w", "w[t]"),
        ),
        "half of the filter": (
            [("if t < k:", "if t < k - 1:")],
            Fault("uninitialised", "u", "u[m]"),
        ),
        "writes without a guard": (
            [("if i < n:\n    v", "if True:\n    v")],
            Fault("index", "out", "out[i]"),
        ),
        "writes by thread": ([("out[i]", "out[t]")], Fault("race", "out", "out[t]")),
        "barrier inside the guard": (
            [
                (
                    "cuda.syncthreads()\nif i < n:\n",
                    "if i < n:\n    cuda.syncthreads()\n",
                )
            ],
            Fault("barrier", None, "syncthreads"),
        ),
        "reads the filter as it comes": (
            [
                ("cuda.syncthreads()\n", ""),
                ("if i < n:\n    s", "cuda.syncthreads()\nif i < n:\n    s"),
            ],
            Fault("race", "s", "v += s[t + m]"),
        ),
        "a sum from zero in out": (
            [("v += s", "out[i] += s"), ("out[i] = v", "pass")],
            NUMBERS,
        ),
    },
)

TASKS["prefix sum"] = Task(
    "out, x, n",
    [sums(numbers(8, first=1), 1, 1), sums(numbers(15, first=1), 2, 1)],
    {
        "strides that double": """
            s = cuda.shared.array(8, numba.float32)
            i = cuda.grid(1)
            t = cuda.threadIdx.x
            if i < n:
                s[t] = x[i]
            else:
                s[t] = 0
            cuda.syncthreads()
            step = 1
            while step < 8:
                if t % (2 * step) == 0:
                    s[t] += s[t + step]
                cuda.syncthreads()
                step *= 2
            if t == 0:
                out[cuda.blockIdx.x] = s[0]
            """,
        "halves": """
            s = cuda.shared.array(8, numba.float32)
            i = cuda.grid(1)
            t = cuda.threadIdx.x
            s[t] = x[i] if i < n else 0
            for k in range(3):
                cuda.syncthreads()
                half = 4 >> k
                if t < half:
                    s[t] += s[t + half]
            if t == 0:
                out[cuda.blockIdx.x] = s[t]
            """,
    },
    {
        "no barrier in the loop": (
            [("    cuda.syncthreads()\n    step", "    step")],
            Fault("race", "s", "s[t] += s[t + step]"),
        ),
        "no barrier before the loop": (
            [("cuda.syncthreads()\nstep", "step")],
            Fault("race", "s", "s[t] += s[t + step]"),
        ),
        "no zeroes": (
            [("else:\n    s[t] = 0\n", "")],
            Fault("uninitialised", "s", "s[t] += s[t + step]"),
        ),
        "barrier in the branch": (
            [
                (
                    "    cuda.syncthreads()\n    step",
                    "        cuda.syncthreads()\n    step",
                )
            ],
            Fault("barrier", None, "cuda.syncthreads"),
        ),
        "all threads add": (
            [("t % (2 * step) == 0", "t + step < 8")],
            Fault("race", "s", "s[t] += s[t + step]"),
        ),
        "one step more": (
            [("step < 8", "step <= 8")],
            Fault("index", "s", "s[t + step]"),
        ),
        "one step less": ([("step < 8", "step < 4")], NUMBERS),
        "steps by one": (
            [("step *= 2", "step += 1")],
            Fault("index", "s", "s[t + step]"),
        ),
        "halves by /": (
            [
                ("step = 1", "step = 8 / 2"),
                ("step < 8", "step >= 1"),
                ("t % (2 * step) == 0", "t < step"),
                ("step *= 2", "step /= 2"),
            ],
            Fault("compile", None, "s[t] += s[t + step]", "a // b"),
        ),
        "starts at no step": (
            [("step = 1", "step = 0")],
            Fault("endless", None, "syncthreads"),
        ),
        "all blocks to the first": (
            [("out[cuda.blockIdx.x]", "out[0]")],
            Fault("race", "out", "out[0]"),
        ),
        "all threads write": (
            [("if t == 0:", "if True:"), ("= s[0]", "= s[t]")],
            Fault("race", "out", "out[cuda.blockIdx.x]"),
        ),
        "by the index of the grid": ([("s[t]", "s[i]")], Fault("index", "s", "s[i]")),
        "a guard around the barriers": (
            "s = cuda.shared.array(8, numba.float32)\ni = cuda.grid(1)\n"
            "t = cuda.threadIdx.x\nif i < n:\n    s[t] = x[i]\n    cuda.syncthreads()\n"
            "    step = 1\n    while step < 8:\n"
            "        if t % (2 * step) == 0 and i + step < n:\n"
            "            s[t] += s[t + step]\n        cuda.syncthreads()\n"
            "        step *= 2\n    if t == 0:\n        out[cuda.blockIdx.x] = s[0]",
            Fault("barrier", None, "cuda.syncthreads"),
        ),
        "a scan in place": (
            [
                ("if t % (2 * step) == 0", "if t >= step"),
                ("s[t + step]", "s[t - step]"),
                ("= s[0]", "= s[7]"),
            ],
            Fault("race", "s", "s[t] += s[t - step]"),
        ),
        "the last thread is elsewhere": ([("if t == 0", "if i == 0")], NUMBERS),
        "forgets the guard": ([("if i < n:", "if True:")], Fault("index", "x", "x[i]")),
    },
    {
        "all threads write the same": ([("if t == 0:", "if True:")], "out"),
    },
)

TASKS["axis sum"] = Task(
    "out, x, n",
    [sums(numbers(4, 6, first=1), 1, 4)],
    {
        "strides that double": """
            s = cuda.shared.array(8, numba.float32)
            i = cuda.grid(1)
            t = cuda.threadIdx.x
            row = cuda.blockIdx.y
            if i < n:
                s[t] = x[row, i]
            else:
                s[t] = 0
            cuda.syncthreads()
            for k in range(3):
                step = 2**k
                if t % (2 * step) == 0:
                    s[t] += s[t + step]
                cuda.syncthreads()
            if t == 0:
                out[row, 0] = s[0]
            """,
        "one thread adds": """
            s = cuda.shared.array(8, numba.float32)
            t = cuda.threadIdx.x
            row = cuda.blockIdx.y
            if t < n:
                s[t] = x[row, t]
            cuda.syncthreads()
            if t == 0:
                v = numba.float32(0)
                for k in range(n):
                    v += s[k]
                out[row, cuda.blockIdx.x] = v
            """,
        "a row of one": """
            s = cuda.shared.array(8, numba.float32)
            t = cuda.threadIdx.x
            row = cuda.blockIdx.y
            s[t] = x[row, t] if t < n else 0
            cuda.syncthreads()
            if t == 0:
                out[row] = s[0] + s[1] + s[2] + s[3] + s[4] + s[5]
            """,
    },
    {
        "the other axis": (
            [("x[row, i]", "x[i, row]")],
            Fault("index", "x", "x[i, row]"),
        ),
        "the first row": ([("x[row, i]", "x[0, i]")], NUMBERS),
        "x of the block": ([("blockIdx.y", "blockIdx.x")], NUMBERS),
        "no zeroes": (
            [("else:\n    s[t] = 0\n", "")],
            Fault("uninitialised", "s", "s[t] += s[t + step]"),
        ),
        "no guard": ([("if i < n:", "if True:")], Fault("index", "x", "x[row, i]")),
        "all rows to the first": (
            [("out[row, 0]", "out[0, 0]")],
            Fault("race", "out", "out["),
        ),
        "out the wrong way": (
            [("out[row, 0]", "out[0, row]")],
            Fault("index", "out", "out["),
        ),
        "no barrier in the loop": (
            [("    cuda.syncthreads()\nif t == 0", "if t == 0")],
            Fault("race", "s", "s[t] += s[t + step]"),
        ),
        "one thread too many": (
            [("t == 0:\n    out", "t < 2:\n    out"), ("= s[0]", "= s[t]")],
            Fault("race", "out", "out[row, 0]"),
        ),
        "adds the rows in out": (
            "row = cuda.blockIdx.y\nt = cuda.threadIdx.x\nif t < n:\n"
            "    out[row, 0] += x[row, t]",
            Fault("race", "out", "out[row, 0]"),
        ),
    },
)

TASKS["matrix multiply"] = Task(
    "out, x, y, n",
    [product(2, 1), product(8, 3)],
    {
        "tiles with zeroes": """
            s = cuda.shared.array((3, 3), numba.float32)
            u = cuda.shared.array((3, 3), numba.float32)
            i, j = cuda.grid(2)
            a = cuda.threadIdx.x
            b = cuda.threadIdx.y
            v = 0.0
            for k in range(0, n, 3):
                s[a, b] = 0
                u[a, b] = 0
                if i < n and k + b < n:
                    s[a, b] = x[i, k + b]
                if k + a < n and j < n:
                    u[a, b] = y[k + a, j]
                cuda.syncthreads()
                for m in range(3):
                    v += s[a, m] * u[m, b]
                cuda.syncthreads()
            if i < n and j < n:
                out[i, j] = v
            """,
        "tiles as far as they go": """
            s = cuda.shared.array((3, 3), numba.float32)
            u = cuda.shared.array((3, 3), numba.float32)
            i, j = cuda.grid(2)
            a = cuda.threadIdx.x
            b = cuda.threadIdx.y
            v = numba.float32(0)
            k = 0
            while k < n:
                if i < n and k + b < n:
                    s[a, b] = x[i, k + b]
                if k + a < n and j < n:
                    u[a, b] = y[k + a, j]
                cuda.syncthreads()
                if i < n and j < n:
                    for m in range(min(3, n - k)):
                        v += s[a, m] * u[m, b]
                cuda.syncthreads()
                k += 3
            if i < n and j < n:
                out[i, j] = v
            """,
    },
    {
        "no second barrier": (
            [("    cuda.syncthreads()\nif", "if")],
            Fault("race", "u", "v += s[a, m]"),
        ),
        "no first barrier": (
            [("    cuda.syncthreads()\n    for", "    for")],
            Fault("race", "u", "v += s[a, m]"),
        ),
        "no barrier at all": (
            [("    cuda.syncthreads()\n", "")],
            Fault("race", "u", "v += s[a, m]"),
        ),
        "no second barrier, no zeroes": (
            "s = cuda.shared.array((3, 3), numba.float32)\n"
            "u = cuda.shared.array((3, 3), numba.float32)\ni, j = cuda.grid(2)\n"
            "a = cuda.threadIdx.x\nb = cuda.threadIdx.y\nv = 0.0\n"
            "for k in range(0, n, 3):\n    if i < n and k + b < n:\n"
            "        s[a, b] = x[i, k + b]\n    if k + a < n and j < n:\n"
            "        u[a, b] = y[k + a, j]\n    cuda.syncthreads()\n"
            "    if i < n and j < n:\n        for m in range(min(3, n - k)):\n"
            "            v += s[a, m] * u[m, b]\nif i < n and j < n:\n    out[i, j] = v",
            Fault("race", "u", "v += s[a, m]"),
        ),
        "no zeroes": (
            [("    s[a, b] = 0\n    u[a, b] = 0\n", "")],
            Fault("uninitialised", "s", "s[a, m] * u[m, b]"),
        ),
        # Thread 2 reads beyond the matrix what holds nothing, and nobody uses its sum.
        "products that nobody wants": (
            [
                ("    s[a, b] = 0\n    u[a, b] = 0\n", ""),
                ("range(3)", "range(min(3, n - k))"),
            ],
            Fault("uninitialised", "s", "s[a, m] * u[m, b]"),
        ),
        "no guard": (
            [("if i < n and k + b < n", "if True")],
            Fault("index", "x", "x[i, k + b]"),
        ),
        "guards the wrong index": (
            [("if i < n and k + b < n", "if i < n and j < n")],
            Fault("index", "x", "x[i, k + b]"),
        ),
        "one tile": ([("range(0, n, 3)", "range(0, 3, 3)")], NUMBERS),
        "whole tiles only": ([("range(0, n, 3)", "range(0, n // 3 * 3, 3)")], NUMBERS),
        "begins again": ([("    s[a, b] = 0\n", "    s[a, b] = v = 0.0\n")], NUMBERS),
        "one product too few": ([("range(3)", "range(2)")], NUMBERS),
        "one product too many": (
            [("range(3)", "range(4)")],
            Fault("index", "s", "s[a, m]"),
        ),
        "turns the result": ([("out[i, j]", "out[j, i]")], NUMBERS),
        "turns an input": ([("y[k + a, j]", "y[j, k + a]")], NUMBERS),
        "turns a tile": ([("u[m, b]", "u[b, m]")], NUMBERS),
        "swaps x and y": ([("i, j =", "j, i =")], NUMBERS),
        "leaves early": (
            [("v = 0.0", "if i >= n or j >= n:\n    return\nv = 0.0")],
            Fault("uninitialised", "s", "s[a, m] * u[m, b]"),
        ),
        "barriers for those inside": (
            [
                (
                    "    cuda.syncthreads()\n    for",
                    "    if i < n and j < n:\n        cuda.syncthreads()\n    for",
                )
            ],
            Fault("race", "u", "v += s[a, m]", "thread (0, 0) at the one on line"),
        ),
        "adds in global memory": (
            [("v += s", "out[i, j] += s"), ("    out[i, j] = v", "    pass")],
            Fault("index", "out", "out[i, j] +="),
        ),
        "a tile of two": ([("(3, 3)", "(2, 2)")], Fault("index", "s", "s[a, b] = 0")),
        "all add to one": (
            [("out[i, j]", "out[i, 0]")],
            Fault("race", "out", "out[i, 0]"),
        ),
    },
)


# ---- judging


def module_of(task: Task) -> tuple[str, list[str]]:
    """Return the text of a module with every answer to a task, and their names."""
    parts, names = ["import numba\n"], []
    for name, body in task.answers().items():
        names.append(name)
        head = f"def answer_{len(names)}(cuda):\n    def call({task.parameters}):\n"
        body = indent(body.strip("\n"), " " * 8)
        parts.append(f"{head}{body}\n\n    return call\n")
    return "\n\n".join(parts), names


def judged(answer: Callable[..., Any], launches: list[Launch], lines: list[str]) -> Any:
    """Return the verdict on an answer, as the launches of its task come to it."""
    from numba import cuda

    from blocksim import Fault as Found
    from blocksim.dropin import Declined

    for launch in launches:
        out = np.full(launch.expected.shape, np.nan)
        inputs = [each.copy("K") for each in launch.inputs]
        try:
            kernel = cuda.jit(answer(cuda))
            kernel[launch.grid, launch.block](out, *inputs, *launch.sizes)
        except Found as fault:
            line = lines[fault.line - 1].strip() if fault.line else ""
            array = fault.fields.get("array")
            said = "\n".join([str(fault), *getattr(fault, "__notes__", [])])
            return {"kind": fault.kind, "array": array, "line": line, "text": said}
        except Declined as reason:
            line = int(re.search(r"(?:line |:)(\d+)\)$", str(reason))[1])
            return {
                "kind": DECLINED,
                "array": None,
                "line": lines[line - 1],
                "text": str(reason),
            }
        if not np.allclose(out, launch.expected):
            return {"kind": NUMBERS, "text": str(out)}
    return {"kind": RIGHT}


def main(folder: Path) -> None:
    """Judge every answer by the session that `blocksim` has installed."""
    session = sys.modules["numba"].cuda.jit.__closure__[0].cell_contents
    verdicts: dict[str, dict[str, Any]] = {}
    for number, (task_name, task) in enumerate(TASKS.items()):
        text, names = module_of(task)
        file = folder / f"task_{number}.py"
        file.write_text(text, "utf-8")
        spec = importlib.util.spec_from_file_location(file.stem, file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        verdicts[task_name] = {}
        for index, name in enumerate(names):
            before = len(session.launches)
            answer = getattr(module, f"answer_{index + 1}")
            verdict = judged(answer, task.launches, text.splitlines())
            notes = [note for one in session.launches[before:] for note in one.notes]
            verdict["notes"] = [
                [n.severity, n.kind, n.fields.get("array")] for n in notes
            ]
            verdicts[task_name][name] = verdict
    json.dump(verdicts, sys.stdout)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
