"""Runs translated code: many blocks of threads at once, an element a thread.

Threads that are at the earliest basic block go first, so that those that parted at a
branch meet again. Before a block in which a warp does something together, threads wait
for the rest of their warp, or for those that a mask names; at a barrier, for the rest
of their block of threads, or until so many have come as it says. "As threads exit,
barriers waiting on all threads are checked to see if the exiting threads are the only
threads that have not yet made it" (PTX ISA, exit): nobody waits for a thread that has
ended.

Threads that go on and on while others could run may wait for one of these. After some
basic blocks those at later ones have their turn; when all have had theirs, a *round* is
over. Where threads may wait for each other, barriers that are complete open at the end of
a round at the latest, and a round after which everything is as it was before is endless.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ptxsim import arithmetic, matrices, rounding, tensor
from ptxsim.access import Access
from ptxsim.lanes import WARP, Lanes
from ptxsim.memory import Array
from ptxsim.registers import DTYPES, literal
from ptxsim.syntax import COLLECTIVE, Instruction, needs_warp
from ptxsim.translate import Program

# In place of a basic block: held until the warp is whole, waiting at a barrier of the
# block, or of lanes of the warp, ended.
HELD, WAITS, MEETS, ENDED = 1 << 20, 1 << 21, 3 << 20, 1 << 22
BARRIER = 60  # so many basic blocks take as long as a barrier, which counts as many
PATIENCE = 2000  # basic blocks, one after another, while other threads could run
SPINS = 16  # the same where threads may wait for each other
Step = Callable[["Machine", int, Array], None]


class NeedsHistory(Exception):
    """Threads have ended before a barrier, so that it orders some accesses only."""


class NeedsBlocks(Exception):
    """All threads of a batch wait, perhaps for blocks that have not begun: a fault."""


class Machine:
    """A kernel, its threads and what they hold.

    Attributes
    ----------
    program : Program
    lanes : Lanes
    access : Access
    limit : int
        The most basic blocks that a batch may go through; a barrier counts as
        `BARRIER`.
    names : dict
        What translated code finds under which name.
    registers : dict of str to ndarray
        By name; an element for each lane.
    next : ndarray
        The basic block at which each thread goes on.
    state : ndarray
        The same, or HELD, WAITS, MEETS or ENDED.
    masks : ndarray
        With which lanes of its warp each thread meets that is at a ``bar.warp.sync``.
    threads, warps : ndarray
        How many threads, and how many warps, came to each basic block.
    """

    def __init__(
        self,
        program: Program,
        lanes: Lanes,
        access: Access,
        limit: int,
        step: Step | None,
        names: dict[str, Any],
    ) -> None:
        self.program, self.lanes, self.limit = program, lanes, limit
        self.access, self.order = access, access.order
        self.patience = SPINS if access.waits else PATIENCE
        self.blocks = program.kernel.blocks
        self.whole = [any(map(needs_warp, x.instructions)) for x in self.blocks]
        self.registers: dict[str, Array] = {}
        self.everybody = np.arange(lanes.count)
        self.underflow: list[int] = []
        self.threads = np.zeros(len(self.blocks), "i8")
        self.warps = np.zeros(len(self.blocks), "i8")
        self.taken = np.zeros(len(self.blocks), "i8")
        self.names = self._names() | names
        if step:
            self.names["STEP"] = lambda number, act: step(self, number, act)
        exec(program.code, self.names)
        self.functions = [
            (self.names[f"block_{b}_full"], self.names[f"block_{b}_part"])
            for b in range(len(self.blocks))
        ]

    def _names(self) -> dict[str, Any]:
        """Return what translated code finds under which name."""
        access, count = self.access, self.lanes.count
        names: dict[str, Any] = {"np": np, **arithmetic.FUNCTIONS, **access.spaces}
        names |= rounding.FUNCTIONS
        names |= self.program.constants | self.lanes.names
        for name, part in self.program.views.items():
            names[name] = self.view(*part)
        names |= {f"spare_{kind}": np.empty(count, x) for kind, x in DTYPES.items()}
        names |= {"GENERIC": None, "UNDERFLOW": self.underflow, "flush": self.flush}
        names |= {"LOAD": access.load, "STORE": access.store, "ATOMIC": access.atomic}
        names |= {"FENCE": access.fence}
        names |= {"COPY": access.copy, "COMMIT": access.commit, "WAIT": access.wait}
        names |= {"SHUFFLE": self.shuffle, "VOTE": self.vote, "REDUCE": self.reduce}
        names |= {"MATCH": self.match, "ACTIVE": self.active_mask}
        names |= {"WHOLE": self.whole_warps, "MMA": tensor.multiply}
        names |= {"LDMATRIX": matrices.load, "ACCESS": access}
        names |= {"DIVISOR": self.divisor, "CARRY": np.zeros(count, "u1")}
        names["fma_f32"] = arithmetic.Fma32(count, self.underflow)
        names["fma_f32_flushed"] = arithmetic.Fma32(count, None)
        return names

    def view(self, register: str, kind: str, first: int = 0) -> Array:
        """Return a register of every lane, from some byte on, read as a type."""
        own = self.program.kernel.type_of(register) or kind
        slot = self.program.kernel.slots.get(register)
        if register not in self.registers:
            size = f"V{-(-slot.size // 8) * 8}" if slot else DTYPES[own]
            array = np.empty(self.lanes.count, size)
            array.view("u1").fill(0 if own == "pred" else 0xFF)
            self.registers[register] = array
        array, dtype = self.registers[register], np.dtype(DTYPES[kind])
        each = dtype.itemsize
        return array.view(dtype)[first // each :: array.itemsize // each]

    def flush(self, out: Array) -> None:
        """Make subnormal results zero; called after an underflow."""
        arithmetic.flush(out)
        self.underflow.clear()

    def run(self) -> None:
        """Run all blocks of threads, batch after batch."""
        with np.errstate(all="ignore", under="call"):
            before = np.seterrcall(lambda *_: self.underflow.append(1))
            try:
                for first in range(0, self.lanes.total, self.lanes.blocks):
                    self._batch(first)
            finally:
                np.seterrcall(before)

    # ---- who goes on ----

    def _batch(self, first: int) -> None:
        """Run some blocks of threads to their ends."""
        lanes = self.lanes
        lanes.begin_batch(first)
        self.access.begin_batch()
        self.next = np.where(lanes.alive, 0, ENDED).astype("i4")
        self.state = self.next.copy()
        self.steps = self.turn = 0  # `turn`: when the threads that run began to
        self.pivot = 0  # those at earlier basic blocks have had their turn
        # The barrier at which each thread waits: its number, and for how many threads.
        self.number, self.wanted = (np.zeros(lanes.count, "i8") for _ in range(2))
        self.masks = np.zeros(lanes.count, "u4")
        # Who has come to a barrier for so many threads, by block and number.
        self.arrived: dict[tuple[int, int], list[tuple[Instruction, Array, int]]] = {}
        self.expected: dict[tuple[int, int], int] = {}  # how many, by the first of them
        self.met = 0
        self.rounds: set[tuple[int, ...]] = (
            set()
        )  # how they ended since the last change
        while lanes.alive.any():
            at = self._earliest()
            if at >= HELD:
                if not self._meet():
                    self._stuck()
                continue
            mask = self.state == at
            if self.whole[at]:
                mask = self._whole_warps(at)
            if mask.any():
                self._go(at, mask)

    def _earliest(self) -> int:
        """Return the earliest basic block where threads are, from the pivot on."""
        later = self.state[self.state >= self.pivot]
        at = int(later.min(initial=ENDED))
        if at >= HELD and self.pivot:
            self.pivot, self.turn = 0, self.steps
            if self.access.waits and not self._meet():
                self._look_for_change()
            at = int(self.state.min())
        return at

    def _look_for_change(self) -> None:
        """Raise a fault if everything is as it was after an earlier round."""
        done = self.access.changes, self.met, int(self.lanes.alive.sum())
        if not any(seen[:3] == done for seen in self.rounds):
            self.rounds = {(*done, 0)}
            return
        code = hash(self.state.tobytes())
        for array in self.registers.values():
            code = hash((code, array.tobytes()))
        if (*done, code) not in self.rounds:
            self.rounds.add((*done, code))
            return
        runs = np.flatnonzero(self.lanes.alive & (self.state < HELD))
        one = self.blocks[int(self.state[runs[0]])].instructions[0]
        detail = "it waits for what no thread does any more"
        beyond = self.lanes.first + self.lanes.blocks
        if beyond >= self.lanes.total:
            raise self.lanes.fault("endless", detail, one, int(runs[0]))
        detail += f"; the blocks from {self.lanes.index_of(beyond)} on have not begun"
        raise NeedsBlocks(self.lanes.fault("endless", detail, one, int(runs[0])))

    def _whole_warps(self, at: int) -> Array:
        """Return the threads at a block that are all there; hold the others there."""
        here = (self.next == at) & (self.state <= HELD)
        first = self.blocks[at].instructions[0]
        if first.is_for_some:
            does, masks = self._takes_part(first, here), self._masks(first)
            self._check_masks(first, does, masks)
            ready = (here & ~does) | self._complete(does, masks)
        else:
            there = self.lanes.alive.reshape(-1, WARP)
            whole = (here.reshape(-1, WARP) == there).all(1)
            ready = here & np.repeat(whole, WARP)
        self.state[here] = HELD
        self.state[ready] = at
        return ready

    def _takes_part(self, one: Instruction, mask: Array) -> Array:
        """Return which of some threads execute an instruction with a guard."""
        if not one.guard:
            return mask
        guard = self.registers[one.guard]
        return mask & ~guard if one.negated else mask & guard

    def _masks(self, one: Instruction) -> Array:
        """Return the mask that each lane gives an instruction for some of a warp."""
        mask = str(one.operands[-1])
        if self.program.kernel.type_of(mask):
            return self.view(mask, "b32")
        return np.broadcast_to(literal(mask, "b32"), self.lanes.count)

    def _check_masks(self, one: Instruction, does: Array, masks: Array) -> None:
        """Raise a fault if the mask of a thread does not name the thread."""
        outside = does & (masks >> self.lanes.lane & 1 == 0)
        if outside.any():
            lane = int(np.flatnonzero(outside)[0])
            detail = f"its mask {int(masks[lane]):#x} does not name the thread"
            raise self.lanes.fault("warp not whole", detail, one, lane)

    def _complete(self, does: Array, masks: Array) -> Array:
        """Return the lanes that wait for nobody: all that their masks name are there."""
        ready = np.zeros(self.lanes.count, bool)
        for mask in np.unique(masks[does]):
            group = does & (masks == mask)
            ready |= group & (packed(group) == mask & packed(self.lanes.alive))
        return ready

    def _go(self, at: int, mask: Array) -> None:
        """Run basic blocks for as long as nobody parts and nobody joins."""
        lanes, count = self.lanes, int(np.count_nonzero(mask))
        others = self.state[~mask] if count < lanes.count else np.empty(0, "i4")
        rest = int(others[others >= self.pivot].min(initial=ENDED))
        alone = not (self.access.waits or (others < HELD).any())
        act = None if count == lanes.count else np.flatnonzero(mask)
        warps = np.count_nonzero(mask.reshape(-1, WARP).any(1))
        part = int(count < np.count_nonzero(lanes.alive))
        self.active = mask
        while True:
            self.steps += 1
            if self.steps > self.limit:
                self._endless(self.blocks[at].instructions[-1], mask)
            self.threads[at] += count
            self.warps[at] += warps
            self.functions[at][part](act, mask)
            end = self.blocks[at].end
            after = at + 1
            if end is not None:
                goes_on = self._end(at, end, mask, count)
                if goes_on is None:
                    return
                after = goes_on
            patient = alone or self.steps - self.turn < self.patience
            if after >= rest or after < self.pivot or self.whole[after] or not patient:
                self.state[mask] = self.next[mask] = after
                if not patient:
                    self.pivot, self.turn = at + 1, self.steps
                return
            at = after

    def _end(self, at: int, end: Instruction, mask: Array, count: int) -> int | None:
        """Do what ends a block; return where all go on, or None if threads part."""
        does = self._takes_part(end, mask)
        doing = count if does is mask else int(np.count_nonzero(does))
        if not doing:
            return at + 1
        targets = self.blocks[at].targets
        self.taken[at] += doing if targets else 0
        if len(targets) == 1 and doing == count and end.words[0] != "brx":
            return targets[0]
        if end.opcode == "bar.warp.sync" and self._meets_at_once(end, does):
            return at + 1
        self.state[mask] = self.next[mask] = at + 1
        if end.opcode == "bar.warp.sync":
            self.state[does] = MEETS
            self._meet_warps()
        elif targets:
            self.state[does] = self.next[does] = self._targets(end, targets, does)
        elif end.words[0] in ("bar", "barrier"):
            if end.guard and needs_warp(end):
                self._all_or_none(end, does)
            self._arrive(end, does)
        elif end.words[0] == "trap":
            lane = int(np.flatnonzero(does)[0])
            raise self.lanes.fault("trap", "the kernel gives up", end, lane)
        else:
            self._leave(does)
        return None

    def _targets(self, end: Instruction, targets: tuple[int, ...], does: Array) -> Any:
        """Return the basic block where each of some threads goes on."""
        if end.words[0] != "brx":
            return targets[0]
        which = self.view(str(end.operands[0]), "u32")
        beyond = does & (which >= len(targets))
        if beyond.any():
            lane = int(np.flatnonzero(beyond)[0])
            detail = f"label {int(which[lane])} of {len(targets)}"
            raise self.lanes.fault("out of bounds", detail, end, lane)
        return np.array(targets, "i4")[which[does]]

    def _leave(self, does: Array) -> None:
        """Let threads end; those that are held may have waited for them."""
        self.state[does] = self.next[does] = ENDED
        if self.order:
            self.order.ending |= does
        self.lanes.alive = self.lanes.alive & ~does
        warps = np.repeat(does.reshape(-1, WARP).any(1), WARP)
        again = warps & (self.state == HELD)
        self.state[again] = self.next[again]
        self._meet_warps()

    # ---- barriers of lanes of a warp ----

    def _meets_at_once(self, end: Instruction, does: Array) -> bool:
        """bar.warp.sync: note the masks of threads; return whether all need not wait."""
        masks = self._masks(end)
        self._check_masks(end, does, masks)
        self._count_barrier(end, does)
        self.masks[does] = masks[does]
        if not self._complete(does, self.masks)[does].all():
            return False
        self._are_met(does)
        return True

    def _meet_warps(self) -> None:
        """Let the threads go on that wait at a ``bar.warp.sync``, if their lanes have come.

        They may come to several: only the mask has to be the same.
        """
        waits = self.state == MEETS
        if waits.any() and (ready := self._complete(waits, self.masks)).any():
            self._are_met(ready)
            self.state[ready] = self.next[ready]

    def _are_met(self, lanes: Array) -> None:
        """What the lanes of a mask did is over for these lanes."""
        self.met += 1
        if self.order:
            for mask in np.unique(self.masks[lanes]):
                self.order.meet_warps(lanes & (self.masks == mask))

    def _all_or_none(self, one: Instruction, does: Array) -> None:
        """Raise a fault if only some of a warp that have not ended do something."""
        some = packed(does)
        missing = does & (some != packed(self.lanes.alive))
        if missing.any():
            lane = int(np.flatnonzero(missing)[0])
            raise self.lanes.fault("warp not whole", "only some come here", one, lane)

    # ---- barriers ----

    def _arrive(self, one: Instruction, does: Array) -> None:
        """Let threads come to a barrier, and wait there if they have to."""
        words = list(map(str, one.operands))
        number, *count = words[1:-1] if one.has("red") else words
        self.number[does] = self._value(number)[does]
        self.wanted[does] = self._value(count[0])[does] if count else 0
        wrong = does & ((self.number > 15) | (self.wanted % WARP != 0))
        if count:
            wrong |= does & (self.wanted == 0)
        if wrong.any():
            lane = int(np.flatnonzero(wrong)[0])
            detail = (
                f"number {self.number[lane]}, {self.wanted[lane]} threads: barriers"
            )
            detail += " have the numbers 0 to 15, and are for whole warps"
            raise self.lanes.fault("barrier", detail, one, lane)
        if not one.has("arrive"):
            self.state[does] = WAITS
        if count:
            for warp in np.unique(self.everybody[does] // WARP).tolist():
                own = warp * WARP + np.flatnonzero(does[warp * WARP :][:WARP])
                self._count_arrivals(one, own)

    def _count_arrivals(self, one: Instruction, lanes: Array) -> None:
        """Let threads of a warp come to a barrier for so many threads, which may open."""
        lane = int(lanes[0])
        key = lane // self.lanes.padded, int(self.number[lane])
        coming = self.arrived.setdefault(key, [])
        # A warp comes as a whole, even if some of its threads have ended.
        coming.append((one, lanes, WARP if needs_warp(one) else len(lanes)))
        wanted = int(self.wanted[lane])
        if self.expected.setdefault(key, wanted) != wanted:
            detail = f"barrier {key[1]} is for {wanted} threads here, and for"
            detail += f" {self.expected[key]} at line {coming[0][0].line}"
            raise self.lanes.fault("barrier", detail, one, lane)
        if sum(count for *_, count in coming) >= wanted:
            del self.arrived[key], self.expected[key]
            self._open(coming)

    def _open(self, coming: list[tuple[Instruction, Array, int]]) -> None:
        """Let the threads go on that wait at a barrier, now that so many have come."""
        waits = np.zeros(self.lanes.count, bool)
        for one, lanes, _ in coming:
            waits[lanes] = not one.has("arrive")
        for at in np.unique(self.next[waits]).tolist():
            one, here = self._barrier_before(at), waits & (self.next == at)
            if one.has("red"):
                self._count(one, here)
        last, own, _ = coming[-1]
        self._count_barrier(last, waits | (self.everybody == own[0]))
        if self.order:
            senders = np.concatenate([lanes for _, lanes, _ in coming])
            self.order.meet(np.unique(senders), np.flatnonzero(waits))
        self._go_on(waits)

    def _value(self, word: str) -> Array:
        """Return an operand of each lane: a whole number, or a register."""
        if self.program.kernel.type_of(word):
            return self.view(word, "u32")
        return np.broadcast_to(literal(word, "u32"), self.lanes.count)

    def _meet(self) -> bool:
        """Let the threads go on whose barriers are complete; return whether any did."""
        alive, shape = self.lanes.alive, (-1, self.lanes.padded)
        waits = self.state == WAITS
        all_there = ((waits & (self.wanted == 0)) | ~alive).reshape(shape).all(1)
        complete = all_there & alive.reshape(shape).any(1)
        here = alive & np.repeat(complete, self.lanes.padded)
        if not here.any() or not (self.access.waits or (here == alive).all()):
            return False
        some_ended = (
            self.lanes.launched & ~alive & np.repeat(complete, self.lanes.padded)
        )
        if some_ended.any() and self.access.check and not self.order:
            raise NeedsHistory
        first = np.where(here, self.next, ENDED).reshape(shape).min(1)
        apart = (np.where(here, self.next, 0).reshape(shape).max(1) != first) & complete
        for number in np.flatnonzero(apart).tolist():
            self._two_barriers(number * self.lanes.padded)
        for at in np.unique(self.next[here]).tolist():
            one, own = self._barrier_before(at), here & (self.next == at)
            if one.has("red"):
                self._count(one, own)
        self._count_barrier(one, here)
        if self.order:
            self.order.barrier(here)
        elif self.access.check:
            self.access.meet()
        self._go_on(here)
        return True

    def _go_on(self, lanes: Array) -> None:
        self.state[lanes] = self.next[lanes]
        self.wanted[lanes] = 0
        self.met += 1

    def _stuck(self) -> None:
        """Raise a fault: nobody goes on."""
        held = np.flatnonzero(self.lanes.alive & np.isin(self.state, (HELD, MEETS)))
        if len(held):
            self._not_whole(int(held[0]))
        lane = int(np.flatnonzero(self.lanes.alive & (self.state == WAITS))[0])
        one = self._barrier_before(int(self.next[lane]))
        detail = (
            "some threads of the block wait at other barriers, or for so many threads"
        )
        raise self.lanes.fault("barrier", detail, one, lane)

    def _count(self, one: Instruction, lanes: Array) -> None:
        """bar.red: what the threads of each block find together at their barrier."""
        result, *_, p = map(str, one.operands)
        if self.program.kernel.type_of(p.lstrip("!")):
            holds = self.registers[p.lstrip("!")] ^ (p[0] == "!")
        else:
            holds = np.broadcast_to(literal(p, "pred"), self.lanes.count)
        shape = (-1, self.lanes.padded)
        yes, no = (lanes & holds).reshape(shape), (lanes & ~holds).reshape(shape)
        found = {"popc": yes.sum(1), "and": ~no.any(1), "or": yes.any(1)}
        how = next(word for word in one.words if word in found)
        everywhere = np.repeat(found[how], self.lanes.padded)
        self.view(result, one.kind)[lanes] = everywhere[lanes]

    def _two_barriers(self, first: int) -> None:
        """Raise a fault if not all threads of a block wait at a barrier of one number.

        Warps may wait at different instructions: ``.aligned`` asks only that all of one
        warp are at the same, as `_whole_warps` sees to. Those that count may not.
        """
        alive = self.lanes.alive[first : first + self.lanes.padded]
        waiting = first + np.flatnonzero(alive)
        apart = self.next[waiting[self.next[waiting] != self.next[waiting[0]]]]
        one = self._barrier_before(int(self.next[waiting[0]]))
        for other in map(self._barrier_before, np.unique(apart).tolist()):
            numbers = np.unique(self.number[waiting])
            if one.has("red") or other.has("red") or len(numbers) > 1:
                detail = f"some threads wait here, others at line {other.line}"
                raise self.lanes.fault("barrier", detail, one, int(waiting[0]))

    def _barrier_before(self, at: int) -> Instruction:
        end = self.blocks[at - 1].end
        assert end is not None
        return end

    def _not_whole(self, lane: int) -> None:
        """Raise a fault: a thread waits for others of its warp."""
        one, first = self._held_at(lane), lane // WARP * WARP
        own = np.arange(first, first + WARP)
        missing = own[self.lanes.alive[own] & (self.next[own] != self.next[lane])]
        for other in map(self._held_at, missing[self.state[missing] == HELD].tolist()):
            if other.opcode == one.opcode and one.opcode.startswith(COLLECTIVE):
                why = f"other lanes of the warp are at line {other.line} for it"
                raise one.unsupported(why)
        detail = f"{len(missing)} threads of its warp do not come here"
        if one.is_for_some or self.state[lane] == MEETS:
            mask = int(self._masks(one)[lane])
            detail = f"not all threads of its mask {mask:#x} come here with this mask"
        raise self.lanes.fault("warp not whole", detail, one, lane)

    def _held_at(self, lane: int) -> Instruction:
        """Return the instruction at which a thread waits for others of its warp."""
        if self.state[lane] == MEETS:
            return self._barrier_before(int(self.next[lane]))
        return next(filter(needs_warp, self.blocks[int(self.next[lane])].instructions))

    def _count_barrier(self, one: Instruction, who: Array) -> None:
        """Raise a fault if with one more barrier the limit is reached."""
        self.steps += BARRIER
        if self.steps > self.limit or self.access.is_full():
            self._endless(one, who)

    def _endless(self, one: Instruction, who: Array) -> None:
        """Raise a fault: the limit is reached."""
        detail = (
            f"more than {self.limit} basic blocks, or a {BARRIER}th as many barriers"
        )
        raise self.lanes.fault("endless", detail, one, int(np.flatnonzero(who)[0]))

    # ---- what warps do together ----

    def _instruction(self, number: int) -> Instruction:
        return self.program.instructions[number]

    def shuffle(
        self, number: int, mode: str, out: Array, valid: Array | None, a: Array, b: Array,
        c: Array, masks: Array, act: Array,
    ) -> None:  # fmt: skip
        """shfl: a number from another thread of the warp."""
        lane = self.lanes.lane
        source, inside = shuffle_source(mode, lane, b, c)
        place = self.everybody - lane + source
        here = self._together(number, act)
        masks = np.broadcast_to(masks, self.lanes.count)
        lost = here & ~(here[place] & (masks >> source.astype("u4") & 1 != 0))
        if lost.any():
            thread = int(np.flatnonzero(lost)[0])
            other = self.lanes.inside[place[thread]]
            detail = f"it reads thread {other}, which does not take part"
            raise self.lanes.fault("shuffle", detail, self._instruction(number), thread)
        value = np.broadcast_to(a, self.lanes.count)[place]
        which = slice(None) if act is None else act
        out[which] = value[which]
        if valid is not None:
            valid[which] = inside[which]

    def vote(self, number: int, mode: str, p: Array, masks: Array, act: Array) -> Array:
        """vote: all, any, whether all agree, or a bit for each thread of the warp."""
        here = self._together(number, act)
        p = np.broadcast_to(p, self.lanes.count)
        yes, no = packed(p & here) & masks, packed(~p & here) & masks
        if mode == "ballot":
            return yes
        found = {"all": no == 0, "any": yes != 0, "uni": (yes == 0) | (no == 0)}
        return found[mode]

    def reduce(
        self, number: int, mode: str, a: Array, masks: Array, act: Array
    ) -> Array:
        """redux: one number of all threads of the warp, or of those of a mask."""
        here = self._together(number, act)
        given = np.broadcast_to(a, self.lanes.count)
        masks = np.broadcast_to(masks, self.lanes.count)
        info, found = np.iinfo(given.dtype), given.copy()
        start = {"min": info.max, "and": info.max, "max": info.min}.get(mode, 0)
        names: dict[str, Any] = {"add": np.add, "min": np.minimum, "max": np.maximum}
        names |= {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}
        for mask in np.unique(masks[here]):
            group = here & (masks == mask)
            values = np.where(group, given, given.dtype.type(start)).reshape(-1, WARP)
            total = names[mode].reduce(values, axis=1, dtype=values.dtype)
            found[group] = np.repeat(total, WARP)[group]
        return found

    def match(
        self, number: int, mode: str, a: Array, masks: Array, act: Array
    ) -> Array:
        """match: the lanes that bring the same number; or all, if all bring one number."""
        here = self._together(number, act)
        given = np.broadcast_to(a, self.lanes.count).reshape(-1, WARP)
        same = (given[:, :, None] == given[:, None]) & here.reshape(-1, 1, WARP)
        found = (same << np.arange(WARP, dtype="u4")).sum(2, dtype="u4").reshape(
            -1
        ) & masks
        everyone = packed(here) & masks
        return found if mode == "any" else np.where(found == everyone, found, 0)

    def active_mask(self, act: Array) -> Array:
        """activemask: the threads of the warp that are here together."""
        found = packed(self._asked(act))
        return found

    def whole_warps(self, number: int, act: Array) -> None:
        """Raise a fault if not all 32 lanes of a warp execute an instruction."""
        if act is None:
            return
        here = self._asked(act).reshape(-1, WARP)
        missing = here & ~here.all(1, keepdims=True)
        if missing.any():
            lane, one = int(np.flatnonzero(missing)[0]), self._instruction(number)
            detail = "all 32 lanes have to come here"
            raise self.lanes.fault("warp not whole", detail, one, lane)

    def _together(self, number: int, act: Array) -> Array:
        """Return which threads execute an instruction for all of a warp, or for some."""
        here, one = self._asked(act), self._instruction(number)
        if not one.is_for_some:
            self._all_or_none(one, here)
        return here

    def _asked(self, act: Array) -> Array:
        """Return which threads execute the instruction at hand."""
        here = np.zeros(self.lanes.count, bool)
        here[slice(None) if act is None else act] = True
        return here

    def divisor(self, number: int, b: Array, act: Array) -> Array:
        """Return divisors, 1 in lanes that do not divide; raise a fault if one is 0."""
        zero = np.broadcast_to(b == 0, self.lanes.count)
        if not zero.any():
            return b
        wrong = zero & self._asked(act)
        if wrong.any():
            one, lane = self._instruction(number), int(np.flatnonzero(wrong)[0])
            raise self.lanes.fault(
                "division by zero", "the result is not defined", one, lane
            )
        return np.where(zero, b.dtype.type(1), b)


def packed(lanes: Array) -> Array:
    """Return for each lane a word with a bit for each lane of its warp."""
    bits = lanes.reshape(-1, WARP) * (np.uint32(1) << np.arange(WARP, dtype="u4"))
    return np.repeat(bits.sum(1, dtype="u4"), WARP)


def shuffle_source(mode: str, lane: Array, b: Array, c: Array) -> tuple[Array, Array]:
    """Return the lane that each lane reads, and whether that is inside its segment.

    As in NVIDIA's manual, `b` says which lane, and `c` holds clamp and segment.
    """
    lane, b, c = (np.asarray(x).astype("i4") for x in (lane, b, c))
    b, clamp, segment = b & 31, c & 31, c >> 8 & 31
    most = (lane & segment) | (clamp & ~segment)
    least = lane & segment
    sources = {"up": lane - b, "down": lane + b, "bfly": lane ^ b}
    sources["idx"] = least | (b & ~segment)
    source = sources[mode]
    valid = source >= most if mode == "up" else source <= most
    return np.where(valid, source, lane), valid
