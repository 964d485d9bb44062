"""Memory that remembers, for each grain, who wrote and who read it, and when.

A grain is as large as the kernel's smallest access. Its tag is a time and a thread; the
time goes on at every barrier. Negative tags tell why nobody may read it. One look at the
tags of an access finds what is out of bounds, was never written, is still being copied,
or was touched by another thread with no barrier between.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
NEVER, GUARD, FLYING = -1, -2, -3
GIVEN, CHANGEABLE = 0, 1  # written before the launch; and whether it may be changed
WHY = {
    GIVEN: "input overwritten",
    NEVER: "uninitialised",
    GUARD: "out of bounds",
    FLYING: "copy under way",
}
GAP = 4096  # bytes that belong to nobody, before and behind an array
WINDOW = 128  # what belongs to a block of threads begins at a multiple of this
PENDING = 8  # loads that are noted together; many would not fit into caches
VIEWS = ("u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8")

Trouble = tuple[
    int, str, str
]  # which of the accesses, the kind of fault, what happened


class Tags:
    """How a tag holds a time and a thread.

    Attributes
    ----------
    dtype : str
    shift : int
        The bits below the time.
    atomic : int
        The bit of an atomic operation.
    thread : int
        A mask: the bits of the thread.
    many : int
        In place of a thread: threads of several warps.
    latest : int
        The first time for which there is no room.
    several : int or None
        In place of a thread: this and the number of a warp stand for some of its
        threads. None where that is not told apart from `many`.
    """

    def __init__(self, dtype: str, bits: int, several: int | None) -> None:
        self.dtype, self.shift, self.several = dtype, bits + 1, several
        self.atomic, self.thread = 1 << bits, (1 << bits) - 1
        self.many = self.thread
        self.latest = 1 << (np.iinfo(dtype).bits - 1 - self.shift)

    def warp(self, thread: Array) -> Array:
        """Return the warp of threads; −1 for threads of several warps."""
        warp = thread >> 5
        if self.several is not None:
            warp = np.where(thread >= self.several, thread - self.several, warp)
        return np.where(thread == self.many, -1, warp)

    def name(self, tag: int) -> str:
        """Return who it was, in words."""
        thread = tag & self.thread
        how = ", by an atomic operation" if tag & self.atomic else ""
        if thread == self.many or (self.several is not None and thread >= self.several):
            return f"several threads{how}"
        return f"thread {thread}{how}"


IN_BLOCK = Tags("i4", 11, None)  # a block has at most 1024 threads
IN_WARPS = Tags("i4", 11, 1024)
IN_GRID = Tags("i8", 40, None)


class Space:
    """A state space: its bytes, and what is remembered of them.

    Attributes
    ----------
    name : str
    base : int
        The address of its first byte.
    grain : int
    tags : Tags
    window : int
        Bytes of one window: shared memory has one for each block, local memory one for
        each thread.
    low : int
        The lowest tag of the present; what was done before is over.
    block : int
        Threads of a block, where several blocks use a window.
    """

    def __init__(self, name: str, base: int, grain: int, tags: Tags, gap: int) -> None:
        self.name, self.base, self.tags = name, base, tags
        self.grain, self.lg = grain, grain.bit_length() - 1
        self.size, self.gap, self.block = gap, gap, 0
        self.places: list[tuple[str, int, int]] = []  # name, first byte, bytes
        self.low, self.now, self.start = 1 << tags.shift, 1, 1

    def place(self, name: str, size: int, align: int, loose: bool) -> int:
        """Reserve room for an array and return its address.

        Parameters
        ----------
        name : str
        size, align : int
        loose : bool
            Whether it is no better aligned than it has to be.

        Returns
        -------
        int
        """
        at = -(-self.size // align) * align
        if loose and at % (2 * align) == 0:
            at += align
        self.places.append((name, at, size))
        self.size = at + size + self.gap
        return self.base + at

    def make(self, windows: int, readers: bool) -> None:
        """Make the bytes of so many windows; `readers`: remember who reads."""
        self.window = -(-self.size // WINDOW) * WINDOW
        self.bytes = np.empty(self.window * windows, "u1")
        self.views = {kind: self.bytes.view(kind) for kind in VIEWS}
        self.written = np.empty(len(self.bytes) >> self.lg, self.tags.dtype)
        self.read_by = np.zeros_like(self.written) if readers else None
        self.pending: list[tuple[Array, Array]] = []
        self.clear()

    def clear(self) -> None:
        """Make everything new: no byte is written."""
        self.bytes.fill(0xFF)  # a NaN, should anybody read it
        self.written.fill(GUARD)
        windows = self.written.reshape(-1, self.window >> self.lg)
        for _, at, size in self.places:
            windows[:, at >> self.lg : (at + size + self.grain - 1) >> self.lg] = NEVER
        if self.read_by is not None:
            self.read_by.fill(0)
        self.pending.clear()

    def fill(self, address: int, content: bytes | Array, tag: int) -> None:
        """Write bytes before the launch, in every window."""
        at, size = address - self.base, len(content)
        bytes_ = self.bytes.reshape(-1, self.window)
        bytes_[:, at : at + size] = np.frombuffer(content, "u1")
        written = self.written.reshape(-1, self.window >> self.lg)
        written[:, at >> self.lg : (at + size) >> self.lg] = tag

    def index(self, address: Array, offset: int, windows: Array | None) -> Array:
        """Return places in `bytes`; what is outside a window is in its guard."""
        at = address.astype("u8")
        at += np.uint64((offset - self.base) % 2**64)
        np.minimum(at, np.uint64(self.window - 16), out=at)
        place = at.view("i8")
        if windows is not None:
            place += windows
        return place

    def grains(self, index: Array, size: int) -> Array:
        """Return the grains of accesses of `size` bytes: (threads, grains)."""
        first = (index >> self.lg)[:, None]
        return first if size <= self.grain else first + np.arange(size >> self.lg)

    # ---- time ----

    def barrier(self) -> None:
        """All threads of each block have met: what was done is over for them."""
        self.start = self.now
        if not self.block:
            self.low = self.now << self.tags.shift
            self.pending.clear()

    def tagged(self, threads: Array) -> Array:
        """Return the tags of what threads do now."""
        return (threads | (self.now << self.tags.shift)).astype(self.tags.dtype)

    def _innocent(self, tags: Array, mine: Array, since: Array) -> Array:
        """Return where another access, of the present, is no race after all.

        It is the thread's own, or was made before its warp met (`since`), or before its
        block did.
        """
        thread, time = tags & self.tags.thread, tags >> self.tags.shift
        me = (mine & self.tags.thread)[:, None]
        found = thread == me
        found |= (self.tags.warp(thread) == me >> 5) & (time < since[:, None])
        if self.block:
            same = (thread // self.block == me // self.block) & (
                thread != self.tags.many
            )
            found |= same & (time < self.start)
        return found

    # ---- who wrote, who read ----

    def read(self, at: Array, mine: Array, since: Array) -> Trouble | None:
        """Note that threads read grains; return the first that may not, and why."""
        tags = self.written.take(at, mode="clip")
        if tags.min() < 0 or tags.max() >= self.low:
            bad = (tags >= self.low) & (tags != mine[:, None])
            if bad.any():
                bad &= ~self._innocent(tags, mine, since)
            bad |= tags < 0
            if bad.any():
                return self._trouble(bad, tags, "written")
        if self.read_by is not None:
            self.pending.append((at, mine))
            if len(self.pending) > PENDING:
                self._settle(self.read_by)
        return None

    def _settle(self, read_by: Array) -> None:
        """Note the pending readers of grains: one of them, or that there are many."""
        if self.tags.several is not None:
            self._settle_by_warp(read_by)
            return
        at = np.concatenate([at.reshape(-1) for at, _ in self.pending])
        mine = np.concatenate([mine.repeat(at.shape[1]) for at, mine in self.pending])
        self.pending.clear()
        many = self.low | self.tags.many
        old = read_by.take(at)
        new = np.where((old >= self.low) & (old != mine), many, mine)
        read_by[at] = new
        read_by[at[read_by.take(at) != new]] = many  # several at once

    def _settle_by_warp(self, read_by: Array) -> None:
        """The same where warps meet: tell apart whether all readers are of one warp."""
        for at, mine in self.pending:
            for grains in at.T:
                for lane in range(32):  # of a warp, one after the other
                    own = (mine & 31) == lane
                    self._settle_some(read_by, grains[own], mine[own])
        self.pending.clear()

    def _settle_some(self, read_by: Array, at: Array, mine: Array) -> None:
        """Note readers of which no two are of one warp."""
        old = read_by.take(at)
        thread, me = old & self.tags.thread, mine & self.tags.thread
        two = (old >= self.low) & (thread != me)
        time = mine - me
        one_warp = self.tags.warp(thread) == (me >> 5)
        several = (self.tags.several or 0) + (me >> 5)
        who = np.where(two, np.where(one_warp, several, self.tags.many), me)
        read_by[at] = time + who
        lost = read_by.take(at) != time + who  # another warp as well
        read_by[at[lost]] = self.low | self.tags.many

    def write(
        self, at: Array, mine: Array, since: Array, tag: int | None = None
    ) -> Trouble | None:
        """Note that threads write grains, or copy to them (`tag`), like `read`."""
        found = self._may_write(at, mine, since, 0)
        if found:
            return found
        self.written[at] = mine[:, None]
        bad = self.written.take(at) != mine[:, None]
        if bad.any():
            return (
                int(np.argwhere(bad)[0][0]),
                "race",
                "written twice by one instruction",
            )
        if tag is not None:
            self.written[at] = tag
        return None

    def _may_write(
        self, at: Array, mine: Array, since: Array, atomic: int
    ) -> Trouble | None:
        """Return the first access that is not allowed; `atomic` ones bear each other."""
        tags = self.written.take(at, mode="clip")
        bad = (tags >= self.low) & (tags != mine[:, None])
        if bad.any():
            bad &= ~self._innocent(tags, mine, since)
            bad &= (tags & atomic) == 0
        bad |= (tags <= GIVEN) & (tags != NEVER)
        if atomic:
            bad |= tags == NEVER
        if bad.any():
            return self._trouble(bad, tags, "written")
        if self.read_by is None:
            return None
        if self.pending:
            self._settle(self.read_by)
        old = self.read_by.take(at)
        bad = (old >= self.low) & (old != mine[:, None])
        if bad.any():
            bad &= ~self._innocent(old, mine, since)
        return self._trouble(bad, old, "read") if bad.any() else None

    def atomic(self, at: Array, mine: Array, since: Array) -> Trouble | None:
        """Note that threads change grains by atomic operations, like `read`."""
        found = self._may_write(at, mine, since, self.tags.atomic)
        if found:
            return found
        old = self.written.take(at)
        thread, me = old & self.tags.thread, (mine & self.tags.thread)[:, None]
        others = (old & self.tags.atomic != 0) & (old >= self.low) & (thread != me)
        time = mine[:, None] & ~self.tags.thread
        new = np.where(others, time | self.tags.many, mine[:, None]) | self.tags.atomic
        self.written[at] = new
        lost = self.written.take(at) != new  # several threads at once
        self.written[at[lost]] = (time | self.tags.many | self.tags.atomic)[0, 0]
        return None

    def _trouble(self, bad: Array, tags: Array, what: str) -> Trouble:
        thread, grain = np.argwhere(bad)[0]
        tag = int(tags[thread, grain])
        if tag <= GIVEN:
            return int(thread), WHY[tag], ""
        return (
            int(thread),
            "race",
            f"{what} by {self.tags.name(tag)}, and no barrier since",
        )

    def name_of(self, byte: int) -> str:
        """Return the array that a place is in or near, and where in it."""
        byte %= self.window

        def distance(entry: tuple[str, int, int]) -> int:
            _, at, size = entry
            return max(at - byte, byte - at - size + 1, 0)

        if not self.places:
            return f"byte {byte} of {self.name} memory, which has none"
        name, at, size = min(self.places, key=distance)
        return f"byte {byte - at} of {name}, which has {size}"
