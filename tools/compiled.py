"""The kernels that ship, as a launch runs them, on the PTX machine."""

import json
from functools import cache
from typing import NamedTuple

import numpy as np

import ptxsim
from onlinesoftmax import _inputs as inputs
from onlinesoftmax import dense
from onlinesoftmax.gpu import trial
from onlinesoftmax.gpu.ladder import Build
from onlinesoftmax.gpu.launch import Task, fit
from tools import kernels

WRITTEN = ("O", "LSE", "states")  # what kernels may write
PARTS = 2  # into which a rung deals out the keys that does so


@cache
def programs() -> dict[str, str]:
    """The PTX that the compile gate has left, by name; empty if it has not run."""
    file = kernels.gated()
    return json.loads(file.read_text("utf-8"))["ptx"] if file.exists() else {}


def text(build: Build, dtype: str, arch: str = kernels.GATE[1]) -> str:
    """The PTX of a kernel."""
    return programs()[f"{build.rung}-{build.d}-{dtype}-{arch}"]


class Answer(NamedTuple):
    """What came out, and how many instructions it took."""

    out: np.ndarray
    lse: np.ndarray
    threads: int


def attend(build: Build, task: Task, texts: dict[Build, str], **options) -> Answer:
    """Run a kernel, and what is launched after it."""
    out = np.zeros_like(task.q)
    lse = np.zeros(task.q.shape[:2], np.float32)
    parts = PARTS if build.launches[1:] else 1
    given = task.given(out, lse, parts)
    empty, threads = set(WRITTEN), 0
    for each in build.launches:
        names = each.arguments
        outputs = [i for i, name in enumerate(names) if name in empty]
        result = ptxsim.run(
            texts[each],
            task.grid(each, parts),
            [given[name] for name in names],
            outputs=outputs,
            **options,
        )
        empty -= {names[i] for i in outputs}
        threads += result.threads
    return Answer(given["O"], given["LSE"], threads)


def judge(case: trial.Case, texts: dict[Build, str], **options) -> str:
    """What is wrong with a kernel's answer, by the accuracy rule; or nothing."""
    q, k, v = trial.drawn(case)
    build = Build.shipped(case.rung, case.d)
    task = fit(inputs.attention(q, k, v, None, None, None), case.mask, build.d)
    answer = attend(build, task, texts, **options)
    out = answer.out[..., : case.d].reshape(q.shape)
    lse = answer.lse.reshape(q.shape[:-1])
    wide = (np.nan_to_num(x.astype(np.float64)) for x in (q, k, v))
    truth, true_lse = dense.attention(*wide, mask=case.mask, return_lse=True)
    off = np.abs(out.astype(np.float64) - truth).max()
    if not off <= (allowed := trial.tolerance(case, np.abs(truth).max())):
        return f"off by {off:.2e}, allowed {allowed:.2e}"
    seen = np.isfinite(true_lse)
    if not np.array_equal(np.isneginf(lse), np.isneginf(true_lse)):
        return "lse is off: rows that see nothing"
    if not np.allclose(lse[seen], true_lse[seen], rtol=1e-5, atol=1e-5):
        return "lse is off"
    return ""
