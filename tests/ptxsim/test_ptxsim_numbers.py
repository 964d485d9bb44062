"""What each instruction computes, against Python's whole numbers and exact fractions.

The definitions here are those of NVIDIA's manual, *Parallel Thread Execution ISA*, written
down bit by bit or with fractions, without NumPy. Examples that name a section are quoted.
"""

import math
import random
import struct
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ptx
import ptxsim
from ptxfloats import FORMATS, MOST, ROUNDINGS, compared, nearest, same
from ptxsim.opcodes import expand
from ptxsim.translate import OPCODES

few = settings(max_examples=6, deadline=None)
SLOW = ("ld", "st", "atom", "red", "cp", "bra", "ret", "exit", "trap", "bar", "barrier")
SLOW += (
    "shfl",
    "vote",
    "redux",
    "match",
    "activemask",
    "membar",
    "fence",
    "brx",
    "call",
    "cvta",
    "mma",
    "ldmatrix",
    *("prefetch", "prefetchu", "applypriority", "pmevent", "nanosleep"),
)  # in test_ptxsim_threads.py and test_ptxsim_tensor.py


HALVES = {"f16x2", "bf16", "bf16x2", "tf32"}  # in test_ptxsim_halves.py


def named(*names: str) -> list[str]:
    """All opcodes whose first word is one of some names, without pairs and bfloats."""
    found = [opcode for opcode in OPCODES if opcode.split(".")[0] in names]
    return [opcode for opcode in found if not HALVES & set(opcode.split("."))]


def is_whole(opcode: str) -> bool:
    return not opcode.endswith(("f16", "f32", "f64", "pred", "x2"))


def bits_of(kind: str) -> int:
    return int(kind[1:])


def wrap(value: int, kind: str) -> int:
    """The number that a register of a type holds after this was written."""
    bits = bits_of(kind)
    value %= 2**bits
    return value - 2**bits if kind[0] == "s" and value >> (bits - 1) else value


# ---- whole numbers ----


def range_of(kind: str) -> tuple[int, int]:
    bits = bits_of(kind)
    return (
        (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        if kind[0] == "s"
        else (0, 2**bits - 1)
    )


def truncated(a: int, b: int) -> int:
    """a / b, toward zero."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def bit(x: int, place: int) -> int:
    return x >> place & 1


def bfe(kind: str, a: int, at: int, count: int) -> int:
    """The pseudocode of the manual's section on bfe."""
    top, at, count = bits_of(kind) - 1, at & 255, count & 255
    sign = bit(a, min(at + count - 1, top)) if kind[0] == "s" and count else 0
    found = [
        bit(a, at + i) if i < count and at + i <= top else sign for i in range(top + 1)
    ]
    return sum(x << i for i, x in enumerate(found))


def bfi(kind: str, a: int, b: int, at: int, count: int) -> int:
    """The pseudocode of the manual's section on bfi."""
    at, count = at & 255, count & 255
    for i in range(count):
        if at + i < bits_of(kind):
            b = b & ~(1 << at + i) | bit(a, i) << at + i
    return b


# The table of the manual's section on prmt: bytes of the result, the highest first.
MODES = {
    "f4e": "3210 4321 5432 6543", "b4e": "5670 6701 7012 0123",
    "rc8": "0000 1111 2222 3333", "ecl": "3210 3211 3222 3333",
    "ecr": "0000 1110 2210 3210", "rc16": "1010 3232 1010 3232",
}  # fmt: skip


def prmt(a: int, b: int, how: int, mode: str = "b32") -> int:
    """The pseudocode of the manual's section on prmt."""
    found = 0
    if mode in MODES:
        how = int(MODES[mode].split()[how & 3], 16)
    for i in range(4):
        pick = how >> 4 * i & 15
        byte = (b << 32 | a) >> 8 * (pick & 7) & 255
        found |= (255 * (byte >> 7) if pick & 8 else byte) << 8 * i
    return found


def signed(x: int, bits: int) -> int:
    return wrap(x, f"s{bits}")


def mul24(words: list[str], a: int, b: int) -> int:
    ways = {"u32": lambda x: x % 2**24, "s32": lambda x: signed(x, 24)}
    product_ = ways[words[-1]](a) * ways[words[-1]](b)
    return product_ % 2**48 >> 16 if "hi" in words else product_


def mad24(words: list[str], a: int, b: int, c: int) -> int:
    total = wrap(mul24(words, a, b), words[-1]) + c
    return min(max(total, -(2**31)), 2**31 - 1) if "sat" in words else total


def dot(words: list[str], a: int, b: int, c: int) -> int:
    """The pseudocode of the manual's sections on dp4a and dp2a."""
    size = 8 if words[0] == "dp4a" else 16
    first = 2 if "hi" in words else 0
    for i in range(32 // size):
        x, y = a >> size * i & 2**size - 1, b >> 8 * (i + first) & 255
        x = signed(x, size) if words[-2] == "s32" else x
        c += x * (signed(y, 8) if words[-1] == "s32" else y)
    return c


def szext(words: list[str], a: int, b: int) -> int:
    """The pseudocode of the manual's section on szext."""
    b1, large = b & 31, b >= 32 and words[1] == "clamp"
    mask = 0 if large else -1 << b1
    sign = b1 and not large and words[-1] == "s32" and bit(a, b1 - 1)
    return a & ~mask | (mask if sign else 0)


def bmsk(words: list[str], a: int, b: int) -> int:
    """The pseudocode of the manual's section on bmsk."""
    a1, b1, clamp = a & 31, b & 31, words[1] == "clamp"
    mask0, total = -1 << a1, a1 + b1
    mask1 = -1 << total
    if clamp and a >= 32:
        mask0 = 0
    if total >= 32 or clamp and (a >= 32 or b >= 32):
        mask1 = 0
    return mask0 & ~mask1 & 2**32 - 1


def fns(mask: int, base: int, offset: int) -> int:
    """The pseudocode of the manual's section on fns."""
    if offset == 0:
        return base if base < 32 and bit(mask, base) else -1
    place, count = base, abs(offset) - 1
    while 0 <= place < 32:
        if bit(mask, place):
            if count == 0:
                return place
            count -= 1
        place += 1 if offset > 0 else -1
    return -1


def total(words: list[str], x: int) -> int:
    return min(max(x, -(2**31)), 2**31 - 1) if "sat" in words else x


def bfind(kind: str, a: int, amount: bool) -> int:
    bits = bits_of(kind)
    a = -1 - a if a < 0 else a
    place = a.bit_length() - 1
    return place % 2**32 if place < 0 or not amount else bits - 1 - place


def funnel(words: list[str], a: int, b: int, c: int) -> int:
    by = c & 31 if words[2] == "wrap" else min(c, 32)
    both = b << 32 | a
    return both << by >> 32 if words[1] == "l" else both >> by


def product(words: list[str], a: int, b: int) -> int:
    """The part of a product that mul and mad keep."""
    return a * b >> bits_of(words[-1]) if "hi" in words else a * b


WHOLE: dict[str, Callable[..., int]] = {
    "add": lambda w, a, b: total(w, a + b),
    "sub": lambda w, a, b: total(w, a - b),
    "mul": product,
    "mad": lambda w, a, b, c: product(w, a, b) + c,
    "addc": lambda w, a, b: a + b,  # no carry comes in before one has gone out
    "subc": lambda w, a, b: a - b,
    "madc": lambda w, a, b, c: product(w, a, b) + c,
    "div": lambda w, a, b: truncated(a, b or 1),
    "rem": lambda w, a, b: a - truncated(a, b or 1) * (b or 1),
    "min": lambda w, a, b: min(a, b),
    "max": lambda w, a, b: max(a, b),
    "neg": lambda w, a: -a,
    "abs": lambda w, a: abs(a),
    "and": lambda w, a, b: a & b,
    "or": lambda w, a, b: a | b,
    "xor": lambda w, a, b: a ^ b,
    "not": lambda w, a: ~a,
    "shl": lambda w, a, by: a << by if by < 64 else 0,
    "shr": lambda w, a, by: a >> min(by, 64),
    "shf": funnel,
    "popc": lambda w, a: bin(a).count("1"),
    "clz": lambda w, a: bits_of(w[-1]) - a.bit_length(),
    "brev": lambda w, a: int(f"{a:0{bits_of(w[-1])}b}"[::-1], 2),
    "bfind": lambda w, a: bfind(w[-1], a, "shiftamt" in w),
    "bfe": lambda w, *x: bfe(w[-1], *x),
    "bfi": lambda w, *x: bfi(w[-1], *x),
    "prmt": lambda w, *x: prmt(*x, w[-1]),
    "mul24": mul24,
    "mad24": mad24,
    "sad": lambda w, a, b, c: c + abs(a - b),
    "dp4a": dot,
    "dp2a": dot,
    "szext": szext,
    "bmsk": bmsk,
    "fns": lambda w, *x: fns(*x),
    "cnot": lambda w, a: int(a == 0),
}
WHOLE_OPCODES = [opcode for opcode in named(*WHOLE) if is_whole(opcode)]


def ends(kind: str) -> list[int]:
    """Numbers of a type near 0, near its ends, and near the widths of registers."""
    bits = bits_of(kind)
    found = [0, 1, -1, 2, 7, 31, 32, 33, 63, 64, 255, 256, 2 ** (bits - 1), 2**bits - 2]
    found += [2 ** (bits - 1) - 1, 2 ** (bits - 1) + 1, 0x55555555, 0x80008000]
    return [wrap(x, kind) for x in found]


def drawn(kinds: list[str], seed: str) -> list[tuple[int, ...]]:
    """Rows of operands, half of them near the ends."""
    rng = random.Random(seed)
    rows = [tuple(rng.choice(ends(kind)) for kind in kinds) for _ in range(96)]
    return rows + [
        tuple(wrap(rng.getrandbits(bits_of(kind)), kind) for kind in kinds)
        for _ in range(64)
    ]


def check_whole(opcode: str, numbers: list[tuple[int, ...]]) -> None:
    """Compare an instruction with its definition, row by row."""
    words = opcode.split(".")
    result, _ = ptx.signature(opcode)
    if words[0] in ("div", "rem"):
        numbers = [(a, b or 1) for a, b in numbers]
    found = ptx.apply(opcode, *zip(*numbers, strict=True)).tolist()
    for row, x in zip(numbers, found, strict=True):
        unsigned = f"u{bits_of(result)}"
        assert wrap(x, unsigned) == wrap(WHOLE[words[0]](words, *row), unsigned), row


@pytest.mark.parametrize("opcode", WHOLE_OPCODES)
def test_whole_numbers(opcode: str) -> None:
    check_whole(opcode, drawn(ptx.signature(opcode)[1], opcode))


HARD = ["bfe.s32", "bfe.u64", "bfi.b32", "bfi.b64", "prmt.b32", "shl.b64", "shr.s32"]
HARD += ["mul.hi.s64", "mul.hi.u64", "mad.hi.s32", "shf.l.clamp.b32", "shf.r.wrap.b32"]


@pytest.mark.parametrize("opcode", HARD)
def test_whole_numbers_that_nobody_has_thought_of(opcode: str) -> None:
    kinds = ptx.signature(opcode)[1]
    sizes = (st.integers(*range_of(kind)) for kind in kinds)
    rows = st.lists(st.tuples(*sizes), min_size=1, max_size=16)
    few(given(rows)(lambda numbers: check_whole(opcode, numbers)))()


@pytest.mark.parametrize(
    "table", [0x00, 0xFF, 0x80, 0xF0, 0xCC, 0xAA, 0x1A, 0xE8, 0x96]
)
def test_any_logic_of_three(table: int) -> None:
    rng = np.random.default_rng(table)
    a, b, c = rng.integers(0, 2**32, (3, 64))
    found = ptx.apply("lop3.b32", a, b, c, constants=(hex(table),))
    for x, y, z, w in zip(
        a.tolist(), b.tolist(), c.tolist(), found.tolist(), strict=True
    ):
        places = [4 * bit(x, i) + 2 * bit(y, i) + bit(z, i) for i in range(32)]
        assert w == sum(bit(table, place) << i for i, place in enumerate(places))


def test_the_nth_bit_up_and_down() -> None:
    rng = random.Random(1)
    rows = [
        (rng.getrandbits(32), rng.randrange(32), rng.randint(-9, 9)) for _ in range(99)
    ]
    found = ptx.apply("fns.b32", *zip(*rows, strict=True)).tolist()
    assert found == [fns(*row) % 2**32 for row in rows]


def test_the_space_of_a_generic_address() -> None:
    addresses = {"global": "[p4]", "shared": "S", "local": "L", "const": "C"}
    body = [".shared .align 8 .b8 S[8];\n.local .align 8 .b8 L[8];"]
    body += ["ld.param.u64 %rd4, [p4];", "mov.u64 %rd0, %rd4;"]
    spaces = ["global", "shared", "local", "const", "shared::cta"]
    for i, (space, name) in enumerate(addresses.items()):
        if space != "global":
            body += [f"mov.u64 %rd1, {name};", f"cvta.{space}.u64 %rd0, %rd1;"]
        for j, other in enumerate(spaces):
            body += [f"isspacep.{other} %p1, %rd0;", "selp.u32 %r1, 1, 0, %p1;"]
            body += [f"st.global.u32 [%rd4+{4 * (5 * i + j)}], %r1;"]
    before = ".const .align 8 .b8 C[8] = {1, 2, 3, 4, 5, 6, 7, 8};"
    out = np.empty(20, "u4")
    text = ptx.module("\n".join(body), 1, 1, before=before)
    ptxsim.run(text, 1, (out,), outputs=[0])
    expected = [[a == b.split(":")[0] for b in spaces] for a in addresses]
    assert out.reshape(4, 5).tolist() == np.array(expected, "u4").tolist()


def test_examples_of_the_manuals() -> None:
    """Sections lop3 (0x1A is (0xF0 & 0xCC) ^ 0xAA's kind), and cub::PRMT's example."""
    assert ptx.apply("prmt.b32", 0x03020100, 0x07060504, 0x7531)[0] == 0x07050301
    first, second, third = 0xF0, 0xCC, 0xAA  # what the table of a function is made with
    table = first & second | third
    found = ptx.apply("lop3.b32", first, second, third, constants=(str(table),))
    assert found[0] == table
    assert ptx.apply("shr.s32", -8, 40)[0] == -1  # amounts above 31 are taken as 32
    assert ptx.apply("shl.b32", 1, 32)[0] == 0
    assert ptx.apply("bfind.u32", 0)[0] == 0xFFFFFFFF  # "no bit found"


@pytest.mark.parametrize(
    "opcode", [x for x in named("and", "or", "xor", "not") if "pred" in x]
)
def test_predicates(opcode: str) -> None:
    a, b = [0, 0, 1, 1], [0, 1, 0, 1]
    expected = {
        "and": [0, 0, 0, 1], "or": [0, 1, 1, 1], "xor": [0, 1, 1, 0], "not": [1, 1, 0, 0]
    }  # fmt: skip
    given_ = (a,) if opcode == "not.pred" else (a, b)
    assert ptx.apply(opcode, *given_).tolist() == expected[opcode.split(".")[0]]


# ---- sums of several words ----

CHAINS = {
    # 128 bits as four words: the low ones first, each with the carry of the one before.
    "add": (lambda a, b: a + b, ["add.cc", "addc.cc", "addc.cc", "addc"]),
    "sub": (lambda a, b: a - b, ["sub.cc", "subc.cc", "subc.cc", "subc"]),
}


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("name", CHAINS)
def test_carries_go_from_word_to_word(name: str, bits: int) -> None:
    exact, opcodes = CHAINS[name]
    rng = random.Random(bits)
    words = [
        0,
        1,
        2**bits - 1,
        2 ** (bits - 1),
        *(rng.getrandbits(bits) for _ in range(4)),
    ]
    rows = [[rng.choice(words) for _ in range(8)] for _ in range(64)]
    register = {32: "%r1{}", 64: "%rd1{}"}[bits]
    lines = [
        "mov.u32 %r0, %tid.x;",
        "ld.param.u64 %rd1, [p4];",
        "ld.param.u64 %rd2, [p11];",
    ]
    lines += [
        "mul.wide.u32 %rd3, %r0, 64;",
        "add.s64 %rd1, %rd1, %rd3;",
        "add.s64 %rd2, %rd2, %rd3;",
    ]
    lines += [
        f"ld.global.u{bits} {register.format(i)}, [%rd2+{8 * i}];" for i in range(8)
    ]
    for i, opcode in enumerate(opcodes):
        a, b = register.format(i), register.format(i + 4)
        lines += [
            f"{opcode}.u{bits} {a}, {a}, {b};",
            f"st.global.u{bits} [%rd1+{8 * i}], {a};",
        ]
    x, y = np.array(rows, "u8"), np.zeros((64, 8), "u8")
    ptxsim.run(
        ptx.module("\n".join(lines), 2, 64),
        1,
        (y.reshape(-1), x.reshape(-1)),
        changed=[0],
    )
    for row, found in zip(rows, y.tolist(), strict=True):
        a, b = (
            sum(x << bits * i for i, x in enumerate(half))
            for half in (row[:4], row[4:])
        )
        total = exact(a, b) % 2 ** (4 * bits)
        assert found[:4] == [total >> bits * i & 2**bits - 1 for i in range(4)], row


def test_a_carry_outlives_what_other_threads_add() -> None:
    """A carry is a thread's own: others add elsewhere before it is used."""
    code = """mov.u32 %r0, %tid.x;
ld.param.u64 %rd1, [p4];
ld.param.u64 %rd2, [p11];
mul.wide.u32 %rd3, %r0, 8;
add.s64 %rd1, %rd1, %rd3;
add.s64 %rd2, %rd2, %rd3;
ld.global.u32 %r1, [%rd2];
ld.global.u32 %r2, [%rd2+4];
mov.u32 %r7, 0xFFFFFFFF;
mad.lo.cc.u32 %r3, %r1, %r2, %r7;
setp.lt.u32 %p1, %r0, 3;
@%p1 bra $A;
madc.hi.u32 %r4, %r1, %r2, 0;
bra.uni $B;
$A: add.cc.u32 %r5, %r7, %r7;
mov.u32 %r4, 0;
$B: st.global.u32 [%rd1], %r3;
st.global.u32 [%rd1+4], %r4;"""
    rng = random.Random(1)
    x = np.array([[rng.getrandbits(32), rng.getrandbits(32)] for _ in range(32)], "u4")
    y = np.zeros(64, "u4")
    ptxsim.run(ptx.module(code, 2, 32), 1, (y, x.reshape(-1)), outputs=[0])
    for (a, b), found in [*zip(x.tolist(), y.reshape(-1, 2).tolist(), strict=True)][3:]:
        assert found[0] + (found[1] << 32) == (a * b + 0xFFFFFFFF) % 2**64


# ---- floats: exact fractions, rounded by hand ----


def drawn_floats(kind: str, count: int, seed: str) -> list[tuple[float, ...]]:
    """Rows of floats: of middling size, of any size, and with few digits."""
    rng = random.Random(seed)
    digits, lowest, _ = FORMATS[kind]

    def one() -> float:
        few = rng.random() < 0.3
        x = Fraction(rng.getrandbits(4 if few else digits) * rng.choice((1, -1)))
        wide = rng.random() < 0.3
        exponent = (
            rng.randint(lowest - digits, -lowest - digits) if wide else 1 - digits
        )
        found = nearest(x * Fraction(2) ** (exponent + rng.randint(-2, 2)), kind)
        return found if abs(found) <= MOST[kind] else 1.0

    return [tuple(one() for _ in range(count)) for _ in range(160)]


def small(x: float, kind: str, flush: bool) -> float:
    """A number that goes in: .ftz takes subnormal ones for zero."""
    tiny = Fraction(2) ** FORMATS[kind][1]
    return math.copysign(0.0, x) if flush and abs(Fraction(x)) < tiny else x


EXACT: dict[str, Callable[..., Fraction]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "fma": lambda a, b, c: a * b + c,
    "div": lambda a, b: a / b,
    "rcp": lambda a: 1 / a,
    "neg": lambda a: -a,
    "abs": abs,
    "mad": lambda a, b, c: a * b + c,
}
ROUNDED = [x for x in named(*EXACT) if not is_whole(x) and "approx" not in x]
ROUNDED = [x for x in ROUNDED if "full" not in x]


@pytest.mark.parametrize("opcode", ROUNDED)
def test_floats_are_rounded_once(opcode: str) -> None:
    name, *words = opcode.split(".")
    kind, flush = words[-1], "ftz" in words

    def expected(row: tuple[float, ...]) -> float:
        exact = EXACT[name](*(Fraction(small(x, kind, flush)) for x in row))
        how = next((word for word in words if word in ROUNDINGS), "rn")
        found = nearest(exact, kind, flush, how)
        return changed(found, words, kind)

    numbers = drawn_floats(kind, len(ptx.signature(opcode)[1]), opcode)
    if name in ("div", "rcp"):
        numbers = [(*x, y if small(y, kind, flush) else 1.0) for *x, y in numbers]
    found = ptx.apply(opcode, *zip(*numbers, strict=True), exact=True).tolist()
    for row, x in zip(numbers, found, strict=True):
        right = expected(row)  # the sign of an exact zero is another test's
        assert same(x, right) or x == right == 0, (row, x, right)


@pytest.mark.parametrize("opcode", [x for x in named("sqrt") if "approx" not in x])
def test_square_roots_are_rounded_once(opcode: str) -> None:
    """The square of the result, and those of its neighbours, enclose the number."""
    kind, flush = opcode.split(".")[-1], "ftz" in opcode
    numbers = [abs(x) for (x,) in drawn_floats(kind, 1, opcode)]
    numbers += [1.0, 2.0, 4.0, 2.25, MOST[kind], nearest(Fraction(2) ** -1000, "f64")]
    if kind == "f32":
        numbers[-1] = 2.0**-149
    step = np.float32 if kind == "f32" else np.float64
    for x, y in zip(numbers, ptx.apply(opcode, numbers, exact=True), strict=True):
        exact = Fraction(small(x, kind, flush))
        below = Fraction(float(np.nextafter(y, step(-1)))) if y else Fraction(-1)
        above, y = Fraction(float(np.nextafter(y, step(np.inf)))), Fraction(float(y))
        if "rn" in opcode:
            assert (y + below) ** 2 <= 4 * exact <= (y + above) ** 2 or y == exact == 0
        elif "rp" in opcode:
            assert exact <= y**2 and (y == 0 or below**2 < exact)
        else:
            assert y**2 <= exact < above**2


HARD_64 = [  # results near the ends of the type, and just beside a number
    (1e300, 1e300, 1.0), (1e-200, 1e-200, 1e-320), (1e-200, -1e-200, 0.0),
    (2.0**-537, 2.0**-537, -(2.0**-1074)), (1 + 2.0**-52, 1 + 2.0**-52, -1.0),
    (1 + 2.0**-52, 1 - 2.0**-52, -1.0), (1.0, 1.0, 2.0**-1074), (1.0, 1.0, -(2.0**-60)),
    (2.0**53 + 2, 1.0, 2.0**-30), (3.0, 2.0**-1074, 5.0), (1e308, 10.0, -1e308),
    (1 + 2.0**-30, 1 + 2.0**-23, -(2.0**-53)), (1e-310, 0.5, 1.0), (-1e154, 1e154, 1e308),
]  # fmt: skip


@pytest.mark.parametrize(
    "opcode", [x for x in named("fma", "mul", "add", "div") if x.endswith("f64")]
)
def test_double_precision_near_its_ends(opcode: str) -> None:
    name, how = opcode.split(".")[0], direction(opcode.split("."))
    count = len(ptx.signature(opcode)[1])
    rows = [row[:count] for row in HARD_64]
    found = ptx.apply(opcode, *zip(*rows, strict=True)).tolist()
    for row, x in zip(rows, found, strict=True):
        right = nearest(EXACT[name](*map(Fraction, row)), "f64", how=how)
        assert same(x, right) or x == right == 0, (row, x, right)


@few
@given(st.lists(st.tuples(*[st.floats(-4, 4, width=32)] * 3), min_size=1, max_size=32))
def test_fma_against_exact_fractions(rows: list[tuple[float, float, float]]) -> None:
    found = ptx.apply("fma.rn.f32", *zip(*rows, strict=True)).tolist()
    for (a, b, c), x in zip(rows, found, strict=True):
        assert x == nearest(Fraction(a) * Fraction(b) + Fraction(c), "f32")


def test_fma_rounds_once_where_double_precision_would_round_twice() -> None:
    """(1 + 2⁻¹²)² − 2⁻⁷⁵ and its like end just beside halfway."""
    a = 1 + 2.0**-12
    for c in (-(2.0**-75), 2.0**-75, 0.0, -(2.0**-40)):
        exact = nearest(Fraction(a) * Fraction(a) + Fraction(c), "f32")
        for opcode in ("fma.rn.f32", "fma.rn.ftz.f32"):
            assert ptx.apply(opcode, a, a, c)[0] == exact
    x, y = 2.0**-70, 1.5 * 2.0**-70  # subnormal, and just above halfway by the third
    exact = nearest(Fraction(x) * Fraction(y) + Fraction(2.0**-149), "f32")
    assert ptx.apply("fma.rn.f32", x, y, 2.0**-149)[0] == exact


INFINITE = [
    ("add.f32", (math.inf, -math.inf), math.nan), ("sub.f32", (math.inf, 1), math.inf),
    ("mul.f32", (0, math.inf), math.nan), ("mul.f32", (-0.0, 5), -0.0),
    ("add.f32", (-0.0, -0.0), -0.0), ("add.f32", (-0.0, 0.0), 0.0),
    ("fma.rn.f32", (0, math.inf, 1), math.nan), ("fma.rn.f32", (math.inf, 2, 1), math.inf),
    ("fma.rn.f64", (math.inf, 2, 1), math.inf), ("fma.rn.f64", (1e300, 1e300, 1), math.inf),
    ("fma.rn.f16", (200, 400, 0), math.inf), ("div.rn.f32", (1, 0), math.inf),
    ("div.rn.f32", (0, 0), math.nan), ("rcp.rn.f32", (-0.0,), -math.inf),
    ("rcp.approx.f32", (math.inf,), 0.0), ("sqrt.rn.f32", (-1,), math.nan),
    ("sqrt.rn.f32", (-0.0,), -0.0), ("rsqrt.approx.f32", (0,), math.inf),
    ("rsqrt.approx.f32", (math.inf,), 0.0), ("ex2.approx.f32", (-math.inf,), 0.0),
    ("ex2.approx.f32", (math.inf,), math.inf), ("ex2.approx.f32", (math.nan,), math.nan),
    ("ex2.approx.ftz.f32", (-127.5,), 0.0), ("lg2.approx.f32", (0,), -math.inf),
    ("lg2.approx.f32", (-1,), math.nan), ("lg2.approx.f32", (math.inf,), math.inf),
    ("min.f32", (math.nan, 1), 1.0), ("max.f32", (1, math.nan), 1.0),
    ("max.f32", (math.nan, math.nan), math.nan), ("max.f32", (-0.0, 0.0), 0.0),
    ("max.f32", (0.0, -0.0), 0.0), ("min.f32", (0.0, -0.0), -0.0),
    ("min.f32", (-0.0, 0.0), -0.0), ("max.f32", (-math.inf, -math.inf), -math.inf),
    ("max.NaN.f32", (math.nan, 1), math.nan), ("min.NaN.f32", (1, math.nan), math.nan),
    ("max.NaN.f32", (-0.0, 0.0), 0.0), ("min.NaN.f16", (2, math.nan), math.nan),
    ("add.sat.f32", (math.nan, 1), 0.0), ("add.sat.f32", (3, 1), 1.0),
    ("mul.sat.f32", (-3, 1), 0.0), ("copysign.f32", (-0.0, 3), -3.0),
    ("copysign.f64", (1, -3), 3.0), ("neg.f32", (0.0,), -0.0), ("abs.f32", (-0.0,), 0.0),
    ("div.approx.f32", (2.0**120, 1.5 * 2.0**126), 0.0),  # "if 2¹²⁶ < |y| < 2¹²⁸"
    ("div.approx.f32", (math.inf, 1.5 * 2.0**126), math.nan),
    ("div.full.f32", (2.0**120, 1.5 * 2.0**126), 2.0**-6 / 1.5),
    ("cvt.sat.f32.f32", (1.5,), 1.0), ("cvt.sat.f32.f32", (-0.0,), 0.0),
    ("cvt.sat.f32.f32", (math.nan,), 0.0), ("cvt.ftz.sat.f32.f32", (2.0**-127,), 0.0),
    ("cvt.sat.f64.f64", (0.25,), 0.25), ("add.rm.f32", (1, -1), -0.0),
    ("add.rp.f32", (1, -1), 0.0), ("sub.rm.f32", (0.0, 0.0), -0.0),
    ("add.rm.f32", (0.0, 0.0), 0.0), ("fma.rm.f32", (0.0, 5, 0.0), 0.0),
    ("mul.rm.f32", (0.0, 5), 0.0), ("fma.rz.f32", (math.inf, 2, 1), math.inf),
    ("fma.rm.f32", (2.0**100, 2.0**100, 1), MOST["f32"]),
    ("fma.rm.f32", (1, 1, -(2.0**-60)), 1 - 2.0**-24),
    ("fma.rp.f32", (1, 1, 2.0**-140), 1 + 2.0**-23),
    ("fma.rz.f32", (math.nan, 1, 1), math.nan), ("tanh.approx.f32", (math.inf,), 1.0), ("sin.approx.f32", (-0.0,), -0.0),
    ("cos.approx.f32", (math.inf,), math.nan),
]  # fmt: skip


@pytest.mark.parametrize(("opcode", "row", "expected"), INFINITE)
def test_the_tables_of_special_numbers(
    opcode: str, row: tuple, expected: float
) -> None:
    found = float(ptx.apply(opcode, *row)[0])
    assert same(found, expected) or math.isclose(found, expected, rel_tol=1e-6)


@pytest.mark.parametrize("opcode", [x for x in named("min", "max") if not is_whole(x)])
def test_the_larger_and_the_smaller(opcode: str) -> None:
    a = [1.5, -2.0, 0.25, -math.inf, 7.0]
    b = [1.0, -1.0, 0.5, 3.0, math.inf]
    pick = min if opcode.startswith("min") else max
    if "xorsign" in opcode:
        found = ptx.apply(opcode, a, b).tolist()
        for x, y, z in zip(a, b, found, strict=True):
            sign = math.copysign(1, x) * math.copysign(1, y)
            assert z == pick(abs(x), abs(y)) * sign
        return
    assert ptx.apply(opcode, a, b).tolist() == [
        pick(x, y) for x, y in zip(a, b, strict=True)
    ]


APPROXIMATE = {
    "ex2": lambda x: 2.0**x, "lg2": math.log2, "sqrt": math.sqrt, "sin": math.sin,
    "cos": math.cos, "tanh": math.tanh, "rcp": lambda x: 1 / x,
    "rsqrt": lambda x: 1 / math.sqrt(x),
}  # fmt: skip


@pytest.mark.parametrize(
    "opcode", [x for x in named(*APPROXIMATE, "div") if not is_whole(x)]
)
def test_functions(opcode: str) -> None:
    kind = opcode.split(".")[-1]
    x = np.random.default_rng(1).uniform(0.1, 6, 64).astype("f2").astype("f4")
    y = np.full(64, 3, "f4")
    name = opcode.split(".")[0]
    found = ptx.apply(opcode, x, y) if name == "div" else ptx.apply(opcode, x)
    function = APPROXIMATE.get(name, lambda x: x / 3)
    expected = [function(float(value)) for value in x]
    off = (
        2.0**-20 if "ftz.f64" in opcode else {"f16": 5e-4, "f32": 3e-7}.get(kind, 1e-15)
    )
    assert np.allclose(found, expected, rtol=off, atol=off)
    if "ftz.f64" in opcode:  # the lower words of argument and result do not count
        assert not (found.view("u8") & 0xFFFFFFFF).any()
        assert ptx.apply(opcode, 1 + 2.0**-22)[0] == 1.0


def test_ftz_takes_subnormal_numbers_for_zero_and_others_do_not() -> None:
    tiny, half = 2.0**-126, 2.0**-127
    for exact in (None, True):  # found out from the arguments, or asked for
        options = {"exact": exact}
        assert ptx.apply("add.f32", half, 0.0, **options)[0] == half
        assert ptx.apply("add.ftz.f32", half, 0.0, **options)[0] == 0
        assert ptx.apply("add.ftz.f32", half, half, **options)[0] == 0  # goes in as 0
        assert ptx.apply("setp.gt.ftz.f32", half, 0.0, **options)[0] == 0
        assert ptx.apply("setp.gt.f32", half, 0.0, **options)[0] == 1
        assert ptx.apply("cvt.rpi.ftz.s32.f32", half, **options)[0] == 0
        assert ptx.apply("cvt.rpi.s32.f32", half, **options)[0] == 1
    found = ptx.apply("mul.ftz.f32", tiny, -0.3)[0]  # NumPy reports an underflow
    assert found == 0 and np.signbit(found)
    assert ptx.apply("sub.ftz.f32", 1.5 * tiny, tiny, exact=True)[0] == 0  # it does not
    assert ptx.apply("mul.f32", tiny, 0.5)[0] == half


# ---- comparisons and choices ----


def together(opcodes: list[str]) -> list[list[str]]:
    """Opcodes that take the same operands."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for opcode in opcodes:
        groups.setdefault(tuple(ptx.signature(opcode)[1]), []).append(opcode)
    return list(groups.values())


TRUE = {"setp": 1, "u32": 2**32 - 1, "s32": -1, "f32": 1, "u16": 2**16 - 1, "s16": -1}
TRUE |= {"f16": 1}


@pytest.mark.parametrize("opcodes", together(named("setp", "set")), ids=lambda x: x[0])
def test_comparisons(opcodes: list[str]) -> None:
    kind = opcodes[0].split(".")[-1]
    ends = (
        [-1.5, -0.0, 0.0, 1.0, math.nan, math.inf] if kind[0] == "f" else [-2, 0, 1, 5]
    )
    rows = [(a, b, c) for a in ends for b in ends for c in (0, 1)]
    columns = list(zip(*rows, strict=True))[: len(ptx.signature(opcodes[0])[1])]
    for opcode, found in ptx.apply_all(opcodes, *columns).items():
        words = opcode.split(".")
        both = next((x for x in words[2:] if x in ("and", "or", "xor")), None)
        for (x, y, z), value in zip(rows, found.tolist(), strict=True):
            if kind[0] in "ub":
                x, y = x % 2 ** bits_of(kind), y % 2 ** bits_of(kind)
            right = compared(words[1], x, y)
            ways = {
                "and": right and z,
                "or": right or z,
                "xor": right != z,
                None: right,
            }
            true = TRUE[words[0] if words[0] == "setp" else words[-2]]
            assert value == true * ways[both], (opcode, x, y, z)


@pytest.mark.parametrize("opcode", named("selp"))
def test_choices(opcode: str) -> None:
    assert ptx.apply(opcode, [1, 2], [3, 4], [0, 1]).tolist() == [3, 2]


@pytest.mark.parametrize("opcode", named("slct"))
def test_choices_by_a_sign(opcode: str) -> None:
    by = [3, -1, 0, -7]
    expected = [10, 2, 30, 4]
    if opcode.endswith("f32"):
        by = [-0.0, -1.5, 0.0, math.nan]
        tiny = ptx.apply(opcode, [1], [2], [-(2.0**-140)])[0]
        assert tiny == (1 if "ftz" in opcode else 2)
    found = ptx.apply(opcode, [10, 20, 30, 40], [1, 2, 3, 4], by)
    assert found.tolist() == expected


PROPERTIES = {
    "finite": [1, 1, 1, 1, 0, 0, 0], "infinite": [0, 0, 0, 0, 1, 1, 0],
    "number": [1, 1, 1, 1, 1, 1, 0], "notanumber": [0, 0, 0, 0, 0, 0, 1],
    "normal": [1, 1, 0, 0, 0, 0, 0], "subnormal": [0, 0, 1, 1, 0, 0, 0],
}  # fmt: skip


@pytest.mark.parametrize("opcode", named("testp"))
def test_properties(opcode: str) -> None:
    """Zero is a normal number: "As a special case, positive and negative zero are"."""
    tiny = 2.0**-149 if opcode.endswith("f32") else 2.0**-1074
    given_ = [1.5, -0.0, tiny, -2 * tiny, math.inf, -math.inf, math.nan]
    assert ptx.apply(opcode, given_).tolist() == PROPERTIES[opcode.split(".")[1]]


@pytest.mark.parametrize("opcode", [x for x in named("mov") if "pred" not in x])
def test_moves(opcode: str) -> None:
    assert ptx.apply(opcode, [1, 2]).tolist() == [1, 2]


# ---- conversions ----

WHOLE_KINDS = ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64")
FLOAT_KINDS = ("f16", "f32", "f64")


def conversions(to: tuple[str, ...], source: str) -> list[str]:
    """The opcodes of conversions from a type."""
    found = [opcode.split(".") for opcode in named("cvt")]
    return [".".join(w) for w in found if w[-1] == source and w[-2] in to]


def clamp(x: int, kind: str) -> int:
    low, high = range_of(kind)
    return min(max(x, low), high)


@pytest.mark.parametrize("source", WHOLE_KINDS)
def test_whole_numbers_become_others(source: str) -> None:
    low, high = range_of(source)
    numbers = sorted(
        {low, high, 0, 1, *(clamp(x, source) for x in (-3, 127, 128, 40000))}
    )
    for opcode, found in ptx.apply_all(
        conversions(WHOLE_KINDS, source), numbers
    ).items():
        to = opcode.split(".")[-2]
        change = clamp if "sat" in opcode else wrap
        assert [wrap(x, to) for x in found.tolist()] == [change(x, to) for x in numbers]


def whole(x: float, mode: str) -> int:
    ways = {"rni": round, "rzi": math.trunc, "rmi": math.floor, "rpi": math.ceil}
    return ways[mode](Fraction(x))


@pytest.mark.parametrize("source", FLOAT_KINDS)
def test_floats_become_whole(source: str) -> None:
    numbers = [
        0.5,
        1.5,
        2.5,
        -0.5,
        -1.5,
        -2.7,
        2.3,
        126.5,
        300.0,
        -300.0,
        65504.0,
        -0.0,
    ]
    if source != "f16":
        numbers += [
            2.0**31,
            -(2.0**31) - 256,
            2.0**40,
            2.0**63,
            -(2.0**63),
            2.0**64,
            1e30,
        ]
    numbers = [nearest(Fraction(x), source) if x else x for x in numbers]
    given = [*numbers, math.inf, -math.inf, math.nan]
    for opcode, found in ptx.apply_all(conversions(WHOLE_KINDS, source), given).items():
        _, mode, *_, to, _ = opcode.split(".")
        expected = [clamp(whole(x, mode), to) for x in numbers]
        nan = 1 << (bits_of(to) - 1) if source == "f64" or bits_of(to) == 64 else 0
        expected += [range_of(to)[1], range_of(to)[0], wrap(nan, to)]
        assert [wrap(x, to) for x in found.tolist()] == expected, opcode


def changed(x: float, words: list[str], kind: str) -> float:
    """What the modifiers of a conversion make of a result."""
    if "satfinite" in words and math.isinf(x):
        x = math.copysign(MOST[kind], x)
    x = 0.0 if "relu" in words and x <= 0 else x
    return min(max(x, 0.0), 1.0) if "sat" in words else x


def direction(words: list[str]) -> str:
    return next((word for word in words if word in ROUNDINGS), "rn")


@pytest.mark.parametrize("source", WHOLE_KINDS)
def test_whole_numbers_become_floats(source: str) -> None:
    odd = [2049, 4097, 2**24 + 1, 2**24 + 3, 2**31 - 65, 65519, 65520, 2**53 + 1]
    odd += [2**60 + 1, 2**62 + 2**38 + 1, 2**60 - 2**30, 257, -257, -(2**40) - 1]
    low, high = range_of(source)
    numbers = [low, high, 0, *(x for x in odd if low <= x <= high), low // 3]
    for opcode, found in ptx.apply_all(
        conversions(FLOAT_KINDS, source), numbers
    ).items():
        _, how, *_, to, _ = opcode.split(".")
        expected = [nearest(Fraction(x), to, how=how) for x in numbers]
        assert found.tolist() == expected, opcode


@pytest.mark.parametrize("source", FLOAT_KINDS)
def test_floats_become_others(source: str) -> None:
    numbers = [0.1, -2.5, 0.5, 1.5, 3.75, -0.0, 65504.0, 1 + 2.0**-11, 2.0**-14, 0.3]
    if source != "f16":
        numbers += [65519.9, 65520.0, 1e-7, 2.0**-25, 1 + 3 * 2.0**-11, 2.0**-126, 3e38]
        numbers += [-1e5, -(2.0**-26), 1.5 * 2.0**-149, -1 - 2.0**-20]
    if source == "f64":
        numbers += [-1e300, 1e-300, 1 + 2.0**-24 + 2.0**-50, -1 - 2.0**-11 - 2.0**-40]
    numbers = [nearest(Fraction(x), source) if x else x for x in numbers]
    given = [*numbers, math.inf, math.nan]
    opcodes = conversions(FLOAT_KINDS, source)
    for opcode, found in ptx.apply_all(opcodes, given).items():
        _, mode, *_ = words = opcode.split(".")
        to, flush = words[-2], "ftz" in words
        for x, value in zip(numbers, found.tolist(), strict=False):
            x = small(x, source, flush and source == "f32")
            exact = Fraction(
                whole(x, mode) if mode in ("rni", "rzi", "rmi", "rpi") else x
            )
            near = nearest(exact, to, flush and to == "f32", direction(words))
            assert value == changed(near, words, to), (opcode, x)
        infinite, nan = found.tolist()[-2:]
        assert infinite == changed(math.inf, words, to), opcode
        assert nan == 0 if "sat" in words else math.isnan(nan), opcode


def test_two_halves_the_first_on_top() -> None:
    x = [1 + 2.0**-11, 65520.0, -2.0, 1 + 2.0**-8, math.nan]
    y = [0.5] * 5
    found = ptx.apply("cvt.rn.f16x2.f32", x, y).tolist()
    expected = [struct.pack("<e", z) for z in (1.0, math.inf, -2.0, 1 + 2.0**-8)]
    assert [struct.pack("<I", z)[2:] for z in found[:4]] == expected
    assert {struct.pack("<I", z)[:2] for z in found} == {struct.pack("<e", 0.5)}
    found = ptx.apply("cvt.rn.bf16x2.f32", x, y).tolist()
    tops = [struct.unpack("<f", struct.pack("<I", z & 0xFFFF0000))[0] for z in found]
    assert tops[:4] == [1.0, 65536.0, -2.0, 1.0] and math.isnan(tops[4])  # ties to even
    assert ptx.apply("cvt.rn.bf16.f32", 1 + 3 * 2.0**-8)[0] == 0x3F82
    assert ptx.apply("cvt.f32.bf16", 0x3F82)[0] == 1 + 2.0**-6


# ---- nothing is left out ----


def test_every_opcode_of_numbers_is_in_one_of_these_tables() -> None:
    tested = {
        *WHOLE_OPCODES,
        *ROUNDED,
        *named("setp", "set", "selp", "slct", "testp", "mov", "cvt", "min", "max"),
    }
    tested |= {*named(*APPROXIMATE), *named("div", "lop3", "copysign"), "and.pred"}
    tested |= {"or.pred", "xor.pred", "not.pred", *named("isspacep")}
    every = {x for x in OPCODES if x.split(".")[0] not in SLOW}
    assert {x for x in every if not HALVES & set(x.split("."))} - tested == set()


def test_forms_are_written_as_in_the_manual() -> None:
    assert expand("a[.b .c]<.d .e>") == [
        "a.d", "a.e", "a.b.d", "a.b.e", "a.c.d", "a.c.e"
    ]  # fmt: skip
