"""The block simulator: silent about right kernels, exact about faulty ones."""

import ast
import gzip
import json
import os
import random
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from blocksim import Fault, Kernel, cuda, float32, load, run
from blocksim.portable import HERE as PACKAGE
from blocksim.portable import code_only, sources, translator
from blocksim.scalars import rounded, wrapped
from blocksim.traffic import passes
from kernels.correct import CORRECT, UNTRANSLATED
from kernels.faulty import FAULTY
from kernels.grammar import program
from kernels.rewritings import viewed
from livepage.drills.kinds.kernel import grader as kernel_grader
from marking import in_node

# ---- right kernels, and faulty ones

RIGHT = {**CORRECT, **UNTRANSLATED}


def played(source: str, case: dict, how: str = "") -> dict:
    """What a launch of a kernel comes to, as a drill's grader sees it."""
    make, fault = kernel_grader.defined(source, "kernel")
    assert fault is None
    return kernel_grader.play(make, case, how, lambda: None)


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_kernel_gives_the_right_numbers_and_no_report(name: str) -> None:
    source, case = RIGHT[name]
    assert kernel_grader.judge(played(source, case), case, 1e-12) is None


@pytest.mark.parametrize("name", FAULTY)
def test_a_fault_is_found_with_threads_element_and_line(name: str) -> None:
    source, case, fields = FAULTY[name]
    fault = kernel_grader.judge(played(source, case), case, 1e-12)
    assert fault and fault["fault"] == "kernel"
    assert {key: fault["fields"].get(key) for key in fields} == fields
    json.dumps(fault, allow_nan=False)


def in_micropython(kernels: list[tuple[str, dict]]) -> list[dict]:
    drill = {"kind": "kernel", "function": "kernel", "tolerance": 1e-12, "slips": []}
    return in_node(
        [{**drill, "cases": [case], "answer": source} for source, case in kernels]
    )


def test_in_micropython_it_is_silent_about_the_same_kernels() -> None:
    reports = in_micropython([*RIGHT.values()])
    for name, report in zip(RIGHT, reports, strict=True):
        assert report["passed"], (name, report)


def test_in_micropython_blocks_give_way_to_each_other() -> None:
    source = """from numba import cuda

@cuda.jit
def kernel(x, y):
    b = cuda.blockIdx.x
    if b == 0:
        while cuda.atomic.add(x, 0, 0) == 0:
            pass
        cuda.threadfence()
        y[1] = y[0] + 1
    else:
        y[0] = 41
        cuda.threadfence()
        cuda.atomic.exch(x, 0, 1)
"""
    stuck = source.replace("exch(x, 0, 1)", "exch(x, 0, 0)")
    case = CORRECT["a neighbour through shared memory"][1] | {
        "grid": [2, 1], "block": [1, 1], "names": {}, "expected": {"y": [41, 42]},
        "args": [["x", "ints", [0]], ["y", "ints", [0, 0]]],
    }  # fmt: skip
    reports = in_micropython([(source, case), (stuck, case)])
    assert reports[0]["passed"], reports[0]
    assert reports[1]["fields"]["kind"] == "endless", reports[1]


def test_in_micropython_faults_are_told_word_for_word_as_here() -> None:
    reports = in_micropython([kernel[:2] for kernel in FAULTY.values()])
    for (name, kernel), report in zip(FAULTY.items(), reports, strict=True):
        source, case, _ = kernel
        make, _ = kernel_grader.defined(source, "kernel")
        asked = (
            kernel_grader.player(make, [case]),
            [case],
            list,
            1e-12,
            lambda report: None,
        )
        expected = kernel_grader.grade(*asked)
        if expected["fields"]["kind"] == "error":  # the message is Python's own
            assert report["fields"]["line"] == expected["fields"]["line"]
            continue
        assert report["fields"] == expected["fields"], name
        assert report["log"] == expected["log"], name


def test_what_was_read_too_early_is_forgotten_at_the_barrier() -> None:
    body = """t = cuda.threadIdx.x
s = cuda.shared.array(1, float32)
if t == 0: y[0] = s[0]
cuda.syncthreads()
if t == 0: y[0] = s[0]
if t == 1: s[0] = x[0]"""
    report = counted(body, [1.0], [0.0], block=2)
    told = [(fault.kind, fault.fields.get("how")) for fault in report.faults]
    assert told == [("uninitialised", None), ("race", "too early")]
    body = body.replace("s[0]\ncuda", "s[0]; s[0] = x[0]\ncuda")
    report = counted(body, [1.0], [0.0], block=2)
    told = [(fault.kind, fault.fields.get("how")) for fault in report.faults]
    assert told == [("uninitialised", None), ("race", "overwrite")]


def test_every_kind_of_fault_has_its_kernel() -> None:
    kinds = {fields["kind"] for _, _, fields in FAULTY.values()}
    assert kinds == {
        "race",
        "uninitialised",
        "index",
        "barrier",
        "barriers",
        "shared",
        "block",
        "error",
        "compile",
    }  # float64 has a test of its own: it is found in full mode only


# ---- against Numba's own simulator, and against a second look at the log

SEEDS = range(200)


def generated(seed: int) -> str:
    """The program of a seed; every other one has views."""
    return viewed(program(seed), seed) if seed % 2 else program(seed)


def by_numba() -> list:
    """Return what Numba's simulator makes of every program, in one other process."""
    sources = json.dumps([generated(seed) for seed in SEEDS])
    answer = subprocess.run(
        [sys.executable, Path(__file__).parents[1] / "kernels" / "numba_simulator.py"],
        input=sources,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1"},
    )
    return json.loads(answer.stdout)


def launch(source: str, seed: int, **options: object):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=16).astype(np.float32), np.zeros(16, np.float32)
    return run(load(source, "kernel"), 2, 8, x, y, **options), y


def test_numbers_are_those_of_numbas_simulator_to_the_last_bit() -> None:
    for seed, expected in zip(SEEDS, by_numba(), strict=True):
        report, y = launch(generated(seed), seed, mode="full")
        assert not report.faults, seed
        assert np.array_equal(y, np.float32(expected), equal_nan=True), seed


def test_a_race_is_reported_if_and_only_if_the_log_has_one() -> None:
    racy = 0
    for seed in SEEDS:
        source = without_a_barrier(generated(seed), seed)
        report, _ = launch(source, seed, log=True)
        race = "race" in {fault.kind for fault in report.faults}
        assert race == any(map(collides, phases(report.log))), seed
        racy += race
    assert len(SEEDS) / 5 < racy < len(SEEDS), "some have a race, and some have not"


def without_a_barrier(source: str, seed: int) -> str:
    """Return a program with one barrier less, if it has any."""
    lines = source.split("\n")
    barriers = [i for i, line in enumerate(lines) if line.endswith("syncthreads()")]
    if barriers:
        chosen = random.Random(seed).choice(barriers)
        lines[chosen] = lines[chosen].replace("cuda.syncthreads()", "pass")
    return "\n".join(lines)


def phases(log: dict) -> list:
    return [phase["touches"] for block in log["blocks"] for phase in block["phases"]]


def collides(touches: list) -> bool:
    """Say whether any two touches clash, looking at every pair."""
    return any(
        a[0] != b[0] and a[2:4] == b[2:4] and "w" in (a[1], b[1])
        for a, b in combinations(touches, 2)
    )


# ---- functions as kernels


@cuda.jit(device=True)
def waits_and_doubles(tile, t):
    cuda.syncthreads()
    return float32(2) * tile[t]


def make_kernel(size):
    @cuda.jit
    def kernel(x, y):
        t = cuda.threadIdx.x
        tile = cuda.shared.array(size, float32)
        tile[t] = x[t]
        y[t] = waits_and_doubles(tile, size - 1 - t)

    return kernel


def test_a_function_is_a_kernel_with_its_closure_and_helpers() -> None:
    x, y = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    make_kernel(4)[1, 4](x, y)
    assert y.tolist() == [6, 4, 2, 0]


def shadowed(y):
    k = cuda.threadIdx.x

    def inner(a):
        return a + k

    def outer(k):
        return inner(2 * k)

    y[k] = outer(3)


def test_a_function_inside_sees_the_names_where_it_is_written() -> None:
    """And not those of its caller, even where these are constants."""
    y = np.zeros(4, np.float32)
    assert run(shadowed, 1, 4, y)
    assert y.tolist() == [6, 7, 8, 9]


def test_a_launch_raises_the_first_fault_and_says_where_in_this_file() -> None:
    x, y = np.zeros(4, np.float32), np.zeros(4, np.float32)
    with pytest.raises(Fault, match=r"thread 2 asks for tile\[2\]; its shape is \[2\]"):
        make_kernel(2)[1, 4](x, y)
    report = run(make_kernel(2), 1, 4, x, y)
    lines = Path(__file__).read_text().split("\n")
    assert lines[report.faults[0].line - 1].strip() == "tile[t] = x[t]"


SIZES = """from numba import cuda, float32

ROWS, KEYS = 8, 4  # of a tile
if KEYS: HALF: int = ROWS // 2; KEYS *= 3; ALL = (ROWS,
                                                  KEYS)

@cuda.jit
def sizes(x):
    x[0], x[1], x[2] = HALF, ALL[0], ALL[1]
    x[5] = 0
"""


@pytest.mark.parametrize(
    "given, found",
    [({}, [4, 8, 12]), ({"ROWS": 64}, [32, 64, 12]), ({"KEYS": 5}, [4, 8, 5])],
)
def test_what_a_text_makes_of_a_name_is_made_of_what_is_given(given, found) -> None:
    """And no line moves."""
    x = np.zeros(3, np.float32)
    report = run(load(SIZES, "sizes", given), 1, 1, x)
    assert x.tolist() == found and report.faults[0].line == 10


def test_a_slice_of_an_array_is_written_through() -> None:
    board = np.zeros((4, 3), np.float32)
    make_kernel(4)[1, 4](np.arange(4.0, dtype=np.float32), board[:, 1])
    assert board[:, 1].tolist() == [6, 4, 2, 0] and not board[:, ::2].any()


def test_outside_a_grid_a_kernel_says_how_it_is_launched() -> None:
    with pytest.raises(ValueError, match=r"kernel\[grid, block\]"):
        make_kernel(4)(1, 2)
    with pytest.raises(ValueError, match="arguments: expected x, y; got 1"):
        make_kernel(4)[1, 4](np.zeros(4))
    with pytest.raises(ValueError, match="mode: expected one of"):
        run(make_kernel(4), 1, 4, [0.0] * 4, [0.0] * 4, mode="fast")


# ---- counts

HEAD = """import math
from numba import cuda, float32, int32
from numba.types import float16
@cuda.jit
"""


def counted(body: str, *args: object, block: object = 32, **options: object):
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    kernel = load(f"{HEAD}def kernel(x, y):\n{lines}", "kernel")
    return run(kernel, 1, block, *args, **options)


def test_loads_and_stores_are_counted_per_thread() -> None:
    report = counted(
        "t = cuda.threadIdx.x\nfor i in range(t):\n    y[t] += x[i]",
        [1.0] * 8,
        [0.0] * 8,
        block=8,
    )
    assert report.loads == {"x": list(range(8)), "y": list(range(8))}
    assert report.stores == {"x": [0] * 8, "y": list(range(8))}
    assert report.bytes == {"x": 4 * 28, "y": 4 * 56}


@pytest.mark.parametrize(
    ("index", "sectors"),
    [
        ("t", 4),  # 32 neighbours of 4 bytes are 128 bytes
        ("t + 1", 5),  # one further, and a fifth sector is touched
        ("2 * t", 8),
        ("8 * t", 32),  # every thread its own sector
        ("0", 1),
        ("31 - t", 4),
    ],
)
def test_a_warp_moves_whole_sectors(index: str, sectors: int) -> None:
    x, y = np.ones(256, np.float32), np.zeros(32, np.float32)
    body = f"t = cuda.threadIdx.x\ny[t] = x[{index}]"
    report = counted(body, x, y, mode="full")
    assert report.transactions == {"x": sectors, "y": 4}


@pytest.mark.parametrize(
    ("x", "sectors"),
    [
        (np.ones((32, 32), np.float32), 32),
        (np.ones((32, 32), np.float32).T, 4),  # then a column lies in one piece
        (np.ones((4, 64), np.float32).T[::2], 8),
        (np.ones((32, 4), np.float32)[::-1], 16),
    ],
)
def test_sectors_are_those_of_the_memory_that_an_array_shows(x, sectors: int) -> None:
    body = "t = cuda.threadIdx.x\ny[t] = x[t, 0]"
    report = counted(body, x, np.zeros(32, np.float32), mode="full")
    assert report.transactions == {"x": sectors, "y": 4}


def test_a_shared_array_with_the_name_of_an_argument_is_counted_apart() -> None:
    body = (
        "t = cuda.threadIdx.x\nv = x[t]\nx = cuda.shared.array(32, float32)\n"
        "x[t] = v\ny[t] = x[t]"
    )
    x, y = np.ones(32, np.float32), np.zeros(32, np.float32)
    assert counted(body, x, y).bytes == {"x": 128, "y": 128, "x (shared)": 256}


@pytest.mark.parametrize(
    ("index", "extra"),
    [
        ("t", 0),
        ("0", 0),
        ("2 * t", 1),
        ("3 * t", 0),
        ("32 * t", 31),
        ("33 * t", 0),
    ],
)
def test_words_of_one_bank_take_a_pass_each(index: str, extra: int) -> None:
    body = (
        f"t = cuda.threadIdx.x\ntile = cuda.shared.array(1056, float32)\n"
        f"tile[t] = x[t]\ncuda.syncthreads()\ntile[{index}] = x[t]"
    )
    if index == "0":
        body = body.replace("tile[0] = x[t]", "y[t] = tile[0]")
    x, y = np.ones(32, np.float32), np.zeros(32, np.float32)
    assert counted(body, x, y, mode="full").conflicts == {"tile": extra}


@pytest.mark.parametrize(
    "loop",
    [
        "for j in range(32):\n    if j >= t:\n        v += x[j]",
        "j = 0\nwhile j < 32:\n    if j >= t: v += x[j]\n    j += 1",
        "for j in range(t, 32):\n    v += x[j]",
        "for i in range(2):\n    j = t\n    while j < 16 * (i + 1):\n"
        "        v += x[16 * (1 - i)]\n        j += 1",
    ],
)
def test_lanes_that_sit_out_a_turn_do_not_shift_the_others(loop: str) -> None:
    """In the first two every turn is one address; in the third they differ."""
    x, y = np.ones(32, np.float32), np.zeros(32, np.float32)
    body = f"t = cuda.threadIdx.x\nv = float32(0)\n{loop}\ny[t] = v"
    sectors = 32
    if "range(t" in loop:  # turn k: lanes 0 … 31 - k read their neighbours
        sectors = sum(4 - k // 8 for k in range(32))
    if "(i + 1)" in loop:  # one address a turn, and 16 + 32 turns
        sectors = 48
    assert counted(body, x, y, mode="full").transactions["x"] == sectors


def test_two_halves_of_a_word_are_one_turn() -> None:
    assert passes({0, 2}) == 1 and passes({0, 128}) == 2


def test_a_count_that_was_not_kept_is_an_error() -> None:
    report = counted("pass", [1.0], [1.0])
    for name, message in [("transactions", "mode"), ("log", "log")]:
        with pytest.raises(ValueError, match=f"{name if name == 'log' else message}:"):
            getattr(report, name)


# ---- typed numbers, in full mode


def full(expression: str, value: float = 0.1):
    """Return what a kernel stores in float32, and the report."""
    x, y = np.full(1, value, np.float32), np.zeros(1, np.float32)
    return y, counted(f"y[0] = {expression}", x, y, block=1, mode="full")


@pytest.mark.parametrize("name", ["float16", "float32"])
def test_rounding_is_numpys(name: str) -> None:
    rng = np.random.default_rng(1)
    values = [
        *rng.normal(size=2000) * 10.0 ** rng.integers(-9, 9, 2000),
        65519.99,
        65520,
        1e39,
        -1e39,
        3.4028235677973366e38,
        1e-45,
        7e-46,
        np.inf,
        -0.0,
    ]
    with np.errstate(over="ignore"):
        expected = np.array(values).astype(name).astype(float)
    assert [rounded(float(v), name) for v in values] == expected.tolist()


@pytest.mark.parametrize("name", ["int8", "uint8", "int32", "uint32", "int64"])
def test_integers_wrap_as_numpys(name: str) -> None:
    values = [0, 1, -1, 127, 128, 255, 256, 2**31 - 1, 2**31, 2**32 + 5, -(2**31) - 1]
    expected = np.array(values, np.int64).astype(name).tolist()
    assert [wrapped(v, name) for v in values] == expected


OPERATIONS = {
    "x[0] + x[0] * x[0] - x[0] / x[0]": lambda x: x + x * x - x / x,
    "-abs(x[0]) ** 3": lambda x: -(abs(x) ** np.float32(3)),
    "max(x[0], float32(1)) + min(x[0], float32(1))": lambda x: x + np.float32(1),
    "float32(1) / float32(3)": lambda x: np.float32(1) / np.float32(3),
    "float16(x[0])": lambda x: np.float16(x),
    "float16(x[0]) * float16(x[0])": lambda x: np.float16(x) * np.float16(x),
    "float16(x[0]) * x[0]": lambda x: np.float32(np.float16(x)) * x,
    "math.exp(x[0])": lambda x: np.float32(np.exp(np.float64(x))),
    "math.log(float32(0))": lambda x: -np.inf,
    "math.exp(float32(1000))": lambda x: np.inf,
    "math.sqrt(float32(-1))": lambda x: np.nan,
    "float32(1) / float32(0)": lambda x: np.inf,
    "float32(-1) / float32(0)": lambda x: -np.inf,
    "float32(0) / float32(0)": lambda x: np.nan,
    "float32(int32(x[0] * float32(100)))": lambda x: 10,
    "float32(1) if x[0] > 0 else float32(2)": lambda x: 1,
}


@pytest.mark.parametrize("expression", OPERATIONS)
def test_every_operation_is_rounded_to_its_type(expression: str) -> None:
    y, report = full(expression)
    assert not report.faults
    expected = np.float32(OPERATIONS[expression](np.float32(0.1)))
    assert np.array_equal(y[0], expected, equal_nan=True)


WIDE = [
    "x[0] * 0.5",
    "2 * x[0]",
    "x[0] / 3",
    "x[0] - 1.0",
    "max(x[0], -math.inf)",
    "x[0] + math.exp(1.0)",
    "float16(x[0]) + 1",
]


@pytest.mark.parametrize("expression", WIDE)
def test_float64_creeping_in_is_reported_with_its_line(expression: str) -> None:
    _, report = full(expression)
    (fault,) = report.faults
    assert (fault.kind, fault.line) == ("float64", len(HEAD.splitlines()) + 2)
    assert "is computed in float64" in str(fault)


def test_in_race_mode_nothing_is_said_about_float64() -> None:
    assert not counted("y[0] = x[0] * 0.5", [1.0], [0.0], block=1).faults


# ---- the log


def test_the_log_has_the_form_of_the_docstring() -> None:
    source, case = CORRECT["a neighbour through shared memory"]
    log = json.loads(json.dumps(played(source, case, "log")["log"], allow_nan=False))
    assert set(log) == {
        "kernel", "grid", "block", "arrays", "blocks", "faults", "notes"
    }  # fmt: skip
    (block,) = log["blocks"]
    load_, use = block["phases"]
    assert (block["at"], load_["barrier"], use["barrier"]) == ([0, 0], 13, None)
    tile = [a["name"] for a in log["arrays"]].index("tile")
    assert log["arrays"][tile] == {"name": "tile", "space": "shared", "shape": [5]}
    assert [0, "w", tile, 0, 10] in load_["touches"]
    assert [0, "r", tile, 1, 15] in use["touches"]
    known = {(t[0], t[1], t[2], t[3], t[4]) for t in use["touches"]}
    assert len(known) == len(use["touches"]), "a touch twice in a phase"


def test_the_log_keeps_the_first_block_and_the_first_with_a_fault() -> None:
    source, case, _ = FAULTY["no guard"]
    log = played(source, case, "log")["log"]
    assert [block["at"] for block in log["blocks"]] == [[0, 0], [2, 0]]


def test_a_long_log_is_cut_and_says_so() -> None:
    body = "for i in range(5000):\n    y[0] = x[i]"
    report = counted(body, [1.0] * 5000, [0.0], block=1, log=True)
    (block,) = report.log["blocks"]
    assert block["cut"] and len(block["phases"][0]["touches"]) == 4000


# ---- texts


TEXT = '''from numba import cuda, float32


@cuda.jit(device=True)
def helper(s, t):
    """cuda.syncthreads() in a text is no barrier."""
    cuda.syncthreads()  # (a bracket in a comment
    return s[t]


@cuda.jit
def kernel(x, y):
    s = cuda.shared.array(shape=(4,), dtype=float32)
    t = cuda.threadIdx.x; s[t] = x[t]
    if t < 4 and (
        t >= 0
    ): z = helper(s,
                  t)
    while z != z: break
    y[t] = z + \\
        float32(0.0)
'''


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text,
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("    ", "\t"),
        lambda text: "#" * 9 + "\n" * 5000 + text,
        lambda text: text.replace("array(", "array ("),
        lambda text: text.replace("    s[t]", "# in column 0\n    s[t]"),
    ],
    ids=["as it is", "Windows", "tabs", "far down", "spaces", "a comment"],
)
def test_a_text_is_read_however_it_is_written(change) -> None:
    y = [0.0] * 4
    assert not run(load(change(TEXT), "kernel"), 1, 4, [1.0, 2.0, 3.0, 4.0], y).faults
    assert y == [1.0, 2.0, 3.0, 4.0]


NO_TEXTS = {
    "source: expected a text, got None": (None, "kernel"),
    "source: expected a text, got 5": (5, "kernel"),
    "source: expected a text, got b'x'": (b"x", "kernel"),
    "name: expected a text, got a list": (TEXT, ["kernel"]),
    "name: expected a function 'KERNEL' in the text": (TEXT, "KERNEL"),
    "names: expected a dict, got 5": (TEXT, "kernel", 5),
    "names: expected a dict, got a text": (TEXT, "kernel", "a"),
    "names: expected a dict, got a list": (TEXT, "kernel", [1]),
}


@pytest.mark.parametrize("said", NO_TEXTS)
def test_what_load_cannot_take_is_named(said: str) -> None:
    with pytest.raises(ValueError, match=f"^{said}$"):
        load(*NO_TEXTS[said])


def test_a_syntax_error_is_pythons_with_its_line() -> None:
    with pytest.raises(SyntaxError) as caught:
        load("def kernel(x):\n    x[0] = = 1\n", "kernel")
    assert caught.value.lineno == 2


# ---- what stands around a kernel that is a function


def commented(size):
    @cuda.jit
    def kernel(x, y):
        t = cuda.threadIdx.x
        # this comment stands further left than the kernel
        tile = cuda.shared.array(size, float32)
        tile[t] = x[t]
        cuda.syncthreads()
        if t == 0:
            y[t] = tile[size - 1]
        else:
            y[t] = helpers.waits_and_doubles(tile, t - 1)

    return kernel


helpers = sys.modules[__name__]  # a module with device functions, as a reader has one


def test_a_helper_may_be_a_modules_and_a_comment_stand_where_it_likes() -> None:
    x, y = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    faults = run(commented(4), 1, 4, x, y).faults
    assert [fault.kind for fault in faults] == ["barrier"], (
        "thread 0 does not come to it"
    )


def test_a_modules_plain_function_is_refused_by_name() -> None:
    @cuda.jit
    def kernel(x):
        x[0] = helpers.phases(x[0])

    (fault,) = run(kernel, 1, 1, np.zeros(1, np.float32)).faults
    assert fault.kind == "compile" and "phases" in fault.reason


TABLE = np.arange(4, dtype=np.float32)
HALF = np.float32(0.5)


def test_numbers_around_a_kernel_have_their_types() -> None:
    @cuda.jit
    def kernel(x, y):
        y[0] = x[0] * HALF + TABLE[3] * np.float32(2)

    x, y = np.ones(1, np.float32), np.zeros(1, np.float32)
    assert run(kernel, 1, 1, x, y, mode="full") and y[0] == 6.5


def test_a_constant_array_is_watched_at_its_ends() -> None:
    @cuda.jit
    def kernel(x):
        x[0] = TABLE[-1]

    (fault,) = run(kernel, 1, 1, np.zeros(1, np.float32)).faults
    assert (fault.kind, fault.array, fault.index) == ("index", "TABLE", [-1])


def test_a_grid_of_three_dimensions_is_counted() -> None:
    @cuda.jit
    def kernel(x):
        i, j, k = cuda.grid(3)
        x[i, j, k] = 100 * i + 10 * j + k

    x = np.zeros((2, 4, 3), np.float32)
    assert run(kernel, (1, 2, 3), (2, 2, 1), x)
    assert np.array_equal(
        x, np.fromfunction(lambda i, j, k: 100 * i + 10 * j + k, x.shape)
    )


@pytest.mark.parametrize("method", ["staticmethod", "property"])
def test_a_method_is_no_kernel(method: str) -> None:
    text = (
        f"from numba import cuda\n@cuda.jit\n@{method}\ndef kernel(x):\n    x[0] = 1\n"
    )
    (fault,) = run(load(text, "kernel"), 1, 1, np.zeros(1, np.float32)).faults
    assert fault.kind == "compile"


async def promised(x):
    x[0] = 1.0


def by_exec() -> object:
    space = {}
    exec("def typed(x):\n    x[0] = 1.0\n", space)
    return space["typed"]


LAMBDAS = [
    lambda x: None,
    (lambda x: x), lambda x: x,
]  # fmt: skip
UNREADABLE = [
    *[(function, "a lambda") for function in LAMBDAS],
    (promised, "a function made by async def"),
    (by_exec(), "a function whose text Python does not find"),
]


@pytest.mark.parametrize(("function", "what"), UNREADABLE)
def test_a_function_without_a_def_is_named(function: object, what: str) -> None:
    with pytest.raises(ValueError, match=f"^kernel: expected .* by def.*; got {what}$"):
        run(function, 1, 1, [0.0])
    helper = cuda.jit(device=True)(function)

    def kernel(x):
        x[0] = helper(x)

    (fault,) = run(kernel, 1, 1, [0.0]).faults
    assert fault.kind == "compile" and fault.reason == f"helper is {what}"


def test_a_program_is_no_number() -> None:
    with pytest.raises(ValueError, match="^program: expected a Program, got 5$"):
        Kernel(5)


# ---- what a page carries of it

COMMENTED = '''"""A module."""  # and why

TEXT = "# is no comment"


def one(x) -> str:  # a comment
    """Return
    two # of them."""
    # alone
    return x + """
# nor is this"""


class Empty:
    """Nothing but this."""
'''


def test_comments_and_docstrings_stay_behind_and_lines_keep_their_numbers() -> None:
    left = code_only(COMMENTED).splitlines()
    wanted = COMMENTED.splitlines()
    wanted[0], wanted[5] = '""', "def one(x):"
    wanted[6:9] = [' ""', "", ""]
    wanted[9] = ' return x + """'
    wanted[-1] = ' ""'
    assert left == wanted


def test_the_copy_for_a_page_stays_small() -> None:
    packed = json.dumps(sources() | translator()).encode()
    assert len(gzip.compress(packed, 9)) <= 95_000


def test_every_module_means_the_same_without_its_comments() -> None:
    for path, code in (sources() | translator()).items():
        text = (PACKAGE.parent / f"{path}.py").read_text("utf-8")
        assert outline(code) == outline(text), path


def outline(text: str) -> list[tuple]:
    """Every node of a tree with its line; docstrings and types of results left out."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.returns = None
    return [
        (ast.unparse(node), node.lineno)
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt | ast.expr)
        and not isinstance(node, ast.FunctionDef | ast.ClassDef)
        and not isinstance(getattr(node, "value", None), str)
        and not isinstance(node, ast.Expr)
    ]
