"""The happens-before relation of a run, from its definition: an oracle for ptxsim.

`Log` is a ``step`` function of `ptxsim.run` with ``check=False``. It records every access
of every thread, with addresses that it computes from registers, and keeps a vector clock
for each thread. `Log.conflicts` then looks at every pair of accesses to the same bytes,
one of which writes: they conflict if neither happens before the other.

- A barrier orders what the threads at it did before for what they do afterwards, and so
  does ``bar.warp.sync`` for its lanes. Shuffles, ``ldmatrix`` and ``mma`` order nothing.
- An asynchronous copy lasts from its issue until its thread waits for its group. It
  happens before what follows that wait; before it happens what precedes its issue.
- A fence publishes what its thread knows, and the strong writes of the thread after it
  leave that at their addresses. A release leaves what its thread knows and did at its own
  address only. Strong reads of an address learn what is left there.
- A lane reads what ``ldmatrix`` gives to it, whichever lane names the row.
- Stores of the same bytes by one line of the source do not conflict with each other.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ptxsim.machine import Machine
from ptxsim.registers import whole
from ptxsim.syntax import SIZES, Instruction, Memory, Vector
from ptxsim.writer import results

Array = np.ndarray
WARP, FOREVER = 32, 2**40
STRONG = {"volatile", "relaxed", "acquire", "release", "acq_rel"}
RELEASES = {"release", "acq_rel", "sc"}


class Conflict(NamedTuple):
    """What is wrong: as ptxsim calls it, the line of the PTX, and the line before it."""

    kind: str
    line: int
    other: int = 0


class Extent(NamedTuple):
    """The bytes of an array: in global memory the argument `number`."""

    space: str
    first: int
    size: int
    number: int = -1


@dataclass
class Access:
    """An access of several threads by one instruction; an element for each address.

    Attributes
    ----------
    order : int
        When it was executed; a copy: issued.
    what : str
        "read", "write", "atomic" or "copy".
    start, end : ndarray
        When it begins and when it is over, by the clock of its own thread.
    landed : ndarray
        When, in the order of execution, it was over.
    clock : ndarray
        The number of the clock that each thread had.
    values : ndarray or None
        The bytes that are stored.
    """

    one: Instruction
    order: int
    space: str
    what: str
    threads: Array
    address: Array
    size: int
    start: Array
    end: Array
    landed: Array
    clock: Array
    values: Array | None = None

    @property
    def writes(self) -> bool:
        return self.what != "read"

    @property
    def strong(self) -> bool:
        return is_strong(self.one)


def is_strong(one: Instruction) -> bool:
    return one.words[0] in ("atom", "red") or bool(STRONG & {*one.words})


class Log:
    """What the threads of one run do.

    Parameters
    ----------
    args : sequence
        The arguments of the kernel, a parameter each.
    outputs, changed : sequence of int
        As for `ptxsim.run`.
    dynamic : int
        Bytes of shared memory that the launch adds.
    """

    def __init__(self, args: Any, outputs: Any, changed: Any, dynamic: int) -> None:
        self.args, self.outputs, self.changed = args, outputs, changed
        self.dynamic = dynamic
        self.machine: Machine | None = None

    def __call__(self, machine: Machine, number: int, act: Array | None) -> None:
        if machine is not self.machine:
            self._begin(machine)
        self.order += 1
        one = machine.program.instructions[number]
        lanes = np.arange(machine.lanes.count) if act is None else act
        self.executed.add(one.line)
        does = DOES.get(one.words[0])
        if does is None:
            return
        if one.guard:
            lanes = lanes[machine.registers[one.guard][lanes] ^ one.negated]
        if len(lanes):
            does(self, one, lanes)

    def _begin(self, machine: Machine) -> None:
        assert machine.lanes.total == machine.lanes.blocks, "one batch of blocks"
        self.machine, self.count = machine, machine.lanes.count
        self.threads = np.arange(self.count)
        self.block = self.threads // machine.lanes.padded
        self.alive = machine.lanes.launched.copy()
        self.arrived = np.zeros(self.count, bool)
        self.order = 0
        self.executed: set[int] = set()  # lines
        self.accesses: list[Access] = []
        self.copies: list[tuple[Access, Array]] = []  # under way, and their groups
        self.groups = np.zeros(self.count, "i8")  # committed by each thread
        self.now = np.zeros(self.count, "i8")
        self.clocks = [np.zeros(self.count, "i8")]
        # Clocks, by their numbers: what threads know; what they have published, for all
        # threads and for those of their block; what is left in memory.
        self.known, self.wide, self.narrow = (
            np.zeros(self.count, "i8") for _ in range(3)
        )
        self.left: dict[tuple[str, int, int], tuple[int, int, int]] = {}
        self.wrong: set[Conflict] = set()
        self.extents = self._extents(machine)

    def _extents(self, machine: Machine) -> list[Extent]:
        kernel, found = machine.program.kernel, []
        for one in kernel.variables:
            size = self.dynamic if one.size < 0 else one.size
            at = int(machine.names["ADDRESS"][one.name])
            found.append(Extent(one.space, at, size))
        # An array is a pointer, or seven and more words with the pointer as the fifth.
        words = [5 + 2 * x.ndim if isinstance(x, np.ndarray) else 1 for x in self.args]
        names, fifth = [*kernel.parameters], len(kernel.parameters) == sum(words)
        assert fifth or len(names) == len(self.args), "another layout of arrays"
        for i, value in enumerate(self.args):
            if isinstance(value, np.ndarray):
                name = names[sum(words[:i]) + 4 if fifth else i]
                at = int(machine.names["PARAMETER"][name].view("u8")[0])
                found.append(Extent("global", at, value.nbytes, i))
        return found

    # ---- registers ----

    def _numbers(self, word: str, lanes: Array, size: int) -> Array:
        """Return an operand of some lanes: a register, or a whole number."""
        assert self.machine is not None
        if self.machine.program.kernel.type_of(word):
            return self.machine.view(word, f"u{8 * size}")[lanes]
        return np.full(len(lanes), whole(word) % 2 ** (8 * size), f"u{size}")

    def _address(self, one: Instruction, where: Any, lanes: Array) -> Array:
        """Return the address of each lane; it must not have changed since."""
        assert self.machine is not None
        if not isinstance(where, Memory) or where.base in results(one):
            raise NotImplementedError(one.text)
        kind = self.machine.program.kernel.type_of(where.base)
        if kind:
            base = self._numbers(where.base, lanes, SIZES[kind])
        else:
            base = np.full(len(lanes), int(self.machine.names["ADDRESS"][where.base]))
        return base.astype("i8") + where.offset

    # ---- accesses ----

    def _may(
        self, one: Instruction, space: str, address: Array, size: int, write: bool
    ) -> Array:
        """Return which accesses are aligned and inside of an array."""
        aligned, inside = address % size == 0, np.zeros(len(address), bool)
        for extent in self.extents:
            if extent.space != space:
                continue
            end = extent.first + extent.size - size
            own = (address >= extent.first) & (address <= end)
            inside |= own
            given = extent.number >= 0 and not {extent.number} & {
                *self.outputs,
                *self.changed,
            }
            if write and given and own.any():
                self.wrong.add(Conflict("input overwritten", one.line))
        if not aligned.all():
            self.wrong.add(Conflict("misaligned", one.line))
        if not inside.all():
            self.wrong.add(Conflict("out of bounds", one.line))
        return aligned & inside

    def _record(
        self, one: Instruction, space: str, what: str, lanes: Array, address: Array,
        size: int, values: Array | None = None, lasts: bool = False,
    ) -> Access:  # fmt: skip
        start = self.now[lanes]
        order = np.full(len(lanes), FOREVER if lasts else self.order)
        end = np.full(len(lanes), FOREVER) if lasts else start
        access = Access(
            one, self.order, space, what, lanes, address, size, start, end, order,
            self.known[lanes], values,
        )  # fmt: skip
        self.accesses.append(access)
        return access

    def _space(self, one: Instruction) -> str | None:
        """Return the state space of an access; None if no other thread can reach it."""
        if {"param", "local", "const"} & {*one.words}:
            return None
        for space in ("shared", "global"):
            if one.has(space):
                return space
        raise NotImplementedError(one.text)

    def move(self, one: Instruction, lanes: Array) -> None:
        """ld, st"""
        if (space := self._space(one)) is None:
            return
        loads = one.words[0] == "ld"
        where, moved = one.operands if not loads else one.operands[::-1]
        parts = moved.parts if isinstance(moved, Vector) else (str(moved),)
        each = SIZES[one.kind]
        address, size = self._address(one, where, lanes), each * len(parts)
        may = self._may(one, space, address, size, not loads)
        self.now[lanes] += 1
        if is_strong(one) and loads:
            self._learn(space, lanes, address)
        values = None
        if not loads:
            columns = [self._numbers(part, lanes, each) for part in parts]
            values = np.stack(columns, 1).view("u1")[may]
        own, at = lanes[may], address[may]
        self._record(one, space, "read" if loads else "write", own, at, size, values)
        if not loads:
            self._leave(one, space, own, at, size)

    def change(self, one: Instruction, lanes: Array) -> None:
        """atom, red: one thread after the other."""
        space, size = self._space(one), SIZES[one.kind]
        where = one.operands[int(one.words[0] == "atom")]
        assert space is not None
        address = self._address(one, where, lanes)
        may = self._may(one, space, address, size, True)
        lanes, address = lanes[may], address[may]
        self.now[lanes] += 1
        fails = np.zeros(len(lanes), bool)
        if one.has("cas"):
            if {*map(str, one.operands[2:])} & results(one):
                raise NotImplementedError(one.text)
            old = self._numbers(str(one.operands[0]), lanes, size)
            fails = old != self._numbers(str(one.operands[2]), lanes, size)
        for i in range(len(lanes)):
            own, at = lanes[i : i + 1], address[i : i + 1]
            self._learn(space, own, at)
            self._record(one, space, "atomic", own, at, size)
            if not fails[i]:
                self._leave(one, space, own, at, size)

    def load_matrices(self, one: Instruction, lanes: Array) -> None:
        """ldmatrix: eight lanes name the rows of a matrix, and four receive each row."""
        count = int(next(x for x in one.words if x in ("x1", "x2", "x4"))[1:])
        address = self._address(one, one.operands[1], lanes).reshape(-1, WARP)
        rows = address[:, : 8 * count].reshape(-1, count, 8)
        may = self._may(one, "shared", rows.reshape(-1), 16, False)
        self.now[lanes] += 1
        lane = np.arange(WARP)
        if one.has("trans"):  # two numbers, of two rows
            size = 2
            at = [rows[..., 2 * (lane % 4) + i] + 2 * (lane // 4) for i in (0, 1)]
        else:
            size, at = 4, [rows[..., lane // 4] + 4 * (lane % 4)]
        received = np.stack(at, 1).reshape(len(rows), -1, WARP)
        whole_warps = may.reshape(len(rows), -1).all(1)
        received = received[whole_warps]
        own = lanes.reshape(-1, WARP)[whole_warps][:, None]
        own = np.broadcast_to(own, received.shape).reshape(-1)
        self._record(one, "shared", "read", own, received.reshape(-1), size)

    # ---- asynchronous copies ----

    def asynchronous(self, one: Instruction, lanes: Array) -> None:
        """cp.async and what goes with it."""
        self.now[lanes] += 1
        if one.has("commit_group"):
            self.groups[lanes] += 1
        elif one.has("wait_group"):
            self._land(lanes, whole(str(one.operands[0])))
        elif one.has("wait_all"):
            self._land(lanes, -1)
        else:
            self._copy(one, lanes)

    def _copy(self, one: Instruction, lanes: Array) -> None:
        to, source, size, *some = one.operands
        size = whole(str(size))
        address = self._address(one, to, lanes)
        may = self._may(one, "shared", address, size, True)
        own, at = lanes[may], address[may]
        access = self._record(one, "shared", "copy", own, at, size, lasts=True)
        self.copies.append((access, self.groups[own]))
        read = np.full(len(lanes), size)
        if some:
            read = self._numbers(str(some[0]), lanes, 4).astype("i8")
        if (read > size).any():
            self.wrong.add(Conflict("out of bounds", one.line))
        address = self._address(one, source, lanes)
        if (address[read > 0] % size).any():
            self.wrong.add(Conflict("misaligned", one.line))
        for part in np.unique(read[(read > 0) & (read <= size)]).tolist():
            which = read == part
            ends = address[which], address[which] + part - 1
            may = self._may(one, "global", ends[0], 1, False)
            may &= self._may(one, "global", ends[1], 1, False)
            own, at = lanes[which][may], address[which][may]
            access = self._record(one, "global", "read", own, at, part, lasts=True)
            self.copies.append((access, self.groups[own]))

    def _land(self, lanes: Array, left: int) -> None:
        """End the copies of some threads, but for their last groups."""
        here = np.zeros(self.count, bool)
        here[lanes] = True
        for access, group in self.copies:
            own = access.threads
            done = here[own] & (group < self.groups[own] - left)
            done &= access.end == FOREVER
            access.end[done] = self.now[own[done]]
            access.landed[done] = self.order
        self.copies = [x for x in self.copies if (x[0].end == FOREVER).any()]

    # ---- barriers ----

    def barrier(self, one: Instruction, lanes: Array) -> None:
        """bar.sync 0, bar.warp.sync"""
        self.now[lanes] += 1
        if one.opcode == "bar.warp.sync":
            masks = self._numbers(str(one.operands[0]), lanes, 4)
            for warp, mask in {*zip((lanes // WARP).tolist(), masks.tolist())}:
                self._meet(lanes[(lanes // WARP == warp) & (masks == mask)])
            return
        if one.words not in (("bar", "sync"), ("barrier", "sync", "aligned")):
            raise NotImplementedError(one.text)
        if one.operands != ("0",):
            raise NotImplementedError(one.text)
        self.arrived[lanes] = True
        self._open()

    def leave(self, one: Instruction, lanes: Array) -> None:
        """ret, exit"""
        self.alive[lanes] = False
        self._open()

    def _open(self) -> None:
        for block in np.unique(self.block[self.arrived]).tolist():
            own = self.block == block
            if (self.arrived | ~self.alive)[own].all():
                self._meet(np.flatnonzero(own & self.arrived))
                self.arrived[own] = False

    def _meet(self, group: Array) -> None:
        """Let threads know what all of them know and did, and have published."""
        known = self._joined(*np.unique(self.known[group]).tolist()).copy()
        known[group] = np.maximum(known[group], self.now[group])
        self.known[group] = self._number(known)
        for published in (self.wide, self.narrow):
            numbers = np.unique(published[group]).tolist()
            if len(numbers) > 1:
                published[group] = self._number(self._joined(*numbers))

    def _number(self, clock: Array) -> int:
        self.clocks.append(clock)
        return len(self.clocks) - 1

    def _joined(self, *numbers: int) -> Array:
        return np.max([self.clocks[number] for number in numbers], 0)

    # ---- what is published through memory ----

    def fence(self, one: Instruction, lanes: Array) -> None:
        """membar, fence"""
        self.now[lanes] += 1
        self._publish(one, lanes)

    def _publish(self, one: Instruction, lanes: Array) -> None:
        for lane in lanes.tolist():
            self.narrow[lane] = self._own(lane)
            if not one.has("cta"):
                self.wide[lane] = self.narrow[lane]

    def _own(self, lane: int) -> int:
        """Return the number of a clock of what a thread knows and did."""
        clock = self.clocks[self.known[lane]].copy()
        clock[lane] = self.now[lane]
        return self._number(clock)

    def _key(self, space: str, lane: int, address: int) -> tuple[str, int, int]:
        return space, int(self.block[lane]) if space == "shared" else 0, address

    def _learn(self, space: str, lanes: Array, address: Array) -> None:
        """Let threads learn what is left at addresses, and publish it from then on."""
        for lane, at in zip(lanes.tolist(), address.tolist()):
            wide, narrow, block = self.left.get(self._key(space, lane, at), (0, 0, 0))
            narrow = narrow if block == self.block[lane] else 0
            if wide or narrow:
                for column, more in (
                    (self.known, (wide, narrow)),
                    (self.narrow, (wide, narrow)),
                    (self.wide, (wide,)),
                ):
                    column[lane] = self._number(self._joined(int(column[lane]), *more))

    def _leave(
        self, one: Instruction, space: str, lanes: Array, address: Array, size: int
    ) -> None:
        """Leave at addresses what threads have published; a weak store removes it."""
        if not is_strong(one):
            for key in [*self.left] if self.left else ():
                inside = (address <= key[2]) & (key[2] < address + size)
                if key[0] == space and inside.any():
                    del self.left[key]
            return
        adds = one.words[0] in ("atom", "red")
        for lane, at in zip(lanes.tolist(), address.tolist()):
            key, own = self._key(space, lane, at), int(self.block[lane])
            wide, narrow = int(self.wide[lane]), int(self.narrow[lane])
            if RELEASES & {*one.words}:
                narrow = self._own(lane)
                wide = wide if one.has("cta") else narrow
            if adds:
                old = self.left.get(key, (0, 0, own))
                wide = self._number(self._joined(wide, old[0]))
                before = old[1] if old[2] == own else 0
                narrow = self._number(self._joined(narrow, before))
            self.left[key] = wide, narrow, own

    # ---- every pair ----

    def conflicts(self) -> set[Conflict]:
        """Return all that is wrong with the run."""
        found = set(self.wrong)
        for space in ("shared", "global"):
            accesses = [x for x in self.accesses if x.space == space and len(x.threads)]
            if accesses:
                found |= Pairs(self, accesses).conflicts()
        return found | self._not_written()

    def _not_written(self) -> set[Conflict]:
        for extent in self.extents:
            if extent.number not in self.outputs or extent.space != "global":
                continue
            open_ = np.ones(extent.size, bool)
            for access in self.accesses:
                if access.space == "global" and access.writes:
                    at = access.address[:, None] - extent.first + np.arange(access.size)
                    at = at.reshape(-1)
                    open_[at[(at >= 0) & (at < extent.size)]] = False
            if open_.any():
                return {Conflict("not written", 0)}
        return set()


DOES = {"ld": Log.move, "st": Log.move, "atom": Log.change, "red": Log.change}
DOES |= {"ldmatrix": Log.load_matrices, "cp": Log.asynchronous}
DOES |= {
    "bar": Log.barrier,
    "barrier": Log.barrier,
    "ret": Log.leave,
    "exit": Log.leave,
}
DOES |= {"fence": Log.fence, "membar": Log.fence}


class Pairs:
    """The accesses to one state space: a column for each attribute, a row for each cell.

    A cell is as large as the smallest access. Rows are in the order of the cells, and
    those of one cell in the order of execution.
    """

    def __init__(self, log: Log, accesses: list[Access]) -> None:
        self.log, self.accesses = log, accesses
        grain = int(np.gcd.reduce([8, *(access.size for access in accesses)]))
        for access in accesses:
            grain = int(np.gcd(grain, np.gcd.reduce(access.address)))
        rows: list[list[Array]] = []
        for number, access in enumerate(accesses):
            each = access.size // grain
            cells = (access.address // grain)[:, None] + np.arange(each)
            if access.space == "shared":
                cells = cells + (log.block[access.threads] << 40)[:, None]
            columns = [np.full(len(access.threads), number), access.threads]
            columns += [access.start, access.end, access.landed, access.clock]
            values = np.zeros((len(access.threads), each), "i8")
            if access.values is not None:
                values[:] = access.values.view(f"u{grain}").astype("i8")
            columns = [np.repeat(column, each) for column in columns]
            rows.append([cells.reshape(-1), *columns, values.reshape(-1)])
        columns = [np.concatenate(column) for column in zip(*rows)]
        place = np.argsort(columns[0], kind="stable")
        columns = [column[place] for column in columns]
        self.cell, self.which, self.thread = columns[:3]
        self.start, self.end, self.landed, self.clock, self.value = columns[3:]
        self.grain = grain
        self.writes = np.array([x.writes for x in accesses])[self.which]
        changes = np.diff(self.cell, prepend=-1, append=-1) != 0
        starts = np.flatnonzero(changes)
        self.first = np.repeat(starts[:-1], np.diff(starts))  # of the same cell
        self.after = np.repeat(starts[1:], np.diff(starts))

    def conflicts(self) -> set[Conflict]:
        return self._uninitialised() | self._unordered()

    def _uninitialised(self) -> set[Conflict]:
        """Return reads of cells that nobody has written before."""
        reads = np.array([x.what in ("read", "atomic") for x in self.accesses])
        before = np.cumsum(self.writes) - self.writes
        never = reads[self.which] & (before == before[self.first])
        for extent in self.log.extents:
            if extent.number >= 0 and extent.number not in self.log.outputs:
                address = self.cell * self.grain
                own = (address >= extent.first) & (address < extent.first + extent.size)
                never &= ~own | (self.accesses[0].space != "global")
        lines = np.array([access.one.line for access in self.accesses])
        found = np.unique(lines[self.which[never]])
        return {Conflict("uninitialised", line) for line in found.tolist()}

    def _unordered(self) -> set[Conflict]:
        """Return pairs of accesses that nothing orders, one of which writes."""
        write = np.flatnonzero(self.writes)
        counts = self.after[write] - self.first[write]
        one = np.repeat(write, counts)
        other = np.arange(len(one)) - np.repeat(np.cumsum(counts) - counts, counts)
        other += self.first[one]
        once = ~self.writes[other] | (other > one)
        once &= other != one
        one, other = one[once], other[once]
        first, second = np.minimum(one, other), np.maximum(one, other)
        clocks = np.stack(self.log.clocks)
        knows = clocks[self.clock[second], self.thread[first]] >= self.end[first]
        same = self.thread[first] == self.thread[second]
        before = np.where(same, self.end[first] < self.start[second], knows)
        before |= same & (self.which[first] == self.which[second])
        first, second = first[~before], second[~before]
        harmless = self._harmless(first, second)
        first, second = first[~harmless], second[~harmless]
        order = np.array([access.order for access in self.accesses])
        flies = self.landed[first] > order[self.which[second]]
        lines = np.array([access.one.line for access in self.accesses])
        rows = np.stack([lines[self.which[second]], lines[self.which[first]], flies], 1)
        return {
            Conflict("copy under way" if copying else "race", line, before)
            for line, before, copying in np.unique(rows, axis=0).tolist()
        }

    def _harmless(self, first: Array, second: Array) -> Array:
        """Return which pairs may come in any order."""
        a, b = self.which[first], self.which[second]
        sources: dict[object, int] = {}
        source, strong, narrow, size, plain = (
            np.array(column)
            for column in zip(*(
                (
                    sources.setdefault(x.one.source or x.one.line, len(sources)),
                    x.strong, x.one.has("cta"), x.size, x.what == "write",
                )
                for x in self.accesses
            ))
        )  # fmt: skip
        block = self.log.block[self.thread]
        inside = block[first] == block[second]
        morally = strong[a] & strong[b] & (size[a] == size[b])
        morally &= inside | ~(narrow[a] | narrow[b])
        equal = (plain & ~strong)[a] & (plain & ~strong)[b] & (source[a] == source[b])
        return morally | (equal & (self.value[first] == self.value[second]))
