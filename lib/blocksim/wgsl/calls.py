"""Calls in WGSL: device functions, ``math``, ``cuda`` and builtins."""

from .. import arithmetic
from ..scalars import cast, rounded, wrapped
from ..things import BITS, FENCES, MEETINGS
from ..types import FLOATS, PARTS, SIZES, is_array, is_integer, is_number
from ..values import Closure
from .helpers import ATOMICS, WARP
from .pieces import (
    FAR,
    NOTHING,
    Number,
    Parts,
    Ref,
    bare,
    flat,
    leaves,
    mangled,
    plain,
    product,
    total,
    type_of,
    whole,
)

SAME = (  # functions of ``math`` that have the same name in WGSL
    "ceil cos exp exp2 floor log log2 sin sqrt tanh trunc acos acosh asin asinh atan"
    " atanh cosh degrees radians sinh tan atan2"
).split()
FORMULAS = {
    "fabs": "abs({x})",
    "log10": "(log({x}) * 0.4342944819f)",
    "log1p": "log(1f + {x})",
    "expm1": "(exp({x}) - 1f)",
    "hypot": "length(vec2f({x}, {y}))",
    "isinf": "(abs({x}) >= {most})",
    "isfinite": "(abs({x}) < {most})",
}


class Calls:
    """Translates calls."""

    def of_Call(self, node) -> object:
        around, self.line = self.line, node.line
        result = self.result_of_call(node)
        self.line = around
        return result

    def result_of_call(self, node) -> object:
        """Return the result of a call."""
        if node.func.kind == "Call":  # the function is what another call returns
            self.value(node.func)
        if hasattr(node, "typed"):
            return self.call_own(node)
        path = node.path
        head, _, name = path.rpartition(".")
        write = getattr(self, "call_" + path.replace(".", "_"), None)
        if write:
            return write(node)
        if head == "cuda" and name in FENCES:
            raise self.refusal(
                f"cuda.{name} orders what other blocks see, and WebGPU knows no such order",
                "two launches, one after the other",
            )
        if head == "cuda" and name in MEETINGS:
            return self.meeting(node, name)
        if head == "cuda.atomic":
            return self.atomic(node, name)
        if head == "cuda.fp16":
            raise self.refusal(f"WGSL has no {name}")
        if head == "operator":
            return self.value(node.operation)
        if head == "math":
            return self.maths(node, name)
        if name in BITS and head == "cuda":
            return self.of_bits(node, name)
        return self.conversion(node)

    def call_print(self, node) -> None:
        raise self.refusal("WGSL prints nothing", "numbers in an array")

    def arguments(self, node) -> list:
        return self.values([arg for arg in node.bound if arg is not None])

    def conversion(self, node) -> Number:
        """Return a conversion to another type: float32(x)."""
        (number,) = self.arguments(node)
        if node.bound[0].got.kind == "float16" and is_integer(node.got.kind):
            raise self.refusal(
                "Numba rounds a float16 to the nearest integer", "int32(float32(x))"
            )
        return self.cast(number, node.got.kind)

    call_int = call_bool = conversion

    def call_float(self, node) -> Number:
        result = self.constant(node.got)  # of a text, such as "inf"
        if result is None:
            (number,) = self.arguments(node)
            result = self.as_type(number, "f32")
        return result

    def cast(self, number: Number, kind: str) -> Number:
        """Return a number, converted to another of Numba's types."""
        if kind == "float64" and not number.known:
            raise self.refusal("a number becomes float64 here", "float32(…)")
        if number.known:
            return Number("", type_of(kind), cast_constant(number, kind))
        type, size = type_of(kind), SIZES[kind]
        result = self.as_type(number, type)
        if kind == "float16" and number.type == "f32":
            result = Number(f"quantizeToF16({bare(result.code)})", "f32")
        elif size < 4 and is_integer(kind) and kind != "bool":
            result = Number(f"extractBits({result.code}, 0u, {8 * size}u)", type)
        return result

    def call_range(self, node) -> None:
        raise self.refusal("a range under a name of its own", "for i in range(…)")

    def call_round(self, node) -> Number:
        if len(node.args) == 2:
            raise self.refusal("round to digits, which is computed in float64")
        (number,) = self.arguments(node)
        if number.known:
            return whole(arithmetic.nearest(number.const))
        if number.type != "f32":
            return self.as_type(number, "i32")
        return Number(f"i32(round({bare(number.code)}))", "i32")

    def call_len(self, node) -> Number:
        piece = self.value(node.bound[0])
        if isinstance(piece, Ref):
            return self.extents(piece)[0]
        return whole(len(piece.parts))

    def call_abs(self, node) -> Number:
        (number,) = self.arguments(node)
        if number.known:
            return Number("", type_of(node.got.kind), abs(number.const))
        type = type_of(node.got.kind)
        return Number(f"abs({bare(self.text(number, type))})", type)

    def call_min(self, node) -> Number:
        numbers = self.arguments(node)
        type, name = type_of(node.got.kind), node.path
        if not [number for number in numbers if not number.known]:
            choose = min if name == "min" else max
            return Number("", type, choose([number.const for number in numbers]))
        code = bare(self.text(numbers[0], type))
        for number in numbers[1:]:
            code = f"{name}({code}, {bare(self.text(number, type))})"
        return Number(code, type)

    call_max = call_min

    def call_pow(self, node) -> Number:
        a, b = self.arguments(node)
        return self.operation(node, "**", a, b, node.got.kind)

    def call_divmod(self, node) -> Parts:
        a, b = [self.settled(number) for number in self.arguments(node)]
        kind = node.got.kind[1]
        return Parts([self.operation(node, sign, a, b, kind) for sign in ("//", "%")])

    # ---- math

    def maths(self, node, name: str) -> Number:
        """Return the result of a ``math`` function."""
        numbers, kind = self.arguments(node), node.got.kind
        if name == "pow":
            return self.operation(node, "**", numbers[0], numbers[1], kind)
        if name in PARTS:
            raise self.refusal(f"WGSL has no {name}")
        if not [number for number in numbers if not number.known]:
            function = getattr(arithmetic.Maths(), name, None)
            if function is not None:
                value = function(*[number.const for number in numbers])
                return Number("", type_of(kind), value)
        texts = [bare(self.text(number, "f32")) for number in numbers]
        code = self.formula(name, texts)
        if kind == "float16":
            code = f"quantizeToF16({code})"
        return Number(code, type_of(kind))

    def formula(self, name: str, texts: list) -> str:
        """Return the text of a ``math`` function's call."""
        if name in SAME:
            return f"{name}({', '.join(texts)})"
        if name in ("isnan", "copysign"):
            helper = self.module.need("is_nan" if name == "isnan" else "signed_like")
            return f"{helper}({', '.join(texts)})"
        if name == "fmod":
            x, y = [self.settled(Number(text, "f32")).code for text in texts]
            return f"({x} - {y} * trunc({x} / {y}))"
        if name not in FORMULAS:
            raise self.refusal(f"WGSL has no {name}")
        far = Number("", "f32", FAR)
        most = "P.infinity" if self.module.ieee else self.text(far, "f32")
        code = FORMULAS[name].replace("{x}", texts[0]).replace("{most}", most)
        return code.replace("{y}", texts[-1])

    def call_cuda_fma(self, node) -> Number:
        texts = [bare(self.text(number, "f32")) for number in self.arguments(node)]
        return Number(f"fma({', '.join(texts)})", "f32")

    def call_cuda_cbrt(self, node) -> Number:
        (number,) = self.arguments(node)
        x = self.settled(self.as_type(number, "f32"))
        x = self.text(x, "f32")
        return Number(f"(sign({x}) * pow(abs({x}), 0.333333333f))", "f32")

    def call_cuda_selp(self, node) -> Number:
        test, a, b = self.arguments(node)
        type = type_of(node.got.kind)
        a, b = self.text(a, type), self.text(b, type)
        return Number(f"select({bare(b)}, {bare(a)}, {self.text(test, 'bool')})", type)

    def of_bits(self, node, name: str) -> Number:
        """Return the result of a bit intrinsic."""
        (number,) = self.arguments(node)
        kind = node.bound[0].got.kind
        size = SIZES[kind if name == "ffs" else node.got.kind]
        if not number.known and (size != 4 or SIZES[kind] > 4 or kind == "bool"):
            raise self.refusal(
                f"cuda.{name} of a number of {8 * size} bits", "int32(…)"
            )
        if number.known:
            value = getattr(arithmetic, name)(number.const, 8 * size)
            return Number("", type_of(node.got.kind), value)
        x = f"bitcast<u32>({bare(number.code)})"
        code = {
            "popc": f"countOneBits({x})",
            "clz": f"countLeadingZeros({x})",
            "ffs": f"(firstTrailingBit({x}) + 1u)",
            "brev": f"reverseBits({x})",
        }[name]
        return self.as_type(Number(code, "u32"), type_of(node.got.kind))

    # ---- the launch

    def call_cuda_grid(self, node) -> object:
        """Return the thread's index in the grid, or the size of the grid."""
        several = node.ndim
        index = []
        for axis, extent in list(zip("xyz", self.module.block))[:several]:
            count = Number("", "i32", extent)
            if node.path == "cuda.grid":
                start = product(Number(f"block.{axis}", "i32"), count)
                mine = Number(f"thread.{axis}", "i32") if extent > 1 else whole(0)
                number = total(start, mine)
            else:
                number = product(Number(f"P.grid_{axis}", "i32"), count)
            index.append(Number(number.code, "i32", settled=True))
        return index[0] if several == 1 else Parts(index)

    call_cuda_gridsize = call_cuda_grid

    def call_cuda_lanemask_lt(self, node) -> Number:
        self.module.lanes = True
        return Number("((1u << (lane & 31u)) - 1u)", "u32", settled=True)

    def call_cuda_nanosleep(self, node) -> object:
        self.arguments(node)
        return NOTHING

    # ---- arrays

    def call_cuda_shared_array(self, node) -> Ref:
        return Ref(self.module.array(node, "shared"), [])

    def call_cuda_local_array(self, node) -> Ref:
        array = self.module.array(node, "local")
        head = f"  var {array.called}: array<{type_of(array.kind)}, {array.size}>;"
        if (head, array.line) not in self.heads:
            self.heads.append((head, array.line))
        return Ref(array, [])

    def call_cuda_const_array_like(self, node) -> Ref:
        return self.value(node.bound[0])

    # ---- where threads meet

    def barrier(self) -> None:
        """Write a barrier; global memory needs a barrier of its own."""
        talks = " storageBarrier();" if self.module.talks else ""
        self.emit(f"workgroupBarrier();{talks}")

    def call_cuda_syncthreads(self, node) -> object:
        self.barrier()
        return NOTHING

    def call_cuda_syncwarp(self, node) -> object:
        self.arguments(node)
        self.barrier()  # threads of a warp need not run in lockstep here
        return NOTHING

    def meeting(self, node, name: str) -> object:
        """Return the result of a shuffle, a vote or a barrier that counts."""
        if name == "activemask":
            raise self.refusal("cuda.activemask depends on how a GPU runs its threads")
        numbers, module = self.arguments(node), self.module
        if name[:4] == "sync":
            return self.counted(name, numbers[0])
        if name[:4] == "shfl":
            return self.shuffle(node, name, numbers)
        module.reach = max(module.reach, 1 << 10)  # votes go through memory
        mask, value = numbers
        if name[:5] == "match":
            bits = self.settled(Number(self.bits_of(value), "u32")).code
            lanes = f"{module.need('matched')}({bits})"
        else:
            bits = f"u32({bare(self.text(value, 'bool'))})"
            lanes = f"{module.need('voted')}()"
        self.put(bits)
        named = f"({self.text(mask, 'u32')} & {module.need('present')}())"
        lanes = self.temporary(f"{lanes} & {named}", "u32").code
        if name in ("ballot_sync", "match_any_sync"):
            return Number(f"i32({lanes})", "i32", settled=True)
        return self.verdict(name, lanes, named)

    def bits_of(self, number: Number) -> str:
        """Return the text of a number's bits."""
        if number.type == "bool":
            return self.text(number, "u32")
        return f"bitcast<u32>({bare(self.text(number, number.type))})"

    def put(self, bits: str) -> None:
        """Store a number for the other threads of the warp, and wait for theirs."""
        self.emit(f"put({bits});")
        self.barrier()

    def verdict(self, name: str, lanes: str, named: str) -> object:
        """Return the result of a vote; ``lanes`` are those whose test is true."""
        all_of_them = f"({lanes} == {named})"
        if name == "match_all_sync":
            mask = Number(
                f"select(0, i32({lanes}), {all_of_them})", "i32", settled=True
            )
            return Parts([mask, Number(all_of_them, "bool", settled=True)])
        code = {
            "all_sync": all_of_them,
            "any_sync": f"({lanes} != 0u)",
            "eq_sync": f"({lanes} == 0u || {all_of_them})",
        }[name]
        return Number(code, "bool", settled=True)

    def counted(self, name: str, number: Number) -> Number:
        """Return the result of a barrier that counts threads."""
        self.module.need("counted")
        test = self.settled(self.as_type(number, "bool"))
        call = f"counted({self.text(test, 'bool')})"
        self.emit("count_anew();")
        self.barrier()
        count = self.temporary(call, "i32").code
        code = {
            "syncthreads_count": count,
            "syncthreads_and": f"i32({count} == {self.module.threads})",
            "syncthreads_or": f"i32({count} != 0)",
        }[name]
        return Number(code, "i32", settled=True)

    def shuffle(self, node, name: str, numbers: list) -> Number:
        """Return the result of a shuffle."""
        _, value, by = numbers
        module, type = self.module, type_of(node.got.kind)
        far = self.most(node.bound[2]) if name == "shfl_xor_sync" else None
        reach = 2
        while reach < WARP and (far is None or reach <= far):
            reach *= 2
        module.reach = max(module.reach, reach)
        module.need("in_step" if module.in_step else "hand")
        mine = self.bits_of(self.as_type(value, type))
        by, lane = self.text(by, "i32"), "i32(lane & 31u)"
        if name == "shfl_up_sync":
            by = f"select({lane} - {by}, {lane}, {lane} < {by})"
        elif name == "shfl_down_sync":
            by = f"select({lane} + {by}, {lane}, {lane} + {by} > 31)"
        if name == "shfl_xor_sync" and module.in_step:
            code = f"subgroupShuffleXor({mine}, u32({bare(by)}))"
        elif module.in_step:
            code = f"shuffled({mine}, {bare(by)})"
        else:
            by = f"({lane} ^ {by})" if name == "shfl_xor_sync" else by
            by = self.settled(Number(by, "i32"))  # evaluate it before the barrier
            self.put(mine)
            code = f"taken({bare(self.text(by, 'i32'))})"
        return self.temporary(f"bitcast<{type}>({code})", type)

    def most(self, node) -> int | None:
        """Return an upper bound of an integer, or None."""
        got = node.got
        if got.known:
            return got.const if got.const >= 0 else None
        if node.kind == "Name":
            return self.bounds.get(node.id)
        if node.kind == "BinOp" and node.op == "<<":
            a, b = self.most(node.left), self.most(node.right)
            return None if a is None or b is None or b > WARP else a << b
        return None

    # ---- atomics

    def atomic(self, node, name: str) -> Number:
        """Return the result of an atomic: the element's old value."""
        ref, index, *values = self.arguments(node)
        return self.atomic_on(ref, flat(index), name, values)

    def call_cuda_atomic_compare_and_swap(self, node) -> Number:
        ref, *values = self.arguments(node)
        return self.atomic_on(ref, [whole(0)], "cas", values)

    def atomic_on(self, ref: Ref, index: list, name: str, values: list) -> Number:
        """Write an atomic on an element; return the old value."""
        array, module = ref.array, self.module
        if array.space == "local":
            raise self.refusal(f"an atomic on {array.name}, which one thread has alone")
        module.atomic.add(array.key)
        module.stored.add(array.key)
        place = self.joined_place(ref, index)
        type, at = type_of(array.kind), bare(self.text(place.at[0], "i32"))
        texts = [bare(self.text(value, type)) for value in values]
        name = {"nanmax": "max", "nanmin": "min"}.get(name, name)
        if name == "cas":
            code = f"{module.swapped(array)}({at}, {', '.join(texts)})"
        elif type == "f32" or name in ("inc", "dec"):
            code = f"{module.changed(array, name)}({at}, {texts[0]})"
        else:
            code = f"{ATOMICS[name]}(&{self.where(place)}, {texts[0]})"
        return self.temporary(code, type)

    # ---- device functions

    def call_own(self, node) -> object:
        """Return the result of a device function, which is written for these arrays."""
        typed = node.typed
        pieces = self.values(node.args)
        arrays = [piece for piece in pieces if isinstance(piece, Ref)]
        closure = id(self) if isinstance(typed.function, Closure) else 0
        which = [(piece.array.key, len(piece.at)) for piece in arrays]
        key = (id(typed), closure, tuple(which))
        body = self.module.instance(
            key, lambda number: self.function(typed, pieces, number)
        )
        arguments = ["block", "thread"] + self.handed_arrays(arrays)
        for piece, kind in zip(pieces, typed.kinds):
            for number, (_, part) in zip(flat(piece), leaves("", kind)):
                arguments.append(bare(self.text(number, type_of(part))))
        for name, kind in body.free:
            self.check_around(typed, name)
            arguments.append(self.text(self.read_name(name, kind), type_of(kind)))
        code = f"{body.called}({', '.join(arguments)})"
        numbers = leaves("", typed.result.kind)
        if is_array(typed.result.kind):
            raise self.refusal(f"{typed.node.name} gives back an array")
        if not numbers:
            self.emit(f"{code};")
            return NOTHING
        if len(numbers) == 1 and typed.result.kind == numbers[0][1]:
            return self.temporary(code, type_of(numbers[0][1]))
        name = self.temporary(code, "").code
        texts = iter(
            [f"{name}.r{k}" if len(numbers) > 1 else name for k in range(len(numbers))]
        )
        return result_of(typed.result.kind, texts)

    def check_around(self, typed, name: str) -> None:
        """Refuse a nested function's free variable that has another meaning here."""
        own = typed.function.outer.typed is self.typed
        if not own and name.split(".")[0] in self.local:
            raise self.refusal(
                f"{typed.node.name} uses {name}, which means something else here",
                "two names",
            )

    def handed_arrays(self, arrays: list) -> list:
        """Return the texts that pass arrays: pointers, then first indices."""
        pointers, at = [], []
        for ref in arrays:
            if ref.array.space == "local":
                called = ref.array.called
                pointer = called[2:-1] if called[:2] == "(*" else f"&{called}"
                if pointer not in pointers:
                    pointers.append(pointer)
            at += [bare(self.text(number, "i32")) for number in ref.at]
        return pointers + at

    def function(self, typed, pieces: list, number: int) -> object:
        """Write a device function for certain arrays."""
        called = f"{plain(typed.node.name)}_{number}"
        body = type(self)(self.module, typed, called, self)
        for parameter, piece, kind in zip(typed.node.parameters, pieces, typed.kinds):
            body.take(parameter.name, self.parameter(body, parameter.name, piece, kind))
        body.block(typed.node.body)
        return body

    def parameter(self, body, name: str, piece: object, kind: object) -> object:
        """Return the value of a parameter inside the function."""
        if not isinstance(piece, Ref):
            texts = iter([f"{mangled(leaf)}given" for leaf, _ in leaves(name, kind)])
            return result_of(kind, texts)
        array = piece.array
        if array.space == "local":
            called = array.called if array.called[:2] == "(*" else f"(*{array.called})"
            held = f"array<{type_of(array.kind)}, {array.size}>"
            pointer = f"{called[2:-1]}: ptr<function, {held}>"
            if pointer not in body.pointers:
                body.pointers.append(pointer)
            array = array.as_pointer(called)
        views = [f"{mangled(name)}from{k}" for k in range(len(piece.at))]
        body.views += views
        return Ref(array, [Number(view, "i32", settled=True) for view in views])


def result_of(kind: object, texts: object) -> object:
    """Return a value of this type; ``texts`` yields those of its numbers."""
    if isinstance(kind, tuple):
        return Parts([result_of(part, texts) for part in kind[1:]])
    if not is_number(kind):
        return NOTHING
    return Number(next(texts), type_of(kind), settled=True)


def cast_constant(number: Number, kind: str) -> object:
    """Return a constant, converted to another of Numba's types."""
    value = number.const
    if kind in FLOATS:
        return rounded(float(value), kind)
    if kind == "bool":
        return bool(value)
    if isinstance(value, float):
        return cast(value, kind)
    return wrapped(value, kind)
