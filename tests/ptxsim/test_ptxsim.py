"""ptxsim as a whole: its arguments, what it counts, its traces, what it refuses."""

import numpy as np
import pytest

import ptx
import ptxsim
from ptxsim.opcodes import COUNTS, unordered
from ptxsim.parser import parse
from ptxsim.translate import OPCODES

COPY = """mov.u32 %r0, %tid.x;
ld.param.u64 %rd1, [p4];
ld.param.u64 %rd2, [p11];
mul.wide.u32 %rd3, %r0, 4;
add.s64 %rd1, %rd1, %rd3;
add.s64 %rd2, %rd2, %rd3;
ld.global.f32 %f1, [%rd2];
setp.lt.u32 %p1, %r0, 40;
@%p1 bra $SKIP;
add.f32 %f1, %f1, %f1;
$SKIP:
st.global.f32 [%rd1], %f1;"""


def copied(body: str = COPY, threads: int = 64, **options) -> tuple:
    x, y = np.arange(threads, dtype="f4"), np.empty(threads, "f4")
    text = ptx.module(body, 2, threads)
    return y, ptxsim.run(text, 1, (y, x), outputs=[0], **options)


def test_a_kernel_runs_and_every_instruction_is_counted() -> None:
    y, result = copied()
    x = np.arange(64)
    assert np.array_equal(y, np.where(x < 40, x, 2 * x))
    assert [count.threads for count in result.counts] == [64] * 9 + [24] + [64] * 2
    assert [count.warps for count in result.counts] == [2] * 9 + [1] + [2] * 2
    assert [count.block for count in result.counts] == [0] * 9 + [1] + [2] * 2
    assert result.entered == ((64, 2), (24, 1), (64, 2))
    assert result.by_opcode()["add.s64"] == 128
    assert result.by_opcode("warps")["add.f32"] == 1
    assert result.threads == 64 * 11 + 24 and result.warps == 23
    assert result.counts[9].instruction.text == "add.f32 %f1, %f1, %f1"


def test_lines_of_python_are_counted() -> None:
    body = COPY.replace("ld.global", ".loc 1 7 0\nld.global")
    body = body.replace("$SKIP:", "$SKIP:\n.loc 1 9 0")
    text = ptx.module(body, 2, 64) + '.file 1 "there/copy.py"\n'
    x, y = np.arange(64, dtype="f4"), np.empty(64, "f4")
    result = ptxsim.run(text, 1, (y, x), outputs=[0])
    lines = result.by_source_line()
    assert lines == {("", 0): 384, ("there/copy.py", 7): 216, ("there/copy.py", 9): 128}
    with pytest.raises(
        ptxsim.Fault, match=r"^out of bounds: line \d+ \(copy.py:7\), block"
    ):
        ptxsim.run(text, 2, (y, x[:60].copy()), outputs=[0])


# ---- arguments ----

X, Y = np.arange(64, dtype="f4"), np.empty(64, "f4")
LOCKED = np.empty(64, "f4")
LOCKED.flags.writeable = False
TEXT = ptx.module(COPY, 2, 64)
MISTAKES = [
    (
        (TEXT, 1, (Y, [1.0])),
        {},
        r"args\[1\]: expected an array, a number, bytes or None, got list",
    ),
    (
        (TEXT, 1, (Y, 3)),
        {},
        r"args: the kernel has 14 parameters, and these arguments make 2 \(pointers\), "
        r"8 \(numba-cuda\), 6 \(numba-cuda-mlir\); by numba-cuda, parameter p8 has no",
    ),
    (
        (TEXT, 1, (Y, np.zeros((8, 8), "f4").T)),
        {},
        r"args\[1\]: expected a C-contiguous",
    ),
    ((TEXT, 1, (Y, Y[3:])), {}, r"args\[1\]: it shares memory with another argument"),
    (
        (TEXT, 1, (Y,)),
        {},
        r"args: the kernel has 14 parameters, and these arguments make 1 \(pointers\), 7 "
        r"\(numba-cuda\), 5 \(numba-cuda-mlir\); by numba-cuda, parameter p7 has no argum",
    ),
    (
        (TEXT, 1, (Y, np.zeros((8, 8), "f4"))),
        {},
        r"these arguments make 2 \(pointers\), 16 \(numba-cuda\), 12 \(numba-cuda-mlir\)",
    ),
    ((TEXT, 0, (Y, X)), {}, "grid: expected one to three numbers above 0, got 0"),
    ((TEXT, (1, 1, 1, 1), (Y, X)), {}, "grid: expected one to three"),
    ((TEXT, 1, (Y, X)), {"threads": (32, 33)}, "threads: expected at most 1024, got"),
    ((TEXT, 1, (Y, X)), {"threads": 0.5}, "threads: expected one to three"),
    ((TEXT, 1, (Y, X)), {"outputs": [2]}, "outputs: expected places of arrays, got 2"),
    (
        (TEXT, 1, (Y, X)),
        {"changed": [-1]},
        "changed: expected places of arrays, got -1",
    ),
    (
        (TEXT, 1, (Y, X)),
        {"name": "other"},
        r"name: expected one of \['k'\], got 'other'",
    ),
    (
        (TEXT.replace(".maxntid 64, 1, 1", ""), 1, (Y, X)),
        {},
        "threads: the PTX does not",
    ),
    ((b"", 1, ()), {}, "text: expected PTX as a str, got bytes"),
    *(
        (
            (TEXT, 1, (Y, np.zeros(64, dtype))),
            {},
            r"args\[1\]: expected whole numbers, fl",
        )
        for dtype in (">f4", "c8", "U1", object, "M8[s]", "V4", np.longdouble)
    ),
    ((TEXT, 1, (np.complex64(1),)), {}, r"args\[0\]: expected whole numbers, floats"),
    ((TEXT, 1, (Y, np.ma.array(X))), {}, r"args\[1\]: expected .*, got MaskedArray"),
    (
        (TEXT, 1, (Y, np.float32(3) + np.zeros(()))),
        {},
        r"these arguments make 2 \(pointers\), 8 \(numba-cuda\), 6",
    ),
    ((TEXT, 1, (Y, np.zeros((), "f4"))), {}, r"args\[1\]: expected a C-contiguous"),
    ((TEXT, 1, (X, LOCKED)), {"outputs": [1]}, r"outputs: expected arrays that may be"),
    ((TEXT, 1, (X, LOCKED)), {"changed": [1]}, r"changed: expected .*, got args\[1\]"),
    *(
        ((TEXT, 1, args), {}, "args: expected a sequence, got ")
        for args in (None, 5, "ab", X)
    ),
    *(
        ((TEXT, 1, (Y, X)), {what: given}, f"{what}: expected a sequence, got ")
        for what in ("outputs", "changed")
        for given in (None, 0, "0")
    ),
    *(
        (
            (TEXT, 1, (Y, X)),
            {"outputs": [given]},
            "outputs: expected places of arrays, got",
        )
        for given in (True, 0.0, "0", None, [0])
    ),
    (
        (TEXT, 1, (Y, X)),
        {"outputs": [0], "changed": [0]},
        "changed: expected none of the outputs, got 0",
    ),
    *(
        (
            (TEXT, 1, (Y, X)),
            {what: given},
            f"{what}: expected a number from {least}, got ",
        )
        for what, least in (("dynamic", 0), ("lanes", 1), ("limit", 1))
        for given in (least - 1, "8", 1.5, True)
    ),
    ((TEXT, 1, (Y, X)), {"name": []}, "name: expected a str, got list"),
    ((TEXT, 1, (Y, X)), {"step": 5}, "step: expected a function, got int"),
    ((TEXT, True, (Y, X)), {}, "grid: expected one to three numbers above 0, got True"),
    ((TEXT, None, (Y, X)), {}, "grid: expected one to three numbers above 0, got None"),
    *(
        (
            (TEXT, grid, (Y, X)),
            {},
            r"grid: expected at most \(2147483647, 65535, 65535\)",
        )
        for grid in (2**31, (1, 65536), (1, 1, 65536), (2**40, 2**40))
    ),
    (
        (TEXT, 2**31 - 1, (Y, X)),
        {},
        "grid: expected at most 1073741824 warps in all, got",
    ),
    ((TEXT, 1, (Y, X)), {"threads": (1, 1, 65)}, "threads: expected at most .*, 64"),
    (
        (TEXT, 1, (Y, X)),
        {"threads": 65},
        r"threads: the PTX allows at most \(64, 1, 1\)",
    ),
    (
        (TEXT.replace(".maxntid", ".reqntid"), 1, (Y, X)),
        {"threads": (8, 8)},
        r"threads: the PTX requires \(64, 1, 1\), got \(8, 8\)",
    ),
    ((TEXT, 1, (Y, X)), {"dynamic": 232449}, "dynamic: expected at most 232448 bytes"),
    (
        (ptx.module(".shared .b8 S[49153];\n" + COPY, 2, 64), 1, (Y, X)),
        {},
        "text: expected at most 49152 bytes of shared memory, got 49153",
    ),
    (("", 1, ()), {}, r"text: expected PTX with an .entry, got none"),
]


@pytest.mark.parametrize(("args", "options", "says"), MISTAKES)
def test_a_mistake_is_named(args: tuple, options: dict, says: str) -> None:
    with pytest.raises((TypeError, ValueError), match=says):
        ptxsim.run(*args, **options)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("f32", np.float64(1)),
        ("f32", np.int32(1)),
        ("u32", np.int64(1)),
        ("u32", np.float32(1)),
    ],
)
def test_a_number_of_another_type_is_refused(kind: str, value: np.generic) -> None:
    text = f".version 8.0\n.target sm_80\n.entry k(.param .{kind} a)\n{{ ret; }}"
    with pytest.raises(
        TypeError, match=rf"args\[0\], parameter a: expected a number for \.{kind}, got"
    ):
        ptxsim.run(text, 1, (value,), threads=32)


# ---- what it does not know ----

UNKNOWN = [
    "brkpt;", "discard.global.L2 [%rd1], 128;", "mov.u64 %rd5, %globaltimer;",
    "mov.u32 %r1, %smid;",
    "mov.u32 %r1, %clock;", "ld.global.v4.u64 {%rd5, %rd6, %rd7, %rd8}, [%rd1];",
    "bar.arrive 0;", "add.s32 %r1, %h1, %r0;",
    "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2}, {%r3},"
    " {%f1,%f2,%f3};", "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1, %r2}, [%r0];",
    "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r0], {%r1};", "wgmma.fence.sync.aligned;",
    "cp.async.cg.shared.global [%r0], [%rd1], 8;", "mul.wide.s32 %r1, %r0, %r0;",
    ".pragma2 \"x\";", "lop3.b32 %r1, %r0, %r0, %r0, %r0;",
    "ld.global.v2.u32 {%r1}, [%rd1];", "setp.lt.u32 %r1, %r0, 3;", "ld.global.u32 %r1, %rd1;",
]  # fmt: skip


# What NVIDIA's assembler rejects as well.
WRONG = [
    "@%r0 bra $SKIP;", "@%f1 mov.u32 %r1, 3;",             "add.s32 %f2, %r0, %r0;", "add.u32 %rd5, %r0, %r0;", "add.u32 %r1, %r0, %rd5;",
    "add.s16 %h1, %h2, %r0;", "mov.u32 %f2, %r0;", "mov.u64 %rd5, %tid.x;",
    "mov.f32 %f2, %tid.x;", "mov.f32 %f2, 1;", "mov.u32 %r1, 08;", "mov.u32 %r1, 1.5;",
    "mov.u32 %r1, 0f3F800000;", "popc.b64 %rd5, %rd6;", "shl.b64 %rd5, %rd6, %rd5;",
    "ld.global.u32 %f2, [%rd1];", "ld.global.f32 %d1, [%rd1];", "ld.global.u32 %r1, [%f1];",
    "st.global.u32 [%rd1], %f1;", "cvt.rn.f32.u32 %f2, %f1;", "not.pred %p2, %r0;",
    "setp.eq.and.u32 %p2, %r0, %r0, %r1;", "atom.global.add.u32 %f2, [%rd1], %r1;",
    "shfl.sync.idx.b32 %r1|%r2, %r0, 0, 31, -1;",             ]  # fmt: skip


# What is no PTX: the error is a ValueError.
BROKEN = [
    "call f, (%r0);", "bar.warp.sync nobody;", "mov.u32 %r1, nobody;",
    "add.s32 %r1, 0f3F800000x, %r0;", "brx.idx %r0, $T;", "bra $NOWHERE;", "@%q1 exit;",
    "@%p1;", "mov.u32 %r1 %r0;", "add.s32 %r1, %r0 %r0;", "mov.u32 %r1, %r0,;",
    "mov.u32 ,%r1, %r0;", "mov.b64 %rd5, {%r0 %r1};", "bra $SKIP %r1;",
    "ret mov.u32 %r1, 3;", "$A: $A: ret;", "mov.u32 %r40, 3;", "mov.u32 %r1, %s1;",
    ".reg .b32 %r<4>;", ".reg .b32 %f1x, %f1x;", ".shared .b8 S[-4];",
    ".shared .b8 S[0];", ".shared .b8 S[x];", ".local .align 3 .b8 S[4];",
    ".local .align 0 .b8 S[4];", ".local .align x .b8 S[4];", ".global .u32 S = {1, 2};",
    ".shared .b8 S[4], 5;", "$B: .branchtargets $SKIP, $NOBODY; brx.idx %r0, $B;",
    ".loc 1 2;", "mov.u32 %r1, 3", "ld.global.f32 %f1, [];", "ld.global.f32 %f1, [%rd1-4];", "ld.global.f32 %f1, [%rd1;",
    "{ .reg .b32 t; } mov.u32 t, 3;", ".param .b32 q; .param .b64 q;",
    ".global .u64 S = nobody;", "call nobody;", ".reg .b32 %x<y>;",
    "$B: .branchtargets $SKIP; $B: brx.idx %r0, $B;", "ld.global.f32 %f1, [%rd1+%r1];",
]  # fmt: skip


@pytest.mark.parametrize("statement", BROKEN)
def test_what_is_no_ptx_is_a_mistake_of_the_text(statement: str) -> None:
    body = COPY.replace("add.f32 %f1, %f1, %f1;", statement)
    text = ptx.module(body, 2)
    line = next(i for i, x in enumerate(text.splitlines(), 1) if statement in x)
    with pytest.raises(ValueError, match=rf"^text: line {line}: .* \(.*\)$"):
        copied(body)


@pytest.mark.parametrize("statement", [*UNKNOWN, *WRONG])
def test_what_it_does_not_know_it_refuses_and_names(statement: str) -> None:
    body = COPY.replace("add.f32 %f1, %f1, %f1;", statement)
    with pytest.raises(ptxsim.Unsupported) as caught:
        copied(body)
    line = next(
        i for i, x in enumerate(ptx.module(body, 2).splitlines(), 1) if statement in x
    )
    assert caught.value.line == line
    assert caught.value.text.split()[0].rstrip(";") == statement.split()[0].rstrip(";")
    assert str(caught.value).startswith(f"line {line}: ")


# ptxas takes the words of an access in other orders than the manual's, too.
SPELLINGS = {
    "atom.global.gpu.acq_rel.add.u32 %r1, [%rd1], 0;": "atom.acq_rel.gpu.global.add.u32",
    "red.shared::cta.relaxed.cta.or.b32 [%r0], 0;": "red.relaxed.cta.shared.or.b32",
    "ld.global.volatile.u32 %r1, [%rd1];": "ld.volatile.global.u32",
    "st.shared::cta.v2.b32 [%r0], {%r0, %r0};": "st.shared.v2.b32",
    "ld.global.nc.u32 %r1, [%rd1];": "ld.global.nc.u32",
}


@pytest.mark.parametrize("statement", SPELLINGS)
def test_the_words_of_an_access_come_in_any_order(statement: str) -> None:
    kernel = parse(ptx.module(COPY.replace("add.f32 %f1, %f1, %f1;", statement), 2))
    opcodes = [one.opcode for one in kernel.instructions()]
    assert SPELLINGS[statement] in opcodes
    assert unordered(SPELLINGS[statement]) in COUNTS


@pytest.mark.parametrize("by", [-1, 1])
def test_an_operand_too_few_or_too_many_is_refused(by: int) -> None:
    one_of_each = {(OPCODES[x], counts): x for x, counts in COUNTS.items()}
    for (_, counts), opcode in one_of_each.items():
        operands = ["%r1"] * ((min if by < 0 else max)(counts) + by)
        statement = f"{opcode} {', '.join(operands)};"
        if opcode.startswith(("br", "call")) or (counts == (0,) and by < 0):
            continue  # of a branch, the label is missed; calls have any number
        with pytest.raises(
            ptxsim.Unsupported, match=r"\(it takes \d.* operands, and has "
        ):
            copied(COPY.replace("add.f32 %f1, %f1, %f1;", statement))


def test_a_guard_that_nothing_writes_is_refused() -> None:
    for statement in ("@!%p3 bra $SKIP;", "@%p3 mov.u32 %r1, 3;", "@%p3 bar.sync 0;"):
        body = COPY.replace("add.f32 %f1, %f1, %f1;", statement)
        with pytest.raises(ptxsim.Unsupported, match=r"\(nothing writes %p3\)"):
            copied(body)
    copied(COPY.replace("add.f32", "bar.red.or.pred %p3, 0, %p1;\n@%p3 add.f32"))


def test_a_kernel_has_an_end() -> None:
    text = TEXT.replace("ret;", "")
    with pytest.raises(ptxsim.Unsupported, match="threads run past the end"):
        ptxsim.run(text, 1, (Y, X))
    with pytest.raises(ValueError, match="^text: line 26: ; .the text ends early"):
        ptxsim.run(TEXT.rstrip()[:-1], 1, (Y, X))


# ---- reading the text ----


def test_a_text_may_hold_comments_sections_and_other_kernels() -> None:
    more = """.section .debug_str { .b8 1 }
.func f { ret; }
.entry other(.param .u64 a) { ret; }
"""
    text = TEXT.replace(".visible", f"/* many\nlines */ // and one\n{more}.visible")
    with pytest.raises(
        ValueError, match=r"name: expected one of \['other', 'k'\], got None"
    ):
        ptxsim.run(text, 1, (Y, X), outputs=[0])
    ptxsim.run(text, 1, (Y, X), outputs=[0], name="k")
    line = next(i for i, x in enumerate(text.splitlines(), 1) if "ld.global" in x)
    with pytest.raises(ptxsim.Fault, match=f"^out of bounds: line {line},"):
        ptxsim.run(text, 1, (Y, X[:9].copy()), outputs=[0], name="k")


def test_scopes_have_registers_of_their_own() -> None:
    scope = (
        "{ .reg .f32 t; add.f32 t, %f1, %f1; { .reg .f32 t; mov.f32 t, 0f00000000; }"
    )
    scope += " mov.f32 %f1, t; }"
    y, _ = copied(COPY.replace("add.f32 %f1, %f1, %f1;", scope))
    assert np.array_equal(y, np.where(X < 40, X, 2 * X))


def test_grids_and_blocks_have_three_dimensions() -> None:
    body = """mov.u32 %r0, %tid.x;
mov.u32 %r1, %tid.y;
mov.u32 %r2, %tid.z;
mov.u32 %r3, %ctaid.x;
mov.u32 %r4, %ctaid.y;
mov.u32 %r5, %ctaid.z;
mov.u32 %r6, %nctaid.x;
mov.u32 %r7, %nctaid.y;
mad.lo.u32 %r8, %r5, %r7, %r4;
mad.lo.u32 %r8, %r8, %r6, %r3;
mov.u32 %r9, %ntid.z;
mad.lo.u32 %r8, %r8, %r9, %r2;
mov.u32 %r9, %ntid.y;
mad.lo.u32 %r8, %r8, %r9, %r1;
mov.u32 %r9, %ntid.x;
mad.lo.u32 %r8, %r8, %r9, %r0;
ld.param.u64 %rd1, [p4];
mul.wide.u32 %rd2, %r8, 4;
add.s64 %rd1, %rd1, %rd2;
st.global.u32 [%rd1], %r8;"""
    for lanes in (32, 4096):
        out = np.empty(2 * 3 * 4 * 5 * 2 * 3, "u4")
        text = ptx.module(body, 1)
        ptxsim.run(text, (2, 3, 4), (out,), threads=(5, 2, 3), outputs=[0], lanes=lanes)
        assert np.array_equal(out, np.arange(720))


# ---- traces ----


def test_a_trace_tells_what_one_thread_did() -> None:
    moments = ptxsim.trace(TEXT, 1, (Y, X), outputs=[0], thread=50)
    assert [m.instruction.opcode for m in moments[6:]] == [
        "ld.global.f32", "setp.lt.u32", "bra", "add.f32", "st.global.f32", "ret"
    ]  # fmt: skip
    assert moments[6].values == {"%f1": 50.0} and moments[7].values == {"%p1": False}
    assert moments[9].values == {"%f1": 100.0} and moments[10].values == {}
    moments = ptxsim.trace(TEXT, 1, (Y, X), outputs=[0], thread=3)
    assert "add.f32" not in [m.instruction.opcode for m in moments]


def test_a_trace_of_nobody_is_refused() -> None:
    with pytest.raises(ValueError, match="no thread 64 in a block 0"):
        ptxsim.trace(TEXT, 1, (Y, X), outputs=[0], thread=64)
    for what in ("block", "thread"):
        for given in (-1, None, "0", (0, 0)):
            with pytest.raises(
                ValueError, match=f"{what}: expected a number from 0, got "
            ):
                ptxsim.trace(TEXT, 1, (Y, X), outputs=[0], **{what: given})


# ---- how compilers pass arguments


# A matrix of 4 x 8 numbers and a whole number: where each parameter is, and what it holds.
# An address is None.
PASSED = {
    "numba-cuda": [0, 0, 32, 4, None, 4, 8, 32, 4, 7],
    "numba-cuda-mlir": [None, None, 0, 4, 8, 8, 1, 7],
}


@pytest.mark.parametrize("compiler", PASSED)
def test_arguments_are_laid_out_as_the_compiler_passes_them(compiler: str) -> None:
    passed = PASSED[compiler]
    address = passed.index(None)
    lines = [f"ld.param.u64 %rd0, [p{address}];"]
    for i, value in enumerate(passed[:-1]):
        lines.append(f"ld.param.u64 %rd1, [p{i}];")
        if value is None:  # every address is that of the first element
            lines.append("sub.u64 %rd1, %rd1, %rd0;")
        lines += ["cvt.rn.f32.u64 %f1, %rd1;", f"st.global.f32 [%rd0+{4 * i}], %f1;"]
    last = len(passed) - 1
    lines += [f"ld.param.u32 %r1, [p{last}];", "cvt.rn.f32.u32 %f1, %r1;"]
    lines.append(f"st.global.f32 [%rd0+{4 * last}], %f1;")
    kinds = ["u64"] * last + ["u32"]
    parameters = ", ".join(f".param .{kind} p{i}" for i, kind in enumerate(kinds))
    text = ptx.module("\n".join(lines), 0, 1).replace("k()", f"k({parameters})")
    x = np.full((4, 8), -1, "f4")
    ptxsim.run(text, 1, (x, np.int32(7)), changed=[0])
    assert x.ravel()[: last + 1].tolist() == [value or 0 for value in passed]
    assert (x.ravel()[last + 1 :] == -1).all()
