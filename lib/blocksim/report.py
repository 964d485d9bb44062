"""The report of a launch: its faults, its memory traffic, and its log of accesses."""

from .faults import Fault
from .memory import space_of
from .traffic import Traffic

MOST_TOUCHES = 4000  # logged per block: a page carries the log, and a figure shows it


class Report:
    """The findings of one launch; true if it has no fault.

    Attributes
    ----------
    faults : list of Fault
    notes : list of Fault
        What is no fault, for each line and array the first time. Its severity is "benign"
        if memory holds the same in any order, "unmodelled" if a GPU may do something else
        than this run did, and "silent" if a GPU would not tell of it.
    loads, stores : dict of str to list of int
        Array name -> how often each thread of the launch read or wrote the array. Of two
        arrays with one name, the second is listed with its space: "tile (shared)".
    transactions, conflicts : dict of str to int
        In full mode: 32-byte sectors of global memory; extra passes at the banks of
        shared memory.
    shared_bytes : int
    printed : list of str
        The lines that the kernel printed, thread by thread.
    barriers : int
        How often a barrier opened, in all blocks together.
    exits : list of dict
        For each block in which threads had left the kernel before a barrier, the first
        such barrier: ``threads``, ``line``, ``block``.
    """

    def __init__(self, name, grid, block, full, log):
        self.kernel = name
        self.grid = list(grid)
        self.block = list(block)
        self.faults, self.notes = [], []
        # Whether it is a note, kind, line, array, earlier line -> the first such fault
        self.told = {}
        self.loads, self.stores = {}, {}
        self.shared_bytes = self.barriers = 0
        self.total = 0  # threads of the launch; set once the size is checked
        self.exits, self.printed = [], []
        self.traffic = Traffic() if full else None
        self.sizes, self.spaces = {}, {}
        self.logging = log
        self.arrays, self.numbers, self.blocks = [], {}, []
        self.begin_block()

    def __bool__(self) -> bool:
        return not self.faults

    def __repr__(self) -> str:
        lines = [str(fault) for fault in self.faults] or ["no fault"]
        lines += [f"{note.severity}: {note}" for note in self.notes]
        return "\n".join([f"{self.kernel}{[self.grid, self.block]}:"] + lines)

    def show(self) -> None:
        """Print what the kernel printed."""
        for line in self.printed:
            print(line)

    @property
    def transactions(self) -> dict:
        """Sectors of 32 bytes moved, by the name of the array."""
        return self._full().sectors

    @property
    def conflicts(self) -> dict:
        """Extra passes at the banks of shared memory, by the name of the array."""
        return self._full().extra_passes

    def _full(self) -> Traffic:
        if self.traffic is None:
            raise ValueError('mode: expected "full" to count them, got "race"')
        return self.traffic

    @property
    def bytes(self) -> dict:
        """Bytes loaded and stored, by the name of the array."""
        return {
            name: (sum(self.loads[name]) + sum(self.stores[name])) * self.sizes[name]
            for name in self.sizes
        }

    @property
    def log(self) -> dict:
        """The accesses between barriers; see the package's docstring."""
        if not self.logging:
            raise ValueError("log: expected True to keep one, got False")
        return {
            "kernel": self.kernel,
            "grid": self.grid,
            "block": self.block,
            "arrays": self.arrays,
            "blocks": self.blocks,
            "faults": [fault.fields for fault in self.faults],
            "notes": [note.fields for note in self.notes],
        }

    # ---- called by the launch

    def count_threads(self) -> None:
        """Allocate a counter for every thread of the launch."""
        self.total = 1
        for extent in self.grid + self.block:
            self.total *= extent
        for counts in list(self.loads.values()) + list(self.stores.values()):
            counts.extend([0] * self.total)

    def counters(self, array) -> tuple[list, list]:
        """Return an array's two lists of counters, one number per thread."""
        name, space = array.name, space_of(array)
        if self.spaces.setdefault(name, space) != space:
            name = f"{name} ({space})"
        if name not in self.sizes:
            self.sizes[name] = array.dtype.size
            zeros = [0] * self.total
            self.loads[name], self.stores[name] = zeros, list(zeros)
        if self.logging:
            self.number_of(array)
        return self.loads[name], self.stores[name]

    def watcher(self, trace: object = None) -> object:
        """Return the callback for every access; None if no one needs it."""
        if trace is None:
            return self.touch if self.logging or self.traffic else None

        def both(array, offset: int, kind: str, value: object = None) -> None:
            gpu = array.gpu
            trace(kind, [gpu._who], (array.data, offset, gpu._line, value))
            self.touch(array, offset, kind)

        return both

    def touch(self, array, offset: int, kind: str, value: object = None) -> None:
        """Record an access in the traffic and in the log."""
        thread, line = array.launch.thread, array.gpu._line
        kind = kind if kind in "rw" else "a"
        if array.others:
            offset = array.table.index(offset)
        if self.traffic:
            turns = array.gpu._where
            self.traffic.touch(array, offset, kind, thread, (line, turns))
        if self.logging and self.logged <= MOST_TOUCHES:
            number = self.number_of(array)
            seen = self.seen.setdefault((thread, kind, number, line), set())
            if offset not in seen:
                seen.add(offset)
                self.logged += 1
                if self.logged <= MOST_TOUCHES:
                    self.touches.append([thread, kind, number, offset, line])

    def number_of(self, array) -> int:
        """Return the array's number in the log's list of arrays."""
        space, shape = space_of(array), list(array.shape)
        key = (space, array.name, array.shape)
        if key not in self.numbers:
            self.numbers[key] = len(self.arrays)
            entry = {"name": array.name, "space": space, "shape": shape}
            self.arrays.append(entry)
        return self.numbers[key]

    def fault(self, kind, text, line, at, fields) -> Fault:
        """Add a fault or a note, unless there is an equal one for this line already."""
        note = fields.get("severity", "fault") != "fault"
        key = (note, kind, line, fields.get("array"), fields.get("earlier"))
        if key not in self.told:
            fault = self.told[key] = Fault(kind, text, line, block=at, **fields)
            (self.notes if note else self.faults).append(fault)
        return self.told[key]

    # ---- phases and blocks

    def begin_block(self) -> None:
        """Begin a block with an empty log."""
        self.phases, self.touches, self.seen, self.logged = [], [], {}, 0

    def state(self) -> tuple:
        """Return the log of a block that yields to others, for `resume`."""
        if self.traffic:
            self.traffic.settle()
        return self.phases, self.touches, self.seen, self.logged

    def resume(self, touches: tuple) -> None:
        """Continue the log of a block."""
        self.phases, self.touches, self.seen, self.logged = touches

    def end_phase(self, line: int | None) -> None:
        """End a phase at the barrier on this line; the last phase ends with None."""
        if line is not None:
            self.barriers += 1
        if self.traffic:
            self.traffic.settle()
        if self.logging:
            self.phases.append({"touches": self.touches, "barrier": line})
            self.touches, self.seen = [], {}

    def end_block(self, at: list) -> None:
        """Keep the log of the first block, and of the first block with a fault."""
        if self.touches:
            self.end_phase(None)  # a fault has ended the block early
        faulty = [fault for fault in self.faults if fault.fields["block"] == at]
        known = [fault for fault in self.faults if fault.fields["block"] != at]
        first = not self.blocks and not any(at)
        if self.logging and self.phases and (first or (faulty and not known)):
            block = {"at": at, "phases": self.phases}
            if self.logged > MOST_TOUCHES:
                block["cut"] = True
            self.blocks.append(block)
        self.begin_block()
