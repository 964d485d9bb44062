"""Type inference for expressions: names, operations, elements of arrays."""

from .calls import Calls
from .handed import escaped, only_compiled, parts_known
from .things import BUILTINS, DIMS, KNOWN, DType, Family, Member, Thing, Type
from .tree import Node, literal
from .types import (
    FLOATS,
    MEMORY_BITS,
    RANGE_BITS,
    SIZES,
    UNSIGNED,
    WHOLE_BITS,
    compared,
    in_words,
    is_array,
    is_integer,
    is_number,
    is_tuple,
    operation,
    signed,
)
from .values import (
    UNKNOWN,
    Closure,
    Function,
    Refusal,
    Unusable,
    Value,
    computed,
    constant,
    element_of,
    joined,
    marked,
    possible,
    seen,
    unsure,
)


class Expressions(Calls):
    """Infers the values of expressions."""

    def value(self, node: Node) -> Value:
        """Return the value of an expression, and store it in the node."""
        read = getattr(self, "value_" + node.kind, None)
        if read is None:
            raise Refusal(node.line, f"{node.kind} has no place in a kernel")
        value = read(node)
        node.got = value
        return value

    def usable(self, node: Node, value: Value) -> Value:
        """Return the value; refuse one whose type depends on the way, or may be None."""
        if value.kind == "clash":
            kinds = getattr(value, "kinds", None)
            which = (
                "values of different types"
                if kinds is None
                else " and ".join([in_words(kind) for kind in kinds])
            )
            raise Refusal(
                node.line,
                f"two ways lead here, with {which} under one name",
                "give it one type on all ways",
                "enums" if getattr(value, "members", False) else "",
            )
        if value.kind == "maybe":
            raise Refusal(
                node.line,
                "on some way this is None",
                "start with a number, such as float32(-math.inf)",
                declined="none",
            )
        return value

    def number(self, node: Node, value: Value, wanted: str) -> Value:
        """Return the value; refuse anything but a number."""
        self.usable(node, value)
        if not is_number(value.kind):
            raise Refusal(
                node.line,
                f"{wanted}, not {self.named(value)}",
                number_of(value),
                self.choice(value),
            )
        return value

    def no_member(self, node: Node, *values: Value) -> None:
        """Refuse members of an IntEnum, where Numba takes no whole numbers but its own."""
        for value in values:
            if hasattr(value, "member"):
                raise Refusal(
                    node.line,
                    f"{value.member} is no number here",
                    f"{value.member}.value",
                    "enums",
                )

    def choice(self, value: Value) -> str:
        """Return the key in ``declined`` for such a value, or ""."""
        if isinstance(value.const, (Member, Family)):
            return "enums"
        if value.kind in ("text", "unicode_type"):
            return "texts"
        if str(value.kind)[:7] == "complex":
            return "complex"
        odd = isinstance(value.kind, str) and "(" in value.kind  # records and the like
        return "tuples" if odd or is_tuple(value.kind) else ""

    def named(self, value: Value) -> str:
        """Return how a message names a value that is not a number."""
        if value.kind == "static":
            if isinstance(value.const, Function):
                return f"the function {value.const.name}"
            return f"{type_or_thing(value.const)}"
        return in_words(value.kind)

    def truth(self, node: Node) -> Value:
        """Return the value of a test."""
        return self.test(node, self.value(node))

    def test(self, node: Node, value: Value) -> Value:
        """Return the value; refuse one that is neither true nor false."""
        self.usable(node, value)
        self.no_member(node, value)
        if value.kind == "none":
            return value
        if is_array(value.kind):
            raise Refusal(
                node.line,
                "a whole array is neither true nor false",
                "test one of its elements",
            )
        if is_tuple(value.kind) or value.kind in ("static", "text"):
            raise Refusal(
                node.line, f"{self.named(value)} is no test", declined="tuples"
            )
        if value.kind == "float16":
            raise Refusal(node.line, "a float16 is no test", "compare it with 0")
        return value

    def value_Refused(self, node: Node) -> Value:
        writes = node.what == "global" and self.local.intersection(node.words)
        raise Refusal(
            node.line,
            "a kernel cannot change a name around it"
            if writes
            else f"{node.what} has no place in a kernel",
            INSTEAD.get(node.what, ""),
            "" if writes else OWN_CHOICE.get(node.what, ""),
        )

    def value_Constant(self, node: Node) -> Value:
        return constant(node.value, node.line)

    def value_Name(self, node: Node) -> Value:
        name = node.id
        if name in self.local:
            if name not in self.stored:  # also if the end of an enclosing loop sets it
                raise Refusal(
                    node.line,
                    f"{name} has no value yet",
                    "set it on a line above: a name that a function sets is its own",
                )
            value = self.names.get(name) or unsure(self.stored[name])
            value = self.usable_name(node, value)
            node.unsure = value.unsure
            if value.unsure:
                self.typed.unset.add(name)
                known = value
                value = marked(
                    Value(value.kind, bits=value.bits, fixed=value.fixed), known
                )
                value.halfway = True
            return value
        if self.outer is not None:
            return self.outer.value_Name(node)
        return self.around(node)

    def usable_name(self, node: Node, value: Value) -> Value:
        if value.kind == "unset":
            raise Refusal(
                node.line,
                f"{node.id} has no value on some way to here",
                "define it before the ways part",
                declined="unset",
            )
        if value.kind == "clash":
            kinds = getattr(value, "kinds", None)
            if kinds:
                a, b = [in_words(kind) for kind in kinds]
                raise Refusal(
                    node.line,
                    f"{node.id} is {a} on one way and {b} on another",
                    "give it one type on all ways",
                )
        return value

    def around(self, node: Node) -> Value:
        """Return the value of a name around the function."""
        try:
            value = self.find(node.id)
        except KeyError:
            raise Refusal(
                node.line,
                f"the name {node.id} is not defined",
                MISSING.get(node.id) or self.meant(node.id),
            ) from None
        if isinstance(value, Unusable):
            raise Refusal(
                node.line,
                value.reason.replace("{name}", node.id),
                value.instead,
                value.declined,
            )
        if isinstance(value, Value):
            return value
        value = constant(value, node.line)
        if hasattr(value, "member"):  # Numba sees it, unlike an attribute of an enum
            value.computed = False
        return value

    def meant(self, name: str) -> str:
        """Return a known name that is close to an undefined one, or ""."""
        alike = [
            known
            for known in sorted(self.local)
            if simplified(known) == simplified(name)
        ]
        maths = "" if name in COMMON else near("math", name)
        return alike[0] if alike else near("cuda", name) or maths

    def value_Tuple(self, node: Node) -> Value:
        parts = [self.usable(part, self.value(part)) for part in node.elts]
        if not getattr(node, "direct", False):
            parts = [standing_alone(part) for part in parts]
        kind = ("tuple",) + tuple([part.kind for part in parts])
        if all([part.known for part in parts]):
            return Value(kind, tuple(parts))
        value = Value(kind)
        value.parts = parts
        return value

    def value_NamedExpr(self, node: Node) -> Value:
        """Refuse ``:=``, which Numba compiles of a variable or a conditional only."""
        value = node.value
        variable = value.kind == "Name" and value.id in self.local
        raise Refusal(
            node.line,
            "Numba finds no type for what := gives",
            "an assignment on a line of its own",
            declined="statements" if variable or value.kind == "IfExp" else "",
        )

    def value_Lambda(self, node: Node) -> Value:
        if not hasattr(node, "function"):
            node.function = function_of(node, "lambda")
            node.function.anonymous = True
        self.defaults(node.function)
        closure = Closure("the lambda", node.function, self)
        return standing_alone(Value("static", closure))

    def value_Slice(self, node: Node) -> Value:
        """Return the value of a slice, which only an index has."""
        for part in node.parts:
            if part is None:
                continue
            value = self.usable(part, self.value(part))
            if value.kind != "none":
                self.integer(node, value, "a bound of a slice")
        step = node.parts[2]
        if step is not None and step.got.known and step.got.const == 0:
            raise Refusal(
                node.line,
                "a step of 0 is an error, which a GPU keeps to itself",
                "a step from 1 on, or a negative one",
                declined="output",
            )
        return Value("slice")

    def value_IfExp(self, node: Node) -> Value:
        self.truth(node.test)
        node.possible = possible(node.test)
        if node.possible != (True, True):  # Numba prunes the unreachable arm
            return self.value(node.body if node.possible[0] else node.orelse)
        body, orelse = self.value(node.body), self.value(node.orelse)
        return self.usable(node, joined(body, orelse))

    def value_BoolOp(self, node: Node) -> Value:
        value = self.truth(node.values[0])
        node.reached = 1  # how many of the operands can be evaluated
        for before, part in zip(node.values, node.values[1:]):
            true, false = possible(before)
            ends, goes_on = (true, false) if node.op == "or" else (false, true)
            if not goes_on:
                return value
            node.reached += 1
            if not ends:
                value = self.truth(part)
                continue
            value = self.usable(node, joined(value, self.truth(part)))
            value = marked(Value(value.kind, bits=value.bits), value)
        return value

    def value_UnaryOp(self, node: Node) -> Value:
        if node.op == "not":
            value = self.value(node.operand)
            value = value if value.kind == "float16" else self.test(node.operand, value)
            if not value.known:
                return Value("bool")
            return computed(Value("bool", not value.const, 1))
        value = self.number(
            node, self.value(node.operand), f"{node.op} stands before a number"
        )
        if literal(node.operand) and value.kind != "bool":
            return constant(apply_sign(node.op, value.const), node.line)
        kind = signed(node.op, value.kind)
        if kind is None:
            raise Refusal(
                node.line, f"~ turns the bits of whole numbers, not of {value.kind}"
            )
        bits = 65 if kind in UNSIGNED else value.bits + (node.op == "~")
        own = kind if value.kind == "bool" else value.kind
        result = self.limit(node, Value(own, bits=bits, fixed=value.fixed))
        result.kind = kind  # computed in the operand's type, and then widened
        return result

    def value_BinOp(self, node: Node) -> Value:
        *chain, first = chained(node)
        a, whole = self.value(first), literal(first)
        for node in reversed(chain):
            b = self.value(node.right)
            whole = whole and literal(node.right)
            a = node.got = self.computed(node, a, b, whole)
        return a

    def computed(self, node: Node, a: Value, b: Value, whole: bool) -> Value:
        """Return the value of a binary operation; ``whole`` says that all are literals."""
        if whole:
            folded = fold(node.op, a.const, b.const)
            if folded is not UNKNOWN:
                return constant(folded, node.line)
            a = Value(a.kind, bits=a.bits)  # the device computes it, such as 1 / 0
        result = self.operate(node, node.op, a, b)
        if is_number(result.kind) and UNKNOWN not in (seen(a), seen(b)):
            folded = fold(node.op, seen(a), seen(b))
            result.branch = None if folded is UNKNOWN else bool(folded)
        return result

    def operate(self, node: Node, sign: str, a: Value, b: Value) -> Value:
        """Return the value of an operation between two numbers."""
        self.usable(node, a)
        self.usable(node, b)
        if (
            sign == "+" and a.kind[0] == b.kind[0] == "tuple"
        ):  # neither is a named tuple
            return Value(a.kind + b.kind[1:])
        self.two_numbers(node, sign, a, b)
        if a.kind in FLOATS or b.kind in FLOATS:
            self.no_member(node, a, b)
        kind = operation(sign, a.kind, b.kind)
        if kind is None:
            raise Refusal(
                node.line,
                f"{a.kind} {sign} {b.kind} does not exist",
                "convert first, as in int32(x)" if sign != "@" else "",
            )
        # Of powers of constants, the compiler computes only those with integer exponents.
        fixed = a.fixed and b.fixed and (sign != "**" or is_integer(b.kind))
        multiplied = b.known and node.kind == "BinOp"  # a constant exponent
        powers = sign == "**" and is_integer(b.kind) and not multiplied
        if (kind == "float64" or powers) and not fixed:
            self.compiler.double(
                node.line, f"{a.kind} {sign} {b.kind} is computed in float64"
            )
        if not is_integer(kind):
            return Value(kind, fixed=fixed)
        bits = bits_after(sign, a, b, kind)
        return self.limit(node, Value(kind, bits=bits, fixed=fixed))

    def two_numbers(self, node: Node, sign: str, a: Value, b: Value) -> None:
        """Refuse an operation unless both operands are numbers."""
        for value in (a, b):
            if is_number(value.kind):
                continue
            repeated = sign == "*" and (is_integer(a.kind) or is_integer(b.kind))
            declined = repeated or not is_tuple(value.kind)
            raise Refusal(
                node.line,
                f"{sign} needs two numbers, not {self.named(value)}",
                number_of(value),
                self.choice(value) if declined else "",
            )

    def limit(self, node: Node, value: Value) -> Value:
        """Note whether an integer can overflow its type, and so has to be wrapped."""
        most = WHOLE_BITS[value.kind] if is_integer(value.kind) else 0
        node.wraps = bool(most) and value.bits >= most + (value.kind in UNSIGNED)
        if node.wraps:
            value.bits = most
        return value

    def value_Compare(self, node: Node) -> Value:
        left = self.value(node.left)
        values = [left]
        for op, other in zip(node.ops, node.comparators):
            if op in ("in", "not in"):
                raise Refusal(
                    node.line,
                    f"{op} has no place in a kernel",
                    "compare with each of them",
                    declined="identity",
                )
            right = self.value(other)
            values.append(right)
            members = [member_of(left), member_of(right)]
            if None not in members and (op[:2] == "is" or left.kind == "static"):
                return self.same_member(node, op, *members)
            nothing = op in ("==", "!=") and "none" in (left.kind, right.kind)
            if op in ("is", "is not") or nothing:
                return self.identity(node, op, left, right)
            self.comparable(node, op, left, right)
            left = right
        pairs = zip(node.ops, values, values[1:])
        node.links = [self.link(op, seen(a), seen(b)) for op, a, b in pairs]
        result = Value("bool")
        if len(values) == 2 and values[0].known and values[1].known:
            known = COMPARED[node.ops[0]](values[0].const, values[1].const)
            result = Value("bool", known, 1)
        result.computed, result.branch = True, node.links[0]
        return result

    def same_member(self, node: Node, op: str, a: Member, b: Member) -> Value:
        """Return the value of a comparison of two members of an enum."""
        alike = op in ("==", "!=", "is", "is not")
        if len(node.ops) > 1 or a.family is not b.family or not alike:
            raise Refusal(
                node.line,
                f"{op} compares members of one enum, not {a} and {b}",
                "a == b",
                "enums" if alike else "",
            )
        sign = {"is": "==", "is not": "!="}.get(op, op)
        node.links = [None]
        return computed(Value("bool", COMPARED[sign](a.path, b.path), 1))

    def link(self, op: str, a: object, b: object) -> bool | None:
        """Return the result of a comparison if Numba sees both sides, else None."""
        return None if UNKNOWN in (a, b) else COMPARED[op](a, b)

    def identity(self, node: Node, op: str, left: Value, right: Value) -> Value:
        """Return the value of a comparison with None, which is known before the run."""
        if len(node.ops) > 1 or "none" not in (left.kind, right.kind):
            raise Refusal(
                node.line,
                f"{op} has no place in a kernel",
                "compare with ==",
                declined="identity",
            )
        for value in (left, right):
            if value.kind in ("maybe", "clash"):
                self.usable(node, value)
        result = Value("bool", (left.kind == right.kind) == (op in ("is", "==")), 1)
        result.computed = True
        if self.sees(left) and self.sees(right):
            result.branch = result.const
        return result

    def sees(self, value: Value) -> bool:
        """Return whether Numba knows this value before type inference."""
        return hasattr(value, "array") or seen(value) is not UNKNOWN

    def comparable(self, node: Node, op: str, a: Value, b: Value) -> None:
        """Refuse a comparison of anything but numbers; note one in float64."""
        self.usable(node, a)
        self.usable(node, b)
        if a.kind == b.kind == "text" and a.known and b.known:
            return
        for value, other in ((a, b), (b, a)):
            if not is_number(value.kind):
                none = "none" if "none" in (a.kind, b.kind) else ""
                dtypes = isinstance(a.const, DType) and isinstance(b.const, DType)
                none = "asking" if dtypes else none
                alone = is_tuple(value.kind) and is_number(other.kind)
                raise Refusal(
                    node.line,
                    f"{op} compares numbers, not {self.named(value)}",
                    number_of(value),
                    "" if alone else none or self.choice(value),
                )
        if a.kind in FLOATS or b.kind in FLOATS:
            self.no_member(node, a, b)
        if compared(a.kind, b.kind) != "float64" or (a.fixed and b.fixed):
            return
        if a.kind in FLOATS or b.kind in FLOATS:
            if not (self.exact(a, b) or self.exact(b, a)):
                self.compiler.double(
                    node.line, f"{a.kind} {op} {b.kind} is compared in float64"
                )

    def exact(self, number: Value, other: Value) -> bool:
        """Return whether float32 represents a constant exactly, for a comparison."""
        if not number.known or other.kind not in ("float16", "float32"):
            return False
        value = float(number.const)
        if value != value or value - value != 0:
            return True
        step = abs(value)
        while step >= 2**24:
            step /= 2
        while 0 < step < 2**23:
            step *= 2
        return step == int(step)

    # ---- attributes and elements

    def value_Attribute(self, node: Node) -> Value:
        base = self.usable(node, self.value(node.value))
        if node.attr == "value" and member_of(base) is not None:
            return computed(constant(member_of(base).value, node.line))
        if base.kind == "static":
            return self.static_attribute(node, base.const)
        if is_array(base.kind):
            return self.array_attribute(node, base)
        fields = base.kind[0].split(" ")[1:] if is_tuple(base.kind) else []
        if node.attr in fields:
            node.number = fields.index(node.attr)
            part = self.part(base, node.number)
            return Value(part.kind, bits=part.bits, fixed=part.fixed)
        raise Refusal(
            node.line,
            f"{self.named(base)} has no {node.attr}",
            "",
            "views" if node.attr in OF_NUMBERS else self.choice(base),
        )

    def array_attribute(self, node: Node, base: Value) -> Value:
        """Return the shape, size, ndim or dtype of an array; refuse all others."""
        kind, name = base.kind, node.attr
        if name == "shape":
            return Value(("tuple",) + ("int64",) * kind[2], bits=MEMORY_BITS)
        if name == "size":
            return Value("int64", bits=MEMORY_BITS)
        if name == "ndim":
            ndim = constant(kind[2], node.line)
            return ndim if hasattr(base, "argument") else computed(ndim)
        if name == "dtype":
            return Value("static", DType(kind[1]))
        if name in VIEWS:
            raise Refusal(
                node.line,
                f"{name} of an array has no place in a kernel",
                "go through the elements in a loop",
                declined="views",
            )
        counts = name[:3] in ("len", "siz", "sha", "cou")
        raise Refusal(
            node.line,
            f"an array has no {name} in a kernel"
            if name in HOSTS
            else f"an array has no {name}",
            "x.size, or x.shape[0]" if counts else "a loop over its elements",
        )

    def static_attribute(self, node: Node, const: object) -> Value:
        if isinstance(const, Thing):
            child = const.child(node.attr)
            if child is None:
                raise self.unknown(node, const.path)
            return self.thing(child)
        if isinstance(const, Family) and const.member(node.attr):
            return constant(const.member(node.attr), node.line)
        if isinstance(const, DType) and node.attr == "type":
            return Value("static", Type(const.name))
        value = getattr(const, node.attr, None) if is_module(const) else None
        if value is None:
            what = type_or_thing(const)
            raise Refusal(
                node.line, f"{what} has no {node.attr} for a kernel", "", "library"
            )
        return self.around_value(node, value)

    def unknown(self, node: Node, path: str) -> Refusal:
        """Return the refusal of an attribute that a module does not have for kernels."""
        name, instead = node.attr, REPLACED.get(path, "")
        library = LIBRARY
        if path == "numpy":
            library = NUMPYS
            if name in MAKERS:
                instead = "cuda.local.array(n, float32), or an array as an argument"
            elif near("math", name):
                instead = near("math", name)
            elif name in OTHER_NAMES:
                instead = OTHER_NAMES[name]
        else:
            instead = near(path, name) or near("math", name)
            instead = instead or (name if name in BUILTINS else "")
        bound = path == "cuda.fp16" and name[:3] == "__h"  # the names of CUDA's header
        vector = path == "cuda" and name[-1:] in "1234" and name[:-1] in VECTORS
        known = name in library or bound or vector or path == "operator"
        declined = "library" if known else ""
        return Refusal(node.line, f"a kernel knows no {path}.{name}", instead, declined)

    def around_value(self, node: Node, value: object) -> Value:
        """Return the value of an attribute of a module around the kernel."""
        holder = Node("Name", node.line, id=node.attr)
        resolve = self.typed.function.resolve or resolve_or_raise
        wanted, self.find = self.find, lambda name: resolve(value)
        try:
            return self.around(holder)
        finally:
            self.find = wanted

    def thing(self, child: object) -> Value:
        """Return the value of an attribute of ``cuda``, ``math`` or ``numpy``."""
        path = child.path if isinstance(child, Thing) else ""
        parts = path.split(".")
        if len(parts) == 3 and parts[1] in DIMS:
            return Value("int32", bits=RANGE_BITS)
        if path in ("cuda.laneid", "cuda.warpsize"):
            return Value("int32", bits=6)
        if parts[0] in ("math", "numpy") and parts[-1] in NUMBERS:
            return computed(Value("float64", NUMBERS[parts[-1]]))
        return Value("static", child)

    def value_Subscript(self, node: Node) -> Value:
        base = self.usable(node, self.value(node.value))
        if is_array(base.kind):
            if is_ellipsis(node.slice):
                raise Refusal(node.line, "an ellipsis alone is no view", "x[:]")
            return self.index(node, base.kind)
        if is_tuple(base.kind):
            slices = node.slice.kind == "Slice"
            return (self.tuple_slice if slices else self.tuple_part)(node, base)
        if isinstance(base.const, Family):
            name = self.value(node.slice).const
            member = base.const.member(name) if isinstance(name, str) else None
            if member is not None:
                return constant(member, node.line)
        raise Refusal(
            node.line,
            f"{self.named(base)} has no elements",
            number_of(base),
            self.choice(base),
        )

    def tuple_part(self, node: Node, base: Value) -> Value:
        """Return an element of a tuple; a variable index needs elements of one type."""
        index = self.number(node, self.value(node.slice), "an index is a whole number")
        self.no_member(node, index)
        if not is_integer(index.kind) or index.kind == "bool":
            raise Refusal(
                node.line, f"an index is a whole number, not {index.kind}", "int32(…)"
            )
        parts = base.kind[1:]
        index = self.literal(index) if kinds_differ(base.kind) else index
        if index.known:
            if not -len(parts) <= index.const < len(parts):
                raise Refusal(
                    node.line, f"a tuple of {len(parts)} has no part {index.const}"
                )
            element = self.part(base, index.const % len(parts))
            if element.known and not element.computed:
                element = element_of(element)
            most = base.bits if base.bits and is_integer(element.kind) else element.bits
            if element.known or hasattr(element, "handed") or hasattr(element, "parts"):
                return element
            return marked(Value(element.kind, bits=most), element)
        if not parts or kinds_differ(base.kind):
            raise Refusal(
                node.line,
                "the parts of this tuple have several types",
                "use a constant index",
                "tuples" if parts and len(set(parts)) == 1 else "",
            )
        return self.some_part(node, base)

    def some_part(self, node: Node, base: Value) -> Value:
        """Return one or another element of a tuple whose elements have one type."""
        value = Value(base.kind[1])
        members = [hasattr(part, "member") for part in parts_known(base) or ()]
        if True not in members and not only_compiled(value.kind):
            return value
        if False in members or not members or only_compiled(value.kind):
            raise Refusal(
                node.line,
                "the parts of this tuple are not all numbers",
                "use them one by one",
                "tuples",
            )
        return marked(value, parts_known(base)[0])

    def tuple_slice(self, node: Node, base: Value) -> Value:
        """Return a part of a tuple, which needs constant bounds."""
        self.value(node.slice)
        bounds = [None if part is None else part.got for part in node.slice.parts]
        known = [b is None or b.known and not b.computed for b in bounds]
        if not all(known):
            raise Refusal(
                node.line,
                "the bounds of a tuple's slice have to be constants",
                "t[1:3]",
            )
        start, stop, step = [None if bound is None else bound.const for bound in bounds]
        numbers = range(len(base.kind) - 1)[start:stop:step]
        parts = [self.part(base, number) for number in numbers]
        value = Value(("tuple",) + tuple([part.kind for part in parts]), bits=base.bits)
        if base.known or hasattr(base, "parts"):
            fresh = lambda part: part.known and not part.computed
            value.parts = [element_of(part) if fresh(part) else part for part in parts]
        return value

    def spell_out(self, node: Node, dimensions: int) -> None:
        """Replace an ellipsis among indices by the slices that it stands for."""
        parts = node.slice.elts if node.slice.kind == "Tuple" else [node.slice]
        parts = [self.spelled(part) for part in parts]
        if node.slice.kind == "Tuple":
            node.slice.elts = parts
        else:
            node.slice = parts[0]
        dots = [k for k, part in enumerate(parts) if is_ellipsis(part)]
        if len(dots) > 1:
            raise Refusal(node.line, "two ellipses in one index", "one, or x[:, :, i]")
        for at in dots:
            slices = [
                Node("Slice", node.line, parts=[None, None, None])
                for _ in range(dimensions - len(parts) + 1)
            ]
            elts = parts[:at] + slices + parts[at + 1 :]
            node.slice = Node("Tuple", node.slice.line, elts=elts)

    def spelled(self, part: Node) -> Node:
        """Return an index; for the name of a slice around the function, that slice."""
        if part.kind != "Name" or part.id in self.local:
            return part
        if self.outer is not None:
            return self.outer.spelled(part)
        try:
            bounds = getattr(self.find(part.id), "bounds", None)
        except KeyError:
            return part
        if bounds is None:
            return part
        parts = [Node("Constant", part.line, value=bound) for bound in bounds]
        return Node("Slice", part.line, parts=parts)

    def index(self, node: Node, kind: tuple) -> Value:
        """Return an element of an array, or a view of fewer elements."""
        self.spell_out(node, kind[2])
        several = node.slice.kind == "Tuple"
        value = self.value(node.slice)
        if is_tuple(value.kind) and not several:  # a name that stands for a tuple
            kinds = list(value.kind[1:])
        else:
            kinds = list(value.kind[1:]) if several else [value.kind]
        for part in kinds:
            if part != "slice" and (not is_integer(part) or part == "bool"):
                self.usable(node, value)
                what = self.named(value) if part == "static" else in_words(part)
                raise Refusal(
                    node.line,
                    f"an index is a whole number, not {what}",
                    "a // b, or int32(…)" if is_number(part) else number_of(value),
                    "slices" if is_array(part) or part == "none" else "",
                )
        if len(kinds) > kind[2]:
            raise Refusal(node.line, f"{len(kinds)} indices for {in_words(kind)}")
        self.no_member(node, *(parts_known(value) or [value]))
        node.spread = is_tuple(value.kind) and not several
        return self.element(kind, len(kinds) - kinds.count("slice"))

    def element(self, kind: tuple, indices: int) -> Value:
        """Return what remains of an array after this many indices."""
        if indices == kind[2]:
            return Value(kind[1])
        return Value((kind[0], kind[1], kind[2] - indices) + kind[3:])


def member_of(value: Value) -> Member | None:
    """Return the member of an enum that a value is, or None."""
    if isinstance(value.const, Member):
        return value.const
    return getattr(value, "member", None) if value.known else None


def standing_alone(value: Value) -> Value:
    """Return a value; a nested function that is in a tuple is compiled by itself."""
    if isinstance(value.const, Closure):
        return Value("static", escaped(value.const))
    return value


def kinds_differ(kind: tuple) -> bool:
    """Return whether the elements of a tuple have several types."""
    static = [part for part in kind[1:] if part == "static"]
    return bool(static) or bool([part for part in kind[1:] if part != kind[1]])


def type_or_thing(const: object) -> str:
    """Return how a message names something that only the compiler sees."""
    if isinstance(const, (Thing, Type, Member, Family)):
        return str(const)
    return f"a {type(const).__name__}"


def number_of(value: Value) -> str:
    """Return a hint for a value that is used in place of a number, or ""."""
    path = getattr(value.const, "path", "")
    if path[5:] in DIMS:
        return f"{path}.x"
    if is_array(value.kind):
        return "one of its elements"
    tuples = is_tuple(value.kind)
    return "one of its elements, such as x.shape[0]" if tuples else ""


def near(path: str, name: str) -> str:
    """Return the path of a similar name in a module, or ""."""
    meant = [simplified(name) + end for end in ("", "s", "sync")]
    for known in sorted(KNOWN):
        inside = known[: len(path) + 1] == path + "."
        if inside and simplified(known[len(path) :]) in meant:
            return known
    return ALSO.get(name, "") if path == "cuda" else ""


def simplified(name: str) -> str:
    """Return a name in lower case, without dots and underscores."""
    return name.lower().replace("_", "").replace(".", "")


def is_ellipsis(node: Node) -> bool:
    return getattr(node, "what", "") == "an ellipsis"


def function_of(node: Node, name: str) -> Node:
    """Return a lambda as the def of a function."""
    back = Node("Return", node.line, value=node.body)
    return Node(
        "FunctionDef",
        node.line,
        name=name,
        decorators=[],
        parameters=node.parameters,
        body=[back],
    )


def chained(node: Node) -> list:
    """Return a left-associative chain of operations, the last first, then its start."""
    chain = [node]
    while node.kind == "BinOp":
        node = node.left
        chain.append(node)
    return chain


def apply_sign(sign: str, value: object) -> object:
    return {"-": -value, "+": value}[sign] if sign in "+-" else ~value


def fold(sign: str, a: object, b: object) -> object:
    """Return the result of an operation between constants, or UNKNOWN."""
    try:
        if sign == "**" and not (abs(b) <= 64 and abs(a) <= 2**64):
            return UNKNOWN
        return FOLDED[sign](a, b) if sign in FOLDED else UNKNOWN
    except (ArithmeticError, TypeError, ValueError):
        return UNKNOWN


FOLDED = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "**": lambda a, b: a**b,
    "<<": lambda a, b: a << b if b < 64 else UNKNOWN,
    ">>": lambda a, b: a >> b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
}


COMPARED = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}


def bits_after(sign: str, a: Value, b: Value, kind: str) -> int:
    """Return a bound on the bits of an integer operation's result."""
    x, y = a.bits, b.bits
    positive = [v.bits for v in (a, b) if v.known and v.const >= 0]
    if sign in ("+", "-"):
        bits = 65 if sign == "-" and kind in UNSIGNED else max(x, y) + 1
    elif sign == "*":
        bits = x + y
    elif sign == "&":
        bits = min(positive) if positive else max(x, y)
    elif sign == "<<":
        bits = x + b.const if b.known and 0 <= b.const < 64 else 65
    elif sign == "**":
        bits = 65
    elif sign == "%":
        bits = y
    else:
        bits = x if sign in ("//", ">>") else max(x, y)
    return max(bits, 1)


def resolve_or_raise(value: object) -> object:
    return value


def is_module(value: object) -> bool:
    return type(value).__name__ == "module"


VIEWS = (  # attributes of arrays that Numba compiles and the simulator declines
    "T all any argmax argmin clip fill flat item itemsize mean nbytes prod real"
    " reshape std strides sum transpose var view"
).split()
HOSTS = (  # attributes that arrays have outside of kernels only
    "astype copy copy_to_host conj cumprod cumsum dot flatten imag max min nonzero"
    " ravel repeat round sort take tolist to_host"
).split()
OF_NUMBERS = ("real", "imag", "conjugate", "bit_count", "item", "value")
INF = float("inf")
NUMBERS = {
    "pi": 3.141592653589793,
    "e": 2.718281828459045,
    "tau": 6.283185307179586,
    "inf": INF,
    "nan": INF - INF,
}
COMMON = ("e", "gamma", "tau")  # in math, but more often a reader's own names
ALSO = {  # names that cuda does not have -> the names that are meant
    "synchronize": "cuda.syncthreads()",
    "threadId": "cuda.threadIdx",
    "blockId": "cuda.blockIdx",
}
MISSING = {
    "math": "import math",
    "cuda": "from numba import cuda",
    "float32": "from numba import float32",
    "int32": "from numba import int32",
    "np": "import numpy as np",
}
# Vector types, without how many numbers they hold: float32x4 and float4, say.
VECTORS = [kind + "x" for kind in SIZES]
VECTORS += "char short int long longlong float double".split()
VECTORS += "uchar ushort uint ulong ulonglong".split()
LIBRARY = (  # names in math and cuda that Numba compiles and the simulator declines
    "cg htanh_approx libdevice complex64 complex128"
    " ldca ldcg ldcs ldcv ldlu stcg stcs stwb stwt"
).split()
NUMPYS = (  # names in NumPy that Numba compiles for a kernel
    "acos acosh all angle any arccos arccosh arcsin arcsinh arctan arctan2 arctanh argmax"
    " argmin array_equal asin asinh atan atan2 atanh average bitwise_and bitwise_invert"
    " bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor complex64"
    " complex128 conj conjugate cos cosh count_nonzero deg2rad degrees divide dtype"
    " equal euler_gamma finfo fmax fmin greater greater_equal hypot iinfo imag invert"
    " iscomplexobj isnan isrealobj isscalar left_shift less less_equal log log10 log2"
    " logical_and logical_not logical_or logical_xor maximum mean minimum nan_to_num"
    " nanmean nanprod nanstd nansum nanvar newaxis not_equal prod rad2deg radians real"
    " right_shift searchsorted sin sinc sinh size std sum tan tanh true_divide var"
).split()
MAKERS = (
    "arange array asarray concatenate copy empty empty_like full full_like linspace ones"
    " ones_like stack zeros zeros_like"
).split()
OTHER_NAMES = {
    "abs": "abs(x)",
    "absolute": "abs(x)",
    "argmax": "a loop over its elements",
    "argmin": "a loop over its elements",
    "clip": "min(max(x, low), high)",
    "dot": "a loop that adds up products",
    "dtype": "the type's own name, such as np.float32",
    "finfo": "the number, under a name around the kernel",
    "float": "np.float32",
    "iinfo": "the number, under a name around the kernel",
    "int": "np.int32",
    "max": "a loop over its elements",
    "mean": "a loop that adds up",
    "min": "a loop over its elements",
    "random": "random numbers made outside, as an array",
    "sum": "a loop that adds up",
    "maximum": "max(a, b)",
    "minimum": "min(a, b)",
    "power": "x ** y",
    "round": "round(x)",
    "square": "x * x",
    "where": "a if test else b",
}
REPLACED = {"numpy": "math has what a kernel needs"}
OWN_CHOICE = {
    "raise": "output",
    "match": "statements",
    "async": "statements",
    "global": "statements",
    "nonlocal": "statements",
    "an ellipsis": "slices",
    "a bytes literal": "texts",
    "a complex number": "complex",
    "a star before an expression": "functions",
}
INSTEAD = {
    "a list": "cuda.local.array(n, float32), or a tuple",
    "a list comprehension": "a loop, into cuda.local.array(n, float32)",
    "a generator": "a loop that adds up in a variable",
    "a dictionary": "an array",
    "a set": "an array",
    "try": "test before, with if",
    "raise": 'raise ValueError("…")',
    "match": "if and elif",
    "an import inside a kernel": "move it to the top of the file",
    "global": "pass an array",
    "del": "nothing: names end with their function",
    "yield": "store the value in an array",
    "a class": "separate arrays",
    "an f-string": "write numbers into an array",
}
