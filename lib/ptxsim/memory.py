"""Memory that remembers, for each grain, who wrote and who read it, and when.

A grain is as large as the kernel's smallest access, or smaller where an array's size is
no multiple of that: a grain lies in one array or in none. Its tag is a time and a
thread; the time goes on at every barrier. Negative tags tell why nobody may read it.
One look at the tags of an access finds what is out of bounds, was never written, is
still being copied, or was touched by another thread with no barrier between.

Threads that write the same bytes to a grain leave them there in any order. That is no
fault but *benign*, if all of it is stored by one instruction; whoever reads the grain
before the next barrier races with them all.

This is exact if threads meet at barriers of their block, and in no other way. For the other
kernels there is `history`.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ptxsim.lanes import Lanes
from ptxsim.syntax import Instruction

if TYPE_CHECKING:
    from ptxsim.access import Stored

Array = NDArray[Any]
NEVER, GUARD, FLYING = -1, -2, -3
GIVEN, CHANGEABLE = 0, 1  # written before the launch; and whether it may be changed
WHY = {
    GIVEN: "input overwritten",
    NEVER: "uninitialised",
    GUARD: "out of bounds",
    FLYING: "copy under way",
}
SAME = "several threads write the same number, in no order"
GAP = 4096  # bytes that belong to nobody, before and behind an array
WINDOW = 128  # what belongs to a block of threads begins at a multiple of this
PENDING = 8  # loads that are noted together; many would not fit into caches
VIEWS = ("u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8")

Trouble = tuple[
    int, str, str
]  # which of the accesses, the kind of fault, what happened


class Touch(NamedTuple):
    """Accesses of several lanes by one instruction.

    Attributes
    ----------
    number : int
        The number of the instruction.
    at : ndarray
        The grains of each access: (lanes, grains).
    lanes : ndarray
    size : int
        The bytes that are moved, or changed, at a time.
    stored : Stored or None
        What is about to be stored.
    strong : bool
        Whether strong accesses of other threads may come at the same time.
    narrow : bool
        Whether that holds for threads of the same block only.
    changes : bool
        Whether what was there before matters.
    observes : bool
        Whether an atomic operation's result is read.
    """

    number: int
    at: Array
    lanes: Array
    size: int = 4
    stored: "Stored | None" = None
    strong: bool = False
    narrow: bool = False
    changes: bool = False
    observes: bool = False


class Tags:
    """How a tag holds a time, a few flags, and who it was.

    Who it was is a *code*: a thread's number, or MANY. Where several blocks share memory,
    codes from `blocks` on stand for several threads of one block.

    Attributes
    ----------
    dtype : str
    shift : int
        The bits below the time.
    code : int
        A mask: the bits of the code; the largest code is MANY.
    atomic, wide, narrow : int
        The bits of an atomic operation, of one on 8 bytes, and of one whose scope is
        the block; that one is 0 where nobody from another block comes.
    mixed, ever : int
        The bits of a place that got different values, or writes that differ in `atomic`
        or `wide`, since the last barrier; and of the same since the launch began, which
        is 0 where nobody from another block comes.
    latest : int
        The first time for which there is no room.
    blocks : int
        0 if no code stands for threads of one block.
    """

    def __init__(self, dtype: str, bits: int, blocks: bool = False) -> None:
        self.dtype = dtype
        self.code = self.many = (1 << bits) - 1
        self.atomic, self.wide, self.mixed = 1 << bits, 2 << bits, 4 << bits
        self.ever, self.narrow = (8 << bits, 16 << bits) if blocks else (0, 0)
        self.blocks = 1 << (bits - 1) if blocks else 0
        self.shift = bits + (5 if blocks else 3)
        self.latest = 1 << (np.iinfo(dtype).bits - 1 - self.shift)

    def block(self, code: Array, size: int) -> Array:
        """Return the blocks of codes, where blocks have so many threads."""
        return np.where(code >= self.blocks, code - self.blocks, code // size)

    def join(self, a: Array, b: Array, size: int) -> Array:
        """Return codes that stand for those of `a` and for those of `b`."""
        both: Any = self.many
        if self.blocks and size:
            own = self.block(a, size)
            both = np.where(own == self.block(b, size), self.blocks + own, self.many)
        return np.where(a == b, a, both)

    def name(self, tag: int) -> str:
        """Return who it was, in words."""
        code = tag & self.code
        how = ", by an atomic operation" if tag & self.atomic else ""
        if code == self.many or (self.blocks and code >= self.blocks):
            return f"several threads{how}"
        return f"thread {code}{how}"


IN_BLOCK = Tags("i4", 11)  # a block has at most 1024 threads
IN_GRID = Tags("i8", 36, blocks=True)


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
    notes : list of (str, int, str)
        Of the last accesses that are no fault: severity, which of them, what happened.
    mine : ndarray
        The present tag of each lane.
    by : ndarray
        For each grain, the number of the instruction that wrote there last.
    read_on : ndarray
        The same of the one that read there last, where that is remembered.
    instructions : tuple of Instruction
    sites : ndarray
        For each instruction the first one from the same line of the source.
    """

    def __init__(
        self, name: str, base: int, grain: int, tags: Tags, gap: int, lanes: Lanes
    ) -> None:
        self.name, self.base, self.tags, self.lanes = name, base, tags, lanes
        self.grain, self.lg = grain, grain.bit_length() - 1
        self.size, self.gap, self.block = gap, gap, 0
        self.places: list[tuple[str, int, int]] = []  # name, first byte, bytes
        self.low, self.now, self.start = 1 << tags.shift, 1, 1
        self.instructions: tuple[Instruction, ...] = ()
        self.sites: Array = np.zeros(1, "i4")
        self.mine: Array = np.zeros(0, tags.dtype)

    def place(self, name: str, size: int, align: int, loose: bool) -> int:
        """Reserve room for an array and return its address.

        A `loose` array is no better aligned than it has to be.
        """
        at = -(-self.size // align) * align
        if loose and at % (2 * align) == 0:
            at += align
        self.places.append((name, at, size))
        self.size = at + size + self.gap
        return self.base + at

    def on_line(self, number: int) -> str:
        """Return the line of an instruction, in words."""
        return f" on {self.instructions[number].place}" if number >= 0 else ""

    def make(self, windows: int, readers: bool) -> None:
        """Allocate the bytes of so many windows; `readers`: remember who reads."""
        self.window = -(-self.size // WINDOW) * WINDOW
        self.bytes = np.empty(self.window * windows, "u1")
        self.views = {kind: self.bytes.view(kind) for kind in VIEWS}
        self.written = np.empty(len(self.bytes) >> self.lg, self.tags.dtype)
        self.by = np.full(len(self.written), -1, "i4")
        self.readers = readers
        self.pending: list[tuple[int, Array, Array]] = []
        self.notes: list[tuple[str, int, str]] = []
        self.clear()

    def clear(self) -> None:
        """Make everything new: no byte is written."""
        self.bytes.fill(0xFF)  # a NaN, should anybody read it
        self.written.fill(GUARD)
        windows = self.written.reshape(-1, self.window >> self.lg)
        for _, at, size in self.places:
            windows[:, at >> self.lg : (at + size) >> self.lg] = NEVER
        self.read_by: Array | None = None  # allocated with the first reader
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
        return first if size <= self.grain else first + np.arange(-(-size >> self.lg))

    # ---- time ----

    def barrier(self) -> None:
        """All threads of each block have met: what was done is over for them."""
        self.start = self.now
        if not self.block:
            self.low = self.now << self.tags.shift
            self.pending.clear()

    def tagged(self, codes: Array) -> Array:
        """Return the tags of what threads do now."""
        tags = codes.astype("i8") | (self.now << self.tags.shift)
        return tags.astype(self.tags.dtype)

    def _innocent(self, tags: Array, mine: Array) -> Array:
        """Return where another access, of the present, is no race after all.

        It is the thread's own, or was made before its block met.
        """
        code, time = tags & self.tags.code, tags >> self.tags.shift
        me = (mine & self.tags.code)[:, None]
        found = code == me
        if self.block:
            found |= self._one_block(code, me) & (time < self.start)
        return found

    def _one_block(self, code: Array, me: Array) -> Array:
        """Return where codes stand for threads of one block with `me`."""
        if not self.block:
            return np.ones(code.shape, bool)
        block = self.tags.block
        return block(code, self.block) == block(me, self.block)

    # ---- who wrote, who read ----

    def read(self, touch: Touch) -> Trouble | None:
        """Record that threads read grains; return the first that may not, and why."""
        at, mine = touch.at, self.mine[touch.lanes]
        tags = self.written.take(at, mode="clip")
        if tags.min() < 0 or tags.max() >= self.low:
            bad = (tags >= self.low) & (tags != mine[:, None])
            if bad.any():
                bad &= ~self._innocent(tags, mine)
            bad |= tags < 0
            if bad.any():
                return self._trouble(bad, tags, "written", at)
        if self.readers and tags.max() > GIVEN:  # nobody may write what is given
            self.pending.append((touch.number, at, mine))
            if len(self.pending) > PENDING:
                self.settle()
        return None

    def settle(self) -> None:
        """Note the pending readers of grains."""
        if self.pending:
            if self.read_by is None:
                self.read_by = np.zeros_like(self.written)
                self.read_on = np.full(len(self.written), -1, "i4")
            for number, at, _ in self.pending:
                self.read_on[at] = number
            tags = [mine.repeat(at.shape[1]) for _, at, mine in self.pending]
            at = np.concatenate([at.reshape(-1) for _, at, _ in self.pending])
            self.pending.clear()
            self._note(self.read_by, at, np.concatenate(tags))

    def _note(self, table: Array, at: Array, tags: Array) -> None:
        """Enter tags, each joined with what it finds there of the present.

        Of several at one place the last one stays, so the others are entered once more.
        """
        fresh = table.take(at) < self.low
        table[at[fresh]] = tags[fresh]
        while len(at):
            old = table.take(at)
            differs = old != tags
            at, tags, old = at[differs], tags[differs], old[differs]
            new = self._joined(old, tags)
            more = new != old
            at, tags = at[more], tags[more]
            table[at] = new[more]

    def _joined(self, a: Array, b: Array) -> Array:
        """Return tags of the later time that stand for those of `a` and `b`.

        If the block has met between the two, its own threads need only the later one; to
        other blocks, each of the two says as much as both.
        """
        low, code = (1 << self.tags.shift) - 1, self.tags.code
        flags = (a | b) & low & ~code
        both = self.tags.join(a & code, b & code, self.block)
        if self.block:
            over_a, over_b = (x >> self.tags.shift < self.start for x in (a, b))
            apart = (over_a != over_b) & self._one_block(a & code, b & code)
            both = np.where(apart, np.where(over_a, b, a) & code, both)
        return (np.maximum(a, b) & ~low) | flags | both

    def write(self, touch: Touch, tag: Any = None) -> Trouble | None:
        """Record that threads write grains, or copy to them (`tag`), like `read`.

        Unless it is known what they store, no two threads may write to one grain.
        """
        at, stored = touch.at, touch.stored
        found, benign = self._may_write(touch, 0)
        if found:
            return found
        old, new = self.written.take(at), self._marked(touch, 0)
        new = np.where(benign, self._joined(old, new), new) if benign.any() else new
        self.written[at] = new
        lost = self.written.take(at) != new
        if lost.any():
            bad = lost
            if stored is not None:
                stored.put()
                bad = lost & ~stored.found(self.grain)
            if bad.any():
                first = int(np.argwhere(bad)[0][0])
                return first, "race", "written twice by one instruction"
            self._note(self.written, at[lost], new[lost])
            benign = benign | lost
        if benign.any():
            self.notes.append(("benign", int(np.argwhere(benign)[0][0]), SAME))
        if self.readers:
            self.by[at] = touch.number
        if tag is not None:
            self.written[at] = tag
        return None

    def land(self, touch: Touch) -> None:
        """A copy arrives; what was there before is not compared."""
        self.written[touch.at] = self.mine[touch.lanes][:, None] | self.tags.mixed
        self.by[touch.at] = touch.number

    def _again(self, touch: Touch) -> Array:
        """Return where memory holds what is stored, from the same line of the source."""
        assert touch.stored is not None
        same: Array = touch.stored.found(self.grain)
        return same & self._same_site(self.by.take(touch.at), touch)

    def _same_site(self, numbers: Array, touch: Touch) -> Array:
        """Return which instructions are from the same line of the source."""
        same: Array = self.sites.take(numbers) == self.sites[touch.number]
        return same

    def _marked(self, touch: Touch, atomic: int) -> Array:
        """Return the tags of writes, with the flags of grains that got several things."""
        at, mine = touch.at, self.mine[touch.lanes]
        new = np.broadcast_to(mine[:, None] | atomic, at.shape)
        old = self.written.take(at)
        again = old >= self.low
        if not again.any() or (touch.stored is None and not atomic):
            return new
        tags = self.tags
        differs = (old ^ new) & (tags.atomic | tags.wide) != 0
        if not atomic:
            differs |= ~self._again(touch)
        now = again
        if self.block:
            now = again & (old >> tags.shift >= self.start)
        mixed = now & (differs | (old & tags.mixed != 0))
        ever = again & (differs | (old & (tags.mixed | tags.ever) != 0))
        return new | np.where(mixed, tags.mixed, 0) | np.where(ever, tags.ever, 0)

    def _may_write(self, touch: Touch, atomic: int) -> tuple[Trouble | None, Array]:
        """Return the first access that is not allowed, and which are benign.

        Those with flags, `atomic`, may bear each other.
        """
        at, mine = touch.at, self.mine[touch.lanes]
        tags = self.written.take(at, mode="clip")
        bad = (tags >= self.low) & (tags != mine[:, None])
        benign: Array = np.zeros(1, bool)
        if bad.any():
            bad &= ~self._innocent(tags, mine)
            borne = bad & self._borne(tags, mine, atomic, touch)
            bad, benign = bad & ~borne, borne if not atomic else benign
        bad |= (tags <= GIVEN) & (tags != NEVER)
        if atomic:
            bad |= tags == NEVER
        if bad.any():
            return self._trouble(bad, tags, "written", at), benign
        self.settle()
        if self.read_by is None:
            return None, benign
        old = self.read_by.take(at)
        bad = (old >= self.low) & (old != mine[:, None])
        if bad.any():
            bad &= ~self._innocent(old, mine)
        return self._trouble(bad, old, "read", at) if bad.any() else None, benign

    def _borne(self, tags: Array, mine: Array, atomic: int, touch: Touch) -> Array:
        """Return where a write and the last one make no difference to each other.

        Both store the same bytes by one instruction, or both are atomic, of the same size
        and with scopes that hold both threads ("morally strong"); and there was nothing
        else.
        """
        if not atomic and touch.stored is None:
            return np.zeros(tags.shape, bool)
        one = self._one_block(tags & self.tags.code, (mine & self.tags.code)[:, None])
        else_ = np.where(one, self.tags.mixed, self.tags.mixed | self.tags.ever)
        alike = (tags ^ atomic) & (self.tags.atomic | self.tags.wide) == 0
        alike &= one | ((tags | atomic) & self.tags.narrow == 0)
        if not atomic:
            alike &= self._again(touch)
        return alike & (tags & else_ == 0)

    def atomic(self, touch: Touch) -> Trouble | None:
        """Record that threads change grains by atomic operations, like `read`."""
        at, mine, tags = touch.at, self.mine[touch.lanes], self.tags
        flags = tags.atomic | tags.wide * (touch.size == 8)
        flags |= tags.narrow * touch.narrow
        found, _ = self._may_write(touch, flags)
        if found:
            return found
        old, new = self.written.take(at), self._marked(touch, flags)
        others = (old & tags.atomic != 0) & (old >= self.low)
        new = np.where(others, self._joined(old, new), new)
        self.written[at] = new
        last = self.written.take(at)
        if flags & tags.narrow:
            bad = ~self._one_block(last & tags.code, (mine & tags.code)[:, None])
            if bad.any():
                return self._trouble(bad, last, "written", at)
        self.by[at] = touch.number
        lost = last != new  # several threads at once
        self._note(self.written, at[lost], new[lost])
        return None

    def _trouble(self, bad: Array, tags: Array, what: str, at: Array) -> Trouble:
        thread, grain = np.argwhere(bad)[0]
        tag = int(tags[thread, grain])
        if tag <= GIVEN:
            return int(thread), WHY[tag], self.copied(tag, int(at[thread, grain]))
        who = self.tags.name(tag)
        last = ", last" * who.startswith("several")
        numbers = self.by if what == "written" else self.read_on
        line = self.on_line(int(numbers[at[thread, grain]]))
        why = f"{what} by {who}{last}{line}, and no barrier since"
        return int(thread), "race", why

    def copied(self, tag: int, grain: int) -> str:
        """Return which line copies to a grain, if that is why nobody may touch it."""
        if tag != FLYING:
            return ""
        return f"the copy begins{self.on_line(int(self.by[grain]))}"

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
