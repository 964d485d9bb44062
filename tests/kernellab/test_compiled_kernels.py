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
from tiledattention.gpu.ladder import LADDER
from tiledattention.gpu.task import fit, from_bits
from tools.kernels import compiled

pytestmark = pytest.mark.skipif(
    not compiled.programs() and not os.environ.get("CI"),
    reason="the kernels are not compiled: python -m tools.kernels --check",
)
rungs = pytest.mark.parametrize("rung", RUNGS)


def first_dtype(rung: str) -> str:
    """Return the dtype for tests that need only one."""
    return LADDER[rung].dtypes[0]


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
    case = trial.Case(rung, 64, first_dtype(rung), *CASES[name])
    assert compiled.judge(case, compiled.texts(rung, 64, case.dtype)) == ""


@pytest.mark.parametrize(
    ("rung", "dtype"),
    [(rung, dtype) for rung in RUNGS for dtype in LADDER[rung].dtypes],
)
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
    dtype = first_dtype(rung)
    q, k, v = rng.standard_normal((3, 1, 1, 41, 64)).astype(dtype)
    build, texts = Build.shipped(rung, 64), compiled.texts(rung, 64, dtype)

    def attend() -> np.ndarray:
        task = fit(inputs.attention(q, k, v, None, None, None), masks.causal(), 64)
        return compiled.attend(build, task, texts).out[0]

    clean = attend()
    v[..., 30, ::2], v[..., 30, 1::2] = np.nan, np.inf
    out = attend()
    assert np.array_equal(out[:30], clean[:30])  # to the last bit
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
    dtype = first_dtype(rung)
    q, k, v = rng.standard_normal((3, 1, 1, 41, 64)).astype(dtype)
    q[..., 0] = 1 + abs(q[..., 0])
    keys = [0, 17, 40]
    k[..., keys, 0], v[..., keys, :] = -np.inf, np.nan
    build = Build.shipped(rung, 64)
    task = fit(inputs.attention(q, k, v, None, None, None), None, 64)
    out = compiled.attend(build, task, compiled.texts(rung, 64, dtype)).out
    rest = (np.delete(x, keys, axis=-2).astype(float) for x in (k, v))
    close = 1e-5 if dtype == "float32" else 2.0**-10
    assert np.allclose(out, dense.attention(q.astype(float), *rest)[0], atol=close)


@rungs
def test_a_barrier_that_is_dropped_is_noticed(rung: str) -> None:
    """What these tests stand on: each barrier of each kernel is needed."""
    case = trial.Case(rung, 64, first_dtype(rung), *CASES["causal, shared heads"])
    found = compiled.texts(rung, 64, case.dtype)
    build, text = next(iter(found.items()))
    for barrier in re.finditer(r"bar\.sync\s+0;", text):
        hasty = text[: barrier.start()] + " " * len(barrier[0]) + text[barrier.end() :]
        with pytest.raises(
            ptxsim.Fault,
            match=rf"^(race|uninit\w+|copy \w+ \w+): line \d+ \({rung}.py:\d+\)",
        ):
            compiled.judge(case, found | {build: hasty})


# ---- tensor cores ----

TENSOR = ("tensor", 64, "float16")


@pytest.mark.parametrize("d", [16, 72])
@pytest.mark.parametrize("dtype", LADDER["tensor"].dtypes)
def test_rows_of_any_width_are_padded_with_zeros(d: int, dtype: str) -> None:
    case = trial.Case("tensor", d, dtype, masks.causal(), (2, 1, 37, 70))
    assert (
        compiled.judge(case, compiled.texts("tensor", 64 if d < 64 else 128, dtype))
        == ""
    )


@pytest.mark.parametrize("scale", [-0.3, 0.0])
def test_scores_may_be_turned_round_or_all_the_same(scale: float) -> None:
    rng = np.random.default_rng(2)
    q, k, v = rng.standard_normal((3, 1, 1, 40, 64)).astype("f2")
    task = fit(inputs.attention(q, k, v, scale, None, None), masks.causal(), 64)
    out = compiled.attend(Build.shipped(*TENSOR[:2]), task, compiled.texts(*TENSOR)).out
    wide = (x.astype(float) for x in (q, k, v))
    truth = dense.attention(*wide, scale=scale, mask=masks.causal())
    assert np.allclose(out, truth[0], atol=2.0**-9)


@pytest.mark.parametrize(
    ("odd", "dtype", "mask"),
    [
        (np.nan, "float16", masks.causal()),
        (-np.inf, "float16", masks.window(9, 4)),
        (np.nan, "bfloat16", masks.window(9, 4)),
        (np.inf, "bfloat16", masks.causal()),
    ],
)
def test_odd_values_change_no_bit_of_rows_that_do_not_see_them(
    odd: float, dtype: str, mask: masks.Mask
) -> None:
    """The block starts anew with 0 for what is odd; rows that see it are done again."""
    case = trial.Case("tensor", 64, dtype, mask, (1, 1, 70, 70))
    build, texts = Build.shipped("tensor", 64), compiled.texts("tensor", 64, dtype)
    q, k, v = (x[:1] for x in trial.drawn(case))

    def attend() -> tuple[np.ndarray, np.ndarray]:
        answer = compiled.attend(
            build, fit(trial.asked(case, q, k, v), mask, 64), texts
        )
        return from_bits(answer.out)[0], answer.lse[0]

    clean, clean_lse = attend()
    keys = [20, 35, 66]
    k[..., keys[:2], 5] = v[..., keys, 7] = odd
    out, lse = attend()
    first, stop = mask.head((70, 70)).interval(np.arange(70))
    sees = np.any([(first <= key) & (key < stop) for key in keys], axis=0)
    assert np.array_equal(out[~sees], clean[~sees])
    assert np.array_equal(lse[~sees], clean_lse[~sees])
    wide = (x.astype(float) for x in (q, k, v))
    with np.errstate(invalid="ignore"):
        truth = dense.attention(*wide, mask=mask)[0, 0]
    assert np.allclose(out, truth, atol=2.0**-5, equal_nan=True)


@pytest.mark.parametrize(
    ("right", "wrong", "says"),
    [
        (r"cp\.async\.wait_group 0;", "", "^copy under way: line"),
        (r"bar\.warp\.sync\s+-1;", "", "^race: line"),
        (r"ldmatrix(.*)\.trans", r"ldmatrix\1", "^off by"),
        ("0x7c00;", "0x7fff;", "^off by nan"),
    ],
)
def test_a_fault_of_the_copies_or_the_fragments_is_noticed(right, wrong, says) -> None:
    (build, text), *_ = compiled.texts(*TENSOR).items()
    case = trial.Case(*TENSOR, masks.causal(), (1, 1, 40, 66))
    drawn = [x[:1] for x in trial.drawn(case)]
    drawn[2][..., 60, 5] = np.nan  # the last rows see it, and are done again
    assert re.search(right, text)
    try:
        said = compiled.judge(case, {build: re.sub(right, wrong, text)}, drawn)
    except ptxsim.Fault as fault:
        said = str(fault)
    assert re.search(says, said)
