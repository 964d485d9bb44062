"""What translated code calls for memory: loads, stores, atomics, copies."""

import math
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from ptxsim.ended import mark
from ptxsim.faults import Fault
from ptxsim.lanes import Lanes
from ptxsim.memory import DID, FLYING, GAP, IN_BLOCK, IN_GRID, IN_WARPS, Array, Space
from ptxsim.syntax import SIZES, SPACES, Kernel

# Where the state spaces are among the generic addresses; the manual leaves that open.
BASES = {"SHARED": 1 << 24, "LOCAL": 1 << 28, "CONST": 1 << 32, "GLOBAL": 1 << 44}
ENDS = {"SHARED": 1 << 28, "LOCAL": 1 << 32, "CONST": 1 << 44, "GLOBAL": 1 << 63}
LOCAL_GAP = 256
TURN = {1: 32, 2: 32, 4: 32, 8: 16, 16: 8}  # threads whose accesses are served at once
BANKS = 32  # of four bytes each
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


class Copy:
    """An asynchronous copy that has not landed: whose, to where, and what."""

    def __init__(self, lanes: Array, index: Array, data: Array, group: Array) -> None:
        self.lanes, self.index, self.data, self.group = lanes, index, data, group

    def some(self, which: Array) -> "Copy":
        """Return the part of some threads."""
        parts = (self.lanes, self.index, self.data, self.group)
        return Copy(*(part[which] for part in parts))


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
    benign : dict of int to Fault
        By instruction: the first store of what another thread stored, in no order.

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
    """

    def __init__(
        self, kernel: Kernel, lanes: Lanes, check: bool, profile: bool,
        sizes: list[int], dynamic: int,
    ) -> None:  # fmt: skip
        self.instructions = tuple(kernel.instructions())
        self.lanes, self.check = lanes, check
        self.profile: Counter[tuple[int, str]] | None = Counter() if profile else None
        warps_meet = any(one.opcode == "bar.warp.sync" for one in self.instructions)
        tags = {"SHARED": IN_WARPS if warps_meet else IN_BLOCK}
        gap = -(-max([GAP, *sizes]) // GAP) * GAP
        gaps = {"LOCAL": LOCAL_GAP, "GLOBAL": gap}
        added = {"SHARED": [dynamic], "GLOBAL": sizes}
        self.spaces = {
            name: Space(
                name.lower(), base, grain_of(kernel, name.lower(), added.get(name, ())),
                tags.get(name, IN_GRID), gaps.get(name, GAP), lanes,
            )
            for name, base in BASES.items()
        }  # fmt: skip
        self.spaces["GLOBAL"].block = lanes.padded
        self.copies: list[Copy] = []
        self.groups = np.zeros(lanes.count, "i8")
        self.benign: dict[int, Fault] = {}
        self.everybody = np.arange(lanes.count)
        # Who has done what since the last barrier, by state space and by word of DID.
        self.did = {
            (space, how): np.zeros(lanes.count, bool)
            for space in ("shared", "global")
            for how in DID
        }

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
        if self.spaces["SHARED"].tags is IN_BLOCK:  # there is room for few barriers
            self.spaces[
                "SHARED"
            ].now = 0  # its tags are new; those of global memory stay
        self.copies.clear()
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

    def meet(self, ended: Array | None = None) -> None:
        """All threads of each block reach a barrier, except those that have ended."""
        if ended is not None and ended.any():
            for name in ("SHARED", "GLOBAL"):
                mark(self.spaces[name], self.lanes, ended, self.did)
        for lanes in self.did.values():
            lanes.fill(False)
        self.tick()
        for space in self.spaces.values():
            space.barrier()

    def _tag(self) -> None:
        shared, memory = self.spaces["SHARED"], self.spaces["GLOBAL"]
        inside = shared.tagged(shared.tags.codes(self.lanes.inside))
        everywhere = memory.tagged(memory.tags.codes(self.lanes.everywhere))
        self.mine = {"shared": inside} | dict.fromkeys(
            ("global", "local", "const"), everywhere
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
        stored: Stored | None = None,
    ) -> None:  # fmt: skip
        """Raise a fault if a thread may not access this; remember that it did."""
        if not (self.check and len(index)):
            return
        mine, who = self.mine[space.name], self.everybody
        if act is not None:
            mine, who = mine.take(act), act
        did = self.did.get((space.name, "write" if how == "copy" else how))
        if did is not None:
            did[who] = True
        at = space.grains(index, size)
        if how == "copy":
            found = space.write(at, mine, who, tag=FLYING)
        elif how == "write":
            found = space.write(at, mine, who, stored)
        elif how == "atomic":
            narrow = self.instructions[number].has("cta")
            found = space.atomic(at, mine, who, size, narrow)
        else:
            found = space.read(at, mine, who)
        if found:
            bad, kind, why = found
            raise self.fault(kind, number, space, index, bad, act, why)
        if space.benign and number not in self.benign:
            bad, why = space.benign
            benign = self.fault("race", number, space, index, bad, act, why)
            benign.severity = "benign"
            self.benign[number] = benign
        space.benign = None

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
        self.watch(number, space, index, act, size, "read")
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
        self.watch(
            number, space, index, act, size, "write", stored if several else None
        )
        stored.put()

    def atomic(
        self, number: int, space: Space, address: Array, offset: int, how: str,
        dtype: str, out: Array | None, values: tuple[Array, ...], act: Array,
    ) -> None:  # fmt: skip
        """atom, red: one thread after the other, in their order."""
        words = space.views[dtype]
        index = self.place(number, space, address, offset, act, words.itemsize)
        self.watch(number, space, index, act, words.itemsize, "atomic")
        lanes = np.arange(self.lanes.count) if act is None else act
        given = [np.broadcast_to(value, self.lanes.count) for value in values]
        for lane, at in zip(lanes, index >> (words.itemsize.bit_length() - 1)):
            old = words[at]
            words[at] = changed(how, old, *(value[lane] for value in given))
            if out is not None:
                out[lane] = old

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
            data[read == part, :part] = memory.bytes[at[:, None] + np.arange(part)]
        self.watch(number, shared, index, lanes, size, "copy")
        self.copies.append(Copy(lanes, index, data, self.groups[lanes]))

    def commit(self, act: Array) -> None:
        """cp.async.commit_group: the copies so far are one more group."""
        self.groups[slice(None) if act is None else act] += 1

    def wait(self, left: int, act: Array) -> None:
        """Land copies of these threads, all but the last `left` groups.

        With −1, those that no group has taken up land as well: cp.async.wait_all.
        """
        here = np.zeros(self.lanes.count, bool)
        here[slice(None) if act is None else act] = True
        shared, kept = self.spaces["SHARED"], []
        for copy in self.copies:
            done = here[copy.lanes] & (copy.group < self.groups[copy.lanes] - left)
            own = copy.some(done)
            shared.bytes[own.index[:, None] + np.arange(copy.data.shape[1])] = own.data
            at = shared.grains(own.index, copy.data.shape[1])
            mixed = shared.tags.mixed  # what was there before is not compared
            shared.written[at] = self.mine["shared"][own.lanes][:, None] | mixed
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
    functions: dict[str, Any] = {"add": np.add, "min": np.minimum, "max": np.maximum}
    functions |= {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}
    return functions[how](old, value)
