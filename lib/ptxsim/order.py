"""The happens-before relation of threads that synchronize by more than block barriers.

Time goes on at every barrier, fence and meeting of a warp. An access has the time at
which it was made, and a thread *knows* another thread's accesses up to some time: they
happen before whatever it does next. It knows

- its own accesses;
- those of its block before the block's last barrier (`floor`). A barrier does not wait for
  a thread that has ended, so of such a thread it orders what a thread at it knew;
- those of its warp before the last ``bar.warp.sync`` of the whole warp (`warp`);
- what its vector clock covers (`clock`): what it learnt from some lanes of its warp, at a
  barrier for a number of threads, or through memory.

Through memory it goes like this. A fence *publishes* what its thread knows. The next atomic
operation or strong store (volatile, relaxed, release) of that thread leaves that at its
address; a release leaves there what the thread knows by then. Who reads the address by an
atomic operation or a strong load learns it. Atomic operations add to what is left there,
stores replace it. A reduction, or an atomic operation whose result nobody reads, learns
nothing. What has the scope ``.cta`` is for the block only. A barrier passes on what threads
have published, too. These are the rules of blocksim, and of the CUDA programming guide's
example with a ticket, where the thread that draws the last one needs no fence of its own.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ptxsim.lanes import WARP, Lanes

Array = NDArray[Any]
FOREVER = 2**62
MOST_CLOCKS = (
    20_000  # kept at a time, before those that nobody has any more are dropped
)
NOTHING = 0, 0, 0  # what is left at an address at first
BITS = np.arange(WARP)


class Clock(NamedTuple):
    """A vector clock: for threads, and for whole blocks, the first time not covered.

    A key is the number of a thread in the grid, or −1 less the number of a block.
    """

    keys: Array  # ascending
    until: Array

    def of(self, keys: Array) -> Array:
        """Return until when the clock covers threads or blocks."""
        place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[place] == keys, self.until[place], 0)

    def equals(self, other: "Clock") -> bool:
        """Return whether two clocks cover the same."""
        same = len(self.keys) == len(other.keys) and (self.keys == other.keys).all()
        return bool(same and (self.until == other.until).all())


def merged(*clocks: Clock) -> Clock:
    """Return a clock that covers what any of some clocks covers."""
    keys = np.concatenate([clock.keys for clock in clocks])
    until = np.concatenate([clock.until for clock in clocks])
    own, place = np.unique(keys, return_inverse=True)
    latest = np.zeros(len(own), "i8")
    np.maximum.at(latest, place, until)
    return Clock(own, latest)


class Knowledge:
    """What each lane knows, or what it has published: times, and the number of a clock.

    Attributes
    ----------
    time : ndarray
        Until when the lane's own accesses are covered; 0 if nothing is published.
    floor, warp, clock : ndarray
    """

    def __init__(self, count: int) -> None:
        self.time, self.floor, self.warp = (np.zeros(count, "i8") for _ in range(3))
        self.clock = np.zeros(count, "i4")

    def clear(self) -> None:
        for column in (self.time, self.floor, self.warp, self.clock):
            column[:] = 0


class Order:
    """What is ordered in a batch of blocks.

    Attributes
    ----------
    now : int
    known : Knowledge
        What each lane knows; its `time` is not used.
    published : dict of str to Knowledge
        What each lane has published: by "cta" for its block, by "gpu" for all.
    left : dict
        By state space and byte: the clocks that were left at an address, for all and for
        one block, and the number of that block.
    sealed : ndarray
        Of threads that have ended: until when barriers order what they did.
    """

    def __init__(self, lanes: Lanes) -> None:
        self.lanes, self.now = lanes, 1
        self.clocks: list[Clock] = [
            Clock(np.zeros(1, "i8") - FOREVER, np.zeros(1, "i8"))
        ]
        self.numbers: dict[tuple[int, ...], int] = {}
        self.known = Knowledge(lanes.count)
        self.published = {scope: Knowledge(lanes.count) for scope in ("cta", "gpu")}
        self.left: dict[tuple[str, int], tuple[int, int, int]] = {}
        self.learnt: dict[tuple[tuple[str, int], int], tuple[int, int, int]] = {}
        self.released: dict[tuple[tuple[str, int], int], tuple[int, int]] = {}
        self.sealed = np.full(lanes.count, FOREVER)
        self.ending = np.zeros(lanes.count, bool)  # ended since their last barrier
        self.some_sealed = False
        self.fenced = False  # whether anything has been published at all

    def begin_batch(self) -> None:
        """Forget the lanes of the last batch; what was left in memory stays."""
        self.known.clear()
        for published in self.published.values():
            published.clear()
        self.left = {key: x for key, x in self.left.items() if key[0] != "shared"}
        self.learnt.clear()
        self.released.clear()
        self.sealed[:] = FOREVER
        self.ending[:] = self.some_sealed = False
        self.now += 1

    # ---- who knows what ----

    def knows(self, lanes: Array, when: Array, who: Array) -> Array:
        """Return where a lane knows an access.

        `who` holds the number of a warp in the grid, and in its lower half a bit for each
        lane that made the access.
        """
        place = self.lanes
        warp, mask = who >> WARP, who & 0xFFFFFFFF
        own = place.everywhere[lanes] // WARP
        same = warp == own
        mask = np.where(same, mask & ~(1 << place.lane[lanes].astype("i8")), mask)
        over = same & (when < self.known.warp[lanes])
        each = place.padded // WARP
        before = (warp // each == own // each) & (when < self.known.floor[lanes])
        if self.some_sealed:
            mask = np.where(before, mask & self._unsealed(warp, when, before), mask)
        else:
            over |= before
        knows = over | (mask == 0)
        rest = np.flatnonzero(~knows)
        clock = self.known.clock[lanes[rest]]
        for number in np.unique(clock).tolist():
            if number:
                some = rest[clock == number]
                clock_ = self.clocks[number]
                knows[some] = self._covers(clock_, warp[some], mask[some], when[some])
        return knows

    def _unsealed(self, warp: Array, when: Array, which: Array) -> Array:
        """Return the lanes of warps whose accesses no barrier has ordered, as bits."""
        first = (warp - self.lanes.first * (self.lanes.padded // WARP)) * WARP
        first = np.where(which, first, 0)
        open_ = self.sealed[first[..., None] + BITS] <= when[..., None]
        return (open_ << BITS).sum(-1)

    def _covers(self, clock: Clock, warp: Array, mask: Array, when: Array) -> Array:
        """Return where a clock covers all lanes of masks."""
        covers = clock.of(-1 - warp // (self.lanes.padded // WARP)) > when
        single = mask & (mask - 1) == 0  # most often, as of locks and tickets
        thread = warp * WARP + np.bitwise_count(mask - 1)
        covers |= single & (clock.of(thread) > when)
        rest = np.flatnonzero(~(covers | single))
        each = clock.of(warp[rest, None] * WARP + BITS) > when[rest, None]
        covers[rest] = (each | (mask[rest, None] >> BITS & 1 == 0)).all(1)
        return covers

    def _clock_of(self, lanes: Array, what: Knowledge, time: Array) -> Clock:
        """Return a clock that covers what some lanes know together."""
        place = self.lanes
        thread = place.everywhere[lanes]
        parts = [self.clocks[0], Clock(*_sorted(thread, time))]
        parts += [self.clocks[i] for i in np.unique(what.clock[lanes]).tolist()]
        block, first = np.unique(thread // place.padded, return_index=True)
        for b, at in zip(block.tolist(), first.tolist()):
            inside = thread // place.padded == b
            floor = what.floor[lanes][inside].max()
            start = (b - place.first) * place.padded
            sealed = self.sealed[start : start + place.padded]
            if (sealed < floor).any():
                threads = b * place.padded + np.arange(place.padded)
                parts.append(Clock(threads, np.minimum(sealed, floor)))
            elif floor:
                parts.append(Clock(np.array([-1 - b]), np.array([floor])))
        warp, first = np.unique(thread // WARP, return_index=True)
        for w, at in zip(warp.tolist(), first.tolist()):
            until = what.warp[lanes][thread // WARP == w].max()
            if until > what.floor[lanes[at]]:
                parts.append(Clock(w * WARP + BITS, np.full(WARP, until)))
        return merged(*parts)

    def _number(self, clock: Clock) -> int:
        """Enter a clock, and return its number."""
        self.clocks.append(clock)
        return len(self.clocks) - 1

    def _merged(self, *numbers: int) -> int:
        """Return the number of the clock that covers what some clocks cover."""
        wanted = tuple(sorted({number for number in numbers if number}))
        if len(wanted) < 2:
            return wanted[0] if wanted else 0
        if wanted not in self.numbers:
            clock = merged(*(self.clocks[number] for number in wanted))
            known = [i for i in wanted if clock.equals(self.clocks[i])]
            self.numbers[wanted] = known[0] if known else self._number(clock)
        return self.numbers[wanted]

    # ---- fences, and what is left in memory ----

    def tick(self) -> None:
        """Let the time go on; drop clocks that nobody has any more."""
        self.now += 1
        if len(self.clocks) > MOST_CLOCKS:
            self._compact()

    def _compact(self) -> None:
        columns = [x.clock for x in (self.known, *self.published.values())]
        used = {0}.union(*(np.unique(column).tolist() for column in columns))
        used |= {number for x in self.left.values() for number in x[:2]}
        used |= {number for x in self.released.values() for number in x}
        fresh = {old: new for new, old in enumerate(sorted(used))}
        self.clocks = [self.clocks[old] for old in sorted(used)]
        for column in columns:
            column[:] = [fresh[old] for old in column.tolist()]
        self.left = {
            key: (fresh[a], fresh[b], block) for key, (a, b, block) in self.left.items()
        }
        self.released = {
            key: (fresh[a], fresh[b]) for key, (a, b) in self.released.items()
        }
        self.numbers.clear()
        self.learnt.clear()

    def fence(self, lanes: Array, narrow: bool) -> None:
        """Publish what lanes know: to their block only if `narrow`, or to all."""
        self.tick()
        self.fenced = True
        for scope in ("cta",) if narrow else ("cta", "gpu"):
            own = self.published[scope]
            own.time[lanes] = self.now
            for column in ("floor", "warp", "clock"):
                getattr(own, column)[lanes] = getattr(self.known, column)[lanes]

    def begin_release(self) -> None:
        """Let what threads did so far be earlier than the release."""
        self.tick()
        self.fenced = True

    def _published(self, scope: str, lane: int) -> int:
        """Return the number of the clock that a lane has published."""
        own = self.published[scope]
        if own.time[lane]:
            lanes = np.array([lane])
            own.clock[lane] = self._number(self._clock_of(lanes, own, own.time[lanes]))
            own.time[lane] = own.floor[lane] = own.warp[lane] = 0
        return int(own.clock[lane])

    def touch(
        self, key: tuple[str, int], lane: int, how: str, release: str = ""
    ) -> None:
        """A lane reads an address ("load"), or changes it.

        It changes it by what it finds there and reads ("atomic") or not ("sum"), or sets it
        ("store"). `release` is the scope of a release: "cta" or "gpu".
        """
        block = self.lanes.first + lane // self.lanes.padded
        wide, narrow, of = self.left.get(key, NOTHING)
        narrow *= of == block
        there = wide, narrow, block
        if how in ("load", "atomic") and self.learnt.get((key, lane)) != there:
            self._learn(lane, wide, narrow)
            self.learnt[key, lane] = there
        if how == "load":
            return
        mine = self._released(key, lane, release)
        if how == "store":
            wide = narrow = 0
        self.left[key] = (
            self._merged(wide, mine[0]),
            self._merged(narrow, mine[1]),
            block,
        )
        if self.left[key][:2] == (0, 0):
            del self.left[key]

    def _released(
        self, key: tuple[str, int], lane: int, release: str
    ) -> tuple[int, int]:
        """Return what a lane leaves at an address: for all, and for its block.

        That is what fences have published, and what was released at this address.
        """
        wide, narrow = self.released.get((key, lane), (0, 0))
        if release:
            lanes, time = np.array([lane]), np.array([self.now])
            narrow = self._number(self._clock_of(lanes, self.known, time))
            wide = wide if release == "cta" else narrow
            self.released[key, lane] = wide, narrow
        wide = self._merged(wide, self._published("gpu", lane))
        return wide, self._merged(narrow, self._published("cta", lane))

    def _learn(self, lane: int, wide: int, narrow: int) -> None:
        """Let a lane learn what was left at an address, and publish it from then on."""
        own = self.known.clock
        own[lane] = self._merged(int(own[lane]), wide, narrow)
        for scope, numbers in (("gpu", (wide,)), ("cta", (wide, narrow))):
            clock = self._merged(self._published(scope, lane), *numbers)
            self.published[scope].clock[lane] = clock

    def overwrite(self, space: str, index: Array) -> None:
        """Forget what was left where weak stores go."""
        for key in [key for key in self.left if key[0] == space]:
            if (index == key[1]).any():
                del self.left[key]

    # ---- meetings ----

    def meet_warps(self, group: Array) -> None:
        """Let the lanes of a group meet, in each warp by itself."""
        self.tick()
        shape = (-1, WARP)
        launched = self.lanes.launched.reshape(shape)
        whole = (group.reshape(shape) == launched).all(1)
        every = group & np.repeat(whole, WARP)
        self.known.warp[every] = self.now
        apart = group & ~every
        for first in np.flatnonzero((apart | self._busy(every)).reshape(shape).any(1)):
            lanes = first * WARP + np.flatnonzero(group[first * WARP :][:WARP])
            self._share(lanes, lanes, bool(whole[first]))

    def _busy(self, group: Array) -> Array:
        """Return the lanes of a group that know or have published more than times."""
        found = self.known.clock != 0
        for own in self.published.values():
            found = found | (own.time != 0) | (own.clock != 0)
        return found & group

    def meet(self, senders: Array, receivers: Array) -> None:
        """Let lanes meet at a barrier for a number of threads: some only arrive there."""
        self.tick()
        self._share(senders, receivers, False)

    def _share(self, senders: Array, receivers: Array, whole: bool) -> None:
        """Let some lanes learn what others know and have published."""
        if whole:  # times say already what the lanes themselves did
            number = self._merged(*np.unique(self.known.clock[senders]).tolist())
        else:
            time = np.full(len(senders), self.now)
            number = self._number(self._clock_of(senders, self.known, time))
        self.known.clock[receivers] = number
        self._share_published(senders, receivers)

    def _share_published(self, senders: Array, receivers: Array) -> None:
        for own in self.published.values():
            late = senders[own.time[senders] != 0]
            numbers = np.unique(own.clock[senders]).tolist()
            if len(late):
                clock = self._clock_of(late, own, own.time[late])
                numbers.append(self._number(clock))
            own.clock[receivers] = self._merged(*numbers)
            own.time[receivers] = own.floor[receivers] = own.warp[receivers] = 0

    def barrier(self, met: Array) -> None:
        """Let all lanes of some blocks that have not ended meet."""
        self.tick()
        shape = (-1, self.lanes.padded)
        blocks = met.reshape(shape).any(1)
        ended = self.ending & np.repeat(blocks, self.lanes.padded)
        for b in np.flatnonzero(ended.reshape(shape).any(1)).tolist():
            own = slice(b * self.lanes.padded, (b + 1) * self.lanes.padded)
            self._seal(
                np.flatnonzero(ended[own]) + own.start,
                np.flatnonzero(met[own]) + own.start,
            )
        self.ending[ended] = False
        busy = self._busy(met).reshape(shape).any(1)
        self.known.floor[met] = self.now
        for b in np.flatnonzero(busy).tolist():
            lanes = b * self.lanes.padded + np.flatnonzero(met.reshape(shape)[b])
            self.known.clock[lanes] = self._merged(
                *np.unique(self.known.clock[lanes]).tolist()
            )
            self._share_published(lanes, lanes)

    def _seal(self, ended: Array, met: Array) -> None:
        """Note what of threads that have ended those at a barrier know."""
        thread = self.lanes.everywhere[ended]
        known = self.known.floor[ended].copy()
        for number in np.unique(self.known.clock[met]).tolist():
            clock = self.clocks[number]
            known = np.maximum(known, clock.of(thread))
            known = np.maximum(known, clock.of(-1 - thread // self.lanes.padded))
        warp = np.zeros(self.lanes.count, "i8")
        warp[met] = self.known.warp[met]
        latest = np.repeat(warp.reshape(-1, WARP).max(1), WARP)
        self.sealed[ended] = np.maximum(known, latest[ended])
        self.some_sealed = True


def _sorted(keys: Array, until: Array) -> tuple[Array, Array]:
    order = np.argsort(keys)
    return keys[order].astype("i8"), until[order]
