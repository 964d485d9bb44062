"""The GPU kernels on the block simulator: right numbers, no faults, no work for
nothing.

Every rung against `dense.attention`, over masks, shapes and dtypes; then one line wrong
at a time, and each has to be noticed. What needs the compiler is in
test_gpu_compile.py, Numba's own simulator in test_gpu_simulator.py.
"""

import ast
import doctest
import importlib.metadata
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import count, product
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

import blocksim
from blocksim import functions, webgpu
from kernellab import trial
from livepage.measurements import Measurement
from onlinesoftmax import costs, dense, masks
from onlinesoftmax import inputs as arguments
from planting import planted
from tiledattention import gpu
from tiledattention.gpu import ladder, nvidia, planner, simulator
from tiledattention.gpu.ladder import LADDER, Build, in_order
from tiledattention.gpu.plans import Plan
from tiledattention.gpu.rung import Work
from tiledattention.gpu.task import Task, checked_arguments, fit
from tools.building.chapters import Page, code_cells, notebook
from tools.kernels import gate
from tools.kernels import gpu as make_gpu

ROOT = Path(__file__).resolve().parents[2]
rungs = pytest.mark.parametrize("rung", gpu.PORTABLE)


class Case(NamedTuple):
    """An attention: heads of queries and of keys, lengths, width, mask, how large."""

    heads: tuple[int, int]
    n: int
    keys: int
    d: int
    mask: masks.Mask | None = None
    dtype: str = "float32"
    low: float = 0.0  # what every score is moved by; −∞: the first keys are not there


# Ragged lengths everywhere: no multiple of the tile of 8 but where that is the point.
CASES = {
    "one row, one key": Case((1, 1), 1, 1, 8),
    "two full tiles": Case((1, 1), 16, 16, 8),
    "everything ragged": Case((2, 2), 13, 21, 5),
    "causal": Case((1, 1), 19, 19, 8, masks.causal()),
    "causal, fewer queries, shared heads": Case((4, 2), 9, 20, 8, masks.causal()),
    "causal, rows that see nothing": Case((1, 1), 20, 11, 8, masks.causal()),
    "window": Case((2, 1), 19, 19, 8, masks.window(3, 2)),
    "window, first tile hidden": Case((1, 1), 24, 24, 8, masks.window(4, 0)),
    "padding": Case((2, 1), 10, 20, 8, masks.padding([13, 0])),
    "all three": Case(
        (2, 2), 17, 17, 16, masks.causal() & masks.window(9) & masks.padding([14, 17])
    ),
    "half precision": Case((2, 1), 13, 18, 8, masks.causal(), "float16"),
    "few rows, half precision": Case(
        (2, 1), 1, 18, 8, masks.window(16) & masks.padding([18, 9]), "float16"
    ),
    "scores far below 0": Case((1, 1), 9, 17, 8, masks.causal(), low=-20_000),
    "first scores −∞": Case((1, 1), 9, 17, 8, low=-np.inf),
}


def inputs(case: Case) -> tuple[np.ndarray, ...]:
    """q, k, v for a case, in two sequences."""
    rng = np.random.default_rng(5)
    shapes = [(case.heads[0], case.n), (case.heads[1], case.keys)]
    q, k, v = (rng.standard_normal((2, *shapes[i], case.d)) for i in (0, 1, 1))
    if np.isinf(case.low):
        q, k[..., :9, :] = np.abs(q), -np.inf
    elif case.low:  # one column carries it: the rest makes the difference
        q[..., 0], k[..., 0] = 1.0, case.low * case.d**0.5
    else:
        q *= 2
    return tuple(x.astype(case.dtype) for x in (q, k, v))


def expected(case: Case) -> tuple[np.ndarray, np.ndarray]:
    wide = (x.astype(float) for x in inputs(case))
    return dense.attention(*wide, mask=case.mask, return_lse=True)


def wrong(case: Case, out: np.ndarray, lse: np.ndarray) -> str:
    """What is wrong with an answer; empty if nothing."""
    truth, true_lse = expected(case)
    unit = 2.0 ** (-10 if case.dtype == "float16" else -20)
    size = max(1.0, abs(case.low)) if np.isfinite(case.low) else 1.0
    if not np.allclose(out, truth, rtol=0, atol=unit * size * np.abs(truth).max()):
        return f"out is off by {np.abs(out - truth).max():.1e}"
    if not np.allclose(lse, true_lse, rtol=2e-6, atol=2e-6 if case.low else 2.0**-10):
        return "lse is off"
    return ""


@rungs
@pytest.mark.parametrize("name", CASES)
def test_a_kernel_computes_attention(rung: str, name: str) -> None:
    case = CASES[name]
    out, lse = gpu.attention(
        *inputs(case), mask=case.mask, kernel=rung, return_lse=True
    )
    assert out.dtype == case.dtype and lse.dtype == np.float32
    assert not wrong(case, out, lse)


@rungs
def test_one_head_needs_no_axis_for_heads(rung: str) -> None:
    q, k, v = (x[0, 0] for x in inputs(CASES["causal"]))
    out = gpu.attention(q, k, v, mask=masks.causal(), scale=0.3, kernel=rung)
    assert out.shape == q.shape
    assert np.allclose(
        out, dense.attention(q, k, v, mask=masks.causal(), scale=0.3), atol=1e-6
    )


@rungs
def test_padding_may_hold_anything(rung: str) -> None:
    q, k, v = inputs(CASES["padding"])
    k[0, :, 13:], v[0, :, 13:] = np.nan, np.nan
    out = gpu.attention(q, k, v, mask=masks.padding([13, 0]), kernel=rung)
    assert np.isfinite(out).all()


@rungs
def test_nan_does_not_vanish(rung: str) -> None:
    q, k, v = inputs(CASES["causal"])
    k[0, 0, 5, 3] = np.nan
    out = gpu.attention(q, k, v, mask=masks.causal(), kernel=rung)
    assert np.isfinite(out[0, 0, :5]).all() and np.isnan(out[0, 0, 5:]).all()


# ---- every line is needed ----


class Mutant(NamedTuple):
    """A line of a kernel that is wrong, and a case that has to notice."""

    rung: str
    right: str
    wrong: str
    case: str
    nth: int = 0  # which of several such lines
    says: str = ""  # the kind of fault, if it is one
    rows: int = 0  # of a block, unless as many as usual


BARRIER = "cuda.syncthreads()"
FOLD = ("naive", "tiled")
ALL = ("naive", "tiled", "registers")
MUTANTS = [
    Mutant("naive", "if i >= n:", "if i > n:", "everything ragged", says="index"),
    Mutant("naive", "lengths[head])", "K.shape[1])", "padding"),
    Mutant("tiled", "length = lengths[head]", "length = keys", "padding"),
    Mutant("registers", "length = lengths[head]", "length = keys", "padding"),
    Mutant("naive", "max(place - left, 0)", "0", "window"),
    *(
        Mutant(rung, "place + right + 1", "place + right + 2", "causal")
        for rung in FOLD
    ),
    *(
        Mutant(rung, "l = alpha * l + p", "l = l + p", "two full tiles")
        for rung in FOLD
    ),
    *(Mutant(rung, "alpha * o[c]", "o[c]", "two full tiles") for rung in FOLD),
    *(
        Mutant(
            rung,
            "m = float32(-math.inf)",
            "m = float32(-10000.0)",
            "scores far below 0",
        )
        for rung in FOLD
    ),
    Mutant("naive", "if s == float32(-math.inf):", "if False:", "first scores −∞"),
    Mutant("tiled", "and s != float32(-math.inf):", ":", "first scores −∞"),
    *(
        Mutant(rung, "head // group", "0", "causal, fewer queries, shared heads")
        for rung in ALL
    ),
    *(
        Mutant(
            rung,
            f"+ {keys} - n",
            "",
            "causal, fewer queries, shared heads",
        )
        for rung, keys in zip(ALL, ("K.shape[1]", "keys", "keys"))
    ),
    *(
        Mutant(
            rung,
            f"if {l} != float32(0.0) else",
            "if True else",
            "causal, rows that see nothing",
        )
        for rung, l in zip(ALL, ("l", "l", "total"))
    ),
    *(
        Mutant("tiled", BARRIER, "pass", "two full tiles", i, "race", rows=16)
        for i in range(6)
    ),
    *(
        Mutant("tiled", "if row < n:", "if True:", "everything ragged", i, "index")
        for i in range(2)
    ),
    Mutant("tiled", "if key < length:", "if True:", "everything ragged", says="index"),
    Mutant("tiled", "if first <= base + j < stop and", "if", "causal"),
    Mutant(
        "tiled", "if first <= base + j < stop and", "if base + j < stop and", "window"
    ),
    Mutant(
        "tiled",
        "end = min(min(top + block_q, n) + keys - n + right, length)",
        "end = 8",
        "two full tiles",
    ),
    Mutant(
        "tiled",
        "        begin = max(top",
        "        if i >= n:\n            return\n        begin = max(top",
        "everything ragged",
        says="uninitialised",
    ),
    *(
        Mutant("registers", BARRIER, "pass", "two full tiles", i, "race")
        for i in range(4)
    ),
    Mutant(
        "registers",
        "x[e] = float32(0.0)",
        "pass",
        "one row, one key",
        says="uninitialised",
    ),
    *(
        Mutant(
            "registers",
            "if key < length:",
            "if True:",
            "everything ragged",
            i,
            "index",
        )
        for i in range(2)
    ),
    *(
        Mutant("registers", "if row < n:", "if True:", "everything ragged", i, "index")
        for i in range(2)
    ),
    Mutant("registers", "key < here - left", "False", "window"),
    Mutant("registers", "key > here + right", "False", "causal"),
    Mutant("registers", "or key >= length", "", "padding"),
    Mutant("registers", "if a[i, e] >= float32(0.0):", "if True:", "causal"),
    Mutant("registers", "base < latest or", "", "window"),
    Mutant("registers", "or base + block_k >", "or base >", "causal"),
    Mutant(
        "registers",
        "m_new if m_new > float32(-math.inf) else float32(0.0)",
        "m_new",
        "window, first tile hidden",
    ),
    Mutant("registers", "m_new = max(m_new, other)", "pass", "two full tiles"),
    Mutant("registers", "total += other", "pass", "two full tiles"),
    Mutant("registers", "l[i] = alpha * l[i]", "pass", "two full tiles"),
    Mutant("registers", "o[i, c] = alpha * o[i, c]", "pass", "two full tiles"),
    Mutant(
        "registers",
        "m[i] = float32(-math.inf)",
        "m[i] = float32(-10000.0)",
        "scores far below 0",
    ),
    *(
        Mutant("patches", BARRIER, "pass", "two full tiles", i, "race", rows=16)
        for i in range(4)
    ),
    *(
        Mutant("patches", right, "if True:", case, nth, "index")
        for right, case, nth in (
            ("if row < n:", "everything ragged", 0),
            ("if row < n:", "everything ragged", 1),
            ("if i * high < ahead:", "one row, one key", 0),
            ("if i * high < ahead:", "everything ragged", 1),
            ("if i * high < ahead:", "everything ragged", 2),
        )
    ),
    Mutant("patches", "if i * high < ahead:", "if False:", "two full tiles", 2),
    Mutant("patches", "and whole:", ":", "causal"),
    Mutant("patches", "if a[i, e] >= float32(0.0):", "if True:", "causal"),
    Mutant("patches", "latest <= base and", "", "window"),
    Mutant("patches", "step + e * across", "step * SIDE + e", "two full tiles"),
    Mutant("patches", "o[i, c] = alpha * o[i, c]", "pass", "two full tiles"),
]
PARTS = 2  # what a rung that deals out the keys makes of them here
_names = count()


def module(source: str, folder: Path) -> ModuleType:
    """A module from its source, in a file, so that its lines can be shown."""
    file = folder / f"mutant{next(_names)}.py"
    file.write_text(source, "utf-8")
    spec = importlib.util.spec_from_file_location(file.stem, file)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def run(
    kernel, build: Build, case: Case, then=None, **options
) -> tuple[blocksim.Report, str]:
    """The simulator's report on a kernel, and what is wrong with its numbers.

    If another kernel is launched after it, that may be another one, too.
    """
    asked = checked_arguments(*inputs(case), None)
    task = fit(asked, case.mask, build.d)
    out, lse = np.zeros_like(task.q), np.zeros(task.q.shape[:2], np.float32)
    given = task.arguments(out, lse, PARTS)
    kernels = [kernel, *(then or after.kernel for after in build.launches[1:])]
    reports = [
        blocksim.run(
            one,
            task.grid(each, PARTS),
            each.threads,
            *(given[name] for name in each.arguments),
            **options,
        )
        for one, each in zip(kernels, build.launches)
    ]
    reports[0].faults += [fault for after in reports[1:] for fault in after.faults]
    shape = asked.q.shape[:-1]
    cut = out[..., : case.d].reshape(*shape, -1)
    return reports[0], wrong(case, cut, lse.reshape(shape))


def simulated(
    build: Build, task: Task, parts: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """The output and the LSE of a build in the block simulator."""
    plan = Plan(build, "the block simulator", "as asked", task, parts=parts)
    return planner.SIMULATOR.launch(plan)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: f"{m.rung}: {m.right[:40]}")
def test_every_line_is_needed(mutant: Mutant, tmp_path: Path) -> None:
    source = LADDER[mutant.rung].source.read_text("utf-8")
    source = planted(source, mutant.right, mutant.wrong, mutant.nth)
    case = CASES[mutant.case]
    build = Build.small(mutant.rung, case.d)
    if mutant.rows:
        build = replace(build, block_q=mutant.rows)
    made = module(source, tmp_path).RUNG
    then = made.then and made.then.kernel(build.size)
    report, off = run(made.kernel(build.size), build, case, then)
    if mutant.says:
        assert mutant.says in {fault.kind for fault in report.faults}
    else:
        assert off and not report.faults


# ---- no work for nothing ----


@pytest.mark.parametrize("mask", [None, masks.causal(), masks.window(5, 3)])
def test_hidden_tiles_are_not_read(mask: masks.Mask | None) -> None:
    n, block, d = 40, 8, 8
    case = Case((1, 1), n, n, d, mask)
    tiles = masks.walk(mask, n, n, block, block)
    seen = sum(tile.kind != "none" for tile in tiles)
    if mask is not None and mask.left == np.inf:
        counted = costs.causal_tiles(n, block, block)
        assert seen == counted.full + counted.partial
    for rung in (name for name in gpu.PORTABLE if LADDER[name].has_tiles):
        build = Build.small(rung, d)
        report, off = run(build.kernel, build, case)
        assert not off
        for name in ("K", "V"):  # two sequences
            # A rung may leave out the keys of a tile that no row of it sees.
            most = 2 * seen * block * d
            assert most * 3 // 4 <= sum(report.loads[name]) <= most


def test_a_tile_is_read_once_for_each_block_and_not_for_each_row() -> None:
    case = Case((1, 1), 32, 32, 8)
    loads = {}
    for rung in gpu.PORTABLE:
        build = Build.small(rung, 8)
        loads[rung] = sum(run(build.kernel, build, case)[0].loads["K"])
    for rung, loaded in loads.items():
        rows = 1 if rung == "naive" else Build.small(rung, 8).block_q
        assert loaded == loads["naive"] // rows


@rungs
def test_numbers_read_for_each_product(rung: str) -> None:
    n, d = 16, 16
    build = Build.small(rung, d)

    def read(keys: int) -> int:
        loads = run(build.kernel, build, Case((1, 1), n, keys, d))[0].loads
        in_global_memory = {"Q", "K", "V", "O", "LSE", "lengths"}
        tiled = LADDER[rung].has_tiles
        names = loads.keys() - in_global_memory if tiled else ("K", "V")
        return sum(sum(loads[name]) for name in names)

    products = 2 * 2 * n * 16 * d  # scores and outputs of 16 keys, in two sequences
    assert read(32) - read(16) == build.reads_per_product * products


# ---- what a kernel may use ----


@rungs
def test_nothing_creeps_up_to_double_precision(rung: str) -> None:
    case = CASES["causal"]
    build = Build.small(rung, case.d)
    report, _ = run(build.kernel, build, case, mode="full")
    assert report.faults == []
    assert report.shared_bytes == build.shared


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (("registers", 64, 64, 12), "block_k: expected 4 times a power of two"),
        (("registers", 64, 64, 256), "block_k: expected 4 times a power of two"),
        (("registers", 64, 64, 128), "block_k: expected a divisor of d = 64"),
        (("registers", 64, 30, 32), "block_q: expected a multiple of 4"),
        (("shared", 64, 32, 32), "kernel: expected one of"),
        (("tiled", 0, 32, 32), "d: expected a positive integer"),
        (("naive", 96, 32), "d: expected at most 64, or a multiple"),
        (("tiled", 192, 32, 32), "d: expected at most 64, or 64 times a power of two"),
        (("tiled", 64, 48, 32), "block_q, block_k: expected multiples of 3"),
        (("tiled", 64, 96, 64), "block_q one of block_k if it is larger"),
        (("registers", 64, 96, 16), "block_q, block_k: expected multiples of 6"),
        (("registers", 64, 512, 64), "1 to 1024 threads, got 512 and 64, .* for 2048"),
        (("patches", 64, 2, 4), "block_q, block_k: expected .* got 2 and 4, .* for 0"),
        (
            ("registers", 64, 3, 4),
            "block_q, block_k: expected .* got 3 and 4, .* for 0",
        ),
        (("split", 60, 4, 16), "d: expected a multiple of 8, got 60"),
        (("split", 64, 4, 6), "block_k: expected a multiple of 4"),
        (("tensor", 96, 128, 64), "d: expected a multiple of 64, got 96"),
        (("tensor", 128, 48, 32), "block_q: expected a multiple of 32, got 48"),
        (("tensor", 64, 256, 48), "block_k: expected a multiple of 32, got 48"),
    ],
)
def test_a_size_that_cannot_be_is_refused(build: tuple, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Build(*build)


def test_a_kernel_is_made_and_parsed_once(monkeypatch) -> None:
    """However many builds of one size there are, and what is launched after it too."""
    q = np.ones((1, 8, 8), np.float32)
    split = LADDER["split"]
    right = gpu.attention(q, q, q, device="simulator", kernel="split")
    monkeypatch.setattr(functions, "parse", None)
    for rung in (split, split.then):
        monkeypatch.setattr(type(rung), "kernel", None)
    again = gpu.attention(q, q, q, device="simulator", kernel="split")
    assert np.array_equal(again, right)
    same, other = Build("tiled", 64, 32, 32), Build("tiled", 64, 32, 16)
    assert simulator.simulated(same) is simulator.simulated(replace(same))
    assert simulator.simulated(same) is not simulator.simulated(other)


@rungs
def test_every_size_is_right_or_refused(rung: str) -> None:
    """Tiny and odd ones too: no size fails but by an error that names the argument."""
    small, builds = [*range(1, 10), 16], []
    for size in product([*small, 24], small, small):
        try:
            builds.append(Build(rung, *size))
        except ValueError as error:
            refused = r"(d|block_q|block_k|block_q, block_k): expected .* got "
            assert re.match(refused, str(error)), size
    assert builds
    for build in builds[:: max(len(builds) // 12, 1)]:
        q, k, v = np.random.default_rng(1).standard_normal(
            (3, 1, 5, build.d), np.float32
        )
        asked = arguments.attention(q, k, v, None, None, None)
        task = fit(asked, masks.causal(), build.d)
        out, _ = simulated(build, task)
        right = dense.attention(q, k, v, mask=masks.causal())
        assert np.allclose(out, right, atol=1e-5), build


# ---- the ladder ----

ONE_MORE = """
import json
import numpy as np
from onlinesoftmax import dense
from tiledattention import gpu
from tools.kernels import gate as kernels

q, k, v = np.random.default_rng(0).standard_normal((3, 13, 8)).astype(np.float32)
out = gpu.attention(q, k, v, kernel="one_more")
right = np.allclose(out, dense.attention(q, k, v), atol=1e-6)
sizes = {tuple(wanted[1:4]) for wanted in kernels.to_compile() if wanted[0] == "one_more"}
print(json.dumps([gpu.RUNGS, bool(right), len(sizes)]))
"""


def test_a_new_rung_is_one_new_file(tmp_path: Path) -> None:
    """It is listed, runs in the simulator, and `make kernels` compiles its sizes."""
    lib = Path(gpu.__file__).parents[1]
    copied = shutil.copytree(lib, tmp_path / lib.name)
    rungs = copied / "gpu" / "rungs"
    text = re.sub(r"\btiled\b", "one_more", (rungs / "tiled.py").read_text("utf-8"))
    text = text.replace('below = "naive"', f'below = "{gpu.RUNGS[-1]}"')
    (rungs / "one_more.py").write_text(text, "utf-8")
    paths = map(str, (tmp_path, lib.parent, lib.parents[1]))
    done = subprocess.run(
        [sys.executable, "-c", ONE_MORE], capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    sizes = len(gpu.WIDTHS)  # as it ships
    assert json.loads(done.stdout) == [[*gpu.RUNGS, "one_more"], True, sizes]


def test_a_rung_that_stands_on_nothing_is_refused() -> None:
    class Lost(type(LADDER["tiled"])):
        below = "lost"

    with pytest.raises(ValueError, match="below of the rung 'tiled': .* got 'lost'"):
        in_order([LADDER["naive"], Lost()])


# ---- picking ----


def test_it_says_which_kernel_it_picks_and_why(capsys: pytest.CaptureFixture) -> None:
    nvidia.print_once.cache_clear()
    q, k, v = inputs(CASES["one row, one key"])
    plan = gpu.plan(q, k, v)
    assert plan.build.rung == "tiled" and plan.device == gpu.device()
    gpu.attention(q, k, v)
    said = capsys.readouterr().out
    assert said == f"{plan}\n" and "finds no GPU" in said and "block simulator" in said


@pytest.mark.parametrize("module", [ladder, planner])
def test_the_examples_of_a_docstring_run(module: ModuleType) -> None:
    tried = doctest.testmod(module)
    assert tried.attempted and not tried.failed


def test_large_inputs_are_refused_with_the_time_they_would_take() -> None:
    x = np.zeros((8, 4096, 64), np.float32)
    with pytest.raises(ValueError, match=r"would take about .* (hours|days)"):
        gpu.attention(x, x, x, kernel="naive")


def test_on_a_gpu_the_kernels_as_they_ship_are_picked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(nvidia, "has_gpu", lambda: True)
    monkeypatch.setattr(nvidia, "device", lambda: "a GPU")
    monkeypatch.setattr(nvidia, "multiprocessors", lambda: 108)
    many = Work(heads=32, n=4096)
    assert nvidia.best(many, 64)[0] == "naive"  # plain Numba is here, no numba-cuda
    monkeypatch.setattr(nvidia, "best", lambda *_: ("registers", "best"))
    x = np.zeros((4, 100), np.float32)
    assert gpu.plan(x, x, x).build == Build.shipped("registers", 128)
    assert gpu.plan(x, x, x[:, :9], kernel="naive").build.d == 128
    with pytest.raises(ValueError, match="d: expected at most 128, got 129"):
        gpu.plan(np.zeros((4, 129), np.float32), *2 * [np.zeros((4, 129), np.float32)])


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"mask": masks.alibi(1.0)}, "mask: expected one made of causal"),
        ({"mask": masks.documents(np.zeros(4, int))}, "mask: expected one made of"),
        ({"kernel": "fast"}, "kernel: expected one of"),
        ({"mask": masks.padding(9)}, "lengths: expected at most 4, the keys"),
    ],
)
def test_what_it_cannot_do_is_refused(change: dict, says: str) -> None:
    x = np.zeros((4, 8), np.float32)
    with pytest.raises(ValueError, match=says):
        gpu.attention(x, x, x, **{"kernel": "naive"} | change)
    with pytest.raises(ValueError, match="expected float32, float16 or bfloat16"):
        gpu.attention(x.astype(float), x, x)


X = np.zeros((4, 8), np.float32)


@pytest.mark.parametrize(
    "change",
    [
        *({"mask": mask} for mask in (np.ones((4, 4), bool), "causal", masks.causal,
                                      True, 1, [masks.causal()])),
        *({"scale": scale} for scale in ("1", True, False, np.ones(3), np.nan, 1j, [1],
                                          1e39, -1e39)),
        *({"kernel": kernel} for kernel in (None, 1, ["naive"], {}, "Naive",
                                            np.array(["naive", "tiled"]))),
        *({"return_lse": wish} for wish in ("no", None, np.ones(3), 2)),
        *({name: x} for name in "qkv" for x in (None, "abc", 3, [[1, 2], [3]], X > 0,
                                                X.astype(complex), X.astype(object),
                                                np.ma.masked_array(X, X == 0))),
    ],
    ids=lambda change: re.sub(r" at 0x\w+", "", f"{change}")[:40],
)  # fmt: skip
def test_every_argument_of_a_wrong_kind_is_named(change: dict) -> None:
    arguments = {"q": X, "k": X, "v": X, "kernel": "naive"} | change
    with pytest.raises(ValueError, match=f"^{next(iter(change))}: expected "):
        gpu.attention(**arguments)
    if "return_lse" not in change and "scale" not in change:
        with pytest.raises(ValueError, match=f"^{next(iter(change))}: expected "):
            gpu.plan(**arguments)


@rungs
@pytest.mark.parametrize(
    "mask",
    [masks.causal(), masks.window(2, 1), masks.padding(9),
     masks.causal() & masks.window(3) & masks.padding(13)],
    ids=["causal", "window", "padding", "all three"],
)  # fmt: skip
@pytest.mark.parametrize("rubbish", [np.nan, np.inf])
def test_no_row_reads_the_value_of_a_key_that_is_hidden(rung, mask, rubbish) -> None:
    """Keys and values hold rubbish at one place; who does not see it, does not care."""
    rng = np.random.default_rng(4)
    q, k, v = rng.standard_normal((3, 17, 8)).astype(np.float32)
    head = mask.head((17, 17))
    clean = gpu.attention(q, k, v, mask=mask, kernel=rung)
    for key in (0, 7, 8, 11, 16):
        k_bad, v_bad = k.copy(), v.copy()
        k_bad[key] = v_bad[key] = rubbish
        out = gpu.attention(q, k_bad, v_bad, mask=mask, kernel=rung)
        first, stop = head.interval(np.arange(17))
        sees = (first <= key) & (key < stop)
        assert np.array_equal(out[~sees], clean[~sees])
        assert np.isnan(out[sees]).all()


@rungs
@pytest.mark.parametrize("keys", [[0], [5], [0, 1, 2, 3, 4, 5, 6, 7], [16]])
def test_a_key_whose_score_is_minus_infinity_counts_as_hidden(rung, keys) -> None:
    """Nor does its value matter: every rung leaves it out."""
    rng = np.random.default_rng(5)
    q, k, v = rng.standard_normal((3, 17, 8)).astype(np.float32)
    q[:, 0] = 1 + abs(q[:, 0])
    k[keys, 0], v[keys] = -np.inf, np.nan
    out, lse = gpu.attention(q, k, v, kernel=rung, return_lse=True)
    rest = np.delete(k, keys, axis=0), np.delete(v, keys, axis=0)
    truth, true_lse = dense.attention(q, *rest, return_lse=True)
    assert np.allclose(out, truth, atol=1e-5) and np.allclose(lse, true_lse, atol=1e-5)


@rungs
@pytest.mark.parametrize(
    ("large", "answer"),
    [((1e30, 1e30, 1), np.nan), ((1e25, -1e25, 1), 0.0), ((1, 1, 3e38), np.inf)],
)
def test_beyond_float32_a_simulation_answers_as_float32_does(rung, large, answer):
    """Not with the finite averages that double precision would find."""
    q, k, v = (np.full((9, 8), x, np.float32) for x in large)
    out = gpu.attention(q, k, v, kernel=rung)
    assert np.array_equal(out, np.full_like(out, answer), equal_nan=True)


def test_every_sequence_s_length_is_checked() -> None:
    x = np.zeros((2, 1, 8, 8), np.float32)
    with pytest.raises(
        ValueError, match="lengths: expected at most 8, the keys, got 12"
    ):
        gpu.attention(x, x, x, mask=masks.padding([8, 12]), kernel="naive")


def test_a_fault_in_a_simulation_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.zeros((8, 8), np.float32)
    task = fit(checked_arguments(x, x, x, None), None, 8)
    lengths = np.array([12], np.int32)  # beyond the keys
    with pytest.raises(blocksim.Fault):
        simulated(Build.small("naive", 8), task._replace(lengths=lengths))


@pytest.mark.parametrize("rung", ["naive", "tiled", "registers", "patches"])
def test_the_sizes_that_ship_are_right_too(rung: str) -> None:
    """Several warps, three hops, wide rows that threads share: what runs on a GPU.

    The narrow ones run compiled, in tests/kernellab/test_compiled_kernels.py.
    """
    d, rng = 128, np.random.default_rng(3)
    q, k, v = (rng.standard_normal((n, d)).astype(np.float32) for n in (37, 70, 70))
    mask = masks.causal() & masks.window(40)
    task = fit(checked_arguments(q, k, v, None), mask, d)
    out, lse = simulated(Build.shipped(rung, d), task)
    truth, true_lse = dense.attention(q, k, v, mask=mask, return_lse=True)
    assert np.allclose(out[0], truth, atol=1e-5)
    assert np.allclose(lse[0], true_lse, atol=1e-5)


def test_no_sequences() -> None:
    x = np.zeros((0, 4, 8, 8), np.float32)
    assert (
        gpu.attention(x, x, x, mask=masks.padding(3), kernel="tiled").shape == x.shape
    )


def test_no_rows_and_no_keys() -> None:
    x = np.zeros((3, 8), np.float32)
    assert gpu.attention(x[:0], x, x, kernel="tiled").shape == (0, 8)
    out, lse = gpu.attention(x, x[:0], x[:0], kernel="tiled", return_lse=True)
    assert not out.any() and np.isneginf(lse).all()


# ---- make gpu ----


def test_without_a_gpu_make_gpu_says_so(monkeypatch, capsys) -> None:
    monkeypatch.setattr(make_gpu.shutil, "which", lambda _: None)
    monkeypatch.setattr(webgpu, "device", no_device)
    assert make_gpu.main() == make_gpu.NO_GPU != 0
    said = capsys.readouterr().out
    assert said.count("\n") == 1 and "nothing timed: no driver" in said
    assert trial.time_all() == []
    assert "nothing is timed" in capsys.readouterr().out


def no_device() -> None:
    raise webgpu.NoDevice("no driver")


@pytest.mark.parametrize(
    ("status", "asked", "called", "returned"),
    [
        (0, [], 1, 0),
        (1, [], 1, 1),
        (make_gpu.NO_GPU, [], 1, 77),
        (0, ["--webgpu"], 0, 77),
    ],
)
def test_numba_comes_first_and_webgpu_where_it_finds_no_gpu(
    status: int, asked: list, called: int, returned: int, monkeypatch
) -> None:
    calls = []
    monkeypatch.setattr(make_gpu.sys, "argv", ["gpu", *asked])
    monkeypatch.setattr(make_gpu.sys, "platform", "linux")
    monkeypatch.setattr(make_gpu.shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(gate.environments, "environment", lambda *_: "python")
    monkeypatch.setattr(subprocess, "call", lambda *a, **_: calls.append(a) or status)
    monkeypatch.setattr(make_gpu, "by_webgpu", lambda: 77)
    assert (make_gpu.main(), len(calls)) == (returned, called)


def test_where_numba_cannot_be_installed_webgpu_is_left(monkeypatch, capsys) -> None:
    def fails(*_: object) -> None:
        raise gate.environments.NotInstalled("pip could not install it")

    monkeypatch.setattr(make_gpu.sys, "argv", ["gpu"])
    monkeypatch.setattr(make_gpu.sys, "platform", "linux")
    monkeypatch.setattr(make_gpu.shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(gate.environments, "environment", fails)
    monkeypatch.setattr(make_gpu, "by_webgpu", lambda: 77)
    assert make_gpu.main() == 77
    assert "could not install" in capsys.readouterr().out


@pytest.mark.parametrize("wish", ["gpu", "CUDA", None, 1])
def test_another_place_is_refused(wish: object) -> None:
    with pytest.raises(ValueError, match="on: expected one of .*, got"):
        trial.place(wish)


@rungs
def test_its_checks_can_pass_and_fail(rung: str, monkeypatch) -> None:
    shape = (2, 1, 11, 13)
    causal = trial.Case(rung, 8, "float32", masks.causal(), shape)
    assert trial.check(causal) == ""
    padded = masks.padding([9, 0])
    assert trial.check(trial.Case(rung, 5, "float16", padded, shape)) == ""
    right = gpu.attention
    monkeypatch.setattr(
        trial, "attention", lambda *args, mask, **options: right(*args, **options)
    )
    assert "off by" in trial.check(causal)


def test_values_that_cancel_do_not_make_a_right_kernel_wrong(monkeypatch) -> None:
    """The errors are those of the terms, however small their sum."""

    def cancelling(case: trial.Case) -> list[np.ndarray]:
        q, k, v = drawn(case)
        half = k.shape[2] // 2
        k[:, :, half:], v[:, :, half:] = k[:, :, :half], -v[:, :, :half]
        return [q, k, v]

    drawn = trial.drawn
    monkeypatch.setattr(trial, "drawn", cancelling)
    assert trial.check(trial.Case("tiled", 8, "float32", None, (1, 1, 5, 24))) == ""


def test_what_is_wrong_on_a_device_is_listed(monkeypatch, capsys) -> None:
    case = trial.Case("naive", 8, "float32", None, (2, 1, 11, 13))
    both = [case, case._replace(rung="tiled")]
    monkeypatch.setattr(trial, "cases", lambda on: both)
    monkeypatch.setattr(trial, "check", lambda c, on: "lse is off" if c == case else "")
    assert trial.check_all() == [f"{case}: lse is off"]
    assert capsys.readouterr().out.endswith("1 of 2 cases are right\n")


def test_a_row_has_the_rate_of_what_is_computed() -> None:
    row = trial.row_of("tiled", (1024, 64, "float32", True), 0.5)
    assert row[:6] == ["tiled", 1024, 64, "float32", True, 0.5]
    assert row[6] == round(2 * 16 * 1024**2 * 64 / 0.5e-3 / 1e12, 2)
    assert trial.row_of("tiled", (1024, 64, "float32", False), 0.5)[6] > 1.9 * row[6]


class Pretended(SimpleNamespace):
    """A GPU whose every way takes (n / 512)² times what `took` says of it."""

    BACKEND = "CUDA, by Numba"

    def ways(self, heads: int, n: int, d: int, dtype: str, causal: bool) -> Iterator:
        for name, took in self.took.items():
            yield name, partial(self.run, name, took * (n / 512) ** 2, d)

    def run(self, name: str, took: float, d: int, count: int) -> float:
        if name == "torch" and d == 128:
            raise MemoryError("no room for\nthe table")
        self.ran.append((name, count))
        return took * count


@pytest.fixture
def pretended(monkeypatch: pytest.MonkeyPatch) -> Pretended:
    """It stands where there would be a GPU of NVIDIA."""
    gpu = Pretended(
        took={"naive": 10.0, "tiled": 1.0, "torch": 0.1},
        ran=[],
        name=lambda: "A GPU (sm_80)",
        is_software=lambda: False,
        refusals=lambda: (MemoryError,),
        remarks=lambda: ["Timed by hand."],
        versions=lambda: {"driver": "1"},
    )
    monkeypatch.setattr(trial, "has_gpu", lambda: True)
    monkeypatch.setattr(trial, "clock", lambda on: gpu)
    return gpu


def test_the_ways_run_in_turn_a_window_each(pretended) -> None:
    rows = trial.times((512, 64, "float32", False), None, "cuda")
    windows = pretended.ran[2 * len(pretended.took) :]  # after those to get warm
    turn = [("naive", 2), ("tiled", 20), ("torch", 200)]
    assert windows == trial.RUNS * turn
    assert [row[5] for row in rows] == [10.0, 1.0, 0.1]


def test_what_the_library_has_no_memory_for_leaves_the_kernels(
    pretended, capsys
) -> None:
    whole = pretended.ways

    def ways(*size):
        yield from whole(*size)
        raise MemoryError("no room")

    pretended.ways = ways
    assert len(trial.times((512, 64, "float32", False), None, "cuda")) == 3
    assert "(512, 64, 'float32', False): no room\n" in capsys.readouterr().out


def test_a_slow_way_is_left_out_where_it_would_take_too_long(pretended, capsys) -> None:
    rows = trial.time_all()
    ways = pretended.took
    longest = {way: max(row[1] for row in rows if row[0] == way) for way in ways}
    assert longest == {"naive": 2048, "tiled": 8192, "torch": 16384}
    assert len({tuple(row[:5]) for row in rows}) == len(rows)
    assert not [row for row in rows if row[0] == "torch" and row[2] == 128]
    assert "torch n=512 d=128 float32: no room for\n" in capsys.readouterr().out


def test_when_the_time_is_up_what_is_timed_is_kept(pretended, monkeypatch, capsys):
    clock = count(step=30)  # every look at it comes half a minute later
    monkeypatch.setattr(trial, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    rows = trial.time_all(minutes=1.2)
    assert {tuple(row[1:5]) for row in rows} == {
        (512, 64, "float32", False), (512, 64, "float32", True)
    }  # fmt: skip
    assert "the time is up before (512, 64, 'float16'" in capsys.readouterr().out


def test_times_are_stored_with_where_they_come_from(pretended, tmp_path) -> None:
    file = trial.save(trial.time_all(lengths=[512]), tmp_path)
    assert file.name == "gpu-a-gpu-sm-80.json"
    stored = Measurement(**json.loads(file.read_text("utf-8")))
    assert stored.machine == "A GPU (sm_80)" and stored.command == "make gpu"
    assert stored.backend in stored.source() and "by hand. Left out: reg" in stored.what
    assert len(stored.rows[0]) == len(stored.columns)
    with pytest.raises(
        ValueError, match="rows: expected the rows of time_all, got none"
    ):
        trial.save([], tmp_path)
    pretended.is_software = lambda: True
    with pytest.raises(ValueError, match="on: expected a GPU, got A GPU"):
        trial.save(stored.rows, tmp_path)
    assert trial.time_all() == []


# ---- the notebook for those who have a GPU ----


def cells_of_the_notebook() -> dict[str, str]:
    """The code of `gpu.ipynb` by the names of its cells."""
    page = Page("gpu", ROOT / "book" / "gpu.md")
    return {cell.id: cell.source for cell in code_cells(notebook(page))}


def test_the_notebook_installs_what_make_gpu_installs() -> None:
    cell = cells_of_the_notebook()["numba-cuda"]
    lists = re.search(r"^wanted = (.*) if has_driver else (.*)$", cell, re.M).groups()
    cuda, [wgpu] = map(ast.literal_eval, lists)
    pins = (ROOT / "requirements-gpu.in").read_text("utf-8")
    pinned = re.findall(r"^([^#\s]+)", pins, re.M)
    assert cuda == [
        pin for pin in pinned if "nvdisasm" not in pin
    ]  # for `make kernels`
    pins = (ROOT / "requirements.txt").read_text("utf-8")
    assert re.search(rf"^{re.escape(wgpu.removesuffix('*'))}\d", pins, re.M)


@pytest.mark.parametrize("there", [False, True])
def test_the_notebook_replaces_a_numpy_that_is_too_new(
    there: bool, monkeypatch
) -> None:
    """And asks for a restart, as the old one is loaded; whether numba-cuda is there or not."""
    calls: list[list[str]] = []
    found = SimpleNamespace() if there else None
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: found)
    monkeypatch.setattr(shutil, "which", lambda name: "/usr/bin/nvidia-smi")
    monkeypatch.setattr(subprocess, "run", lambda pip, check: calls.append(pip))
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "2.4.6")
    monkeypatch.setattr(np, "__version__", "2.5.0")
    with pytest.raises(RuntimeError, match="^NumPy was replaced: restart"):
        exec(cells_of_the_notebook()["numba-cuda"], {})
    [[*_, last]] = calls
    assert last == "numpy<2.5" and ("numba-cuda[cu12]==0.30.*" in calls[0]) != there


def test_the_notebook_times_and_hands_the_file_over(
    pretended, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    handed = []
    colab = SimpleNamespace(files=SimpleNamespace(download=handed.append))
    monkeypatch.setitem(sys.modules, "google.colab", colab)
    monkeypatch.chdir(tmp_path)
    cells, names = cells_of_the_notebook(), {"trial": trial, "sys": sys}
    for name in ("time", "save"):
        exec(cells[name], names)
    assert handed == ["gpu-a-gpu-sm-80.json"]
    stored = Measurement(**json.loads((tmp_path / handed[0]).read_text("utf-8")))
    assert stored.rows == trial.time_all() and "gpu.ipynb" in stored.command
