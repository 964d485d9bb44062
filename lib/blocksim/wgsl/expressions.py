"""Expressions in WGSL: names, operations, elements of arrays.

An operation with a side effect gets a line of its own, in the order of evaluation. The
operands that are evaluated before it are then computed on earlier lines as well.
"""

from .. import arithmetic
from ..emit import MOST_NESTED
from ..expressions import COMPARED, chained
from ..scalars import rounded
from ..things import Thing
from ..types import FLOATS, is_integer, is_tuple
from .calls import Calls
from .pieces import (
    NOTHING,
    Number,
    Parts,
    Ref,
    bare,
    flat,
    product,
    total,
    type_of,
    whole,
    written,
)


class Expressions(Calls):
    """Translates expressions."""

    def value(self, node) -> object:
        """Return the WGSL value of an expression."""
        if node.kind != "Call":
            constant = self.constant(node.got)
            if constant is not None:
                return constant
        return getattr(self, "of_" + node.kind)(node)

    def constant(self, got) -> object:
        """Return the WGSL value of a constant, or None if there is none."""
        if hasattr(got, "scalar"):
            return Number("", type_of(got.kind), got.scalar)
        if hasattr(got, "array"):
            return Ref(self.module.constant("table", got.array, self.line), [])
        if not got.known:
            return None
        if is_tuple(got.kind):
            return Parts([self.constant(part) or NOTHING for part in got.const])
        if isinstance(got.const, (bool, int, float)):
            return Number("", type_of(got.kind), got.const)
        return NOTHING

    def values(self, nodes: list) -> list:
        """Return the WGSL values of expressions, evaluated in order."""
        pieces = []
        for node in nodes:
            mark = len(self.out)
            piece = self.value(node)
            pieces = self.before(mark, pieces) + [piece]
        return pieces

    def before(self, mark: int, pieces: list) -> list:
        """Return values as they were at line ``mark``; compute them there if needed."""
        if len(self.out) == mark:
            return pieces
        end = len(self.out)
        settled = []
        for piece in pieces:
            now = len(self.out)
            settled.append(self.settled(piece, mark + now - end))
        return settled

    def settled(self, piece: object, at: object = None) -> object:
        """Return a value whose texts have the same value wherever they are inserted."""
        if isinstance(piece, Parts):
            return Parts([self.each_settled(part, at) for part in piece.parts])
        return self.each_settled(piece, at)

    def each_settled(self, piece: object, at: object) -> object:
        """Return the same for a number, an array or an element of a tuple."""
        if isinstance(piece, Ref):
            return Ref(piece.array, [self.each_settled(n, at) for n in piece.at])
        if isinstance(piece, Parts):
            return self.settled(piece, at)
        if piece.settled:
            return piece
        return self.temporary(bare(piece.code), piece.type, at)

    def text(self, number: Number, type: str) -> str:
        """Return a number's text, converted to this type."""
        return written(number, type, self.line, self.module.ieee)

    def as_type(self, number: Number, type: str) -> Number:
        """Return a number, converted to this type."""
        if number.known:
            return Number("", type, number.const)
        if number.type == type:
            return number
        return Number(self.text(number, type), type, settled=number.settled)

    # ---- names and tuples

    def of_Name(self, node) -> object:
        if node.got.kind == "static":
            return NOTHING
        return self.read_name(node.id, node.got.kind)

    def of_Default(self, node) -> object:
        return self.value(node.value)

    def of_Tuple(self, node) -> Parts:
        return Parts(self.values(node.elts))

    # ---- tests

    def test(self, node) -> str:
        """Return the text of a test."""
        if node.kind == "BoolOp" and not node.got.known:
            return self.joined(node)
        piece = self.value(node)
        return self.text(piece, "bool") if isinstance(piece, Number) else "false"

    def joined(self, node) -> str:
        """Return the text of "and" or "or" as a test."""
        sign = " && " if node.op == "and" else " || "
        code = self.test(node.values[0])
        for part in node.values[1 : node.reached]:
            begun, lines = self.aside()
            text = self.test(part)
            own = self.back(begun, lines)
            if not own:
                code = f"({code}{sign}{text})"
                continue
            name = self.new_name("t")
            self.emit(f"var {name} = {bare(code)};")
            self.emit(f"if ({name if node.op == 'and' else '!' + name})" + " {")
            self.out += own
            self.emit(f"  {name} = {bare(text)};")
            self.emit("}")
            code = name
        return code

    def aside(self) -> tuple:
        """Collect the lines that follow apart; they may have to stand in an if."""
        lines, self.out = self.out, []
        self.depth += 1
        return lines, self.line

    def back(self, lines: list, line: int) -> list:
        """Return the lines that were collected apart, and continue the others."""
        own, self.out = self.out, lines
        self.depth -= 1
        self.line = line
        return own

    def of_BoolOp(self, node) -> Number:
        """Return "and" or "or", whose value is one of its operands."""
        parts = node.values[: node.reached]
        if node.got.kind == "bool":
            return Number(self.joined(node), "bool")
        type, name = type_of(node.got.kind), self.new_name("t")
        self.emit(f"var {name} = {bare(self.text(self.value(parts[0]), type))};")
        for part in parts[1:]:
            test = self.text(Number(name, type), "bool")
            test = test if node.op == "and" else f"(!{test})"
            self.emit(f"if {test}" + " {")
            self.depth += 1
            self.emit(f"{name} = {bare(self.text(self.value(part), type))};")
            self.depth -= 1
        for _ in parts[1:]:
            self.emit("}")
        return Number(name, type, settled=True)

    def of_IfExp(self, node) -> object:
        if node.test.got.known:
            return self.value(node.body if node.test.got.const else node.orelse)
        test = self.test(node.test)
        if node.possible != (True, True):
            return self.value(node.body if node.possible[0] else node.orelse)
        arms, kind = [], node.got.kind
        for arm in (node.body, node.orelse):
            lines, line = self.aside()
            piece = self.value(arm)
            arms.append((piece, self.back(lines, line)))
        if isinstance(arms[0][0], Ref) or isinstance(arms[1][0], Ref):
            raise self.refusal("one of two arrays", "an if, with a name for each array")
        if is_tuple(kind) or arms[0][1] or arms[1][1]:
            return self.one_of_two(test, arms, kind)
        # Both arms are evaluated. That is safe, because WebGPU checks the bounds of reads.
        type = type_of(kind)
        a, b = [self.text(arm[0], type) for arm in arms]
        return Number(f"select({bare(b)}, {bare(a)}, {bare(test)})", type)

    def one_of_two(self, test: str, arms: list, kind: object) -> object:
        """Return one of two values; only that one is evaluated."""
        names = []
        shape = self.shape_of(kind, names)
        for name, type in names:
            self.emit(f"var {name}: {type};")
        self.emit(f"if ({bare(test)})" + " {")
        for number, (piece, lines) in enumerate(arms):
            if number:
                self.emit("} else {")
            self.out += lines
            for (name, type), part in zip(names, flat(piece)):
                self.emit(f"  {name} = {bare(self.text(part, type))};")
        self.emit("}")
        return shape

    def shape_of(self, kind: object, names: list) -> object:
        """Return a value of new variables; add their names and types to ``names``."""
        if is_tuple(kind):
            return Parts([self.shape_of(part, names) for part in kind[1:]])
        name = self.new_name("t")
        names.append((name, type_of(kind)))
        return Number(name, type_of(kind), settled=True)

    # ---- operations

    def of_UnaryOp(self, node) -> Number:
        if node.op == "not":
            return Number(f"(!{self.test(node.operand)})", "bool")
        operand, kind = self.value(node.operand), node.got.kind
        if operand.known:
            return Number("", type_of(kind), signed(node.op, operand.const))
        if node.op == "~" and kind == "bool":
            return Number(f"(!{operand.code})", "bool")
        code, type = self.text(operand, type_of(kind)), type_of(kind)
        if node.op == "+":
            return Number(code, type)
        if node.op == "-" and type == "u32":
            return Number(f"(0u - {code})", type)
        return Number(f"({node.op}{code})", type)

    def of_BinOp(self, node) -> object:
        """Return a chain of operations, such as a + b + c."""
        *chain, first = chained(node)
        left = self.value(first)
        for node in reversed(chain):
            if node.got.known:  # an operation on literals
                left = self.value(node)
                continue
            mark = len(self.out)
            right = self.value(node.right)
            (left,) = self.before(mark, [left])
            if isinstance(left, Parts):
                left = Parts(left.parts + right.parts)
                continue
            left = self.operation(node, node.op, left, right, node.got.kind)
            if len(chain) > MOST_NESTED:
                left = self.settled(left)
        return left

    def operation(self, node, sign: str, a: Number, b: Number, kind: str) -> Number:
        """Return an operation between two numbers."""
        type = type_of(kind)
        if a.known and b.known:
            return Number("", type, folded(sign, a.const, b.const, kind))
        if type == "f32":
            result = self.real_operation(sign, a, b)
        elif sign in ("<<", ">>"):
            result = self.shift(sign, a, b, type)
        elif sign in ("//", "%"):
            result = self.division(sign, a, b, type)
        elif sign == "**":
            self.module.need("whole_power")
            x, y = self.text(a, "i32"), self.text(b, "i32")
            result = self.as_type(Number(f"whole_power({x}, {y})", "i32"), type)
        else:
            if type == "bool":
                sign = "!=" if sign == "^" else sign
            x, y = self.text(a, type), self.text(b, type)
            result = Number(f"({x} {sign} {y})", type)
        if kind == "float16":
            result = Number(f"quantizeToF16({bare(result.code)})", "f32")
        return result

    def real_operation(self, sign: str, a: Number, b: Number) -> Number:
        """Return an operation whose result is a float."""
        x, y = self.text(a, "f32"), self.text(b, "f32")
        if sign in ("//", "%"):
            name = self.module.need("real_quotient" if sign == "//" else "real_rest")
            return Number(f"{name}({bare(x)}, {bare(y)})", "f32")
        if sign == "**":
            if b.type != "f32":
                name, y = "power_of_whole", self.text(b, "i32")
            else:
                name = "real_power"
            self.module.need(name)
            return Number(f"{name}({bare(x)}, {bare(y)})", "f32")
        return Number(f"({x} {sign} {y})", "f32")

    def shift(self, sign: str, a: Number, b: Number, type: str) -> Number:
        """Return a shift; one by 32 or more shifts out all bits."""
        x = self.text(a, "u32" if a.type == "u32" else type)
        by = self.text(b, "i32")
        unsigned = a.type == "u32" or type == "u32"
        if b.known and 0 <= b.const < 32:
            result = Number(f"({x} {sign} {b.const}u)", "u32" if unsigned else type)
        elif sign == "<<":
            name = self.module.need("left")
            result = Number(f"{name}({self.text(a, 'i32')}, {by})", "i32")
        elif unsigned:
            name = self.module.need("unsigned_right")
            result = Number(f"{name}({bare(x)}, {by})", "u32")
        else:
            result = Number(f"{self.module.need('right')}({bare(x)}, {by})", "i32")
        return self.as_type(result, type)

    def division(self, sign: str, a: Number, b: Number, type: str) -> Number:
        """Return // or % of integers, rounded down; WGSL's own round towards 0."""
        positive = b.known and b.const > 0
        unsigned = type == "u32" or (a.type == "u32" and positive)
        mine = "u32" if unsigned else "i32"
        x, y = self.text(a, mine), self.text(b, mine)
        power = positive and b.const & (b.const - 1) == 0
        if power and sign == "%":
            code = f"({x} & {self.text(whole(b.const - 1), mine)})"
        elif power:
            code = f"({x} >> {bits(b.const)}u)"
        elif unsigned and positive:
            code = f"({x} {sign[0]} {y})"
        else:
            name = "quotient" if sign == "//" else "rest"
            name = self.module.need(f"unsigned_{name}" if unsigned else name)
            code = f"{name}({bare(x)}, {bare(y)})"
        return self.as_type(Number(code, mine), type)

    def of_Compare(self, node) -> Number:
        pieces = self.values([node.left] + node.comparators)
        if len(pieces) > 2:
            pieces = [self.settled(piece) for piece in pieces]
        tests = []
        for op, a, b in zip(node.ops, pieces, pieces[1:]):
            if a.known and b.known:
                tests.append("true" if COMPARED[op](a.const, b.const) else "false")
            else:
                tests.append(self.comparison(op, a, b))
        code = tests[0] if len(tests) == 1 else f"({' && '.join(tests)})"
        return Number(code, "bool")

    def comparison(self, op: str, a: Number, b: Number) -> str:
        """Return the text of a comparison."""
        types = (a.type, b.type)
        if "f32" in types:
            type = "f32"
        elif types == ("u32", "u32") or "u32" in types and "bool" in types:
            type = "u32"
        elif "u32" in types and not (a.known or b.known):
            return self.mixed(op, a, b)
        elif "u32" in types:
            number = a if a.known else b
            type = "u32" if number.const >= 0 else "i32"
            if type == "i32":
                return self.mixed(op, a, b)
        else:
            type = "i32"
        return f"({self.text(a, type)} {op} {self.text(b, type)})"

    def mixed(self, op: str, a: Number, b: Number) -> str:
        """Return a comparison of a signed with an unsigned integer."""
        self.module.need("order")
        if a.type == "u32":
            return f"(0 {op} order({self.text(b, 'i32')}, {self.text(a, 'u32')}))"
        return f"(order({self.text(a, 'i32')}, {self.text(b, 'u32')}) {op} 0)"

    # ---- attributes and elements

    def of_Attribute(self, node) -> object:
        base = node.value.got
        if base.kind == "static":
            return self.of_thing(node, base.const)
        ref = self.value(node.value)
        if is_tuple(base.kind):
            return ref.parts[node.number]
        extents = self.extents(ref)
        if node.attr == "shape":
            return Parts(extents)
        size = whole(1)
        for extent in extents:
            size = product(size, extent)
        return size

    def of_thing(self, node, const: object) -> object:
        """Return an index or an extent of the launch."""
        path = const.path if isinstance(const, Thing) else ""
        parts = path.split(".")
        name, axis = parts[-1], node.attr
        block = self.module.block["xyz".find(axis)] if axis in "xyz" else 0
        if name == "threadIdx" and axis in "xyz":
            return (
                whole(0)
                if block == 1
                else Number(f"thread.{axis}", "i32", settled=True)
            )
        if name == "blockIdx" and axis in "xyz":
            return Number(f"block.{axis}", "i32", settled=True)
        if name == "blockDim" and axis in "xyz":
            return whole(block)
        if name == "gridDim" and axis in "xyz":
            return Number(f"P.grid_{axis}", "i32", settled=True)
        if axis == "warpsize":
            return whole(32)
        if axis == "laneid":
            self.module.lanes = True
            return Number("i32(lane & 31u)", "i32", settled=True)
        return NOTHING

    def extents(self, ref: Ref) -> list:
        """Return the extents of an array, or of a part of one."""
        return ref.array.shape[len(ref.at) :]

    def of_Subscript(self, node) -> object:
        if not is_tuple(node.value.got.kind):
            return self.load(self.place(node))
        tuple, index = self.values([node.value, node.slice])
        if index.known:
            return tuple.parts[index.const]
        return self.chosen(tuple.parts, self.settled(index), node.got.kind)

    def of_Slice(self, node) -> object:
        raise self.refusal(
            "a slice is a view of an array", "indices in the whole array"
        )

    def chosen(self, parts: list, index: Number, kind: object) -> object:
        """Return one of several values, by an index that is not constant."""
        if is_tuple(kind):
            columns = zip(kind[1:], *[part.parts for part in parts])
            return Parts([self.chosen(list(c[1:]), index, c[0]) for c in columns])
        type, last = type_of(kind), len(parts) - 1
        code = self.text(parts[last], type)
        at = self.text(index, "i32")
        for number in range(last):
            below = f"{at} == {number} || {at} == {number - last - 1}"
            code = f"select({code}, {self.text(parts[number], type)}, {below})"
        return Number(code, type)

    def place(self, node) -> Ref:
        """Return a reference to an element: an array and one flat index."""
        several = node.slice.kind == "Tuple"
        indices = node.slice.elts if several else [node.slice]
        ref, *at = self.values([node.value] + indices)
        numbers = []
        for piece in at:
            numbers += flat(piece)
        return self.joined_place(ref, numbers)

    def joined_place(self, ref: Ref, numbers: list) -> Ref:
        """Return the reference after further indices."""
        at = ref.at + [self.as_type(number, "i32") for number in numbers]
        shape = ref.array.shape
        if len(at) < len(shape):
            return Ref(ref.array, at)
        index = at[0]
        for extent, number in zip(shape[1:], at[1:]):
            index = total(product(index, extent), number)
        element = Ref(ref.array, [index])
        element.whole = True
        return element

    def element(self, ref: Ref, numbers: list) -> object:
        """Return an element of an array, or a part of it."""
        return self.load(self.joined_place(ref, numbers))

    def load(self, place: Ref) -> object:
        """Return the element that a reference is for; a part of an array stays one."""
        if not hasattr(place, "whole"):
            return place
        array, module = place.array, self.module
        type, index = type_of(array.kind), bare(self.text(place.at[0], "i32"))
        module.read.add(array.key)
        if array.kind == "float16" and array.key not in module.stored:
            return Number(f"{module.half(array)}({index})", type)
        where = self.where(place)
        if array.space == "shared" and self.line in module.uniform:
            name = self.temporary(f"workgroupUniformLoad(&{where})", type)
            return name
        if array.key in module.atomic:
            where = f"atomicLoad(&{where})"
            where = f"bitcast<f32>({where})" if type == "f32" else where
        return Number(where, type)

    def where(self, place: Ref) -> str:
        """Return the text of a reference to an element."""
        array = place.array
        return f"{array.called}[{bare(self.text(place.at[0], 'i32'))}]"

    def store(self, place: Ref, number: Number) -> None:
        """Write a number to an element."""
        array, module = place.array, self.module
        module.stored.add(array.key)
        if number.known and array.kind[:5] == "float":
            number = Number("", "f32", rounded(float(number.const), array.kind))
        text = self.text(number, type_of(array.kind))
        if array.kind == "float16" and not number.known:
            text = f"quantizeToF16({bare(text)})"
        if array.key in module.atomic:
            if array.kind[0] == "f":
                text = f"bitcast<u32>({bare(text)})"
            return self.emit(f"atomicStore(&{self.where(place)}, {bare(text)});")
        self.emit(f"{self.where(place)} = {bare(text)};")


def folded(sign: str, a: object, b: object, kind: str) -> object:
    """Return the result of an operation on constants."""
    named = {"//": "quotient", "%": "rest", "**": "power"}
    if sign == "/":
        return arithmetic.divided(float(a), float(b))
    if sign in named:
        group = "real" if kind in FLOATS else "whole"
        return getattr(arithmetic, f"{group}_{named[sign]}")(a, b)
    if sign in ("<<", ">>"):
        name = "shifted_left" if sign == "<<" else "shifted_right"
        return getattr(arithmetic, name)(a, b)
    result = {
        "+": lambda: a + b,
        "-": lambda: a - b,
        "*": lambda: a * b,
        "&": lambda: a & b,
        "|": lambda: a | b,
        "^": lambda: a ^ b,
    }[sign]()
    return result if is_integer(kind) else float(result)


def signed(sign: str, value: object) -> object:
    """Return the result of a unary operation on a constant."""
    return {"-": lambda: -value, "+": lambda: +value, "~": lambda: ~value}[sign]()


def bits(value: int) -> int:
    """Return the exponent of a power of two."""
    exponent = 0
    while value > 1:
        value, exponent = value >> 1, exponent + 1
    return exponent
