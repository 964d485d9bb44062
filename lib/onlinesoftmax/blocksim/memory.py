"""Arrays that check every access, and the ledger that finds two in one place."""

from .faults import Fault
from .scalars import Float, rounded, wrapped


class Ledger:
    """Who touched which element since the last barrier.

    Two touches of one element clash if they are by different threads and one of them
    writes. One writer and two different readers are enough to know: whoever writes
    next clashes with one of two, if with any.
    """

    def __init__(self):
        self.clear()

    def clear(self) -> None:
        """Begin anew: whatever came before is settled."""
        self.writers, self.readers, self.others = {}, {}, {}

    def note(self, element: int, who: object, kind: str, where: tuple) -> tuple | None:
        """Note a touch ("r", "w" or "a"); return how it clashes, and with which.

        ``who`` is a thread, or a block; ``where`` is kept for the report.
        """
        writer = self.writers.get(element)
        clash = None
        if writer and writer[0] != who and (kind != "a" or writer[2] != "a"):
            clash = ("read" if kind == "r" else "both write", writer[1])
        if kind == "r":
            reader = self.readers.setdefault(element, (who, where))
            if reader[0] != who:
                self.others[element] = (who, where)
            return clash
        for table in (self.readers, self.others):
            reader = table.get(element)
            if clash is None and reader and reader[0] != who:
                clash = ("overwrite", reader[1])
        if writer and writer[0] != who and kind == "a":
            who = None  # several atomics at once: nobody's own
        self.writers[element] = (who, where, kind)
        return clash


class Array:
    """An array in global, shared or local memory.

    Attributes
    ----------
    name, space : str
    number : int
        Its place in the log's list of arrays.
    shape : tuple of int
    dtype : Type
    data : list
        Row by row; None where nobody has written yet.
    """

    def __init__(self, launch, name, space, shape, dtype, data=None):
        self.launch = launch
        self.name = name
        self.space = space
        self.shape = shape
        self.dtype = dtype
        self.number = 0
        self.size = 1
        for extent in shape:
            self.size *= extent
        self.data = [None] * self.size if data is None else data
        self.ledger = Ledger()  # since the last barrier, by thread
        self.blocks = Ledger() if space == "global" else None  # in all, by block

    @property
    def ndim(self) -> int:
        """How many indices an element has."""
        return len(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key):
        if len(self.shape) > 1 and (not isinstance(key, tuple) or len(key) < self.ndim):
            return Part(self, key if isinstance(key, tuple) else (key,))
        place = self.place(key)
        self.launch.touch(self, place, "r")
        value = self.data[place]
        if value is None:
            self.launch.uninitialised(self, place)
            value = float("nan") if self.dtype.is_float else 0
        return self.dtype(value) if self.launch.full else value

    def __setitem__(self, key, value):
        place = self.place(key)
        self.launch.touch(self, place, "w")
        self.data[place] = self.stored(value)

    def add(self, key, change: object) -> object:
        """Apply an atomic change; return what was there."""
        place = self.place(key)
        self.launch.touch(self, place, "a")
        old = self.data[place]
        if old is None:
            self.launch.uninitialised(self, place)
            old = 0
        old = self.dtype(old) if self.launch.full else old
        self.data[place] = self.stored(change(old))
        return old

    def stored(self, value: object) -> object:
        """Return a number as this array holds it."""
        if not self.dtype.is_float:
            return wrapped(value, self.dtype.name)
        if self.launch.full:
            return rounded(float(value), self.dtype.name)
        return value

    def place(self, key: object) -> int:
        """Return an element's place in the data; its index has to be inside."""
        if type(key) is int and len(self.shape) == 1 and 0 <= key < self.size:
            return key
        key = key if isinstance(key, tuple) else (key,)
        if len(key) != len(self.shape):
            raise TypeError(f"{self.name} has {self.ndim} indices, got {len(key)}")
        place = 0
        for index, extent in zip(key, self.shape):
            if isinstance(index, (slice, float, Float)):
                raise TypeError(f"{self.name}[{index}]: an index is an integer here")
            if not 0 <= index < extent:
                self.launch.outside(self, key)
            place = place * extent + int(index)
        return place

    def index(self, place: int) -> list[int]:
        """Return the index of the element at a place."""
        index = []
        for extent in reversed(self.shape):
            index.insert(0, place % extent)
            place //= extent
        return index


class Part:
    """Some of an array: the first indices are given, ``K[j][c]``."""

    def __init__(self, array, key):
        self.array = array
        self.key = key
        self.shape = array.shape[len(key) :]

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key):
        return self.array[self.key + (key if isinstance(key, tuple) else (key,))]

    def __setitem__(self, key, value):
        key = self.key + (key if isinstance(key, tuple) else (key,))
        self.array[key] = value
