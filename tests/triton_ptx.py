"""Launches the PTX of Triton's kernels in ptxsim: tests/triton/kernels.py, compiled.

`TEXTS` has an entry for each text of tests/data/triton.zip: its kernel, the types of the
arguments, constexprs, warps, and bytes of shared memory.
"""

from collections.abc import Callable
from typing import Any

import ptxsim
from tools.kernels import stored, triton

INDEX, PTX = stored.read(triton.STORED)
TEXTS: dict[str, dict[str, Any]] = INDEX["texts"]
# Triton passes two more pointers, which these kernels do not use.
SCRATCH = (None, None)


def types_of(name: str) -> list[str]:
    """Return the types of a text's arguments, without constexprs."""
    types = TEXTS[name]["signature"].split(", ")
    return [one.removesuffix(":16") for one in types if not one.isdigit()]


def run(
    name: str,
    grid: int | tuple[int, ...],
    *arguments: Any,
    edit: Callable[[str], str] | None = None,
    **options: Any,
) -> ptxsim.Result:
    """Run a text, or what `edit` makes of it.

    `arguments` are those of the Triton kernel, without constexprs: arrays and numbers.
    Arrays of bfloat16 come as their bits, in uint16. `options` are those of `ptxsim.run`.
    """
    return ptxsim.run(
        edit(PTX[name]) if edit else PTX[name],
        grid,
        [*arguments, *SCRATCH],
        threads=32 * TEXTS[name]["num_warps"],
        dynamic=TEXTS[name]["shared"],
        **options,
    )
