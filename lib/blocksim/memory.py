"""Arrays that check every access: for its bounds, for unwritten elements and for races.

Two accesses to one element race if at least one of them writes, they are not both atomic,
and nothing orders them (``order``). Each element records what it takes to detect a race
with its next access:

- the last plain write,
- plain writes of the same bits on the same line that nothing orders before it,
- the plain reads since then,
- the atomics since then,
- the accesses before the last plain write that it has replaced.

Two plain writes of the same bits on one line leave the same in either order. That is no
race but *benign*, and a report lists it in its ``notes``.

A read from before a barrier is dropped from the record as soon as another thread reads
the element after that barrier, and so is an atomic. No race is lost: the dropped access is
ordered before the one that stays, so an access that races with the first also races with
the second. An atomic whose result is read stands for the earlier ones in the same way.
"""

from .faults import element, shown, whole_number
from .meetings import same
from .scalars import convert

NEVER = 0
MOST = 4  # times as many accesses as a block has threads; a longer list is thinned out


class Rows:
    """An array or a view of one: it has a shape, and is indexed by rows."""

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
        self.typed = launch.rounds or dtype.name not in ("float32", "float64")
        self.changed = False
        self.read_only = False
        self.others = ()  # arrays that share this one's memory under other names

    def __getitem__(self, key):
        offset = self.offset(key)
        if offset is None:
            return self.view()[key]
        value = self.data[offset]
        if value is None:
            self.launch.report_unwritten(self, offset)
            return float("nan") if self.dtype.is_float else 0
        return value

    def __setitem__(self, key, value):
        offset = self.offset(key)
        if offset is None or self.read_only:
            return self.set_part(key, value)
        self.store(offset, value)

    def store(self, offset: int, value: object) -> None:
        """Store a number, converted to the array's type."""
        if self.typed or type(value) is not float:
            value = self.convert(value)
        if not same(self.data[offset], value):
            self.gpu._changes += 1
        self.data[offset] = value
        self.changed = True

    def convert(self, value: object) -> object:
        """Return a number converted to the array's type; refuse anything else."""
        if isinstance(value, (tuple, list, str, Array, View)) or value is None:
            what = shown(value)
            raise TypeError(f"{self.name} holds {self.dtype.name} numbers, got {what}")
        return convert(value, self.dtype.name, self.typed)

    def view(self) -> "View":
        """Return a view of the whole array."""
        return View(self, [range(extent) for extent in self.shape])

    def set_part(self, key: object, value: object) -> None:
        """Set every element of a part of the array."""
        self.refuse_to_write()
        self.view()[key] = value

    def refuse_to_write(self) -> None:
        """Refuse to write to an array that is read-only."""
        if self.read_only:
            raise TypeError(f"{self.name} is read-only: a kernel cannot write to it")

    def change(self, key: object, change: object, reads: bool = True) -> object:
        """Apply an atomic change; return the old value. Does the kernel read that?"""
        old = self[key]
        new = change(old)
        if new is not None:  # a compare-and-swap that failed changes nothing
            self.store(self.element_offset(key), new)
        return old

    # ---- offsets

    def offset(self, key: object) -> int | None:
        """Return an element's offset in the data; None for a part of the array."""
        if self.ndim == 1:
            if type(key) is int and 0 <= key < self.size:
                return key
        elif self.ndim == 2 and type(key) is tuple and len(key) == 2:
            row, column = key
            if type(row) is type(column) is int:
                if 0 <= column < self.width and 0 <= row < self.shape[0]:
                    return row * self.width + column
        return self.offset_of(key if isinstance(key, tuple) else (key,))

    def element_offset(self, key: object) -> int:
        """Return the offset of one element that is written; refuse a whole row."""
        self.refuse_to_write()
        offset = self.offset(key)
        if offset is None:
            raise IndexError(f"{self.name} needs all of its {self.ndim} indices here")
        return offset

    def offset_of(self, key: tuple) -> int | None:
        """Return an element's offset for any number of indices; report one outside."""
        if len(key) > self.ndim:
            count = "one index" if self.ndim == 1 else f"{self.ndim} indices"
            raise IndexError(f"{self.name} has {count}, got {len(key)}")
        if len(key) < self.ndim or [k for k in key if isinstance(k, slice)]:
            return None
        key = tuple([whole_number(index, self.name) for index in key])
        if not all([0 <= index < n for index, n in zip(key, self.shape)]):
            key = self.launch.wrapped(self, key)
        offset = 0
        for index, extent in zip(key, self.shape):
            offset = offset * extent + index
        return offset

    def asked(self, key: tuple) -> str:
        """Return how a message names what a thread asks for, inside or outside."""
        return element(self.name, list(key))

    def real(self, key: tuple) -> list:
        """Return an index as the faults have it."""
        return list(key)

    def index(self, offset: int) -> list | None:
        """Return the index of the element at an offset."""
        index = []
        for extent in reversed(self.shape):
            index.insert(0, offset % extent)
            offset //= extent
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
        self.mixed = [NEVER] * size  # that tick, if it has written other bits before
        self.readers = [NEVER] * size  # the tick of the last plain read since then
        self.read_at = [0] * size  # the line of that read
        # Offset -> the other writes of the same bits on that line, as a flat list of ticks
        # and lines: tick, line, tick, line, …
        self.other_writers = {}
        # Offset -> how a write races with what the last ones have replaced, and such a
        # list: reads, atomics, writes of other bits or on other lines. What a barrier has
        # ordered in shared memory is left out.
        self.replaced = {}
        # The same of the other reads, and of the atomics, since the last plain write.
        self.other_readers = {}
        self.atomics = {}
        self.clocks = {}  # the clocks that atomics have published; see Order
        self.rewritten = set()  # offsets that were also written in an earlier phase
        self.early = {}  # offset -> a read before the first write
        self.loads, self.stores = launch.report.counters(self)

    def __getitem__(self, key):
        offset = self.offset(key)
        if offset is None:
            return self.view()[key]
        gpu = self.gpu
        self.loads[gpu._who] += 1
        if gpu._watch:
            gpu._watch(self, offset, "r")
        if self.readers[offset] != gpu._now:
            self.first_read(offset)
        value = self.data[offset]
        if value is None:
            return self.unset(offset)
        return value

    def __setitem__(self, key, value):
        offset = self.offset(key)
        if offset is None or self.read_only:
            return self.set_part(key, value)
        if self.typed or type(value) is not float:
            value = self.convert(value)
        gpu = self.gpu
        self.stores[gpu._who] += 1
        if gpu._watch:
            gpu._watch(self, offset, "w", value)
        if self.writers[offset] != gpu._now:
            self.first_write(offset, value)
        else:
            if self.mixed[offset] != gpu._now:
                self.compare_writers(offset, value)
            if self.clocks and offset in self.clocks:
                del self.clocks[offset]
        self.written_at[offset] = self.mark() if self.others else gpu._line
        if not same(self.data[offset], value):
            gpu._changes += 1
        self.data[offset] = value
        self.changed = True

    def change(self, key: object, change: object, reads: bool = True) -> object:
        """Apply an atomic change; return the old value. Does the kernel read that?"""
        offset = self.element_offset(key)
        gpu = self.gpu
        self.loads[gpu._who] += 1
        self.stores[gpu._who] += 1
        old = self.data[offset]
        if old is None:
            self.early.setdefault(offset, (gpu._now, self.mark()))
            old = 0
        new = change(old)
        clocks = self.order.atomic(self.clocks.get(offset), new is not None, reads)
        if clocks:
            self.clocks[offset] = clocks
        if gpu._watch:
            gpu._watch(self, offset, "uafc"[2 * (new is None) + reads])
        self.compare_atomic(offset, old if new is None else new, reads)
        if new is not None:
            self.store(offset, new)
        return old

    def unset(self, offset: int) -> object:
        """Read an unwritten element; the end of the phase tells whether that is a fault."""
        self.early.setdefault(offset, (self.gpu._now, self.mark()))
        return float("nan") if self.dtype.is_float else 0

    def mark(self) -> object:
        """Return the line of an access, with the array if others share its memory."""
        return (self.gpu._line, self) if self.others else self.gpu._line

    # ---- comparing with earlier accesses

    def first_read(self, offset: int) -> None:
        """Check a thread's first read in a stretch against earlier writes."""
        gpu = self.gpu
        floor = gpu._floor
        tick = self.writers[offset]
        if tick and (tick >= floor or tick < gpu._block_floor):
            self.clash(offset, tick, self.written_at[offset], "read")
        if self.other_writers and offset in self.other_writers:
            self.clashes(offset, self.other_writers[offset], "read")
        if self.atomics and offset in self.atomics:
            self.clashes(offset, self.atomics[offset], "read")
        tick = self.readers[offset]
        if tick >= floor:
            listed = self.other_readers.get(offset)
            if listed is None:
                self.other_readers[offset] = [tick, self.read_at[offset]]
            else:
                listed.append(tick)
                listed.append(self.read_at[offset])
                if len(listed) > MOST * self.order.count:
                    self.other_readers[offset] = self.unordered(listed)
        elif tick:
            self.leave_out(offset, tick)
        self.readers[offset] = gpu._now
        self.read_at[offset] = self.mark() if self.others else gpu._line

    def leave_out(self, offset: int, tick: int) -> None:
        """Drop reads from before a barrier, which the new read now represents."""
        foreign = tick < self.gpu._block_floor
        if offset in self.other_readers:
            listed = self.unordered(self.other_readers.pop(offset))
        elif foreign:
            listed = []
        else:
            return
        if foreign:
            listed += [tick, self.read_at[offset]]
        if listed:
            self.other_readers[offset] = listed

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

    def first_write(self, offset: int, value: object) -> None:
        """Check a thread's first write in a stretch against earlier reads and atomics."""
        gpu = self.gpu
        tick = self.writers[offset]
        if tick:
            recent = tick >= gpu._floor or tick < gpu._block_floor
            if recent or self.other_writers or self.space == "global":
                self.compare_writers(offset, value)
            if tick < self.order.phase:
                self.rewritten.add(offset)
        replaced = self.compare_readers(offset)
        if self.atomics and offset in self.atomics:
            listed = self.atomics.pop(offset)
            self.clashes(offset, listed, "both write", value)
            replaced.append(("another", listed))
        if replaced:
            self.replaced[offset] = replaced
        if self.clocks and offset in self.clocks:
            del self.clocks[offset]
        self.writers[offset] = gpu._now
        self.readers[offset] = NEVER

    def compare_writers(self, offset: int, value: object) -> None:
        """Check a plain write against the last ones, and against what they have replaced.

        What was replaced is ordered before the last writes, so it can race with this write
        only if one of them is not ordered before it.
        """
        gpu, tick, mark = self.gpu, self.writers[offset], self.written_at[offset]
        others = []
        if self.other_writers and offset in self.other_writers:
            others = self.other_writers.pop(offset)
        line = mark[0] if self.others else mark
        recent = tick >= gpu._floor or tick < gpu._block_floor
        if line != gpu._line or not same(self.data[offset], value):
            if tick == gpu._now:
                self.mixed[offset] = tick
            others += [tick, mark]
            self.replaced[offset] = [("another", others)]
            if recent or others[2:]:
                self.clashes(offset, others, "both write", value)
            return
        if recent and not self.order.ordered(tick):
            others += [tick, mark]
            if len(others) > MOST * self.order.count:
                others = self.unordered(others)
        elif others:
            others = self.unordered(others)
        if others:
            self.other_writers[offset] = others
            self.launch.report_race(
                self, offset, "benign", others[-2], others[-1], value
            )
            for how, accesses in self.replaced.get(offset, ()):
                self.clashes(offset, accesses, how, value)

    def compare_readers(self, offset: int) -> list:
        """Report earlier reads that nothing orders before this write; return all."""
        gpu, tick = self.gpu, self.readers[offset]
        if not tick:
            return []
        listed = []
        if self.other_readers and offset in self.other_readers:
            listed = self.other_readers.pop(offset)
            self.clashes(offset, listed, "overwrite")
        if tick >= gpu._floor or tick < gpu._block_floor:
            self.clash(offset, tick, self.read_at[offset], "overwrite")
        elif not listed and self.space != "global":
            return listed
        return [("overwrite", listed + [tick, self.read_at[offset]])]

    def compare_atomic(self, offset: int, value: object, reads: bool) -> None:
        """Check an atomic against earlier plain accesses, and record it."""
        gpu = self.gpu
        tick = self.writers[offset]
        if tick and tick < self.order.phase:
            self.rewritten.add(offset)
        if tick and (tick >= gpu._floor or tick < gpu._block_floor):
            self.clash(offset, tick, self.written_at[offset], "both write", value)
        if self.other_writers and offset in self.other_writers:
            self.clashes(offset, self.other_writers[offset], "both write", value)
        listed = list(self.other_readers.get(offset, ()))
        self.clashes(offset, listed + [self.readers[offset], self.read_at[offset]])
        known = self.atomics.get(offset)
        if known and reads and known[0] < gpu._block_floor:
            self.order.blocks_communicate = True
        if known is None or reads:  # it has seen the earlier ones, and stands for them
            self.atomics[offset] = [gpu._now, self.mark()]
        elif known[-2] != gpu._now:
            if known[-2] < gpu._floor:
                known = self.atomics[offset] = self.unordered(known)
            known.append(gpu._now)
            known.append(self.mark())

    def clashes(self, offset: int, accesses: list, how="overwrite", value=None) -> None:
        """Report those earlier accesses that nothing orders before this one."""
        for k in range(0, len(accesses), 2):
            if accesses[k]:
                self.clash(offset, accesses[k], accesses[k + 1], how, value)

    def clash(self, offset: int, tick: int, mark: object, how: str, value=None) -> None:
        """Report an earlier access if nothing orders it before this one."""
        if self.order.ordered(tick):
            return
        if how == "overwrite" and offset in self.early:
            how = "too early"
            del self.early[offset]
        elif how == "read" and self.space == "shared" and offset in self.rewritten:
            how = "ahead"
        self.launch.report_race(self, offset, how, tick, mark, value)


class Aliased(Watched):
    """An array that shares its memory with others, under another name.

    ``table`` has, for each of its elements, the offset in the common memory.
    """

    def share(self, table: list, first: object) -> None:
        """Use the memory of another array, and its record of accesses."""
        self.table = table
        for name in SHARED:
            setattr(self, name, getattr(first, name))

    def offset(self, key: object) -> int | None:
        """Return an element's offset in the memory; None for a part of the array."""
        offset = Array.offset(self, key)
        return None if offset is None else self.table[offset]

    def index(self, offset: int) -> list | None:
        """Return the index of the element at an offset, or None if it has none there."""
        if offset not in self.table:
            return None
        return Array.index(self, self.table.index(offset))


class PlainAliased(Array):
    """An array that shares its memory in plain mode, where accesses are not tracked."""

    def share(self, table: list, first: object) -> None:
        """Use the memory of another array."""
        self.table = table
        self.data = first.data

    offset = Aliased.offset
    index = Aliased.index


SHARED = (
    "data writers written_at mixed other_writers replaced readers read_at other_readers"
    " atomics clocks rewritten early"
).split()


class View(Rows):
    """A part of an array, in the array's own memory: ``K[j]``, ``x[a:b]``, ``K[:, j]``.

    Attributes
    ----------
    array : Array
        The array beneath: it checks and records every access.
    axes : list
        For each dimension of the array an index, or the range of the view's indices.
    free : list of int
        The dimensions of the array that the view has as well.
    """

    def __init__(self, array, axes):
        self.array, self.axes = array, axes
        self.free = [k for k, axis in enumerate(axes) if type(axis) is not int]
        self.set_shape(tuple([len(axes[k]) for k in self.free]))
        last = self.free[-1]
        self.axis, self.before = axes[last], tuple(axes[:last])
        self.after = tuple(axes[last + 1 :])

    def position(self, key: object) -> object:
        """Return the index in the array of an element; None for a part of the view."""
        if self.ndim == 1 and type(key) is int and 0 <= key < self.size:
            at = self.axis[key]
            return self.before + (at,) + self.after if self.array.ndim > 1 else at
        axes = self.selected(key)
        if [axis for axis in axes if type(axis) is not int]:
            return None
        return axes[0] if len(axes) == 1 else tuple(axes)

    def selected(self, key: object) -> list:
        """Return the axes of an element or of a part of the view."""
        key = key if isinstance(key, tuple) else (key,)
        axes, outside = list(self.axes), False
        for dimension, index in zip(self.free, key):
            axis = axes[dimension]
            if not isinstance(index, slice):
                index = whole_number(index, self.array.name)
                if not 0 <= index < len(axis):
                    outside = True
                    continue
            axes[dimension] = axis[index]
        if outside:
            return self.selected(self.array.launch.wrapped(self, key))
        return axes

    def __getitem__(self, key):
        at = self.position(key)
        return View(self.array, self.selected(key)) if at is None else self.array[at]

    def __setitem__(self, key, value):
        at = self.position(key)
        if at is None:
            View(self.array, self.selected(key)).fill(value)
        else:
            self.array[at] = value

    def change(self, key: object, change: object, reads: bool = True) -> object:
        return self.array.change(self.position(key), change, reads)

    def fill(self, value: object) -> None:
        """Set every element to a number, or one after the other to those of a tuple."""
        if isinstance(value, tuple) and len(value) != len(self):
            raise ValueError(
                f"{len(value)} numbers for a slice of {len(self)} elements"
            )
        for i in range(len(self)):
            self[i] = value[i] if isinstance(value, tuple) else value

    # ---- messages

    def asked(self, key: tuple) -> str:
        """Return how a message names what a thread asks for, inside or outside."""
        if all([self.whole(k) for k in self.free]):
            return element(self.array.name, self.real(key))
        asked = [":" if isinstance(k, slice) else k for k in key]
        own = element(self.array.name, [self.written(k) for k in range(len(self.axes))])
        return f"{element('', asked)} of {own}"

    def real(self, key: tuple) -> list:
        """Return an index as the faults have it: in the array, with ":" for a slice."""
        index = [axis if type(axis) is int else ":" for axis in self.axes]
        for dimension, k in zip(self.free, key):
            if isinstance(k, slice):
                continue
            axis = self.axes[dimension]
            if k < 0 and not self.whole(dimension):
                k += len(axis)
            index[dimension] = axis.start + axis.step * k
        while index[-1] == ":":
            index.pop()
        return index

    def whole(self, dimension: int) -> bool:
        """Return whether the view has all indices of a dimension, in their order."""
        axis, extent = self.axes[dimension], self.array.shape[dimension]
        return (axis.start, axis.step, len(axis)) == (0, 1, extent)

    def written(self, dimension: int) -> str:
        """Return the index or the slice that the view has in a dimension."""
        axis = self.axes[dimension]
        if type(axis) is int or self.whole(dimension):
            return str(axis) if type(axis) is int else ":"
        step = "" if axis.step == 1 else f":{axis.step}"
        return f"{axis.start}:{'' if axis.stop < 0 else axis.stop}{step}"
