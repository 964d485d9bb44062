"""ptxsim reads what any compiler writes: its parameters, its modules and its calls."""

import struct

import numpy as np
import pytest

import ptxsim

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


@pytest.mark.parametrize("where", ["s+4", "s+24", "s+17", "s-8", "t"])
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
