"""mma and ldmatrix, lane by lane, against the figures and formulas of NVIDIA's manual.

The layouts stand here as in the manual's section on `mma`: for each shape, the row and
the column of number i that a lane holds, in plain Python.
"""

import random
import struct
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

import ptx
import ptxsim
from ptxsim.translate import OPCODES

MMA = [x for x in OPCODES if x.startswith("mma")]
LDMATRIX = [x for x in OPCODES if x.startswith("ldmatrix")]
Place = Callable[[int, int, int], tuple[int, int]]

# By shape and bits: row and column of number i, for a group and a thread in the group.
A: dict[tuple[str, int], Place] = {
    ("m8n8k4", 64): lambda g, t, i: (g, t),
    ("m16n8k4", 32): lambda g, t, i: (g if i == 0 else g + 8, t),
    ("m16n8k8", 32): lambda g, t, i: (
        g if i in (0, 2) else g + 8,
        t if i < 2 else t + 4,
    ),
    ("m16n8k8", 16): lambda g, t, i: (g if i < 2 else g + 8, t * 2 + (i & 1)),
    ("m16n8k16", 16): lambda g, t, i: (
        g if 0 <= i < 2 or 4 <= i < 6 else g + 8,
        t * 2 + (i & 1) if i < 4 else t * 2 + (i & 1) + 8,
    ),
    ("m16n8k16", 8): lambda g, t, i: (g if i < 4 else g + 8, t * 4 + (i & 3)),
    ("m16n8k32", 8): lambda g, t, i: (
        g if 0 <= i < 4 or 8 <= i < 12 else g + 8,
        t * 4 + (i & 3) if i < 8 else t * 4 + (i & 3) + 16,
    ),
}
B: dict[tuple[str, int], Place] = {
    ("m8n8k4", 64): lambda g, t, i: (t, g),
    ("m16n8k4", 32): lambda g, t, i: (t, g),
    ("m16n8k8", 32): lambda g, t, i: (t if i == 0 else t + 4, g),
    ("m16n8k8", 16): lambda g, t, i: (t * 2 + i, g),
    ("m16n8k16", 16): lambda g, t, i: (
        t * 2 + (i & 1) if i < 2 else t * 2 + (i & 1) + 8, g
    ),
    ("m16n8k16", 8): lambda g, t, i: (t * 4 + i, g),
    ("m16n8k32", 8): lambda g, t, i: (
        t * 4 + (i & 3) if i < 4 else t * 4 + (i & 3) + 16, g
    ),
}  # fmt: skip


def place_of_c(shape: str, g: int, t: int, i: int) -> tuple[int, int]:
    if shape == "m8n8k4":
        return g, t * 2 + i
    return (g if i < 2 else g + 8), t * 2 + (i & 1)


def encode(x: Fraction, kind: str) -> int:
    """The bits of a number that its type holds exactly."""
    whole = {"s8": "<b", "u8": "<B", "s32": "<i"}
    if kind in whole:
        return int.from_bytes(struct.pack(whole[kind], int(x)), "little")
    how = {"f16": "<e", "f64": "<d"}.get(kind, "<f")
    bits = int.from_bytes(struct.pack(how, float(x)), "little")
    return bits >> 16 if kind == "bf16" else bits


def draw(rng: random.Random, kind: str) -> Fraction:
    """A number with few digits: no sum of products of such is rounded in float32."""
    low, high = {"s8": (-128, 127), "u8": (0, 255)}.get(kind, (-9, 9))
    x = Fraction(rng.randint(low, high))
    return x if kind in ("s8", "u8", "s32") else x / 4


def fragment(
    matrix: list[list[Fraction]], kind: str, count: int, place: Place
) -> list[list[int]]:
    """The registers of each lane, from a matrix; numbers fill registers from below."""
    size = max(32, ptx.BITS[kind])
    lanes = []
    for lane in range(32):
        bits = 0
        for i in range(count):
            row, column = place(lane // 4, lane % 4, i)
            bits |= encode(matrix[row][column], kind) << ptx.BITS[kind] * i
        registers = max(1, count * ptx.BITS[kind] // size)
        lanes.append([bits >> size * r & 2**size - 1 for r in range(registers)])
    return lanes


def products(
    opcode: str, seed: int
) -> tuple[list[list[list[int]]], list[list[Fraction]], Place]:
    """Fragments A, B, C of a warp, what D is, and where its numbers are."""
    shape, (d, a, b, _) = opcode.split(".")[3], opcode.split(".")[-4:]
    m, k = (8, 4) if shape == "m8n8k4" else (16, int(shape.split("k")[1]))
    rng = random.Random(seed)
    left = [[draw(rng, a) for _ in range(k)] for _ in range(m)]
    right = [[draw(rng, b) for _ in range(8)] for _ in range(k)]
    start = [[draw(rng, d) for _ in range(8)] for _ in range(m)]
    if d == "s32":  # near the ends, some sums leave the type
        start[0] = [Fraction(2**31 - 1)] * 8
        start[1] = [Fraction(-(2**31))] * 8
    total = [
        [
            sum((left[i][x] * right[x][j] for x in range(k)), start[i][j])
            for j in range(8)
        ]
        for i in range(m)
    ]
    found = [
        fragment(left, a, m * k // 32, A[shape, ptx.BITS[a]]),
        fragment(right, b, k * 8 // 32, B[shape, ptx.BITS[b]]),
        fragment(start, d, m * 8 // 32, lambda g, t, i: place_of_c(shape, g, t, i)),
    ]
    return found, total, lambda g, t, i: place_of_c(shape, g, t, i)


def end(x: Fraction, opcode: str) -> Fraction:
    """An integer sum that leaves its type: it wraps, or stops with .satfinite."""
    if "s32" not in opcode.split("."):
        return x
    if "satfinite" in opcode:
        return min(max(x, Fraction(-(2**31))), Fraction(2**31 - 1))
    return (x + 2**31) % 2**32 - 2**31


@pytest.mark.parametrize("opcode", MMA)
def test_products_by_the_layouts_of_the_manual(opcode: str) -> None:
    """Four warps in two blocks, each with matrices of its own."""
    kind = opcode.split(".")[-4]
    dtype = "u8" if kind == "f64" else "u4"
    warps = [products(opcode, seed) for seed in range(4)]
    given = [
        np.array([lanes[part] for lanes, *_ in warps], dtype).reshape(-1)
        for part in range(3)
    ]
    expected = [
        fragment(
            [[end(x, opcode) for x in row] for row in total],
            kind,
            len(total) * 8 // 32,
            place,
        )
        for _, total, place in warps
    ]
    out = np.empty_like(given[2])
    ptxsim.run(ptx.mma_text(opcode, 64), 2, (out, *given), outputs=[0])
    assert out.tolist() == np.array(expected, dtype).reshape(-1).tolist()


def test_tf32_reads_the_upper_19_bits() -> None:
    opcode = "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"
    (a, b, c), total, place = products(opcode, 0)
    noisy = [np.array(x, "u4").reshape(-1) | np.uint32(0x1FFF) for x in (a, b)]
    out = np.empty(128, "u4")
    start = np.array(c, "u4").reshape(-1)
    ptxsim.run(ptx.mma_text(opcode), 1, (out, *noisy, start), outputs=[0])
    expected = np.array(fragment(total, "f32", 4, place), "u4").reshape(-1)
    assert out.tolist() == expected.tolist()


def test_sums_of_halves_are_rounded_to_halves() -> None:
    """2048 + 1 is halfway between two halves, and 2048 + 3 as well: to even."""
    opcode = "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16"
    one, big = 0x3C00, 0x6800
    left = [1 if lane % 4 == 0 else 0 for lane in range(32)]  # column 0 of A
    a = np.array([[one * x, 3 * one // 3 * x] for x in left], "u4").reshape(-1)
    b = np.array([one if lane % 4 == 0 else 0 for lane in range(32)], "u4")
    c = np.full(64, big << 16 | big, "u4")
    out = np.empty(64, "u4")
    ptxsim.run(ptx.mma_text(opcode), 1, (out, a, b, c), outputs=[0])
    assert set(out.tolist()) == {big << 16 | big}


# ---- ldmatrix ----


def loaded(text: str, count: int, threads: int = 32, **options: object):
    rows = np.random.default_rng(3).integers(0, 2**16, (threads, 8)).astype("u2")
    out = np.empty((threads, count), "u4")
    given = (out.reshape(-1), rows.view("u4").reshape(-1))
    return rows, out, ptxsim.run(text, 1, given, outputs=[0], **options)


@pytest.mark.parametrize("opcode", LDMATRIX)
def test_matrices_lane_by_lane(opcode: str) -> None:
    count = int(next(x for x in opcode.split(".") if x[0] == "x")[1:])
    rows, out, _ = loaded(ptx.ldmatrix_text(opcode, threads=64), count, 64)
    rows = rows.tolist()
    for lane in range(64):
        first, own = lane // 32 * 32, lane % 32
        for i in range(count):
            named = [rows[first + (7 * (8 * i + r) + 3) % 32] for r in range(8)]
            if "trans" in opcode:
                named = [list(column) for column in zip(*named, strict=True)]
            row, column = own // 4, own % 4 * 2
            low, high = named[row][column], named[row][column + 1]
            assert out[lane, i] == high << 16 | low, (lane, i)


X4, X4T = (
    f"ldmatrix.sync.aligned.m8n8.x4{trans}.shared.b16" for trans in ("", ".trans")
)
X1 = X4.replace("x4", "x1")
HALF = "setp.lt.u32 %p1, %r0, 16;\n@%p1 bra $A;\nmov.u32 %r9, 0;\n$A:"
FAULTS = {
    "a row at no multiple of 16": ("misaligned", X4, {"more": "+8"}, 0),
    "a row behind all": (
        "out of bounds", X4, {"address": "add.u32 %r5, %r1, 5;"}, 27
    ),
    "a row behind all, transposed": (
        "out of bounds", X4T, {"address": "add.u32 %r5, %r1, 5;"}, 27
    ),
    "no barrier before": ("race", X4, {"meet": ""}, 0),
    "no barrier before, transposed": ("race", X4T, {"meet": ""}, 0),
    "half of a warp": (
        "warp not whole", X1, {"guard": "setp.lt.u32 %p1, %r0, 16;\n@%p1 "}, 0
    ),
    "half of a warp comes by": (
        "warp not whole", X1, {"bend": "setp.lt.u32 %p1, %r0, 16;\n@%p1 ret;"}, 16
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_faults_of_matrices(name: str) -> None:
    kind, opcode, edits, thread = FAULTS[name]
    text = ptx.ldmatrix_text(opcode, **edits)
    with pytest.raises(ptxsim.Fault, match=f"^{kind}: ") as caught:
        loaded(text, int(opcode.split("x")[-1][0]))
    assert (
        caught.value.text.split("@%p1 ")[-1].startswith("ldmatrix")
        and caught.value.thread == thread
    )


def test_rows_that_no_lane_has_to_name_may_be_anywhere() -> None:
    """Of .x1, only the addresses of the first eight lanes count."""
    address = "mov.u32 %r5, 0;\nsetp.gt.u32 %p1, %r1, 7;\n@%p1 mov.u32 %r5, 99999;"
    loaded(ptx.ldmatrix_text(X1, address=address), 1)


@pytest.mark.parametrize("opcode", [X4, X4T])
def test_a_lane_reads_what_it_receives(opcode: str) -> None:
    """A store after it: of one's own number it is none of a race, of others' it is."""
    own = "shl.b32 %r5, %r1, 2;\nadd.u32 %r5, %r5, %r2;\n"
    own += "st.shared.b32 [%r5{}], 7;\nmov.u32 %r6, 0;"
    straight = {"address": "mov.u32 %r5, %r1;"}
    for shift, races in (("", "trans" in opcode), ("+128", True)):
        text = ptx.ldmatrix_text(opcode, **straight)
        text = text.replace(
            "st.global.b32 [%rd0+0],", f"{own.format(shift)}\nst.global.b32 [%rd0+0],"
        )
        text = text.replace("+128]", "+4]") if shift else text
        if races:
            with pytest.raises(ptxsim.Fault, match="^race: ") as caught:
                loaded(text, 4)
            assert caught.value.text.startswith("st.shared")
        else:
            loaded(text, 4)


def test_a_product_needs_all_of_a_warp() -> None:
    (a, b, c), *_ = products(MMA[0], 0)
    given = [np.array(x, "u4").reshape(-1) for x in (a, b, c)]
    out = np.empty_like(given[2])
    guard = "setp.lt.u32 %p1, %r0, 5;\n@%p1 "
    with pytest.raises(ptxsim.Fault, match="^warp not whole: .*all 32 lanes") as caught:
        ptxsim.run(ptx.mma_text(MMA[0], guard=guard), 1, (out, *given), outputs=[0])
    assert caught.value.text.startswith("@%p1 mma") and caught.value.thread == 0
    none = "setp.gt.u32 %p1, %r0, 99;\n@%p1 "
    ptxsim.run(ptx.mma_text(MMA[0], guard=none), 1, (out, *given), outputs=[0])
    with pytest.raises(ptxsim.Fault, match="^warp not whole: "):  # there is no lane 31
        text = ptx.mma_text(MMA[0], threads=31)
        ptxsim.run(text, 1, (out, *given), changed=[0])


def test_wavefronts_of_matrices() -> None:
    """A matrix is served at once if its 8 rows lie in different banks."""
    for stride, passes in ((1, 1), (2, 2), (8, 8)):
        rows = f"mul.lo.u32 %r5, %r1, {stride};\nand.b32 %r5, %r5, 31;"
        text = ptx.ldmatrix_text(X4, address=rows)
        _, _, result = loaded(text, 4, profile=True)
        count = next(x for x in result.counts if x.instruction.opcode == X4)
        rows_apart = {lane * stride % 32 for lane in range(8)}
        worst = max(sum(r % 8 == x for r in rows_apart) for x in range(8))
        assert worst == min(passes, 4)
        assert (count.wavefronts, count.turns) == (4 * worst, 4)


def test_what_tensor_cores_do_elsewhere_is_refused_by_name() -> None:
    for name, operands in (
        ("stmatrix.sync.aligned.m8n8.x1.shared.b16", "[%r4], {%r10}"),
        ("wgmma.fence.sync.aligned", ""),
        (
            "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64",
            "{%d1}, {%d2}, {%d3}, {%d4}",
        ),
    ):
        text = ptx.ldmatrix_text(X1).replace(
            f"{X1} {{%r10}}, [%r4];", f"{name} {operands};"
        )
        with pytest.raises(ptxsim.Unsupported, match=name.split(".")[0]):
            loaded(text, 1)
