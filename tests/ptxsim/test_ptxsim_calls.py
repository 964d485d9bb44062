"""ptxsim reads what any compiler writes: its parameters, its modules and its calls."""

import re
import struct

import numpy as np
import pytest

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
    for given in (value, raw):
        out = np.zeros(8, "u4")
        run(text, out, given)
        assert out.tobytes() == raw + struct.pack("<iI", -5, 3)
    expected = r"args\[1\], parameter s: expected bytes or a structured scalar of 24 b"
    short = np.array((1,), [("a", "u8")])[()]
    for wrong in (raw[1:], short, 5, None, np.float32(1), np.zeros(24, "u1")):
        with pytest.raises(
            TypeError, match=expected if not isinstance(wrong, np.ndarray) else "an arr"
        ):
            run(text, np.zeros(8, "u4"), wrong)


@pytest.mark.parametrize("where", ["s+4", "s+24", "s+17", "s-8"])
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
    function = """.func (.reg .b32 sum, .reg .pred odd) f(.reg .b32 a, .reg .b32 b)
{
.reg .b32 t;
shl.b32 a, a, 1;
add.s32 sum, a, b;
and.b32 t, b, 1;
setp.eq.s32 odd, t, 1;
ret;
}
"""
    body = "call (%r2, %p1), f, (%r1, %r1);\ncall (%r3, %p2), f, (%r2, -5);\n"
    body += "selp.b32 %r4, 1000, 0, %p1;\nadd.s32 %r3, %r3, %r4;\n"
    body += "add.s32 %r3, %r3, %r1;\nst.global.u32 [%rd1], %r3;"
    out, _ = called(function, body)
    assert out == (2 * 3 * LANE - 5 + 1000 * (LANE % 2) + LANE).tolist()


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
    out, _ = called(three + function + SQUARE, body)  # in any order
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
    function = ".func f(.reg .pred p)\n{\n@p exit;\n}\n"
    body = "setp.lt.u32 %p1, %r1, 7;\ncall f, (%p1);\nst.global.u32 [%rd1], %r1;"
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
            "a is neither a register nor a variable",
        ),
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
