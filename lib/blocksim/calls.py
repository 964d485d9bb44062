"""Type inference for calls: device functions, ``math``, ``cuda`` and builtins."""

from .handed import constant_of, escaped, only_compiled, parts_known
from .things import (
    ALIASES,
    ATOMICS,
    BITS,
    COUNTS,
    DIMS,
    FENCES,
    SHUFFLES,
    SIGNS,
    UNARY,
    VOTES,
    DType,
    Thing,
    Type,
    type_of_text,
)
from .tree import COMPARISONS, Node, clone
from .types import (
    ANGLES,
    FLOATS,
    HALVES,
    MEMORY_BITS,
    ORDERED,
    SIZES,
    TWO,
    UNSIGNED,
    WHOLE_BITS,
    in_words,
    is_array,
    is_integer,
    is_number,
    is_tuple,
    of_divmod,
    of_math,
    single,
    unified,
)
from .values import (
    Closure,
    Function,
    Refusal,
    Typed,
    Value,
    constant,
    joined,
    marked,
    signed,
)


class Calls:
    """Infers the values of calls."""

    def value_Call(self, node: Node) -> Value:
        for arg in node.args:
            if arg.kind == "Refused" and arg.what in TAKEN_BY_NONE:
                self.value(arg)
        self.spread_out(node)
        counted = self.bit_count(node)
        if counted is not None:
            return counted
        node.same = self.same_view(node)
        if node.same is not None:
            return self.value(node.same)
        called = self.usable(node, self.value(node.func)).const
        if isinstance(called, Function):
            return self.call_function(node, called)
        if isinstance(called, DType):
            raise Refusal(
                node.line, "a dtype cannot be called", f"{called.name}(…), or .type(…)"
            )
        if isinstance(called, Type):
            return self.convert(node, called)
        if not isinstance(called, Thing):
            raise self.not_called(node)
        path = called.path
        node.path = path
        group, _, name = path.rpartition(".")
        read = CALLS.get(path) or GROUPS.get(group)
        if read is None:
            raise Refusal(
                node.line, f"{path} cannot be called", INSIDE.get(path, f"{path} alone")
            )
        return getattr(self, read)(node, name)

    def bit_count(self, node: Node) -> Value | None:
        """Return the result of ``n.bit_count()``; None if the call is another one."""
        function = node.func
        if function.kind != "Attribute" or function.attr != "bit_count" or node.args:
            return None
        kind = self.value(function.value).kind
        if not is_integer(kind) or kind == "bool" or node.keywords:
            return None
        node.path, node.bound = "cuda.popc", [function.value]
        return Value(kind)

    def same_view(self, node: Node) -> Node | None:
        """Return x of ``x.view(dtype)``, if x is an array of this type."""
        function = node.func
        if getattr(function, "attr", "") != "view" or len(node.args) != 1:
            return None
        kind, dtype = self.value(function.value).kind, self.value(node.args[0]).const
        alike = is_array(kind) and getattr(dtype, "name", "") == kind[1]
        return function.value if alike else None

    def spread_out(self, node: Node) -> None:
        """Replace a tuple with a star before it, ``f(*pair)``, by its elements."""
        args = []
        for arg in node.args:
            spread = getattr(arg, "value", None) if arg.kind == "Refused" else None
            args += [arg] if spread is None else self.elements(arg, spread)
        node.args = node.args if node.keywords else args

    def elements(self, arg: Node, spread: Node) -> list:
        """Return the elements of a tuple with a star before it; refuse anything else."""
        if spread.kind == "Tuple":
            return spread.elts
        value = self.value(spread)
        if not is_tuple(value.kind) or spread.kind not in ("Name", "Attribute"):
            return [arg]
        numbers = [
            Node("Constant", arg.line, value=number)
            for number in range(len(value.kind) - 1)
        ]
        return [Node("Subscript", arg.line, value=spread, slice=one) for one in numbers]

    def not_called(self, node: Node) -> Refusal:
        """Return the refusal of a call of something that is no function."""
        function, value = node.func, node.func.got
        name = getattr(function, "id", getattr(function, "attr", ""))
        listed = is_tuple(value.kind) or is_array(value.kind)
        instead = "[…] in place of (…)" if listed else ""
        if is_number(value.kind):
            attribute = function.kind == "Attribute"
            instead = f"{name}, without brackets" if attribute else ""
            if name in CALLS:
                instead = f"another name for the number: {name} is a function's"
        return Refusal(node.line, f"{self.named(value)} cannot be called", instead)

    def take(self, node: Node, *wanted: str) -> list:
        """Return the values of the arguments, in the order of the parameters ``wanted``.

        A parameter in brackets, as "[mask]", is optional; its value is then None.
        """
        names = [name.strip("[]") for name in wanted]
        needed = [name for name in wanted if name[0] != "["]
        least = ", ".join(needed)
        instead = f"{node.path}({least})"
        if len(node.args) > len(names):
            count = len(node.args) + len(node.keywords)
            message = f"{node.path} takes {counted(len(names), 'value')}, not {count}"
            raise Refusal(node.line, message, instead)
        arguments = self.by_name(node, names)
        if [name for name in needed if name not in arguments]:
            raise Refusal(node.line, f"{node.path} needs {least}", instead)
        node.bound = [arguments.get(name) for name in names]
        return [
            None if arg is None else self.usable(node, self.value(arg))
            for arg in node.bound
        ]

    def by_name(self, node: Node, names: list) -> dict:
        """Return the arguments of a call by the names of their parameters."""
        known = node.path.endswith(".array") or node.path in ALIASES
        if node.keywords and not known:
            message = f"{node.path} takes no names of parameters"
            raise Refusal(node.line, message, "the values in order")
        arguments = dict(zip(names, node.args))
        for name, arg in node.keywords:
            if name not in names or name in arguments:
                raise Refusal(node.line, f"{node.path} takes no {name} here")
            arguments[name] = arg
        return arguments

    def numbers(self, node: Node, *wanted: str) -> list:
        """Return the values of the arguments; all have to be numbers."""
        values = self.take(node, *wanted)
        if node.path != "range" and not is_whole(node.path):
            self.no_member(node, *values)
        for value in values:
            if value is not None:
                self.number(node, value, f"{node.path} takes numbers")
        return values

    def integer(self, node, value: Value, what: str, instead="int32(…)") -> None:
        """Refuse anything but an integer."""
        if value is not None and not is_integer(value.kind):
            raise Refusal(
                node.line,
                f"{what} is a whole number, not {self.named(value)}",
                instead,
                "floats" if value.kind in FLOATS else "",
            )

    def call_function(self, node: Node, function: Function) -> Value:
        """Return the result of a call of a device function or a nested function."""
        if node.keywords and isinstance(function, Closure):
            raise Refusal(
                node.line,
                "a function inside a kernel takes no names of parameters in its call",
                "the values in order",
            )
        if not hasattr(node, "written"):
            node.written = (node.args, node.keywords)
        node.args, node.keywords = node.written
        node.args, node.keywords = self.arrange(node, function), []
        values = [self.usable(node, self.value(arg)) for arg in node.args]
        if isinstance(function, Closure):
            typed = self.inline(node, function, values)
        else:
            values = [self.escaping(node, value) for value in values]
            typed = self.compiler.typed(function, values)
            self.typed.literal = self.typed.literal or typed.literal
        if typed.result is None:
            raise Refusal(node.line, f"{function.name} calls itself", "use a loop")
        self.check_signature(node, function, typed)
        node.typed = typed
        if typed.meets:
            self.meet()
        self.typed.atomics = self.typed.atomics or typed.atomics
        self.typed.calls_waiting = self.typed.calls_waiting or typed.waits
        return self.given_back(node, typed.result)

    def given_back(self, node: Node, result: Value) -> Value:
        """Return the value of a call; a function or a type remains a constant."""
        value = marked(Value(result.kind, bits=result.bits), result)
        parts = parts_known(result)
        if parts is not None:
            value.parts = [marked(Value(part.kind), part) for part in parts]
        if only_compiled(result.kind):
            value.const = result.const
            if not result.known:
                raise Refusal(
                    node.line,
                    "the function returns a tuple of functions and variables",
                    "return its parts one by one",
                    declined="functions",
                )
        return value

    def escaping(self, node: Node, value: Value) -> Value:
        """Return an argument that another function may use."""
        if isinstance(value.const, Closure):
            return Value("static", escaped(value.const))
        parts = parts_known(value)
        if parts is not None and only_compiled(value.kind):
            whole = Value(value.kind)
            whole.parts = [self.escaping(node, part) for part in parts]
            return whole
        if only_compiled(value.kind) and not value.known:
            raise Refusal(
                node.line,
                "a text or function that differs by the way cannot be handed over",
                "hand it over on each way",
                declined="functions",
            )
        return value

    def literal(self, value: Value) -> Value:
        """Return a value with its constant, also where a caller handed over a literal."""
        if hasattr(value, "hidden"):
            return Value(value.kind)
        if value.known or not hasattr(value, "handed"):
            return value
        self.typed.literal = True
        return constant_of(value)

    def check_signature(self, node: Node, function: Function, typed: Typed) -> None:
        """Refuse a call whose types differ from those in the function's decorator."""
        takes = signed(function)
        if takes is None:
            return
        gives = function.signature.gives
        if takes != typed.kinds or gives not in (None, typed.result.kind):
            raise Refusal(
                node.line,
                f"{function.name} has a signature of other types than those here",
                "@cuda.jit(device=True) without one",
                "signatures",
            )

    def arrange(self, node: Node, function: Function) -> list:
        """Return the arguments of a call in the order of the parameters."""
        parameters = function.node.parameters
        last = parameters[-1] if parameters else None
        rest = last is not None and last.stars == "*" and last.name != ""
        rest = rest and not isinstance(function, Closure)
        for parameter in parameters:
            if parameter.stars and not (rest and parameter is last):
                raise Refusal(
                    parameter.line,
                    "a star before a parameter has no place in a kernel",
                    "name every parameter",
                    declined="functions",
                )
        for arg in node.args:
            if arg.kind == "Refused":
                self.value(arg)
        given = node.args
        if rest:
            several = given[len(parameters) - 1 :]
            given = given[: len(parameters) - 1]
            if len(given) == len(parameters) - 1:
                given = given + [Node("Tuple", node.line, elts=several)]
        arguments = dict(zip([p.name for p in parameters], given))
        names = [parameter.name for parameter in parameters]
        for name, arg in node.keywords:
            if name not in names or name in arguments:
                raise Refusal(node.line, f"{function.name} takes no {name} here")
            arguments[name] = arg
        if rest and last.name not in arguments:
            arguments[last.name] = Node("Tuple", node.line, elts=[])
        missing = [
            p for p in parameters if p.name not in arguments and p.default is None
        ]
        if missing or len(given) > len(parameters):
            raise Refusal(
                node.line,
                f"{function.name} takes {', '.join(names)};"
                f" {len(node.args) + len(node.keywords)} given",
            )
        return [arguments.get(p.name) or self.default(p, function) for p in parameters]

    def default(self, parameter: Node, function: Function) -> Node:
        """Return the node of a parameter's default value."""
        if isinstance(function, Closure):
            value = parameter.default.got.const
            return Node("Constant", parameter.line, value=value)
        value = clone(parameter.default)
        return Node("Default", value.line, value=value, function=function)

    def value_Default(self, node: Node) -> Value:
        """Return a default's value; its names are resolved around its function."""
        function = node.function
        around = Node("Pass", node.line, body=[])
        typed = Typed(function, around, ())
        return type(self)(self.compiler, typed, None).value(node.value)

    def inline(self, node: Node, closure: Closure, values: list) -> Typed:
        """Infer the types in a nested function, for this call of it."""
        if closure.node in self.around_me():
            raise Refusal(node.line, f"{closure.name} calls itself", "use a loop")
        typed = Typed(closure, clone(closure.node), tuple([v.kind for v in values]))
        inference = type(self)(self.compiler, typed, closure.outer)
        inference.caller = self
        inference.run(values)
        closure.node.copies[id(node)] = typed
        return typed

    def around_me(self) -> list:
        """Return the nested functions that are being read, this one included."""
        nodes, inference = [], self
        while inference.caller is not None:
            nodes.append(inference.typed.function.node)
            inference = inference.caller
        return nodes

    def meet(self) -> None:
        self.typed.meets = True

    def convert(self, node: Node, dtype: Type) -> Value:
        """Return a number in another type: float32(x)."""
        node.path = dtype.name
        (value,) = self.numbers(node, "x")
        self.note_narrowing(node.line, value, dtype.name)
        if dtype.name == "bool":
            self.no_half(node, value)
        if dtype.name == "float64" and not value.fixed:
            self.compiler.double(node.line, f"a {value.kind} becomes float64")
        if is_integer(dtype.name) and is_integer(value.kind):
            bits = min(value.bits, WHOLE_BITS[dtype.name])
            node.wraps = value.bits >= WHOLE_BITS[dtype.name] or (
                dtype.name in UNSIGNED and value.kind not in UNSIGNED
            )
            return Value(dtype.name, bits=bits, fixed=value.fixed)
        node.wraps = True
        return Value(dtype.name, fixed=value.fixed)

    def call_range(self, node: Node, name: str) -> Value:
        count = len(node.args)
        if node.keywords or not 1 <= count <= 3:
            raise Refusal(
                node.line, "range takes a stop, or a start, a stop and a step"
            )
        values = self.numbers(node, "start", "[stop]", "[step]")
        values = [value for value in values if value is not None]
        for value in values:
            self.integer(node, value, "a bound of range", "a // b, or int32(…)")
        kinds = [value.kind for value in values]
        if len(values) == 3 and values[2].known and values[2].const == 0:
            raise Refusal(
                node.line,
                "a step of 0 is an error, which a GPU keeps to itself",
                "a step from 1 on, or a negative one",
                declined="output",
            )
        kind = "int64"
        if not [
            k
            for k in kinds
            if k not in ("bool", "int8", "int16", "int32", "uint8", "uint16")
        ] and not all([value.known for value in values]):
            kind = "int32"
        if [k for k in kinds if k in UNSIGNED]:
            kind = "uint64"
        return Value(("range", kind), bits=max([v.bits for v in values[:2]]) + 1)

    def iterator(self, node: Node, parts: list) -> Value:
        """Return what goes through tuples of these values; only a for takes it."""
        if not getattr(node, "looped", False):
            raise Refusal(
                node.line,
                f"{node.path} has no place outside the head of a for",
                f"for … in {node.path}(…)",
                declined="loops",
            )
        item = Value(("tuple",) + tuple([part.kind for part in parts]))
        item.parts = parts
        value = Value(("iterator", item.kind))
        value.item = item
        return value

    def call_enumerate(self, node: Node, name: str) -> Value:
        if node.args:
            node.args[0].looped = True
        start = self.take(node, "iterable", "[start]")[1]
        self.integer(node, start, "the start of enumerate")
        bits = MEMORY_BITS
        if start is not None:
            if start.kind == "bool":
                raise Refusal(
                    node.line, "the start of enumerate is a number, not bool", "1, or 0"
                )
            bits = min(max(start.bits, bits) + 1, WHOLE_BITS["int64"])
        return self.iterator(node, [Value("int64", bits=bits), self.item(node.args[0])])

    def call_zip(self, node: Node, name: str) -> Value:
        self.by_name(node, [])
        node.bound = node.args
        return self.iterator(node, [self.item(arg) for arg in node.args])

    def call_len(self, node: Node, name: str) -> Value:
        (value,) = self.take(node, "x")
        if is_tuple(value.kind) and hasattr(value, "argument"):
            # Numba knows the length of a tuple argument before type inference.
            return constant(len(value.kind) - 1, node.line)
        if is_tuple(value.kind) or is_array(value.kind):
            return Value("int64", bits=MEMORY_BITS)
        raise Refusal(
            node.line,
            f"{self.named(value)} has no length",
            declined="" if is_number(value.kind) else "tuples",
        )

    def call_extreme(self, node: Node, name: str) -> Value:
        if node.keywords or len(node.args) < 2:
            raise Refusal(
                node.line,
                f"{name} takes two numbers or more",
                "go through the elements in a loop",
                declined="loops",
            )
        node.bound = node.args
        values = [
            self.number(node, self.value(arg), f"{name} takes numbers")
            for arg in node.args
        ]
        self.no_member(node, *values)
        kind, fixed = values[0].kind, values[0].fixed
        for value in values[1:]:
            if "bool" in (kind, value.kind) and (kind != value.kind or len(values) > 2):
                raise Refusal(
                    node.line, f"{name} takes no bool beside other numbers", "int32(…)"
                )
            fixed = fixed and value.fixed
            wide = unified(kind, value.kind)
            if wide == "float64" and not fixed:
                self.compiler.double(
                    node.line, f"{name}({kind}, {value.kind}) is computed in float64"
                )
            kind = wide
        return Value(kind, bits=max([value.bits for value in values]), fixed=fixed)

    def call_print(self, node: Node, name: str) -> Value:
        """Return the result of print; what it prints are numbers and texts."""
        if node.keywords or len(node.args) > MOST_PRINTED:
            message = f"print takes {MOST_PRINTED} values at most, and no end or sep"
            raise Refusal(node.line, message, "several prints", "output")
        node.bound = node.args
        for arg in node.args:
            value = self.usable(arg, self.value(arg))
            if not is_number(value.kind) and value.kind != "text":
                raise Refusal(
                    node.line,
                    f"print takes numbers and texts, not {self.named(value)}",
                    "its numbers, one by one",
                    "output",
                )
        return Value("none")

    def call_abs(self, node: Node, name: str) -> Value:
        (value,) = self.numbers(node, "x")
        kind = "int8" if value.kind == "bool" else value.kind
        return Value(kind, bits=value.bits, fixed=value.fixed)

    def call_int(self, node: Node, name: str) -> Value:
        (value,) = self.numbers(node, "x")
        if value.kind in FLOATS:
            node.path = "int64"
            return Value("int64", fixed=value.fixed)
        kind = "int64" if value.kind == "bool" else value.kind
        return Value(kind, bits=value.bits, fixed=value.fixed)

    def call_float(self, node: Node, name: str) -> Value:
        (value,) = self.take(node, "x")
        if value.kind == "text" and value.const.strip().lower() in SPELLED:
            return Value("float64", float(value.const))
        self.number(node, value, "float takes numbers")
        self.no_member(node, value)
        if value.kind == "bool":
            raise Refusal(node.line, "float takes no bool", "float32(…)")
        kind = value.kind if value.kind in FLOATS else "float64"
        if kind == "float64" and not value.fixed:
            self.compiler.double(node.line, f"a {value.kind} becomes float64")
        return Value(kind, fixed=value.fixed)

    def call_bool(self, node: Node, name: str) -> Value:
        (value,) = self.numbers(node, "x")
        self.no_half(node, value)
        return Value("bool")

    def no_half(self, node: Node, value: Value) -> None:
        if value.kind == "float16":
            raise Refusal(node.line, "a float16 is no test", "compare it with 0")

    def call_round(self, node: Node, name: str) -> Value:
        value, digits = self.numbers(node, "x", "[digits]")
        if digits is None:
            self.compiler.double(node.line, "round is computed in float64")
            return Value("int64")
        self.integer(node, digits, "the number of digits")
        self.compiler.double(node.line, "round is computed in float64")
        return Value(single(value.kind))

    def call_pow(self, node: Node, name: str) -> Value:
        a, b = self.numbers(node, "x", "y")
        return self.operate(node, "**", a, b)

    def call_divmod(self, node: Node, name: str) -> Value:
        a, b = self.numbers(node, "x", "y")
        kind = of_divmod(a.kind, b.kind)
        pair = Value(("tuple", kind, kind))
        if kind == "float64" and not (a.fixed and b.fixed):
            self.compiler.double(node.line, "divmod is computed in float64")
        if kind not in FLOATS:
            pair.parts = [Value(kind, bits=max(v.bits, 1)) for v in (a, b)]
        return pair

    def call_math(self, node: Node, name: str) -> Value:
        node.bound = node.args
        values = [
            self.number(node, self.value(arg), f"math.{name} takes numbers")
            for arg in node.args
        ]
        if len(values) > 1:
            self.no_member(node, *values)
        kind = of_math(name, [value.kind for value in values])
        if kind is None or node.keywords:
            wanted = 2 if name in ANGLES + TWO else 1
            message = f"{counted(wanted, 'number')}, not {len(values)}"
            if node.keywords or len(values) == wanted:
                message = (
                    "no names of parameters" if node.keywords else "no such numbers"
                )
            raise Refusal(node.line, f"math.{name} takes {message}")
        if name == "ldexp":
            self.integer(node, values[1], "an exponent")
        fixed = name in FOLDED and not [v for v in values if not v.fixed]
        if "float64" in (kind, kind[1]) and not fixed:
            self.compiler.double(
                node.line, f"math.{name} of {values[0].kind} is computed in float64"
            )
        return Value(kind, fixed=fixed)

    def call_half(self, node: Node, name: str) -> Value:
        """Return the result of a function of ``cuda.fp16``; it takes any numbers."""
        for value in self.numbers(node, *"abc"[: HALVES[name]]):
            self.note_narrowing(node.line, value, "float16")
        return Value("bool" if name in ORDERED else "float16")

    def call_operator(self, node: Node, name: str) -> Value:
        """Return the result of a function of ``operator``: that of its sign."""
        sign, line = SIGNS[name], node.line
        operands = self.take(node, *(["a"] if name in UNARY else ["a", "b"]))
        if sign == "not":
            self.number(node, operands[0], "operator.not_ takes a number")
        if name == "itruediv" and not [v for v in operands if not is_integer(v.kind)]:
            message = "operator.itruediv takes no two whole numbers"
            raise Refusal(line, message, "operator.truediv")
        left = node.bound[0]
        if name in UNARY:
            same = Node("UnaryOp", line, op=sign, operand=left)
        elif sign in COMPARISONS:
            same = Node(
                "Compare", line, left=left, ops=[sign], comparators=node.bound[1:]
            )
        else:
            same = Node("BinOp", line, left=left, op=sign, right=node.bound[1])
        node.operation = same
        if same.kind == "BinOp":  # Numba computes it on the device, even of literals
            same.got = self.computed(same, *operands, False)
        else:
            self.value(same)
        return Value(same.got.kind, bits=same.got.bits, fixed=same.got.fixed)

    def call_grid(self, node: Node, name: str) -> Value:
        (value,) = self.take(node, "ndim")
        value = self.literal(value)
        if value.kind != "int64" or not value.known or value.const not in (1, 2, 3):
            raise Refusal(
                node.line,
                f"cuda.{name} takes the number of dimensions, 1, 2 or 3",
                f"cuda.{name}(1)",
            )
        node.ndim = value.const
        if value.const == 1:
            return Value("int64", bits=MEMORY_BITS)
        index = Value(("tuple",) + ("int64",) * value.const, bits=MEMORY_BITS)
        index.parts = [Value("int64", bits=MEMORY_BITS)] * value.const
        return index

    def call_array(self, node: Node, name: str) -> Value:
        """Return a shared or local array; its size has to be a constant."""
        space = node.path.split(".")[1]
        shape, dtype, alignment = self.take(node, "shape", "dtype", "[alignment]")
        node.shape = self.extents(node, shape, space)
        node.dtype = self.dtype(node, dtype)
        aligned = alignment is not None and alignment.kind != "none"
        alignment = self.literal(alignment) if aligned else None
        if aligned and not (
            alignment.known
            and alignment.kind == "int64"
            and alignment.const > 0
            and alignment.const & (alignment.const - 1) == 0
        ):
            raise Refusal(node.line, "alignment is a power of two", "alignment=16")
        array = Value(("array", node.dtype.name, len(node.shape)))
        array.made_here = True
        return array

    def extents(self, node: Node, shape: Value, space: str) -> tuple:
        """Return the shape of an array; refuse one that is not constant."""
        parts = [shape]
        if is_tuple(shape.kind):
            parts = [self.part(shape, i) for i in range(len(shape.kind) - 1)]
        parts = [self.literal(part) for part in parts]
        self.no_member(node, *parts)
        instead = (
            "compute it outside the kernel, or give the number a name there, and use"
            " the name alone"
        )
        for part in parts:
            if part.kind in ("static", "text", "none") or not is_integer(part.kind):
                raise Refusal(
                    node.line,
                    f"the size of a {space} array is a whole"
                    f" number, not {self.named(part)}",
                    f"cuda.{space}.array(shape, dtype)"
                    if part.kind == "static"
                    else instead,
                )
            if not part.known or part.kind == "bool":
                raise Refusal(
                    node.line,
                    f"the size of a {space} array has to be a constant",
                    instead,
                    "unset" if hasattr(part, "halfway") else "",
                )
        sizes = tuple([part.const for part in parts])
        least = 0 if space == "shared" and len(sizes) == 1 else 1
        if not sizes or min(sizes) < least:
            raise Refusal(
                node.line,
                f"a {space} array of {list(sizes)} elements",
                "a size from 1 on",
            )
        return sizes

    def dtype(self, node: Node, value: Value) -> Type:
        """Return the type of an array's elements."""
        const = value.const
        if value.kind == "text":
            const = type_of_text(const)
        if not isinstance(const, Type):
            pairs = value.kind == "text" and value.const[:1] in ("F", "D", "c")
            raise Refusal(
                node.line,
                "the elements of an array need a type of Numba's",
                "float32",
                "complex" if pairs else "",
            )
        return const

    def call_constant_array(self, node: Node, name: str) -> Value:
        (value,) = self.take(node, "array")
        if not is_array(value.kind):  # Numba returns an argument array as it is
            raise Refusal(
                node.line, "cuda.const.array_like takes an array around the kernel"
            )
        return value

    def call_meeting(self, node: Node, name: str) -> Value:
        """Return the result of a barrier, shuffle or vote."""
        self.meet()
        if name == "syncthreads":
            self.take(node)
            return Value("none")
        if name == "syncwarp":
            (mask,) = self.take(node, "[mask]")
            self.integer(node, mask, "a mask")
            return Value("none")
        if name in COUNTS:
            return self.count(node, name)
        if name in VOTES:
            return self.vote(node, name)
        return self.shuffle(node, name)

    def count(self, node: Node, name: str) -> Value:
        """Return the result of a barrier that counts threads."""
        (test,) = self.numbers(node, "predicate")
        self.integer(node, test, "what is counted")
        if test.kind == "bool":
            message = f"cuda.{name} takes a whole number, not bool"
            raise Refusal(node.line, message, "int32(…)")
        return Value("int32")

    def vote(self, node: Node, name: str) -> Value:
        """Return the result of a warp vote or match."""
        mask, value = self.numbers(node, "mask", "predicate")
        self.integer(node, mask, "a mask")
        takes, kind = VOTES[name]
        if takes == "test":
            self.integer(node, value, "what is asked")
            self.wide(node, mask, "a mask", "0xffffffff")
        return Value(kind)

    def wide(self, node: Node, value: Value, what: str, instead: str) -> None:
        """Refuse anything but an integer of 32 or 64 bits."""
        self.integer(node, value, what, instead)
        if value.kind not in ("int32", "uint32", "int64", "uint64"):
            message = f"{what} is a whole number of 32 bits, not {value.kind}"
            raise Refusal(node.line, message, instead)

    def shuffle(self, node: Node, name: str) -> Value:
        """Return the result of a shuffle."""
        mask, value, lane = self.numbers(node, "mask", "value", SHUFFLE_NAMES[name])
        self.wide(node, mask, "a mask", "0xffffffff")
        self.wide(node, lane, "a lane", "int32(…)")
        if value.kind not in ("int32", "int64", "float32", "float64"):
            raise Refusal(
                node.line,
                f"a shuffle hands on int32, int64, float32 or"
                f" float64, not {value.kind}",
                "float32(…)",
            )
        return Value(value.kind, bits=value.bits)

    def call_atomic(self, node: Node, name: str) -> Value:
        """Return the result of an atomic: the element's old value."""
        takes, count = ATOMICS[name]
        names = ("old", "value") if count == 2 else ("value",)
        array, index, *values = self.take(node, "array", "index", *names)
        if not is_array(array.kind) or len(array.kind) > 3:
            raise Refusal(
                node.line,
                f"cuda.atomic.{name} changes an element of an"
                " argument or of shared memory",
                "",
                "constants" if is_array(array.kind) else "",
            )
        dtype = array.kind[1]
        known = {
            "numbers": ("int32", "uint32", "int64", "uint64", "float32", "float64"),
            "integers": ("int32", "uint32", "int64", "uint64"),
            "unsigned": ("uint32", "uint64"),
        }[takes]
        if dtype not in known:
            raise Refusal(
                node.line,
                f"cuda.atomic.{name} knows no arrays of {dtype},"
                f" only of {', '.join(known)}",
            )
        self.typed.atomics = True
        self.atomic_index(node, index, array.kind)
        for value in values:
            self.number(node, value, f"cuda.atomic.{name} takes numbers")
            if dtype in FLOATS:
                self.no_member(node, value)
            self.note_narrowing(node.line, value, dtype)
        node.element = dtype
        return Value(dtype)

    def atomic_index(self, node: Node, index: Value, kind: tuple) -> None:
        kinds = index.kind[1:] if is_tuple(index.kind) else (index.kind,)
        for part in kinds:
            if not is_integer(part):  # True and False are whole numbers here
                raise Refusal(
                    node.line,
                    f"an index is a whole number, not {in_words(part)}",
                    "int32(…)",
                    "floats" if part in FLOATS else "",
                )
        if len(kinds) != kind[2] or (kind[2] == 1 and is_tuple(index.kind)):
            raise Refusal(
                node.line,
                f"{len(kinds)} indices for {in_words(kind)}",
                "an integer" if kind[2] == 1 else "a tuple of all indices",
            )

    def call_swap(self, node: Node, name: str) -> Value:
        array, old, value = self.take(node, "array", "old", "value")
        if not is_array(array.kind) or array.kind[1] not in (
            "int32",
            "uint32",
            "int64",
            "uint64",
        ):
            raise Refusal(
                node.line,
                "cuda.atomic.compare_and_swap changes an array of"
                " int32, uint32, int64 or uint64",
            )
        self.typed.atomics = True
        self.number(node, old, "old is a number")
        self.number(node, value, "a value is a number")
        node.element = array.kind[1]
        return Value(array.kind[1])

    def call_cuda(self, node: Node, name: str) -> Value:
        """Return the result of one of the other functions of ``cuda``."""
        if name in FENCES:
            values = self.numbers(node, *(["ns"] if name == "nanosleep" else []))
            for value in values:
                self.integer(node, value, "a time")
            return Value("none")
        if name in ("activemask", "lanemask_lt"):
            self.take(node)
            if name == "activemask":  # the launch determines which lanes are together
                self.meet()
            return Value("uint32")
        if name in BITS:
            (value,) = self.numbers(node, "x")
            return Value(self.one_of(node, name, BITS[name], value.kind))
        if name == "cbrt":
            (value,) = self.numbers(node, "x")
            kind = single(value.kind)
            self.note_double(node, kind, name)
            return Value(kind)
        if name == "fma":
            values = self.numbers(node, "a", "b", "c")
            kinds = [single(v.kind) for v in values]
            kind = "float64" if "float64" in kinds else "float32"
            self.note_double(node, kind, name)
            return Value(kind)
        return self.call_selp(node)

    def call_selp(self, node: Node) -> Value:
        """Return the result of ``cuda.selp``; refuse the paths that are no functions."""
        if node.path != "cuda.selp":
            axis = f"{node.path}.x" if node.path[5:] in DIMS else ""
            raise Refusal(
                node.line, f"{node.path} cannot be called", INSIDE.get(node.path, axis)
            )
        test, a, b = self.numbers(node, "test", "a", "b")
        if (
            test.kind != "bool"
            or a.kind != b.kind
            or a.kind in ("bool", "float16")
            or (SIZES[a.kind] == 1)
        ):
            raise Refusal(
                node.line,
                "cuda.selp takes a test and two numbers of one type",
                "a if test else b",
            )
        return joined(Value(a.kind, bits=a.bits), b)

    def one_of(self, node: Node, name: str, kinds: dict, kind: str) -> str:
        """Return the result type of a bit intrinsic for this type; refuse others."""
        if kind not in kinds:
            raise Refusal(
                node.line,
                f"cuda.{name} takes {', '.join(sorted(kinds))}, not {kind}",
                "int32(…)",
                "floats" if kind in FLOATS and name != "ffs" else "",
            )
        return kinds[kind]

    def note_double(self, node: Node, kind: str, name: str) -> None:
        if kind == "float64":
            self.compiler.double(node.line, f"cuda.{name} is computed in float64")


def is_whole(path: str) -> bool:
    """Return whether a function is a type of whole numbers, bool aside."""
    return is_integer(path) and path != "bool"


def counted(number: int, what: str) -> str:
    """Return "1 value", "2 values"."""
    if what == "number":
        return "1 number" if number == 1 else f"{number} numbers"
    return "1 value" if number == 1 else f"{number} values"


# functions of math that the compiler evaluates itself for constants
FOLDED = "ceil copysign degrees fabs floor radians sqrt".split()
INSIDE = {  # modules, and a call that a reader may mean
    "cuda.atomic": "cuda.atomic.add(array, index, value)",
    "cuda.shared": "cuda.shared.array(n, float32)",
    "cuda.local": "cuda.local.array(n, float32)",
    "cuda.const": "cuda.const.array_like(array)",
    "cuda.fp16": "cuda.fp16.hadd(a, b)",
}
# expressions that no function takes as an argument
TAKEN_BY_NONE = ("a generator", "a list comprehension", "an f-string")
MOST_PRINTED = 32
SPELLED = ("inf", "+inf", "-inf", "nan", "infinity", "-infinity")
SHUFFLE_NAMES = {
    "shfl_sync": "src_lane",
    "shfl_xor_sync": "lane_mask",
    "shfl_up_sync": "delta",
    "shfl_down_sync": "delta",
}
CALLS = {
    name: "call_" + name for name in "range len abs int float bool round pow".split()
}
CALLS["print"] = "call_print"
CALLS.update({"enumerate": "call_enumerate", "zip": "call_zip"})
CALLS.update({"min": "call_extreme", "max": "call_extreme", "divmod": "call_divmod"})
CALLS.update({"cuda.grid": "call_grid", "cuda.gridsize": "call_grid"})
CALLS.update({f"cuda.{space}.array": "call_array" for space in ("shared", "local")})
CALLS["cuda.const.array_like"] = "call_constant_array"
CALLS["cuda.atomic.compare_and_swap"] = "call_swap"
CALLS.update({"cuda." + name: "call_meeting" for name in SHUFFLES + COUNTS})
CALLS.update({"cuda." + name: "call_meeting" for name in VOTES})
CALLS.update({"cuda.syncthreads": "call_meeting", "cuda.syncwarp": "call_meeting"})
GROUPS = {"math": "call_math", "cuda.atomic": "call_atomic", "cuda": "call_cuda"}
GROUPS["cuda.fp16"] = "call_half"
GROUPS["operator"] = "call_operator"
