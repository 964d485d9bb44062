"""The happens-before relation: program order, barriers, and fences with atomics.

A *stretch* of a thread reaches from one meeting or fence to the next. Each stretch has a
number, its *tick*; later stretches have larger ticks. An access is identified by the tick
of its stretch. It is ordered before the next access of the running thread if

- both are by the same thread, or
- both are in one block, with a barrier in between that both threads have reached, or
- the clock of the running thread covers it. A clock is a vector clock: for each other
  thread it has the last tick that is ordered, and for a whole block the first tick that
  is not.

A thread's clock grows at ``syncwarp``, where lanes merge their clocks, and at an atomic on
an element that had an atomic before: the thread then learns what was *published* there. A
fence publishes the clock of its thread. An atomic whose result no one reads learns nothing:
compilers make a reduction of it. An atomic without a fence publishes nothing:
"Atomic functions do not act as memory fences and do not imply synchronization or ordering
constraints for memory operations" (CUDA C++ Programming Guide, Atomic Functions). In the
guide's example, the block that draws the last ticket needs no fence of its own, and it
needs none here. Shuffles and votes "do not imply a memory barrier. They do not guarantee
any memory ordering" (the same guide, Warp Vote and Warp Shuffle Functions).

Who reads the result of an atomic is behind the earlier atomics on that element, since its
last plain write, even without a fence: it has observed them (PTX ISA, Causality Order). It
is not behind what their threads did before. So the thread that draws the last ticket may
reset the counter by a plain write. ``memory`` sees to that.

Barriers "provide memory ordering among participating threads" (the same guide, Thread
Block Synchronization Functions). A thread that has left the kernel does not take part in
them: nothing orders its accesses after its last barrier.
"""


class Order:
    """The ticks of one launch, and their order.

    Parameters
    ----------
    gpu : Cuda
        It holds what every access needs: ``_now``, the tick of the running thread;
        ``_block_floor``, its block's first tick since another block has run; and
        ``_floor``. A barrier orders all ticks from ``_block_floor`` up to ``_floor``.
    count : int
        Threads in a block.
    """

    def __init__(self, gpu, count: int):
        self.gpu = gpu
        self.count = count
        self.owners = [-1]  # tick -> number of its thread; tick 0 means "never"
        # Has a block learnt what another has published, or read what its atomics left?
        self.blocks_communicate = False
        self.published = False  # has any thread published anything to other blocks?
        self.begin_block(0)

    def begin_block(self, block: int) -> None:
        """Begin a block: all ticks so far belong to other blocks."""
        self.block = block
        self.resumed = False  # have other blocks run since this block began?
        self.gpu._block_floor = len(self.owners)
        self.clocks_differ = False  # do the clocks of this block's threads differ?
        self.unordered_exit = False  # did a thread leave after it had used memory?
        self.gpu._floor = self.floor = self.phase = len(self.owners)

    def state(self) -> tuple:
        """Return the state of the running block, for `resume`."""
        return self.block, self.floor, self.phase, self.unordered_exit

    def resume(self, state: tuple, threads: list) -> None:
        """Continue a block after others have run.

        The ticks of the block are no longer contiguous, so ``_floor`` cannot cover its
        earlier ticks. The clocks of its threads cover them instead.
        """
        self.block, self.floor, self.phase, self.unordered_exit = state
        self.gpu._block_floor = self.gpu._floor = len(self.owners)
        self.resumed = self.clocks_differ = self.published = True
        ordered = {block_key(self.block): self.floor}
        for thread in threads:
            thread.known = merged_clocks([thread.known, ordered])

    def enter(self, thread) -> None:
        """Begin a new stretch of a thread."""
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

    # ---- clocks of threads

    def clock(self, thread) -> dict:
        """Return a thread's clock, with its own last tick and its block's floor."""
        clock = dict(thread.known)
        clock[thread.who] = thread.tick
        clock[block_key(self.block)] = self.floor
        return clock

    def fence(self, for_block: bool) -> None:
        """Publish the running thread's clock, to its block only or to all blocks."""
        thread = self.thread
        thread.to_block = self.clock(thread)
        if not for_block:
            thread.to_all = thread.to_block
            self.published = True
        self.clocks_differ = True
        self.enter(thread)  # a new stretch: later accesses are not published yet

    def atomic(self, clocks: object, changes: bool, reads: bool) -> object:
        """Merge the clocks published at an element; return those published there now.

        ``clocks`` are those of earlier atomics on the element: a clock for all threads, a
        clock for the threads of one block, and the number of that block. ``changes`` says
        whether this atomic writes: a compare-and-swap that fails publishes nothing.
        ``reads`` says whether the kernel uses its result: only then the thread learns.
        """
        thread = self.thread
        publishes = changes and thread.to_block
        if not clocks:
            return (thread.to_all, thread.to_block, self.block) if publishes else clocks
        to_all, to_block, block = clocks
        to_block = to_block if block == self.block else {}
        for_all = merged_clocks([thread.to_all, to_all])
        for_block = merged_clocks([thread.to_block, to_all, to_block])
        if reads:
            self.blocks_communicate = self.blocks_communicate or block != self.block
            thread.known = merged_clocks([thread.known, to_all, to_block])
            thread.to_all, thread.to_block = for_all, for_block
            self.clocks_differ = True
            publishes = changes and for_block
        return (for_all, for_block, self.block) if publishes else clocks

    def meet_warp(self, lanes: list) -> None:
        """Merge the clocks of threads that meet at a syncwarp."""
        known = merged_clocks([self.clock(lane) for lane in lanes])
        to_block = merged_clocks([lane.to_block for lane in lanes])
        to_all = merged_clocks([lane.to_all for lane in lanes])
        for lane in lanes:
            lane.known, lane.to_block, lane.to_all = known, to_block, to_all
        self.clocks_differ = True

    def meet_block(self, threads: list, exited: bool) -> None:
        """Order all earlier accesses of threads that meet at a barrier.

        ``exited`` says that a thread has left before the barrier after it used memory.
        The barrier does not order that thread's accesses.
        """
        self.unordered_exit = self.unordered_exit or exited
        self.phase = len(self.owners)
        if self.unordered_exit:  # a common floor would order the thread that left
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
        """Return whether an entry of a clock is about the running block."""
        return who == block_key(self.block) or who // self.count == self.block


def block_key(block: int) -> int:
    """Return the key of a whole block in a clock."""
    return -1 - block


def merged_clocks(clocks: list) -> dict:
    """Return the entrywise maximum of clocks."""
    kept = [clock for clock in clocks if clock]
    if len(kept) < 2:
        return kept[0] if kept else {}
    together = dict(kept[0])
    for clock in kept[1:]:
        for who in clock:
            if clock[who] > together.get(who, 0):
                together[who] = clock[who]
    return together
