"""The rung on tensor cores where no GPU is: which devices take it, and in which dtypes.

What it computes is in tests/kernellab/test_compiled_kernels.py, on the PTX machine.
"""

import json
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from kernellab import reports, trial
from onlinesoftmax import masks
from tiledattention import gpu
from tiledattention.gpu import nvidia, planner
from tiledattention.gpu.ladder import LADDER, Build
from tiledattention.gpu.plans import Request
from tiledattention.gpu.rung import Work
from tiledattention.gpu.task import BITS, checked_arguments, fit, from_bits, to_bits

ROOT = Path(__file__).resolve().parents[2]
TENSOR = LADDER["tensor"]
MANY = Work(heads=32, n=4096)


def rows(dtype: object = np.float16) -> np.ndarray:
    return np.random.default_rng(6).standard_normal((3, 9, 64)).astype(dtype)


# ---- who takes it ----


@pytest.mark.parametrize("device", ["auto", "simulator"])
def test_a_simulator_declines_it(device: str) -> None:
    says = (
        "^kernel: expected one of .* for the block simulator, got 'tensor', which has"
    )
    with pytest.raises(ValueError, match=says):
        gpu.attention(*rows(), kernel="tensor", device=device)


def test_webgpu_declines_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tiledattention.gpu.webgpu.name", lambda: "a GPU")
    with pytest.raises(ValueError, match="^kernel: .* for WebGPU, got 'tensor'"):
        gpu.plan(*rows(), kernel="tensor", device="webgpu")


def test_every_rung_runs_in_a_simulator_or_says_that_it_does_not() -> None:
    assert gpu.PORTABLE == tuple(rung for rung in gpu.RUNGS if LADDER[rung].portable)
    assert set(gpu.RUNGS) - set(gpu.PORTABLE) == {"tensor"}


@pytest.mark.parametrize(
    ("rung", "dtype", "says"),
    [
        ("tensor", np.float32, "float16 or bfloat16, .* 'tensor' takes, got float32"),
        ("tiled", ml_dtypes.bfloat16, "float32 or float16, .* 'tiled' .* got bfloat16"),
        (
            "auto",
            ml_dtypes.bfloat16,
            "float16 or float32 for the block .* got bfloat16",
        ),
    ],
)
def test_a_dtype_that_a_kernel_does_not_take_is_refused(rung, dtype, says) -> None:
    with pytest.raises(ValueError, match=f"^q, k, v: expected {says}"):
        gpu.attention(*rows(dtype), kernel=rung)


# ---- on a GPU of NVIDIA's ----


@pytest.fixture
def h100(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numba finds an H100, with the package numba-cuda."""
    monkeypatch.setattr(nvidia, "has_gpu", lambda: True)
    monkeypatch.setattr(nvidia, "device", lambda: "NVIDIA H100 (sm_90)")
    monkeypatch.setattr(nvidia, "capability", lambda: (9, 0))
    monkeypatch.setattr(nvidia, "multiprocessors", lambda: 132)
    for rung in LADDER.values():
        monkeypatch.setattr(type(rung), "missing", lambda self: "")


def test_it_is_picked_only_where_a_gpu_has_proved_it(h100, monkeypatch) -> None:
    monkeypatch.setattr(type(TENSOR), "proven", ())
    rung, why = nvidia.best(MANY, 64, "float16")
    assert rung == "patches"
    assert why == (
        "rung 6 was found right on no GPU of compute capability 9.0 yet;"
        " kernel='tensor' asks for it"
    )
    with pytest.raises(RuntimeError, match="no kernel can run here: rung 6 was found"):
        nvidia.best(MANY, 64, "bfloat16")
    monkeypatch.setattr(type(TENSOR), "proven", ("9.0",))
    assert nvidia.best(MANY, 64, "float16") == ("tensor", TENSOR.merit)
    assert nvidia.best(MANY, 64, "bfloat16")[0] == "tensor"
    assert nvidia.best(MANY, 64, "float32")[0] == "patches"
    few = Work(heads=1, n=1)
    assert nvidia.best(few, 64, "float16")[0] == "split"
    assert nvidia.best(few, 64, "bfloat16")[0] == "tensor"


def test_by_name_it_is_planned_unless_the_gpu_is_too_old(h100, monkeypatch) -> None:
    plan = gpu.plan(*rows(), kernel="tensor")
    assert plan.build == Build.shipped("tensor", 64) and plan.why.startswith("as asked")
    monkeypatch.setattr(nvidia, "capability", lambda: (7, 5))
    with pytest.raises(ValueError, match="'tensor' needs .* 8.0 or higher, got 7.5"):
        gpu.plan(*rows(), kernel="tensor")
    assert gpu.plan(*rows(), kernel="tiled").build.rung == "tiled"


def test_what_is_proven_has_been_measured() -> None:
    """A file that `make gpu` has written says that all kernels were right on that GPU."""
    files = (ROOT / "book" / "data").glob("gpu-*.json")
    records = [json.loads(file.read_text("utf-8")) for file in files]
    for capability in TENSOR.proven:
        on = f"(sm_{capability.replace('.', '')})"
        assert [
            record
            for record in records
            if on in record["machine"]
            and "tensor" in {row[0] for row in record["rows"]}
        ]


def test_it_is_compiled_for_what_it_runs_on() -> None:
    archs, dtypes = reports.compiled_for("tensor")
    assert "sm_75" not in archs and "sm_80" in archs
    assert dtypes == ("float16", "bfloat16")
    assert reports.compiled_for("tiled") == (reports.ARCHS, ("float32", "float16"))


# ---- bfloat16 ----


def test_bits_of_bfloat16_are_its_bits() -> None:
    x = rows(ml_dtypes.bfloat16)
    x[0, 0, :4] = np.nan, np.inf, -np.inf, -0.0
    bits = to_bits(x.astype(np.float32))
    assert bits.dtype == BITS and np.array_equal(bits, x.view(np.uint16))
    assert np.array_equal(from_bits(bits), x.astype(np.float32), equal_nan=True)
    halves = rows()
    assert from_bits(halves) is halves


def test_bfloat16_goes_to_the_kernel_and_comes_back(h100, monkeypatch) -> None:
    """With a device that answers with the values."""
    given = {}

    def answer(self, plan, arguments) -> None:
        given.update(arguments)
        arguments["O"][...] = arguments["V"]

    monkeypatch.setattr(type(planner.CUDA), "run", answer)
    q, k, v = rows(ml_dtypes.bfloat16)[..., :40]
    out = gpu.attention(q, k, v, kernel="tensor")
    assert given["K"].dtype == BITS and given["K"].shape == (1, 9, 64)
    assert out.dtype == ml_dtypes.bfloat16 and np.array_equal(out, v)


def test_a_scale_below_0_turns_the_queries_round() -> None:
    q, k, v = rows(np.float32)
    task = fit(checked_arguments(q, k, v, -0.5), None, 64)
    assert task.scale == 0.5 and np.array_equal(task.q[0], -q)
    out = gpu.attention(q, k, v, scale=-0.5, kernel="tiled", device="simulator")
    assert np.allclose(out, gpu.attention(-q, k, v, scale=0.5, device="simulator"))


# ---- trials ----


def test_a_trial_tries_each_rung_in_its_dtypes_where_it_runs(monkeypatch) -> None:
    def tried(on: str) -> set[tuple[str, str]]:
        return {(case.rung, case.dtype) for case in trial.cases(on)}

    assert {rung for rung, _ in tried("simulator")} == set(gpu.PORTABLE)
    on_gpu = tried("cuda")
    assert {(r, d) for r, d in on_gpu if r == "tensor"} == {
        ("tensor", "float16"),
        ("tensor", "bfloat16"),
    }
    assert ("tiled", "float32") in on_gpu and ("tiled", "bfloat16") not in on_gpu


def test_a_trial_checks_bfloat16_without_its_package(h100, monkeypatch) -> None:
    """The kernel's place is taken by attention in float64, rounded at the end."""
    from onlinesoftmax import dense
    from onlinesoftmax.precision import round_to

    def answer(self, plan, arguments) -> None:
        task, off = plan.task, wrong
        for head in range(len(task.q)):
            q, k, v = (
                from_bits(x[head // share]).astype(float)
                for x, share in ((task.q, 1), (task.k, 2), (task.v, 2))
            )
            out, lse = dense.attention(
                q, k, v, scale=float(task.scale), mask=case.mask, return_lse=True
            )
            arguments["O"][head] = to_bits(round_to(out + off, "bfloat16"))
            arguments["LSE"][head] = lse

    monkeypatch.setattr(type(planner.CUDA), "run", answer)
    case = trial.Case("tensor", 64, "bfloat16", masks.causal(), (4, 2, 7, 20))
    wrong = 0.0
    assert trial.check(case, "cuda") == ""
    wrong = 0.1
    assert trial.check(case, "cuda").startswith("off by 1.0")


def test_a_request_names_its_dtype() -> None:
    asked = checked_arguments(*rows(ml_dtypes.bfloat16), None)
    assert Request(asked, masks.causal(), None, "auto").dtype == "bfloat16"
