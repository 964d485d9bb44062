"""The code that a launch runs, executed: right numbers and no fault, with no GPU.

The compile gate of `make test` (tools/kernels.py) leaves the PTX of every kernel that
ships. It is run here by ptxsim and judged by the accuracy rule of `gpu.trial`.
"""

import os
import re

import numpy as np
import pytest

import ptxsim
from onlinesoftmax import _inputs as inputs
from onlinesoftmax import masks
from onlinesoftmax.gpu import RUNGS, WIDTHS, Build, reports, trial
from onlinesoftmax.gpu.launch import fit
from tools import compiled, kernels

pytestmark = pytest.mark.skipif(
    not compiled.programs() and not os.environ.get("CI"),
    reason="the kernels are not compiled: python -m tools.kernels --check",
)
rungs = pytest.mark.parametrize("rung", RUNGS)

# Ragged lengths; heads of queries and of keys, queries, keys.
CASES = {
    "causal, shared heads": (masks.causal(), (2, 1, 70, 90)),
    "rows that see nothing": (masks.causal(), (1, 1, 90, 37)),
    "window": (masks.window(17, 5), (1, 1, 133, 133)),
    "padding that is NaN": (masks.padding([45, 0]), (2, 2, 33, 70)),
}
WIDE = {
    "everything": (
        masks.causal() & masks.window(40) & masks.padding([60, 9]),
        (2, 1, 50, 70),
    ),
    "one row": (None, (1, 1, 1, 41)),
}


def texts(rung: str, d: int, dtype: str, arch: str = "sm_80") -> dict[Build, str]:
    builds = Build.shipped(rung, d).launches
    return {each: compiled.text(each, dtype, arch) for each in builds}


@rungs
@pytest.mark.parametrize("name", CASES)
def test_compiled_kernels_attend(rung: str, name: str) -> None:
    case = trial.Case(rung, 64, "float32", *CASES[name])
    assert compiled.judge(case, texts(rung, 64, "float32")) == ""


@rungs
@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("d", WIDTHS)
@pytest.mark.parametrize("name", WIDE)
def test_compiled_kernels_of_every_width_and_dtype_attend(
    rung: str, d: int, dtype: str, name: str
) -> None:
    case = trial.Case(rung, d - 24 * (name == "one row"), dtype, *WIDE[name])
    assert compiled.judge(case, texts(rung, d, dtype)) == ""


@rungs
def test_a_hidden_value_reaches_no_row_that_does_not_see_it(rung: str) -> None:
    """Key 30 holds NaN, and infinity beside it: with a causal mask, rows from 30 on."""
    rng = np.random.default_rng(3)
    q, k, v = rng.standard_normal((3, 1, 1, 41, 64)).astype("f4")
    v[..., 30, ::2], v[..., 30, 1::2] = np.nan, np.inf
    build = Build.shipped(rung, 64)
    task = fit(inputs.attention(q, k, v, None, None, None), masks.causal(), 64)
    out = compiled.attend(build, task, texts(rung, 64, "float32")).out[0]
    assert np.isfinite(out[:30]).all()
    assert np.isnan(out[30:, ::2]).all() and not np.isfinite(out[30:, 1::2]).any()


def plain(text: str) -> list[str]:
    """A program without what tells architectures and lines of Python apart, or names."""
    text = re.sub(r"_ZN\w+?(?=_param_|\()", "kernel", re.sub(r"//.*", "", text))
    names = dict.fromkeys(re.findall(r"_cudapy_\w+", text))
    for number, name in enumerate(names):
        text = re.sub(rf"{name}\b", f"array_{number}", text)
    lines = [" ".join(line.split()) for line in text.split("\n")]
    return [x for x in lines if x and not x.startswith((".target", ".loc", ".file"))]


@rungs
@pytest.mark.parametrize("d", WIDTHS)
@pytest.mark.parametrize("dtype", reports.DTYPES)
def test_what_runs_for_another_architecture_is_the_same_code_or_attends_as_well(
    rung: str, d: int, dtype: str
) -> None:
    executed = [plain(text) for text in texts(rung, d, dtype).values()]
    case = trial.Case(rung, d, dtype, *WIDE["everything"])
    for arch in kernels.ON_PAGES:
        own = texts(rung, d, dtype, arch)
        if [plain(text) for text in own.values()] != executed:
            assert compiled.judge(case, own) == "", arch


@rungs
def test_a_barrier_that_is_dropped_is_noticed(rung: str) -> None:
    """What these tests stand on: each barrier of each kernel is needed."""
    found = texts(rung, 64, "float32")
    case = trial.Case(rung, 64, "float32", *CASES["causal, shared heads"])
    build, text = next(iter(found.items()))
    for barrier in re.finditer(r"bar\.sync\s+0;", text):
        hasty = text[: barrier.start()] + " " * len(barrier[0]) + text[barrier.end() :]
        with pytest.raises(
            ptxsim.Fault, match=rf"^(race|uninit\w+): line \d+ \({rung}.py:\d+\)"
        ):
            compiled.judge(case, found | {build: hasty})
