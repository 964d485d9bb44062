"""Integers, bits, predicates and moves."""

import re

import numpy as np

from ptxsim.access import BASES, ENDS
from ptxsim.opcodes import BITS, INTEGERS, SIGNED, opcode
from ptxsim.registers import DTYPES, literal
from ptxsim.syntax import SIZES, Instruction, Memory, Operand, Pair, Vector
from ptxsim.writer import Writer

PLAIN = {"add": "np.add", "sub": "np.subtract", "mul": "np.multiply"}
PLAIN |= {"min": "np.minimum", "max": "np.maximum", "neg": "np.negative"}
PLAIN |= {"and": "np.bitwise_and", "or": "np.bitwise_or", "xor": "np.bitwise_xor"}
PLAIN |= {"not": "np.bitwise_not", "abs": "np.abs"}
COMPARISONS = {"eq": "np.equal", "ne": "np.not_equal", "lt": "np.less"}
COMPARISONS |= {"le": "np.less_equal", "gt": "np.greater", "ge": "np.greater_equal"}
UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
OPPOSITES = {
    "equ": "ne",
    "neu": "eq",
    "ltu": "ge",
    "leu": "gt",
    "gtu": "le",
    "geu": "lt",
}
TWO_OF = {"and": "&", "or": "|", "xor": "^"}


def arguments(w: Writer, one: Instruction, kind: str) -> str:
    """Return all operands that are read, as arguments of a call."""
    return ", ".join(w.value(word, kind) for word in one.operands[1:])


def wider(kind: str) -> str:
    """Return the type of twice the size."""
    return f"{kind[0]}{SIZES[kind] * 16}"


@opcode(3, f"<add sub min max>{INTEGERS}", f"<and or xor>{BITS}")
@opcode(2, f"<neg abs>{SIGNED}", f"not{BITS}")
def plain(w: Writer, one: Instruction) -> None:
    call = f"{PLAIN[one.words[0]]}({arguments(w, one, one.kind)}"
    w.compute(one.operands[0], one.kind, call)


@opcode(3, "<and or xor>.pred")
@opcode(2, "not.pred")
def predicates(w: Writer, one: Instruction) -> None:
    name = {"not": "np.logical_not"}.get(one.words[0], PLAIN[one.words[0]])
    w.compute(one.operands[0], "pred", f"{name}({arguments(w, one, 'pred')}")


@opcode(3, f"mul<.lo .hi>{INTEGERS}", "mul.wide<.u16 .s16 .u32 .s32>")
def multiply(w: Writer, one: Instruction) -> None:
    given = arguments(w, one, one.kind)
    if one.has("lo"):
        w.compute(one.operands[0], one.kind, f"np.multiply({given}")
    elif one.has("hi"):
        w.put(one.operands[0], one.kind, f"multiply_high({given}, {one.kind!r})")
    else:
        wide = wider(one.kind)
        w.compute(one.operands[0], wide, f"np.multiply({given}, dtype={DTYPES[wide]!r}")


@opcode(4, f"mad<.lo .hi>{INTEGERS}", "mad.wide<.u16 .s16 .u32 .s32>")
def multiply_add(w: Writer, one: Instruction) -> None:
    result, a, b, c = one.operands
    a, b = w.value(a, one.kind), w.value(b, one.kind)
    kind = wider(one.kind) if one.has("wide") else one.kind
    if one.has("hi"):
        w.say(f"product = multiply_high({a}, {b}, {kind!r})")
    else:
        w.say(f"product = np.multiply({a}, {b}, dtype={DTYPES[kind]!r})")
    w.compute(result, kind, f"np.add(product, {w.value(c, kind)}")


@opcode(
    3,
    "<add sub>.cc<.u32 .s32 .u64 .s64>",
    "<addc subc>[.cc]<.u32 .s32 .u64 .s64>",
)
@opcode(
    4,
    "mad<.lo .hi>.cc<.u32 .s32 .u64 .s64>",
    "madc<.lo .hi>[.cc]<.u32 .s32 .u64 .s64>",
)
def with_carry(w: Writer, one: Instruction) -> None:
    """Add or subtract, with the carry of the thread coming in or going out."""
    result, *words = one.operands
    given = [w.value(word, one.kind) for word in words]
    if one.words[0] in ("mad", "madc"):
        a, b, c = given
        product = f"np.multiply({a}, {b}, dtype={DTYPES[one.kind]!r})"
        if one.has("hi"):
            product = f"multiply_high({a}, {b}, {one.kind!r})"
        given = [product, c]
    comes = "CARRY" if one.words[0].endswith("c") else "np.uint8(0)"
    name = "add_with_carry" if one.words[0][:3] != "sub" else "subtract_with_borrow"
    kind = f"u{one.kind[1:]}"
    w.say(f"total, carry = {name}({', '.join(given)}, {comes}, {DTYPES[kind]!r})")
    w.put(result, kind, "total")
    if one.has("cc"):
        w.say("np.copyto(CARRY, carry, where=mask)")


@opcode(3, f"<div rem>{INTEGERS}")
def divide(w: Writer, one: Instruction) -> None:
    a, b = (w.value(word, one.kind) for word in one.operands[1:])
    w.say(f"divisor = DIVISOR({w.number}, {b}, act)")
    name = "quotient" if one.words[0] == "div" else "remainder"
    w.put(one.operands[0], one.kind, f"{name}({a}, divisor)")


@opcode(3, f"shl{BITS}", f"shr{BITS}", f"shr{INTEGERS}")
def shift(w: Writer, one: Instruction) -> None:
    result, a, by = one.operands
    kind, bits = one.kind.replace("b", "u"), SIZES[one.kind] * 8
    if isinstance(by, str) and re.fullmatch(r"\d+", by) and int(by) < bits:
        name = {"shl": "np.left_shift", "shr": "np.right_shift"}[one.words[0]]
        return w.compute(
            result, kind, f"{name}({w.value(a, kind)}, {w.value(by, kind)}"
        )
    name = {"shl": "shift_left", "shr": "shift_right"}[one.words[0]]
    return w.put(result, kind, f"{name}({w.value(a, kind)}, {w.value(by, 'u32')})")


@opcode(4, "shf<.l .r><.wrap .clamp>.b32")
def funnel(w: Writer, one: Instruction) -> None:
    a, b, c = (w.value(word, "u32") for word in one.operands[1:])
    left, wrap = one.words[1] == "l", one.has("wrap")
    w.put(one.operands[0], "u32", f"funnel_shift({a}, {b}, {c}, {left}, {wrap})")


@opcode(2, "<popc clz><.b32 .b64>")
def count_bits(w: Writer, one: Instruction) -> None:
    name = {"popc": "np.bitwise_count", "clz": "leading_zeros"}[one.words[0]]
    w.put(one.operands[0], "u32", f"{name}({arguments(w, one, one.kind)})")


@opcode(2, "brev<.b32 .b64>")
def reverse_bits(w: Writer, one: Instruction) -> None:
    w.put(one.operands[0], one.kind, f"reverse({arguments(w, one, one.kind)})")


@opcode(2, "bfind[.shiftamt]<.u32 .s32 .u64 .s64>")
def find_bit(w: Writer, one: Instruction) -> None:
    amount = one.has("shiftamt")
    call = f"highest_bit({arguments(w, one, one.kind)}, {amount})"
    w.put(one.operands[0], "u32", call)


@opcode(4, "bfe<.u32 .s32 .u64 .s64>")
def extract(w: Writer, one: Instruction) -> None:
    result, a, at, count = one.operands
    at, count = w.value(at, "u32"), w.value(count, "u32")
    w.put(result, one.kind, f"extract_field({w.value(a, one.kind)}, {at}, {count})")


@opcode(5, "bfi<.b32 .b64>")
def insert(w: Writer, one: Instruction) -> None:
    result, a, b, at, count = one.operands
    a, b = w.value(a, one.kind), w.value(b, one.kind)
    at, count = w.value(at, "u32"), w.value(count, "u32")
    w.put(result, one.kind, f"insert_field({a}, {b}, {at}, {count})")


@opcode(4, "prmt.b32")
def permute(w: Writer, one: Instruction) -> None:
    w.put(one.operands[0], "b32", f"permute_bytes({arguments(w, one, 'b32')})")


# What prmt with a mode picks, by the lowest two bits of its last operand.
PICKS = {
    "f4e": (0x3210, 0x4321, 0x5432, 0x6543), "b4e": (0x5670, 0x6701, 0x7012, 0x0123),
    "rc8": (0x0000, 0x1111, 0x2222, 0x3333), "ecl": (0x3210, 0x3211, 0x3222, 0x3333),
    "ecr": (0x0000, 0x1110, 0x2210, 0x3210), "rc16": (0x1010, 0x3232, 0x1010, 0x3232),
}  # fmt: skip


@opcode(4, *(f"prmt.b32.{mode}" for mode in PICKS))
def permute_by_mode(w: Writer, one: Instruction) -> None:
    result, *words = one.operands
    a, b, c = (w.value(word, "b32") for word in words)
    picks = f"np.array({PICKS[one.kind]}, 'u4')[{c} & np.uint32(3)]"
    w.put(result, "b32", f"permute_bytes({a}, {b}, {picks})")


@opcode(3, "<add sub>.sat.s32")
def saturated(w: Writer, one: Instruction) -> None:
    given = arguments(w, one, "s32")
    total = f"{PLAIN[one.words[0]]}({given}, dtype='i8')"
    w.put(one.operands[0], "s32", f"clamped({total}, 'i4')")


@opcode(3, "mul24<.lo .hi><.u32 .s32>")
@opcode(4, "mad24<.lo .hi><.u32 .s32>", "mad24.hi.sat.s32")
def multiply_24(w: Writer, one: Instruction) -> None:
    a, b, *c = (w.value(word, one.kind) for word in one.operands[1:])
    total = f"product_24({a}, {b}, {one.has('hi')})"
    if c:
        total = f"np.add({total}, {c[0]}, dtype='i8')"
    total = f"clamped({total}, 'i4')" if one.has("sat") else total
    w.put(one.operands[0], one.kind, total)


@opcode(4, f"sad{INTEGERS}")
def absolute_difference(w: Writer, one: Instruction) -> None:
    a, b, c = (w.value(word, one.kind) for word in one.operands[1:])
    w.compute(one.operands[0], one.kind, f"np.add(distance({a}, {b}), {c}")


@opcode(4, "dp4a<.u32 .s32><.u32 .s32>", "dp2a<.lo .hi><.u32 .s32><.u32 .s32>")
def dot_product(w: Writer, one: Instruction) -> None:
    a, b, c = (w.value(word, "b32") for word in one.operands[1:])
    signs = [DTYPES[kind][0] for kind in one.words[-2:]]
    kinds = f"{signs[0]}{2 if one.words[0] == 'dp2a' else 1}", f"{signs[1]}1"
    w.put(one.operands[0], "b32", f"dot({a}, {b}, {c}, {kinds}, {2 * one.has('hi')})")


@opcode(3, "szext<.clamp .wrap><.u32 .s32>", "bmsk<.clamp .wrap>.b32")
def by_a_width(w: Writer, one: Instruction) -> None:
    result, a, count = one.operands
    name = {"szext": "extend", "bmsk": "bit_mask"}[one.words[0]]
    given = f"{w.value(a, one.kind)}, {w.value(count, 'u32')}, {one.has('clamp')}"
    w.put(result, "b32", f"{name}({given})")


@opcode(4, "fns.b32")
def find_nth_bit(w: Writer, one: Instruction) -> None:
    w.put(one.operands[0], "b32", f"nth_bit({arguments(w, one, 'b32')})")


@opcode(2, f"cnot{BITS}")
def is_zero(w: Writer, one: Instruction) -> None:
    w.put(one.operands[0], one.kind, f"np.equal({arguments(w, one, one.kind)}, 0)")


@opcode(5, "lop3.b32")
def any_logic(w: Writer, one: Instruction) -> None:
    result, a, b, c, table = one.operands
    given = ", ".join(w.value(word, "b32") for word in (a, b, c))
    w.put(result, "b32", f"logic({given}, {w.whole_number(table)})")


# ---- moves ----

ANY = "<.b16 .b32 .b64 .u16 .u32 .u64 .s16 .s32 .s64 .f32 .f64>"


@opcode(2, f"mov{ANY}", "mov.pred")
def move(w: Writer, one: Instruction) -> None:
    result, a = one.operands
    if isinstance(a, Vector):
        part = f"b{SIZES[one.kind] * 8 // len(a.parts)}"
        w.put(result, one.kind, f"join({', '.join(w.value(x, part) for x in a.parts)})")
    elif isinstance(result, Vector):
        count = len(result.parts)
        part = f"b{SIZES[one.kind] * 8 // count}"
        w.say(f"parts = split({w.value(a, one.kind)}, {DTYPES[part]!r})")
        for i, register in enumerate(result.parts):
            if register != "_":
                w.put(register, part, f"parts[{i}::{count}]")
    elif one.kind == "pred":
        w.put(result, "pred", w.predicate(a))
    else:
        w.put(result, one.kind, w.value(a, one.kind))


@opcode(2, "cvta[.to]<.global .shared .local .const>.u64")
def address(w: Writer, one: Instruction) -> None:
    """Spaces have addresses of their own here, and so a generic one is the same."""
    w.put(one.operands[0], "u64", w.value(one.operands[1], "u64"))


@opcode(2, "isspacep<.global .shared .shared::cta .local .const>")
def is_in_space(w: Writer, one: Instruction) -> None:
    """What is in no space counts as global."""
    value, name = w.value(one.operands[1], "u64"), one.words[1][:6].upper()
    low, high = (w.constant(np.uint64(x[name.rstrip(":")])) for x in (BASES, ENDS))
    found = f"({value} >= {low}) & ({value} < {high})"
    if name == "GLOBAL":
        found += f" | ({value} < {w.constant(np.uint64(BASES['SHARED']))})"
    w.put(one.operands[0], "pred", found)


@opcode(4, f"selp{ANY}")
def select(w: Writer, one: Instruction) -> None:
    result, a, b, p = one.operands
    a, b = w.value(a, one.kind), w.value(b, one.kind)
    w.put(result, one.kind, f"np.where({w.predicate(p)}, {a}, {b})")


@opcode(4, f"slct{ANY}<.f32 .s32>", f"slct.ftz{ANY}.f32")
def select_by_sign(w: Writer, one: Instruction) -> None:
    result, *words, c = one.operands
    kind, by = one.words[-2], w.value(c, one.kind)
    a, b = (w.value(word, kind) for word in words)
    by = f"subnormal_to_zero({by})" if one.has("ftz") else by
    w.put(result, kind, f"np.where({by} >= 0, {a}, {b})")


# ---- comparisons ----

SIGNS = "<.eq .ne .lt .le .gt .ge>"
FLOATS = "<.eq .ne .lt .le .gt .ge .equ .neu .ltu .leu .gtu .geu .num .nan>"


COMPARED = (
    f"setp{SIGNS}{{}}{INTEGERS}",
    "setp<.lo .ls .hi .hs>{}<.u16 .u32 .u64>",
    f"setp<.eq .ne>{{}}{BITS}",
    f"setp{FLOATS}{{}}[.ftz]<.f16 .f32>",
    f"setp{FLOATS}{{}}<.bf16 .f64>",
)


@opcode(3, *(form.format("") for form in COMPARED))
@opcode(4, *(form.format("<.and .or .xor>") for form in COMPARED))
def compare(w: Writer, one: Instruction) -> None:
    results, a, b, *more = one.operands
    a, b = operands_of(w, one, a, b)
    how = UNSIGNED.get(one.words[1], one.words[1])
    unordered = is_float(one.kind) and how in ("ne", "num", "nan")
    single = not isinstance(results, Pair) and not more
    if single and how in COMPARISONS and not unordered:
        w.compute(results, "pred", f"{COMPARISONS[how]}({a}, {b}")
        return
    w.say(f"found = {comparison(how, one.kind, a, b)}")
    names = (results.first, results.second) if isinstance(results, Pair) else (results,)
    values = ["found", "~found"][: len(names)]
    if more:  # both are found before either is written: one may be an operand
        sign = TWO_OF[one.words[2]]
        w.say(f"other = {w.predicate(more[0])}.copy()")
        values = [f"({value} {sign} other)" for value in values]
    for name, value in zip(names, values):
        if name != "_":
            w.put(name, "pred", value)


def is_float(kind: str) -> bool:
    return kind.lstrip("b").startswith("f")


def operands_of(w: Writer, one: Instruction, *words: Operand) -> list[str]:
    """Return what is compared: numbers of single precision or wider, or integers."""
    given = [w.value(word, one.kind) for word in words]
    if "f16" in one.kind:
        part = "" if one.kind.endswith("x2") else "[:, 0]"
        return [f"numbers({x}, {one.kind!r}, {one.has('ftz')}){part}" for x in given]
    flushed = "subnormal_to_zero({})" if one.has("ftz") and w.exact else "{}"
    return [flushed.format(x) for x in given]


def comparison(how: str, kind: str, a: str, b: str) -> str:
    """Return an expression: where at most one is NaN, and where that counts as true."""
    nan = f"(np.isnan({a}) | np.isnan({b}))"
    if how == "nan":
        return nan
    if how == "num":
        return f"~{nan}"
    if how in OPPOSITES:  # true for NaN
        opposite = OPPOSITES[how]
        if opposite == "ne":
            return f"(np.equal({a}, {b}) | {nan})"
        return f"~{COMPARISONS[opposite]}({a}, {b})"
    if how == "ne" and is_float(kind):
        return f"(np.not_equal({a}, {b}) & ~{nan})"
    return f"{COMPARISONS[how]}({a}, {b})"


HALF = "<.u16 .s16 .u32 .s32"  # and the type itself


@opcode(
    3,
    f"set{SIGNS}<.u32 .s32 .f32>{INTEGERS}",
    "set<.lo .ls .hi .hs><.u32 .s32 .f32><.u16 .u32 .u64>",
    f"set<.eq .ne><.u32 .s32 .f32>{BITS}",
    f"set{FLOATS}[.ftz]<.u32 .s32 .f32>.f32",
    f"set{FLOATS}<.u32 .s32 .f32>.f64",
    f"set{FLOATS}[.ftz]{HALF} .f16>.f16",
    f"set{FLOATS}{HALF} .bf16>.bf16",
)
def set_all(w: Writer, one: Instruction) -> None:
    """Write all ones, or 1.0, where the comparison holds, and else zeros."""
    result, *words = one.operands
    a, b = operands_of(w, one, *words)
    kind = one.words[-2]
    yes = {"f": "1.0", "b": "0x3F80"}.get(kind[0], "-1")
    no = "0.0" if kind[0] == "f" else "0"
    yes, no = w.constant(literal(yes, kind)), w.constant(literal(no, kind))
    found = comparison(UNSIGNED.get(one.words[1], one.words[1]), one.kind, a, b)
    w.put(result, kind, f"np.where({found}, {yes}, {no})")


def memory_operand(w: Writer, word: Operand) -> tuple[str, int]:
    """Return an expression for the address in brackets, and the offset."""
    if not isinstance(word, Memory):
        raise w.one.unsupported("it needs an address in brackets")
    if w.is_register(word.base):
        kind = w.kernel.type_of(word.base) or ""
        return w.typed(word.base, f"u{SIZES[kind] * 8}"), word.offset
    if re.match(r"\d", word.base):
        return w.value(word.base, "u64"), word.offset
    if word.base in w.variables:
        return f"ADDRESS[{word.base!r}]", word.offset
    raise w.unknown(word.base, "neither a register nor a variable")
