"""Runs a launch of a kernel: one block after the other, and one thread at a time.

A thread runs until it waits: at a barrier for its block, or at a shuffle or a vote for
lanes of its warp. When all of them have arrived, they continue one by one. A ``while``
that may poll with an atomic yields from time to time, so that other threads run, also
those of other blocks. Nothing runs in parallel, and the order is the same on every run.
Each array records its accesses, and so detects what would depend on that order
(``memory``).
"""

from .arguments import constant, leaves
from .device import LOOK, WARP, Cuda
from .faults import (
    FATAL,
    NONE,
    NONE_FOR_BLOCKS,
    Fault,
    TooLong,
    element,
    in_words,
    race,
    shown,
)
from .meetings import answers, arrival, difference, missing_lane, ready
from .memory import Aliased, Array, PlainAliased, Watched, space_of
from .order import Order
from .report import Report
from .values import Refusal

MOST_THREADS = 1024
MOST_SHARED = 48 * 1024
MOST_BLOCKS = (2**31 - 1, 65535, 65535)
MOST_ALONG = (1024, 1024, 64)
MOST_COUNTED = 50_000_000  # threads that a report can count for
TURNS = 1_000_000
NO_LIMIT = 1 << 60  # so many turns: time is the limit, and a for has to beat, too
MEETINGS = 50  # iterations of a while for each meeting that a thread is allowed
# This many meetings are always allowed, because not every barrier is in a loop.
FEWEST_MEETINGS = 1000
FORS = 10  # iterations of a for count as one of a while, because a for always ends
ACTIVE = "activemask gives the lanes that are at it together here; a GPU may give fewer"
ENDLESS = "; if it waits for another thread: a while gives way, and a for never does"


class Ended(Exception):
    """Ends a thread that has raised an exception of its own."""


class Thread:
    """One thread of the block that is running."""

    def __init__(self, number: int, block: tuple, who: int):
        self.number = number
        self.who = who  # its number in the launch
        self.x = number % block[0]
        self.y = number // block[0] % block[1]
        self.z = number // (block[0] * block[1])
        self.steps = None  # its generator, if the kernel has barriers
        self.wait = None  # its Wait; None once the thread has ended
        self.answer = None  # what it receives when it continues
        self.returned_early = False  # did it return before the last meeting?
        self.missed = None  # the line of the first barrier after it had left
        self.meetings = 0
        self.turns_left = None  # loop iterations left until it has to meet others
        self.until_look = LOOK  # iterations of whiles until the next look
        # The state at the last look at a while. `seen` is the position and the local
        # variables, `switches` the number of thread switches, `looked` the number of
        # meetings, `between` the meetings at the last two looks. `still` is the number of
        # changes of memory, if nothing had changed since the look before.
        self.seen, self.switches, self.looked = None, 0, 0
        self.between, self.still = None, None
        self.round = None  # its progress at the last round over all blocks
        # For Order: the tick of its last stretch, its clock, and the clocks that it has
        # published to its own block and to all blocks.
        self.tick = 0
        self.known, self.to_block, self.to_all = {}, {}, {}


class Launch:
    """A kernel on its grid.

    Parameters
    ----------
    program : Program
    grid, block : tuple of int
        (x, y, z)
    mode : {"race", "rounded", "full", "plain"}
    log : bool
    beat : callable
        Called whenever a thread continues, and from time to time in a loop, as a sign
        of life. A TooLong that it raises ends the launch, as `endless`.
    shared : int
        Bytes of dynamic shared memory.
    turns : int
        How many iterations of whiles a thread may take before it meets others or ends.
    trace : callable or None
        Called with every access, fence and meeting; for tests.
    backwards : bool
        Run the last block first: CUDA promises no order of blocks.
    fair : bool
        Let every ``while`` give way to other threads, not only those that may poll with an
        atomic.
    debug : bool
        Is an exception that the kernel raises a fault? Else its thread ends silently.
    wraps : bool
        Take a negative index as Numba does, and note it; else it is a fault.
    """

    def __init__(
        self, program, grid, block, mode, log, beat, shared=0, turns=TURNS, trace=None,
        backwards=False, fair=False, wraps=False, debug=False,
    ):  # fmt: skip
        self.backwards, self.fair, self.wraps = backwards, fair, wraps
        self.debug = debug
        self.program = program
        self.grid = grid
        self.block = block
        self.full = mode == "full"
        self.rounds = mode in ("full", "rounded")
        self.memory = Array if mode == "plain" else Watched
        self.beat = beat
        self.bytes = shared
        self.turns = turns
        self.fors = FORS * turns if turns < NO_LIMIT else 0
        self.most_meetings = max(turns // MEETINGS, FEWEST_MEETINGS)
        self.trace = trace
        self.count = block[0] * block[1] * block[2]
        self.cuda = Cuda(self)
        self.order = Order(self.cuda, self.count)
        self.report = Report(program.name, short(grid), short(block), self.full, log)
        self.at = short((0, 0, 0), grid)
        self.running = self.thread = None
        self.constants = {}
        self.switches = 0  # how often a thread has continued
        self.ends = 0  # how many threads have ended

    def run(self, kinds: tuple, arguments: list) -> Report:
        """Run every block; stop early only at a fatal fault.

        Parameters
        ----------
        kinds : tuple
            The types of the arguments.
        arguments : list
        """
        arrays = leaves(tuple(arguments))
        self.globals = [array for array in arrays if isinstance(array, Watched)]
        self.cuda._watch = self.report.watcher(self.trace)
        try:
            self.check_size()
            kernel = self.compile(kinds)
            self.check_shared()
            self.report.count_threads()
            self.run_blocks(kernel, arguments)
        except Fault:  # the report holds it already
            self.report.end_block(self.at)
        return self.report

    def compile(self, kinds: tuple) -> object:
        """Return the kernel as a Python function for arguments of these types."""
        try:
            self.code = self.program.code(kinds, self.full, self.fair, self.rounds)
        except Refusal as refusal:
            self.refuse(refusal)
        for line in sorted(self.code.doubles) if self.full else []:
            self.fault("float64", self.code.doubles[line], line=line)
        return self.code.load(self.cuda)

    def refuse(self, refusal: Refusal) -> None:
        """Report a kernel that would not compile."""
        reason, instead = refusal.reason, refusal.instead
        text = f"this does not compile: {reason}"
        if (
            refusal.declined
        ):  # Numba may compile it: the message is about kernels "here"
            reason = (reason + " ").replace("a kernel ", "a kernel here ")[:-1]
            text = f"the simulator does not take this, though Numba may: {reason}"
        self.fault(
            "compile",
            f"{text}; instead: {instead}" if instead else text,
            line=refusal.line,
            reason=reason,
            instead=instead,
            declined=refusal.declined,
        )

    def constant(self, number: int) -> Array:
        """Return an array around the kernel; all threads share one."""
        if number not in self.constants:
            name, value = self.code.constants[number]
            self.constants[number] = constant(self, name, value)
        return self.constants[number]

    def check_size(self) -> None:
        """Refuse a launch that no GPU would start."""
        if self.count > MOST_THREADS:
            self.fault(
                "block",
                f"a block of {self.count} threads; a GPU starts {MOST_THREADS} at most",
                threads_asked=self.count,
            )
        for what, extents, most in (
            ("grid", self.grid, MOST_BLOCKS),
            ("block", self.block, MOST_ALONG),
        ):
            for name, extent, limit in zip("xyz", extents, most):
                if extent > limit:
                    said = f"{what}: {extent} along {name}; a GPU has {limit} at most"
                    self.fault("launch", said, said=said)
        if self.bytes > MOST_SHARED:
            self.report_too_much(self.bytes, "dynamic shared memory")
        if self.total() > MOST_COUNTED:
            said = f"a grid of {self.total()} threads: too many to simulate"
            self.fault("launch", said, said=said)

    def check_shared(self) -> None:
        """Refuse too much shared memory, also in a branch that no thread takes."""
        used = self.bytes
        for name, size, line in self.code.shared:
            used += size
            if used > MOST_SHARED:
                self.report_too_much(used, name, line)
        self.report.shared_bytes = used

    def total(self) -> int:
        """Return how many threads the whole launch has."""
        return self.grid[0] * self.grid[1] * self.grid[2] * self.count

    # ---- one thread after another

    def run_blocks(self, kernel: object, arguments: list) -> None:
        """Run one block after the other; blocks that wait then continue in turns."""
        self.cuda._waits = self.code.waits
        waiting = []
        for number in range(self.total() // self.count):
            self.go_on(self.block_steps(number, kernel, arguments), waiting)
        while waiting:
            before, blocks, waiting = (self.cuda._changes, self.ends), waiting, []
            for steps, state in blocks:
                self.resume(state)
                self.go_on(steps, waiting)
            self.check_round(waiting, before != (self.cuda._changes, self.ends))

    def go_on(self, steps: object, waiting: list) -> None:
        """Run a block to its end, or until it yields."""
        for _ in steps:
            waiting.append((steps, self.state()))
            break

    def state(self) -> tuple:
        """Return the state of the running block, for `resume`."""
        own = (self.at, self.shared, self.watched, self.early_exit, self.threads)
        return own, self.order.state(), self.report.state()

    def resume(self, state: tuple) -> None:
        """Switch to a block that has yielded."""
        own, order, touches = state
        self.at, self.shared, self.watched, self.early_exit, self.threads = own
        here = self.cuda.blockIdx
        here.x, here.y, here.z = (list(self.at) + [0])[:3]
        self.order.resume(order, self.threads)
        self.report.resume(touches)

    def block_steps(self, number: int, kernel: object, arguments: list):
        """Run one block from barrier to barrier; yield when its threads poll."""
        if self.backwards:
            number = self.total() // self.count - 1 - number
        self.at = self.at_block(number)
        here = self.cuda.blockIdx
        here.x, here.y, here.z = (self.at + [0])[:3]
        self.order.begin_block(number)
        first = number * self.count
        self.shared = {}
        self.watched = list(self.globals)
        self.early_exit = None
        threads = [Thread(i, self.block, first + i) for i in range(self.count)]
        self.threads = threads
        for thread in threads:
            self.start(thread, kernel, arguments)
        running = [thread for thread in threads if thread.steps]
        while running:
            for first in range(0, self.count, WARP):
                self.run_warp(threads[first : first + WARP])
            running = [thread for thread in running if thread.wait]
            if [thread for thread in running if thread.wait.what == "others"]:
                yield
            elif running:
                self.meet(threads, running)
        self.end_phase(None)
        self.report.end_block(self.at)

    def start(self, thread: Thread, kernel: object, arguments: list) -> None:
        """Call the kernel, which runs to its end, or is a generator if it has barriers."""
        if self.code.stops:
            thread.steps = kernel(None, *arguments)
        else:
            self.guard(thread, lambda value: kernel(None, *arguments), None)

    def run_warp(self, warp: list) -> None:
        """Run a warp to the next barrier, through all shuffles and votes before it."""
        for thread in warp:
            if thread.wait is None or thread.wait.what == "others":
                self.step(thread)
        while True:
            waiting = [t for t in warp if t.wait and t.wait.mask is not None]
            if not waiting:
                return
            lanes = ready(waiting, warp)
            if not lanes:
                if [t for t in warp if t.wait and t.wait.what == "others"]:
                    return  # the polling lanes may still arrive
                self.report_absent_lane(waiting[0], warp)
            self.exchange(lanes, warp)

    def step(self, thread: Thread) -> None:
        """Run a thread to its next wait, if it has not left the kernel."""
        if thread.steps:
            thread.wait = self.guard(thread, thread.steps.send, thread.answer)
            thread.answer = None
            thread.until_look = self.cuda._until_look
            if thread.wait and thread.wait.what == "others":
                thread.turns_left = self.cuda._turns_left, self.cuda._fors_left
                return
            thread.turns_left = None
            if thread.wait:
                thread.meetings += 1
                if thread.meetings > self.most_meetings:
                    self.report_endless(thread.wait.line, "meets others")
            else:
                self.ends += 1
                thread.steps = None

    def guard(self, thread: Thread, go: object, value: object) -> object:
        """Run a thread; an exception becomes a fault with its line."""
        self.running, self.thread = thread, thread.number
        self.cuda._enter(thread)
        left = thread.turns_left or (self.turns, self.fors)
        self.cuda._turns_left, self.cuda._fors_left = left
        self.cuda._until_look = thread.until_look
        self.switches += 1
        self.order.enter(thread)
        try:
            self.beat()
            return go(value)
        except (StopIteration, Ended):
            return None
        except Fault:
            raise
        except TooLong as late:  # of `beat`
            here = self.here(thread.number)
            self.fault("endless", f"{here}: {late}", threads=[thread.number], late=True)
        except Exception as error:
            kind = type(error).__name__
            said = f"{kind}: {in_words(str(error))}"
            text = f"{self.here(thread.number)}: {said}"
            self.fault("error", text, threads=[thread.number], error=kind, said=said)

    def exchange(self, lanes: list, warp: list) -> None:
        """Give each of the lanes that have met its answer, and run them on."""
        for thread in lanes:
            asked = missing_lane(thread, lanes, warp)
            if asked is not None:
                self.report_silent_lane(thread, asked)
        first = lanes[0].wait
        if first.what == "syncwarp":
            self.order.meet_warp(lanes)
            self.tell("warp", lanes)
        elif first.what == "activemask":
            self.fault("activemask", ACTIVE, first.line, severity="unmodelled")
        for thread, answer in zip(lanes, answers(lanes)):
            thread.answer = answer
        for thread in lanes:
            self.step(thread)

    def meet(self, threads: list, waiting: list) -> None:
        """Release the threads that wait at a barrier; all must be at the same one."""
        first = waiting[0]
        for thread in waiting:
            if thread.wait.key != first.wait.key:
                self.report_two_barriers(thread, first)
        exited = self.note_exits(threads, first.wait.line)
        for thread, answer in zip(waiting, answers(waiting)):
            thread.answer = answer
        self.end_phase(first.wait.line)
        self.order.meet_block(waiting, exited)
        self.tell("block", waiting)
        self.check_meeting(waiting)
        for thread in waiting:
            thread.wait = None

    def note_exits(self, threads: list, line: int) -> bool:
        """Note the threads that left before a barrier; return whether any used memory.

        A thread may leave by a return. To run past a barrier to the end of the kernel
        is a fault: "__syncthreads() is allowed in conditional code but only if
        the conditional evaluates identically across the entire thread block, otherwise
        the code execution is likely to hang or produce unintended side effects" (CUDA
        C++ Programming Guide).
        """
        gone = [t for t in threads if not t.steps and t.missed is None]
        for thread in gone:
            thread.missed = line
            if not thread.returned_early:
                self.report_gone_past(thread, line)
        if gone and not self.early_exit:
            numbers = [thread.number for thread in gone]
            self.early_exit = {"threads": numbers, "line": line, "block": self.at}
            self.report.exits.append(self.early_exit)
        if self.memory is Array:
            return False
        counts = [a.loads for a in self.watched] + [a.stores for a in self.watched]
        return any([count[t.who] for t in gone for count in counts])

    def end_phase(self, line: int | None) -> None:
        """End a phase of the block: report elements that were read and never written."""
        for array in self.watched if self.memory is Watched else []:
            for offset in sorted(array.early):
                self.report_unwritten(array, offset, array.early[offset])
            array.early.clear()
        self.report.end_phase(line)

    def fence(self, for_block: bool) -> None:
        """Publish the running thread's clock."""
        self.tell("fence", [self.running], for_block)
        self.order.fence(for_block)

    def tell(self, kind: str, threads: list, more: object = None) -> None:
        """Report a fence or a meeting to the trace."""
        if self.trace:
            self.trace(kind, [thread.who for thread in threads], more)

    # ---- loops

    def look(self, line: int, state: tuple, alone: bool) -> None:
        """Check a loop of the running thread; `alone` says that it never yields.

        If nothing has changed since the last look, and no other thread has run in
        between, the loop never ends.
        """
        self.beat()
        thread = self.running
        now = line, state, self.cuda._changes
        same = thread.seen == now and str(thread.seen) == str(now)
        alone = alone or not self.cuda._waits
        if same and alone and thread.switches == self.switches:
            self.report_endless(line, "repeats")
        thread.still = self.cuda._changes if same else None
        thread.between = thread.looked, thread.meetings
        thread.seen, thread.switches, thread.looked = (
            now,
            self.switches,
            thread.meetings,
        )

    def check_meeting(self, threads: list) -> None:
        """Report threads that meet in an endless loop.

        The loop is endless if every thread was in the same state at its last two looks,
        all were looked at after the same numbers of meetings, and memory has not changed
        since.
        """
        first = threads[0]
        for thread in threads:
            if thread.still != self.cuda._changes or thread.between != first.between:
                return
        if not self.cuda._waits:
            self.running, self.thread = first, first.number
            self.report_endless(first.wait.line, "meets for ever")

    def check_round(self, blocks: list, changed: bool) -> None:
        """Report threads that poll in vain: a round of all blocks has changed nothing.

        Each thread that polls in a loop was looked at in this round and in the one
        before, and each thread that waits at a meeting has been there throughout.
        """
        repeats = not changed
        for _, state in blocks:
            for thread in state[0][-1]:
                if not thread.wait:
                    continue
                loops = thread.wait.what == "others"
                now = "loops" if loops else thread.meetings
                still = not loops or thread.still == self.cuda._changes
                repeats = repeats and still and thread.round == now
                thread.round = now
        if repeats and blocks:
            self.resume(blocks[0][1])
            loops = [t for t in self.threads if t.wait and t.wait.what == "others"]
            self.running, self.thread = loops[0], loops[0].number
            self.report_endless(loops[0].wait.line, "repeats")

    # ---- reports: threads that wait in vain

    def report_two_barriers(self, thread: Thread, first: Thread) -> None:
        """Report two threads at two barriers, or at one in different iterations."""
        now, before = self.name(thread.number), self.name(first.number)
        line, earlier = thread.wait.line, first.wait.line
        text = f"{now} waits at this barrier, {before} at the one on line {earlier}"
        if line == earlier:
            how = difference(self.code, thread.wait.key, first.wait.key)
            text = f"{now} and {before} wait at this barrier, {how}"
        numbers = [thread.number, first.number]
        self.fault("barriers", text, line=line, threads=numbers, earlier=earlier)

    def report_absent_lane(self, thread: Thread, warp: list) -> None:
        """Report a lane that waits for another lane, which is at a different call."""
        mine = thread.wait
        for other in warp:
            if other.wait and mine.mask >> (other.number % WARP) & 1:
                if arrival(other.wait) != arrival(mine):
                    break
        theirs = other.wait
        where = f"is at {theirs.what} on line {theirs.line}"
        if theirs.key == mine.key and theirs.what == mine.what:
            where = f"has come with the mask {theirs.mask:#010x}, not {mine.mask:#010x}"
        elif theirs.line == mine.line and theirs.what == mine.what:
            how = difference(self.code, mine.key, theirs.key)
            where = f"has come there too; they are {how}"
        text = (
            f"{self.here(thread.number)} waits at {mine.what} for"
            f" {self.name(other.number)}, which {where}"
        )
        numbers = [thread.number, other.number]
        self.fault("barrier", text, line=mine.line, threads=numbers)

    def report_gone_past(self, other: Thread, line: int) -> None:
        """Report a thread that has gone past a barrier to the end of the kernel."""
        waiting = [thread for thread in self.threads if thread.wait][0].number
        text = f"{self.here(waiting)} waits, {self.name(other.number)} never comes"
        self.fault("barrier", text, line=line, threads=[waiting, other.number])

    def report_never_came(
        self, array, offset: int, how: str, other: int, line: int
    ) -> None:
        """Report a race with a thread that left without reaching a barrier."""
        what = element(array.name, array.index(offset))
        did = f"it wrote {what} on line {line}"
        if how in ("overwrite", "too early"):
            did = f"it read {what} on line {line}"
        who, here = self.name(self.thread), self.cuda._line
        does = f"{who} writes it on line {here}"
        if how in ("read", "ahead"):
            does = f"{who} reads it on line {here}"
        missed = self.threads[other].missed
        text = (
            f"{self.here(self.thread)} waits, {self.name(other)} never comes: it has"
            f" left, and nothing orders that {did} before {does}"
        )
        numbers = [self.thread, other]
        self.fault("barrier", text, line=missed, threads=numbers, array=array.name)

    def report_silent_lane(self, thread: Thread, lane: int) -> None:
        """Report a shuffle from a lane that does not take part."""
        number = thread.number // WARP * WARP + lane
        text = (
            f"{self.here(thread.number)} asks lane {lane} for its value by"
            f" {thread.wait.what}, and this lane does not take part"
        )
        numbers = [thread.number, number]
        self.fault("barrier", text, line=thread.wait.line, threads=numbers)

    def end_by(self, name: str, said: str) -> None:
        """End the running thread by an exception; a GPU says so in debug mode only."""
        said = f"{name}: {said}" if said else name
        text, fields = f"{self.here(self.thread)}: {said}", {"threads": [self.thread]}
        if self.debug:
            me, here = self.running, self.cuda.blockIdx
            at = [[me.x, me.y, me.z], [here.x, here.y, here.z]]
            self.fault("error", text, error=name, said=said, at=at, **fields)
        text += "; the thread ends here, and without debug=True nobody learns of it"
        self.fault("raise", text, severity="silent", error=name, said=said, **fields)
        self.running.returned_early = True
        raise Ended

    def report_no_value(self, name: str) -> None:
        """Report a name to which the running thread has assigned no value."""
        here = self.here(self.thread)
        said = (
            f"{name} has no value on this way: {here} comes here without having given it"
            " one"
        )
        self.fault("error", said, threads=[self.thread], error="unset", said=said)

    def report_endless(self, line: int, what: str = "loops") -> None:
        """Report a thread that does not end."""
        here = self.here(self.thread)
        said = f"{here} loops more than {self.turns} times{ENDLESS}"
        if what == "meets others":
            said = (
                f"{here} has come to a barrier {self.most_meetings} times: does a loop"
                " around it never end?"
            )
        elif what == "meets for ever":
            said = (
                f"{here} has come to a barrier again and again, and nothing changes: does"
                " a loop around it never end?"
            )
        elif what == "repeats":
            said = f"{here} loops for ever: nothing changes from turn to turn{ENDLESS}"
        self.fault("endless", said, line=line, threads=[self.thread], said=said)

    # ---- memory

    def array(self, space: str, site: tuple, name: str, shape: object, dtype: object):
        """Return a kernel's own array; a shared array is made once a block."""
        if space == "shared" and site in self.shared:
            return self.shared[site]
        shape = extents(space, name, shape)
        if space == "local":
            return Array(self, name, space, shape, dtype)
        if shape == (0,):
            array = self.dynamic(name, dtype)
        else:
            array = self.memory(self, name, space, shape, dtype)
            # A list, because MicroPython's dictionaries keep no order.
            self.watched.append(array)
        self.shared[site] = array
        return array

    def dynamic(self, name: str, dtype: object) -> Array:
        """Return dynamic shared memory: all its arrays in a block share one memory."""
        size = self.bytes // dtype.size
        array = self.memory(self, name, "shared", (size,), dtype)
        known = [each for each in self.shared.values() if each.space == "dynamic"]
        if known and known[0].dtype.name != dtype.name:
            first, kind = known[0].name, known[0].dtype.name
            reason = (
                f"{name} is the same dynamic shared memory as {first}, which holds"
                f" {kind}: it has one type here"
            )
            self.refuse(Refusal(self.cuda._line, reason, "", "views"))
        make = PlainAliased if self.memory is Array else Aliased
        array = make(self, name, "shared", (size,), dtype)
        array.share(list(range(size)), known[0] if known else array)
        array.space = "dynamic"
        array.others = family = (known[0].others if known else []) + [array]
        for each in known:
            each.others = family
        if not known:
            self.watched.append(array)
        return array

    def report_too_much(self, used: int, name: str, line: object = None) -> None:
        """Report more shared memory than a block has."""
        text = f"{used} bytes of shared memory; unasked, a block gets {MOST_SHARED}"
        self.fault("shared", text, line=line, bytes=used, array=name)

    def report_race(
        self, array, offset: int, how: str, tick: int, mark: object, new
    ) -> None:
        """Report a race for one element; ``tick`` identifies the other access."""
        earlier, theirs = mark if isinstance(mark, tuple) else (mark, array)
        owner = self.order.owners[tick]
        block, other = self.at_block(owner // self.count), owner % self.count
        line, now = self.cuda._line, self.thread
        if self.trace:
            kind = "benign" if how == "benign" else "race"
            self.trace(kind, [self.running.who, owner], (array.data, offset))
        away = block != self.at
        if not away and tick < self.order.phase and how != "benign":
            self.report_never_came(array, offset, how, other, earlier)
        if self.told(array, how, line, earlier):
            return
        sides = [
            (self.name(now, self.at if away else None), now, line),
            (self.name(other, block if away else None), other, earlier),
        ]
        if (
            how == "too early"
        ):  # the message begins with the reading thread, the earlier
            sides.reverse()
        names, threads, lines = [list(column) for column in zip(*sides)]
        index, old = array.index(offset), array.data[offset]
        what = element(array.name, index)
        if theirs is not array:
            both = [what, element(theirs.name, theirs.index(offset))]
            what = ", the same as ".join(both[:: -1 if how == "too early" else 1])
        words = {
            "now": names[0], "before": names[1], "what": what,
            "line": lines[1], "none": NONE_FOR_BLOCKS if away else NONE,
            "old": shown(old), "new": shown(new),
        }  # fmt: skip
        fields = {} if theirs is array else {"alias": theirs.name}
        if how == "benign":
            fields["severity"] = how
        if how in ("read", "ahead", "both write", "benign"):
            fields["values"] = [shown(new), shown(old)][how in ("read", "ahead") :]
        self.fault(
            "race",
            race(how, words),
            line=lines[0],
            threads=threads,
            how="both write" if how in ("benign", "another") else how,
            earlier=lines[1],
            other_block=block,
            array=array.name,
            space=space_of(array),
            index=index,
            **fields,
        )

    def told(self, array, how: str, line: int, earlier: int) -> bool:
        """Return whether a race of these lines for this array is reported already."""
        ends = (earlier, line) if how == "too early" else (line, earlier)
        key = (how == "benign", "race", ends[0], array.name, ends[1])
        return key in self.report.told

    def at_block(self, number: int) -> list:
        """Return the index in the grid of the block with this number."""
        x, y, _ = self.grid
        return short((number % x, number // x % y, number // (x * y)), self.grid)

    def report_unwritten(self, array: Array, offset: int, early: object = None) -> None:
        """Report a read of an element that no thread has written."""
        line, thread = self.cuda._line, self.thread
        if early is not None:
            tick, line = early
            thread = self.order.owners[tick] % self.count
            line, array = line if isinstance(line, tuple) else (line, array)
        index = array.index(offset)
        what = element(array.name, index)
        text = f"{self.here(thread)} reads {what}, which nobody has written"
        if self.early_exit and space_of(array) == "shared":
            who, at = self.early_exit["threads"], self.early_exit["line"]
            gone = self.name(who[0])
            if len(who) > 1:
                gone = f"{gone} and {len(who) - 1} more"
            text += f"; {gone} had left before the barrier on line {at}"
        self.fault(
            "uninitialised",
            text,
            line=line,
            threads=[thread],
            array=array.name,
            space=space_of(array),
            index=index,
        )

    def report_outside(self, array: Array, key: tuple) -> None:
        """Report an index outside an array, and stop."""
        what, index, shape = array.asked(key), array.real(key), list(array.shape)
        own = [-n <= k < n for k, n in zip(key, shape) if not isinstance(k, slice)]
        array = getattr(array, "array", array)
        text, real = f"{self.here(self.thread)} asks for {what}", array.asked(index)
        text += f", which is {real}" if real != what else ""
        text += f"; its shape is {shape}"
        if array.space == "dynamic" and not self.bytes:
            text += (
                ": dynamic shared memory has the size that the launch gives it,"
                " kernel[grid, block, stream, bytes], and this one gives none"
            )
        elif all(own):
            text += ", and a negative index counts from the end, on a GPU too"
        self.fault(
            "index",
            text,
            threads=[self.thread],
            array=array.name,
            space=space_of(array),
            index=index,
            shape=shape,
        )

    def wrapped(self, array: Array, key: tuple) -> tuple:
        """Return an index with its negative parts counted from the end, or report it."""
        index = tuple([
            k if isinstance(k, slice) or k >= 0 else k + n
            for k, n in zip(key, array.shape)
        ])  # fmt: skip
        inside = [
            isinstance(k, slice) or 0 <= k < n for k, n in zip(index, array.shape)
        ]
        if not self.wraps or not all(inside):
            self.report_outside(array, key)
        name = getattr(array, "array", array).name
        if (True, "negative", self.cuda._line, name, None) in self.report.told:
            return index
        what, same = array.asked(key), element(name, array.real(index))
        text = (
            f"{self.here(self.thread)} asks for {what}, which is {same}: a negative index"
            " counts from the end"
        )
        fields = {"severity": "benign", "array": name, "index": array.real(key)}
        self.report.fault("negative", text, self.cuda._line, self.at, fields)
        return index

    # ---- faults

    def name(self, thread: int, block: object = None) -> str:
        """Return how a message names a thread: by its number or its index."""
        x, y, z = self.block
        name = thread
        if z > 1:
            name = (thread % x, thread // x % y, thread // (x * y))
        elif y > 1:
            name = (thread % x, thread // x)
        if block is None:
            return f"thread {name}"
        alone = self.grid[1] == self.grid[2] == 1
        return f"thread {name} of block {block[0] if alone else tuple(block)}"

    def here(self, thread: int) -> str:
        """Return a thread's name, with its block if the grid has several."""
        alone = self.grid[0] * self.grid[1] * self.grid[2] == 1
        return self.name(thread, None if alone else self.at)

    def fault(self, kind: str, text: str, line: object = None, **fields) -> None:
        """Note a fault, once for each line; raise it if it is fatal."""
        line = (self.cuda._line or None) if line is None else line
        fault = self.report.fault(kind, text, line, self.at, fields)
        if kind in FATAL:
            raise fault


def short(extents: tuple, like: object = None) -> list:
    """Return (x, y) of an extent or an index, or (x, y, z) if there are several z."""
    deep = (extents if like is None else like)[2] > 1
    return list(extents if deep else extents[:2])


def extents(space: str, name: str, shape: object) -> tuple:
    """Return the shape of a shared or local array; refuse an invalid one."""
    shape = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    for extent in shape:
        whole = isinstance(extent, int) and not isinstance(extent, bool)
        if not whole or extent < (0 if space == "shared" and shape == (0,) else 1):
            wanted = f"{name}: {space}.array takes whole numbers from 1 on"
            raise ValueError(f"{wanted}, got {shown(extent)}")
    return shape
