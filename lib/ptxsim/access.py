"""What translated code calls for memory: loads, stores, atomics, copies."""

import math
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from ptxsim.arithmetic import TINY
from ptxsim.faults import Fault
from ptxsim.history import History
from ptxsim.lanes import Lanes
from ptxsim.memory import FLYING, GAP, GIVEN, IN_BLOCK, IN_GRID, Array, Space, Touch
from ptxsim.order import Order
from ptxsim.syntax import SIZES, SPACES, Instruction, Kernel, counts_threads
from ptxsim.writer import reads

# Where the state spaces are among the generic addresses; the manual leaves that open.
# Only those of global memory do not fit into 32 bits.
BASES = {"SHARED": 1 << 24, "LOCAL": 1 << 28, "CONST": 1 << 30, "GLOBAL": 1 << 44}
ENDS = {"SHARED": 1 << 28, "LOCAL": 1 << 30, "CONST": 1 << 44, "GLOBAL": 1 << 63}
LOCAL_GAP = 256
TURN = {1: 32, 2: 32, 4: 32, 8: 16, 16: 8}  # threads whose accesses are served at once
BANKS = 32  # of four bytes each
RELEASES = ("release", "acq_rel", "sc")
SECTOR = 32  # bytes


def grain_of(kernel: Kernel, space: str, sizes: Iterable[int]) -> int:
    """Return the grain of a state space: 4 bytes at most.

    It divides every access, and the sizes of all arrays there, so that no grain belongs
    to an array in part. `sizes` are those that the launch adds: of arrays, or of
    dynamic shared memory.
    """
    sizes = [4, *sizes]
    for one in kernel.instructions():
        named = set(one.words) & {*SPACES, "param"}  # a generic access may be to any
        if "param" in named:  # whose address is taken
            named = {"local", "const"}
        if one.words[0] in ("ld", "st", "atom", "red") and (
            not named or space in named
        ):
            sizes.append(SIZES[one.kind])
        if one.words[0] == "ldmatrix" and one.has("trans") and space == "shared":
            sizes.append(2)  # a lane receives two numbers from two rows
    for variable in kernel.variables:
        if variable.space == space:
            sizes += [variable.align, max(0, variable.size)]
    return math.gcd(*sizes)


def observers(kernel: Kernel) -> set[int]:
    """Return the numbers of the atomic operations whose results are read."""
    read = set().union(*map(reads, kernel.instructions()))
    return {
        number
        for number, one in enumerate(kernel.instructions())
        if one.words[0] == "atom" and str(one.operands[0]) in read
    }


def synchronizes(kernel: Kernel) -> bool:
    """Return whether threads may learn of each other by more than barriers of the block."""
    if observers(kernel):
        return True
    for one in kernel.instructions():
        first = one.words[0]
        if first in ("membar", "fence") or one.opcode == "bar.warp.sync":
            return True
        if first in ("ld", "st") and one.is_strong:
            return True
        if any(map(one.has, RELEASES)) or counts_threads(one):
            return True
    return False


def _sites(instructions: tuple[Instruction, ...]) -> Array:
    """Return for each instruction the number of the first one from the same source line.

    A compiler may make several of one store.
    """
    first: dict[object, int] = {}
    stores = [one.frames if one.words[0] == "st" else () for one in instructions]
    return np.array(
        [first.setdefault(line or i, i) for i, line in enumerate(stores)], "i4"
    )


class Copy:
    """An asynchronous copy that has not landed: by which instruction, whose, to where."""

    def __init__(
        self, number: int, lanes: Array, index: Array, data: Array, group: Array
    ) -> None:
        self.number, self.lanes, self.index = number, lanes, index
        self.data, self.group = data, group

    def some(self, which: Array) -> "Copy":
        """Return the part of some threads."""
        parts = (self.lanes, self.index, self.data, self.group)
        return Copy(self.number, *(part[which] for part in parts))


class Stored:
    """What threads are about to store: one, two or four numbers each."""

    def __init__(self, index: Array, words: Array, values: list[Array]) -> None:
        self.words, self.values = words, values
        self.first = index >> (words.itemsize.bit_length() - 1)

    def put(self) -> None:
        """Write it to memory."""
        for part, value in enumerate(self.values):
            self.words[self.first + part if part else self.first] = value

    def found(self, grain: int) -> Array:
        """Return where memory holds it already: (threads, grains)."""
        same = [
            self.words.take(self.first + part, mode="clip") == value
            for part, value in enumerate(self.values)
        ]
        return np.repeat(np.stack(same, -1), self.words.itemsize // grain, axis=1)


class Access:
    """The state spaces of a machine, and how its threads reach them.

    Attributes
    ----------
    spaces : dict of str to Space
        By name: SHARED, LOCAL, CONST, GLOBAL.
    profile : Counter or None
        Wavefronts, turns, sectors and requests by instruction.
    notes : dict of (int, str) to Fault
        By instruction and severity: what is no fault, the first time.
    waits : bool
        Whether threads may wait for each other, and not at barriers only.

    Parameters
    ----------
    kernel : Kernel
    lanes : Lanes
    check : bool
        Whether to look for faults.
    profile : bool
    sizes : list of int
        The bytes of each array among the arguments.
    dynamic : int
        Bytes of shared memory that the launch adds.
    history : bool
        Whether every access has to be remembered.
    """

    def __init__(
        self, kernel: Kernel, lanes: Lanes, check: bool, profile: bool,
        sizes: list[int], dynamic: int, history: bool,
    ) -> None:  # fmt: skip
        self.instructions = tuple(kernel.instructions())
        sites, self.observers = _sites(self.instructions), observers(kernel)
        self.waits, self.order = history, Order(lanes) if check and history else None
        self.lanes, self.check = lanes, check
        self.profile: Counter[tuple[int, str]] | None = Counter() if profile else None
        gap = -(-max([GAP, *sizes]) // GAP) * GAP
        gaps = {"LOCAL": LOCAL_GAP, "GLOBAL": gap}
        added = {"SHARED": [dynamic], "GLOBAL": sizes}
        self.spaces: dict[str, Space] = {}
        for name, base in BASES.items():
            grain = grain_of(kernel, name.lower(), added.get(name, ()))
            given = name.lower(), base, grain
            gap = gaps.get(name, GAP)
            if self.order and name in ("SHARED", "GLOBAL"):
                self.spaces[name] = History(*given, gap, lanes, self.order)
            else:
                tags = IN_BLOCK if name == "SHARED" else IN_GRID
                self.spaces[name] = Space(*given, tags, gap, lanes)
            self.spaces[name].instructions = self.instructions
            self.spaces[name].sites = sites
        self.spaces["GLOBAL"].block = lanes.padded
        self.copies: list[Copy] = []
        self.reads: list[
            Copy
        ] = []  # what copies under way read where it may be written
        self.groups = np.zeros(lanes.count, "i8")
        self.notes: dict[tuple[int, str], Fault] = {}
        self.changes = 0  # how often memory has changed
        self.everybody = np.arange(lanes.count)

    def make(self) -> None:
        """Allocate the bytes of all spaces."""
        lanes = self.lanes
        self.spaces["SHARED"].make(lanes.blocks, self.check)
        has_local = bool(self.spaces["LOCAL"].places)
        self.spaces["LOCAL"].make(lanes.count if has_local else 1, False)
        self.spaces["CONST"].make(1, False)
        self.spaces["GLOBAL"].make(1, self.check)
        every = np.arange(lanes.count)
        self.windows = {
            "shared": every // lanes.padded * self.spaces["SHARED"].window,
            "local": every * self.spaces["LOCAL"].window * has_local,
        }

    def begin_batch(self) -> None:
        """Forget what the last blocks had: shared and local memory, and copies."""
        self.spaces["SHARED"].clear()
        if self.spaces["LOCAL"].places:
            self.spaces["LOCAL"].clear()
        self.spaces["SHARED"].now = 0  # its tags are new; those of global memory stay
        if self.order:
            self.order.begin_batch()
        self.copies.clear()
        self.reads.clear()
        self.groups[:] = 0
        self.tick()
        self.meet()

    def tick(self) -> None:
        """Let the time go on."""
        if self.is_full():
            raise Fault("endless", "more barriers than a tag has times")
        for space in self.spaces.values():
            space.now += 1
        self._tag()

    def is_full(self) -> bool:
        """Return whether a tag has no room for a later time."""
        return any(x.now + 1 >= x.tags.latest for x in self.spaces.values())

    def meet(self) -> None:
        """All threads of each block reach a barrier."""
        self.tick()
        for space in self.spaces.values():
            space.barrier()

    def _tag(self) -> None:
        for space in self.spaces.values():
            inside = space.name == "shared"
            space.mine = space.tagged(
                self.lanes.inside if inside else self.lanes.everywhere
            )

    # ---- one access ----

    def place(
        self,
        number: int,
        space: Space,
        address: Any,
        offset: int,
        act: Array,
        size: int,
    ) -> Array:
        """Return where threads access memory, after a look at the alignment."""
        if isinstance(address, np.ndarray) and address.ndim:
            address = address.take(act) if act is not None else address
        else:
            address = np.full(self.lanes.count if act is None else len(act), address)
        windows = self.windows.get(space.name)
        if windows is not None and act is not None:
            windows = windows.take(act)
        index = space.index(address, offset, windows)
        if self.check and len(index) and int(np.bitwise_or.reduce(index)) & (size - 1):
            bad = int(np.flatnonzero(index & (size - 1))[0])
            why = f"the address is no multiple of {size}"
            raise self.fault("misaligned", number, space, index, bad, act, why)
        if self.profile is not None:
            self.measure(number, space, index, act, size)
        return index

    def fault(
        self, kind: str, number: int, space: Space, index: Array, bad: int, act: Array,
        why: str,
    ) -> Fault:  # fmt: skip
        """Return a fault of one of the accesses."""
        thread = bad if act is None else int(act[bad])
        where = space.name_of(int(index[bad]))
        detail = f"{where}{': ' if why else ''}{why}"
        return self.lanes.fault(kind, detail, self.instructions[number], thread)

    def watch(
        self, number: int, space: Space, index: Array, act: Array, size: int, how: str,
        stored: Stored | None = None, unit: int = 4,
    ) -> None:  # fmt: skip
        """Raise a fault if a thread may not access this; remember that it did."""
        if not (self.check and len(index)):
            return
        lanes = self.everybody if act is None else act
        one = self.instructions[number]
        touch = Touch(number, space.grains(index, size), lanes, unit, stored)
        touch = touch._replace(
            strong=one.is_strong,
            narrow=one.has("cta"),
            changes=how == "atomic",
            observes=number in self.observers,
        )
        if how != "read" and space.name == "global":
            self._leave_sources(number, space, index, touch)
        tag = (FLYING,) if how == "copy" else ()
        found = getattr(space, "write" if tag else how)(touch, *tag)
        if found:
            bad, kind, why = found
            raise self.fault(kind, number, space, index, bad, act, why)
        for severity, bad, why in space.notes:
            note = self.fault("race", number, space, index, bad, act, why)
            self.note(number, severity, note)
        space.notes.clear()

    def _leave_sources(
        self, number: int, space: Space, index: Array, touch: Touch
    ) -> None:
        """Raise a fault if a thread writes what an asynchronous copy may still read."""
        for copy in self.reads:
            source = space.grains(copy.index, copy.data.shape[1])
            bad = np.isin(touch.at, source).any(1)
            if bad.any():
                first, line = int(bad.argmax()), self.instructions[copy.number].line
                why = f"the copy on line {line} may still read it"
                fault = ("copy under way", number, space, index, first, touch.lanes)
                raise self.fault(*fault, why)

    def note(self, number: int, severity: str, fault: Fault) -> None:
        """Keep what is no fault: the first of each severity for each instruction."""
        fault.severity = severity
        self.notes.setdefault((number, severity), fault)

    def by_space(self, address: Array, act: Array) -> list[tuple[str, Array]]:
        """Return the spaces that generic addresses are in, and the threads."""
        lanes = np.arange(self.lanes.count) if act is None else act
        own = np.broadcast_to(address, self.lanes.count)[lanes].astype("u8")
        found = []
        for name, base in BASES.items():
            inside = (own >= base) & (own < ENDS[name])
            if name == "GLOBAL":  # and what is nowhere
                inside = (own >= base) | (own < BASES["SHARED"])
            if inside.any():
                found.append((name, lanes[inside]))
        return found

    def load(
        self, number: int, space: Space | None, address: Array, offset: int, dtype: str,
        outs: tuple[Array, ...], act: Array,
    ) -> None:  # fmt: skip
        """ld: read one, two or four numbers."""
        if space is None:
            for name, own in self.by_space(address, act):
                self.load(number, self.spaces[name], address, offset, dtype, outs, own)
            return
        words = space.views[dtype]
        size = words.itemsize * len(outs)
        index = self.place(number, space, address, offset, act, size)
        self._learn(number, space, index, act, "load")
        self.watch(number, space, index, act, size, "read", unit=words.itemsize)
        index >>= words.itemsize.bit_length() - 1
        for part, out in enumerate(outs):
            at = index + part if part else index
            if act is None and out.dtype == words.dtype:
                words.take(at, out=out, mode="clip")
            else:
                out[slice(None) if act is None else act] = words.take(at, mode="clip")

    def store(
        self, number: int, space: Space | None, address: Array, offset: int, dtype: str,
        values: tuple[Array, ...], act: Array,
    ) -> None:  # fmt: skip
        """st: write one, two or four numbers."""
        if space is None:
            for name, own in self.by_space(address, act):
                chosen = self.spaces[name]
                self.store(number, chosen, address, offset, dtype, values, own)
            return
        words = space.views[dtype]
        size = words.itemsize * len(values)
        index = self.place(number, space, address, offset, act, size)
        given = [
            value.take(act) if act is not None and np.ndim(value) else value
            for value in values
        ]
        stored = Stored(index, words, given)
        several = space.name != "local"  # a thread is alone there
        release = self.release(number)
        self.watch(
            number, space, index, act, size, "write", stored if several else None,
            words.itemsize,
        )  # fmt: skip
        self._learn(number, space, index, act, "store", release)
        stored.put()

    def atomic(
        self, number: int, space: Space | None, address: Array, offset: int, how: str,
        dtype: str, out: Array | None, values: tuple[Array, ...], act: Array,
    ) -> None:  # fmt: skip
        """atom, red: one thread after the other, in their order."""
        if space is None:
            for name, own in self.by_space(address, act):
                to = self.spaces[name]
                self.atomic(number, to, address, offset, how, dtype, out, values, own)
            return
        words = space.views[dtype]
        index = self.place(number, space, address, offset, act, words.itemsize)
        release = self.release(number)
        fenced = self.order is not None and self.order.fenced
        lanes = self.everybody if act is None else act
        given = [np.broadcast_to(value, self.lanes.count) for value in values]
        if dtype == "f4" and space.name == "global":
            how += ".ftz"  # not so in shared memory, as the manual says of atom
        size = words.itemsize
        watched = (number, space, index, act, size, "atomic", None, size)
        if not fenced:
            self.watch(*watched)
        for lane, byte in zip(lanes.tolist(), index.tolist()):
            old = words[byte // size]
            new = changed(how, old, *(value[lane] for value in given))
            words[byte // size] = new
            if out is not None:
                out[lane] = old
            self.changes += int(old != new)
            if fenced:
                fails = how == "cas" and old != given[0][lane]
                self._pass_on(number, (space.name, byte), lane, fails, release)
        if fenced:  # a thread may learn from one before it in the same instruction
            self.watch(*watched)

    def _pass_on(
        self, number: int, key: tuple[str, int], lane: int, fails: bool, release: str
    ) -> None:
        """Let a thread leave what it knows at an address, or learn, by an atomic operation.

        A cas that fails leaves nothing.
        """
        assert self.order is not None
        observes = number in self.observers
        if observes or not fails:
            how = "load" if fails else "atomic" if observes else "sum"
            self.order.touch(key, lane, how, release)

    # ---- what is published through memory ----

    def fence(self, number: int, act: Array) -> None:
        """membar, fence: what the threads know may be learnt from now on."""
        if self.order:
            lanes = self.everybody if act is None else act
            narrow = self.instructions[number].has("cta")
            self.order.fence(lanes[self.lanes.alive[lanes]], narrow)

    def release(self, number: int) -> str:
        """Begin a release, if an instruction is one; return its scope, or nothing."""
        one = self.instructions[number]
        if not (self.order and any(map(one.has, RELEASES))):
            return ""
        self.order.begin_release()
        return "cta" if one.has("cta") else "gpu"

    def _learn(
        self, number: int, space: Space, index: Array, act: Array, how: str,
        release: str = "",
    ) -> None:  # fmt: skip
        """Learn what was left at addresses, or leave there what has been published."""
        self.changes += how == "store"
        if not (self.order and self.order.fenced):
            return
        if not self.instructions[number].is_strong:
            if how == "store":
                self.order.overwrite(space.name, index)
            return
        lanes = self.everybody if act is None else act
        for lane, at in zip(lanes.tolist(), index.tolist()):
            if how == "store" or (space.name, at) in self.order.left:
                self.order.touch((space.name, at), lane, how, release)

    # ---- asynchronous copies ----

    def copy(
        self, number: int, to: Array, offset: int, source: Array, beyond: int,
        size: int, some: Array | None, act: Array,
    ) -> None:  # fmt: skip
        """cp.async: nobody may touch the target until it has been waited for."""
        shared, memory = self.spaces["SHARED"], self.spaces["GLOBAL"]
        lanes = np.arange(self.lanes.count) if act is None else act
        index = self.place(number, shared, to, offset, lanes, size)
        read = np.full(len(lanes), size)
        if some is not None:
            read = np.broadcast_to(some, self.lanes.count)[lanes]
            if (read > size).any():
                bad = int(np.flatnonzero(read > size)[0])
                why = f"it reads {int(read[bad])} bytes of {size}"
                raise self.fault(
                    "out of bounds", number, shared, index, bad, lanes, why
                )
        data = np.zeros((len(lanes), size), "u1")
        for part in np.unique(read[read > 0]).tolist():
            own = lanes[read == part]
            at = self.place(number, memory, source, beyond, own, size)
            self.watch(number, memory, at, own, part, "read")
            bytes_ = memory.bytes[at[:, None] + np.arange(part)]
            data[read == part, :part] = bytes_
            tags = memory.written.take(memory.grains(at, part), mode="clip")
            if self.check and tags.max() > GIVEN:
                self.reads.append(Copy(number, own, at, bytes_, self.groups[own]))
        self.watch(number, shared, index, lanes, size, "copy")
        self.copies.append(Copy(number, lanes, index, data, self.groups[lanes]))

    def commit(self, act: Array) -> None:
        """cp.async.commit_group: the copies so far are one more group."""
        self.groups[slice(None) if act is None else act] += 1

    def wait(self, left: int, act: Array) -> None:
        """Land copies of these threads, all but the last `left` groups.

        With −1, those that no group has taken up land as well: cp.async.wait_all.
        """
        here = np.zeros(self.lanes.count, bool)
        here[slice(None) if act is None else act] = True
        shared, memory, kept = self.spaces["SHARED"], self.spaces["GLOBAL"], []
        reads, self.reads = self.reads, []
        for copy in reads:
            done = here[copy.lanes] & (copy.group < self.groups[copy.lanes] - left)
            own, size = copy.some(done), copy.data.shape[1]
            self.watch(copy.number, memory, own.index, own.lanes, size, "read")
            if not done.all():
                self.reads.append(copy.some(~done))
        for copy in self.copies:
            done = here[copy.lanes] & (copy.group < self.groups[copy.lanes] - left)
            own = copy.some(done)
            shared.bytes[own.index[:, None] + np.arange(copy.data.shape[1])] = own.data
            at = shared.grains(own.index, copy.data.shape[1])
            if len(at):
                shared.land(Touch(copy.number, at, own.lanes))
            if not done.all():
                kept.append(copy.some(~done))
        self.copies = kept

    # ---- what a GPU would need ----

    def measure(
        self, number: int, space: Space, index: Array, act: Array, size: int
    ) -> None:
        """Count passes through the banks of shared memory, or sectors of global memory."""
        assert self.profile is not None
        lanes = np.arange(self.lanes.count) if act is None else act
        if space.name == "shared" and len(lanes):
            turn = lanes // TURN[size]
            words = (index >> 2)[:, None] + np.arange(max(1, size // 4))
            both = np.unique(
                (turn[:, None] << 32) + words
            )  # a word is read once for all
            banks, passes = np.unique(
                (both >> 32) * BANKS + both % BANKS, return_counts=True
            )
            most = np.zeros(int(turn.max()) + 1, "i8")
            np.maximum.at(most, banks // BANKS, passes)
            self.profile[number, "wavefronts"] += int(most.sum())
            self.profile[number, "turns"] += len(np.unique(turn))
        elif space.name == "global" and len(lanes):
            sectors = (lanes // 32 << 48) + index // SECTOR
            self.profile[number, "sectors"] += len(np.unique(sectors))
            self.profile[number, "requests"] += len(np.unique(lanes // 32))


def changed(how: str, old: Any, value: Any, other: Any = None) -> Any:
    """Return what an atomic operation leaves in memory."""
    if how == "cas":
        return other if old == value else old
    if how == "inc":
        return old.dtype.type(0) if old >= value else old + old.dtype.type(1)
    if how == "dec":
        return value if old == 0 or old > value else old - old.dtype.type(1)
    if how == "exch":
        return value
    if how == "add.ftz":
        return _flushed(_flushed(old) + _flushed(value))
    functions: dict[str, Any] = {"add": np.add, "min": np.minimum, "max": np.maximum}
    functions |= {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}
    return functions[how](old, value)


def _flushed(x: Any) -> Any:
    """Return zero with the same sign for a subnormal number of single precision."""
    return x if not abs(x) < TINY else np.copysign(np.float32(0), x)
