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

# What an access is. PAST is a strong store that another store has overwritten, or any
# access before a plain store that replaced it, by the same thread or one that knew it:
# another plain store races with it, even of what is there now.
WRITE, STRONG, NARROW, PAST = 1, 2, 4, 8
SIZE = 4  # the bits below the size
LANES = 0xFFFFFFFF
FULL = (
    "so many threads touch it in no order that some are forgotten, and races with them"
)
LARGEST, BYTES = 1 << 30, 21  # the most bytes of all slots, and those of one


class Old(NamedTuple):
    """Remembered accesses to what is accessed now, one after the other."""

    access: Array  # the number of the access that finds it
    slot: Array
    when: Array
    who: Array  # the number of a warp, and in its lower half a bit for each lane
    kind: Array
    by: Array  # the number of the instruction

    def of(self, some: Array) -> "Old":
        """Return those that some of the accesses find, which are counted anew."""
        keep = some[self.access]
        number = np.cumsum(some) - 1
        return Old(number[self.access[keep]], *(column[keep] for column in self[1:]))


class Slots:
    """The accesses that are remembered: for each grain, a piece of some long columns.

    A piece grows to twice its width when it is full, at the end of the columns. A slot
    that is empty has `who` 0.

    Attributes
    ----------
    start, width : ndarray
        The first slot of each grain, and how many it has.
    used : int
        How many slots belong to a grain, or did before it got more.
    columns : list of ndarray
        Those of `Old`: when, who, kind, by.
    """

    def __init__(self, grains: int) -> None:
        self.start, self.width = (np.zeros(grains, "i8") for _ in range(2))
        self.used, self.columns = 0, [np.zeros(0, x) for x in ("i8", "i8", "u1", "i4")]

    @property
    def who(self) -> Array:
        return self.columns[1]

    @property
    def kind(self) -> Array:
        return self.columns[2]

    def of(self, grains: Array) -> tuple[Array, Array]:
        """Return all slots of some grains, and for each which of `grains` has it."""
        width = self.width.take(grains)
        which = np.repeat(np.arange(len(grains)), width)
        first = self.start.take(grains) - (np.cumsum(width) - width)
        return np.arange(len(which)) + first.take(which), which

    def at(self, grains: Array) -> Old:
        """Return the accesses to some grains that are remembered."""
        slot, access = self.of(grains)
        some = np.flatnonzero(self.who.take(slot))
        slot = slot[some]
        return Old(access[some], slot, *(column.take(slot) for column in self.columns))

    def empty(self, grains: Array) -> tuple[Array, Array]:
        """Return the empty slots of some grains, and how many each of them has."""
        slot, which = self.of(grains)
        some = self.who.take(slot) == 0
        return slot[some], np.bincount(which[some], minlength=len(grains))

    def widen(self, grains: Array, least: Array) -> None:
        """Give some grains more slots, so many at least."""
        old, which = self.of(grains)
        width = 1 << np.ceil(np.log2(least)).astype("i8")
        start = self.used + np.cumsum(width) - width
        self.used += int(width.sum())
        more = max(0, self.used - len(self.who))
        new = old + (start - self.start[grains])[which]
        for i, column in enumerate(self.columns):
            if more:
                zeros = np.zeros(max(more, len(column)), column.dtype)
                self.columns[i] = column = np.concatenate([column, zeros])
            column[new] = column[old]
        self.start[grains], self.width[grains] = start, width


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
        # By the grain, time and lanes of a strong store: when lanes read what it stored.
        self.seen: dict[tuple[int, int, int], list[tuple[int, int]]] = {}

    def clear(self) -> None:
        super().clear()
        self.slots = Slots(len(self.written))

    def barrier(self) -> None:
        """The order knows of barriers."""

    # ---- accesses ----

    def read(self, touch: Touch) -> Trouble | None:
        return self._record(touch, self._kind(touch, 0))

    def write(self, touch: Touch, tag: Any = None) -> Trouble | None:
        found = self._record(touch, self._kind(touch, WRITE))
        if found is None:
            self.written[touch.at] = CHANGEABLE if tag is None else tag
            self.by[touch.at] = touch.number
        return found

    def atomic(self, touch: Touch) -> Trouble | None:
        return self._record(touch, self._kind(touch, WRITE))

    def land(self, touch: Touch) -> None:
        """A copy arrives, whoever may have touched the place while it was under way."""
        self.written[touch.at] = CHANGEABLE
        at, lanes = touch.at.reshape(-1), np.repeat(touch.lanes, touch.at.shape[1])
        old = self.slots.at(at)
        known = self.order.knows(lanes[old.access], old.when, old.who)
        differs = np.ones(len(known), bool)
        self._enter(at, lanes, touch, WRITE, known, old, differs)

    def _kind(self, touch: Touch, write: int) -> int:
        strong = touch.strong * (STRONG | NARROW * touch.narrow)
        return write | strong | (touch.size.bit_length() << SIZE) * touch.strong

    def _record(self, touch: Touch, kind: int) -> Trouble | None:
        """Remember accesses; return the first that is not allowed, and why."""
        status = self.written.take(touch.at, mode="clip")
        if found := self._by_status(status, kind, touch):
            return found
        each = touch.at.shape[1]
        which = np.flatnonzero(status != GIVEN)  # which nobody may write
        at, lanes = touch.at.reshape(-1)[which], touch.lanes[which // each]
        if not len(at):
            return None
        old = self.slots.at(at)
        known = self.order.knows(lanes[old.access], old.when, old.who)
        again = np.zeros(len(known), bool)  # the same bytes by the same instruction
        if kind & (WRITE | STRONG) == WRITE and touch.stored is not None:
            same = touch.stored.found(self.grain).reshape(-1)
            again = same[old.access] & self._same_site(old.by, touch)
        if found := self._race(touch, kind, at, lanes, known, old, again):
            access, what = found
            return int(which[access]) // each, "race", what
        if kind & (WRITE | STRONG) == STRONG:
            open_ = np.flatnonzero((old.kind & WRITE != 0) & ~known)
            self._see(open_, old, at, lanes, which // each)
        if kind & WRITE and kind & STRONG:
            self._enter_in_turn(at, lanes, touch, kind, known, old)
        else:
            self._enter(at, lanes, touch, kind, known, old, ~again)
        return self._narrow(at, lanes, each) if kind & NARROW else None

    def _race(
        self, touch: Touch, kind: int, at: Array, lanes: Array, known: Array, old: Old,
        again: Array,
    ) -> tuple[int, str] | None:  # fmt: skip
        """Return the first access that races, and with what."""
        plain, each = kind & (WRITE | STRONG) == WRITE, touch.at.shape[1]
        bad = ~known & self._conflicts(kind, old, lanes)
        if plain and bad.any():
            benign = bad & again & (old.kind & (WRITE | STRONG | PAST) == WRITE)
            bad &= ~benign
            self._note_benign(old.access[benign], each)
        if bad.any() and self.seen:
            self._forgive_seen(bad, old, at, lanes)
        if bad.any():
            entry = int(np.flatnonzero(bad)[0])
            return int(old.access[entry]), self._who(old, entry, lanes)
        return self._twice(touch, at, each) if plain else None

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
        tag = int(status[access, grain])
        return int(access), WHY[tag], self.copied(tag, int(touch.at[access, grain]))

    def _conflicts(self, kind: int, old: Old, lanes: Array) -> Array:
        """Return which old accesses race with new ones, if nothing orders them."""
        writes = (old.kind | kind) & WRITE != 0
        both = (old.kind & kind & STRONG != 0) & ((old.kind ^ kind) >> SIZE == 0)
        if both.any() and ((old.kind | kind) & NARROW).any():
            block = old.who // (self.lanes.padded // WARP << WARP)
            own = self.lanes.everywhere[lanes[old.access]] // self.lanes.padded
            both &= ((old.kind | kind) & NARROW == 0) | (block == own)
        past = old.kind & (PAST | STRONG) == PAST
        if kind & (WRITE | STRONG) == WRITE:
            past = np.zeros_like(past)
        return writes & ~both & ~past

    def _twice(self, touch: Touch, at: Array, each: int) -> tuple[int, str] | None:
        """Return a thread that stores elsewhere than others of the same instruction.

        Several may store the same number at one place.
        """
        order = np.argsort(at, kind="stable")
        again = np.zeros(len(at), bool)
        again[order[1:]] = at[order[1:]] == at[order[:-1]]
        if not again.any():
            return None
        bad = again
        if touch.stored is not None:
            touch.stored.put()
            bad = ~touch.stored.found(self.grain).reshape(-1)
        if bad.any():
            return int(np.flatnonzero(bad)[0]), "written twice by one instruction"
        self._note_benign(np.flatnonzero(again), each)
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

    def _note_benign(self, accesses: Array, each: int) -> None:
        if len(accesses):
            self.notes.append(("benign", int(accesses[0]) // each, SAME))

    def _see(
        self, open_: Array, old: Old, at: Array, lanes: Array, which: Array
    ) -> None:
        """Note strong loads of what other threads store, in no order, and no release.

        What is stored there happens before whatever the thread does after the load
        ("observation order" in NVIDIA's manual).
        """
        for entry in open_[old.kind[open_] & PAST == 0].tolist():
            thread = int(self.lanes.everywhere[lanes[old.access[entry]]])
            who = thread // WARP << WARP | 1 << thread % WARP
            readers = self.seen.setdefault(_key(old, entry, at), [])
            if all(who != other for _, other in readers):
                readers.append((self.order.now, who))
        for entry in open_.tolist():
            access = int(old.access[entry])
            if (self.name, int(at[access]) << self.lg) in self.order.left:
                continue  # the store released something, and the load has learnt it
            what = f"{self._who(old, entry, lanes)}: other runs may read another number"
            self.notes.append(("unmodelled", int(which[access]), what))
            return

    def _forgive_seen(self, bad: Array, old: Old, at: Array, lanes: Array) -> None:
        """Take out of `bad` what a strong load saw that the thread knows."""
        for entry in np.flatnonzero(bad & (old.kind & STRONG != 0)).tolist():
            readers = np.array(self.seen.get(_key(old, entry, at), []), "i8")
            lane = np.repeat(lanes[old.access[entry]], len(readers))
            if len(readers) and self.order.knows(lane, *readers.T).any():
                bad[entry] = False

    # ---- slots ----

    def _enter_in_turn(
        self, at: Array, lanes: Array, touch: Touch, kind: int, known: Array, old: Old
    ) -> None:
        """Put strong writes into slots, of which those of one grain are one by one.

        An update whose result is read sees the ones before, and stands for them. A store
        overwrites them.
        """
        order = np.argsort(at, kind="stable")
        last = np.zeros(len(at), bool)
        last[order[np.append(np.diff(at[order]) != 0, True)]] = True
        chain = old.kind & (WRITE | STRONG | PAST) == WRITE | STRONG
        if touch.observes:
            known = known | chain
        elif touch.changes:
            last[:] = True
        else:
            self.slots.kind[old.slot[chain]] |= PAST
            if not last.all():
                self._enter_some(~last, at, lanes, touch, kind | PAST, known, old)
                old = self.slots.at(at)
                known = self.order.knows(lanes[old.access], old.when, old.who)
        self._enter_some(last, at, lanes, touch, kind, known, old)

    def _enter_some(
        self, some: Array, at: Array, lanes: Array, touch: Touch, kind: int, known: Array,
        old: Old,
    ) -> None:  # fmt: skip
        known, old = known[some[old.access]], old.of(some)
        self._enter(
            at[some], lanes[some], touch, kind, known, old, np.zeros_like(known)
        )

    def _enter(
        self, at: Array, lanes: Array, touch: Touch, kind: int, known: Array, old: Old,
        differs: Array,
    ) -> None:  # fmt: skip
        """Put accesses into slots, and drop those that they stand for as well."""
        alike, past = self._replaced(kind, old, differs)
        drop, past = alike & known, past & known
        if kind & (WRITE | STRONG) == WRITE:
            changes = np.zeros(len(at), bool)
            changes[old.access[past]] = True
            drop &= (old.kind & PAST == 0) | changes[old.access]
        every, kinds = self.slots.who, self.slots.kind
        every[old.slot[drop]] = 0
        kinds[old.slot[past]] |= PAST
        # Of the same warp, each lane that comes again stands for itself at least.
        grain, who, first, group = self._by_warp(at, lanes)
        leads = np.zeros(len(at), bool)
        leads[first] = True
        comes = who[group[old.access]]
        own = leads[old.access] & alike & (old.who >> WARP == comes >> WARP)
        own &= kinds[old.slot] & PAST == 0
        mine = old.slot[own]
        left = every[mine] & ~(comes[own] & LANES)
        every[mine] = np.where(left & LANES, left, 0)
        self._put(grain, who, kind, touch.number)

    def _by_warp(self, at: Array, lanes: Array) -> tuple[Array, Array, Array, Array]:
        """Return the groups of accesses of a warp to a grain, and the group of each access.

        Of the groups, in the order of the grains: the grain, `who`, and the first access.
        """
        warps = self.lanes.count // WARP
        order = np.argsort(at * warps + lanes // WARP, kind="stable")
        grain, warp = at[order], self.lanes.everywhere[lanes[order]] // WARP
        starts = np.ones(len(at), bool)
        starts[1:] = (grain[1:] != grain[:-1]) | (warp[1:] != warp[:-1])
        group = np.empty(len(at), "i8")
        group[order] = np.cumsum(starts) - 1
        bits = np.int64(1) << self.lanes.lane[lanes[order]].astype("i8")
        mask = np.bitwise_or.reduceat(bits, np.flatnonzero(starts))
        return grain[starts], warp[starts] << WARP | mask, order[starts], group

    def _put(self, grain: Array, who: Array, kind: int, number: int) -> None:
        """Put accesses into empty slots of their grains, which are in order."""
        first = np.flatnonzero(np.diff(grain, prepend=-1))  # of those to one grain
        needs = np.diff(first, append=len(grain))
        own = np.repeat(np.arange(len(first)), needs)
        rank = np.arange(len(grain)) - first[own]
        slot, count = self.slots.empty(grain[first])
        if (lacks := needs > count).any():
            short = grain[first[lacks]]
            if self.slots.used * BYTES < LARGEST:
                least = self.slots.width[short] + (needs - count)[lacks]
                self.slots.widen(short, least)
                slot, count = self.slots.empty(grain[first])
            else:
                self.notes.append(("unmodelled", 0, FULL))
                some = rank < count[own]
                who, own, rank = who[some], own[some], rank[some]
        slot = slot[(np.cumsum(count) - count)[own] + rank]
        for column, value in zip(
            self.slots.columns, (self.order.now, who, kind, number)
        ):
            column[slot] = value

    def _replaced(self, kind: int, old: Old, differs: Array) -> tuple[Array, Array]:
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

    def _who(self, old: Old, entry: int, lanes: Array) -> str:
        """Return what another access was, who made it, and where."""
        who, kind = int(old.who[entry]), int(old.kind[entry])
        warp, mask, each = who >> WARP, who & LANES, self.lanes.padded // WARP
        name = "several threads"
        if mask & (mask - 1) == 0:
            name = f"thread {warp % each * WARP + mask.bit_length() - 1}"
        lane = lanes[old.access[entry]]
        if warp // each != int(self.lanes.everywhere[lane]) // self.lanes.padded:
            name += f" of block {self.lanes.index_of(warp // each)}"
        number = int(old.by[entry])
        atomic = self.instructions[number].words[0] in ("atom", "red")
        how = ", by an atomic operation" if atomic else ", by a strong access"
        how = how if kind & STRONG else ""
        line = self.on_line(number)
        what = "written" if kind & WRITE else "read"
        return f"{what} by {name}{how}{line}, and nothing orders the two"


def _key(old: Old, entry: int, at: Array) -> tuple[int, int, int]:
    """Return what identifies an access that is remembered."""
    return int(at[old.access[entry]]), int(old.when[entry]), int(old.who[entry])
