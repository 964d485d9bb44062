"""The code that a launch runs, executed: right numbers and no fault, with no GPU.

The compile gate of `make test-all` (tools/kernels/gate.py) leaves the PTX of every kernel that
ships. It is run here by ptxsim and judged by the accuracy rule of `gpu.trial`.
"""

import os
import re

import numpy as np
import pytest

import ptxsim
from kernellab import trial
from onlinesoftmax import dense, inputs, masks
from tiledattention.gpu import RUNGS, WIDTHS, Build
from tiledattention.gpu.task import fit
from tools.kernels import compiled

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
    "everything": compiled.EVERYTHING,
    "one row": (None, (1, 1, 1, 41)),
}


@rungs
@pytest.mark.parametrize("name", CASES)
def test_compiled_kernels_attend(rung: str, name: str) -> None:
    case = trial.Case(rung, 64, "float32", *CASES[name])
    assert compiled.judge(case, compiled.texts(rung, 64, "float32")) == ""


@rungs
@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("d", WIDTHS)
@pytest.mark.parametrize("name", WIDE)
def test_compiled_kernels_of_every_width_and_dtype_attend(
    rung: str, d: int, dtype: str, name: str
) -> None:
    case = trial.Case(rung, d - 24 * (name == "one row"), dtype, *WIDE[name])
    assert compiled.judge(case, compiled.texts(rung, d, dtype)) == ""


@rungs
def test_a_hidden_value_reaches_no_row_that_does_not_see_it(rung: str) -> None:
    """Key 30 holds NaN, and infinity beside it: with a causal mask, rows from 30 on."""
    rng = np.random.default_rng(3)
    q, k, v = rng.standard_normal((3, 1, 1, 41, 64)).astype("f4")
    v[..., 30, ::2], v[..., 30, 1::2] = np.nan, np.inf
    build = Build.shipped(rung, 64)
    task = fit(inputs.attention(q, k, v, None, None, None), masks.causal(), 64)
    out = compiled.attend(build, task, compiled.texts(rung, 64, "float32")).out[0]
    assert np.isfinite(out[:30]).all()
    assert np.isnan(out[30:, ::2]).all() and not np.isfinite(out[30:, 1::2]).any()


def test_code_for_another_architecture_is_executed_if_it_is_other_code() -> None:
    case = trial.Case("tiled", 64, "float32", *WIDE["everything"])
    (build, text), *_ = compiled.texts("tiled", 64, "float32").items()
    renamed = text.replace(".target sm_80", ".target sm_90a")
    renamed = renamed.replace("_cudapy_smem", "_cudapy_other")
    assert renamed != text
    assert compiled.judge_other(case, {build: renamed}, {build: text}) is None
    wrong = re.sub(r"ex2\.approx\S*", "mov.f32", text, count=1)
    assert "off by" in compiled.judge_other(case, {build: wrong}, {build: text})


@rungs
def test_a_key_whose_score_is_minus_infinity_counts_as_hidden(rung: str) -> None:
    rng = np.random.default_rng(4)
    q, k, v = rng.standard_normal((3, 1, 1, 41, 64)).astype("f4")
    q[..., 0] = 1 + abs(q[..., 0])
    keys = [0, 17, 40]
    k[..., keys, 0], v[..., keys, :] = -np.inf, np.nan
    build = Build.shipped(rung, 64)
    task = fit(inputs.attention(q, k, v, None, None, None), None, 64)
    out = compiled.attend(build, task, compiled.texts(rung, 64, "float32")).out
    rest = np.delete(k, keys, axis=-2), np.delete(v, keys, axis=-2)
    assert np.allclose(out, dense.attention(q, *rest)[0], atol=1e-5)


@rungs
def test_a_barrier_that_is_dropped_is_noticed(rung: str) -> None:
    """What these tests stand on: each barrier of each kernel is needed."""
    found = compiled.texts(rung, 64, "float32")
    case = trial.Case(rung, 64, "float32", *CASES["causal, shared heads"])
    build, text = next(iter(found.items()))
    for barrier in re.finditer(r"bar\.sync\s+0;", text):
        hasty = text[: barrier.start()] + " " * len(barrier[0]) + text[barrier.end() :]
        with pytest.raises(
            ptxsim.Fault, match=rf"^(race|uninit\w+): line \d+ \({rung}.py:\d+\)"
        ):
            compiled.judge(case, found | {build: hasty})
