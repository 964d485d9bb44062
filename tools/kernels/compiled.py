"""Runs the kernels that ship on the PTX machine, compiled as for a launch.

    python -m tools.kernels.compiled    the kernels whose PTX differs between architectures

`make test-all` executes the PTX of one architecture. This command executes the PTX of the
others, which `python -m tools.kernels --check --every` has cached.
"""

import json
import re
import sys
from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np

import ptxsim
from kernellab import reports, trial
from onlinesoftmax import dense, masks
from tiledattention.gpu import RUNGS, WIDTHS
from tiledattention.gpu.ladder import Build
from tiledattention.gpu.task import Task, fit, from_bits
from tools.common.options import report
from tools.kernels import gate as kernels

WRITTEN = ("O", "LSE", "states")  # the arrays that kernels may write
PARTS = 2  # the parts of the keys, in a rung that divides them
# A case with every kind of mask and ragged lengths: heads of queries and of keys,
# queries, keys.
EVERYTHING = (
    masks.causal() & masks.window(40) & masks.padding([60, 9]),
    (2, 1, 50, 70),
)


@cache
def programs() -> dict[str, str]:
    """Return the PTX that the gate has cached, by name; empty if it has not run."""
    file = kernels.gate_results()
    return json.loads(file.read_text("utf-8"))["ptx"] if file.exists() else {}


def texts(
    rung: str, d: int, dtype: str, arch: str = kernels.GATE[1]
) -> dict[Build, str]:
    """Return the PTX of a rung that ships, and of the kernel launched after it."""
    return {
        build: programs()[f"{build.rung}-{build.d}-{dtype}-{arch}"]
        for build in Build.shipped(rung, d).launches
    }


class Answer(NamedTuple):
    """The arrays that kernels have written, and the number of executed instructions."""

    out: np.ndarray
    lse: np.ndarray
    threads: int


def attend(
    build: Build, task: Task, texts: dict[Build, str], parts: int = PARTS, **options
) -> Answer:
    """Run a kernel, and the kernel launched after it."""
    out = np.zeros_like(task.q)
    lse = np.zeros(task.q.shape[:2], np.float32)
    parts = parts if build.launches[1:] else 1
    arguments = task.arguments(out, lse, parts)
    empty, threads = set(WRITTEN), 0
    for each in build.launches:
        names = each.arguments
        outputs = [i for i, name in enumerate(names) if name in empty]
        result = ptxsim.run(
            texts[each],
            task.grid(each, parts),
            [arguments[name] for name in names],
            outputs=outputs,
            threads=each.threads,
            **options,
        )
        empty -= {names[i] for i in outputs}
        threads += result.threads
    return Answer(arguments["O"], arguments["LSE"], threads)


def judge(
    case: trial.Case,
    texts: dict[Build, str],
    drawn: list[np.ndarray] | None = None,
    **options,
) -> str:
    """Return the complaint about a kernel's answer by the accuracy rule; "" if right.

    `drawn` replaces the queries, keys and values of `trial.drawn`. A row that sees a key
    whose value is NaN has to output NaN.
    """
    q, k, v = drawn or trial.drawn(case)
    build = Build.shipped(case.rung, case.d)
    task = fit(trial.asked(case, q, k, v), case.mask, build.d)
    answer = attend(build, task, texts, **options)
    out = from_bits(answer.out)[..., : case.d].reshape(q.shape)
    lse = answer.lse.reshape(q.shape[:-1])
    wide = (x.astype(np.float64) for x in (q, k, v))
    truth, true_lse = dense.attention(*wide, mask=case.mask, return_lse=True)
    number = ~(np.isnan(truth) & np.isnan(out))
    off = np.abs(out.astype(np.float64) - truth)[number].max(initial=0)
    if not off <= (allowed := trial.tolerance(case, np.nanmax(np.abs(truth)))):
        return f"off by {off:.2e}, allowed {allowed:.2e}"
    seen = np.isfinite(true_lse)
    if not np.array_equal(np.isneginf(lse), np.isneginf(true_lse)):
        return "lse is off: rows that see nothing"
    if not np.allclose(lse[seen], true_lse[seen], rtol=1e-5, atol=1e-5):
        return "lse is off"
    return ""


def judge_other(
    case: trial.Case, own: dict[Build, str], executed: dict[Build, str]
) -> str | None:
    """Return the complaint about another architecture's code; None for equal code."""
    if [plain(text) for text in own.values()] == [*map(plain, executed.values())]:
        return None
    return judge(case, own)


def plain(text: str) -> list[str]:
    """Return a program without architectures, lines of Python and generated names."""
    text = re.sub(r"_ZN\w+?(?=_param_|\()", "kernel", re.sub(r"//.*", "", text))
    names = dict.fromkeys(re.findall(r"_cudapy_\w+", text))
    for number, name in enumerate(names):
        text = re.sub(rf"{name}\b", f"array_{number}", text)
    lines = [" ".join(line.split()) for line in text.split("\n")]
    return [x for x in lines if x and not x.startswith((".target", ".loc", ".file"))]


def every() -> Iterator[tuple[str, int, str, str]]:
    """Yield each rung with its widths, dtypes and architectures."""
    for rung in RUNGS:
        archs, dtypes = reports.compiled_for(rung)
        yield from product([rung], WIDTHS, dtypes, archs)


def main() -> int:
    wrong, ran = [], 0
    for rung, d, dtype, arch in every():
        if arch == kernels.GATE[1]:
            continue
        case = trial.Case(rung, d, dtype, *EVERYTHING)
        try:
            own = texts(rung, d, dtype, arch)
        except KeyError:
            print("not compiled: python -m tools.kernels --check --every")
            return 2
        complaint = judge_other(case, own, texts(rung, d, dtype))
        ran += complaint is not None
        if complaint:
            wrong.append(f"{case} {arch}: {complaint}")
    return report(wrong, f"{ran} kernels for other architectures: {len(wrong)} wrong")


if __name__ == "__main__":
    sys.exit(main())
