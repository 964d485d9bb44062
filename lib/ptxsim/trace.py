"""One thread, instruction by instruction."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ptxsim.arguments import is_whole
from ptxsim.launch import run
from ptxsim.machine import Machine
from ptxsim.memory import Array
from ptxsim.syntax import Instruction
from ptxsim.writer import results

SIGNED = {"b16": "s16", "b32": "s32", "b64": "s64"}  # as numbers without a sign confuse


@dataclass(frozen=True)
class Moment:
    """An instruction that the thread has executed.

    Attributes
    ----------
    instruction : Instruction
    values : dict of str to number
        What it left in the registers that it writes.
    """

    instruction: Instruction
    values: dict[str, Any]


def trace(
    text: str,
    grid: int | Sequence[int],
    args: Sequence[Any],
    *,
    block: int = 0,
    thread: int = 0,
    **options: Any,
) -> list[Moment]:
    """Execute a kernel, and return what one thread did.

    Parameters
    ----------
    text, grid, args
        As for `run`.
    block : int
        The number of the thread's block, counted along x first.
    thread : int
        The number of the thread in its block.
    **options
        Those of `run`.

    Returns
    -------
    list of Moment
    """
    moments: list[Moment] = []

    def step(machine: Machine, number: int, act: Array | None) -> None:
        lanes = machine.lanes
        lane = (block - lanes.first) * lanes.padded + thread
        inside = 0 <= lane < lanes.count and lanes.launched[lane]
        if inside and machine.active[lane] and (act is None or lane in act):
            one = machine.program.instructions[number]
            moments.append(Moment(one, _values(machine, one, lane)))

    for what, number in (("block", block), ("thread", thread)):
        if not is_whole(number) or number < 0:
            raise ValueError(f"{what}: expected a number from 0, got {number!r}")
    run(text, grid, args, step=step, **options)
    if not moments:
        raise ValueError(f"block, thread: no thread {thread} in a block {block}")
    return moments


def _values(machine: Machine, one: Instruction, lane: int) -> dict[str, Any]:
    """Return the registers that an instruction has written."""
    found = {}
    for register in sorted(results(one)):
        kind = machine.program.kernel.type_of(register)
        if kind:
            array = machine.view(register, SIGNED.get(kind, kind))
            found[register] = array[lane].item()
    return found
