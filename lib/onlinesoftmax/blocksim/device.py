"""What a kernel calls ``cuda``."""

from .memory import LINES
from .scalars import Type, type_name

WARP = 32


class Triple:
    """An index or an extent: x and y, and z for completeness."""

    def __init__(self, x: int, y: int, z: int):
        self.x, self.y, self.z = x, y, z


class Types:
    """Numba's types by name: ``types.float16``."""

    def __init__(self, names: dict):
        for name in names:
            setattr(self, name, names[name])


class Wait:
    """What a thread waits for: its block, or the value of a lane of its warp."""

    def __init__(self, line: int, mask: int = 0, lane=None, value=None):
        self.line = line
        self.mask = mask  # the lanes that have to come
        self.lane = lane
        self.value = value


class Atomic:
    """``cuda.atomic``: changes that no other thread can interrupt."""

    def add(self, array: object, key: object, value: object) -> object:
        """Add; return what was there."""
        return array.change(key, lambda old: old + value)

    def max(self, array: object, key: object, value: object) -> object:
        """Keep the larger; return what was there."""
        return array.change(key, lambda old: value if value > old else old)


class Cuda:
    """The GPU, as the thread that is running sees it."""

    def __init__(self, launch):
        self._launch = launch
        self._slots = launch.count + 1  # the threads, and one for several of them
        self._line = 0
        self._phase = 0
        self._watch = None  # is told of every access: the log, the traffic
        self.gridDim = Triple(launch.grid[0], launch.grid[1], 1)
        self.blockDim = Triple(launch.block[0], launch.block[1], 1)
        self.blockIdx = Triple(0, 0, 0)
        self.threadIdx = Triple(0, 0, 0)
        self.laneid = 0
        self.warpsize = WARP
        self.atomic = Atomic()

    def grid(self, dimensions: int) -> object:
        """Return this thread's place in the whole grid."""
        x = self.blockIdx.x * self.blockDim.x + self.threadIdx.x
        y = self.blockIdx.y * self.blockDim.y + self.threadIdx.y
        return x if dimensions == 1 else (x, y)

    def gridsize(self, dimensions: int) -> object:
        """Return how many threads the whole grid has."""
        x = self.gridDim.x * self.blockDim.x
        return x if dimensions == 1 else (x, self.gridDim.y * self.blockDim.y)

    # ---- where threads meet

    def syncthreads(self) -> Wait:
        """Wait for all threads of the block."""
        return Wait(self._line)

    def shfl_sync(self, mask: int, value: object, lane: int) -> Wait:
        """Ask for the value of a lane."""
        return Wait(self._line, mask, lane % WARP, value)

    def shfl_xor_sync(self, mask: int, value: object, lane_mask: int) -> Wait:
        """Ask for the value of the lane whose number differs in these bits."""
        return Wait(self._line, mask, self.laneid ^ lane_mask, value)

    def shfl_up_sync(self, mask: int, value: object, delta: int) -> Wait:
        """Ask for the value of a lower lane; the lowest keep their own."""
        lane = self.laneid - delta
        lane = lane if lane >= 0 else self.laneid
        return Wait(self._line, mask, lane, value)

    def shfl_down_sync(self, mask: int, value: object, delta: int) -> Wait:
        """Ask for the value of a higher lane; the highest keep their own."""
        lane = self.laneid + delta
        lane = lane if lane < WARP else self.laneid
        return Wait(self._line, mask, lane, value)

    # ---- what the launch tells

    def _begin_phase(self, first: bool = False) -> None:
        """Stamps from here on are newer than all before; ``first`` in its block?"""
        self._phase += 1
        self._floor = self._phase * self._slots * LINES
        self._several = self._floor + (self._slots - 1) * LINES
        if first:
            self._block_floor = self._floor

    def _enter(self, thread) -> None:
        """Let everything the kernel asks be about this thread."""
        self.threadIdx.x, self.threadIdx.y = thread.x, thread.y
        self.laneid = thread.number % WARP
        self._mine = self._floor + thread.number * LINES
        self._who = thread.who
        self._counts = thread.turns

    # ---- what the lowered text calls

    def _at(self, line: int) -> bool:
        self._line = line
        return True

    def _turns(self, line: int, items: object) -> object:
        """Count the turns of a for, where somebody wants to know."""
        return self._counted(line, items) if self._launch.full else items

    def _counted(self, line: int, items: object) -> object:
        counts, turn = self._counts, 0
        for item in items:
            counts[line] = turn
            turn += 1
            yield item

    def _turn(self, line: int) -> bool:
        """Count the turns of a while; it begins anew with every turn around it."""
        self._line = line
        if self._launch.full:
            around = self._numbers(line, 1)
            last, where = self._counts.get(line, (-1, around))
            self._counts[line] = (last + 1 if where == around else 0, around)
        return True

    def _numbers(self, line: int, less: int = 0) -> tuple:
        """Return the turns of the loops around a line, without the innermost few."""
        around = self._launch.program.loops.get(line, ())
        return tuple([self._counts.get(at) for at in around[: len(around) - less]])

    def _back(self, line: int, value: object) -> object:
        self._line = line
        return value

    def _uncalled(self, line: int, name: str) -> None:
        self._line = line
        raise TypeError(f"{name} is not called: put () behind it")

    def _array(self, space: str, line: int, number: int, name: str) -> object:
        def array(shape, dtype="float32", alignment=None) -> object:
            kind = Type(type_name(dtype), self._launch.full)
            return self._launch.array(space, (name, line, number), name, shape, kind)

        return array
