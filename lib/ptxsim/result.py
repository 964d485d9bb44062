"""What a run counted."""

import math
import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ptxsim.faults import Fault
from ptxsim.syntax import Instruction, Kernel

PROFILED = ("wavefronts", "turns", "sectors", "requests")


@dataclass(frozen=True)
class Count:
    """How often an instruction of the PTX was executed.

    Attributes
    ----------
    instruction : Instruction
    block : int
        The number of its basic block, in the order of the text.
    threads : int
        Threads that came to it, whether or not its predicate let them execute it.
    warps : int
        The same for warps with at least one such thread: what a GPU issues.
    taken : int
        Of a branch: how many of these threads it sent elsewhere. The ``ret`` of a
        function sends threads behind the call, and so does a call's predicate.
    wavefronts, turns : int
        Passes through the banks of shared memory, and the fewest that would do; with
        ``profile=True``.
    sectors, requests : int
        Pieces of 32 bytes of global memory, and by how many warps they were asked for;
        with ``profile=True``.
    """

    instruction: Instruction
    block: int
    threads: int
    warps: int
    taken: int = 0
    wavefronts: int = 0
    turns: int = 0
    sectors: int = 0
    requests: int = 0

    @property
    def multiply_adds(self) -> int:
        """How many products it added up: one a thread, or all of a matrix product."""
        words = self.instruction.words
        if words[0] == "mma":
            shape = re.search(r"m(\d+)n(\d+)k(\d+)", self.instruction.opcode)
            return self.warps * math.prod(map(int, shape.groups() if shape else ()))
        if words[0] not in ("fma", "mad", "mad24"):
            return 0
        return self.threads * (2 if words[-1].endswith("x2") else 1)


class Result:
    """What a run counted.

    Attributes
    ----------
    kernel : Kernel
        The kernel as the machine read it.
    counts : tuple of Count
        One for each instruction, in the order of the text; those of a function are
        behind each of its calls.
    entered : tuple of (int, int)
        For each basic block, how many threads came to it, and how many warps.
    notes : tuple of Fault
        What is no fault, for each instruction the first time. Its severity is "benign"
        if memory holds the same in any order, and "unmodelled" if a GPU may do something
        else than this run did.
    layout : str
        How the kernel takes arrays: "pointers", "numba-cuda" or "numba-cuda-mlir".
    """

    def __init__(
        self,
        kernel: Kernel,
        threads: NDArray[np.int64],
        warps: NDArray[np.int64],
        taken: NDArray[np.int64],
        profile: dict[tuple[int, str], int],
        notes: tuple[Fault, ...] = (),
        layout: str = "pointers",
    ) -> None:
        self.kernel, self.notes, self.layout = kernel, notes, layout
        self.entered = tuple(zip(threads.tolist(), warps.tolist()))
        found: list[Count] = []
        for number, block in enumerate(kernel.blocks):
            for one in block.instructions:
                more: dict[str, Any] = {
                    name: profile.get((len(found), name), 0) for name in PROFILED
                }
                left = int(taken[number]) if one is block.instructions[-1] else 0
                found.append(Count(one, number, *self.entered[number], left, **more))
        self.counts = tuple(found)

    @property
    def threads(self) -> int:
        """How many instructions all threads together executed."""
        return sum(count.threads for count in self.counts)

    @property
    def warps(self) -> int:
        """How many instructions all warps together executed."""
        return sum(count.warps for count in self.counts)

    def total(self, what: str) -> int:
        """Return the sum of a column of the counts, such as "wavefronts".

        Parameters
        ----------
        what : str

        Returns
        -------
        int
        """
        return sum(getattr(count, what) for count in self.counts)

    def by_opcode(self, what: str = "threads") -> Counter[str]:
        """Return a column of the counts by opcode.

        Parameters
        ----------
        what : str
            "threads", "warps", "wavefronts", "turns", "sectors" or "requests".

        Returns
        -------
        Counter
        """
        found: Counter[str] = Counter()
        for count in self.counts:
            found[count.instruction.opcode] += getattr(count, what)
        return found

    def by_source_line(self, what: str = "threads") -> Counter[tuple[str, int]]:
        """Return a column of the counts by file and line of the source.

        What is inlined from another file counts for the line where it is inlined.

        Parameters
        ----------
        what : str
            As for `by_opcode`.

        Returns
        -------
        Counter
            What belongs to no line is under ``("", 0)``.
        """
        found: Counter[tuple[str, int]] = Counter()
        for count in self.counts:
            found[count.instruction.source or ("", 0)] += getattr(count, what)
        return found

    def __repr__(self) -> str:
        kinds = Counter(note.severity for note in self.notes)
        notes = "".join(f", {count} {kind}" for kind, count in sorted(kinds.items()))
        counted = f"{self.threads} thread-instructions, {self.warps} warp instructions"
        return f"<{counted}{notes}>"
