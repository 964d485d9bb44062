"""Arrays that check every access: for its bounds, for unwritten elements and for races.

Two accesses to one element race if at least one of them writes, they are not both atomic,
and nothing orders them (``order``). Each element records what it takes to detect a race
with its next access:

- the last plain write,
- the plain reads since then,
- the atomics since then.

A read from before a barrier is dropped from the record as soon as another thread reads
the element after that barrier, and so is an atomic. No race is lost: the dropped access is
ordered before the one that stays, so an access that races with the first also races with
the second.
"""

from .faults import shown, whole_number
from .scalars import held

NEVER = 0


class Rows:
    """An array or a part of one: it has a shape, and is indexed by rows."""

    def set_shape(self, shape: tuple) -> None:
        """Set the shape, and the attributes that follow from it."""
        self.shape, self.ndim, self.size = shape, len(shape), 1
        for extent in shape:
            self.size *= extent

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self):
        for i in range(self.shape[0]):
            yield self[i]


class Array(Rows):
    """An array in a kernel's memory. This base class does not track accesses.

    Attributes
    ----------
    name, space : str
        "local", "shared", "global" or "constant".
    shape : tuple of int
    dtype : Type
    data : list
        The elements in row-major order; None for one that no thread has written.
    addresses : list of int or None
        The byte address of each element, if the memory is not in row-major order.
    """

    addresses = None

    def __init__(self, launch, name, space, shape, dtype, data=None):
        self.launch = launch
        self.gpu = launch.cuda
        self.name = name
        self.space = space
        self.set_shape(tuple([int(extent) for extent in shape]))
        self.width = self.shape[-1]
        self.dtype = dtype
        self.data = [None] * self.size if data is None else data
        self.typed = launch.full or not dtype.is_float
        self.changed = False
        self.read_only = False
        self.others = ()  # arrays that share this one's memory under other names

    def __getitem__(self, key):
        place = self.place(key)
        if place is None:
            return Part(self, key)
        value = self.data[place]
        if value is None:
            self.launch.report_unwritten(self, place)
            return float("nan") if self.dtype.is_float else 0
        return value

    def __setitem__(self, key, value):
        place = self.place(key)
        if place is None or self.read_only:
            self.one_place(key)
        self.store(place, value)

    def store(self, place: int, value: object) -> None:
        """Store a number, converted to the array's type."""
        if self.typed or type(value) is not float:
            value = self.held(value)
        # The comparison cannot tell 0.0 from -0.0.
        if self.data[place] != value or (not value and self.dtype.is_float):
            self.gpu._changes += 1
        self.data[place] = value
        self.changed = True

    def held(self, value: object) -> object:
        """Return a number converted to the array's type; refuse anything else."""
        if isinstance(value, (tuple, list, str, Array, Part)) or value is None:
            what = shown(value)
            raise TypeError(f"{self.name} holds {self.dtype.name} numbers, got {what}")
        return held(value, self.dtype.name, self.typed)

    def change(self, key: object, change: object) -> object:
        """Apply an atomic change; return the old value."""
        old = self[key]
        new = change(old)
        if new is not None:  # a compare-and-swap that failed changes nothing
            self.store(self.one_place(key), new)
        return old

    # ---- offsets

    def place(self, key: object) -> int | None:
        """Return an element's offset in the data; None for a part of the array."""
        if self.ndim == 1:
            if type(key) is int and 0 <= key < self.size:
                return key
        elif self.ndim == 2 and type(key) is tuple and len(key) == 2:
            row, column = key
            if type(row) is type(column) is int:
                if 0 <= column < self.width and 0 <= row < self.shape[0]:
                    return row * self.width + column
        return self.place_of(key if isinstance(key, tuple) else (key,))

    def one_place(self, key: object) -> int:
        """Return the offset of one element that is written; refuse a whole row."""
        if self.read_only:
            raise TypeError(f"{self.name} is read-only: a kernel cannot write to it")
        place = self.place(key)
        if place is None:
            raise IndexError(f"{self.name} needs all of its {self.ndim} indices here")
        return place

    def place_of(self, key: tuple) -> int | None:
        """Return an element's offset for any number of indices; report one outside."""
        if len(key) > self.ndim:
            count = "one index" if self.ndim == 1 else f"{self.ndim} indices"
            raise IndexError(f"{self.name} has {count}, got {len(key)}")
        key = tuple([whole_number(index, self.name) for index in key])
        place = 0
        for index, extent in zip(key, self.shape):
            if not 0 <= index < extent:
                self.launch.report_outside(self, key)
            place = place * extent + index
        return place if len(key) == self.ndim else None

    def index(self, place: int) -> list | None:
        """Return the index of the element at an offset."""
        index = []
        for extent in reversed(self.shape):
            index.insert(0, place % extent)
            place //= extent
        return index


def space_of(array: Array) -> str:
    """Return the space of an array, where dynamic shared memory counts as shared."""
    return "shared" if array.space == "dynamic" else array.space


class Watched(Array):
    """An array that several threads see: it counts accesses and reports races."""

    def __init__(self, launch, name, space, shape, dtype, data=None):
        super().__init__(launch, name, space, shape, dtype, data)
        size = len(self.data)
        self.order = launch.order
        self.writers = [NEVER] * size  # the tick of the last plain write
        self.written_at = [0] * size  # the line of that write
        self.readers = [NEVER] * size  # the tick of the last plain read since then
        self.read_at = [0] * size  # the line of that read
        # Offset -> the other reads, and the atomics, since the last plain write, as a flat
        # list of ticks and lines: tick, line, tick, line, …
        self.other_readers = {}
        self.atomics = {}
        self.clocks = {}  # the clocks that atomics have published; see Order
        self.rewritten = set()  # offsets that were also written in an earlier phase
        self.early = {}  # offset -> a read before the first write
        self.most = 4 * launch.count  # a longer list of readers is thinned out
        self.loads, self.stores = launch.report.counters(self)

    def __getitem__(self, key):
        place = self.place(key)
        if place is None:
            return Part(self, key)
        gpu = self.gpu
        self.loads[gpu._who] += 1
        if gpu._watch:
            gpu._watch(self, place, "r")
        if self.readers[place] != gpu._now:
            self.first_read(place)
        value = self.data[place]
        if value is None:
            return self.unset(place)
        return value

    def __setitem__(self, key, value):
        place = self.place(key)
        if place is None or self.read_only:
            self.one_place(key)
        if self.typed or type(value) is not float:
            value = self.held(value)
        gpu = self.gpu
        self.stores[gpu._who] += 1
        if gpu._watch:
            gpu._watch(self, place, "w")
        if self.writers[place] != gpu._now:
            self.first_write(place, value)
        elif self.clocks and place in self.clocks:
            del self.clocks[place]
        self.written_at[place] = self.mark() if self.others else gpu._line
        if self.data[place] != value or not value:
            gpu._changes += 1
        self.data[place] = value
        self.changed = True

    def change(self, key: object, change: object) -> object:
        """Apply an atomic change; return the old value."""
        place = self.one_place(key)
        gpu = self.gpu
        self.loads[gpu._who] += 1
        self.stores[gpu._who] += 1
        old = self.data[place]
        if old is None:
            self.early.setdefault(place, (gpu._now, self.mark()))
            old = 0
        new = change(old)
        clocks = self.order.atomic(self.clocks.get(place), new is not None)
        if clocks:
            self.clocks[place] = clocks
        if gpu._watch:
            gpu._watch(self, place, "c" if new is None else "a")
        self.compare_atomic(place, old if new is None else new)
        if new is not None:
            self.store(place, new)
        return old

    def unset(self, place: int) -> object:
        """Read an unwritten element; the end of the phase tells whether that is a fault."""
        self.early.setdefault(place, (self.gpu._now, self.mark()))
        return float("nan") if self.dtype.is_float else 0

    def mark(self) -> object:
        """Return the line of an access, with the array if others share its memory."""
        return (self.gpu._line, self) if self.others else self.gpu._line

    # ---- comparing with earlier accesses

    def first_read(self, place: int) -> None:
        """Check a thread's first read in a stretch against earlier writes."""
        gpu = self.gpu
        floor = gpu._floor
        tick = self.writers[place]
        if tick and (tick >= floor or tick < gpu._block_floor):
            self.clash(place, tick, self.written_at[place], "read")
        if self.atomics and place in self.atomics:
            self.clashes(place, self.atomics[place], "read")
        tick = self.readers[place]
        if tick >= floor:
            listed = self.other_readers.get(place)
            if listed is None:
                self.other_readers[place] = [tick, self.read_at[place]]
            else:
                listed.append(tick)
                listed.append(self.read_at[place])
                if len(listed) > self.most:
                    self.other_readers[place] = self.unordered(listed)
        elif tick:
            self.leave_out(place, tick)
        self.readers[place] = gpu._now
        self.read_at[place] = self.mark() if self.others else gpu._line

    def leave_out(self, place: int, tick: int) -> None:
        """Drop reads from before a barrier, which the new read now represents."""
        foreign = tick < self.gpu._block_floor
        if place in self.other_readers:
            listed = self.unordered(self.other_readers.pop(place))
        elif foreign:
            listed = []
        else:
            return
        if foreign:
            listed += [tick, self.read_at[place]]
        if listed:
            self.other_readers[place] = listed

    def unordered(self, accesses: list) -> list:
        """Return those accesses that are not ordered before the running thread."""
        order, block_floor = self.order, self.gpu._block_floor
        remaining, foreign = [], False
        for k in range(0, len(accesses), 2):
            tick = accesses[k]
            if order.ordered(tick):
                continue
            if tick < block_floor and not order.published:
                # While nothing is published to other blocks, no access of another block
                # can be ordered before this thread, so one of them is enough.
                if foreign:
                    continue
                foreign = True
            remaining.append(tick)
            remaining.append(accesses[k + 1])
        return remaining

    def first_write(self, place: int, value: object) -> None:
        """Check a thread's first write in a stretch against all earlier accesses."""
        gpu = self.gpu
        tick = self.writers[place]
        if tick:
            if tick >= gpu._floor or tick < gpu._block_floor:
                self.clash(place, tick, self.written_at[place], "both write", value)
            if tick < self.order.phase:
                self.rewritten.add(place)
        self.compare_readers(place)
        if self.atomics and place in self.atomics:
            self.clashes(place, self.atomics.pop(place), "both write", value)
        if self.clocks and place in self.clocks:
            del self.clocks[place]
        self.writers[place] = gpu._now
        self.readers[place] = NEVER

    def compare_readers(self, place: int) -> None:
        """Report earlier reads that nothing orders before this write."""
        gpu = self.gpu
        if self.other_readers and place in self.other_readers:
            self.clashes(place, self.other_readers.pop(place), "overwrite")
        tick = self.readers[place]
        if tick and (tick >= gpu._floor or tick < gpu._block_floor):
            self.clash(place, tick, self.read_at[place], "overwrite")

    def compare_atomic(self, place: int, value: object) -> None:
        """Check an atomic against earlier plain accesses, and record it."""
        gpu = self.gpu
        tick = self.writers[place]
        if tick and tick < self.order.phase:
            self.rewritten.add(place)
        if tick and (tick >= gpu._floor or tick < gpu._block_floor):
            self.clash(place, tick, self.written_at[place], "both write", value)
        listed = list(self.other_readers.get(place, ()))
        self.clashes(place, listed + [self.readers[place], self.read_at[place]])
        known = self.atomics.get(place)
        if known is None:
            self.atomics[place] = [gpu._now, self.mark()]
        elif known[-2] != gpu._now:
            if known[-2] < gpu._floor:
                known = self.atomics[place] = self.unordered(known)
            known.append(gpu._now)
            known.append(self.mark())

    def clashes(self, place: int, accesses: list, how="overwrite", value=None) -> None:
        """Report those earlier accesses that nothing orders before this one."""
        for k in range(0, len(accesses), 2):
            if accesses[k]:
                self.clash(place, accesses[k], accesses[k + 1], how, value)

    def clash(self, place: int, tick: int, mark: object, how: str, value=None) -> None:
        """Report an earlier access if nothing orders it before this one."""
        if self.order.ordered(tick):
            return
        if how == "overwrite" and place in self.early:
            how = "too early"
            del self.early[place]
        elif how == "read" and self.space == "shared" and place in self.rewritten:
            how = "ahead"
        self.launch.report_race(self, place, how, tick, mark, value)


class Aliased(Watched):
    """An array that shares its memory with others, under another name.

    ``table`` has, for each of its elements, the offset in the common memory.
    """

    def share(self, table: list, first: object) -> None:
        """Use the memory of another array, and its record of accesses."""
        self.table = table
        for name in SHARED:
            setattr(self, name, getattr(first, name))

    def place(self, key: object) -> int | None:
        """Return an element's offset in the memory; None for a part of the array."""
        place = Array.place(self, key)
        return None if place is None else self.table[place]

    def index(self, place: int) -> list | None:
        """Return the index of the element at an offset, or None if it has none there."""
        if place not in self.table:
            return None
        return Array.index(self, self.table.index(place))


class PlainAliased(Array):
    """An array that shares its memory in plain mode, where accesses are not tracked."""

    def share(self, table: list, first: object) -> None:
        """Use the memory of another array."""
        self.table = table
        self.data = first.data

    place = Aliased.place
    index = Aliased.index


SHARED = (
    "data writers written_at readers read_at other_readers atomics clocks rewritten early"
).split()


class Part(Rows):
    """A part of an array, selected by its first indices: ``K[j]``."""

    def __init__(self, array, key):
        self.array = array
        self.key = key if isinstance(key, tuple) else (key,)
        self.set_shape(array.shape[len(self.key) :])

    def whole(self, key: object) -> tuple:
        """Return the full index in the array."""
        return self.key + (key if isinstance(key, tuple) else (key,))

    def __getitem__(self, key):
        return self.array[self.whole(key)]

    def __setitem__(self, key, value):
        self.array[self.whole(key)] = value

    def change(self, key: object, change: object) -> object:
        return self.array.change(self.whole(key), change)
