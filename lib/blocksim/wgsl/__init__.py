"""Translates a kernel to WGSL, the shading language of WebGPU, for a GPU of any make.

A kernel that runs in the simulator can run on the machine's own GPU: in a browser by
WebGPU, elsewhere by wgpu. `translate` writes it in WGSL from the simulator's own typed
tree, so that both read the same text in the same way.

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
WebGPU computes with 32 bits. The types are those that Numba infers, narrowed to 32 bits:
int64 becomes i32, uint64 u32, and float64 f32. A product of large integers therefore wraps
earlier, and float64 sums are rounded to float32 (``doubles`` has the lines). Arrays of
other types, and conversions to float64 by name, are refused, with the line.

A WGSL compiler may assume that infinities and NaN do not occur. So 2**126 stands for an
infinity, unless ``ieee`` is set. Before a launch the caller clamps larger numbers to it
(`cut`); after a launch the caller turns numbers beyond 2**120 (`FAR`) into infinities.
This hides a NaN that comes from an infinity; the simulator shows it.

``//`` and ``%`` of floats round intermediate results; those of integers are exact.

Barriers
--------
The browser's compiler proves that all threads come to a barrier. `explained` maps its
messages to the reader's lines. If a number in shared memory decides whether a thread comes
to a barrier, the compiler cannot know that all threads read the same number. Translate the
kernel again with that line in ``uniform``: the number is then read once for all threads.

The threads of a warp need not run in lockstep on such a GPU. So ``syncwarp``, and shuffles
and votes that go through memory, become barriers of the whole block, whatever their masks
say, and all threads of the block have to reach them. With subgroups, no compiler proves
that they do.

Run a kernel in the simulator first. WebGPU reads 0 from unwritten memory and keeps every
access inside its array, and a race may go unnoticed.
"""

from ..arguments import flat, kind_of
from ..kernel import count, kernel_of, triple
from ..values import Refusal
from .diagnostics import explained
from .module import Module
from .pieces import FAR, STAND_IN, Untranslatable


def translate(
    kernel, block, kinds, shared=0, subgroup=0, uniform=(), ieee=False
) -> dict:
    """Translate a kernel to WGSL; return the text and what a launch needs.

    Parameters
    ----------
    kernel : function or Kernel
        As for `blocksim.run`.
    block : int or tuple of int
        Threads of a block: (x,), (x, y) or (x, y, z).
    kinds : list
        The type of each argument: "float32", "int64" …, or ("array", "float32", 2) for
        an array of two dimensions. `kinds_of` returns them.
    shared : int
        Bytes of dynamic shared memory.
    subgroup : int
        The smallest subgroup size of the device (WebGPU's ``subgroupMinSize``); 0 if it
        has no subgroups. Shuffles that reach further go through shared memory.
    uniform : list of int
        Lines on which shared memory is read once for all threads.
    ieee : bool
        Use IEEE infinities, for a device that preserves them.

    Returns
    -------
    dict
        ``wgsl``, the text, whose entry point is ``main``; ``lines``, for each of its
        lines the reader's line or None; ``bindings``, the arrays from binding 2 on;
        ``parameters`` and ``ieee``, for `words`; ``block``, ``threads``; ``shared``,
        the bytes of shared memory; ``reach``, the number of lanes that its shuffles
        span, and ``in_step``, whether they use subgroups; ``names``, those of arrays;
        ``doubles``, pairs of a line and what Numba computes in float64 there.

    Notes
    -----
    Binding 0 is a uniform buffer with `words`. Binding 1 is a status word of four bytes, 0
    before a launch and 0 after a successful one. Bit 0 says that the threads are not
    numbered in the order of the subgroups, so that ``subgroup=0`` is needed; bit 1 says
    that a loop was stopped after a million iterations.

    An array has 32-bit numbers in row-major order. An array of ``halves`` holds float16,
    two in a word. An array that is ``rounded`` to float16 takes 32 bits for each number.
    """
    program = kernel_of(kernel).program
    taken = tuple([tuple(kind) if isinstance(kind, list) else kind for kind in kinds])
    if len(taken) != len(program.parameters):
        wanted = ", ".join(program.parameters)
        raise ValueError(f"kinds: expected those of {wanted}; got {len(taken)}")
    try:
        code = program.code(taken, False)
    except Refusal as refusal:  # the simulator refuses the kernel as well
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
    """Return the type that `blocksim.run` gives an argument."""
    if isinstance(value, list):
        data, shape = flat(value, name)
        whole = data and all([type(x) is int for x in data])
        return ("array", "int32" if whole else "float32", len(shape))
    if getattr(value, "shape", ()) and hasattr(value, "dtype"):
        return ("array", kind_of(name, value), len(value.shape))
    return kind_of(name, value)


def words(made: dict, grid, arguments: list, first: int = 0) -> list:
    """Return the contents of a launch's uniform buffer, as unsigned 32-bit integers.

    Parameters
    ----------
    made : dict
        As `translate` returns it.
    grid : int or tuple of int
    arguments : list
        Numbers, and the shapes of arrays.
    first : int
        The number of the first block of a slice, for a launch that is cut into slices.
        The blocks of a launch are numbered along one direction, x.
    """
    x, y, z = triple(grid, "grid")
    numbers = [count(first, "first"), x, y, z, 0x7F800000, 0x7FC00000]
    for (name, type, ndim), value in zip(made["parameters"], arguments):
        if ndim:
            if len(value) != ndim:
                raise ValueError(
                    f"{name}: expected {ndim} extents, got {list(value)!r}"
                )
            numbers += [count(extent, name) for extent in value]
        elif type != "none":
            numbers.append(word(name, value, type, made["ieee"]))
    return numbers + [0] * (-len(numbers) % 4)


def word(name: str, value: object, type: str, ieee: bool) -> int:
    """Return the 32 bits of a number."""
    if type == "f32":
        return real_bits(float(value) if ieee else cut(float(value)))
    whole = int(value)
    if whole != value or not -(2**31) <= whole < 2**32 - 2**31 * (type == "i32"):
        raise ValueError(f"{name}: expected a whole number of 32 bits, got {value!r}")
    return whole & 0xFFFFFFFF


def cut(value: float) -> float:
    """Return a number, clamped to the number that stands for an infinity."""
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
