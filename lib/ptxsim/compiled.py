"""Checks what a compiler returns: Triton's objects, Numba's pairs, or PTX."""

import re
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from ptxsim.lanes import WARP
from ptxsim.launch import run
from ptxsim.parser import parse
from ptxsim.result import Result

NOTES = ("benign", "unmodelled")
SCRATCH = 2  # the most pointers that Triton adds to a kernel's parameters


def check(
    compiled: Any,
    grid: int | Sequence[int],
    *arguments: Any,
    outputs: Sequence[int] | None = None,
    changed: Sequence[int] | None = None,
    allow: Collection[str] = NOTES,
    **options: Any,
) -> Result:
    """Run a compiled kernel; raise a `Fault` if anything is wrong with it.

    Parameters
    ----------
    compiled : object
        What ``triton.compile`` returns, which says how many threads and how much shared
        memory the kernel needs; what ``numba.cuda.compile`` returns; or PTX.
    grid : int or up to three ints
        How many blocks of threads; of Triton, how many programs.
    *arguments
        Those of the kernel, without constexprs, as for `run`. A tensor of PyTorch in the
        CPU's memory is one too. NumPy has no bfloat16: pass its bits, as uint16. Triton's
        pointers to scratch memory are null.
    outputs : sequence of int, optional
        As for `run`. Unless this or `changed` is given, the kernel may change every array;
        then a read of what nobody has written to an array is not found, nor an element
        that is left out.
    changed : sequence of int, optional
        As for `run`.
    allow : collection of str
        The severities that may be among the result's notes: "benign", "unmodelled". The
        first note of another is raised.
    **options
        Those of `run`.

    Returns
    -------
    Result
    """
    allow = {allow} if isinstance(allow, str) else set(allow)
    if strange := allow - set(NOTES):
        raise ValueError(f"allow: expected some of {NOTES}, got {min(strange)!r}")
    text, launch = _launch(compiled)
    launch |= options
    args = [_shared(f"args[{i}]", value) for i, value in enumerate(arguments)]
    if hasattr(compiled, "asm"):
        _check_types(compiled, args)
        missing = len(parse(text, launch["name"]).parameters) - len(args)
        args += [None] * missing * (missing <= SCRATCH)
    if outputs is None and changed is None:
        changed = [
            i
            for i, value in enumerate(args)
            if isinstance(value, np.ndarray) and value.flags.writeable
        ]
    result = run(
        text, grid, args, outputs=outputs or (), changed=changed or (), **launch
    )
    for note in result.notes:
        if note.severity not in allow:
            raise note
    return result


def _launch(compiled: Any) -> tuple[str, dict[str, Any]]:
    """Return the PTX, and what is known of its launch as options of `run`."""
    text = compiled[0] if isinstance(compiled, tuple) and compiled else compiled
    if isinstance(text, str):
        return text, {}
    try:
        metadata = compiled.metadata
        threads = WARP * metadata.num_warps
        launch = {"threads": threads, "dynamic": metadata.shared, "name": metadata.name}
        return compiled.asm["ptx"], launch
    except (AttributeError, LookupError, TypeError) as problem:
        got = type(compiled).__name__
        raise TypeError(
            "compiled: expected what triton.compile or numba.cuda.compile returns, or"
            f" PTX, got {got}"
        ) from problem


def _check_types(compiled: Any, args: Sequence[Any]) -> None:
    """Raise an error for arguments that are not those of Triton's signature.

    A pointer in PTX has no type, so that an array of another one would be misread.
    """
    signature = getattr(getattr(compiled, "src", None), "signature", {})
    types = {name: kind for name, kind in signature.items() if kind != "constexpr"}
    if types and len(types) != len(args):
        raise ValueError(
            f"arguments: expected {len(types)}, for {', '.join(map(str, types))}, got"
            f" {len(args)}"
        )
    for i, (value, (name, kind)) in enumerate(zip(args, types.items())):
        found = re.fullmatch(r"\*k?(fp|bf|[iu])(\d+)\w*", kind)
        if not (found and isinstance(value, np.ndarray)):
            continue
        bits = max(8, int(found[2]))
        # NumPy has no number of 8 bits with a point, and no bfloat16: their bits do.
        kinds = "f" if found[1] == "fp" and bits > 8 else "iub"
        if value.dtype.kind not in kinds or value.dtype.itemsize * 8 != bits:
            raise TypeError(
                f"args[{i}]: expected an array for {name}, {kind}, got {value.dtype}"
            )


def _shared(name: str, value: Any) -> Any:
    """Return an array that shares the memory of a tensor; anything else as it is."""
    if isinstance(value, np.ndarray | np.generic) or not hasattr(value, "__array__"):
        return value
    if getattr(value, "is_cuda", False):
        raise TypeError(
            f"{name}: expected a tensor in the CPU's memory, got one of a GPU"
        )
    value = value.detach() if hasattr(value, "detach") else value
    try:
        array, again = np.asarray(value), np.asarray(value)
    except TypeError as problem:
        raise TypeError(
            f"{name}: expected what NumPy can view, got {problem}; of bfloat16 pass the"
            " bits, x.view(torch.uint16)"
        ) from problem
    if array.size and not np.shares_memory(array, again):
        raise TypeError(
            f"{name}: expected an array, or a tensor that shares its memory with NumPy,"
            f" got {type(value).__name__}"
        )
    return array
