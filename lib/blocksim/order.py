"""What comes before what: program order, barriers, and fences with atomics.

Each stretch of a thread, from one meeting or fence to the next, has a number, its
tick; a later stretch has a larger one. An access is known by the tick of its stretch.
It is ordered before the next access of the running thread if

- both are by one thread, or
- they are in one block, and a barrier of the block lies between to which both came, or
- the running thread knows of it. What a thread knows is a clock: for another thread
  the last tick that is ordered, and for a whole block the first that is not.

A thread learns what the others know at ``syncwarp``, and at an atomic on an element on
which an atomic was done before: it learns what had been *published* by then. A fence
publishes all that its thread knows. Atomics without a fence publish nothing: "Atomic
functions do not act as memory fences and do not imply synchronization or ordering
constraints for memory operations" (CUDA C++ Programming Guide, Atomic Functions). As
in the guide's example of the block that draws the last ticket, the one who draws it
needs no fence of its own. Shuffles and votes "do not imply a memory barrier. They do
not guarantee any memory ordering" (the same, Warp Vote and Warp Shuffle Functions).

Barriers "provide memory ordering among participating threads" (the same, Thread Block
Synchronization Functions). A thread that has left the kernel is not waited for, and it
does not take part: nothing orders what it did after its last barrier.
"""


class Order:
    """The ticks of one launch, and what orders them.

    Parameters
    ----------
    gpu : Cuda
        It holds what every access asks for: ``_now``, the tick of the thread that
        runs, ``_block_floor``, its block's first tick since another block has run, and
        ``_floor``: all ticks between the two are ordered by a barrier.
    count : int
        Threads in a block.
    """

    def __init__(self, gpu, count: int):
        self.gpu = gpu
        self.count = count
        self.owners = [-1]  # tick -> number of its thread; tick 0 stands for "never"
        self.blocks_communicate = (
            False  # has a block learnt what another has published?
        )
        self.published = False  # has any thread published anything to other blocks?
        self.begin_block(0)

    def begin_block(self, block: int) -> None:
        """Begin a block: all ticks so far belong to other blocks."""
        self.block = block
        self.resumed = False  # have other blocks run since it began?
        self.gpu._block_floor = len(self.owners)
        self.clocks_differ = (
            False  # do the threads of this block know different things?
        )
        self.unordered_exit = (
            False  # did a thread leave after it had touched something?
        )
        self.gpu._floor = self.floor = self.phase = len(self.owners)

    def state(self) -> tuple:
        """Return what is known of the running block, for `resume`."""
        return self.block, self.floor, self.phase, self.unordered_exit

    def resume(self, state: tuple, threads: list) -> None:
        """Go on with a block after others have run.

        The ticks of the block no longer lie side by side. So all that were before are
        looked up in the clocks of its threads, as those of other blocks are.
        """
        self.block, self.floor, self.phase, self.unordered_exit = state
        self.gpu._block_floor = self.gpu._floor = len(self.owners)
        self.resumed = self.clocks_differ = self.published = True
        ordered = {block_key(self.block): self.floor}
        for thread in threads:
            thread.known = merged_clocks([thread.known, ordered])

    def enter(self, thread) -> None:
        """Begin a stretch of a thread."""
        self.thread = thread
        self.gpu._now = thread.tick = len(self.owners)
        self.owners.append(thread.who)

    def ordered(self, tick: int) -> bool:
        """Return whether a stretch is ordered before the running thread's next access."""
        gpu = self.gpu
        if gpu._block_floor <= tick < gpu._floor:
            return True
        who, thread = self.owners[tick], self.thread
        if who == thread.who:
            return True
        known = thread.known
        if not known:
            return False
        if known.get(who, 0) >= tick:
            return True
        return known.get(block_key(who // self.count), 0) > tick

    # ---- what threads learn

    def clock(self, thread) -> dict:
        """Return all that a thread knows, its own last tick included."""
        clock = dict(thread.known)
        clock[thread.who] = thread.tick
        clock[block_key(self.block)] = self.floor
        return clock

    def fence(self, for_block: bool) -> None:
        """Publish what the running thread knows, to its block only or to all."""
        thread = self.thread
        thread.to_block = self.clock(thread)
        if not for_block:
            thread.to_all = thread.to_block
            self.published = True
        self.clocks_differ = True
        self.enter(thread)  # a new stretch: what follows is not yet published

    def atomic(self, clocks: object, changes: bool) -> object:
        """Learn what was published at an element; return what is published there now.

        Parameters
        ----------
        clocks : tuple or None
            What earlier atomics on this element have published: a clock for all
            threads, a clock for the threads of one block, and the number of that block.
        changes : bool
            Whether this atomic changes the element. A comparison that failed does not,
            and publishes nothing.
        """
        thread = self.thread
        if clocks:
            to_all, to_block, block = clocks
            to_block = to_block if block == self.block else {}
            self.blocks_communicate = self.blocks_communicate or block != self.block
            thread.known = merged_clocks([thread.known, to_all, to_block])
            thread.to_all = merged_clocks([thread.to_all, to_all])
            thread.to_block = merged_clocks([thread.to_block, to_all, to_block])
            self.clocks_differ = True
        if not (changes and thread.to_block):
            return clocks
        return thread.to_all, thread.to_block, self.block

    def meet_warp(self, lanes: list) -> None:
        """Let threads meet at a syncwarp: each now knows what any of them knew."""
        known = merged_clocks([self.clock(lane) for lane in lanes])
        to_block = merged_clocks([lane.to_block for lane in lanes])
        to_all = merged_clocks([lane.to_all for lane in lanes])
        for lane in lanes:
            lane.known, lane.to_block, lane.to_all = known, to_block, to_all
        self.clocks_differ = True

    def meet_block(self, threads: list, exited: bool) -> None:
        """Let threads meet at a barrier.

        ``exited`` says that a thread has left before it after touching something. The
        barrier does not order what that thread did.
        """
        self.unordered_exit = self.unordered_exit or exited
        self.phase = len(self.owners)
        if self.unordered_exit:  # so note what each of those who came knows, one by one
            self.meet_warp(threads)
            return
        if self.clocks_differ:
            known = merged_clocks([thread.known for thread in threads])
            to_block = merged_clocks([thread.to_block for thread in threads])
            to_all = merged_clocks([thread.to_all for thread in threads])
            known = {who: known[who] for who in known if not self.in_this_block(who)}
            if self.resumed:
                known[block_key(self.block)] = self.phase
            for thread in threads:
                thread.known, thread.to_block, thread.to_all = known, to_block, to_all
        self.gpu._floor = self.floor = self.phase

    def in_this_block(self, who: int) -> bool:
        """Return whether this entry of a clock is about the running block."""
        return who == block_key(self.block) or who // self.count == self.block


def block_key(block: int) -> int:
    """Return the key that a clock has for all threads of a block together."""
    return -1 - block


def merged_clocks(clocks: list) -> dict:
    """Return what is known to any of these clocks."""
    kept = [clock for clock in clocks if clock]
    if len(kept) < 2:
        return kept[0] if kept else {}
    together = dict(kept[0])
    for clock in kept[1:]:
        for who in clock:
            if clock[who] > together.get(who, 0):
                together[who] = clock[who]
    return together
