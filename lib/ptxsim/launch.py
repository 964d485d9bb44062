"""Launches a kernel: from the arguments of its Python function to what it counted."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ptxsim.access import BASES, Access, synchronizes
from ptxsim.arguments import find_arrays, has_subnormals, is_whole, pass_arguments
from ptxsim.faults import Fault
from ptxsim.lanes import WARP, Lanes
from ptxsim.machine import Machine, NeedsBlocks, NeedsHistory, Step
from ptxsim.memory import CHANGEABLE, GIVEN
from ptxsim.result import Result
from ptxsim.syntax import Kernel
from ptxsim.translate import translated

LANES, LANES_THAT_WAIT = 4096, 65536
MOST_LANES = 108 * 2048  # that an A100 holds at a time: no more can wait for each other
MOST_THREADS = 1024  # of a block
MOST_ALONG = (1024, 1024, 64)  # threads of a block, along x, y and z
MOST_BLOCKS = (2**31 - 1, 65535, 65535)
MOST_WARPS = 2**30  # of a grid: tags have numbers for so many threads
MOST_STATIC, MOST_SHARED = 48 << 10, 227 << 10  # bytes of a block, on an H100


def run(
    text: str,
    grid: int | Sequence[int],
    args: Sequence[Any],
    *,
    threads: int | Sequence[int] | None = None,
    outputs: Sequence[int] = (),
    changed: Sequence[int] = (),
    name: str | None = None,
    dynamic: int = 0,
    check: bool = True,
    loose: bool = True,
    profile: bool = False,
    exact: bool | None = None,
    lanes: int | None = None,
    limit: int = 1_000_000,
    step: Step | None = None,
) -> Result:
    """Execute a kernel, and count.

    Parameters
    ----------
    text : str
        PTX.
    grid : int or up to three ints
        How many blocks of threads.
    args : sequence
        The arguments of the kernel: C-contiguous arrays of one or more dimensions;
        NumPy and Python numbers; for a struct that is passed by value, its ``bytes`` or
        a structured scalar of NumPy; None for a null pointer. What the kernel writes is
        written to the arrays.
    threads : int or up to three ints, optional
        The threads of a block; what the PTX declares unless given.
    outputs : sequence of int
        The places, among the arguments, of arrays that hold nothing yet. The kernel has
        to write every element.
    changed : sequence of int
        The places of arrays that the kernel reads and writes. It may write no others.
    name : str, optional
        Which kernel, if the text has several.
    dynamic : int
        Bytes of shared memory that the launch adds.
    check : bool
        Whether to look for faults of memory.
    loose : bool
        Whether arrays in shared memory are aligned no better than the PTX declares.
    profile : bool
        Whether to count wavefronts and sectors.
    exact : bool, optional
        Whether ``.ftz`` looks at every number that goes in or comes out. Unless given,
        it does if an array or a number of the arguments is subnormal.
    lanes : int
        How many threads are computed at a time: whole blocks, and at least one. Unless
        given, 4,096; or 65,536 if threads may wait for those of other blocks, and 221,184,
        as many as an A100 holds, if all of these do wait.
    limit : int
        The most basic blocks that a batch of blocks of threads may go through; a
        barrier, which takes as long, counts as 60.
    step : function, optional
        Called after each instruction: ``step(machine, number, lanes)``.

    Returns
    -------
    Result
    """
    _check_options(dynamic, lanes, limit, name, step)
    arrays = find_arrays(args, outputs, changed)
    if exact is None:
        exact = any(map(has_subnormals, args))
    program = translated(text, name, step is not None, exact)
    kernel = program.kernel
    shape = _sizes(kernel, grid, threads, dynamic)
    sizes = [array.nbytes for array in arrays.values()]

    def prepare(history: bool, count: int) -> tuple[Access, Machine, str]:
        """Return a machine with new memory, that computes so many threads at a time."""
        places = Lanes(*shape, count)
        access = Access(kernel, places, check, profile, sizes, dynamic, history)
        addresses = _place(kernel, access, dynamic, loose)
        values, layout = pass_arguments(kernel, args, arrays, access)
        access.make()
        _fill(kernel, access, addresses, values, arrays, outputs, changed)
        names = {"special_dynamic_smem_size": np.uint32(dynamic), "PARAMETER": values}
        names["ADDRESS"] = addresses
        return access, Machine(program, places, access, limit, step, names), layout

    access, machine, layout = _finished(prepare, synchronizes(kernel), lanes)
    _take_back(access, arrays, outputs, changed)
    counts = machine.threads, machine.warps, machine.taken, access.profile or Counter()
    notes = tuple(fault for _, fault in sorted(access.notes.items()))
    return Result(kernel, *counts, notes, layout)


def _finished(
    prepare: Callable[[bool, int], Any], history: bool, lanes: int | None
) -> Any:
    """Run a machine to its end; return it with all that `prepare` made."""
    count = lanes or (LANES_THAT_WAIT if history else LANES)
    while True:
        made = prepare(history, count)
        try:
            made[1].run()
            return made
        except NeedsHistory:
            history = True
        except NeedsBlocks as problem:
            if lanes or count == MOST_LANES:
                raise problem.args[0] from None
            count = MOST_LANES


def _check_options(dynamic: Any, lanes: Any, limit: Any, name: Any, step: Any) -> None:
    """Raise an error for an option of another type, or that is too small."""
    for what, number, least in (
        ("dynamic", dynamic, 0), ("limit", limit, 1),
        ("lanes", 1 if lanes is None else lanes, 1),
    ):  # fmt: skip
        if not is_whole(number) or number < least:
            raise ValueError(f"{what}: expected a number from {least}, got {number!r}")
    if not (name is None or isinstance(name, str)):
        raise TypeError(f"name: expected a str, got {type(name).__name__}")
    if not (step is None or callable(step)):
        raise TypeError(f"step: expected a function, got {type(step).__name__}")


def _shape(
    name: str, given: int | Sequence[int], most: tuple[int, ...]
) -> tuple[int, ...]:
    """Return up to three numbers as a tuple."""
    shape = tuple(given) if isinstance(given, Sequence) else (given,)
    if not (all(is_whole(x) and x > 0 for x in shape) and 1 <= len(shape) <= 3):
        raise ValueError(
            f"{name}: expected one to three numbers above 0, got {given!r}"
        )
    if any(x > top for x, top in zip(shape, most)):
        raise ValueError(f"{name}: expected at most {most}, got {given!r}")
    return tuple(int(x) for x in shape)


def _threads(kernel: Kernel, given: int | Sequence[int] | None) -> tuple[int, ...]:
    """Return the threads of a block, as asked for or as the kernel declares."""
    if given is None and not kernel.threads:
        raise ValueError("threads: the PTX does not declare how many; pass threads=…")
    block = _shape("threads", kernel.threads if given is None else given, MOST_ALONG)
    if math.prod(block) > MOST_THREADS:
        raise ValueError(f"threads: expected at most {MOST_THREADS}, got {block}")
    declared = kernel.threads or block
    if kernel.required and (*block, 1, 1)[:3] != (*declared, 1, 1)[:3]:
        raise ValueError(f"threads: the PTX requires {declared}, got {block}")
    if math.prod(block) > math.prod(declared):
        raise ValueError(f"threads: the PTX allows at most {declared}, got {block}")
    return block


def _sizes(
    kernel: Kernel, blocks: Any, threads: Any, dynamic: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the sizes of grid and block; raise an error if anything is too large."""
    grid, block = _shape("grid", blocks, MOST_BLOCKS), _threads(kernel, threads)
    warps = math.prod(grid) * -(-math.prod(block) // WARP)
    if warps > MOST_WARPS:
        raise ValueError(
            f"grid: expected at most {MOST_WARPS} warps in all, got {warps}"
        )
    static = sum(max(0, x.size) for x in kernel.variables if x.space == "shared")
    if static > MOST_STATIC:
        raise ValueError(
            f"text: expected at most {MOST_STATIC} bytes of shared memory, got {static}"
        )
    if static + dynamic > MOST_SHARED:
        raise ValueError(
            f"dynamic: expected at most {MOST_SHARED - static} bytes, got {dynamic}"
        )
    return grid, block


# ---- memory ----


def _place(kernel: Kernel, access: Access, dynamic: int, loose: bool) -> dict[str, Any]:
    """Give each variable of the kernel its address."""
    found = {}
    unsized = [one for one in kernel.variables if one.size < 0]
    for variable in kernel.variables:
        if variable in unsized:
            continue
        space = access.spaces[variable.space.upper()]
        loosely = loose and variable.space == "shared"
        address = space.place(variable.name, variable.size, variable.align, loosely)
        found[variable.name] = np.uint64(address)
    # All unsized arrays begin at one address, behind those that have a size: they are
    # names of the bytes that the launch adds.
    if unsized:
        names = ", ".join(one.name for one in unsized)
        if len(unsized) > 1:
            names = f"dynamic shared memory ({names})"
        align = max(one.align for one in unsized)
        address = access.spaces["SHARED"].place(names, dynamic, align, loose)
        found |= {one.name: np.uint64(address) for one in unsized}
    return found


def _fill(
    kernel: Kernel,
    access: Access,
    addresses: dict[str, Any],
    values: dict[str, Any],
    arrays: dict[int, Any],
    outputs: Sequence[int],
    changed: Sequence[int],
) -> None:
    """Write what memory holds before the launch, parameters among it."""
    for variable in kernel.variables:
        if variable.content is not None:
            space = access.spaces[variable.space.upper()]
            tag = GIVEN if variable.space == "const" else CHANGEABLE
            content = bytearray(values.get(variable.name, variable.content))
            for at, name, more in variable.addresses:
                pointer = (int(addresses[name]) + more) % 2**64
                content[at : at + 8] = pointer.to_bytes(8, "little")
            space.fill(int(addresses[variable.name]), bytes(content), tag)
    memory = access.spaces["GLOBAL"]
    for i, address in _addresses(access, arrays).items():
        if i not in outputs and arrays[i].size:
            tag = CHANGEABLE if i in changed else GIVEN
            memory.fill(address, arrays[i].reshape(-1).view("u1"), tag)


def _addresses(access: Access, arrays: dict[int, Any]) -> dict[int, int]:
    """Return the address of each array among the arguments."""
    places = {name: at for name, at, _ in access.spaces["GLOBAL"].places}
    return {i: BASES["GLOBAL"] + places[f"args[{i}]"] for i in arrays}


def _take_back(
    access: Access,
    arrays: dict[int, Any],
    outputs: Sequence[int],
    changed: Sequence[int],
) -> None:
    """Copy what the kernel wrote to the arrays; look for what it should not have done."""
    memory = access.spaces["GLOBAL"]
    for i, address in _addresses(access, arrays).items():
        at, array = address - memory.base, arrays[i]
        data = memory.bytes[at : at + array.nbytes]
        tags = memory.written[at >> memory.lg : (at + array.nbytes) >> memory.lg]
        if i in outputs:
            missing = int(np.count_nonzero(tags < 0))
            if access.check and missing:
                detail = f"{missing} of {len(tags)} pieces of args[{i}]"
                raise Fault("not written", f"{detail}, {memory.grain} bytes each")
        if i in outputs or i in changed:
            array.reshape(-1).view("u1")[:] = data
