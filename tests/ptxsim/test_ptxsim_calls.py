"""ptxsim reads what any compiler writes: its parameters, its modules and its calls."""

import re
import struct

import numpy as np
import pytest

import ptx
import ptxsim
from ptxsim import parser

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"


def entry(parameters: str, body: str, before: str = "") -> str:
    """Return a module with one kernel of 32 threads."""
    return (
        f"{HEAD}{before}\n.visible .entry k({parameters})\n.maxntid 32, 1, 1\n{{\n"
        ".reg .pred %p<4>;\n.reg .b16 %h<8>;\n.reg .b32 %r<20>;\n.reg .f32 %f<8>;\n"
        f".reg .f64 %d<4>;\n.reg .b64 %rd<20>;\n{body}\nret;\n}}\n"
    )


def run(text: str, *args: object, **options: object) -> ptxsim.Result:
    """Run one block; the first argument may be changed."""
    return ptxsim.run(text, 1, args, changed=[0], **options)


# ---- arguments ----

POINTER = [".u64", ".b64", ".s64", ".u64 .ptr .global .align 16", ".u64 .ptr"]
POINTER += [".b64 .ptr .align 1", ".align 8 .b8[8]"]


@pytest.mark.parametrize("declared", POINTER)
def test_an_array_is_one_pointer(declared: str) -> None:
    kind, _, array = declared.partition("[")
    text = entry(
        f".param {kind} out{'[' * bool(array)}{array}, .param .u32 n",
        "ld.param.u64 %rd1, [out];\nld.param.u32 %r1, [n];\nst.global.u32 [%rd1], %r1;",
    )
    out = np.zeros((2, 2), "u4")
    result = run(text, out, np.int32(7))
    assert out.tolist() == [[7, 0], [0, 0]]
    assert result.layout == "pointers"


def test_what_a_pointer_leads_to_is_aligned_as_declared() -> None:
    text = entry(
        ".param .u64 out, .param .u64 .ptr .global .align 4096 x",
        "ld.param.u64 %rd1, [out];\nld.param.u64 %rd2, [x];\nst.global.u64 [%rd1], %rd2;",
    )
    out = np.zeros(1, "u8")
    run(text, out, np.zeros(3, "u1"))
    assert out[0] % 4096 == 0


def passed(kind: str, value: object) -> bytes:
    """Return the bytes that a kernel finds in a parameter of 4 or 8 bytes."""
    bits = 64 if kind.endswith("64") else 32
    register = "%rd2" if bits == 64 else "%r2"
    text = entry(
        f".param .u64 out, .param .{kind} x",
        f"ld.param.u64 %rd1, [out];\nld.param.b{bits} {register}, [x];\n"
        f"st.global.b{bits} [%rd1], {register};",
    )
    out = np.zeros(bits // 8, "u1")
    run(text, out.view(f"u{bits // 8}"), value)
    return out.tobytes()


@pytest.mark.parametrize(
    ("kind", "value", "holds"),
    [
        ("u32", 2**32 - 1, struct.pack("<I", 2**32 - 1)),
        ("u32", -1, struct.pack("<i", -1)),
        ("b32", -(2**31), struct.pack("<i", -(2**31))),
        ("s32", 2**31 - 1, struct.pack("<i", 2**31 - 1)),
        ("u64", 2**64 - 1, struct.pack("<Q", 2**64 - 1)),
        ("u32", True, struct.pack("<i", 1)),
        ("f32", 0.1, struct.pack("<f", 0.1)),
        ("f32", -3, struct.pack("<f", -3)),
        ("f64", 0.1, struct.pack("<d", 0.1)),
        ("f32", float("-inf"), struct.pack("<f", float("-inf"))),
        ("f32", np.float32(0.1), struct.pack("<f", 0.1)),
        ("b32", np.float32(0.1), struct.pack("<f", 0.1)),
        ("b64", None, bytes(8)),
        ("u64", None, bytes(8)),
    ],
)
def test_a_number_is_passed_as_its_parameter_declares(
    kind: str, value: object, holds: bytes
) -> None:
    assert passed(kind, value) == holds


@pytest.mark.parametrize(
    ("kind", "value", "got"),
    [
        ("u32", 2**32, "got 4294967296"),
        ("u32", -(2**31) - 1, "got -2147483649"),
        ("s32", 2**31, "got 2147483648"),
        ("f32", 2**24 + 1, "got 16777217"),
        ("f32", 10**400, "got 1000"),
        ("f32", 1e300, r"got 1e\+300"),
        ("f32", True, "got bool"),
        ("u32", 1.0, "got float"),
        ("b32", 1.0, "got float"),
        ("u32", None, "got NoneType"),
        ("f64", None, "got NoneType"),
        ("u32", b"abcd", "got bytes"),
        ("f64", np.zeros(2), "got an array"),
        ("u32", np.zeros(2), "got an array"),
    ],
)
def test_a_number_that_does_not_fit_is_refused(
    kind: str, value: object, got: str
) -> None:
    expected = rf"^args\[1\], parameter x: expected a number for \.{kind}, {got}"
    with pytest.raises((TypeError, ValueError), match=expected):
        passed(kind, value)


STRUCT = np.dtype([("a", "u4"), ("b", "f4"), ("c", "u8"), ("d", "u2"), ("e", "i2", 3)])


def test_a_struct_is_passed_by_value_and_read_in_parts() -> None:
    text = entry(
        ".param .u64 out, .param .align 8 .b8 s[24]",
        """ld.param.u64 %rd1, [out];
ld.param.v2.b32 {%r1, %r2}, [s];
st.global.v2.b32 [%rd1], {%r1, %r2};
ld.param.u64 %rd2, [s+8];
st.global.u64 [%rd1+8], %rd2;
ld.param.v4.u16 {%h1, %h2, %h3, %h4}, [s+16];
st.global.v4.u16 [%rd1+16], {%h1, %h2, %h3, %h4};
ld.param.s16 %r3, [s+18];
st.global.u32 [%rd1+24], %r3;
ld.param.u8 %r4, [s+8];
st.global.u32 [%rd1+28], %r4;""",
    )
    value = np.array((1, 0.5, 2**63 + 3, 4, (-5, 6, 7)), STRUCT)[()]
    raw = struct.pack("<IfQH3h", 1, 0.5, 2**63 + 3, 4, -5, 6, 7)
    half = entry(
        ".param .u64 out, .param .align 2 .b8 h[2]",
        "ld.param.u64 %rd1, [out];\nld.param.b16 %h1, [h];\nst.global.b16 [%rd1], %h1;",
    )
    out = np.zeros(2, "f2")
    run(half, out, np.float16(0.5))
    assert out.tolist() == [0.5, 0]
    for given in (value, raw):
        out = np.zeros(8, "u4")
        run(text, out, given)
        assert out.tobytes() == raw + struct.pack("<iI", -5, 3)
    expected = r"args\[1\], parameter s: expected bytes or a scalar of NumPy of 24 b"
    short = np.array((1,), [("a", "u8")])[()]
    for wrong in (raw[1:], short, 5, None, np.float32(1), np.zeros(24, "u1")):
        with pytest.raises(
            TypeError, match=expected if not isinstance(wrong, np.ndarray) else "an arr"
        ):
            run(text, np.zeros(8, "u4"), wrong)


@pytest.mark.parametrize("where", ["s+4", "s+24", "s+17", "s+-8"])
def test_what_is_no_part_of_a_parameter_is_refused(where: str) -> None:
    body = f"ld.param.u64 %rd1, [{where}];"
    text = entry(".param .u64 out, .param .align 8 .b8 s[24]", body)
    with pytest.raises(ptxsim.Unsupported, match="ld.param.u64"):
        run(text, np.zeros(1, "u4"), bytes(24))


def test_subnormal_numbers_among_the_arguments_are_flushed() -> None:
    text = entry(
        ".param .u64 out, .param .f32 x, .param .align 4 .b8 s[4]",
        "ld.param.u64 %rd1, [out];\nld.param.f32 %f1, [x];\nld.param.f32 %f2, [s];\n"
        "add.ftz.f32 %f1, %f1, %f2;\nmul.ftz.f32 %f1, %f1, 0f7F000000;\n"
        "st.global.f32 [%rd1], %f1;",
    )
    tiny = 2.0**-127
    for args in ((tiny, bytes(4)), (0.0, struct.pack("<f", tiny))):
        out = np.ones(1, "f4")
        run(text, out, *args)
        assert out[0] == 0


def test_a_wrong_number_of_arguments_names_the_first_that_is_missing() -> None:
    text = entry(".param .u64 a, .param .u32 n, .param .u64 scratch", "")
    a = np.zeros(4, "f4")
    for args, says in (
        ((a, 3), r"make 2 \(pointers\), 8 \(n.*; by pointers, parameter scratch has no arg"),
        ((a, 3, None, 1), r"by pointers, args\[3\] has no parameter"),
        ((a, a.copy(), a.copy(), a.copy()), r"by pointers, args\[3\] has no parameter"),
        ((), r"by pointers, parameter a has no argument"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=f"the kernel has 3 parameters.*{says}"):
            run(text, *args) if args else ptxsim.run(text, 1, ())
    with pytest.raises(ValueError, match=r"numba-cuda, parameter p9 has no argument"):
        run(entry(", ".join(f".param .u64 p{i}" for i in range(10)), ""), a, 1, 2)


# ---- calls ----

LANE = np.arange(32)
# out[i] for the thread i, with %rd1 its address and %r1 its number
OWN = """ld.param.u64 %rd1, [out];
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd2, %r1, 4;
add.s64 %rd1, %rd1, %rd2;
"""
SQUARE = """.func (.param .b32 back) square(.param .b32 given)
{
.reg .b32 %r<3>;
ld.param.b32 %r1, [given];
mul.lo.s32 %r2, %r1, %r1;
st.param.b32 [back+0], %r2;
ret;
}
"""


def called(
    before: str, body: str, start: int | np.ndarray = 0, **options: object
) -> tuple[list[int], ptxsim.Result]:
    """Return what 32 threads leave in ``out``, whose elements they find at %rd1."""
    out = np.zeros(32, "i4") + np.asarray(start, "i4")
    result = run(entry(".param .u64 out", OWN + body, before), out, **options)
    return out.tolist(), result


def call_of(name: str, given: str, to: str, way: str = "call.uni") -> str:
    """Return a call with one argument and one result, as LLVM writes it."""
    return (
        "{\n.param .b32 param0;\n"
        f"st.param.b32 [param0+0], {given};\n.param .b32 retval0;\n"
        f"{way} (retval0),\n{name},\n(\nparam0\n);\nld.param.b32 {to}, [retval0+0];\n}}\n"
    )


def test_a_function_is_executed_where_it_is_called() -> None:
    body = call_of("square", "%r1", "%r2") + "add.s32 %r1, %r1, 1;\n"
    body += call_of("square", "%r1", "%r3")
    body += "sub.s32 %r2, %r3, %r2;\nst.global.u32 [%rd1], %r2;"
    out, result = called(SQUARE, body)
    assert out == ((LANE + 1) ** 2 - LANE**2).tolist()
    counts = result.by_opcode()
    assert counts["call.uni"] == 64 and counts["mul.lo.s32"] == 64
    assert counts["st.param.b32"] == 4 * 32 and counts["ld.param.b32"] == 4 * 32
    assert counts["ret"] == 3 * 32
    lines = [x.instruction.line for x in result.counts if x.instruction.has("lo")]
    assert lines == [lines[0]] * 2  # the same line of the text, once for each call


def test_a_function_takes_and_returns_registers_and_constants() -> None:
    function = """.func (.reg .b32 sum, .reg .b32 odd) f(.reg .b32 a, .reg .b32 b)
{
shl.b32 a, a, 1;
add.s32 sum, a, b;
and.b32 odd, b, 1;
ret;
}
"""
    body = "call (%r2, %r5), f, (%r1, %r1);\ncall (%r3, %r6), f, (%r2, -5);\n"
    body += "mad.lo.s32 %r3, %r5, 1000, %r3;\nmad.lo.s32 %r3, %r6, 5000, %r3;\n"
    body += "add.s32 %r3, %r3, %r1;\nst.global.u32 [%rd1], %r3;"
    out, _ = called(function, body)
    assert out == (2 * 3 * LANE - 5 + 1000 * (LANE % 2) + 5000 + LANE).tolist()


@pytest.mark.parametrize("given", ["%r1", "p"])
@pytest.mark.parametrize("formal", [".reg .b32", ".param .b32"])
def test_any_kind_of_argument_goes_to_any_kind_of_parameter(
    formal: str, given: str
) -> None:
    take = "mov.b32 t, a;" if "reg" in formal else "ld.param.b32 t, [a];"
    function = f".func ({formal} x) f({formal} a)\n{{\n.reg .b32 t;\n{take}\n"
    function += "add.s32 t, t, 7;\n"
    function += "mov.b32 x, t;" if "reg" in formal else "st.param.b32 [x], t;"
    body = ".param .b32 p;\n.param .b32 q;\nst.param.b32 [p], %r1;\n"
    back = "%r2" if given == "%r1" or "reg" in formal else "q"
    body += f"call ({back}), f, ({given});\n"
    body += "ld.param.b32 %r2, [q];\n" if back == "q" else ""
    out, _ = called(f"{function}\n}}\n", body + "st.global.u32 [%rd1], %r2;")
    assert out == (LANE + 7).tolist()


def test_a_struct_goes_to_a_function_and_comes_back_in_parts() -> None:
    function = """.func (.param .align 8 .b8 back[20]) turn(.param .align 8 .b8 given[20])
{
.reg .b32 a, b, c, d;
.reg .b16 h;
ld.param.v2.b32 {a, b}, [given+8];
ld.param.u16 h, [given+2];
ld.param.b32 c, [given+16];
st.param.v2.b32 [back], {b, a};
cvt.u32.u16 d, h;
st.param.b32 [back+12], d;
st.param.v2.b16 [back+8], {h, 3};
st.param.b8 [back+16], c;
st.param.b8 [back+17], 1;
st.param.v2.b8 [back+18], {0, 0};
}
"""
    body = """.param .align 8 .b8 p[20];
.param .align 8 .b8 q[20];
shl.b32 %r2, %r1, 16;
st.param.b32 [p], %r2;
add.s32 %r2, %r1, 1;
st.param.v2.b32 [p+8], {%r1, %r2};
st.param.b32 [p+16], 0x12345678;
call.uni (q), turn, (p);
ld.param.v4.b32 {%r2, %r3, %r4, %r5}, [q];
ld.param.b32 %r6, [q+16];
mad.lo.s32 %r2, %r2, 10, %r3;
mad.lo.s32 %r2, %r4, 100, %r2;
mad.lo.s32 %r2, %r5, 1000, %r2;
add.s32 %r2, %r2, %r6;
st.global.u32 [%rd1], %r2;
"""
    out, _ = called(function, body)
    halves = LANE + (3 << 16)
    wanted = 10 * (LANE + 1) + LANE + 100 * halves + 1000 * LANE + 0x178
    assert out == wanted.tolist()


def test_threads_that_do_not_call_go_on_behind_the_call() -> None:
    for guard, calls in (("@%p1", LANE < 10), ("@!%p1", LANE >= 10)):
        body = "setp.lt.u32 %p1, %r1, 10;\nmov.u32 %r2, 5000;\n"
        body += f"{guard} call (%r2), f, (%r1);\nst.global.u32 [%rd1], %r2;"
        function = (
            ".func (.reg .b32 x) f(.reg .b32 a)\n{\nadd.s32 x, a, 100;\nret;\n}\n"
        )
        out, result = called(function, body)
        assert out == np.where(calls, LANE + 100, 5000).tolist()
        counts = {x.instruction.opcode: x for x in result.counts}
        assert (counts["call"].threads, counts["call"].taken) == (32, 32 - calls.sum())
        assert counts["add.s32"].threads == calls.sum()
        assert (counts["st.global.u32"].threads, counts["st.global.u32"].warps) == (
            32,
            1,
        )


def test_threads_that_return_early_meet_the_others_behind_the_call() -> None:
    function = """.func (.reg .b32 x) f(.reg .b32 a)
{
.reg .pred p;
.reg .b32 n;
mov.u32 x, 0;
mov.u32 n, 0;
setp.gt.u32 p, a, 20;
@p ret;
$LOOP:
add.u32 x, x, a;
add.u32 n, n, 1;
setp.lt.u32 p, n, a;
@p bra $LOOP;
ret;
}
"""
    body = "call (%r2), f, (%r1);\nshfl.sync.idx.b32 %r3, %r2, 5, 31, -1;\n"
    body += "add.u32 %r2, %r2, %r3;\n$LOOP:\nst.global.u32 [%rd1], %r2;"
    out, result = called(function, body)
    square = np.where(LANE > 20, 0, np.maximum(LANE, 0) ** 2)
    assert out == (square + 25).tolist()
    assert [x.warps for x in result.counts if x.instruction.has("shfl")] == [1]


def test_functions_call_functions_and_have_local_memory_of_their_own() -> None:
    function = """.func (.param .b32 back) twice(.param .b32 given)
{
.local .align 4 .b8 depot[8];
.reg .b32 %r<4>;
.reg .b64 %rd<2>;
mov.u64 %rd1, depot;
ld.param.b32 %r1, [given];
st.local.u32 [%rd1], %r1;
CALL
add.s32 %r1, %r1, 1;
st.local.u32 [%rd1+4], %r2;
ld.local.u32 %r3, [%rd1];
add.s32 %r2, %r2, %r3;
st.param.b32 [back], %r2;
ret;
}
""".replace("CALL", call_of("square", "%r1", "%r2"))
    three = function.replace("twice", "three").replace("square", "twice")
    body = call_of("three", "%r1", "%r2") + "st.global.u32 [%rd1], %r2;"
    out, result = called(SQUARE + function + three, body)
    assert out == (LANE**2 + 2 * LANE).tolist()
    assert len([x for x in result.kernel.variables if x.space == "local"]) == 2
    heads = [f"{x.splitlines()[0]};\n" for x in (SQUARE, function)]
    out, _ = called("".join(heads) + three + function + SQUARE, body)  # in any order
    assert out == (LANE**2 + 2 * LANE).tolist()


def test_all_calls_share_the_shared_memory_of_a_function() -> None:
    function = """.func (.reg .b32 x) f(.reg .b32 a)
{
.shared .b32 S[32];
.reg .b32 at, t;
mov.u32 at, S;
mov.u32 t, %tid.x;
mad.lo.u32 at, t, 4, at;
st.shared.u32 [at], a;
bar.sync 0;
xor.b32 t, t, 1;
mov.u32 at, S;
mad.lo.u32 at, t, 4, at;
ld.shared.u32 x, [at];
bar.sync 0;
ret;
}
"""
    body = (
        "call (%r2), f, (%r1);\ncall (%r3), f, (%r2);\nmad.lo.u32 %r2, %r2, 100, %r3;"
    )
    out, result = called(function, body + "st.global.u32 [%rd1], %r2;")
    assert out == ((LANE ^ 1) * 100 + LANE).tolist()
    assert sum(x.size for x in result.kernel.variables) == 128


def test_a_thread_may_end_in_a_function() -> None:
    function = (
        ".func f(.reg .b32 a)\n{\n.reg .pred p;\nsetp.lt.u32 p, a, 7;\n@p exit;\n}\n"
    )
    body = "call f, (%r1);\nst.global.u32 [%rd1], %r1;"
    out, _ = called(function, body, -1)
    assert out == np.where(LANE < 7, -1, LANE).tolist()


def test_a_fault_in_a_function_has_its_line() -> None:
    function = ".func f(.reg .b64 p)\n{\n.loc 1 33 0\nst.global.u32 [p], 0;\nret;\n}\n"
    text = entry(".param .u64 out", f"{OWN}.loc 1 5 0\ncall f, (%rd9);\n", function)
    with pytest.raises(ptxsim.Fault) as caught:
        run('.file 1 "x.py"\n' + text, np.zeros(32, "i4"))
    assert caught.value.source == ("x.py", 33)
    assert text.splitlines()[caught.value.line - 2].startswith("st.global")


@pytest.mark.parametrize(
    ("before", "body", "says"),
    [
        (".extern .func g(.param .b32 a);", "call g, (%r1);", "no body of g"),
        (
            ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);",
            "call (%r1), vprintf, (%rd1, %rd1);",
            "no body of vprintf",
        ),
        (".func g()\n{\ncall g, ();\nret;\n}", "call g, ();", "g calls itself"),
        (
            ".func g();\n.func h()\n{\ncall g;\n}\n.func g()\n{\ncall h;\n}",
            "call g;",
            "g calls itself",
        ),
        (
            ".func (.reg .b32 x) g() { ret; }",
            ".param .b32 p;\ncall (p), g;",
            "x is in a register",
        ),
        ("", "call (%r1), %rd1, (%r1), proto;", "an indirect call, by %rd1"),
        ("", "p: .callprototype _ (.param .b64 _);\ncall %rd1, (%rd2), p;", "indirect"),
        (".func g() { ret; }\n.alias h, g;", "call h;", "no body of h"),
        (".func g() { ret; }", "mov.u64 %rd1, g;", "the address of the function g"),
        (
            ".func g(.param .b64 a) { .reg .b64 t; mov.b64 t, a; ret; }",
            "call g, (%rd1);",
            "the address of an argument that it copies",
        ),
        ("", "st.param.b32 [%rd1], %r1;", "it stores to no .param variable"),
    ],
)
def test_calls_that_are_not_known_name_the_function(
    before: str, body: str, says: str
) -> None:
    with pytest.raises(ptxsim.Unsupported, match=re.escape(says)):
        called(before, body)


@pytest.mark.parametrize(
    ("before", "body", "says"),
    [
        ("", "call g, (%r1);", "g is not declared"),
        (".func g() { ret; }", "call g, (%r1);", "g has 0 arguments, not 1"),
        (".func (.reg .b32 x) g() { ret; }", "call g;", "g has 1 results, not 0"),
        (
            ".func g(.param .b32 a) { ret; }",
            ".param .b64 p;\ncall g, (p);",
            "a has 4 bytes, not 8",
        ),
        (".func g() { add.s32 %r1, %r1, 1; }", "call g;", "%r1 is not declared"),
        (".func g() { bra $L; }", "$L:\ncall g;", "no label $L"),
        (".func g() { ret; ", "call g;", "the text ends early"),
    ],
)
def test_calls_that_are_wrong_are_mistakes_of_the_text(
    before: str, body: str, says: str
) -> None:
    with pytest.raises(ValueError, match=rf"^text: line \d+: .*{re.escape(says)}"):
        called(before, body)


def test_functions_that_grow_without_end_are_refused(monkeypatch) -> None:
    monkeypatch.setattr(parser, "MOST_INSTRUCTIONS", 500)
    deep = "".join(f".func f{i}() {{ call f{i + 1}; }}\n" for i in range(2000))
    wide = "".join(
        f".func f{i}() {{ call f{i + 1}; call f{i + 1}; }}\n" for i in range(40)
    )
    for functions, last in ((deep, 2000), (wide, 40)):
        with pytest.raises(ptxsim.Unsupported, match="makes the kernel too long"):
            called(f"{functions}.func f{last}() {{ ret; }}", "call f0;")


# ---- addresses of parameters ----

DYNAMIC = """mul.wide.u32 %rd4, %r1, 4;
mov.b64 %rd3, s;
add.s64 %rd4, %rd3, %rd4;
ld.param.b32 %r2, [%rd4+4];
mov.b64 %rd5, s+4;
cvta.param.u64 %rd6, %rd5;
ld.b32 %r3, [%rd6];
ld.param.b32 %r4, [s];
mad.lo.s32 %r2, %r3, 1000, %r2;
mad.lo.s32 %r2, %r4, 100000, %r2;
"""


def test_a_kernel_finds_parts_of_a_parameter_by_address() -> None:
    body = OWN + DYNAMIC + "st.global.u32 [%rd1], %r2;"
    text = entry(".param .u64 out, .param .align 4 .b8 s[132]", body)
    out = np.zeros(32, "i4")
    given = np.array([7, *(LANE + 40)], "i4")
    run(text, out, given.tobytes())
    assert out.tolist() == (LANE + 40 + 40 * 1000 + 7 * 100000).tolist()
    with pytest.raises(ptxsim.Fault, match="^out of bounds: .* of s, which has 128"):
        run(text.replace("[132]", "[128]"), out, given.tobytes()[:128])


def test_a_function_finds_parts_of_a_parameter_by_address() -> None:
    function = f""".func (.param .b32 back) f(.param .align 4 .b8 s[12])
{{
.reg .b32 %r<5>;
.reg .b64 %rd<7>;
mov.u32 %r1, %tid.x;
and.b32 %r1, %r1, 1;
{DYNAMIC.replace("cvta.param", "cvta.local")}st.param.b32 [back], %r2;
}}
"""
    body = ".param .align 4 .b8 p[12];\n.param .b32 q;\nst.param.v2.b32 [p], {7, 8};\n"
    body += "selp.b32 %r3, 9, 7, %p1;\nst.param.b32 [p], %r3;\n"
    body = f"setp.lt.u32 %p1, %r1, 5;\n{body}st.param.b32 [p+8], %r1;\n"
    body += "call (q), f, (p);\nld.param.b32 %r2, [q];\nst.global.u32 [%rd1], %r2;"
    out, _ = called(function, body)
    wanted = np.where(LANE % 2, LANE, 8) + 8000 + np.where(LANE < 5, 9, 7) * 100000
    assert out == wanted.tolist()


# ---- the text of a module ----


def test_other_entries_may_hold_what_is_not_known() -> None:
    others = """.global .texref t;
.extern .global .u32 elsewhere;
.shared .b128 wide[4];
.global .u64 pointer = 0xff(elsewhere);
.entry tensor(.param .texref x) .explicitcluster
{
.reg .b128 q;
mov.b128 q, {%rd1, %rd2};
call vprintf;
}
.entry declared(.param .u64 a);
"""
    out, result = called(others, "st.global.u32 [%rd1], 3;", name="k")
    assert out == [3] * 32 and result.kernel.variables == []
    text = entry(".param .u64 out", "", others)
    with pytest.raises(ptxsim.Unsupported, match="line 8: .*explicitcluster"):
        ptxsim.run(text.replace(".param .texref x", ""), 1, (), name="tensor")
    with pytest.raises(ptxsim.Unsupported, match="texref"):
        ptxsim.run(text, 1, (), name="tensor")
    with pytest.raises(ValueError, match=r"expected one of \['tensor', 'k'\]"):
        ptxsim.run(text, 1, ())
    for word, says in (
        ("t", "texref"),
        ("wide", "b128"),
        ("elsewhere", "only declares elsewhere"),
        ("pointer", "begins with an expression"),
    ):
        with pytest.raises(ptxsim.Unsupported, match=says):
            called(others, f"mov.u64 %rd3, {word};", name="k")


def test_a_kernel_has_the_variables_that_it_uses() -> None:
    before = """.visible .global .align 4 .u32 one = 5, two[3] = {1, -2, 0x10};
.const .align 16 .v4 .f32 row[2] = {{1.0, 2.0, 0f40400000, 4.0}, {-5.0, 0.0, 0.0, 0.0}};
.const .b32 sides[2][3] = {{1, 2, 3}, {4, 5, 6}};
.weak .const .u16 small[] = {7, 8, 9};
.common .global .b32 none[4];
.global .attribute(.managed) .align 8 .u64 far[3] = {generic(two)+4, one, two};
.global .u64 chain = far;
.const .u32 unused = 9;
.shared .b32 S;
"""
    body = """ld.global.u64 %rd3, [chain];
ld.global.v2.u32 {%r2, %r3}, [%rd3];
ld.u64 %rd4, [%rd3];
ld.u32 %r2, [%rd4];
ld.u64 %rd5, [%rd3+8];
ld.u32 %r3, [%rd5];
ld.u64 %rd6, [far+16];
ld.global.u32 %r4, [%rd6+8];
add.s32 %r2, %r2, %r3;
add.s32 %r2, %r2, %r4;
ld.const.f32 %f1, [row+8];
ld.const.f32 %f2, [row+16];
ld.const.f32 %f3, [row+20];
add.f32 %f1, %f1, %f2;
add.f32 %f1, %f1, %f3;
cvt.rzi.s32.f32 %r3, %f1;
mov.u64 %rd7, sides+4;
ld.const.u32 %r4, [%rd7+12];
mov.u64 %rd7, small;
ld.const.u16 %r5, [%rd7+4];
ld.global.u32 %r6, [none+12];
st.global.v4.u32 [%rd1], {%r2, %r3, %r4, %r5};
st.global.u32 [%rd1+16], %r6;
"""
    text = entry(".param .u64 out", "ld.param.u64 %rd1, [out];\n" + body, before)
    out = np.full(5, -1, "i4")
    result = run(text, out, threads=1)
    assert out.tolist() == [-2 + 5 + 16, 3 - 5, 5, 9, 0]
    names = [x.name for x in result.kernel.variables]
    assert names == ["one", "two", "row", "sides", "small", "none", "far", "chain"]


@pytest.mark.parametrize(
    "declared",
    [
        ".global .u32 x[2] = {1, 2, 3};",
        ".global .u32 x[2][2] = {{1, 2, 3}, {4}, {5}};",
        ".global .u32 x = {1;",
        ".global .u32 x = {{1}};",
        ".global .u32 x = 1.5;",
        ".global .u32 x[0];",
        ".global .u32 x[];",
        ".global .u32 x[99999999999];",
        ".global .u64 x = nobody;",
        ".global .u32 x[2] = {1,,2};",
        ".shared .u32 x = 3;",
        ".global x;",
        ".global .align 3 .u32 x;",
    ],
)
def test_a_wrong_declaration_is_a_mistake_of_the_text(declared: str) -> None:
    with pytest.raises(ValueError, match=r"^text: line 4: "):
        called(declared, "mov.u64 %rd3, x;")


def test_a_module_may_say_what_changes_no_number() -> None:
    text = entry(
        ".param .u64 out", OWN + '.pragma "nounroll";\nst.global.u32 [%rd1], 2;'
    )
    text = text.replace(
        ".maxntid 32, 1, 1",
        '.maxntid 32\n.minnctapersm 2\n.maxnreg 255\n.maxclusterrank 8\n.pragma "x";'
        "\n.reqnctapercluster 1, 1",
    ).replace(HEAD, HEAD.replace("\n", " "))
    for before, after in (
        (".extern .shared .align 16 .b8 global_smem[];", ""),
        (".extern .func g(.param .b32 a) .noreturn;\n.alias h, g;", ""),
        (".file 1 \"a\" \"b.py\", 12, 34 .pragma \"unroll\";", ""),
        ("", ".section .debug_info { .b32 9\n .b64 .debug_str + 4\n { } }\n"),
    ):  # fmt: skip
        out = np.zeros(32, "i4")
        run(text.replace(".visible", f"{before}\n.visible") + after, out)
        assert (out == 2).all()
    for wrong in (".address_size 32", ".newdirective"):
        with pytest.raises(ptxsim.Unsupported, match=wrong):
            run(text.replace(".address_size 64", wrong), out)


def test_a_branch_by_index_goes_to_one_of_several_labels() -> None:
    body = """$T: .branchtargets
$ZERO, $ONE,
$ZERO;
and.b32 %r2, %r1, 3;
setp.ne.u32 %p1, %r2, 3;
mov.u32 %r3, 70;
@%p1 brx.idx %r2, $T;
add.u32 %r3, %r3, 5;
bra.uni $END;
$ZERO:
mov.u32 %r3, 10;
bra.uni $END;
$ONE:
mov.u32 %r3, 11;
$END:
st.global.u32 [%rd1], %r3;
"""
    out, result = called("", body)
    assert out == [10, 11, 10, 75] * 8
    assert {x.instruction.opcode: x.taken for x in result.counts}["brx.idx"] == 24
    stores = [x for x in result.counts if x.instruction.opcode == "st.global.u32"]
    assert stores[0].warps == 1
    with pytest.raises(
        ptxsim.Fault, match="^out of bounds: .*thread 3: .*label 3 of 3"
    ):
        called("", body.replace("@%p1", ""))


def test_scopes_have_labels_and_numbered_registers_of_their_own() -> None:
    part = """{
.reg .pred p;
.reg .b32 %r<3>, t<2>;
mov.u32 %r2, %tid.x;
setp.gt.u32 p, %r2, AT;
@!p bra $DONE;
{ bra $DONE; add.s32 t1, t1, 1; $DONE: }
mov.u32 t1, 1;
st.global.u32 [%rd1], t1;
$DONE:
}
"""
    body = "mov.u32 %r2, 44;\n" + part.replace("AT", "20") + part.replace("AT", "25")
    out, _ = called("", f"{body}st.global.u32 [%rd1], %r2;")
    assert out == [44] * 32
    out, result = called("", body)
    assert out == (LANE > 20).astype(int).tolist()
    moves = [x for x in result.counts if x.instruction.text == "mov.u32 t1, 1"]
    assert [x.threads for x in moves] == [11, 6]


def test_what_is_inlined_from_another_file_counts_for_the_kernel_s_line() -> None:
    at = ", function_name $L__info_string0+12, inlined_at"
    body = OWN + (
        f".loc 1 7 3\nmov.u32 %r2, 1;\n{{\n.loc 1 8 0\n.loc 1 20 5{at} 1 8 0\n"
        f"mov.u32 %r2, 0;\n.loc 2 30 5{at} 1 20 5\n.loc 2 40 1{at} 2 30 5\n"
        "mov.u32 %r2, 2;\n}\n.loc 2 0 0\nmov.u32 %r3, 3;\n.loc 9 4 0\n"
    )
    at_end = '.file 1 "/there/x.py"\n.file 2 "/there" "y.py"\n'
    text = entry(".param .u64 out", body + "st.global.u32 [%rd1], %r2;")
    for whole in (text + at_end, text.replace(".visible", at_end + ".visible")):
        result = run(whole, np.zeros(32, "i4"))
        assert result.by_source_line() == {
            ("", 0): 5 * 32, ("/there/x.py", 7): 32, ("/there/x.py", 20): 64, ("", 4): 64
        }  # fmt: skip
        inlined = {x.instruction.text: x.instruction.inlined for x in result.counts}
        assert inlined["mov.u32 %r2, 2"] == ("/there/y.py", 40)
        assert inlined["mov.u32 %r2, 0"] is None  # of the same file


# ---- operands and modifiers ----


def test_operands_are_written_in_the_ways_of_several_compilers() -> None:
    body = """ // begin inline asm
mov.u32 %r2, 0x0;
@%p1 ld.global.v4.b32 { %r2, %r3, %r4, %r5 }, [ %rd1 + 0 ];
@!%p1 ld.global.v4.b32 {%r2,_,_,%r5}, [%rd1+-16];
// end inline asm
mov.b64 %rd3, { %r2, %r5 };
mov.b64 {_, %r4}, %rd3;
mov.b32 %r6, -0x7;
mov.f32 %f1, 0fBF800000;
mov.b32 %r7, WARP_SZ;
shfl.sync.idx.b32 %r8|%p2, %r4, 0, 31, -1;
@%p2 add.s32 %r4, %r4, %r6;
setp.ne.s32 _|%p3, %r4, %r4;
cvt.rzi.s32.f32 %r5, %f1;
@%p3 add.s32 %r4, %r4, %r5;
add.s32 %r4, %r4, %r7;
@!%p1 st.global.b32 [ %rd1 + 0 ], { %r4 };
@!%p1 st.global.b32 [%rd1+-16], %r4;
"""
    body = "add.s64 %rd1, %rd1, 16;\nsetp.ne.u32 %p1, %r1, 0;\n" + body
    out = np.arange(64, dtype="i4")
    run(entry(".param .u64 out", OWN + body.replace("{ %r4 }", "%r4")), out, threads=1)
    assert out[[0, 4]].tolist() == [3 - 7 - 1 + 32] * 2


HINTED = [
    "ld.global.L1::evict_last.b32 %r2, [%rd1];",
    "ld.global.L1::no_allocate.L2::128B.b32 %r2, [%rd1];",
    "ld.global.L1::evict_first.L2::cache_hint.b32 %r2, [%rd1], %rd5;",
    "ld.global.nc.L2::cache_hint.b32 %r2, [%rd1], %rd5;",
    "ld.global.nc.L1::no_allocate.L2::256B.b32 %r2, [%rd1];",
    "ld.global.b32 %r2, [%rd1];\nst.global.L1::evict_first.b32 [%rd1], %r2;",
    "ld.global.b32 %r2, [%rd1];\nst.global.L2::cache_hint.b32 [%rd1], %r2, %rd5;",
    "prefetch.global.L2 [%rd1+8];\nprefetchu.L1 [%rd1];\nld.global.b32 %r2, [%rd1];",
    "mov.u32 %r4, S;\ncp.async.ca.shared.global.L2::128B [%r4], [%rd1], 4;\n"
    "cp.async.ca.shared.global.L2::cache_hint [%r4+4], [%rd1], 4, %rd5;\n"
    "cp.async.ca.shared.global.L2::cache_hint.L2::64B [%r4+8], [%rd1], 4, 0, %rd5;\n"
    "cp.async.wait_all;\nld.shared.v2.b32 {%r2, %r3}, [S];",
]  # fmt: skip


@pytest.mark.parametrize("lines", HINTED)
def test_what_is_said_to_caches_changes_nothing(lines: str) -> None:
    policy = "createpolicy.fractional.L2::evict_first.b64 %rd5, 1.0;\n"
    body = f".shared .align 16 .b8 S[16];\n{OWN}{policy}{lines}\nadd.s32 %r2, %r2, 1;\n"
    out = np.arange(5, 37, dtype="i4")
    result = run(
        entry(".param .u64 out", f"{body}st.global.b32 [%rd1], %r2;"), out, threads=1
    )
    assert out[0] == 6
    opcodes = {x.split()[0].rstrip(";") for x in (policy + lines).splitlines()}
    assert opcodes <= {*result.by_opcode()}


REFUSED = [
    "ld.global.b128 %rd3, [%rd1];", "ld.global.v8.b32 {%r1, %r2}, [%rd1];",
    "mov.b128 %rd3, {%rd1, %rd2};", ".reg .b128 q;", "ld.global.L1::evict_maybe.b32 %r1, [%rd1];",
    "ld.global.b32 %r1, [%rd1], %rd2;", "prefetch.global [%rd1];", "add.s32 _, %r1, _;",
]  # fmt: skip


@pytest.mark.parametrize("statement", REFUSED)
def test_forms_that_are_not_known_are_refused_by_name(statement: str) -> None:
    with pytest.raises(ptxsim.Unsupported, match=re.escape(statement.split()[0])):
        called("", statement)


def test_an_approximation_takes_and_gives_the_upper_half_of_a_number() -> None:
    """rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64, from the manual."""
    given = [1.0, -3.0, 0.0, -0.0, 5e-324, -1e-310, np.inf, -np.inf, np.nan, 1e308]
    inverse = [1, -1 / 3, np.inf, -np.inf, np.inf, -np.inf, 0, -0.0, np.nan, 0]
    roots = [1, np.nan, np.inf, -np.inf, np.inf, -np.inf, 0, np.nan, np.nan, 1e-154]
    for opcode, wanted in (("rcp", inverse), ("rsqrt", roots)):
        found = ptx.apply(f"{opcode}.approx.ftz.f64", given)
        assert np.allclose(found, wanted, rtol=2.0**-20, atol=0, equal_nan=True)
        assert (np.signbit(found) == np.signbit(wanted))[~np.isnan(wanted)].all()
        assert not (found.view("u8") & 0xFFFFFFFF)[~np.isnan(wanted)].any()


# ---- texts that are damaged ----


def damaged(text: str, count: int, seed: int) -> list[str]:
    """Return the text many times, each without some token, line, or end."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        way = rng.integers(4)
        if way == 0:
            found.append(text[: rng.integers(len(text))])
            continue
        pieces = (
            text.splitlines(True) if way == 1 else re.findall(r"\s+|[%$.\w]+|.", text)
        )
        where = int(rng.integers(len(pieces)))
        if way == 3:
            pieces.insert(where, pieces[int(rng.integers(len(pieces)))])
        else:
            del pieces[where]
        found.append("".join(pieces))
    return found


def test_a_damaged_text_is_a_mistake_or_not_supported_and_no_more() -> None:
    function = SQUARE + ".global .align 8 .u64 far[2] = {generic(near)+4, 5};\n"
    function += ".const .b32 near[2][2] = {{1, 2}, {-3}};\n"
    body = OWN + call_of("square", "%r1", "%r2", "@%p1 call") + (
        "$T: .branchtargets $A, $B;\nand.b32 %r3, %r1, 1;\n.loc 1 2 3, function_name f, "
        "inlined_at 1 2 3\nbrx.idx %r3, $T;\n$A:\nld.global.v2.u32 {%r4, _}, [far+8];\n"
        "{ .reg .b32 t<3>; mov.b32 t1, -0x4; @!%p1 add.s32 %r2, t1, %r4; }\n"
        "$B:\nst.global.L1::evict_last.b32 [ %rd1 + 0 ], %r2;"
    )  # fmt: skip
    text = entry(
        ".param .u64 .ptr .align 4 out, .param .align 4 .b8 s[8]", body, function
    )
    text = text.replace("mov.u32 %r1", "setp.eq.u32 %p1, %r1, %r1;\nmov.u32 %r1", 1)
    run(text, np.zeros(32, "i4"), bytes(8))
    outcomes = set()
    for broken in damaged(text, 200, 5):
        try:
            run(broken, np.zeros(32, "i4"), bytes(8), limit=2000)
        except (ValueError, TypeError, ptxsim.Unsupported) as problem:
            outcomes.add(type(problem).__name__)
            assert str(problem)
    assert {"Malformed", "Unsupported"} <= outcomes
