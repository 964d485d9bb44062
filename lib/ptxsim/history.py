"""Memory that remembers every access that could still race with a later one.

`memory.Space` remembers enough for kernels whose threads meet at block barriers only. Where
they synchronize in other ways as well, who knows what differs from thread to thread
(`order`), so this one keeps the accesses themselves. Each grain has slots; a slot holds the
accesses that lanes of one warp made at one time. An access that is ordered before a new one
is dropped if whatever races with it races with the new one as well.
"""

from typing import Any, NamedTuple

import numpy as np

from ptxsim.lanes import WARP, Lanes
from ptxsim.memory import (
    CHANGEABLE,
    GIVEN,
    IN_GRID,
    NEVER,
    SAME,
    WHY,
    Array,
    Space,
    Touch,
    Trouble,
)  # fmt: skip
from ptxsim.order import Order

# What an access is. PAST is an access before a plain store that replaced it, by the same
# thread or one that knew it: another store races with it, even of what is there now.
WRITE, STRONG, NARROW, PAST = 1, 2, 4, 8
SIZE = 4  # the bits below the size
LANES = 0xFFFFFFFF
FULL = (
    "so many threads touch it in no order that some are forgotten, and races with them"
)
LARGEST = 1 << 30  # bytes of slots


class Slots(NamedTuple):
    """The accesses that are remembered: (slots, grains). An empty slot has `who` 0."""

    when: Array
    who: Array  # the number of a warp, and in its lower half a bit for each lane
    kind: Array
    by: Array  # the number of the instruction

    @classmethod
    def empty(cls, count: int, grains: int) -> "Slots":
        """Return slots without accesses."""
        return cls(*(np.zeros((count, grains), x) for x in ("i8", "i8", "u1", "i4")))

    def at(self, grains: Array) -> "Slots":
        """Return copies of the slots of some grains."""
        return Slots(*(column[:, grains] for column in self))


class History(Space):
    """A state space whose record is exact.

    Attributes
    ----------
    order : Order
    """

    def __init__(
        self, name: str, base: int, grain: int, gap: int, lanes: Lanes, order: Order
    ) -> None:
        super().__init__(name, base, grain, IN_GRID, gap, lanes)
        self.order = order

    def clear(self) -> None:
        super().clear()
        self.slots = Slots.empty(1, len(self.written))

    def barrier(self) -> None:
        """The order knows of barriers."""

    # ---- accesses ----

    def read(self, touch: Touch) -> Trouble | None:
        return self._record(touch, self._kind(touch, 0))

    def write(self, touch: Touch, tag: Any = None) -> Trouble | None:
        found = self._record(touch, self._kind(touch, WRITE))
        if found is None:
            self.written[touch.at] = CHANGEABLE if tag is None else tag
        return found

    def atomic(self, touch: Touch) -> Trouble | None:
        return self._record(touch, self._kind(touch, WRITE))

    def land(self, touch: Touch) -> None:
        """A copy arrives, whoever may have touched the place while it was under way."""
        self.written[touch.at] = CHANGEABLE
        at, lanes = touch.at.reshape(-1), np.repeat(touch.lanes, touch.at.shape[1])
        old = self.slots.at(at)
        known = self.order.knows(lanes, old.when.T, old.who.T).T
        differs = np.ones(old.by.shape, bool)
        self._enter(at, lanes, touch._replace(number=-1), WRITE, known, old, differs)

    def _kind(self, touch: Touch, write: int) -> int:
        strong = touch.strong * (STRONG | NARROW * touch.narrow)
        return write | strong | (touch.size.bit_length() << SIZE) * touch.strong

    def _record(self, touch: Touch, kind: int) -> Trouble | None:
        """Remember accesses; return the first that is not allowed, and why."""
        status = self.written.take(touch.at, mode="clip")
        if found := self._by_status(status, kind, touch):
            return found
        each = touch.at.shape[1]
        at, lanes = touch.at.reshape(-1), np.repeat(touch.lanes, each)
        if not kind & WRITE:  # nobody may write what is given
            some = status.reshape(-1) != GIVEN
            at, lanes = at[some], lanes[some]
            if not len(at):
                return None
        old = self.slots.at(at)
        known = self.order.knows(lanes, old.when.T, old.who.T).T
        plain = kind & (WRITE | STRONG) == WRITE
        again = np.zeros(old.by.shape, bool)  # the same bytes by the same instruction
        if plain and touch.stored is not None:
            same = touch.stored.found(self.grain).reshape(-1)
            again = same & (old.by == touch.number)
        bad = (old.who != 0) & ~known & self._conflicts(kind, old, lanes)
        if plain and bad.any():
            benign = bad & again & (old.kind & (WRITE | STRONG | PAST) == WRITE)
            bad &= ~benign
            self._note_benign(benign.any(0), each)
        if bad.any():
            access, slot = np.argwhere(bad.T)[0]
            first = access if kind & WRITE else np.flatnonzero(some)[access]
            return int(first) // each, "race", self._who(old, slot, access, lanes)
        if kind & (WRITE | STRONG) == STRONG:
            self._note_open((old.kind & WRITE != 0) & ~known, old, lanes, each)
        if plain and (found := self._twice(touch, at, each)):
            return found
        self._enter(at, lanes, touch, kind, known, old, ~again)
        return self._narrow(at, lanes, each) if kind & NARROW else None

    def _by_status(self, status: Array, kind: int, touch: Touch) -> Trouble | None:
        """Return the first access to what may not be touched at all."""
        bad = status < NEVER
        if kind & WRITE:
            bad |= status == GIVEN
        if not kind & WRITE or touch.changes:
            bad |= status == NEVER
        if not bad.any():
            return None
        access, grain = np.argwhere(bad)[0]
        return int(access), WHY[int(status[access, grain])], ""

    def _conflicts(self, kind: int, old: Slots, lanes: Array) -> Array:
        """Return which old accesses race with new ones, if nothing orders them."""
        writes = (old.kind | kind) & WRITE != 0
        both = (old.kind & kind & STRONG != 0) & ((old.kind ^ kind) >> SIZE == 0)
        if both.any() and ((old.kind | kind) & NARROW).any():
            block = old.who // (self.lanes.padded // WARP << WARP)
            own = self.lanes.everywhere[lanes] // self.lanes.padded
            both &= ((old.kind | kind) & NARROW == 0) | (block == own)
        past = old.kind & PAST != 0
        if kind & (WRITE | STRONG) == WRITE:
            past = np.zeros_like(past)
        return writes & ~both & ~past

    def _twice(self, touch: Touch, at: Array, each: int) -> Trouble | None:
        """Return a thread that stores elsewhere than others of the same instruction.

        Several may store the same number at one place.
        """
        if len(np.unique(at)) == len(at):
            return None
        bad, again = np.ones(len(at), bool), np.ones(len(at), bool)
        order = np.argsort(at, kind="stable")
        again[order[1:]] = at[order[1:]] == at[order[:-1]]
        again[order[0]] = False
        if touch.stored is not None:
            touch.stored.put()
            bad = ~touch.stored.found(self.grain).reshape(-1)
        else:
            bad = again
        if bad.any():
            first = int(np.flatnonzero(bad)[0]) // each
            return first, "race", "written twice by one instruction"
        self._note_benign(again, each)
        return None

    def _narrow(self, at: Array, lanes: Array, each: int) -> Trouble | None:
        """Return an atomic operation for its block only, where another block has one."""
        block = lanes // self.lanes.padded
        order = np.lexsort((block, at))
        a, b = order[:-1], order[1:]
        bad = b[(at[a] == at[b]) & (block[a] != block[b])]
        if not len(bad):
            return None
        return int(bad[0]) // each, "race", "written by another block at the same time"

    def _note_benign(self, which: Array, each: int) -> None:
        if which.any():
            self.notes.append(("benign", int(np.flatnonzero(which)[0]) // each, SAME))

    def _note_open(self, open_: Array, old: Slots, lanes: Array, each: int) -> None:
        """Note a strong load of what another thread stores, in no order."""
        if open_.any():
            access, slot = np.argwhere(open_.T)[0]
            what = f"{self._who(old, slot, access, lanes)}: other runs may read another"
            self.notes.append(("unmodelled", int(access) // each, f"{what} number"))

    # ---- slots ----

    def _enter(
        self, at: Array, lanes: Array, touch: Touch, kind: int, known: Array, old: Slots,
        differs: Array,
    ) -> None:  # fmt: skip
        """Put accesses into slots, and drop those that they stand for as well."""
        alike, past = self._replaced(kind, old, differs)
        drop, past = alike & known & (old.who != 0), past & known & (old.who != 0)
        if kind & (WRITE | STRONG) == WRITE:
            drop &= (old.kind & PAST == 0) | past.any(0)
        warps = self.lanes.count // WARP
        key = at * warps + lanes // WARP
        order = np.argsort(key, kind="stable")
        starts = np.flatnonzero(np.diff(key[order], prepend=-1))
        bits = np.int64(1) << self.lanes.lane[lanes].astype("i8")
        first = order[starts]
        grain = at[first]
        who = (
            self.lanes.everywhere[lanes[first]] // WARP << WARP
        ) | np.bitwise_or.reduceat(bits[order], starts)
        for slot in range(len(old.who)):
            self.slots.who[slot, at[drop[slot]]] = 0
            self.slots.kind[slot, at[past[slot]]] |= PAST
            # Of the same warp, each lane that comes again stands for itself at least.
            before = self.slots.who[slot, grain]
            own = (before >> WARP == who >> WARP) & alike[slot, first]
            own &= self.slots.kind[slot, grain] & PAST == 0
            left = before & ~(who & LANES)
            left = np.where(left & LANES, left, 0)
            self.slots.who[slot, grain[own]] = left[own]
        again = np.flatnonzero(
            np.diff(grain, prepend=-1)
        )  # the first warp at each grain
        rank = np.arange(len(grain)) - np.repeat(again, np.diff([*again, len(grain)]))
        for turn in range(int(rank.max()) + 1):
            chosen = rank == turn
            self._put(grain[chosen], who[chosen], kind, touch.number)

    def _put(self, grain: Array, who: Array, kind: int, number: int) -> None:
        """Put one access into each of some grains, in the first slot that is empty."""
        free = self.slots.who[:, grain] == 0
        if not free.any(0).all():
            if self.slots.who.size * 21 > LARGEST:
                self.notes.append(("unmodelled", 0, FULL))
                keep = free.any(0)
                grain, who, free = grain[keep], who[keep], free[:, keep]
            else:
                more = Slots.empty(len(self.slots.who), self.slots.who.shape[1])
                both = zip(self.slots, more)
                self.slots = Slots(*(np.concatenate(pair) for pair in both))
                free = self.slots.who[:, grain] == 0
        slot = free.argmax(0)
        self.slots.when[slot, grain] = self.order.now
        self.slots.who[slot, grain] = who
        self.slots.kind[slot, grain] = kind
        self.slots.by[slot, grain] = number

    def _replaced(self, kind: int, old: Slots, differs: Array) -> tuple[Array, Array]:
        """Return which old accesses new ones stand for, and which become PAST instead."""
        none = np.zeros_like(differs)
        if kind & (WRITE | STRONG) == WRITE:
            same = ~differs & (old.kind & (WRITE | STRONG) == WRITE)
            past = (old.kind & PAST == 0) & ~same
            return ~past, past
        if not kind & STRONG:
            return old.kind & WRITE == 0, none
        alike = (old.kind & STRONG != 0) & ((old.kind ^ kind) >> SIZE == 0)
        if not kind & NARROW:
            alike &= old.kind & NARROW == 0
        return alike & (old.kind & WRITE <= kind & WRITE), none

    def _who(self, old: Slots, slot: int, access: int, lanes: Array) -> str:
        """Return what another access was, who made it, and where."""
        who, kind = int(old.who[slot, access]), int(old.kind[slot, access])
        warp, mask, each = who >> WARP, who & LANES, self.lanes.padded // WARP
        name = "several threads"
        if mask & (mask - 1) == 0:
            name = f"thread {warp % each * WARP + mask.bit_length() - 1}"
        if (
            warp // each
            != int(self.lanes.everywhere[lanes[access]]) // self.lanes.padded
        ):
            name += f" of block {self.lanes.index_of(warp // each)}"
        how = ", by an atomic operation" if kind & STRONG else ""
        line = self.on_line(int(old.by[slot, access]))
        what = "written" if kind & WRITE else "read"
        return f"{what} by {name}{how}{line}, and nothing orders the two"
