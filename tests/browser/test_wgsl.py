"""Kernels in WGSL on Chromium's GPU in software: right numbers, and barriers refused.

All run in one window, some at the same time: to compile a kernel takes longer there than
to run it.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, Playwright

import webgpu
from blocksim import load, run
from kernels.correct import CORRECT
from kernels.faulty import FAULTY
from kernels.fuzz import arguments
from kernels.grammar import program, wild
from kernels.semantics import ALONE, TOGETHER, text
from livepage.drills import values
from livepage.drills.bank import bank
from livepage.drills.kinds.code import cases as code
from livepage.drills.kinds.kernel import grader as kernel_grader
from livepage.drills.payload import payload
from onlinesoftmax import dense, inputs
from onlinesoftmax.masks import Mask, causal, padding, window
from tiledattention.gpu.ladder import Build
from tiledattention.gpu.rung import Work
from tiledattention.gpu.task import fit
from tools.site.chromium import WEBGPU
from webgpu import Answer, Launch

from .conftest import new_context, open_chromium

pytestmark = pytest.mark.browser

CLOSE = 1e-5
ROUNDED = 2e-5  # after dozens of operations in float32
LEAST = 16 * 1024  # bytes of shared memory that every device has for a block
KERNELS = [drill for drill in bank().values() if drill.kind == "kernel"]


@pytest.fixture(scope="module")
def page(
    playwright: Playwright, chromium: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Page]:
    """A window that has opened its GPU."""
    browser = open_chromium(playwright.chromium, chromium, WEBGPU)
    window = new_context(browser).new_page()
    empty = tmp_path_factory.mktemp("webgpu") / "empty.html"
    empty.write_text("<!doctype html><title>WebGPU</title>", "utf-8")
    window.goto(empty.as_uri())
    script = Path(__file__).with_name("webgpu.mjs").read_text("utf-8")
    opened = window.evaluate(
        """async (script) => {
          const blob = new Blob([script], { type: "text/javascript" });
          globalThis.gpu = await import(URL.createObjectURL(blob));
          return gpu.open();
        }""",
        script,
    )
    assert opened, "this Chromium opens no GPU in software"
    window.subgroup = opened["subgroup"]
    yield window
    browser.close()


def simulated(launch: Launch, mode: str) -> dict[str, np.ndarray]:
    """What the simulator computes; it has to find nothing wrong."""
    given = [np.array(x) if np.ndim(x) else x for x in launch.arguments]
    report = run(launch.kernel, launch.grid, launch.block, *given, mode=mode)
    assert not [fault for fault in report.faults if fault.kind != "float64"]
    return dict(zip(launch.kernel.program.parameters, given, strict=True))


def off(mine: np.ndarray, right: Any) -> float:
    """How far numbers are off, those above 1 in proportion; NaN is far from any other."""
    right = np.asarray(right, float)
    same = (mine == right) | (np.isnan(mine) & np.isnan(right))
    with np.errstate(invalid="ignore"):
        far = np.abs(mine - right) / np.maximum(1, np.abs(right))
    return float(np.nan_to_num(np.where(same, 0, far), nan=np.inf).max(initial=0))


def worst(answer: Answer, right: dict[str, Any]) -> float:
    """How far the arrays that a kernel wrote are off."""
    assert not answer.faults
    assert answer.trouble == 0
    return max(off(mine, right[name]) for name, mine in answer.arrays.items())


def of_case(source: str, case: dict, function: str = "kernel") -> Launch:
    """The launch that a case of a drill describes."""
    given = []
    for _, kind, value in case["args"]:
        number = kernel_grader.argument(kind, value)
        dtype = np.int32 if kind == "ints" else np.float32
        given.append(np.array(number, dtype) if isinstance(number, list) else number)
    kernel = load(source, function, case["names"])
    return Launch(kernel, tuple(case["grid"]), tuple(case["block"]), given)


def row(launch: Launch, name: str) -> dict[str, Any]:
    return dict(zip(launch.kernel.program.parameters, launch.arguments, strict=True))


# ---- right numbers

# In these some threads only come to a shuffle, or leave before a barrier.
PARTED = {
    "a warp's sum, by shuffles": (9, 15),
    "a shuffle among those that stay": (9, 7),
    "some leave before a barrier, and have nothing to bring": (12, 8),
}


def test_right_kernels_are_right_or_refused_with_the_cause(page: Page) -> None:
    launches = [of_case(*CORRECT[name]) for name in CORRECT]
    for name, launch, answer in zip(CORRECT, launches, webgpu.run(page, launches)):
        if name in PARTED:
            (fault,) = answer.faults
            assert fault["kind"] == "barrier"
        else:
            assert worst(answer, simulated(launch, "race")) < CLOSE, name


def test_what_numbers_names_and_statements_mean(page: Page) -> None:
    x = np.array([((7 * k) % 16 - 8) / 4 for k in range(16)], np.float32)
    launches = []
    for name, body in (ALONE | TOGETHER).items():
        shape = (1, 64) if name in TOGETHER else (2, 8)
        given = [x.copy(), np.zeros(16, np.float32)]
        launches.append(Launch(load(text(body), "kernel"), *shape, given))
    answers = webgpu.run(page, launches)
    for name, launch, answer in zip(ALONE | TOGETHER, launches, answers):
        assert worst(answer, simulated(launch, "full")) < ROUNDED, name


def test_solutions_of_drills(page: Page) -> None:
    launches, right = [], []
    for drill in KERNELS:
        data = payload(drill)
        for case in data["cases"] + data["larger"]:
            launches.append(of_case(drill.get("code"), case, drill.get("function")))
            names = launches[-1].kernel.program.parameters
            given = {arg[0]: name for arg, name in zip(case["args"], names)}
            expected = case["expected"].items()
            right.append({given[k]: values.unpack(v) for k, v in expected})
    assert len({id(launch.kernel) for launch in launches}) >= len(KERNELS) >= 10
    for launch, answer, expected in zip(launches, webgpu.run(page, launches), right):
        assert worst(answer, expected) < CLOSE, launch.kernel.program.name


# Once a week: other programs, and more of them.
FROM = int(os.environ.get("PROGRAMS_FROM", 0))
TIMES = int(os.environ.get("PROGRAMS_TIMES", 1))
ORDERED = re.compile(r"= cuda.atomic|atomic\.(exch|cas)|threadfence|activemask")


def random_launches() -> list[Launch]:
    """Programs of both grammars that have no fault and one result in any order."""
    x = np.array([((7 * k) % 16 - 8) / 4 for k in range(16)], np.float32)
    found = []
    for seed in range(FROM, FROM + 160 * TIMES):
        kernel = load(program(seed), "kernel")
        found.append(Launch(kernel, 2, 8, [x.copy(), np.zeros(16, np.float32)]))
    for seed in range(FROM, FROM + 1200 * TIMES):
        source, shape = wild(seed)
        if shape["alias"] != "apart" or ORDERED.search(source):
            continue
        sizes = shape["blocks"], shape["threads"]
        shown = source.replace("(x, y, c)", "(x, y, c, z)")
        kernel = load(f"{shown}    z[cuda.grid(1)] = v * 10 + w\n", "kernel")
        given = [*arguments(shape), np.zeros(sizes[0] * sizes[1], np.int32)]
        if run(kernel, *sizes, *[each.copy() for each in given]):
            found.append(Launch(kernel, *sizes, given))
    return found


def test_random_programs_are_equal_to_the_simulator(page: Page) -> None:
    launches, equal, refused = random_launches(), 0, 0
    for launch, answer in zip(launches, webgpu.run(page, launches)):
        if [fault["kind"] for fault in answer.faults] == ["barrier"]:
            refused += 1  # where only the launch shows that all threads come
        else:
            assert worst(answer, simulated(launch, "race")) < CLOSE
            equal += 1
    assert equal >= (150 if FROM else 200) * TIMES
    assert refused <= equal / 20


# ---- rungs

BUILDS = [
    Build("naive", 64, 32),
    Build("naive", 128, 32),
    Build("tiled", 64, 32, 16),
    Build("tiled", 128, 32, 8),
    Build("registers", 64, 16, 16),
    Build("patches", 64, 16, 16),
    Build("split", 64, 2, 4),
]
# Heads of queries, heads of keys, rows, keys, and what the rows see; in more shapes the
# same text runs in `tests/tiledattention/test_webgpu.py`.
SHAPES = {
    "all": (1, 1, 64, 64, None),
    "rows that see nothing": (2, 1, 50, 33, causal()),
    "all of them": (4, 2, 41, 83, causal() & window(20) & padding(82)),
}


def attention(
    page: Page, build: Build, shape: tuple, dtype: Any = np.float32, **options: Any
) -> tuple[float, dict]:
    """How far a rung's output and logsumexp are off, and its translation."""
    heads, shared, n, keys, mask = shape
    rng = np.random.default_rng(n)
    sizes = (heads, n), (shared, keys), (shared, keys)
    q, k, v = (rng.normal(size=(*size, build.d)).astype(dtype) for size in sizes)
    task = fit(inputs.attention(q, k, v, None, None, None), mask, build.d)
    out, lse = np.zeros_like(task.q), np.zeros((heads, n), np.float32)
    parts = build.parts(Work(heads, n, heads // shared), keys, 8)
    given = task.arguments(out, lse, parts)
    for each in build.launches:
        arguments = [given[name] for name in each.arguments]
        shape = task.grid(each, parts), each.threads
        (answer,) = webgpu.run(page, [Launch(each.kernel, *shape, arguments, options)])
        assert (answer.faults, answer.trouble) == ([], 0)
        given |= answer.arrays
    return max(errors(given, q, k, v, mask)), answer.made


def errors(given: dict, q: Any, k: Any, v: Any, mask: Mask | None) -> list[float]:
    """How far the output and the logsumexp are off, computed in float64."""
    wide = [np.repeat(x, len(q) // len(x), 0).astype(float) for x in (q, k, v)]
    right = dense.attention(*wide, mask=mask, return_lse=True)
    return [off(given[name], one) for name, one in zip(("O", "LSE"), right)]


@pytest.mark.parametrize("build", BUILDS, ids=lambda b: f"{b.rung}-{b.d}")
def test_rungs_are_right_in_every_shape(page: Page, build: Build) -> None:
    assert build.shared <= LEAST
    for name, shape in SHAPES.items():
        far, made = attention(page, build, shape)
        assert made["shared"] <= LEAST
        assert far < CLOSE, name


def test_rungs_by_subgroups_with_ieees_infinity_and_in_float16(page: Page) -> None:
    shape = SHAPES["rows that see nothing"]
    assert page.subgroup == 4  # SwiftShader's; here two threads share a row
    far, made = attention(page, Build("tiled", 128, 8, 8), shape, subgroup=4)
    assert made["in_step"]
    assert far < CLOSE
    tiled = Build.small("tiled", 16)
    far, made = attention(page, tiled, shape, ieee=True)
    assert "P.infinity" in made["wgsl"]
    assert far < CLOSE
    far, made = attention(page, tiled, shape, np.float16)
    assert [bound["halves"] for bound in made["bindings"][:4]] == [True] * 3 + [False]
    assert far < 1e-3  # the output is rounded to float16


# ---- barriers that not all threads come to


def misplaced() -> Iterator[tuple[str, Launch, dict]]:
    """Kernels that the simulator refuses for a barrier, with its fault."""
    for name, (source, case, fields) in FAULTY.items():
        if fields["kind"] in ("barrier", "barriers"):
            yield name, of_case(source, case), fields
    for drill in KERNELS:
        data = payload(drill)
        for mutant, source in zip(drill.get("mutants"), code.mutants(drill)):
            if "barrier" not in mutant["name"]:
                continue
            for case in data["cases"]:
                make, _ = kernel_grader.defined(source, drill.get("function"))
                fault = kernel_grader.play(make, case, "", lambda: None)["fault"]
                fields = (fault or {}).get("fields", {})
                if fields.get("kind") in ("barrier", "barriers"):
                    launch = of_case(source, case, drill.get("function"))
                    yield f"{drill.id}: {mutant['name']}", launch, fields
                    break


def test_each_misplaced_barrier_is_refused_at_its_line(page: Page) -> None:
    found = list(misplaced())
    assert len(found) >= 9
    answers = webgpu.run(page, [launch for _, launch, _ in found])
    for (name, launch, fields), answer in zip(found, answers):
        (fault,) = answer.faults
        assert fault["kind"] == "barrier", name
        lines = [fields.get("line"), fields.get("earlier")]
        assert fault["line"] in lines or lines == [None, None], name
        source = launch.kernel.program.function.source.text.splitlines()
        cause = source[fault["cause"] - 1]
        assert re.search(r"\b(if|for|while)\b", cause), (name, cause)


def test_a_loop_that_does_not_end_is_given_up(page: Page) -> None:
    body = "n = i\n    while n >= 0:\n        n = abs(n)\n    y[i] = n"
    given = [np.zeros(8, np.float32), np.zeros(8, np.float32)]
    (answer,) = webgpu.run(page, [Launch(load(text(body), "kernel"), 1, 8, given)])
    assert answer.trouble == 2
