"""Arrays that check every access: is it inside, was it written, does it collide?

Two accesses of one element collide if at least one of them writes, they are not both
atomic, and nothing orders them (``order``). Each element remembers as much as it takes
to find out whether its next access collides with any before:

- who wrote it last,
- who has read it since, those behind a barrier left out if anybody came after it,
- who has changed it by an atomic since, likewise.

Whoever is left out is ordered before somebody who is kept: an access that collides
with the one collides with the other too.
"""

from .faults import shown, whole_number
from .scalars import held

NEVER = 0


class Array:
    """An array of the kernel's.

    Attributes
    ----------
    name, space : str
        "local", "shared", "global" or "constant".
    shape : tuple of int
    dtype : Type
    data : list
        Row by row; None where nobody has written yet.
    addresses : list of int or None
        Where each element begins, in bytes, if they do not lie row by row.
    """

    addresses = None

    def __init__(self, launch, name, space, shape, dtype, data=None):
        self.launch = launch
        self.gpu = launch.cuda
        self.name = name
        self.space = space
        self.shape = tuple([int(extent) for extent in shape])
        self.ndim = len(self.shape)
        self.width = self.shape[-1]
        self.dtype = dtype
        self.size = 1
        for extent in self.shape:
            self.size *= extent
        self.data = [None] * self.size if data is None else data
        self.typed = launch.full or not dtype.is_float
        self.changed = False
        self.read_only = False
        self.others = ()  # arrays that share this one's memory under other names

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self):
        for i in range(self.shape[0]):
            yield self[i]

    def __getitem__(self, key):
        place = self.place(key)
        if place is None:
            return Part(self, key)
        value = self.data[place]
        if value is None:
            self.launch.unwritten(self, place)
            return float("nan") if self.dtype.is_float else 0
        return value

    def __setitem__(self, key, value):
        place = self.place(key)
        if place is None or self.read_only:
            self.one_place(key)
        self.store(place, value)

    def store(self, place: int, value: object) -> None:
        """Keep a number as this array holds it."""
        if self.typed or type(value) is not float:
            value = self.held(value)
        self.data[place] = value
        self.changed = True

    def held(self, value: object) -> object:
        """Return a number as this array holds it; refuse what is none."""
        if isinstance(value, (tuple, list, str, Array, Part)) or value is None:
            what = shown(value)
            raise TypeError(f"{self.name} holds {self.dtype.name} numbers, got {what}")
        return held(value, self.dtype.name, self.typed)

    def change(self, key: object, change: object) -> object:
        """Apply an atomic change; return what was there."""
        old = self[key]
        new = change(old)
        if new is not None:  # a comparison that failed changes nothing
            self.store(self.one_place(key), new)
        return old

    # ---- places

    def place(self, key: object) -> int | None:
        """Return an element's place in the data; None for a part of the array."""
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
        """Return the place of one element; a row cannot be assigned at once."""
        if self.read_only:
            raise TypeError(f"{self.name} is read-only: a kernel cannot write to it")
        place = self.place(key)
        if place is None:
            raise IndexError(f"{self.name} needs all of its {self.ndim} indices here")
        return place

    def place_of(self, key: tuple) -> int | None:
        """Return the same for any number of indices, or report them."""
        if len(key) > self.ndim:
            count = "one index" if self.ndim == 1 else f"{self.ndim} indices"
            raise IndexError(f"{self.name} has {count}, got {len(key)}")
        key = tuple([whole_number(index, self.name) for index in key])
        place = 0
        for index, extent in zip(key, self.shape):
            if not 0 <= index < extent:
                self.launch.outside(self, key)
            place = place * extent + index
        return place if len(key) == self.ndim else None

    def index(self, place: int) -> list | None:
        """Return the index of the element at a place."""
        index = []
        for extent in reversed(self.shape):
            index.insert(0, place % extent)
            place //= extent
        return index


def space_of(array: Array) -> str:
    """Return the space of an array; dynamic shared memory is shared memory."""
    return "shared" if array.space == "dynamic" else array.space


class Watched(Array):
    """An array that several threads see: accesses are counted, collisions reported."""

    def __init__(self, launch, name, space, shape, dtype, data=None):
        super().__init__(launch, name, space, shape, dtype, data)
        size = len(self.data)
        self.order = launch.order
        self.writers = [NEVER] * size  # the tick of the last plain write
        self.written_at = [0] * size  # and its line
        self.readers = [NEVER] * size  # the tick of the last plain read since
        self.read_at = [0] * size
        self.crowds = {}  # readers before it: tick, line, tick, line, …
        self.atomics = {}  # atomics since the last plain write, likewise
        self.left = {}  # what atomics leave for those who come after; see Order
        self.renewed = set()  # written in an earlier phase already
        self.early = {}  # reads of what nobody had written, in this phase
        self.most = 4 * launch.count  # then a crowd of readers is looked through
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
        elif self.left and place in self.left:
            del self.left[place]
        self.written_at[place] = self.mark() if self.others else gpu._line
        self.data[place] = value
        self.changed = True

    def change(self, key: object, change: object) -> object:
        """Apply an atomic change; return what was there."""
        place = self.one_place(key)
        gpu = self.gpu
        self.loads[gpu._who] += 1
        self.stores[gpu._who] += 1
        old = self.data[place]
        if old is None:
            self.early.setdefault(place, (gpu._now, self.mark()))
            old = 0
        new = change(old)
        left = self.order.atomic(self.left.get(place), new is not None)
        if left:
            self.left[place] = left
        if gpu._watch:
            gpu._watch(self, place, "c" if new is None else "a")
        self.compare_atomic(place, old if new is None else new)
        if new is not None:
            self.store(place, new)
        return old

    def unset(self, place: int) -> object:
        """Read what nobody has written; the next barrier says whether it is a fault."""
        self.early.setdefault(place, (self.gpu._now, self.mark()))
        return float("nan") if self.dtype.is_float else 0

    def mark(self) -> object:
        """Return where an access stands: its line, and its array if there are more."""
        return (self.gpu._line, self) if self.others else self.gpu._line

    # ---- who was here before

    def first_read(self, place: int) -> None:
        """Compare a thread's first read in a stretch with the writers before it."""
        gpu = self.gpu
        floor = gpu._floor
        tick = self.writers[place]
        if tick and (tick >= floor or tick < gpu._block_floor):
            self.clash(place, tick, self.written_at[place], "read")
        if self.atomics and place in self.atomics:
            self.clashes(place, self.atomics[place], "read")
        tick = self.readers[place]
        if tick >= floor:
            crowd = self.crowds.get(place)
            if crowd is None:
                self.crowds[place] = [tick, self.read_at[place]]
            else:
                crowd.append(tick)
                crowd.append(self.read_at[place])
                if len(crowd) > self.most:
                    self.crowds[place] = self.kept(crowd)
        elif tick:
            self.leave_out(place, tick)
        self.readers[place] = gpu._now
        self.read_at[place] = self.mark() if self.others else gpu._line

    def leave_out(self, place: int, tick: int) -> None:
        """Forget the readers who are behind a barrier; this thread stands for them."""
        foreign = tick < self.gpu._block_floor
        if place in self.crowds:
            crowd = self.kept(self.crowds.pop(place))
        elif foreign:
            crowd = []
        else:
            return
        if foreign:
            crowd += [tick, self.read_at[place]]
        if crowd:
            self.crowds[place] = crowd

    def kept(self, accesses: list) -> list:
        """Return the accesses that the running thread does not stand for."""
        order, block_floor = self.order, self.gpu._block_floor
        found, foreign = [], False
        for k in range(0, len(accesses), 2):
            tick = accesses[k]
            if order.ordered(tick):
                continue
            if tick < block_floor and not order.published:
                if foreign:  # nobody can be ordered after either: one will do
                    continue
                foreign = True
            found.append(tick)
            found.append(accesses[k + 1])
        return found

    def first_write(self, place: int, value: object) -> None:
        """Compare a thread's first write in a stretch with all who were here."""
        gpu = self.gpu
        tick = self.writers[place]
        if tick:
            if tick >= gpu._floor or tick < gpu._block_floor:
                self.clash(place, tick, self.written_at[place], "both write", value)
            if tick < self.order.phase:
                self.renewed.add(place)
        self.compare_readers(place)
        if self.atomics and place in self.atomics:
            self.clashes(place, self.atomics.pop(place), "both write", value)
        if self.left and place in self.left:
            del self.left[place]
        self.writers[place] = gpu._now
        self.readers[place] = NEVER

    def compare_readers(self, place: int) -> None:
        """Report who read what is now written, if nothing orders it."""
        gpu = self.gpu
        if self.crowds and place in self.crowds:
            self.clashes(place, self.crowds.pop(place), "overwrite")
        tick = self.readers[place]
        if tick and (tick >= gpu._floor or tick < gpu._block_floor):
            self.clash(place, tick, self.read_at[place], "overwrite")

    def compare_atomic(self, place: int, value: object) -> None:
        """Compare an atomic with the plain accesses before it, and remember it."""
        gpu = self.gpu
        tick = self.writers[place]
        if tick and tick < self.order.phase:
            self.renewed.add(place)
        if tick and (tick >= gpu._floor or tick < gpu._block_floor):
            self.clash(place, tick, self.written_at[place], "both write", value)
        crowd = list(self.crowds.get(place, ()))
        self.clashes(place, crowd + [self.readers[place], self.read_at[place]])
        known = self.atomics.get(place)
        if known is None:
            self.atomics[place] = [gpu._now, self.mark()]
        elif known[-2] != gpu._now:
            if known[-2] < gpu._floor:
                known = self.atomics[place] = self.kept(known)
            known.append(gpu._now)
            known.append(self.mark())

    def clashes(self, place: int, accesses: list, how="overwrite", value=None) -> None:
        """Report which of some accesses nothing orders before this one."""
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
        elif how == "read" and self.space == "shared" and place in self.renewed:
            how = "ahead"
        self.launch.race(self, place, how, tick, mark, value)


class Aliased(Watched):
    """An array whose memory other arrays have too: it looks up where its elements are.

    ``table`` has, for each of its elements, the place in the memory that all share.
    """

    def share(self, table: list, first: object) -> None:
        """Use the memory of another array, and what it remembers."""
        self.table = table
        for name in SHARED:
            setattr(self, name, getattr(first, name))

    def place(self, key: object) -> int | None:
        """Return an element's place in the memory; None for a part of the array."""
        place = Array.place(self, key)
        return None if place is None else self.table[place]

    def index(self, place: int) -> list | None:
        """Return the index of the element at a place; None where it has none there."""
        if place not in self.table:
            return None
        return Array.index(self, self.table.index(place))


class PlainAliased(Array):
    """The same where nobody watches."""

    def share(self, table: list, first: object) -> None:
        """Use the memory of another array."""
        self.table = table
        self.data = first.data

    place = Aliased.place
    index = Aliased.index


SHARED = (
    "data",
    "writers",
    "written_at",
    "readers",
    "read_at",
    "crowds",
    "atomics",
    "left",
    "renewed",
    "early",
)


class Part:
    """Some of an array: the first indices are given, as in ``K[j][c]``."""

    def __init__(self, array, key):
        self.array = array
        self.key = key if isinstance(key, tuple) else (key,)
        self.shape = array.shape[len(self.key) :]
        self.ndim = len(self.shape)
        self.size = 1
        for extent in self.shape:
            self.size *= extent

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self):
        for i in range(self.shape[0]):
            yield self[i]

    def __getitem__(self, key):
        return self.array[self.key + (key if isinstance(key, tuple) else (key,))]

    def __setitem__(self, key, value):
        self.array[self.key + (key if isinstance(key, tuple) else (key,))] = value

    def change(self, key: object, change: object) -> object:
        """Apply an atomic change; return what was there."""
        rest = key if isinstance(key, tuple) else (key,)
        return self.array.change(self.key + rest, change)
