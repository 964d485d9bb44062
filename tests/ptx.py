"""Builds PTX for the tests of ptxsim: single instructions, and short kernels.

`TEXTS` collects every text, so that a test can check it with NVIDIA's assembler.
"""

import re
from collections.abc import Iterable

import numpy as np

import ptxsim
from ptxsim.registers import DTYPES

TEXTS: dict[str, str] = {}
BITS = {"f16": 16, "bf16": 16, "tf32": 32, "s8": 8, "u8": 8, "f32": 32, "s32": 32}
BITS |= {"f64": 64}
REGISTERS = {"pred": "pred", "u8": "b16", "s8": "b16", "b8": "b16", "bf16": "b16"}
REGISTERS |= {"f16": "b16", "f16x2": "b32", "bf16x2": "b32"}
MODULE = """.version 8.8
.target {target}
.address_size 64
{before}
.visible .entry k({parameters})
.maxntid {threads}, 1, 1
{{
.reg .pred %p<10>;
.reg .b16 %h<20>;
.reg .b32 %r<40>;
.reg .f32 %f<20>;
.reg .f64 %d<20>;
.reg .b64 %rd<40>;
{body}
ret;
}}
"""


def parameters(*arrays: int) -> str:
    """Return the parameters p0, p1, … of arrays with these numbers of dimensions."""
    count = sum(5 + 2 * dimensions for dimensions in arrays)
    return ", ".join(f".param .u64 p{i}" for i in range(count))


def module(
    body: str, arrays: int, threads: int = 32, before: str = "", target: str = "sm_90a"
) -> str:
    """Return a kernel with one-dimensional arrays; their addresses are p4, p11, …"""
    text = MODULE.format(
        target=target,
        before=before,
        parameters=parameters(*[1] * arrays),
        threads=threads,
        body=body,
    )
    TEXTS.setdefault(body + before, text)
    return text


def calls(opcodes: Iterable[str]) -> str:
    """Return a kernel that hands numbers to a function by each of some opcodes."""
    lines = [".param .align 16 .b8 q[16];", ".param .align 16 .b8 r[16];"]
    for opcode in opcodes:
        name, _, *width, kind = opcode.split(".")
        if name == "cvta":
            lines.append(f"{opcode} %rd3, %rd3;")
            continue
        register = {"64": "%rd", "32": "%r"}.get(kind[1:], "%h")
        register = {"f32": "%f", "f64": "%d"}.get(kind, register)
        count = int(width[0][1:]) if width else 1
        numbers = ", ".join(f"{register}{i + 3}" for i in range(count))
        numbers = f"{{{numbers}}}" if width else numbers
        if name == "st":
            lines.append(f"{opcode} [q], {numbers};")
        else:  # what a function returns is read right behind its call
            lines += ["call (r), f, (q);", f"{opcode} {numbers}, [r];"]
    lines += ["call (r), f, (q);", "call.uni (r), f, (q);", "mov.u32 %r1, 0;"]
    lines += ["$T: .branchtargets $ONE, $ONE;", "brx.idx %r1, $T;"]
    lines += ["$ONE:", "$U: .branchtargets $TWO;", "brx.idx.uni %r1, $U;", "$TWO:"]
    function = """.func (.param .align 16 .b8 a[16]) f(.param .align 16 .b8 b[16])
{
ret;
}"""
    return module("\n".join(lines), 1, before=function)


def policies(opcodes: Iterable[str]) -> str:
    """Return a kernel that makes cache policies by each of some opcodes."""
    operands = {"fractional": "%rd2, 1.0", "range": "%rd2, [%rd1], 128, 256"}
    operands |= {"cvt": "%rd2, %rd3"}
    lines = ["ld.param.u64 %rd1, [p4];", "cvta.to.global.u64 %rd1, %rd1;"]
    lines.append("mov.b64 %rd3, 0;")
    lines += [f"{opcode} {operands[opcode.split('.')[1]]};" for opcode in opcodes]
    return module("\n".join(lines), 1)


def own(kind: str) -> str:
    """Return the type of the registers that hold values of a type."""
    return REGISTERS.get(kind, kind.replace("u", "b").replace("s", "b"))


def signature(opcode: str) -> tuple[str, list[str]]:
    """Return the types of an instruction's result and of its operands."""
    name, *words = opcode.split(".")
    kind = words[-1]
    wide = f"{kind[0]}{int(kind[1:]) * 2}" if "wide" in words else kind
    known = {
        "shl": (kind, [kind, "u32"]), "shr": (kind, [kind, "u32"]),
        "shf": (kind, ["b32", "b32", "u32"]), "bfe": (kind, [kind, "u32", "u32"]),
        "bfi": (kind, [kind, kind, "u32", "u32"]), "popc": ("u32", [kind]),
        "clz": ("u32", [kind]), "bfind": ("u32", [kind]), "prmt": ("b32", ["b32"] * 3),
        "mul": (wide, [kind] * 2), "mad": (wide, [kind, kind, wide]),
        "madc": (wide, [kind] * 2 + [wide]), "fma": (kind, [kind] * 3), "selp": (kind, [kind, kind, "pred"]),
        "setp": ("pred", [kind, kind]), "cvt": (words[-2] if words[1:] else "", [kind]),
        "copysign": (kind, [kind, kind]), "lop3": (kind, [kind] * 3),
        "szext": (kind, [kind, "u32"]), "fns": (kind, [kind, "u32", "s32"]),
        "dp4a": ("u32", ["u32"] * 3), "dp2a": ("u32", ["u32"] * 3),
        "mad24": (kind, [kind] * 3), "sad": (kind, [kind] * 3), "cnot": (kind, [kind]),
        "isspacep": ("pred", ["u64"]), "testp": ("pred", [kind]), "set": (words[-2] if words[1:] else "", [kind, kind]),
        "slct": (words[-2] if words[1:] else "", [*words[-2:-1] * 2, kind]),
    }  # fmt: skip
    if name == "setp" and set(words) & {"and", "or", "xor"}:
        known["setp"] = ("pred", [kind, kind, "pred"])
    if name == "setp" and kind.endswith("x2"):
        known["setp"] = ("pred|pred", known["setp"][1])
    if name == "cvt" and words[-2] == "tf32":
        known["cvt"] = ("b32", [kind])
    if name == "cvt" and words[-2] in ("f16x2", "bf16x2"):
        known["cvt"] = (words[-2], ["f32", "f32"])
    one = ("neg", "abs", "not", "sqrt", "rcp", "rsqrt", "ex2", "lg2", "sin", "cos")
    if name in (*one, "tanh", "brev", "mov"):
        known[name] = (kind, [kind])
    return known.get(name, (kind, [kind, kind]))


def load(register: str, kind: str, i: int) -> str:
    """Return the PTX that reads a thread's element of array `i` into a register."""
    size = np.dtype(DTYPES[kind]).itemsize
    lines = [f"ld.param.u64 %rd1, [p{4 + 7 * i}];"]
    lines += [f"mul.wide.u32 %rd2, %r0, {size};", "add.s64 %rd1, %rd1, %rd2;"]
    if kind == "pred":
        lines += ["ld.global.u8 %h19, [%rd1];", f"setp.ne.u16 {register}, %h19, 0;"]
    else:
        width = f"b{size * 8}"
        lines.append(f"ld.global.{width} {register}, [%rd1];")
    return "\n".join(lines)


def applied(opcode: str, i: int, kinds: list[str], constants: tuple[str, ...]) -> str:
    """Return the PTX that applies an instruction to a0, a1, … and stores in array `i`."""
    result, _ = signature(opcode)
    size = 4 if "pred" in result else np.dtype(DTYPES[result]).itemsize
    operands = ", ".join([*(f"a{k}" for k in range(len(kinds))), *constants])
    if result == "pred|pred":
        lines = [f".reg .pred x{i}, y{i};", f"{opcode} x{i}|y{i}, {operands};"]
    else:
        lines = [f".reg .{own(result)} x{i};", f"{opcode} x{i}, {operands};"]
    lines += [f"ld.param.u64 %rd1, [p{4 + 7 * i}];", f"mul.wide.u32 %rd2, %r0, {size};"]
    lines += ["add.s64 %rd1, %rd1, %rd2;"]
    if result == "pred":
        lines += [f"selp.u32 %r3, 1, 0, x{i};", "st.global.u32 [%rd1], %r3;"]
    elif result == "pred|pred":  # the second one counts two
        lines += [f"selp.u32 %r3, 1, 0, x{i};", f"selp.u32 %r4, 2, 0, y{i};"]
        lines += ["or.b32 %r3, %r3, %r4;", "st.global.u32 [%rd1], %r3;"]
    else:
        lines.append(f"st.global.b{size * 8} [%rd1], x{i};")
    return "\n".join(lines)


def text_of(opcodes: list[str], constants: tuple[str, ...] = ()) -> str:
    """Return a kernel that applies instructions, all to the same operands."""
    kinds = signature(opcodes[0])[1]
    assert {opcode: signature(opcode)[1] for opcode in opcodes} == dict.fromkeys(
        opcodes, kinds
    )
    lines = ["mov.u32 %r0, %tid.x;", "mov.u32 %r1, %ctaid.x;"]
    lines += ["mad.lo.u32 %r0, %r1, 32, %r0;"]
    lines += [f".reg .{own(kind)} a{i};" for i, kind in enumerate(kinds)]
    count = len(opcodes)
    lines += [load(f"a{i}", kind, count + i) for i, kind in enumerate(kinds)]
    lines += [applied(opcode, i, kinds, constants) for i, opcode in enumerate(opcodes)]
    return module("\n".join(lines), count + len(kinds))


def apply_all(
    opcodes: list[str],
    *columns: object,
    constants: tuple[str, ...] = (),
    **options: object,
) -> dict[str, np.ndarray]:
    """Return the results of instructions, for columns of operands; each row is a thread."""
    kinds = signature(opcodes[0])[1]
    given = [
        to_array(column, kind) for column, kind in zip(columns, kinds, strict=True)
    ]
    count = max(map(len, given))
    full = -(-count // 32) * 32
    given = [np.resize(x, full) for x in given]
    results = [signature(opcode)[0] for opcode in opcodes]
    outs = [np.empty(full, "u4" if "pred" in x else DTYPES[x]) for x in results]
    outputs = range(len(outs))
    text = text_of(opcodes, constants)
    ptxsim.run(text, full // 32, (*outs, *given), outputs=outputs, **options)
    return {opcode: out[:count] for opcode, out in zip(opcodes, outs, strict=True)}


def apply(opcode: str, *columns: object, **options: object) -> np.ndarray:
    """Return the results of one instruction, for columns of operands."""
    return apply_all([opcode], *columns, **options)[opcode]


def to_array(column: object, kind: str) -> np.ndarray:
    """Return numbers as an array of a type; integers wrap around."""
    dtype = np.dtype("u1" if kind == "pred" else DTYPES[kind])
    if isinstance(column, np.ndarray):
        return column.astype(dtype)
    numbers = list(column) if isinstance(column, list | tuple) else [column]
    if dtype.kind == "f":
        return np.array(numbers, dtype)
    bits = [int(x) % 2 ** (8 * dtype.itemsize) for x in numbers]
    return np.array(bits, f"u{dtype.itemsize}").view(dtype)


def words(body: str) -> set[str]:
    """Return the opcodes of a text."""
    body = re.sub(r"//.*", "", body)
    statements = re.split(r"[;\n{}]|\$\w+:", body)
    matches = (re.match(r"\s*(?:@!?%\w+\s+)?([a-z][\w.:]*)", x) for x in statements)
    return {match[1] for match in matches if match}


def registers_of(opcode: str) -> list[tuple[str, int]]:
    """The stem of registers for D, A, B, C, and how many there are."""
    shape, kinds = opcode.split(".")[3], opcode.split(".")[-4:]
    m, n, k = (int(x) for x in shape[1:].replace("n", " ").replace("k", " ").split())
    found = []
    for kind, size in zip(kinds, (m * n, m * k, k * n, m * n), strict=True):
        stem = {"f32": "%f", "f64": "%d"}.get(kind, "%r")
        found.append((stem, size // 32 * BITS[kind] // (64 if kind == "f64" else 32)))
    return found


def mma_text(opcode: str, threads: int = 32, guard: str = "") -> str:
    """A kernel that loads the fragments A, B, C of each lane and stores its D."""
    lines = ["mov.u32 %r0, %tid.x;", "mov.u32 %r39, %ctaid.x;"]
    lines += [f"mad.lo.u32 %r0, %r39, {threads}, %r0;"]
    counts = registers_of(opcode)
    size = 8 if counts[0][0] == "%d" else 4
    names, at = [], 1
    for stem, count in counts:
        names.append([f"{stem}{at + i}" for i in range(count)])
        at += count
    for array, own in enumerate(names):
        lines += [f"ld.param.u64 %rd{array}, [p{4 + 7 * array}];"]
        lines += [f"mul.wide.u32 %rd9, %r0, {size * len(own)};"]
        lines += [f"add.s64 %rd{array}, %rd{array}, %rd9;"]
        if array:
            lines += [
                f"ld.global.b{8 * size} {name}, [%rd{array}+{size * i}];"
                for i, name in enumerate(own)
            ]
    d, a, b, c = (f"{{{', '.join(own)}}}" for own in names)
    lines.append(f"{guard}{opcode} {d}, {a}, {b}, {c};")
    lines += [
        f"st.global.b{8 * size} [%rd0+{size * i}], {name};"
        for i, name in enumerate(names[0])
    ]
    return module("\n".join(lines), 4, threads)


def ldmatrix_text(opcode: str, more: str = "", threads: int = 32, **edits: str) -> str:
    """Lanes fill 32 rows of 16 bytes, the lane of row i names row 7·i + 3, modulo 32."""
    count = int(next(x for x in opcode.split(".") if x[0] == "x")[1:])
    registers = ", ".join(f"%r{10 + i}" for i in range(count))
    fill = "\n".join(f"st.shared.b32 [%r3+{4 * i}], %r{20 + i};" for i in range(4))
    load_ = "\n".join(f"ld.global.b32 %r{20 + i}, [%rd1+{4 * i}];" for i in range(4))
    store = "\n".join(
        f"st.global.b32 [%rd0+{4 * i}], %r{10 + i};" for i in range(count)
    )
    address = "mad.lo.u32 %r5, %r1, 7, 3;\nand.b32 %r5, %r5, 31;"
    body = f""".shared .align 16 .b8 S[{16 * threads}];
mov.u32 %r0, %tid.x;
and.b32 %r1, %r0, 31;
ld.param.u64 %rd0, [p4];
ld.param.u64 %rd1, [p11];
mul.wide.u32 %rd2, %r0, {4 * count};
add.s64 %rd0, %rd0, %rd2;
mul.wide.u32 %rd2, %r0, 16;
add.s64 %rd1, %rd1, %rd2;
{load_}
mov.u32 %r2, S;
shl.b32 %r3, %r0, 4;
add.u32 %r3, %r3, %r2;
{fill}
{edits.get("meet", "bar.sync 0;")}
{edits.get("address", address)}
shl.b32 %r5, %r5, 4;
sub.u32 %r4, %r0, %r1;
shl.b32 %r4, %r4, 4;
add.u32 %r4, %r4, %r5;
add.u32 %r4, %r4, %r2;
{edits.get("bend", "")}
{edits.get("guard", "")}{opcode} {{{registers}}}, [%r4{more}];
{store}"""
    return module(body, 2, threads)
