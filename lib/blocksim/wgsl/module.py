"""A whole WGSL module: the declarations around a kernel's functions."""

from ..types import is_array, is_number
from .body import Body
from .helpers import CHANGED, HALF, HELPERS, NEW, SWAPPED
from .pieces import (
    NOTHING,
    Array,
    Number,
    Ref,
    Untranslatable,
    mangled,
    plain,
    type_of,
    written,
)

MOST_PASSES = 9
KINDS = ("float16", "float32", "int32", "uint32")  # of the elements of arrays


class Module:
    """A kernel that is translated to WGSL.

    The text depends on facts that only become known while it is written: which arrays are
    written, which of them by atomics, and how far the shuffles reach. So the kernel is
    written again until these facts no longer change.

    Attributes
    ----------
    typed : Typed
    block : tuple of int
        (x, y, z)
    dynamic : int
        Bytes of dynamic shared memory.
    subgroup : int
        The smallest subgroup size of the device; 0 if unknown.
    uniform : set of int
        Lines on which shared memory is read once for all threads of a block.
    ieee : bool
    read, stored, atomic : set
        The keys of the arrays that are read, written, and changed by atomics.
    """

    def __init__(self, typed, block, dynamic, subgroup, uniform, ieee):
        self.typed = typed
        self.block = block
        self.threads = block[0] * block[1] * block[2]
        self.dynamic = dynamic
        self.subgroup = subgroup
        self.uniform = uniform
        self.ieee = ieee
        self.read, self.stored, self.atomic = set(), set(), set()
        self.lanes = False  # does the kernel use lane numbers?
        self.reach = 0  # the number of lanes that its shuffles span
        self.needed = []  # names of helper functions
        self.own = []  # helper functions for one array: (name, text)

    @property
    def in_step(self) -> bool:
        """Whether its shuffles use subgroups instead of memory."""
        return 0 < self.reach <= self.subgroup

    @property
    def talks(self) -> bool:
        """Whether threads may communicate through global memory."""
        both = [key for key in self.stored if key in self.read or key in self.atomic]
        return any([key[0] == "argument" for key in both])

    def need(self, helper: str) -> str:
        """Include a helper function and those that it calls; return its name."""
        text, others = HELPERS[helper]
        for other in others:
            self.need(other)
        if helper not in self.needed:
            self.needed.append(helper)
        return helper

    def need_own(self, name: str, text: str, array: Array, **parts) -> str:
        """Include a helper function for one array; return its name."""
        parts["array"], parts["type"] = array.called, type_of(array.kind)
        called = f"{name}_{array.called}"
        if called not in [known for known, _ in self.own]:
            self.own.append((called, fill(text, parts)))
        return called

    def half(self, array: Array) -> str:
        """Return the helper function that reads a float16."""
        return self.need_own("half", HALF, array)

    def swapped(self, array: Array) -> str:
        """Return the helper function for a compare-and-swap."""
        return self.need_own("swapped", SWAPPED, array)

    def changed(self, array: Array, what: str) -> str:
        """Return the helper function for an atomic that WGSL does not have."""
        real, new = type_of(array.kind) == "f32", NEW[what]
        read = "bitcast<f32>(old)" if real else "old"
        new = f"bitcast<u32>({new})" if real else new
        return self.need_own(what, CHANGED, array, what=what, read=read, new=new)

    def write(self) -> dict:
        """Return the text, and what a launch needs to know."""
        for _ in range(MOST_PASSES):
            before = self.facts()
            self.arrays = []  # shared, local and constant ones
            self.instances = []  # pairs of a key and a function
            self.needed, self.own, self.count = [], [], 0
            main = Body(self, self.typed, "main", None)
            main.kernel(self.arguments())
            if before == self.facts():
                break
        return self.assemble(main)

    def facts(self) -> list:
        """Return a summary of the facts so far, to detect a change."""
        sets = (self.read, self.stored, self.atomic)
        return [len(keys) for keys in sets] + [self.reach]

    def arguments(self) -> list:
        """Return the kernel's arguments as WGSL values."""
        values = []
        node = self.typed.node
        for parameter, kind in zip(node.parameters, self.typed.kinds):
            name = parameter.name
            if kind == "none":
                values.append(NOTHING)
            elif kind == "bool":
                values.append(Number(f"(P.{mangled(name)} != 0)", "bool", settled=True))
            elif is_number(kind):
                values.append(Number(f"P.{mangled(name)}", type_of(kind), settled=True))
            elif is_array(kind) and kind[1] in KINDS:
                shape = [
                    Number(f"P.{plain(name)}_{k}", "i32", settled=True)
                    for k in range(kind[2])
                ]
                called = self.free_name(f"{plain(name)}_global")
                array = Array(
                    ("argument", name),
                    name,
                    called,
                    "global",
                    kind[1],
                    shape,
                    node.line,
                )
                self.arrays.append(array)
                values.append(Ref(array, []))
            else:
                what = f"an array of {kind[1]}" if is_array(kind) else "a tuple"
                raise Untranslatable(
                    node.line,
                    f"{name} is {what}",
                    "numbers, and arrays of float32, float16, int32 or uint32",
                )
        return values

    def free_name(self, called: str) -> str:
        """Return a name for an array that no other array has."""
        taken = [array.called for array in self.arrays]
        number, candidate = 1, called
        while candidate in taken:
            number += 1
            candidate = f"{called}{number}"
        return candidate

    def array(self, node, space: str) -> Array:
        """Return the array that a call creates; each call creates one."""
        for array in self.arrays:
            if array.key == (space, id(node)):
                return array
        name = getattr(node, "named", None) or "array"
        kind = node.dtype.name
        if kind not in KINDS or kind == "float16":
            raise Untranslatable(
                node.line,
                f"{name} is an array of {kind}",
                "float32, int32 or uint32",
            )
        shape = node.shape
        if shape == (0,):
            shape = (self.dynamic // 4,)
            if [a for a in self.arrays if a.key[0] == "shared" and a.dynamic]:
                raise Untranslatable(node.line, "two arrays in dynamic shared memory")
        extents = [Number("", "i32", extent) for extent in shape]
        called = self.free_name(f"{plain(name)}_{space}")
        made = Array((space, id(node)), name, called, space, kind, extents, node.line)
        made.dynamic = node.shape == (0,)
        self.arrays.append(made)
        return made

    def constant(self, name: str, value: object, line: int) -> Array:
        """Return an array around the kernel."""
        for array in self.arrays:
            if array.key == ("constant", id(value)):
                return array
        kind = str(value.dtype)
        if kind not in KINDS:
            raise Untranslatable(line, f"{name} is an array of {kind}")
        extents = [Number("", "i32", int(extent)) for extent in value.shape]
        called = self.free_name(f"{plain(name)}_constant")
        key = ("constant", id(value))
        made = Array(key, name, called, "constant", kind, extents, line)
        made.numbers = value.ravel().tolist()
        self.arrays.append(made)
        return made

    def instance(self, key: tuple, make: object) -> Body:
        """Return a device function for certain arguments; write it once."""
        for known, body in self.instances:
            if known == key:
                return body
        self.count += 1
        body = make(self.count)
        self.instances.append((key, body))
        return body

    # ---- the whole text

    def cell(self, array: Array) -> str:
        """Return the WGSL type of an array's elements."""
        kind = type_of(array.kind)
        if array.key in self.atomic:
            return "atomic<i32>" if kind == "i32" else "atomic<u32>"
        packed = array.kind == "float16" and array.key not in self.stored
        return "u32" if packed and array.space == "global" else kind

    def assemble(self, main: Body) -> dict:
        """Return the result of `translate`."""
        node = self.typed.node
        fields = ["first", "grid_x", "grid_y", "grid_z", "infinity", "nan"]
        fields = list(zip(fields, ["u32", "i32", "i32", "i32", "f32", "f32"]))
        parameters = []
        for parameter, kind in zip(node.parameters, self.typed.kinds):
            if is_number(kind):
                type = type_of(kind)
                type = "i32" if type == "bool" else type
                fields.append((mangled(parameter.name), type))
                parameters.append((parameter.name, type, 0))
            elif kind == "none":
                parameters.append((parameter.name, "none", 0))
            else:
                extents = [
                    (f"{plain(parameter.name)}_{k}", "i32") for k in range(kind[2])
                ]
                fields += extents
                parameters.append((parameter.name, "array", kind[2]))
        lines = self.head(fields)
        bindings = self.bindings(lines)
        lines += self.shared_and_constant()
        for _, body in self.instances:
            lines += body.whole()
        lines += self.main(main)
        shared = [a for a in self.arrays if a.space == "shared"]
        taken = 4 * sum([array.size for array in shared])
        taken += 8 * self.threads * ("hand" in self.needed)
        return {
            "wgsl": "\n".join([text for text, _ in lines]) + "\n",
            "lines": [line for _, line in lines],
            "bindings": bindings,
            "parameters": parameters,
            "block": list(self.block),
            "threads": self.threads,
            "shared": taken + 8 * ("counted" in self.needed),
            "reach": self.reach,
            "in_step": self.in_step,
            "ieee": self.ieee,
            "names": {array.called: array.name for array in self.arrays},
        }

    def head(self, fields: list) -> list:
        """Return the lines that declare a launch's inputs other than arrays."""
        lines = []
        if self.in_step:
            lines.append(("enable subgroups;", None))
            lines.append(("diagnostic(off, subgroup_uniformity);", None))
        inside = ", ".join([f"{name}: {type}" for name, type in fields])
        lines.append((f"struct Launch {{ {inside} }}", None))
        lines.append(("@group(0) @binding(0) var<uniform> P: Launch;", None))
        trouble = "var<storage, read_write> trouble: atomic<u32>;"
        lines.append((f"@group(0) @binding(1) {trouble}", None))
        if self.reach or self.lanes or "counted" in self.needed:
            lines.append(("var<private> lane: u32;", None))
        return lines

    def bindings(self, lines: list) -> list:
        """Add the lines that declare global arrays; return their descriptions."""
        bindings = []
        for array in self.arrays:
            if array.space != "global":
                continue
            stored = array.key in self.stored
            access = "read_write" if stored else "read"
            place = f"@group(0) @binding({len(bindings) + 2})"
            cell = self.cell(array)
            text = f"{place} var<storage, {access}> {array.called}: array<{cell}>;"
            lines.append((text, array.line))
            half = array.kind == "float16"
            type = type_of(array.kind)
            bindings.append(
                {
                    "name": array.name,
                    "type": type,
                    "written": stored,
                    "halves": half and not stored,
                    "rounded": half and stored,
                }
            )
        return bindings

    def shared_and_constant(self) -> list:
        """Return the lines of shared and constant arrays, and of helper functions."""
        lines = []
        for array in self.arrays:
            if array.space in ("global", "local"):
                continue
            inside = f"array<{self.cell(array)}, {max(array.size, 1)}>"
            if array.space == "shared":
                lines.append((f"var<workgroup> {array.called}: {inside};", array.line))
            else:
                numbers = [Number("", type_of(array.kind), n) for n in array.numbers]
                values = ", ".join([self.text(n, n.type, array.line) for n in numbers])
                text = f"const {array.called} = {inside}({values});"
                lines.append((text, array.line))
        texts = []
        for name in self.needed:
            if name in HELPERS:
                texts.append(HELPERS[name][0])
        texts += [text for _, text in self.own]
        sizes = {"threads": self.threads, "twice": 2 * self.threads}
        sizes["last"] = self.threads - 1
        for text in texts:
            lines += [(line, None) for line in fill(text, sizes).split("\n")]
        return lines

    def text(self, number: Number, type: str, line: int) -> str:
        """Return a number's text, converted to this type."""
        return written(number, type, line, self.ieee)

    def main(self, main: Body) -> list:
        """Return the lines of the entry point."""
        x, y, z = self.block
        parameters = [
            "@builtin(workgroup_id) at: vec3u",
            "@builtin(local_invocation_id) me: vec3u",
            "@builtin(local_invocation_index) number: u32",
        ]
        inside = [
            "let place = i32(P.first + at.x);",
            "let block = vec3i(place % P.grid_x, place / P.grid_x % P.grid_y,"
            " place / (P.grid_x * P.grid_y));",
            "let thread = vec3i(me);",
        ]
        if self.reach or self.lanes or "counted" in self.needed:
            inside.append("lane = number;")
        if self.in_step:
            parameters.append("@builtin(subgroup_invocation_id) here: u32")
            parameters.append("@builtin(subgroup_size) seats: u32")
            inside.append("seat = here;")
            apart = f"seats < {self.reach}u || here != number % seats"
            inside.append(f"if ({apart}) {{ atomicOr(&trouble, 1u); }}")
        lines = [
            f"@compute @workgroup_size({x}, {y}, {z})",
            "fn main(" + ", ".join(parameters) + ") {",
        ]
        lines = [(line, None) for line in lines + ["  " + text for text in inside]]
        return lines + main.lines() + [("}", None)]


def fill(text: str, parts: dict) -> str:
    """Return a template with its slots, such as {threads}, filled in."""
    for name in parts:
        text = text.replace("{" + name + "}", str(parts[name]))
    return text
