"""The fourteen tasks of GPU-Puzzles, their answers, and the launches that try them.

The tasks and their sizes are those of https://github.com/srush/GPU-Puzzles (Sasha Rush,
MIT licence), stated anew; the answers, in tests/data/puzzles.yml, are ours. An input holds
numbers that tell it from the others, and ``out`` holds NaN at first, as an array of the
device may.

``python -m blocksim tests/blocksim/puzzles.py FOLDER`` launches every answer by the names of
``numba.cuda``, writes their text to the folder, and prints the verdicts as JSON.
"""

import importlib.util
import json
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from textwrap import indent
from typing import Any

import numpy as np
import yaml

ANSWERS = Path(__file__).parents[1] / "data" / "puzzles.yml"
NUMBERS = "numbers"  # the verdict: nothing but the numbers is wrong
DECLINED = "declined"
RIGHT = "right"
TPB = 8
SIDE = 3


@dataclass(frozen=True)
class Launch:
    """One launch of a task, and what it has to leave in ``out``."""

    inputs: list[np.ndarray]
    sizes: tuple[int, ...]
    expected: np.ndarray
    grid: tuple[int, int] = (1, 1)
    block: tuple[int, int] = (1, 1)


# ---- what is to be computed


def numbers(*shape: int, first: int = 0) -> np.ndarray:
    return np.arange(first, first + np.prod(shape)).reshape(shape)


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


def pairs(
    x: np.ndarray, y: np.ndarray, *sizes: int, block: tuple[int, int] = (4, 1)
) -> Launch:
    return Launch([x, y], sizes, x + y, block=block)


def pooling(x: np.ndarray) -> Launch:
    return Launch([x], x.shape, last_three(x), block=(TPB, 1))


def dot(x: np.ndarray, y: np.ndarray) -> Launch:
    return Launch([x, y], x.shape, np.array([x @ y]), block=(TPB, 1))


def convolution(n: int, k: int, blocks: int) -> Launch:
    x, w = numbers(n, first=1), numbers(k, first=2)
    return Launch([x, w], (n, k), correlated(x, w), (blocks, 1), (TPB, 1))


def sums(x: np.ndarray, *grid: int) -> Launch:
    return Launch([x], x.shape[-1:], block_sums(x), grid, (TPB, 1))


def product(n: int, blocks: int) -> Launch:
    x, y = numbers(n, n), numbers(n, n, first=1).T
    return Launch([x, y], (n,), x @ y, (blocks, blocks), (SIDE, SIDE))


LAUNCHES = {
    "map": [ten_more(numbers(4), block=(4, 1))],
    "zip": [pairs(numbers(4), numbers(4, first=7))],
    "guards": [ten_more(numbers(4), 4, block=(8, 1))],
    "map 2D": [ten_more(numbers(2, 2), 2, block=(3, 3))],
    "broadcast": [
        pairs(numbers(2, 1), numbers(1, 2, first=5) * 3, 2, block=(3, 3)),
    ],
    "blocks": [ten_more(numbers(9), 9, grid=(3, 1), block=(4, 1))],
    "blocks 2D": [ten_more(numbers(5, 5), 5, grid=(2, 2), block=(3, 3))],
    "shared": [
        ten_more(numbers(8), 8, grid=(2, 1), block=(4, 1)),
        # Ours: a block that is not full, as the barrier of the original text stands
        # inside the if.
        ten_more(numbers(7), 7, grid=(2, 1), block=(4, 1)),
    ],
    "pooling": [pooling(numbers(8, first=1))],
    "dot product": [dot(numbers(8, first=1), numbers(8, first=3))],
    "convolution": [convolution(6, 3, 1), convolution(15, 4, 2)],
    "prefix sum": [sums(numbers(8, first=1), 1, 1), sums(numbers(15, first=1), 2, 1)],
    "axis sum": [sums(numbers(4, 6, first=1), 1, 4)],
    "matrix multiply": [product(2, 1), product(8, 3)],
}

# ---- the answers


@dataclass(frozen=True)
class Answer:
    """An answer with a mistake, or with work that threads repeat.

    Attributes
    ----------
    text : str
    kind : str
        The verdict on it.
    array : str or None
        The array of its fault or note.
    line, said : str
        A part of the fault's line, and of its message with the notes.
    """

    text: str
    kind: str
    array: str | None = None
    line: str = ""
    said: str = ""


class Task:
    """A task: its answers, and the launches that try them."""

    def __init__(self, name: str, entry: dict[str, Any]):
        self.parameters, self.launches = entry["parameters"], LAUNCHES[name]
        self.right: dict[str, str] = entry["right"]
        self.wrong = self._answers(entry["wrong"])
        self.benign = self._answers(entry.get("benign", {}))

    def _answers(self, entries: dict[str, Any]) -> dict[str, Answer]:
        first = next(iter(self.right))
        answers = {}
        for name, entry in entries.items():
            base, verdict = self.right[entry.get("of", first)], entry["verdict"]
            text = entry.get("code") or edited(base, entry["change"])
            parts = [verdict] if isinstance(verdict, str) else verdict
            answers[name] = Answer(text, *parts)
        return answers

    def answers(self) -> dict[str, str]:
        """Return the text of every answer."""
        others = self.wrong | self.benign
        return self.right | {name: answer.text for name, answer in others.items()}


def edited(text: str, change: dict[str, str]) -> str:
    """Return a text with its edits, each of which has to change something."""
    for old, new in change.items():
        assert old in text, old
        text = text.replace(old, new)
    return text


TASKS = {
    name: Task(name, entry)
    for name, entry in yaml.safe_load(ANSWERS.read_text("utf-8")).items()
}

# ---- judging


def module_of(task: Task) -> tuple[str, list[str]]:
    """Return the text of a module with every answer to a task, and their names."""
    parts, names = ["import numba\n"], []
    for name, body in task.answers().items():
        names.append(name)
        head = f"def answer_{len(names)}(cuda):\n    def call({task.parameters}):\n"
        body = indent(body, " " * 8)
        parts.append(f"{head}{body}\n    return call\n")
    return "\n\n".join(parts), names


def judged(answer: Callable[..., Any], launches: list[Launch], lines: list[str]) -> Any:
    """Return the verdict on an answer, as the launches of its task come to it."""
    from numba import cuda

    from blocksim import Fault
    from blocksim.dropin import Declined

    kernel = cuda.jit(answer(cuda))
    launched = kernel.session.launches
    before, verdict = len(launched), {"kind": RIGHT}
    try:
        if not all(is_right(kernel, launch) for launch in launches):
            verdict["kind"] = NUMBERS
    except Fault as fault:
        verdict = {
            "kind": fault.kind,
            "array": fault.fields.get("array"),
            "line": lines[fault.line - 1] if fault.line else "",
            "said": "\n".join([str(fault), *getattr(fault, "__notes__", [])]),
        }
    except Declined as reason:
        line = int(re.search(r"(?:line |:)(\d+)\)$", str(reason))[1])
        verdict = {"kind": DECLINED, "line": lines[line - 1], "said": str(reason)}
    notes = [note for launch in launched[before:] for note in launch.notes]
    fields = [[note.severity, note.kind, note.fields.get("array")] for note in notes]
    return verdict | {"notes": fields}


def is_right(kernel: Any, launch: Launch) -> bool:
    """Launch a kernel; return whether the numbers are right."""
    out = np.full(launch.expected.shape, np.nan)
    inputs = [each.copy("K") for each in launch.inputs]
    kernel[launch.grid, launch.block](out, *inputs, *launch.sizes)
    return np.allclose(out, launch.expected)


def main(folder: Path) -> None:
    """Print the verdict on every answer to every task."""
    verdicts: dict[str, dict[str, Any]] = {}
    for number, (task_name, task) in enumerate(TASKS.items()):
        text, names = module_of(task)
        file = folder / f"task_{number}.py"
        file.write_text(text, "utf-8")
        spec = importlib.util.spec_from_file_location(file.stem, file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        verdicts[task_name] = {
            name: judged(
                getattr(module, f"answer_{index}"), task.launches, text.splitlines()
            )
            for index, name in enumerate(names, 1)
        }
    json.dump(verdicts, sys.stdout)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
