"""From a kernel to WGSL, the language that browsers run on any GPU.

A kernel that the simulator runs can run on the GPU of the machine at hand: in a browser
by WebGPU, elsewhere by wgpu. `translate` writes it in WGSL, from the tree with types
that the simulator has made of it; so both read the same text, in the same way.

>>> from blocksim import cuda, float32
>>> from blocksim.wgsl import translate
>>> @cuda.jit
... def double(x, y):
...     i = cuda.grid(1)
...     if i < x.shape[0]:
...         y[i] = float32(2.0) * x[i]
>>> array = ("array", "float32", 1)
>>> made = translate(double, 64, [array, array])
>>> "if (i_ < P.x_0) {" in made["wgsl"]
True

Numbers
-------
A GPU in a browser computes with 32 bits. Types are those that Numba infers, and of 32
bits each: int64 is i32, uint64 u32, and float64 f32; a product of large whole numbers
wraps earlier, and sums are rounded to float32 (``doubles`` has the lines). An array of
other numbers, and float64 where it is asked for by name, is refused, with its line.

WGSL lets a compiler assume that there is neither infinity nor NaN. So 2**126 stands for an
infinity, unless ``ieee`` is asked for: who launches makes larger numbers that large
before (`cut`), and what comes back larger than 2**120 (`FAR`) infinite. That hides a
NaN which came from an infinity; the simulator shows it.

``//`` and ``%`` of floats are rounded on the way, unlike those of whole numbers.

Barriers
--------
Whether all threads come to a barrier is proved by the browser when it compiles.
`explained` brings what it says to the reader's lines. Where a number in shared memory
decides it, no compiler knows that all threads read the same: translated again with that
line in ``uniform``, it is read once for all of them.

Threads of a warp need not move together on such a GPU. So ``syncwarp``, and shuffles and
votes that go through memory, are barriers of the whole block, whatever their masks say:
all threads of the block have to come there. By subgroups nobody proves that they do.

A GPU is no judge: it reads 0 where nobody has written, stays inside of arrays, and races
may go well. The simulator has to come first.
"""

from ..arguments import flat, kind_of
from ..kernel import count, kernel_of, triple
from ..values import Refusal
from .module import Module
from .pieces import FAR, STAND_IN, Untranslatable
from .told import explained


def translate(
    kernel, block, kinds, shared=0, subgroup=0, uniform=(), ieee=False
) -> dict:
    """Return a kernel in WGSL, and what a launch has to know of it.

    Parameters
    ----------
    kernel : function or Kernel
        As `blocksim.run` takes it.
    block : int or tuple of int
        Threads of a block: (x,), (x, y) or (x, y, z).
    kinds : list
        The type of each argument: "float32", "int64" …, or ("array", "float32", 2) of
        an array of two dimensions. `kinds_of` finds them.
    shared : int
        Bytes of dynamic shared memory.
    subgroup : int
        The least number of threads that move together on the device, of WebGPU's
        ``subgroupMinSize``; 0 if it has no subgroups. Shuffles that reach further go
        through shared memory.
    uniform : list of int
        Lines on which shared memory is read once for all threads.
    ieee : bool
        Take IEEE's infinities, for a device that keeps them.

    Returns
    -------
    dict
        ``wgsl``, the text, whose entry point is ``main``; ``lines``, for each of its
        lines the reader's or None; ``bindings``, the arrays from binding 2 on;
        ``parameters`` and ``ieee``, for `words`; ``block``, ``threads``; ``shared``,
        the bytes of shared memory; ``reach`` and ``in_step``: over how many lanes its
        shuffles reach, and whether by subgroups; ``names``, of arrays; ``doubles``, pairs
        of a line and what Numba computes in float64 there.

    Notes
    -----
    Binding 0 is a uniform buffer with `words`; binding 1 four bytes of storage, 0 before
    a launch. Afterwards they are 0 if all is well; bit 0 says that threads do not sit in
    subgroups in their order, so that ``subgroup=0`` is needed, and bit 1 that a loop was
    given up after a million turns.

    An array is one of 32-bit numbers, row by row; one of ``halves`` holds float16, two
    in a word, and of one that is ``rounded`` to float16 each takes 32 bits.
    """
    program = kernel_of(kernel).program
    taken = tuple([tuple(kind) if isinstance(kind, list) else kind for kind in kinds])
    if len(taken) != len(program.parameters):
        wanted = ", ".join(program.parameters)
        raise ValueError(f"kinds: expected those of {wanted}; got {len(taken)}")
    try:
        code = program.code(taken, False)
    except Refusal as refusal:  # by the simulator, too
        raise Untranslatable(refusal.line, refusal.reason, refusal.instead) from None
    shape = triple(block, "block"), count(shared, "shared"), count(subgroup, "subgroup")
    made = Module(code.typed, *shape, set(uniform), bool(ieee)).write()
    made["doubles"] = [[line, code.doubles[line]] for line in sorted(code.doubles)]
    return made


def kinds_of(kernel, arguments: list) -> list:
    """Return the types of a launch's arguments: numbers, numpy arrays and lists."""
    names = kernel_of(kernel).program.parameters
    return [kind_in_launch(name, value) for name, value in zip(names, arguments)]


def kind_in_launch(name: str, value: object) -> object:
    """Return the type of an argument, as `blocksim.run` takes it."""
    if isinstance(value, list):
        data, shape = flat(value, name)
        whole = data and all([type(x) is int for x in data])
        return ("array", "int32" if whole else "float32", len(shape))
    if getattr(value, "shape", ()) and hasattr(value, "dtype"):
        return ("array", kind_of(name, value), len(value.shape))
    return kind_of(name, value)


def words(made: dict, grid, arguments: list, first: int = 0) -> list:
    """Return what the uniform buffer of a launch holds, as whole numbers of 32 bits.

    Parameters
    ----------
    made : dict
        As `translate` returns it.
    grid : int or tuple of int
    arguments : list
        Numbers, and of arrays their shapes.
    first : int
        The number of the first block, in a launch that is cut into slices: its blocks
        follow each other in one direction, x.
    """
    x, y, z = triple(grid, "grid")
    found = [count(first, "first"), x, y, z, 0x7F800000, 0x7FC00000]
    for (name, type, ndim), value in zip(made["parameters"], arguments):
        if ndim:
            if len(value) != ndim:
                raise ValueError(
                    f"{name}: expected {ndim} extents, got {list(value)!r}"
                )
            found += [count(extent, name) for extent in value]
        elif type != "none":
            found.append(word(name, value, type, made["ieee"]))
    return found + [0] * (-len(found) % 4)


def word(name: str, value: object, type: str, ieee: bool) -> int:
    """Return a number as the 32 bits that stand for it."""
    if type == "f32":
        return real_bits(float(value) if ieee else cut(float(value)))
    whole = int(value)
    if whole != value or not -(2**31) <= whole < 2**32 - 2**31 * (type == "i32"):
        raise ValueError(f"{name}: expected a whole number of 32 bits, got {value!r}")
    return whole & 0xFFFFFFFF


def cut(value: float) -> float:
    """Return a number with what stands for an infinity in its place."""
    return min(STAND_IN, max(-STAND_IN, value)) if value == value else value


def real_bits(value: float) -> int:
    """Return the bits of a float32."""
    struct = __import__("struct")
    return struct.unpack("<I", struct.pack("<f", value))[0]


__all__ = [
    "FAR",
    "STAND_IN",
    "Untranslatable",
    "cut",
    "explained",
    "kinds_of",
    "translate",
    "words",
]
