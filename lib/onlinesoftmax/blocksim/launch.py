"""One launch of a kernel: blocks one after the other, their threads in turns.

A thread runs until it waits: at a barrier, for its block, or at a shuffle, for its
warp. When all have come, the next turn begins. Nothing here is in parallel, and every
order is the same on every run; the ledgers of the arrays find what would depend on it.
"""

from .device import WARP, Cuda, Types
from .faults import FATAL, Fault, element, in_words, race
from .memory import LINES, Array, Watched
from .report import Report
from .scalars import SIZES, Float, Maths, Type, typed

MOST_THREADS = 1024
MOST_SHARED = 48 * 1024


class Thread:
    """One thread of the block that is running."""

    def __init__(self, number: int, width: int, who: int):
        self.number = number
        self.who = who  # its number in the whole launch
        self.x = number % width
        self.y = number // width
        self.steps = None  # its generator, if the kernel has barriers
        self.wait = None  # what it waits for; None once it is through
        self.turns = {}  # of the loops it is in, by their line


class Launch:
    """A kernel on its grid.

    Parameters
    ----------
    program : Program
    grid, block : tuple of int
        (x, y)
    mode : {"race", "full", "plain"}
    log : bool
    beat : callable
        Called whenever a thread gets its turn, as a sign of life.
    """

    def __init__(self, program, grid, block, mode, log, beat):
        self.program = program
        self.grid = grid
        self.block = block
        self.full = mode == "full"
        self.memory = Array if mode == "plain" else Watched
        self.beat = beat
        self.count = block[0] * block[1]
        self.cuda = Cuda(self)
        self.report = Report(program.name, grid, block, self.full, log)
        self.cuda._watch = self.report.watcher()
        self.at = [0, 0]
        self.blocks = []  # those so far, each with its first phase

    def names(self) -> dict:
        """Return what a kernel finds under the names it imports."""
        names = {name: Type(name, self.full) for name in SIZES}
        names["boolean"] = names.pop("bool")
        names["types"] = Types(names)
        names["cuda"] = self.cuda
        names["math"] = Maths()
        if self.full:
            names["min"], names["max"] = typed(min), typed(max)
        return names

    def run(self, arguments: list) -> Report:
        """Run every block; stop early only where a GPU could not go on."""
        self.globals = [a for a in arguments if isinstance(a, Watched)]
        Float.watch = self.widened if self.full else None
        try:
            self.check_size()
            kernel = self.program.load(self.names())
            for y in range(self.grid[1]):
                for x in range(self.grid[0]):
                    self.run_block(x, y, kernel, arguments)
        except Fault:  # one after which no GPU goes on; the report has it
            self.report.end_block(self.at)
        finally:
            Float.watch = None
        return self.report

    def check_size(self) -> None:
        """Refuse a block that no GPU would start."""
        if self.count > MOST_THREADS:
            self.fault(
                "block",
                f"a block of {self.count} threads; a GPU starts {MOST_THREADS} at most",
                threads_asked=self.count,
            )

    # ---- threads in turns

    def run_block(self, x: int, y: int, kernel: object, arguments: list) -> None:
        """Run one block from barrier to barrier."""
        self.at = [x, y]
        self.cuda.blockIdx.x, self.cuda.blockIdx.y = x, y
        self.cuda._begin_phase(first=True)
        first = len(self.blocks) * self.count
        self.blocks.append((self.cuda._phase, self.at))
        self.shared = {}
        self.watched = list(self.globals)
        threads = [Thread(i, self.block[0], first + i) for i in range(self.count)]
        for thread in threads:
            self.start(thread, kernel, arguments)
        running = [thread for thread in threads if thread.steps]
        while running:
            for first in range(0, self.count, WARP):
                self.run_warp([t for t in running if 0 <= t.number - first < WARP])
            running = [thread for thread in running if thread.wait]
            self.check_barrier(threads, running)
            if running:
                self.end_phase(running[0].wait.line)
        self.end_phase(None)
        self.report.end_block(self.at)

    def start(self, thread: Thread, kernel: object, arguments: list) -> None:
        """Call the kernel: without barriers it runs through, else it does not begin."""
        if self.program.meets:
            thread.steps = kernel(*arguments)
        else:
            self.guard(thread, lambda value: kernel(*arguments), None)

    def run_warp(self, threads: list) -> None:
        """Run some threads up to the next barrier, through all of their shuffles."""
        for thread in threads:
            self.step(thread, None)
        meeting = [t for t in threads if t.wait and t.wait.lane is not None]
        while meeting:
            line = meeting[0].wait.line
            self.exchange([t for t in meeting if t.wait.line == line], threads)
            meeting = [t for t in threads if t.wait and t.wait.lane is not None]

    def step(self, thread: Thread, value: object) -> None:
        """Let a thread go on to where it waits next."""
        thread.wait = self.guard(thread, thread.steps.send, value)

    def guard(self, thread: Thread, go: object, value: object) -> object:
        """Run a thread; whatever it raises becomes a fault with its line."""
        self.thread = thread.number
        self.cuda._enter(thread)
        self.beat()
        try:
            return go(value)
        except StopIteration:
            return None
        except Fault:
            raise
        except Exception as error:
            kind = type(error).__name__
            said = f"{kind}: {in_words(str(error))}"
            text = f"{self.here(thread.number)}: {said}"
            self.fault("error", text, threads=[thread.number], error=kind, said=said)

    def exchange(self, threads: list, warp: list) -> None:
        """Give each thread at a shuffle the value of the lane it asks for.

        Every lane that the mask names has to come, unless it has left the kernel.
        """
        offers = {thread.number: thread.wait.value for thread in threads}
        first = threads[0].number // WARP * WARP
        alive = [thread.number for thread in warp if thread.wait]
        for thread in threads:
            mask, asked = thread.wait.mask, first + thread.wait.lane
            named = [lane for lane in alive if mask >> (lane - first) & 1]
            for lane in named + [asked]:
                if lane not in offers or thread.number not in named:
                    self.missed(thread, lane)
        values = [offers[first + thread.wait.lane] for thread in threads]
        for thread, value in zip(threads, values):
            self.step(thread, value)

    def check_barrier(self, threads: list, waiting: list) -> None:
        """All threads of a block have to be at the same barrier, or all through."""
        through = [thread for thread in threads if not thread.wait]
        if waiting and through:
            self.missed(waiting[0], through[0].number)
        for thread in waiting:
            first = waiting[0]
            if thread.wait.line != first.wait.line:
                now, before = self.name(thread.number), self.name(first.number)
                earlier = first.wait.line
                self.fault(
                    "barriers",
                    f"{now} waits at this barrier, {before} at the one on line"
                    f" {earlier}",
                    line=thread.wait.line,
                    threads=[thread.number, first.number],
                    earlier=earlier,
                )

    def missed(self, waiting: Thread, other: int) -> None:
        """Report a thread that waits for one that does not come."""
        text = f"{self.here(waiting.number)} waits, {self.name(other)} never comes"
        threads = [waiting.number, other]
        self.fault("barrier", text, line=waiting.wait.line, threads=threads)

    def end_phase(self, line: int | None) -> None:
        """A barrier settles what came before it, for this block."""
        for array in self.watched if self.memory is Watched else []:
            for place in sorted(array.early):
                self.unwritten(array, place, array.early[place])
            array.early.clear()
        self.report.end_phase(line)
        self.cuda._begin_phase()

    # ---- memory

    def array(self, space: str, site: tuple, name: str, shape: object, dtype: object):
        """Return a kernel's array: a new one, or in shared memory the block's own."""
        if space == "shared" and site in self.shared:
            return self.shared[site]
        shape = shape if isinstance(shape, tuple) else (shape,)
        if space == "local":
            return Array(self, name, space, shape, dtype)
        array = self.shared[site] = self.memory(self, name, space, shape, dtype)
        self.watched.append(array)  # in order: MicroPython's dicts keep none
        used = sum([a.size * a.dtype.size for a in self.shared.values()])
        self.report.shared_bytes = max(self.report.shared_bytes, used)
        if used > MOST_SHARED:
            text = f"{used} bytes of shared memory; a block has {MOST_SHARED}"
            self.fault("shared", text, bytes=used, array=name)
        return array

    def race(self, array: Array, place: int, how: str, before: int) -> None:
        """Report two threads in one place; ``before`` is the stamp of the other."""
        earlier, other, block = self.read_stamp(before)
        line, now = self.cuda._line, self.thread
        away = block != self.at
        names = [self.name(now, self.at if away else None)]
        names.append(self.name(other, block if away else None))
        threads, lines = [now, other], [line, earlier]
        if how == "too early":  # the reader ran first here, but it is the one too soon
            names.reverse(), threads.reverse(), lines.reverse()
        index = array.index(place)
        self.fault(
            "race",
            race(names[0], names[1], element(array.name, index), how, lines[1]),
            line=lines[0],
            threads=threads,
            how=how,
            earlier=lines[1],
            other_block=block,
            array=array.name,
            space=array.space,
            index=index,
        )

    def read_stamp(self, stamp: int) -> tuple:
        """Return what is in a stamp: line, thread, and the block it ran in."""
        slots = self.cuda._slots
        thread = stamp // LINES % slots
        phase = stamp // LINES // slots
        block = [at for first, at in self.blocks if first <= phase][-1]
        return stamp % LINES, thread if thread < self.count else None, block

    def unwritten(self, array: Array, place: int, stamp: object = None) -> None:
        """Report the reading of what nobody has written."""
        line, thread = self.cuda._line, self.thread
        if stamp is not None:
            line, thread, _ = self.read_stamp(stamp)
        index = array.index(place)
        what = element(array.name, index)
        self.fault(
            "uninitialised",
            f"{self.here(thread)} reads {what}, which nobody has written",
            line=line,
            threads=[thread],
            array=array.name,
            space=array.space,
            index=index,
        )

    def outside(self, array: Array, key: tuple) -> None:
        """Report an index that is not in the array, and stop."""
        index, shape = [int(k) for k in key], list(array.shape)
        what = element(array.name, index)
        text = f"{self.here(self.thread)} touches {what}; its shape is {shape}"
        self.fault(
            "index",
            text,
            threads=[self.thread],
            array=array.name,
            space=array.space,
            index=index,
            shape=shape,
        )

    def widened(self, name: str, other: object) -> None:
        """Report an operation that a GPU does in float64."""
        kind = "int64" if isinstance(other, int) else "float64"
        text = f"{name} with {kind} ({other}) is computed in float64"
        self.fault("float64", text, threads=[self.thread], other=other)

    # ---- faults

    def name(self, thread: int | None, block: object = None) -> str:
        """Return a thread as one names it; None for several at an atomic."""
        if thread is None:
            return "another thread"
        width = self.block[0]
        plain = self.block[1] == 1
        name = f"thread {thread if plain else (thread % width, thread // width)}"
        if block is None:
            return name
        return f"{name} of block {block[0] if self.grid[1] == 1 else tuple(block)}"

    def here(self, thread: int) -> str:
        """Return a thread's name, with its block where there are several."""
        alone = self.grid[0] * self.grid[1] == 1
        return self.name(thread, None if alone else self.at)

    def fault(self, kind: str, text: str, line: object = None, **fields) -> None:
        """Note a fault, the same on the same line once; end where no GPU goes on."""
        line = self.cuda._line if line is None else line
        fault = self.report.fault(kind, text, line, self.at, fields)
        if kind in FATAL:
            raise fault
