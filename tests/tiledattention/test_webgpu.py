"""Kernels on a GPU of any make, by wgpu: here on Mesa's, which is software.

Where no GPU is found, they are skipped; on CI that is a failure, on Linux.
"""

import json
import math
import os
import re
import runpy
import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from blocksim import cuda, float32, load, stopwatch, webgpu
from blocksim import run as simulate
from blocksim.wgsl import Untranslatable
from kernellab import timing_webgpu, trial
from kernels.correct import CORRECT
from kernels.semantics import ALONE, TOGETHER, text
from livepage.drills.bank import bank
from livepage.drills.kinds.code.cases import mutants
from livepage.drills.kinds.kernel import grader as kernel_grader
from livepage.drills.kinds.kernel.device import on_webgpu
from livepage.drills.notebook import check
from livepage.drills.payload import payload
from livepage.figures import registry
from livepage.measurements import Measurement
from onlinesoftmax import dense
from onlinesoftmax.masks import causal, padding, window
from tiledattention import gpu
from tiledattention.gpu import nvidia
from tiledattention.gpu import webgpu as any_gpu
from tools.kernels import gpu as make_gpu

LEAST = 16 * 1024  # bytes of shared memory that every device has for a block
CLOSE = 1e-5
X = np.zeros((4, 8), np.float32)
KERNELS = [drill for drill in bank().values() if drill.kind == "kernel"]


@pytest.fixture(autouse=True, scope="module")
def needs_a_device() -> None:
    """Not asked for on import, which takes a second in every process."""
    try:
        webgpu.device()
    except webgpu.NoDevice as missing:
        if os.environ.get("CI") and sys.platform == "linux":  # .ci/run installs Mesa's
            raise
        pytest.skip(str(missing))


@pytest.fixture
def device() -> webgpu.Device:
    """The GPU."""
    return webgpu.device()


@pytest.fixture
def small(device: webgpu.Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """The GPU has as little shared memory as any may have."""
    monkeypatch.setattr(device, "shared", LEAST)


# ---- kernels


def double(x: Any, y: Any) -> None:
    i = cuda.grid(1)
    if i < x.shape[0]:
        y[i] = float32(2.0) * x[i]


def numbers(count: int) -> tuple[np.ndarray, np.ndarray]:
    return np.arange(count, dtype=np.float32), np.zeros(count, np.float32)


def test_a_launch_changes_its_arrays(device: webgpu.Device) -> None:
    x, y = numbers(100)
    x[:2] = np.inf, np.nan
    webgpu.run(double, 2, 64, x, y)
    assert np.array_equal(y, 2 * x, equal_nan=True)


def test_a_long_launch_is_cut_into_slices(
    device: webgpu.Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    slices = []
    whole = webgpu.Launch.slice

    def watched(self: webgpu.Launch, first: int, count: int) -> None:
        slices.append((first, count))
        whole(self, first, count)

    monkeypatch.setattr(webgpu.Launch, "slice", watched)
    x, y = numbers(webgpu.MOST_BLOCKS + 100)
    webgpu.run(double, x.size, 1, x, y)
    assert np.array_equal(y, 2 * x)
    assert [first for first, _ in slices] == [
        sum(count for _, count in slices[:k]) for k in range(len(slices))
    ]
    growth = [b / a for (_, a), (_, b) in zip(slices, slices[1:])]
    assert len(slices) > 3 and max(growth) <= webgpu.GROWTH
    monkeypatch.setattr(webgpu, "SLICE_S", 0.0)  # every slice takes too long
    slices.clear()
    webgpu.run(double, 7, 16, *numbers(100))
    assert slices == [(k, 1) for k in range(7)]


def stored(x: Any, y: Any) -> None:
    tile = cuda.shared.array(10_000, float32)
    tile[0] = x[0]
    y[0] = tile[0]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"kernel": stored}, "stored: expected at most .* bytes of shared memory"),
        ({"block": 2048}, "double: expected at most .* threads in a block"),
        ({"y": [0.0]}, "arguments of double: expected numbers and numpy arrays"),
        ({"shares": True}, "y: expected an array in memory of its own"),
    ],
)
def test_what_does_not_fit_is_refused(
    device: webgpu.Device, change: dict, says: str
) -> None:
    x, y = numbers(100)
    y = x[50:] if change.get("shares") else change.get("y", y)
    kernel, block = change.get("kernel", double), change.get("block", 64)
    with pytest.raises(ValueError, match=says):
        webgpu.run(kernel, 1, block, x, y)


def test_arrays_that_are_too_large_are_refused(
    device: webgpu.Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device, "largest", 396)
    with pytest.raises(ValueError, match="x: expected at most 396 bytes, .* got 400"):
        webgpu.run(double, 2, 64, *numbers(100))


def test_what_the_compiler_says_is_told_at_the_reader_s_line(
    device: webgpu.Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = webgpu.translate

    def faulty(*given: Any, **options: Any) -> dict:
        made = whole(*given, **options)
        made["wgsl"] = made["wgsl"].replace("(2.0f)", "zz").replace("2f *", "zz *")
        assert "zz" in made["wgsl"]
        return made

    monkeypatch.setattr(webgpu, "translate", faulty)
    with pytest.raises(webgpu.Refused, match="no definition in scope .* `zz`") as found:
        webgpu.run(double, 2, 64, *numbers(100))
    line = written(double, found.value.line)
    assert "y[i] = float32(2.0)" in line


def written(kernel: Any, line: int | None) -> str:
    """The line of a file with a kernel."""
    with open(kernel.__code__.co_filename, encoding="utf-8") as file:
        return file.read().splitlines()[(line or 0) - 1]


SAID = """Validation Error

Caused by:
  In wgpuDeviceCreateShaderModule

Shader '' parsing error: no definition in scope for identifier: `x_global`
  ┌─ wgsl:2:15
  │
4 │   x[i] = 1u + y;
  │               ^ unknown identifier
  │
  = note: it is late
"""


def test_the_compiler_s_picture_of_a_line_is_read() -> None:
    ((kind, text, line),) = webgpu.compiler_messages(SAID)
    assert (kind, line) == ("error", 2)
    assert text == "no definition in scope for identifier: `x_global`; note: it is late"
    assert webgpu.compiler_messages("Device lost") == [("error", "Device lost", 0)]


def test_without_the_package_it_says_what_to_install(
    answer: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webgpu, "device", webgpu.device.__wrapped__)  # no cache
    monkeypatch.setitem(sys.modules, "wgpu", None)
    with pytest.raises(ValueError, match='device: "webgpu" .* `pip install wgpu`'):
        gpu.attention(X, X, X, device="webgpu")
    with pytest.raises(ValueError, match='on: "device" needs .* `pip install wgpu`'):
        check("guarded-terms", answer(), on="device")


def test_without_a_gpu_it_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WGPUPY_WGPU_ADAPTER_NAME", "none of that name")
    with pytest.raises(webgpu.NoDevice, match="a driver for Vulkan, Metal"):
        webgpu.device.__wrapped__()


# ---- what kernels mean


def same(kernel: Any, shape: tuple, given: list, mode: str) -> bool:
    """Whether arrays from the GPU are those from the simulator, up to rounding."""
    mine, right = ([np.array(x) if np.ndim(x) else x for x in given] for _ in range(2))
    webgpu.run(kernel, *shape, *mine)
    report = simulate(kernel, *shape, *right, mode=mode)
    assert not [fault for fault in report.faults if fault.kind != "float64"]
    pairs = [pair for pair in zip(mine, right) if np.ndim(pair[0])]
    return all(np.allclose(a, b, 2e-5, 2e-5, equal_nan=True) for a, b in pairs)


@pytest.mark.parametrize("name", CORRECT)
def test_right_kernels_are_right(device: webgpu.Device, name: str) -> None:
    source, case = CORRECT[name]
    given = []
    for _, kind, value in case["args"]:
        number = kernel_grader.argument(kind, value)
        dtype = np.int32 if kind == "ints" else np.float32
        given.append(np.array(number, dtype) if isinstance(number, list) else number)
    shape = tuple(case["grid"]), tuple(case["block"])
    assert same(load(source, "kernel", case["names"]), shape, given, "race")


@pytest.mark.parametrize("name", ALONE | TOGETHER)
def test_what_numbers_names_and_statements_mean(
    device: webgpu.Device, name: str
) -> None:
    x = np.array([((7 * k) % 16 - 8) / 4 for k in range(16)], np.float32)
    kernel = load(text((ALONE | TOGETHER)[name]), "kernel")
    shape = (1, 64) if name in TOGETHER else (2, 8)
    assert same(kernel, shape, [x, np.zeros(16, np.float32)], "full")


# ---- attention

SHAPES = {  # heads of queries, heads of keys, rows, keys, and what the rows see
    "all": (1, 1, 64, 64, None),
    "causal, ragged, heads": (2, 2, 70, 70, causal()),
    "grouped heads, more keys": (2, 1, 37, 90, causal()),
    "rows that see nothing": (2, 1, 50, 33, causal()),
    "a window": (4, 2, 45, 77, window(9, 3)),
    "padding": (2, 1, 40, 60, padding([17, 0])),
    "all of them": (4, 2, 41, 83, causal() & window(20) & padding([82, 11])),
}


def drawn(shape: tuple, d: int, dtype: Any) -> Iterator[np.ndarray]:
    """Queries, keys and values of two sequences."""
    heads, shared, n, keys, _ = shape
    rng = np.random.default_rng(n)
    for size in ((2, heads, n, d), (2, shared, keys, d), (2, shared, keys, d)):
        yield rng.standard_normal(size).astype(dtype)


def off(mine: Any, right: Any) -> float:
    """How far numbers are off, infinities at the same places."""
    assert np.array_equal(np.isinf(mine), np.isinf(right))
    there = np.isfinite(right)
    return float(np.abs(mine[there].astype(float) - right[there]).max(initial=0))


def worst(rung: str, shape: tuple, d: int, dtype: Any = np.float32) -> float:
    """How far a rung's output and logsumexp are from those in float64."""
    q, k, v = drawn(shape, d, dtype)
    options = {"mask": shape[-1], "return_lse": True}
    found = gpu.attention(q, k, v, kernel=rung, device="webgpu", **options)
    assert found[0].dtype == dtype
    share = shape[0] // shape[1]
    wide = q.astype(float), *(np.repeat(x, share, 1).astype(float) for x in (k, v))
    return max(map(off, found, dense.attention(*wide, **options)))


@pytest.mark.parametrize("rung", gpu.PORTABLE)
@pytest.mark.parametrize("d", [64, 128])
def test_rungs_are_right_in_every_shape(small: None, rung: str, d: int) -> None:
    assert any_gpu.room(any_gpu.fitting(rung, d)) <= LEAST
    # What rows see depends on no width: of the wide one, two shapes.
    names = SHAPES if d == 64 else ("rows that see nothing", "all of them")
    for name in names:
        assert worst(rung, SHAPES[name], d) < CLOSE, name


@pytest.mark.parametrize("rung", gpu.PORTABLE)
def test_rungs_are_right_in_float16(device: webgpu.Device, rung: str) -> None:
    for name in ("rows that see nothing", "all of them"):
        assert worst(rung, SHAPES[name], 40, np.float16) < 2e-3, name


def test_the_largest_build_that_fits_is_taken(
    device: webgpu.Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device, "shared", 1 << 20)
    for rung in gpu.PORTABLE:
        assert any_gpu.fitting(rung, 64) == gpu.Build.shipped(rung, 64)
    monkeypatch.setattr(device, "shared", LEAST)
    assert any_gpu.fitting("tiled", 64) == gpu.Build("tiled", 64, 128, 16)
    monkeypatch.setattr(device, "shared", 1000)
    with pytest.raises(ValueError, match="'registers' expects at least .* got 1000"):
        any_gpu.fitting("registers", 64)


def test_a_key_that_no_row_sees_may_hold_anything(device: webgpu.Device) -> None:
    q, k, v = drawn(SHAPES["padding"], 8, np.float32)
    options = {"mask": padding([17, 0]), "kernel": "tiled", "device": "webgpu"}
    right = gpu.attention(q, k, v, **options)
    k[0, :, 17:] = v[0, :, 17:] = np.nan
    k[1], v[1] = np.inf, np.nan
    found = gpu.attention(q, k, v, **options)
    assert np.array_equal(found, right) and not found[1].any()


@pytest.mark.parametrize(
    ("q", "says"),
    [
        (np.where(X, 1, np.float32("nan")), "q: expected finite numbers .* got nan"),
        (X - np.float32("inf"), "q: expected finite numbers .* got -inf"),
        (X + np.float32(1e36), r"expected numbers .* below 1e\+36, got up to 1e\+36"),
    ],
)
def test_numbers_that_webgpu_may_lose_are_refused(
    device: webgpu.Device, q: Any, says: str
) -> None:
    with pytest.raises(ValueError, match=says):
        gpu.attention(q, X + 1, X, device="webgpu", kernel="naive")


def test_a_gpu_that_leaves_loops_is_not_trusted_with_many_keys(
    device: webgpu.Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, many = (np.ones((1, keys, 64), np.float32) for keys in (1, 4096))
    monkeypatch.setattr(device, "turns", 65_535)
    with pytest.raises(ValueError, match="k: expected at most 341 keys .* got 4096"):
        gpu.plan(one, many, many, device="webgpu")
    monkeypatch.setattr(device, "turns", 0)
    assert gpu.plan(one, many, many, device="webgpu").on == "webgpu"


def test_a_device_is_asked_whether_it_leaves_loops(
    device: webgpu.Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert webgpu.turns(device) == device.turns
    monkeypatch.setattr(webgpu, "MOST_TURNS", 1000)
    assert webgpu.turns(device) == 0


@pytest.mark.parametrize("wish", [None, "gpu", "WebGPU", 1, ["cuda"]])
def test_another_device_is_refused(wish: Any) -> None:
    with pytest.raises(ValueError, match="device: expected one of .*, got"):
        gpu.attention(X, X, X, device=wish)


def test_auto_takes_a_gpu_but_none_in_software(
    device: webgpu.Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert gpu.plan(X, X, X).on == "simulator"
    assert device.name.endswith("a GPU in software")
    monkeypatch.setattr(any_gpu, "is_real", lambda: True)
    plan = gpu.plan(X, X, X)
    assert (plan.on, plan.device) == ("webgpu", device.name)
    assert gpu.plan(X + np.float32("inf"), X, X).on == "simulator"
    assert gpu.plan(X, X, X, device="simulator").on == "simulator"
    with pytest.raises(ValueError, match='"cuda" needs an NVIDIA GPU'):
        gpu.plan(X, X, X, device="cuda")
    monkeypatch.setattr(nvidia, "has_gpu", lambda: True)
    monkeypatch.setattr(nvidia, "device", lambda: "a GPU")
    monkeypatch.setattr(nvidia, "multiprocessors", lambda: 108)
    assert gpu.plan(X, X, X).on == "cuda"


def test_few_rows_take_a_rung_of_their_own(
    device: webgpu.Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device, "turns", 0)
    few, many = (np.zeros((1, n, 64), np.float32) for n in (1, 4096))
    assert gpu.plan(few, many, many, device="webgpu").build.rung == "split"
    assert gpu.plan(many, many, many, device="webgpu").build.rung == "patches"


def test_a_plan_says_what_it_assumes(
    device: webgpu.Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device, "turns", 0)
    few, many = (np.zeros((1, n, 64), np.float32) for n in (1, 4096))
    plan = gpu.plan(few, many, many, device="webgpu")
    assert "32 multiprocessors assumed" in plan.why and plan.parts > 32
    assert "assumed" not in gpu.plan(many, many, many, device="webgpu").why


# ---- make gpu


def burst(work: Callable[..., None], blocks: int, *given: Any) -> stopwatch.Burst:
    """A launch that has run once, ready to be timed."""
    launch = webgpu.Launch(work, blocks, 16, given)
    launch.go()
    return stopwatch.Burst([launch])


def counting(x: Any, y: Any) -> None:
    i = cuda.grid(1)
    y[i] = y[i] + x[i]


def test_a_burst_runs_as_often_as_it_is_asked(device: webgpu.Device) -> None:
    x, y = np.ones((2, 160), np.float32)
    launch = webgpu.Launch(counting, 10, 16, (x, y))
    timed = stopwatch.Burst([launch])
    assert timed.milliseconds(3) >= 0 and timed.milliseconds(4) >= 0
    launch.fetch()
    assert np.array_equal(y, 1 + 7 * x)


@pytest.mark.parametrize(
    ("wall", "stamped", "believed"),
    [
        (41.0, 40.0, True),  # what a good clock shows
        (41.0, 11.0, True),  # the wall clock saw other programs as well
        (41.0, 9.0, False),  # less than a quarter of the time
        (41.0, 0.0, False),  # nothing was stamped
        (41.0, 42.0, False),  # longer than the wait for it
        (4.0, 0.1, True),  # too short to compare
        (4.0, 0.0, False),
    ],
)
def test_stamps_that_the_wall_clock_does_not_bear_out_are_not_believed(
    device: webgpu.Device,
    monkeypatch: pytest.MonkeyPatch,
    wall: float,
    stamped: float,
    believed: bool,
) -> None:
    """The clocks are made up here: how long something takes is no test."""
    timed = burst(double, 100, *numbers(1600))
    timed.stamps, timed.idle = "some", 1.0
    monkeypatch.setattr(timed, "run", lambda count: (wall, stamped))
    assert timed.milliseconds(20) == (stamped if believed else wall - 1.0)
    assert timed.how == (stopwatch.STAMPS if believed else stopwatch.WALL)


def test_a_burst_has_all_blocks(device: webgpu.Device) -> None:
    x, y = numbers(webgpu.MOST_BLOCKS + 100)
    launch = webgpu.Launch(double, x.size, 1, (x, y))
    stopwatch.Burst([launch]).milliseconds(1)
    launch.fetch()
    assert np.array_equal(y, 2 * x)


def test_launches_share_what_is_on_the_gpu(device: webgpu.Device) -> None:
    x, y = numbers(100)
    held: dict = {}
    first = webgpu.Launch(double, 2, 64, (x, y), held=held)
    first.go()
    second = webgpu.Launch(double, 2, 64, (y, np.zeros_like(y)), held=held)
    second.go()
    second.fetch()
    assert len(held) == 3 and np.array_equal(second.arrays[1], 4 * x)


CAUSAL = trial.Case("tiled", 64, "float32", causal(), (2, 1, 40, 50))


def test_cases_are_checked_on_the_gpu(
    device: webgpu.Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert trial.check(CAUSAL, "webgpu") == ""
    assert {case.shape for case in trial.cases("webgpu")} == set(trial.SHORT)
    whole = webgpu.run
    monkeypatch.setattr(webgpu, "run", lambda *_, **__: None)
    assert "off by" in trial.check(CAUSAL, "webgpu")
    monkeypatch.setattr(webgpu, "run", whole)
    monkeypatch.setattr(device, "shared", 100)
    assert "does not run: kernel: 'tiled' expects" in trial.check(CAUSAL, "webgpu")
    monkeypatch.setattr(device, "software", False)
    monkeypatch.setattr(any_gpu, "is_real", lambda: True)
    assert trial.place() == "webgpu" and trial.named().endswith("(Vulkan)")
    assert {case.shape for case in trial.cases()} == set(trial.WHOLE)


def test_make_gpu_stores_no_time_of_a_gpu_in_software(
    device: webgpu.Device, monkeypatch: pytest.MonkeyPatch, capsys: Any, tmp_path: Path
) -> None:
    monkeypatch.setattr(make_gpu, "ROOT", tmp_path)
    monkeypatch.setattr(make_gpu.sys, "argv", ["gpu", "--webgpu"])
    monkeypatch.setattr(trial, "IN_SOFTWARE", (32, 64, "float32", False))
    monkeypatch.setattr(timing_webgpu, "TOO_LONG", math.inf)
    monkeypatch.setattr(trial, "cases", lambda on: [CAUSAL])
    assert make_gpu.main() == make_gpu.IN_SOFTWARE not in (0, make_gpu.NO_GPU)
    said = capsys.readouterr().out.splitlines()
    assert said[1] == "1 of 1 cases are right"
    assert said[-2].startswith("times as fast as the lowest rung: naive 1.00, tiled")
    assert not [rung for rung in gpu.PORTABLE if rung not in said[-2]]
    assert "a GPU in software" in said[-1] and "no time was stored" in said[-1]
    assert not list(tmp_path.iterdir())
    assert trial.time_all(on="webgpu") == []
    with pytest.raises(ValueError, match="on: expected a GPU, got .* in software"):
        trial.save([["naive"]], tmp_path, on="webgpu")
    monkeypatch.setattr(trial, "check", lambda *_: "lse is off")
    assert make_gpu.main() == 1


@pytest.fixture
def real(
    device: webgpu.Device, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Path:
    """A folder for what is measured; the GPU says that it is an H100, by Vulkan."""
    (tmp_path / "book" / "data").mkdir(parents=True)
    monkeypatch.setattr(make_gpu, "ROOT", tmp_path)
    monkeypatch.setattr(device, "software", False)
    monkeypatch.setattr(device, "shared", 32 * 1024)
    monkeypatch.setattr(device, "name", "NVIDIA H100 PCIe")
    return tmp_path / "book" / "data"


def test_make_gpu_stores_what_a_gpu_takes(
    real: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(make_gpu.sys, "argv", ["gpu", "--webgpu"])
    monkeypatch.setattr(trial, "cases", lambda on: [CAUSAL])
    clock = count(1)  # every look at it comes a second later: time for one size
    monkeypatch.setattr(trial, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    times = partial(trial.time_all, 1.5 / 60, [16, 32])  # minutes; two lengths
    monkeypatch.setattr(timing_webgpu, "TOO_LONG", math.inf)
    monkeypatch.setattr(trial, "time_all", times)
    assert make_gpu.main() == 0
    (file,) = real.iterdir()
    assert file.name == "gpu-nvidia-h100-pcie-vulkan.json"
    found = Measurement(**json.loads(file.read_text("utf-8")))
    assert found.machine == "NVIDIA H100 PCIe (Vulkan)"
    assert found.backend == "WebGPU, by wgpu" and found.backend in found.source()
    assert {"driver", "system", "wgpu"} == set(found.versions)
    for said in (
        "by time stamps",
        "registers (d = 64) 32 × 32",
        "PyTorch is not timed",
    ):
        assert said in found.what
    assert {row[0] for row in found.rows} == set(gpu.PORTABLE)
    assert not [row for row in found.rows if not row[5] > 0]


def test_the_book_tells_webgpu_from_cuda(
    real: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Made files of one GPU, reached in both ways."""
    ladder = registry.module("gpu-ladder")
    monkeypatch.setattr(ladder.book, "current", lambda: SimpleNamespace(data=real))
    rows = [[rung, 4096, 64, "float32", False, 1.0, 2.5] for rung in gpu.RUNGS[:2]]
    rows.append(["naive", 8192, 64, "float32", False, 4.0, 2.5])
    file = trial.save(rows, real, on="webgpu")
    assert ladder.measured(64, "H100") == [0.0] * len(ladder.RUNGS)
    (shown,) = ladder.tables()
    assert shown.columns == ["keys", "naive", "tiled"]
    assert shown.rows == [["4,096", 2.5, 2.5], ["8,192", 2.5, "–"]]
    assert "WebGPU, by wgpu" in shown._repr_html_()
    assert "Left out: registers, patches, split." in shown.what
    other = json.loads(file.read_text("utf-8")) | {"backend": "CUDA, by Numba"}
    (real / "gpu-nvidia-h100-pcie-sm-90.json").write_text(json.dumps(other), "utf-8")
    assert ladder.measured(64, "H100") == [2.5, 2.5, 0.0, 0.0]
    assert ladder.measured(128, "H100") == ladder.measured(64, "A100") == [0.0] * 4
    assert [table.backend[:4] for table in ladder.tables()] == ["CUDA", "WebG"]


def test_what_is_too_slow_for_one_launch_is_left_out(
    real: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setattr(timing_webgpu, "TOO_LONG", 0.0)
    sizes = [(n, 64, "float32", False) for n in (16, 32)]
    assert trial.times(sizes[0], None, "webgpu") == []
    said = capsys.readouterr().out
    assert "naive n=16 d=64 float32: " in said and "too long to run in one" in said
    assert trial.times(sizes[1], {}, "webgpu") == [] and not capsys.readouterr().out
    monkeypatch.setattr(make_gpu.sys, "argv", ["gpu", "--webgpu"])
    monkeypatch.setattr(trial, "cases", lambda on: [CAUSAL])
    monkeypatch.setattr(trial, "time_all", lambda on: [])
    assert make_gpu.main() == 1 and not list(real.iterdir())


# ---- drills


def test_solutions_of_drills(device: webgpu.Device) -> None:
    assert len(KERNELS) >= 10
    for drill in KERNELS:
        data = payload(drill)
        make, _ = kernel_grader.defined(drill.get("code"), drill.get("function"))
        cases = data["cases"] + data["larger"]
        assert on_webgpu(make, cases) is None, drill.id


RIGHT = """import math

from blocksim import cuda


@cuda.jit
def terms(scores, m, out):
    i = cuda.grid(1)
    if i < scores.shape[0]:
        out[i] = math.exp(scores[i] - m)
"""


@pytest.fixture
def answer(tmp_path: Path) -> Callable[..., Any]:
    """What writes an answer to the drill guarded-terms."""

    def written(old: str = "", new: str = "") -> Any:
        file = tmp_path / "cell.py"
        file.write_text(RIGHT.replace(old, new) if old else RIGHT)
        return runpy.run_path(str(file))["terms"]

    return written


def test_a_check_on_the_device_says_on_which(
    device: webgpu.Device, answer: Callable[..., Any]
) -> None:
    verdict = check("guarded-terms", answer(), on="device")
    assert verdict and device.name in repr(verdict)
    assert device.name not in repr(check("guarded-terms", answer()))


def test_what_the_gpu_gets_wrong_is_a_miss(
    device: webgpu.Device,
    answer: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    passed = {"passed": True, "case": None, "rows": [], "score": None}
    monkeypatch.setattr(kernel_grader, "grade", lambda *_: passed)
    verdict = check("guarded-terms", answer("- m", "+ m"), on="device")
    assert not verdict and "out[" in repr(verdict)


def test_what_it_cannot_run_is_told_at_its_line(
    device: webgpu.Device,
    answer: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuses(*_: Any, **__: Any) -> None:
        raise Untranslatable(6, "WGSL has no erf", "a polynomial")

    monkeypatch.setattr(webgpu, "translate", refuses)
    verdict = check("guarded-terms", answer(), on="device")
    said = "The GPU cannot run line 6: WGSL has no erf; a polynomial."
    assert not verdict and said in repr(verdict)


# Without one of the barriers: the first is needed before reading, the second after it.
RACES = [
    "no barrier after the copy",
    "no barrier after the folding",
]
FULL = 512  # rows and keys, in the tiles that the page times
# Half as wide: Mesa's GPU in software may leave a loop of 65,536 turns before its end.
SIZES = bank()["tiled-attention"].get("bench")["names"] | {"D": 32}


@pytest.mark.parametrize("race", [None, *RACES])
def test_a_race_at_full_size_is_a_wrong_number_in_a_row(
    device: webgpu.Device, race: str | None, monkeypatch: Any, tmp_path: Path
) -> None:
    drill = bank()["tiled-attention"]
    texts = {m["name"]: text for m, text in zip(drill.get("mutants"), mutants(drill))}
    source = texts.get(race, drill.get("code"))
    sizes = "BR, BC, D = {BR}, {BC}, {D}".format(**SIZES)
    source = source.replace("BR, BC, D = 8, 4, 3", sizes)
    file = tmp_path / "cell.py"
    file.write_text(source.replace("from numba", "from blocksim"))
    answer = runpy.run_path(str(file))["attention"]
    full = payload(drill) | {"cases": [full_size()]}
    monkeypatch.setattr("livepage.drills.kind.payload", lambda *_: full)
    passed = {"passed": True, "case": None, "rows": [], "score": None}
    monkeypatch.setattr(kernel_grader, "grade", lambda *_: passed)
    verdict = check("tiled-attention", answer, on="device")
    assert bool(verdict) == (race is None)
    assert bool(re.search(r"`O\[\d+, \d+\]`", repr(verdict))) == bool(race), verdict


def full_size() -> dict[str, Any]:
    """A launch, with what is right in float64."""
    rng = np.random.default_rng(0)
    q, k, v = (rng.normal(size=(FULL, SIZES["D"])).astype(np.float32) for _ in range(3))
    given = [[name, "floats", x.tolist()] for name, x in zip("QKV", (q, k, v))]
    numbers = [["n", "number", FULL], ["scale", "number", SIZES["D"] ** -0.5]]
    right = dense.attention(*(x.astype(float) for x in (q, k, v)))
    return {
        "name": "full size",
        "drawn": False,
        "grid": [FULL // SIZES["BR"], 1],
        "block": [SIZES["BR"], 1],
        "names": {},
        "args": [*given, ["O", "out", [FULL, SIZES["D"]]], *numbers],
        "expected": {"O": right.tolist()},
    }
