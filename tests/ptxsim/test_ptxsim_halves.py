"""Halves and bfloats, one or two in a register, against exact fractions.

A register of two is compared half by half, so that an instruction on pairs has to do
what two instructions on single numbers do.
"""

import math
import random
import struct
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

import ptx
from ptxfloats import FORMATS, MOST, compared, decoded, encoded, nearest
from ptxsim.translate import OPCODES

KINDS = ("f16", "bf16", "f16x2", "bf16x2")
ARITHMETIC = ("add", "sub", "mul", "fma", "neg", "abs", "min", "max")
Row = tuple[float, ...]


def named(*names: str) -> list[str]:
    """The opcodes with one of these first words that work on halves or bfloats."""
    found = [x.split(".") for x in OPCODES]
    return [".".join(w) for w in found if w[0] in names and w[-1] in KINDS]


def drawn(kind: str, count: int, seed: str) -> list[Row]:
    """Rows of any bits, of numbers of middling size, and of special ones."""
    rng = random.Random(seed)
    special = [0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, -1.0, MOST[kind]]
    special += [2.0 ** FORMATS[kind][1], -(2.0 ** FORMATS[kind][1]) / 2]

    def one() -> float:
        way = rng.random()
        if way < 0.25:
            return rng.choice(special)
        if way < 0.5:
            return decoded(rng.getrandbits(16), kind)
        return nearest(Fraction(rng.uniform(-4, 4)) or Fraction(1), kind)

    return [tuple(one() for _ in range(count)) for _ in range(256)]


def columns(rows: list[Row], kind: str) -> list[np.ndarray]:
    """Registers: numbers in turn as the lower and the upper half, or one in each."""
    bits = np.array(
        [[encoded(x, kind[: kind.index("16") + 2]) for x in r] for r in rows]
    )
    bits = np.ascontiguousarray(bits.astype("u2").T)
    if kind.endswith("x2"):
        return list(bits.view("u4"))
    return list(bits.view("f2") if kind == "f16" else bits)


def halves_of(found: np.ndarray) -> list[int]:
    return np.ascontiguousarray(found).view("u2").tolist()


def applied(opcode: str, rows: list[Row]) -> list[int]:
    """The bits of each result."""
    given = columns(rows, opcode.split(".")[-1])
    if opcode.endswith(".f16"):  # Python's floats lose the bits of a NaN
        given = [x.astype("f8") for x in given]
    return halves_of(ptx.apply(opcode, *given))


def flushed(x: float, kind: str) -> float:
    tiny = 2.0 ** FORMATS[kind][1]
    return math.copysign(0.0, x) if abs(x) < tiny else x


def extreme(words: list[str], a: float, b: float) -> float:
    """min and max: with .NaN any NaN wins, else a number does; −0 is below +0."""
    sign = math.copysign(1, a) * math.copysign(1, b)
    if "abs" in words:
        a, b = abs(a), abs(b)
    if math.isnan(a) or math.isnan(b):
        found = (
            math.nan if "NaN" in words or (a != a and b != b) else b if a != a else a
        )
    else:
        pick = min if words[0] == "min" else max
        found = pick((a, b), key=lambda x: (x, math.copysign(1, x)))
    return math.copysign(found, sign) if "abs" in words else found


EXACT: dict[str, Callable[..., float]] = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b,
    "fma": lambda a, b, c: a * b + c, "neg": lambda a: -a, "abs": abs,
}  # fmt: skip


def expected(words: list[str], kind: str, row: Row) -> float:
    flush = "ftz" in words
    row = tuple(flushed(x, kind) if flush else x for x in row)
    if words[0] in ("min", "max"):
        found = extreme(words, *row)
    elif not all(map(math.isfinite, row)):
        found = EXACT[words[0]](*row)  # NaN or infinite, as in any precision
    else:
        exact = EXACT[words[0]](*map(Fraction, row))
        found = nearest(exact, kind, flush) if exact else float(EXACT[words[0]](*row))
    if "sat" in words:
        return 0.0 if math.isnan(found) else min(max(found, 0.0), 1.0)
    return 0.0 if "relu" in words and found <= 0 else found


@pytest.mark.parametrize("opcode", named(*ARITHMETIC))
def test_arithmetic_is_rounded_once(opcode: str) -> None:
    words = opcode.split(".")
    kind = words[-1].removesuffix("x2")
    rows = drawn(kind, len(ptx.signature(opcode)[1]), opcode)
    for row, bits in zip(rows, applied(opcode, rows), strict=True):
        right = encoded(expected(words, kind, row), kind)
        if math.isnan(decoded(right, kind)):
            assert math.isnan(decoded(bits, kind)), row
        elif "xorsign" in words and any(map(math.isnan, row)):  # it has some sign
            assert bits & 0x7FFF == right & 0x7FFF, row
        elif right & 0x7FFF == 0 and "sat" in words:
            assert bits & 0x7FFF == 0
        else:
            assert bits == right, (row, hex(bits), hex(right))


def test_a_bfloat_fma_is_not_rounded_in_between() -> None:
    """1.0078125² is halfway between two bfloats; what is added decides, however small."""
    x = 1 + 2.0**-7
    rows = [(x, 1 + 2.0**-1, c) for c in (2.0**-100, -(2.0**-100))]
    for row, bits in zip(rows, applied("fma.rn.bf16", rows), strict=True):
        a, b, c = map(Fraction, row)
        assert decoded(bits, "bf16") == nearest(a * b + c, "bf16")
        assert decoded(bits, "bf16") != nearest(a * b - c, "bf16")


@pytest.mark.parametrize("opcode", named("ex2", "tanh"))
def test_functions_of_halves(opcode: str) -> None:
    kind = opcode.split(".")[-1].removesuffix("x2")
    rows = [(x,) for x in (-3.0, -0.5, 0.25, 1.5, 2.0, -math.inf, math.inf, math.nan)]
    name = opcode.split(".")[0]
    function = {"ex2": lambda x: 2.0**x, "tanh": math.tanh}[name]
    for (x,), bits in zip(rows, applied(opcode, rows), strict=True):
        right = function(x)
        found = decoded(bits, kind)
        if math.isfinite(right) and right:
            assert found == nearest(Fraction(right), kind), x
        else:
            assert found == right or math.isnan(right) and math.isnan(found)


def grouped(*names: str) -> list[list[str]]:
    groups: dict[tuple[str, ...], list[str]] = {}
    for opcode in named(*names):
        groups.setdefault(tuple(ptx.signature(opcode)[1]), []).append(opcode)
    return list(groups.values())


# What a result holds for each half, or for a single number, where it is true.
TRUE = {"f16": 0x3C00, "bf16": 0x3F80, "f16x2": 0x3C00, "bf16x2": 0x3F80}
TRUE |= {"u16": 0xFFFF, "s16": 0xFFFF, "u32": 0xFFFF, "s32": 0xFFFF}


@pytest.mark.parametrize("opcodes", grouped("setp", "set"), ids=lambda x: x[0])
def test_comparisons_of_halves(opcodes: list[str]) -> None:
    full = opcodes[0].split(".")[-1]
    kind, pair = full.removesuffix("x2"), full.endswith("x2")
    tiny = 2.0 ** FORMATS[kind][1] / 4
    ends = [-1.5, -0.0, 0.0, tiny, math.nan, math.inf]
    rows = [(a, b) for a in ends for b in ends]
    given = [x.astype("f8") if full == "f16" else x for x in columns(rows, full)]
    choice = [i % 2 for i in range(len(given[0]))]
    given += [choice] * (len(ptx.signature(opcodes[0])[1]) - 2)
    for opcode, found in ptx.apply_all(opcodes, *given).items():
        words = opcode.split(".")
        both = next((x for x in words if x in ("and", "or", "xor")), None)
        for i, row in enumerate(rows):
            a, b = (flushed(x, kind) if "ftz" in words else x for x in row)
            right, c = compared(words[1], a, b), bool(choice[i // 2 if pair else i])
            ways = {"and": right and c, "or": right or c, "xor": right != c}
            right = ways.get(both, right)
            where = i // 2 if pair else i
            bits = int(found[where : where + 1].view(f"u{found.itemsize}")[0])
            if words[0] == "setp":
                assert bits >> (i % 2 if pair else 0) & 1 == right, (opcode, row)
            elif pair:
                assert bits >> 16 * (i % 2) & 0xFFFF == TRUE[words[-2]] * right, opcode
            else:
                ones = 2 ** (8 * found.itemsize) - 1
                true = TRUE[words[-2]] if words[-2] in KINDS else ones
                assert bits == true * right, (opcode, row)


# ---- conversions ----

CONVERSIONS = [
    x for x in OPCODES
    if x.startswith("cvt") and {"bf16", "f16x2", "bf16x2", "tf32"} & set(x.split("."))
]  # fmt: skip
WHOLE_MODES = {"rni": round, "rzi": math.trunc, "rmi": math.floor, "rpi": math.ceil}


def tf32(x: float, how: str) -> float:
    """A number with 10 bits behind the point; ties go away from zero with .rna."""
    if not math.isfinite(x) or not x:
        return x
    unit = Fraction(2) ** (max(math.frexp(x)[1] - 1, -126) - 10)
    ways = {"rna": lambda y: math.copysign(math.floor(abs(y) + Fraction(1, 2)), y)}
    ways |= {"rn": round, "rz": math.trunc}
    found = Fraction(ways[how](Fraction(x) / unit)) * unit
    beyond = abs(found) >= Fraction(2) ** 128
    return math.copysign(math.inf, x) if beyond else float(found)


def narrowed(words: list[str], to: str, x: float) -> float:
    """A float as one of a type, with all modifiers."""
    if "ftz" in words and words[-1] == "f32":
        x = flushed(x, "f32")
    how = words[1]
    if how in WHOLE_MODES:
        x = float(WHOLE_MODES[how](Fraction(x))) if math.isfinite(x) else x
    how = how if how in ("rz", "rm", "rp", "rna") else "rn"
    if not math.isfinite(x) or not x:
        found = x
    else:
        found = tf32(x, how) if to == "tf32" else nearest(Fraction(x), to, how=how)
    if "satfinite" in words and math.isinf(found):
        most = MOST.get(to, 2.0**128 - 2.0**117)
        found = math.copysign(most, found)
    found = flushed(found, "f32") if "ftz" in words and to == "f32" else found
    return 0.0 if "relu" in words and found <= 0 else found


def source_values(source: str) -> list[float]:
    """Numbers of a type around halfway of others, near its ends, and special ones."""
    numbers = [0.1, -2.5, 0.5, 1.5, 3.75, 65504.0, 1 + 2.0**-11, 2.0**-14, 1 + 2.0**-8]
    numbers += [1 + 3 * 2.0**-8, -1 - 2.0**-8, 2.0**-133, -3 * 2.0**-134, 2.0**-149]
    numbers += [65520.0, 3.4e38, -3.4e38, 1 + 2.0**-9 + 2.0**-40, -(2.0**-160), 1e300]
    numbers += [-1 - 2.0**-11, 1 + 3 * 2.0**-11, -1e-310]
    near = [nearest(Fraction(x), source) for x in numbers]
    return [*near, math.inf, -math.inf, math.nan, 0.0]


@pytest.mark.parametrize("opcode", CONVERSIONS)
def test_conversions_are_rounded_once(opcode: str) -> None:
    words = opcode.split(".")
    to, source = words[-2:]
    if source not in FORMATS:
        numbers = [0, 1, 257, 255, 2**15 - 1, *([] if "16" in source else [2**31 - 65])]
        numbers += [2**62 + 2**55 + 1, 2**53 + 1] if "64" in source else []
        numbers += [-x for x in numbers] if source[0] == "s" else []
        found = ptx.apply(opcode, numbers).tolist()
        exact = [nearest(Fraction(x), to, how=words[1]) for x in numbers]
        assert found == [encoded(x, to) for x in exact]
        return
    values = source_values(source)
    bits = [encoded(x, source) for x in values] if source == "bf16" else values
    if to.endswith("x2"):
        found = ptx.apply(opcode, values, values[::-1])
        short = to.removesuffix("x2")
        right = [encoded(narrowed(words, short, x), short) for x in values]
        got = halves_of(found)
        assert [is_nan(x, short) or x for x in got[1::2]] == [
            is_nan(x, short) or x for x in right
        ]
        assert [is_nan(x, short) or x for x in got[::2]] == [
            is_nan(x, short) or x for x in right[::-1]
        ]
        return
    found = ptx.apply(opcode, bits)
    if to[0] in "us":
        for x, value in zip(values, found.tolist(), strict=True):
            assert value == clamped(words, to, x), (opcode, x)
        return
    for x, value in zip(values, found, strict=True):
        right = narrowed(words, to, x)
        if to == "tf32":
            value = struct.unpack("<f", struct.pack("<I", int(value)))[0]
        elif to == "bf16":
            value = decoded(int(value), to)
        assert value == right or math.isnan(right) and math.isnan(value), (x, value)


def is_nan(bits: int, kind: str) -> bool:
    return math.isnan(decoded(bits, kind))


def clamped(words: list[str], to: str, x: float) -> int:
    size = int(to[1:])
    low, high = (
        (-(2 ** (size - 1)), 2 ** (size - 1) - 1) if to[0] == "s" else (0, 2**size - 1)
    )
    if math.isnan(x):  # of 64 bits, the highest
        return (low if to[0] == "s" else 2**63) if size == 64 else 0
    if math.isinf(x):
        return high if x > 0 else low
    return min(max(WHOLE_MODES[words[1]](Fraction(x)), low), high)


def test_every_opcode_of_halves_is_in_one_of_these_tables() -> None:
    kinds = {"f16x2", "bf16", "bf16x2", "tf32"}
    every = {x for x in OPCODES if kinds & set(x.split(".")) and x[:3] != "mma"}
    tested = named(*ARITHMETIC, "ex2", "tanh", "setp", "set")
    assert every - {*tested, *CONVERSIONS} == set()
