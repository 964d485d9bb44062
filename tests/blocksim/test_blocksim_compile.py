"""The simulator compiles what Numba compiles: texts, types, verdicts.

Numba's own answers are stored (tools/simulator/verdicts.py): for kernels whether each compiles,
for expressions their types.
"""

import inspect
import json
import linecache
import re
from pathlib import Path

import pytest

from blocksim import load, run
from blocksim.declined import DECLINED
from blocksim.infer import Compiler
from blocksim.kernel import Kernel
from blocksim.launch import MOST_SHARED
from blocksim.types import is_array, is_tuple
from blocksim.values import Refusal
from kernels import expressions
from kernels.spelled import kinds
from tools.simulator import verdicts

ROOT = Path(__file__).parents[2]
CORPUS = {kernel.name: kernel for kernel in verdicts.corpus()}
NUMBAS = {row["name"]: row for row in verdicts.stored()["rows"]}

# ---- types, against Numba's


def said(kind: object) -> str:
    """A type as Numba says it, without the layout of arrays."""
    if is_array(kind):
        return f"array({kind[1]}, {kind[2]}d)"
    if is_tuple(kind):
        return f"Tuple({', '.join(kind[1:])})"
    if isinstance(kind, tuple):
        return f"range_state_{kind[1]}"
    return "unicode_type" if kind == "text" else kind


def plainly(name: str | None) -> str | None:
    """What Numba says, in the same form."""
    if name is None:
        return None
    if found := re.fullmatch(r"(?:readonly )?array\((\w+), (\d)d, \w\)", name):
        return f"array({found[1]}, {found[2]}d)"
    if found := re.fullmatch(r"UniTuple\((\w+) x (\d)\)", name):
        return f"Tuple({', '.join([found[1]] * int(found[2]))})"
    return "static" if name.startswith(("class(", "dtype(", "Dim3")) else name


ROWS = json.loads(verdicts.TYPES.read_text("utf-8"))["rows"]
DIFFERENT = {  # three of Numba's types are no types of numbers in a kernel
    "10**400": "Python folds it, and Numba takes what is left of it",
}


@pytest.mark.parametrize("expression", [e for e in ROWS if e not in DIFFERENT])
def test_an_expression_has_numbas_type(expression: str) -> None:
    text = (
        f"{expressions.HEAD}\n@cuda.jit\ndef kernel(a, b, c):\n    r = {expression}\n"
    )
    function = load(text, "kernel").program.function
    for args, expected in ROWS[expression].items():
        given = kinds(args)
        given += ("int64",) * (3 - len(given))
        try:
            typed = Compiler().kernel(function, given)
            found = said(typed.node.body[0].value.got.kind)
        except Refusal as refusal:
            if expected is not None:
                assert refusal.declined in DECLINED, (args, refusal.reason)
            continue
        assert found == plainly(expected), args


# ---- verdicts, against Numba's


def compiled(name: str):
    """A kernel of the corpus compiled for its arguments."""
    asked = CORPUS[name]
    if asked.made == "kernel":
        kernel = load(asked.head + asked.text, "kernel")
    else:
        file, text = f"<corpus {name}>", asked.head + asked.text
        linecache.cache[file] = (len(text), None, text.splitlines(True), file)
        space = {}
        exec(compile(text, file, "exec"), space)
        kernel = Kernel(function=eval(asked.made, space))
    given = kinds(asked.args)
    if len(given) != len(kernel.program.parameters):
        raise Refusal(0, "the wrong number of arguments")
    code = kernel.program.code(given, True)
    if sum(size for _, size, _ in code.shared) > MOST_SHARED:
        raise Refusal(0, "too much shared memory")
    return code


MIXED = {"a list has no place": "lists"}  # Numba shares it, but not in every kernel
OWN_WORDS = re.compile(r"\b(static|clash|maybe|unset)\b")  # the simulator's own words


def refused(name: str) -> tuple[str, str] | None:
    """Which sentence says why a kernel is declined, if any, and the reason for it."""
    try:
        compiled(name)
    except Refusal as refusal:
        mixed = [key for said, key in MIXED.items() if said in refusal.reason]
        return (mixed or [refusal.declined])[0], refusal.reason
    except (ImportError, AttributeError) as error:  # names that Python does not find
        return "library", str(error)
    except ValueError as error:
        return "functions", str(error)
    except SyntaxError as error:
        return "", str(error)
    return None


@pytest.mark.parametrize("name", CORPUS)
def test_a_kernel_has_numbas_verdict(name: str) -> None:
    numbas = NUMBAS[name]
    if found := refused(name):
        assert not numbas["compiles"] or found[0] in DECLINED, found[1]
        assert not OWN_WORDS.search(found[1]), found[1]
        return
    assert numbas["compiles"], numbas["says"]
    if numbas["ptx64"] and numbas["float64"] and "float64" not in CORPUS[name].args:
        assert compiled(name).doubles, "the compiler computes in float64"


def test_what_is_declined_is_needed() -> None:
    """Every sentence on what is declined is about some kernel that Numba compiles."""
    compiles = [name for name, numbas in NUMBAS.items() if numbas["compiles"]]
    used = {found[0] for found in map(refused, compiles) if found}
    assert used | {"depth"} == set(DECLINED)  # the depth depends on Python's stack


def test_a_refusal_stands_on_numbas_line() -> None:
    """Where both name a line it is mostly the same; Numba's may be a call's."""
    same = other = 0
    for name, numbas in NUMBAS.items():
        if not numbas["compiles"] and numbas["line"]:
            try:
                compiled(name)
            except Refusal as refusal:
                if refusal.line:
                    line = refusal.line - CORPUS[name].head.count("\n")
                    same, other = same + (line == numbas["line"]), other + 1
            except (ImportError, AttributeError, ValueError, SyntaxError):
                pass
    assert same > 0.9 * other > 100


# ---- what a reader sees

HEAD = (
    "import math\n"
    "from numba import cuda, float32, int8, int16, int32, int64, uint8, uint16, uint32,"
    " uint64"
    "\n\n\n"
)


def report(body: str, *args, block=4, head=HEAD, mode="race"):
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    kernel = load(f"{head}@cuda.jit\ndef kernel(x, y):\n{lines}", "kernel")
    return run(kernel, 1, block, *(args or ([1.0] * 8, [0.0] * 8)), mode=mode)


def test_a_refusal_has_line_reason_and_what_to_write_instead() -> None:
    (fault,) = report(
        "n = x.shape[0]\ns = cuda.shared.array(n, float32)\ny[0] = s[0]"
    ).faults
    assert (fault.kind, fault.line) == ("compile", 8)
    assert (
        "has to be a constant" in fault.reason and "outside the kernel" in fault.instead
    )
    assert str(fault).startswith("this does not compile: ")


def test_what_is_declined_is_not_called_uncompilable() -> None:
    (fault,) = report("for x[0] in range(4):\n    y[0] = x[0]").faults
    assert fault.declined == "statements" and "though Numba may" in str(fault)
    (fault,) = report("y[0] = print(1)").faults
    assert fault.reason == "print has no place in a kernel here"


@pytest.mark.parametrize("name", [name for name in CORPUS if "walrus" in name])
def test_a_walrus_that_numba_refuses_is_not_called_declined(name: str) -> None:
    sentence = "statements" if NUMBAS[name]["compiles"] else ""
    assert refused(name) == (sentence, "Numba finds no type for what := gives")


def test_a_missing_decorator_is_refused() -> None:
    kernel = load(f"{HEAD}def kernel(x):\n    x[0] = 1\n", "kernel")
    (fault,) = run(kernel, 1, 1, [0.0]).faults
    assert (fault.kind, fault.instead) == ("compile", "put @cuda.jit above it")


def test_a_function_cut_out_of_a_file_needs_no_decorator() -> None:
    x = [0.0]
    assert run(
        load("def kernel(x):\n    x[0] = float32(1)\n", "kernel", whole=False), 1, 1, x
    )
    assert x == [1.0]


INNER = """t = cuda.threadIdx.x
s = cuda.shared.array(4, float32)
def other(k):
    return s[(t + k) % 4]
s[t] = x[t]
cuda.syncthreads()
y[t] = other(1)"""


def test_an_inner_function_before_a_barrier_is_compiled() -> None:
    y = [0.0] * 4
    assert report(INNER, [1.0, 2.0, 3.0, 4.0], y) and y == [2.0, 3.0, 4.0, 1.0]
    fault = report(INNER.replace("cuda.syncthreads()", "pass"), [1.0] * 4, y).faults[0]
    assert (fault.kind, fault.array) == ("race", "s")


APART = {
    "in different turns of a loop": """t = cuda.threadIdx.x
for i in range(2):
    if (t + i) % 2 == 0:
        cuda.syncthreads()""",
    "in one helper, from both arms": """t = cuda.threadIdx.x
if t < 2:
    wait()
else:
    wait()""",
    "in one function inside, from both arms": """t = cuda.threadIdx.x
def inside():
    cuda.syncthreads()
if t < 2:
    inside()
else:
    inside()""",
    "in two shuffles of one expression": """t = cuda.threadIdx.x
v = x[t]
y[t] = cuda.shfl_sync(15, v, 0) if t < 2 else cuda.shfl_sync(15, v, 1)""",
    "in turns of a while": """t = cuda.threadIdx.x
i = 0
while i < 2:
    if t % 2 == i:
        cuda.syncthreads()
    i += 1""",
}
WAIT = "@cuda.jit(device=True)\ndef wait():\n    cuda.syncthreads()\n\n\n"


@pytest.mark.parametrize("how", APART)
def test_meetings_are_matched_by_arrival(how: str) -> None:
    kinds = {fault.kind for fault in report(APART[how], head=HEAD + WAIT).faults}
    assert kinds & {"barrier", "barriers"}, how


ENDS = {  # an expression of x, an int64 n and an int32 k, and what a GPU makes of it
    "x / (x - x)": float("inf"), "(x - x) / (x - x)": float("nan"),
    "math.exp(x * float32(1000))": float("inf"), "math.cosh(-x * float32(1000))": float("inf"),
    "math.sinh(x * float32(1000))": float("inf"), "math.sinh(-x * float32(1000))": float("-inf"),
    "math.log(x - x)": float("-inf"), "math.log1p(-x / x)": float("-inf"),
    "math.log(-x)": float("nan"), "math.sqrt(-x)": float("nan"),
    "math.sin(x / (x - x))": float("nan"), "math.floor(x / (x - x))": float("inf"),
    "math.pow(x - x, -x)": float("inf"), "math.fmod(x, x - x)": float("nan"),
    "math.lgamma(x - x)": float("inf"), "math.acos(x + x)": float("nan"),
    "math.atanh(x / x)": float("inf"), "x % (x - x)": float("nan"),
    "(x + x) ** (x * float32(9999))": float("inf"), "(-x) ** (x / (x + x))": float("nan"),
    "n // (n - n)": 0, "n % (n - n)": 0, "n ** -2": 0, "-n % 3": 1, "-n // 3": -1,
    "int32(x / (x - x))": 2**31 - 1, "int32(n * 3000000000)": 3000000000 * 2 - 2**32,
    "n * 9223372036854775807": -2, "9223372036854775807 + n - n + 1": -(2**63),
    "n << 63": 0, "(n - 1) << 63": -(2**63), "-9223372036854775807 - n": 2**63 - 1,
    "abs(-n)": 2, "abs(-9223372036854775806 - n) // 2": -(2**62),
    "abs(int32(-2147483646 - n))": -(2**31), "abs(int8(-126 - n))": -128,
    "min(x, x / (x - x) * (x - x))": 1, "round(x / (x + x))": 0,
    "math.ceil(x / (x + x))": 1, "math.trunc(-x / (x + x))": 0, "~n": -3,
    "n << (n + 62)": 0, "n << -n": 0, "n >> (n + 99)": 0, "-n >> -n": -1, "1 << 64": 0,
    "(-9223372036854775807 - n + 1) // (1 - n)": 0, "x / (x - x) // x": float("nan"),
    "(-9223372036854775807 - n + 1) % (1 - n)": 0, "int8(x * 70000)": -1,
    "int16(x * -70000)": -(2**15), "uint8(x * -3)": 0, "uint16(x * 70000)": 2**16 - 1,
    "int64(x / x - x / (x - x) * (x - x))": -(2**63), "int32(a[1])": 0, "int16(a[1])": 0,
    "int64(a[1])": -(2**63), "int32(a[1] + 0.0)": -(2**31), "round(a[1])": -(2**63),
    "-uint32(n)": 2**32 - 2, "~uint32(n)": 2**32 - 3, "-int8(n - 130)": -128,
    "max(a[1], x)": 1.0, "max(x, a[1])": 1.0, "min(a[1], 0.5)": 0.5, "max(n, a[1])": 2.0,
    "max(a[1], n)": float("nan"), "min(a[1], 3)": float("nan"), "min(3, a[1])": 3.0,
    "max(a[1], x, x)": float("nan"), "min(x, a[1], x / (x + x))": 0.5,
    "-(x > 0)": -1, "uint64(-n) // 2": -1, "uint64(-n) % -3": -2, "uint32(n) % -3": -1,
    "int16(a[1] + 0.0)": -(2**15), "int8(a[1] + 0.0)": 0, "uint32(a[1] + 0.0)": 2**31,
}  # fmt: skip


@pytest.mark.parametrize("expression", ENDS)
def test_mathematics_ends_as_on_the_device(expression: str) -> None:
    import numpy as np

    text = f"{HEAD}@cuda.jit\ndef kernel(a, n, out):\n    x = a[0]\n    out[0] = {expression}\n"
    out = np.zeros(1, np.float64 if isinstance(ENDS[expression], float) else np.int64)
    given = [1.0, float("nan")]
    found = run(load(text, "kernel"), 1, 1, given, 2, out)
    assert found, found.faults
    assert np.array_equal(out[0], ENDS[expression], equal_nan=True), out[0]


FLOAT64 = {
    "y[0] = float32(1 / math.sqrt(x.shape[0]))": 7, "if x[0] > 0.1: y[0] = float32(1)": 7,
    "m = -math.inf\nfor i in range(2):\n    m = max(m, x[i])\ny[0] = m": 9,
    "y[0] = x[0] * x.shape[0]": 7, "y[0] = x[0] ** x.shape[0]": 7,
}  # fmt: skip


@pytest.mark.parametrize("body", FLOAT64)
def test_float64_is_found_by_type(body: str) -> None:
    faults = report(body, mode="full").faults
    assert FLOAT64[body] in [fault.line for fault in faults if fault.kind == "float64"]


@pytest.mark.parametrize(
    "body",
    [
        "y[0] = x[0] * float32(0.5)",
        "if x[0] > 0: y[0] = float32(1)",
        "y[0] = x[0] ** 2",
        "m = float32(-math.inf)\ny[0] = max(m, x[0])",
        "if x[0] > 0.5: y[0] = x[1]",
    ],
)
def test_what_stays_float32_is_not_called_float64(body: str) -> None:
    assert not report(body, mode="full", block=1).faults


def test_an_int8_times_a_float32_is_a_float32() -> None:
    import numpy as np

    y = np.zeros(1, np.float32)
    assert report("y[0] = y[0] * x[0]", np.ones(1, np.int8), y, mode="full", block=1)


def test_the_package_says_what_it_declines() -> None:
    import blocksim as blocksim

    assert "declined" in inspect.getdoc(blocksim)


# ---- numbers, where the text of a kernel could mislead its reader

NUMBERS = {  # the body of a kernel, and what a thread t of four stores
    "found = False\nn = 0\nfor i in range(4):\n    if found and x[i] > 100:\n        n += 1"
    "\n    found = True\ny[t] = n": [0, 0, 0, 0],
    "first = 1\nn = 0\nfor i in range(4):\n    if first or x[i] > 100:\n        n += 1"
    "\n    first = 0\ny[t] = n": [1, 1, 1, 1],
    "K = 50.0\ny[t] = more(t) + K + call(t)": [54, 56, 58, 60],
    "def f(a, k=3, z=2.5):\n    return a * k + z\ny[t] = f(t) + f(t, 4, 1.0)":
    [3.5, 10.5, 17.5, 24.5],
    "y[t + THREE - 3] = TABLES[1][t] * SCALES[t % 2]": [0.5, 2, 0.5, 2],
    "c = SCALES\nif t % 2:\n    c = OTHERS\ny[t] = c[0] * c[1]": [1, 63, 1, 63],
    "n = 5 + t\ny[t] = cuda.popc(n) + cuda.ffs(n) + cuda.clz(n)": [64, 65, 65, 65],
    "y[t] = cuda.popc(-1) + cuda.ffs(0) + cuda.brev(uint32(t)) // 2**30": [64, 66, 65, 67],
    "y[t] = cuda.fma(t, 2, 1) + cuda.cbrt(x[0] * 8) + cuda.selp(t > 1, 5, 7)":
    [10, 12, 12, 14],
    "y[t] = cuda.lanemask_lt()": [0, 1, 3, 7],
    "if t == 0:\n    q, r = divmod(int(cuda.atomic.add(y, 0, 9)) + 9, 4)\n    y[1] = q"
    "\n    y[2] = r":
    [9, 2, 1, 0],
    "for i in range(3):\n    if i == 0:\n        kept = t\n    else:\n        kept += kept"
    "\ny[t] = kept": [0, 4, 8, 12],
    "if t == 0:\n    v = 1\nelif t == 1:\n    v = 2\nelif False:\n    v = 3\nelif t == 2:"
    "\n    v = 4\nelse:\n    v = 5\ny[t] = v": [1, 2, 4, 5],
    "__rt = t\n__v, __key = 4, 2\nfor __i0 in range(3):\n    __v += __rt\ny[t] = __v":
    [4, 7, 10, 13],
    "while OFF or False and x[0] > 0:\n    y[t] = unknown\nelse:\n    y[t] = 5": [5, 5, 5, 5],
    "n = t\nif x.ndim == 2 or not K:\n    n = unknown\nelif t > 1 and OFF:\n    n = unknown"
    "\ny[t] = n + (unknown if t > 2 and OFF else 1)": [1, 2, 3, 4],
    "y[t] = " + " + ".join(["t"] * 60) + " - (" + " + ".join(["x[0]"] * 40) + ")":
    [-40, 20, 80, 140],
}  # fmt: skip
AROUND = """import numpy
from numba import uint32
THREE = numpy.int32(3)
SCALES, OTHERS = (numpy.float32(0.5), numpy.float32(2)), (numpy.float32(7), numpy.float32(9))
TABLES = numpy.zeros(4, numpy.float32), numpy.ones(4, numpy.float32)
K, OFF = 2, False
@cuda.jit(device=True)
def more(a, k=K):
    return a + k
@cuda.jit(device=True)
def call(K):
    return more(K)
"""


@pytest.mark.parametrize("mode", ["race", "full"])
@pytest.mark.parametrize("body", NUMBERS)
def test_a_kernel_computes_what_its_text_says(body: str, mode: str) -> None:
    y = [0.0] * 8
    found = report(
        f"t = cuda.threadIdx.x\n{body}", [1.0] * 8, y, head=HEAD + AROUND, mode=mode
    )
    assert not [fault for fault in found.faults if fault.kind != "float64"], (
        found.faults
    )
    assert y[:4] == NUMBERS[body]


@pytest.mark.parametrize(
    "body",
    [
        "if t != 3:\n    v = x[t]\ny[t] = v",
        "if t != 3:\n    v = 7\ny[t] = v",
        "if t != 3:\n    v = x[t]\ndef get():\n    return v\ny[t] = get()",
        "n = 3 - t\nwhile n > 0:\n    v = t\n    n -= 1\ny[t] = v",
        "if t != 3:\n    v = y\nv[t] = 1",
        "if t != 3:\n    v = 1\nv += 1\ny[t] = v",
        "if t == 3:\n    y[t] = 0\nelse:\n    v = 1\nif t == 3:\n    y[t] = v",
    ],
)
def test_a_name_without_a_value_is_told_in_words(body: str) -> None:
    (fault,) = report(f"t = cuda.threadIdx.x\n{body}").faults
    assert fault.said == (
        "v has no value on this way: thread 3 comes here without having given it one"
    )


PAST = {  # a barrier that only some threads come to, and how the others end
    "by a return behind it": "if t < 2:\n    cuda.syncthreads()\ny[t] = 1\nreturn",
    "by a test on one line": "if t < 2:\n    cuda.syncthreads()\nif t > 9: return",
    "by a loop's last turn": "for k in range(2):\n    if t < 2: cuda.syncthreads()"
    "\n    if t > 9: return",
    "by the other arm": "if t < 2:\n    cuda.syncthreads()\n    return\nelse:\n    return",
}  # fmt: skip


@pytest.mark.parametrize("how", PAST)
def test_who_goes_past_a_barrier_has_not_left_before_it(how: str) -> None:
    assert report("t = cuda.threadIdx.x\n" + PAST[how]).faults[0].kind == "barrier"


def test_a_return_between_barriers_is_no_fault() -> None:
    body = "for k in range(4):\n    cuda.syncthreads()\n    if k == cuda.threadIdx.x: return"
    assert report(body)


def test_brackets_in_brackets_are_read_once() -> None:
    deep = "not (t > 1 and " * 24 + "t > 2" + ")" * 24
    assert report(f"t = cuda.threadIdx.x\nif {deep}:\n    y[t] = 1")


def test_too_many_brackets_are_declined_in_words() -> None:
    (fault,) = report("y[0] = " + "x[0] if x[1] > 0 else " * 220 + "x[2]").faults
    assert fault.declined == "depth" and fault.kind == "compile"
    with pytest.raises(SyntaxError, match="more brackets"):
        report("y[0] = " + "not " * 990 + "x[0]")


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("a fault of ours"),
        MemoryError("allocation failed"),
        SyntaxError("ours"),
    ],
)
def test_a_fault_of_our_own_is_not_called_depth(monkeypatch, error: Exception) -> None:
    def fail(*args):
        raise error

    monkeypatch.setattr(Compiler, "kernel", fail)
    program = load(f"{HEAD}@cuda.jit\ndef kernel(x):\n    pass\n", "kernel").program
    with pytest.raises(type(error)):
        program.code((("array", "float32", 1),), False)


SIGNED = {  # a signature, the arguments, and what is in the answer
    '"void(float32[:], int32)"': ([0.0] * 2, 2**32 + 5, "5.0"),
    '"(float32[:], float64)"': ([0.0] * 2, 3, "3.0"),
    '"void(float32[:], int32)" ': ([0.0] * 2, 3.5, "says that n is int32"),
    '"void(int32[:], int32)"': ([0.0] * 2, 3, "says that x is an array of int32"),
    '"void(int32, float32[:])"': ([0.0] * 2, 3, "int32 has no elements"),
    '"void(float32[:], float32)" ': ([0.0] * 2, [3.0], "says that n is float32"),
    '"void(float32[:])"': ([0.0] * 2, 3, "1 types for 2 parameters"),
    '"int32(float32[:], int32)"': ([0.0] * 2, 3, "a kernel returns nothing"),
    '"void(float32[:], int)"': ([0.0] * 2, 3, "cannot be read"),
    "numba.void(float32[:, :], int32)": ([[0.0]], 3, "[3.0]"),
    '["void(float32[:], int32)"]': ([0.0] * 2, 5, "5.0"),
}


@pytest.mark.parametrize("signature", SIGNED)
def test_a_signature_has_the_last_word_on_types(signature: str) -> None:
    x, n, expected = SIGNED[signature]
    head = f"import numba\n{HEAD}@cuda.jit({signature})\n"
    text = f"{head}def kernel(x, n):\n    x[0] = n\n"
    faults = run(load(text, "kernel"), 1, 1, x, n).faults
    assert expected in (str(faults[0]) if faults else str(x[0]))


MEANT = {  # what somebody wrote, and a part of what the message offers instead
    "cuda.syncthread()": "cuda.syncthreads", "x[x.size / 2] = 1": "a // b",
    "i = cuda.threadidx.x": "cuda.threadIdx", "i = threadIdx.x": "cuda.threadIdx",
    "__syncthreads()": "cuda.syncthreads", "cuda.synchronize()": "cuda.syncthreads()",
    "cuda.atomicAdd(x, 0, 1)": "cuda.atomic.add", "y[0] = exp(x[0])": "math.exp",
    "Total = 0\ny[0] = total": "Total", "y[0] = np.exp(x[0])": "import numpy as np",
    "for i in range(x.size / 2): pass": "a // b", "if 0 < x.lenght: pass": "x.size",
    "n = x.size()": "size, without brackets", "n = x.shape(0)": "[…]",
    "x[cuda.threadIdx] = 1": "cuda.threadIdx.x", "if 0 < x.shape: pass": "x.shape[0]",
    "cuda.atomic.add(x, 0)": "cuda.atomic.add(array, index, value)",
    "a = (1.0, 2.0)\na[0] = 3": "cuda.local.array", "s = cuda.shared(4, float32)":
    "cuda.shared.array", "max = x[0]\nmax = max(max, x[1])": "another name",
    "y[0] = max(x[i] for i in range(4))": "a loop", "n += 1": "on a line above",
    "i, j = x": "its elements", "cuda.grid()": "cuda.grid(ndim)",
    "i, j, k = cuda.threadIdx": "cuda.threadIdx.x", "i = x(0)": "[…]",
    "i = cuda.blockIdx[0]": "cuda.blockIdx.x", "i = cuda.threadIdx()": "cuda.threadIdx.x",
    "y[0] = cuda.gridDim + 1": "cuda.gridDim.x", "y[0] = math.max(x[0], 1)": "max",
    "v = cuda.shfl_down(x[0], 1)": "cuda.shfl_down_sync", "v = x.dtype(1)": "float32(",
    "s = cuda.shared.array(float32, 4)": "(shape, dtype)",
    "for i in range(x.shape): pass": "x.shape[0]",
}  # fmt: skip


@pytest.mark.parametrize("body", MEANT)
def test_a_refusal_offers_what_was_meant(body: str) -> None:
    assert MEANT[body] in report(body).faults[0].instead


NUMPYS = {
    "np.exp(x[0])": "math.exp",
    "np.zeros(4)[0]": "cuda.local.array",
    "np.tanh(x[0])": "math.tanh",
    "np.where(1, 2, 3)": "a if test else b",
    "np.Inf": "math.inf",
}


@pytest.mark.parametrize("written", NUMPYS)
def test_what_numpy_has_is_offered_elsewhere(written: str) -> None:
    fault = report(f"y[0] = {written}", head=f"import numpy as np\n{HEAD}").faults[0]
    assert NUMPYS[written] in fault.instead
