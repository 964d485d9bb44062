"""Functions and types as values: handed over, closed over, under another name."""

import enum
import math
import operator

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from blocksim import cuda, float32, int32, load, run
from blocksim.things import SIGNS, UNARY

MODES = ("race", "full", "plain")
HEAD = "import math\nfrom numba import cuda, float32, float64, int32\n"


@cuda.jit(device=True)
def reversed_through(x, y, make, dtype, n):
    """Reverse a block's numbers through a tile of a given type and size."""
    t = cuda.threadIdx.x
    tile = cuda.shared.array(n, dtype)
    tile[t] = make(x[t])
    cuda.syncthreads()
    y[t] = tile[n - 1 - t]


@cuda.jit(device=True)
def doubled(v):
    return v * float32(2)


def made_by(make, dtype, n):
    """A kernel for one function, one type and one size."""

    @cuda.jit
    def kernel(x, y):
        reversed_through(x, y, make, dtype, n)

    return kernel


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("make", "dtype", "wanted"),
    [
        (math.sqrt, float32, [3, 2, 1, 0]),
        (doubled, float32, [18, 8, 2, 0]),
        (int, int32, [9, 4, 1, 0]),
        (int32, np.float64, [9, 4, 1, 0]),
    ],
)
def test_a_factory_closes_over_a_function_and_a_type(make, dtype, wanted, mode) -> None:
    x, y = np.array([0, 1, 4, 9], np.float32), np.zeros(4, np.float32)
    report = run(made_by(make, dtype, 4), 1, 4, x, y, mode=mode)
    assert {f.kind for f in report.faults} <= {"float64"}
    assert_array_equal(y, np.array(wanted, np.float32))
    assert report.shared_bytes == 4 * (8 if dtype is np.float64 else 4)


def test_a_function_is_compiled_anew_for_each_thing_it_is_handed() -> None:
    @cuda.jit(device=True)
    def twice(op, v):
        return op(op(v))

    @cuda.jit
    def kernel(x, y):
        y[0] = twice(math.sqrt, x[0])
        y[1] = twice(doubled, x[0])
        y[2] = twice(lambda v: v + 1, x[0])
        y[3] = twice(abs, x[0])

    y = np.zeros(4, np.float32)
    assert run(kernel, 1, 1, np.array([16], np.float32), y)
    assert_array_equal(y, [2, 64, 18, 16])


def test_a_tile_of_each_size_is_another_tile() -> None:
    def kernel(x, y):
        reversed_through(x, y, float32, float32, 4)
        reversed_through(x, y, float32, float32, 8)

    x, y = np.zeros(8, np.float32), np.zeros(8, np.float32)
    report = run(kernel, 1, 4, x, y)
    assert report.shared_bytes == 48
    (first, *_) = report.faults
    assert (first.kind, first.array, first.index) == ("uninitialised", "tile", [4])


@pytest.mark.parametrize("mode", MODES)
def test_an_atomic_that_is_handed_over_is_one(mode) -> None:
    @cuda.jit(device=True)
    def count(x, op):
        op(x, 0, 1)

    def kernel(x):
        count(x, cuda.atomic.add)

    x = np.zeros(1, np.int32)
    assert run(kernel, 2, 8, x, mode=mode)
    assert x[0] == 16


def test_a_race_in_a_function_that_is_handed_over_is_found() -> None:
    @cuda.jit(device=True)
    def plain(x, i, by):
        x[i] = x[i] + by

    @cuda.jit(device=True)
    def count(x, op):
        op(x, 0, cuda.threadIdx.x)

    def kernel(x):
        count(x, plain)

    faults = run(kernel, 1, 8, np.zeros(1, np.int32)).faults
    assert faults[0].kind == "race" and faults[0].array == "x"


@pytest.mark.parametrize("whole", [True, False])
def test_threads_meet_in_a_function_that_is_handed_over(whole: bool) -> None:
    @cuda.jit(device=True)
    def shifted(tile, meet):
        meet()
        return tile[(cuda.threadIdx.x + 1) % 4]

    @cuda.jit(device=True)
    def nothing():
        pass

    @cuda.jit(device=True)
    def block():
        cuda.syncthreads()

    meet = block if whole else nothing

    def kernel(x, y):
        t = cuda.threadIdx.x
        tile = cuda.shared.array(4, float32)
        tile[t] = x[t]
        y[t] = shifted(tile, meet)

    x, y = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    report = run(kernel, 1, 4, x, y)
    if whole:
        assert report and y.tolist() == [1, 2, 3, 0]
    else:
        assert report.faults[0].how == "too early"


def test_a_barrier_is_handed_over() -> None:
    @cuda.jit(device=True)
    def meeting(meet):
        if cuda.threadIdx.x < 2:
            meet()

    def kernel(x):
        meeting(cuda.syncthreads)

    (fault,) = run(kernel, 1, 4, np.zeros(1, np.float32)).faults
    assert fault.kind == "barrier"


@pytest.mark.parametrize("mode", MODES)
def test_arguments_with_a_star_go_through(mode) -> None:
    @cuda.jit(device=True)
    def call(op, *args):
        return op(*args)

    @cuda.jit(device=True)
    def fused(a, b, c):
        return a * b + c

    def kernel(x):
        pair = (x[0], x[1])
        x[2] = call(fused, 1, *pair)
        x[3] = call(math.atan2, x[0], x[1])
        x[4] = max(*pair)

    x = np.array([3, 4, 0, 0, 0], np.float32)
    report = run(kernel, 1, 1, x, mode=mode)
    assert {f.kind for f in report.faults} <= {"float64"}
    assert_array_equal(x, np.array([3, 4, 7, math.atan2(3, 4), 4], np.float32))


def test_what_a_call_gives_back_can_be_called_and_its_stores_are_made() -> None:
    @cuda.jit(device=True)
    def choose(x):
        x[1] = 5
        return doubled

    def kernel(x):
        x[0] = choose(x)(x[0])

    def named(x):
        f = choose(x)
        x[0] = f(x[0])

    for each in (kernel, named):
        x = np.ones(2, np.float32)
        assert run(each, 1, 1, x)
        assert x.tolist() == [2, 5]


REFUSED = {
    "    y = x[1]\n    def g(v):\n        return v + y\n    x[0] = f(x[0], g)": (
        "g is handed over, and y around it is a variable",
        None,
    ),
    "    y = x[1]\n    x[0] = (lambda v: v + y)(x[0])": (
        "the lambda is handed over, and y around it is a variable",
        "functions",
    ),
    "    x[0] = f(x[0], math.sin if x[0] > 0 else math.cos)": (
        "two ways lead here",
        None,
    ),
    "    x[0] = f(x[0], float32 if x[0] > 0 else float64)": (
        "two ways lead here",
        None,
    ),
    "    x[0] = f(x[0], math)": ("math cannot be called", None),
}


@pytest.mark.parametrize("mode", MODES)
def test_a_nested_function_goes_through_tuples(mode) -> None:
    def kernel(x):
        def both(n):
            def more(v):
                return v + 1

            return more, n

        pair = both(2)
        more, n = both(3)
        x[0] = pair[0](x[0]) * pair[1] + more(n)

    x = np.array([4], np.int32)
    assert run(kernel, 1, 1, x, mode=mode)
    assert x[0] == 14


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        (["p = (i, 0)", "for k in range(3):", "    p = p[1] + 1, p[0]", "x[i] = p[0]"], 2),
        (["p = (i, 1)", "for k in range(70):", "    p = i, p[1] * 3", "x[i] = p[1] >> 40"],
         (3**70 % 2**64) >> 40),
        (["p = (i, (0, 1))", "for k in range(5):",
          "    p = p[0], (p[1][1], p[1][0] + p[1][1])", "x[i] = p[1][0]"], 5),
        (["p = (i, 0)", "while p[1] < 3:", "    p = p[0] + 2, p[1] + 1", "x[i] = p[0]"], 7),
        (["for k in range(3):", "    if k == 0:", "        p = (i, 0)", "    else:",
          "        p = i, p[1] + 3", "x[i] = p[1]"], 6),
    ],
)  # fmt: skip
def test_a_part_of_a_tuple_changes_from_turn_to_turn(lines, wanted, mode) -> None:
    body = "".join(f"    {line}\n" for line in lines)
    text = f"{HEAD}@cuda.jit\ndef kernel(x):\n    i = cuda.threadIdx.x\n{body}"
    x = np.zeros(2, np.int64)
    assert run(load(text, "kernel"), 1, 2, x, mode=mode)
    assert x[1] == (wanted if wanted < 2**63 else wanted - 2**24)


def test_a_parameter_that_is_set_again_is_a_variable() -> None:
    @cuda.jit(device=True)
    def call(op, v):
        return op(v)

    @cuda.jit(device=True)
    def outer(v, y):
        y = 3
        return call(lambda u: u + y, v)

    def kernel(x):
        x[0] = outer(x[0], 2)

    (fault,) = run(kernel, 1, 1, np.ones(2, np.float32)).faults
    assert fault.reason.endswith("y around it is a variable")


@pytest.mark.parametrize("body", REFUSED)
def test_a_refusal_says_why(body: str) -> None:
    reason, declined = REFUSED[body]
    text = "@cuda.jit(device=True)\ndef f(x, op):\n    return op(x)\n"
    kernel = load(f"{HEAD}{text}@cuda.jit\ndef kernel(x):\n{body}\n", "kernel")
    (fault,) = run(kernel, 1, 1, np.ones(2, np.float32)).faults
    assert fault.kind == "compile" and fault.reason.startswith(reason)
    assert fault.fields.get("declined") == declined or not declined


# ---- the module operator

PAIRS = [(7, 2), (-7, 3), (5, 0), (0, -1), (2**31 - 1, 2), (-(2**31), 1)]


def results(text: str, dtype: str, pairs: list, mode: str) -> list | str:
    """What a kernel makes of pairs of numbers, or why it is refused."""
    x, y = np.array(pairs, dtype), np.zeros(len(pairs), np.float64)
    lines = f"@cuda.jit\ndef kernel(x, y):\n    t = cuda.grid(1)\n    y[t] = {text}\n"
    kernel = load(f"import operator\n{HEAD}{lines}", "kernel")
    report = run(kernel, 1, len(pairs), x, y, mode=mode)
    kinds = {fault.kind for fault in report.faults}
    return "refused" if "compile" in kinds else [*y.tolist(), *sorted(kinds)]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "float32", "bool"])
@pytest.mark.parametrize("name", SIGNS)
def test_a_function_of_operator_does_what_its_sign_does(name, dtype, mode) -> None:
    pairs = [(abs(a), abs(b)) for a, b in PAIRS] if dtype[0] == "u" else PAIRS
    a, b, sign = "x[t, 0]", "x[t, 1]", SIGNS[name]
    one = name in UNARY
    signed = f"{sign} {a}" if one else f"{a} {sign} {b}"
    wanted = results(signed, dtype, pairs, mode)
    if name == "itruediv" and dtype != "float32":
        wanted = "refused"
    found = results(
        f"operator.{name}({a}{'' if one else ', ' + b})", dtype, pairs, mode
    )
    assert repr(found) == repr(wanted)


@pytest.mark.parametrize("name", SIGNS)
def test_a_sign_is_that_of_pythons_function(name: str) -> None:
    function = getattr(operator, name)
    for a, b in ((7, 2), (2, 7), (3, 3)):
        signed = f"{SIGNS[name]} {a}" if name in UNARY else f"{a} {SIGNS[name]} {b}"
        assert eval(signed) == (function(a) if name in UNARY else function(a, b))


def test_operator_under_other_names() -> None:
    text = (
        "import operator as op\nfrom operator import sub, mul as times\n"
        "plus = op.add\n" + HEAD + "@cuda.jit\ndef kernel(x):\n    less = op.lt\n"
        "    x[0] = plus(x[0], times(2, sub(x[1], 1)))\n"
        "    if less(x[1], x[0]):\n        x[1] = op.neg(x[1])\n"
    )
    x = np.array([3, 4], np.float32)
    assert run(load(text, "kernel"), 1, 1, x)
    assert x.tolist() == [9, -4]


@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_operator_in_a_factory_finds_the_races_of_its_operands(dtype) -> None:
    def make(op):
        @cuda.jit
        def kernel(x):
            t = cuda.threadIdx.x
            x[t] = op(x[t], x[(t + 1) % 4])

        return kernel

    for op in (operator.add, operator.mul, operator.lt):
        fault = run(make(op), 1, 4, np.ones(4, dtype)).faults[0]
        assert fault.kind == "race" and fault.array == "x"


# ---- exceptions


def raising(x, y):
    """A thread whose number is odd ends before the barrier."""
    t = cuda.threadIdx.x
    tile = cuda.shared.array(4, float32)
    tile[t] = x[t]
    assert_even(t)
    cuda.syncthreads()
    y[t] = tile[t] + float32(1)


@cuda.jit(device=True)
def assert_even(t):
    if t % 2 == 1:
        raise ValueError("odd")
    return t


def asserting(x, y):
    t = cuda.threadIdx.x
    assert x[t] < 2, "too large"
    y[t] = x[t] + float32(1)


def arrays() -> tuple:
    return np.arange(4, dtype=np.float32), np.zeros(4, np.float32)


@pytest.mark.parametrize("mode", MODES)
def test_a_thread_that_raises_ends_and_a_note_says_so(mode: str) -> None:
    x, y = arrays()
    report = run(raising, 1, 4, x, y, mode=mode)
    assert report and y.tolist() == [1, 0, 3, 0]
    (note,) = report.notes
    assert (note.kind, note.severity, note.threads) == ("raise", "silent", [1])
    assert "thread 1: ValueError: odd; the thread ends here" in str(note)
    assert report.exits[0]["threads"] == [1, 3]
    x, y = arrays()
    report = run(asserting, 1, 4, x, y, mode=mode)
    assert y.tolist() == [1, 2, 0, 0]
    assert report.notes[0].said == "AssertionError: too large"


def test_under_debug_an_exception_is_a_fault() -> None:
    kernel = cuda.jit(debug=True, opt=False)(raising)
    (fault,) = run(kernel, 1, 4, *arrays()).faults
    assert (fault.kind, fault.error, fault.said) == (
        "error", "ValueError", "ValueError: odd",
    )  # fmt: skip
    text = "@cuda.jit(debug=True)\ndef kernel(x):\n    assert x[0] > 3\n"
    kernel = load(HEAD + text, "kernel")
    (fault,) = run(kernel, 1, 1, np.zeros(1, np.float32)).faults
    assert fault.said == "AssertionError"
    assert not run(kernel, 1, 1, np.full(1, 4, np.float32)).faults


@pytest.mark.parametrize(
    "line", ["raise ValueError(x[0])", "raise Nothing('a')", "raise 3", "raise"]
)
def test_what_a_kernel_cannot_raise_is_refused(line: str) -> None:
    text = f"@cuda.jit\ndef kernel(x):\n    if x[0] > 3:\n        {line}\n"
    (fault,) = run(load(HEAD + text, "kernel"), 1, 1, np.zeros(1, np.float32)).faults
    assert fault.kind == "compile" and fault.line == 6


# ---- enums


class Step(enum.IntEnum):
    SMALL = 1
    LARGE = 10


class Colour(enum.Enum):
    RED = "r"
    BLUE = "b"


@cuda.jit(device=True)
def by(colour, step):
    if colour == Colour.RED:
        return step + 1
    return step - 1


SMALL, BLUE = Step.SMALL, Colour.BLUE


@pytest.mark.parametrize("mode", MODES)
def test_members_of_enums_are_constants(mode: str) -> None:
    def kernel(x):
        t = cuda.threadIdx.x
        step = Step.LARGE
        if x[t] > Step.SMALL:
            step = SMALL
        x[t] = x[t] * step
        for i in range(Step.LARGE):
            x[t] += by(BLUE, Step.SMALL.value) + (Colour["RED"] is BLUE)
        x[t] += by(Colour.RED, Step.SMALL)

    x = np.array([1, 3], np.int32)
    assert run(kernel, 1, 2, x, mode=mode)
    assert x.tolist() == [12, 5]


@pytest.mark.parametrize(
    ("value", "declined"),
    [
        ("Step.SMALL + 1.5", "enums"),
        ("x[Step.SMALL]", "enums"),
        ("float32(Step.SMALL)", "enums"),
        ("Colour.RED", "enums"),
        ("Colour.RED < Colour.BLUE", ""),
        ("Step.NONE", "library"),
    ],
)
def test_what_numba_does_not_take_of_enums_is_refused(value, declined) -> None:
    text = f"{HEAD}@cuda.jit\ndef kernel(x):\n    x[0] = {value}\n"
    kernel = load(text, "kernel", {"Step": Step, "Colour": Colour})
    (fault,) = run(kernel, 1, 1, np.zeros(2, np.int32)).faults
    assert fault.kind == "compile" and fault.fields["declined"] == declined


# ---- print


def printing(x):
    t = cuda.threadIdx.x
    print("thread", t, x[t], x[t] > 1)
    if t == 0:
        print()


def test_a_kernel_prints_thread_by_thread(capsys) -> None:
    report = run(printing, 1, 2, np.array([0.5, 1.5], np.float32))
    wanted = ["thread 0 0.500000 False", "", "thread 1 1.500000 True"]
    assert report and report.printed == wanted
    assert capsys.readouterr().out == ""
    cuda.jit(printing)[1, 2](np.array([0.5, 1.5], np.float32))
    assert capsys.readouterr().out.splitlines() == wanted


def test_what_is_printed_is_read() -> None:
    def kernel():
        tile = cuda.shared.array(4, float32)
        print(tile[cuda.threadIdx.x])

    assert run(kernel, 1, 4).faults[0].kind == "uninitialised"


def test_a_kernel_from_a_text_does_not_print() -> None:
    kernel = load(f"{HEAD}@cuda.jit\ndef kernel(x):\n    print(x[0])\n", "kernel")
    (fault,) = run(kernel, 1, 1, np.zeros(1)).faults
    assert fault.declined == "output"


@pytest.mark.parametrize(
    ("dtype", "said"),
    [([("a", "f4")], "R is an array of records"), ("c8", "R is an array of complex64")],
)
def test_elements_without_a_type_here_are_declined_around_a_kernel(dtype, said) -> None:
    text = "@cuda.jit\ndef kernel(x):\n    x[0] = cuda.const.array_like(R)[0]['a']"
    made = load(text, "kernel", {"cuda": cuda, "R": np.zeros(2, dtype)})
    [fault] = run(made, 1, 1, [0.0]).faults
    assert said in fault.text and fault.declined == "complex"
