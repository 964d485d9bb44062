"""Arrays that check every access: is it inside, was it written, does it collide?

Each element remembers who wrote it last and who read it last, as one number, a stamp:
phase, thread and line together. A phase lies between two barriers. Two accesses of one
element collide if one of them writes and they are by two threads in one phase, or, in
global memory, in two blocks: nothing orders those.
"""

from .scalars import rounded, wrapped

LINES = 4096  # a stamp is (phase · slots + thread) · LINES + line
NEVER = -1


class Array:
    """An array of the kernel's.

    Attributes
    ----------
    name, space : str
        "local", "shared" or "global".
    shape : tuple of int
    dtype : Type
    data : list
        Row by row; None where nobody has written yet.
    """

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

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key):
        place = self.place(key)
        if place is None:
            return Part(self, key)
        value = self.data[place]
        if value is None:
            self.launch.unwritten(self, place)
            return float("nan") if self.dtype.is_float else 0
        return self.dtype(value) if self.typed else value

    def __setitem__(self, key, value):
        self.store(self.one_place(key), value)

    def store(self, place: int, value: object) -> None:
        """Keep a number as this array holds it."""
        if self.typed:
            dtype = self.dtype
            value = (
                rounded(float(value), dtype.name)
                if dtype.is_float
                else wrapped(value, dtype.name)
            )
        self.data[place] = value
        self.changed = True

    def change(self, key: object, change: object) -> object:
        """Apply an atomic change; return what was there."""
        old = self[key]
        self.store(self.place(key), change(old))
        return old

    def place(self, key: object) -> int | None:
        """Return an element's place in the data; None for a part of the array."""
        if self.ndim == 1:
            if type(key) is int and 0 <= key < self.size:
                return key
        elif self.ndim == 2 and type(key) is tuple:
            row, column = key
            if 0 <= column < self.width and 0 <= row < self.shape[0]:
                return row * self.width + column
        return self.place_of(key if isinstance(key, tuple) else (key,))

    def one_place(self, key: object) -> int:
        """Return the place of one element; a row cannot be assigned at once."""
        place = self.place(key)
        if place is None:
            raise IndexError(f"{self.name} needs all of its {self.ndim} indices here")
        return place

    def place_of(self, key: tuple) -> int | None:
        """Return the same for any number of indices, or report them."""
        place = 0
        for index, extent in zip(key, self.shape):
            if not 0 <= index < extent:
                self.launch.outside(self, key)
            place = place * extent + index
        if len(key) > self.ndim:
            raise IndexError(f"{self.name} has {self.ndim} indices, got {len(key)}")
        return place if len(key) == self.ndim else None

    def index(self, place: int) -> list[int]:
        """Return the index of the element at a place."""
        index = []
        for extent in reversed(self.shape):
            index.insert(0, place % extent)
            place //= extent
        return index


class Watched(Array):
    """An array that several threads see: accesses are counted, collisions reported."""

    def __init__(self, launch, name, space, shape, dtype, data=None):
        super().__init__(launch, name, space, shape, dtype, data)
        self.writers = [NEVER] * self.size
        self.readers = [NEVER] * self.size
        self.others = [NEVER] * self.size  # a second reader, by another thread
        self.foreign = {}  # a reader in another block
        self.atomic = {}  # the last writer, where that was an atomic
        self.plain = {}  # and the last that was none, before it
        self.renewed = set()  # written in an earlier phase already
        self.early = {}  # reads of what nobody had written, in this phase
        self.loads, self.stores = launch.report.counters(self)

    def __getitem__(self, key):
        place = self.place(key)
        if place is None:
            return Part(self, key)
        gpu = self.gpu
        self.loads[gpu._who] += 1
        mine = gpu._mine
        reader = self.readers[place]
        if reader < mine or reader >= mine + LINES:
            self.note_reader(place, reader)
        writer = self.writers[place]
        if writer >= 0 and (writer < mine or writer >= mine + LINES):
            self.clash(place, writer, "read")
        if gpu._watch:
            gpu._watch(self, place, "r")
        value = self.data[place]
        if value is None:
            self.early.setdefault(place, mine + gpu._line)
            return float("nan") if self.dtype.is_float else 0
        return self.dtype(value) if self.typed else value

    def __setitem__(self, key, value):
        place = self.one_place(key)
        gpu = self.gpu
        self.stores[gpu._who] += 1
        self.note_writer(place)
        if gpu._watch:
            gpu._watch(self, place, "w")
        self.store(place, value)

    def change(self, key: object, change: object) -> object:
        """Apply an atomic change; return what was there."""
        place = self.one_place(key)
        gpu = self.gpu
        self.loads[gpu._who] += 1
        self.stores[gpu._who] += 1
        before = self.writers[place]
        shared = before >= gpu._floor and self.atomic.get(place) == before
        if before >= 0 and self.atomic.get(place) != before:
            self.plain[place] = before
        self.note_writer(place, atomic=True)
        if shared and before // LINES != gpu._mine // LINES:  # nobody's own now
            self.writers[place] = gpu._several + gpu._line
        self.atomic[place] = self.writers[place]
        if gpu._watch:
            gpu._watch(self, place, "a")
        old = self.data[place]
        if old is None:
            self.early.setdefault(place, gpu._mine + gpu._line)
            old = 0
        old = self.dtype(old) if self.typed else old
        self.store(place, change(old))
        return old

    # ---- who was here before

    def note_reader(self, place: int, reader: int) -> None:
        """Remember this thread; keep one more of this phase, one of another block."""
        gpu = self.gpu
        if reader >= gpu._floor:
            self.others[place] = gpu._mine + gpu._line
            return
        if 0 <= reader < gpu._block_floor:
            self.foreign[place] = reader
        self.readers[place] = gpu._mine + gpu._line

    def note_writer(self, place: int, atomic: bool = False) -> None:
        """Compare with everybody who was here, then remember this thread."""
        writer = self.writers[place]
        if 0 <= writer < self.gpu._floor:
            self.renewed.add(place)
        if atomic and self.atomic.get(place) == writer:
            writer = self.plain.get(place, NEVER)
        if writer >= 0:
            self.clash(place, writer, "both write")
        for reader in (self.readers[place], self.others[place]):
            if reader >= 0:
                self.clash(place, reader, "overwrite")
        if self.foreign and place in self.foreign:
            self.clash(place, self.foreign[place], "overwrite")
        self.writers[place] = self.gpu._mine + self.gpu._line

    def clash(self, place: int, before: int, how: str) -> None:
        """Report an earlier access if nothing orders it before this one."""
        gpu = self.gpu
        mine = gpu._mine
        if mine <= before < mine + LINES:
            return
        if before >= gpu._floor or before < gpu._block_floor:
            if how == "overwrite" and place in self.early:
                how = "too early"
                del self.early[place]
            elif how == "read" and self.space == "shared" and place in self.renewed:
                how = "ahead"
            self.launch.race(self, place, how, before)


class Part:
    """Some of an array: the first indices are given, as in ``K[j][c]``."""

    def __init__(self, array, key):
        self.array = array
        self.key = key if isinstance(key, tuple) else (key,)
        self.shape = array.shape[len(self.key) :]

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key):
        return self.array[self.key + (key if isinstance(key, tuple) else (key,))]

    def __setitem__(self, key, value):
        self.array[self.key + (key if isinstance(key, tuple) else (key,))] = value
