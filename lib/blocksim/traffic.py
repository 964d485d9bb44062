"""How a warp accesses memory: sectors of global memory, banks of shared memory.

The threads of a warp act together: the k-th time that a line accesses an array, in one
iteration of the loops around it, is one access of up to 32 threads. In global memory it
moves whole sectors of 32 bytes. Fewer sectors are better, so neighbouring threads should
access neighbouring elements (a coalesced access). Shared memory has 32 banks of 4 bytes;
different words of one bank take one pass each.
"""

SECTOR = 32
BANKS = 32
WORD = 4


class Traffic:
    """Counts sectors and extra passes, by the name of the array."""

    def __init__(self):
        self.sectors, self.extra_passes = {}, {}
        self.times = {}  # (thread, array, kind, where) -> how often in this phase
        self.accesses = {}  # (warp, array, kind, where, time) -> addresses of elements

    def touch(self, array, offset: int, kind: str, thread: int, where: tuple) -> None:
        """Add a thread to its warp's access; ``where`` is the line and loop iteration."""
        own = (thread, array.space, array.name, kind, where)
        time = self.times.get(own, 0)
        self.times[own] = time + 1
        together = (thread // 32,) + own[1:] + (time,)
        start = offset * array.dtype.size
        if array.addresses:
            start = array.addresses[offset]
        self.accesses.setdefault(together, set()).add(start)

    def settle(self) -> None:
        """Count the accesses since the last barrier."""
        for key in self.accesses:
            space, name, starts = key[1], key[2], self.accesses[key]
            if space == "global":
                sectors = set([start // SECTOR for start in starts])
                self.sectors[name] = self.sectors.get(name, 0) + len(sectors)
            else:
                self.extra_passes[name] = (
                    self.extra_passes.get(name, 0) + passes(starts) - 1
                )
        self.times, self.accesses = {}, {}


def passes(starts: set) -> int:
    """Return how many passes shared memory needs for elements at these addresses."""
    words = set([start // WORD for start in starts])
    banks = [word % BANKS for word in words]
    return max([banks.count(bank) for bank in banks])
