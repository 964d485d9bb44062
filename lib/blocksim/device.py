"""The object that a kernel calls ``cuda``."""

from .faults import shown

WARP = 32
ALL_LANES = 0xFFFFFFFF


def in_warp(what: str, lanes: int) -> int:
    """Return a distance between lanes; refuse one that exceeds a warp."""
    if not (isinstance(lanes, int) and 0 <= lanes < WARP):
        raise ValueError(f"{what}: a warp has lanes 0 to 31; got {shown(lanes)}")
    return lanes


def coordinates(dimensions: int, x: int, y: int, z: int) -> tuple:
    """Return x and y, or x, y and z."""
    if dimensions not in (2, 3):
        raise ValueError(f"dimensions: expected 1, 2 or 3, got {shown(dimensions)}")
    return (x, y) if dimensions == 2 else (x, y, z)


class Triple:
    """An index or an extent: x, y and z."""

    def __init__(self, x: int, y: int, z: int):
        self.x, self.y, self.z = x, y, z


class Wait:
    """What a thread waits for: its block, or lanes of its warp.

    Attributes
    ----------
    key : int or tuple
        Identifies the arrival: a line; or the number of the call, the iterations of the
        loops around it, and the key of the call of the helper around it, if any.
    line : int
    what : str
        "syncthreads", "shfl_sync", …; "others" if a loop yields to other threads.
    mask : int or None
        The lanes that have to arrive; None for a whole block.
    value
        This thread's operand: a predicate, or the value for a shuffle or match.
    lane : int or None
        At a shuffle, the source lane.
    """

    def __init__(self, key, line, what, mask=None, value=None, lane=None):
        self.key, self.line, self.what = key, line, what
        self.mask, self.value, self.lane = mask, value, lane


LOOK = 64  # a while is looked at once in this many iterations
INTEGERS = ("int32", "uint32", "int64", "uint64")
NUMBERS = INTEGERS + ("float32", "float64")
UNSIGNED = ("uint32", "uint64")


class Atomic:
    """``cuda.atomic``: changes that no other thread can interrupt.

    Each returns the old value. As in Numba, ``max`` and ``min`` keep the old value if
    either number is NaN; ``nanmax`` and ``nanmin`` keep the number that is not NaN.
    ``reads`` says whether the kernel uses what they return.
    """

    def __init__(self, reads: bool):
        self.reads = reads

    def add(self, array: object, key: object, value: object) -> object:
        return self.changed("add", NUMBERS, array, key, lambda old: old + value)

    def sub(self, array: object, key: object, value: object) -> object:
        return self.changed("sub", NUMBERS, array, key, lambda old: old - value)

    def max(self, array: object, key: object, value: object) -> object:
        """Keep the larger."""
        larger = lambda old: value if value > old else old
        return self.changed("max", NUMBERS, array, key, larger)

    def min(self, array: object, key: object, value: object) -> object:
        """Keep the smaller."""
        smaller = lambda old: value if value < old else old
        return self.changed("min", NUMBERS, array, key, smaller)

    def nanmax(self, array: object, key: object, value: object) -> object:
        """Keep the larger; NaN counts as missing."""
        larger = lambda old: value if value > old or old != old else old
        return self.changed("nanmax", NUMBERS, array, key, larger)

    def nanmin(self, array: object, key: object, value: object) -> object:
        """Keep the smaller; NaN counts as missing."""
        smaller = lambda old: value if value < old or old != old else old
        return self.changed("nanmin", NUMBERS, array, key, smaller)

    def and_(self, array: object, key: object, value: int) -> int:
        """Keep the bits that are set in both (bitwise and)."""
        return self.changed("and_", INTEGERS, array, key, lambda old: old & value)

    def or_(self, array: object, key: object, value: int) -> int:
        """Set the bits that are set in the value (bitwise or)."""
        return self.changed("or_", INTEGERS, array, key, lambda old: old | value)

    def xor(self, array: object, key: object, value: int) -> int:
        """Flip the bits that are set in the value (exclusive or)."""
        return self.changed("xor", INTEGERS, array, key, lambda old: old ^ value)

    def inc(self, array: object, key: object, value: int) -> int:
        """Increment; after the value, start again at 0."""
        up = lambda old: 0 if old >= value else old + 1
        return self.changed("inc", UNSIGNED, array, key, up)

    def dec(self, array: object, key: object, value: int) -> int:
        """Decrement; after 0, start again at the value."""
        down = lambda old: value if old == 0 or old > value else old - 1
        return self.changed("dec", UNSIGNED, array, key, down)

    def exch(self, array: object, key: object, value: int) -> int:
        """Store the value."""
        return self.changed("exch", INTEGERS, array, key, lambda old: value)

    def cas(self, array: object, key: object, old: int, value: int) -> int:
        """Store the value if the element equals ``old``."""
        swap = lambda current: value if current == old else None
        return self.changed("cas", INTEGERS, array, key, swap)

    def compare_and_swap(self, array: object, old: int, value: int) -> int:
        """Store the value in the first element if that equals ``old``."""
        return self.cas(array, 0, old, value)

    def changed(self, name: str, kinds: tuple, array: object, key, change) -> object:
        """Apply a change; refuse an array of a type that the device lacks it for."""
        if not hasattr(array, "change"):
            raise TypeError(f"atomic.{name}: expected an array, got {shown(array)}")
        kind = getattr(array, "array", array).dtype.name
        if kind not in kinds:
            wanted = ", ".join(kinds)
            raise TypeError(f"atomic.{name}: expected an array of {wanted}; got {kind}")
        return array.change(key, change, self.reads)


class Cuda:
    """The GPU, as the thread that is running sees it."""

    def __init__(self, launch):
        self._launch = launch
        self._line = 0
        self._where = None  # in full mode: the iterations of the enclosing loops
        self._watch = None  # called at every access, for the log and the traffic
        # How many iterations the whiles of this thread may still take, and its fors.
        self._turns_left = self._fors_left = 0
        self._until_look = LOOK
        self._changes = 0  # how often an element has changed its value
        self._waits = False  # does a loop yield when it is looked at?
        self.gridDim = Triple(*launch.grid)
        self.blockDim = Triple(*launch.block)
        self.blockIdx = Triple(0, 0, 0)
        self.threadIdx = Triple(0, 0, 0)
        self.laneid = 0
        self.warpsize = WARP
        self.atomic = Atomic(reads=True)
        self.atomic_unread = Atomic(reads=False)

    def grid(self, dimensions: int) -> object:
        """Return this thread's index in the whole grid."""
        at, size, inside = self.blockIdx, self.blockDim, self.threadIdx
        x = at.x * size.x + inside.x
        if dimensions == 1:
            return x
        y = at.y * size.y + inside.y
        return coordinates(dimensions, x, y, at.z * size.z + inside.z)

    def gridsize(self, dimensions: int) -> object:
        """Return the number of threads in the grid, in each direction."""
        blocks, size = self.gridDim, self.blockDim
        x, y, z = blocks.x * size.x, blocks.y * size.y, blocks.z * size.z
        return x if dimensions == 1 else coordinates(dimensions, x, y, z)

    # ---- where threads meet

    def syncthreads(self, key) -> Wait:
        """Wait for all threads of the block."""
        return Wait(key, self._line, "syncthreads")

    def syncthreads_count(self, key, predicate: object) -> Wait:
        """Wait for all threads of the block; count those whose predicate is true."""
        return Wait(key, self._line, "syncthreads_count", value=bool(predicate))

    def syncthreads_and(self, key, predicate: object) -> Wait:
        """Wait for all threads of the block; return whether all predicates are true."""
        return Wait(key, self._line, "syncthreads_and", value=bool(predicate))

    def syncthreads_or(self, key, predicate: object) -> Wait:
        """Wait for all threads of the block; return whether any predicate is true."""
        return Wait(key, self._line, "syncthreads_or", value=bool(predicate))

    def syncwarp(self, key, mask: int = ALL_LANES) -> Wait:
        """Wait for lanes of the warp; their earlier writes become visible."""
        return self._warp(key, "syncwarp", mask)

    def shfl_sync(self, key, mask: int, value: object, lane: int) -> Wait:
        """Return the value of a lane; the lane counts modulo 32."""
        return self._warp(key, "shfl_sync", mask, value, lane % WARP)

    def shfl_xor_sync(self, key, mask: int, value: object, lane_mask: int) -> Wait:
        """Return the value of the lane whose number differs in these bits."""
        lane = self.laneid ^ in_warp("shfl_xor_sync", lane_mask)
        return self._warp(key, "shfl_xor_sync", mask, value, lane)

    def shfl_up_sync(self, key, mask: int, value: object, delta: int) -> Wait:
        """Return the value of a lower lane; the lowest lanes keep their own."""
        lane = self.laneid - in_warp("shfl_up_sync", delta)
        lane = lane if lane >= 0 else self.laneid
        return self._warp(key, "shfl_up_sync", mask, value, lane)

    def shfl_down_sync(self, key, mask: int, value: object, delta: int) -> Wait:
        """Return the value of a higher lane; the highest lanes keep their own."""
        lane = self.laneid + in_warp("shfl_down_sync", delta)
        lane = lane if lane < WARP else self.laneid
        return self._warp(key, "shfl_down_sync", mask, value, lane)

    def ballot_sync(self, key, mask: int, predicate: object) -> Wait:
        """Return the mask of the lanes whose predicate is true."""
        return self._warp(key, "ballot_sync", mask, bool(predicate))

    def all_sync(self, key, mask: int, predicate: object) -> Wait:
        """Return whether the predicates of all lanes are true."""
        return self._warp(key, "all_sync", mask, bool(predicate))

    def any_sync(self, key, mask: int, predicate: object) -> Wait:
        """Return whether the predicate of any lane is true."""
        return self._warp(key, "any_sync", mask, bool(predicate))

    def eq_sync(self, key, mask: int, predicate: object) -> Wait:
        """Return whether the predicate is the same for all lanes."""
        return self._warp(key, "eq_sync", mask, bool(predicate))

    def match_any_sync(self, key, mask: int, value: object) -> Wait:
        """Return the mask of the lanes with the same value as this one."""
        return self._warp(key, "match_any_sync", mask, value)

    def match_all_sync(self, key, mask: int, value: object) -> Wait:
        """Return the mask and True if all lanes have the same value, else 0 and False."""
        return self._warp(key, "match_all_sync", mask, value)

    def activemask(self, key) -> Wait:
        """Return the mask of the lanes that are at this call together."""
        return Wait(key, self._line, "activemask", 0)

    def _warp(self, key, what, mask: int, value=None, lane=None) -> Wait:
        """Wait for the lanes in a mask; the caller has to be one of them."""
        if not isinstance(mask, int):
            raise TypeError(f"{what}: expected a mask of lanes, got {shown(mask)}")
        if not -(1 << 31) <= mask <= ALL_LANES:
            raise ValueError(f"{what}: a warp has 32 lanes, the mask is {mask:#x}")
        mask &= ALL_LANES
        if not mask >> self.laneid & 1:
            raise ValueError(
                f"lane {self.laneid} calls {what} with the mask {mask:#010x}, which"
                " does not name it"
            )
        return Wait(key, self._line, what, mask, value, lane)

    # ---- fences

    def threadfence(self) -> None:
        """Make this thread's writes so far visible to all threads before its later ones."""
        self._launch.fence(False)

    def threadfence_system(self) -> None:
        """Make the writes visible in this order to the CPU, too."""
        self._launch.fence(False)

    def threadfence_block(self) -> None:
        """Make the writes visible in this order to the threads of the block."""
        self._launch.fence(True)

    def nanosleep(self, nanoseconds: int) -> None:
        """Do nothing: the simulator has no clock."""

    # ---- called by the launch

    def _enter(self, thread) -> None:
        """Switch to this thread: set the current indices to its own."""
        at = self.threadIdx
        at.x, at.y, at.z = thread.x, thread.y, thread.z
        self.laneid = thread.number % WARP
        self._who = thread.who

    def lanemask_lt(self) -> int:
        """Return the mask of the lower lanes."""
        return (1 << self.laneid) - 1

    # ---- called by the generated code

    def _given(self, name: str, value: object) -> object:
        """Return the value of a name; report a name without a value."""
        return self._launch.report_no_value(name) if value is None else value

    def _print(self, *values: object) -> None:
        """Add a line to what the launch prints; a GPU writes floats by %f."""
        words = ["%f" % v if isinstance(v, float) else str(v) for v in values]
        self._launch.report.printed.append(" ".join(words))

    def _raise(self, name: str, said: str) -> None:
        """End the running thread, which has raised an exception."""
        self._launch.end_by(name, said)

    def _leave(self) -> None:
        """Note that the thread leaves the kernel before the last meeting."""
        self._launch.running.returned_early = True

    def _at(self, line: int) -> bool:
        self._line = line
        return True

    def _turns(self, line: int, items: object) -> object:
        """Count the iterations of a for: at once, or singly if they exceed the limit."""
        count = extent(items)
        if count > self._fors_left:
            return self._counted(line, items)
        self._fors_left -= count
        return items

    def _counted(self, line: int, items: object) -> object:
        for item in items:
            self._turns_left -= 1
            if self._turns_left < 0:
                self._launch.report_endless(line)
            if not self._turns_left % LOOK:
                self._launch.beat()
            yield item

    def _begin(self) -> None:
        """Begin a while: forget the state that was seen in another loop."""
        self._launch.running.seen = None

    def _turn(self) -> bool:
        """Count an iteration of a while; return whether it is time to look at it."""
        self._turns_left -= 1
        self._until_look -= 1
        return self._until_look < 1 or self._turns_left < 0

    def _look(self, line: int, state: tuple, alone: bool) -> None:
        """Report a while with too many iterations, or one that repeats its state."""
        if self._turns_left < 0:
            self._launch.report_endless(line)
        self._until_look = LOOK
        self._launch.look(line, state, alone)

    def _pause(self, line: int) -> Wait:
        """Yield to other threads, which may set what the loop on this line polls."""
        return Wait(None, line, "others")

    def _back(self, line: int, value: object, where: object = None) -> object:
        """Return from a meeting or a call: restore the thread's line and iterations."""
        self._line = line
        self._where = where
        return value

    def _constant(self, number: int) -> object:
        return self._launch.constant(number)

    def _array(self, space: str, site: int, name: str, shape: tuple, dtype) -> object:
        return self._launch.array(space, site, name, shape, dtype)


def extent(items: object) -> int:
    """Return the number of items, or a huge number if ``len`` overflows."""
    try:
        return len(items)
    except OverflowError:  # a range longer than any list
        return 1 << 62
