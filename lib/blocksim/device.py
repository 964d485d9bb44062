"""What a kernel calls ``cuda``."""

from .faults import shown

WARP = 32
ALL_LANES = 0xFFFFFFFF


def in_warp(what: str, lanes: int) -> int:
    """Return a distance between lanes; refuse what no warp has."""
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
        Which arrival this is: a line; or the number of the call, the turns of the
        loops around it, and the key of the call of the helper it stands in, if any.
    line : int
    what : str
        "syncthreads", "shfl_sync", …; "others" where a loop lets others go on.
    mask : int or None
        The lanes that have to come; None for a whole block.
    value
        What this thread brings: a predicate, or what others may ask for.
    lane : int or None
        At a shuffle, the lane that is asked.
    """

    def __init__(self, key, line, what, mask=None, value=None, lane=None):
        self.key, self.line, self.what = key, line, what
        self.mask, self.value, self.lane = mask, value, lane


LOOK = 64  # a while is looked at once in so many turns
INTEGERS = ("int32", "uint32", "int64", "uint64")
NUMBERS = INTEGERS + ("float32", "float64")
UNSIGNED = ("uint32", "uint64")


class Atomic:
    """``cuda.atomic``: changes that no other thread can interrupt.

    Each returns what was there before. ``max`` and ``min`` keep what is there if either
    number is NaN, ``nanmax`` and ``nanmin`` the other number, as Numba's do.
    """

    def add(self, array: object, key: object, value: object) -> object:
        """Add."""
        return changed("add", NUMBERS, array, key, lambda old: old + value)

    def sub(self, array: object, key: object, value: object) -> object:
        """Subtract."""
        return changed("sub", NUMBERS, array, key, lambda old: old - value)

    def max(self, array: object, key: object, value: object) -> object:
        """Keep the larger."""
        larger = lambda old: value if value > old else old
        return changed("max", NUMBERS, array, key, larger)

    def min(self, array: object, key: object, value: object) -> object:
        """Keep the smaller."""
        smaller = lambda old: value if value < old else old
        return changed("min", NUMBERS, array, key, smaller)

    def nanmax(self, array: object, key: object, value: object) -> object:
        """Keep the larger; NaN counts as missing."""
        larger = lambda old: value if value > old or old != old else old
        return changed("nanmax", NUMBERS, array, key, larger)

    def nanmin(self, array: object, key: object, value: object) -> object:
        """Keep the smaller; NaN counts as missing."""
        smaller = lambda old: value if value < old or old != old else old
        return changed("nanmin", NUMBERS, array, key, smaller)

    def and_(self, array: object, key: object, value: int) -> int:
        """Keep the bits that are in both."""
        return changed("and_", INTEGERS, array, key, lambda old: old & value)

    def or_(self, array: object, key: object, value: int) -> int:
        """Add the bits of the value."""
        return changed("or_", INTEGERS, array, key, lambda old: old | value)

    def xor(self, array: object, key: object, value: int) -> int:
        """Flip the bits that are set in the value."""
        return changed("xor", INTEGERS, array, key, lambda old: old ^ value)

    def inc(self, array: object, key: object, value: int) -> int:
        """Count up to the value, then begin at 0 again."""
        up = lambda old: 0 if old >= value else old + 1
        return changed("inc", UNSIGNED, array, key, up)

    def dec(self, array: object, key: object, value: int) -> int:
        """Count down to 0, then begin at the value again."""
        down = lambda old: value if old == 0 or old > value else old - 1
        return changed("dec", UNSIGNED, array, key, down)

    def exch(self, array: object, key: object, value: int) -> int:
        """Put the value there."""
        return changed("exch", INTEGERS, array, key, lambda old: value)

    def cas(self, array: object, key: object, old: int, value: int) -> int:
        """Put the value there if what is there is ``old``."""
        swap = lambda found: value if found == old else None
        return changed("cas", INTEGERS, array, key, swap)

    def compare_and_swap(self, array: object, old: int, value: int) -> int:
        """Put the value into the first element if what is there is ``old``."""
        return self.cas(array, 0, old, value)


def changed(name, kinds: tuple, array: object, key: object, change: object) -> object:
    """Apply an atomic change if the device has it for this kind of array."""
    if not hasattr(array, "change"):
        raise TypeError(f"atomic.{name}: expected an array, got {shown(array)}")
    kind = getattr(array, "array", array).dtype.name
    if kind not in kinds:
        wanted = ", ".join(kinds)
        raise TypeError(f"atomic.{name}: expected an array of {wanted}; got {kind}")
    return array.change(key, change)


class Cuda:
    """The GPU, as the thread that is running sees it."""

    def __init__(self, launch):
        self._launch = launch
        self._line = 0
        self._where = None  # in full mode: the turns of the loops it is in
        self._watch = None  # called at every access, for the log and the traffic
        # How many turns the whiles of this thread may still take, and its fors at once.
        self._turns_left = self._fors_left = 0
        self._until_look = LOOK
        self._changes = 0  # how often anything in memory has got another value
        self._waits = False  # does a loop that is looked at let others go on?
        self.gridDim = Triple(*launch.grid)
        self.blockDim = Triple(*launch.block)
        self.blockIdx = Triple(0, 0, 0)
        self.threadIdx = Triple(0, 0, 0)
        self.laneid = 0
        self.warpsize = WARP
        self.atomic = Atomic()

    def grid(self, dimensions: int) -> object:
        """Return this thread's index in the whole grid."""
        at, size, inside = self.blockIdx, self.blockDim, self.threadIdx
        x = at.x * size.x + inside.x
        if dimensions == 1:
            return x
        y = at.y * size.y + inside.y
        return coordinates(dimensions, x, y, at.z * size.z + inside.z)

    def gridsize(self, dimensions: int) -> object:
        """Return how many threads the whole grid has."""
        blocks, size = self.gridDim, self.blockDim
        x, y, z = blocks.x * size.x, blocks.y * size.y, blocks.z * size.z
        return x if dimensions == 1 else coordinates(dimensions, x, y, z)

    # ---- where threads meet

    def syncthreads(self, key) -> Wait:
        """Wait for all threads of the block."""
        return Wait(key, self._line, "syncthreads")

    def syncthreads_count(self, key, predicate: object) -> Wait:
        """Wait for all threads of the block, and count those with a true predicate."""
        return Wait(key, self._line, "syncthreads_count", value=bool(predicate))

    def syncthreads_and(self, key, predicate: object) -> Wait:
        """Wait for all threads of the block, and ask whether all predicates are true."""
        return Wait(key, self._line, "syncthreads_and", value=bool(predicate))

    def syncthreads_or(self, key, predicate: object) -> Wait:
        """Wait for all threads of the block, and ask whether any predicate is true."""
        return Wait(key, self._line, "syncthreads_or", value=bool(predicate))

    def syncwarp(self, key, mask: int = ALL_LANES) -> Wait:
        """Wait for lanes of the warp, and see what they wrote."""
        return self._warp(key, "syncwarp", mask)

    def shfl_sync(self, key, mask: int, value: object, lane: int) -> Wait:
        """Ask for the value of a lane; the lane counts modulo 32."""
        return self._warp(key, "shfl_sync", mask, value, lane % WARP)

    def shfl_xor_sync(self, key, mask: int, value: object, lane_mask: int) -> Wait:
        """Ask for the value of the lane whose number differs in these bits."""
        lane = self.laneid ^ in_warp("shfl_xor_sync", lane_mask)
        return self._warp(key, "shfl_xor_sync", mask, value, lane)

    def shfl_up_sync(self, key, mask: int, value: object, delta: int) -> Wait:
        """Ask for the value of a lower lane; the lowest keep their own."""
        lane = self.laneid - in_warp("shfl_up_sync", delta)
        lane = lane if lane >= 0 else self.laneid
        return self._warp(key, "shfl_up_sync", mask, value, lane)

    def shfl_down_sync(self, key, mask: int, value: object, delta: int) -> Wait:
        """Ask for the value of a higher lane; the highest keep their own."""
        lane = self.laneid + in_warp("shfl_down_sync", delta)
        lane = lane if lane < WARP else self.laneid
        return self._warp(key, "shfl_down_sync", mask, value, lane)

    def ballot_sync(self, key, mask: int, predicate: object) -> Wait:
        """Ask which lanes have a true predicate, as a mask."""
        return self._warp(key, "ballot_sync", mask, bool(predicate))

    def all_sync(self, key, mask: int, predicate: object) -> Wait:
        """Ask whether the predicates of all lanes are true."""
        return self._warp(key, "all_sync", mask, bool(predicate))

    def any_sync(self, key, mask: int, predicate: object) -> Wait:
        """Ask whether the predicate of any lane is true."""
        return self._warp(key, "any_sync", mask, bool(predicate))

    def eq_sync(self, key, mask: int, predicate: object) -> Wait:
        """Ask whether the predicate is the same for all lanes."""
        return self._warp(key, "eq_sync", mask, bool(predicate))

    def match_any_sync(self, key, mask: int, value: object) -> Wait:
        """Ask which lanes bring the same value, as a mask."""
        return self._warp(key, "match_any_sync", mask, value)

    def match_all_sync(self, key, mask: int, value: object) -> Wait:
        """Ask whether all lanes bring the same value: a mask or 0, and True or False."""
        return self._warp(key, "match_all_sync", mask, value)

    def activemask(self, key) -> Wait:
        """Ask which lanes of the warp are at this call together, as a mask."""
        return Wait(key, self._line, "activemask", 0)

    def _warp(self, key, what, mask: int, value=None, lane=None) -> Wait:
        """Wait for the lanes that a mask names; the caller has to be one of them."""
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
        """Let all threads see this thread's writes so far before its later ones."""
        self._launch.fence(False)

    def threadfence_system(self) -> None:
        """Let the CPU see them in this order, too."""
        self._launch.fence(False)

    def threadfence_block(self) -> None:
        """Let the threads of the block see them in this order."""
        self._launch.fence(True)

    def nanosleep(self, nanoseconds: int) -> None:
        """Sleep: no time passes here."""

    # ---- called by the launch

    def _enter(self, thread) -> None:
        """Switch to this thread: its indices are now the current ones."""
        at = self.threadIdx
        at.x, at.y, at.z = thread.x, thread.y, thread.z
        self.laneid = thread.number % WARP
        self._who = thread.who

    def lanemask_lt(self) -> int:
        """Return the mask of the lower lanes."""
        return (1 << self.laneid) - 1

    # ---- called by the emitted text

    def _given(self, name: str, value: object) -> object:
        """Return the value of a name; report the name if it has none yet."""
        return self._launch.report_no_value(name) if value is None else value

    def _leave(self) -> None:
        """Note that the thread leaves the kernel before its last meeting."""
        self._launch.running.returned_early = True

    def _at(self, line: int) -> bool:
        self._line = line
        return True

    def _turns(self, line: int, items: object) -> object:
        """Count the turns of a for: all at once, or one by one if not all are allowed."""
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
            yield item

    def _begin(self) -> None:
        """Note that a while begins: what was seen of another one says nothing of it."""
        self._launch.running.seen = None

    def _turn(self) -> bool:
        """Count a turn of a while; return whether it is time to look at it."""
        self._turns_left -= 1
        self._until_look -= 1
        return self._until_look < 1 or self._turns_left < 0

    def _look(self, line: int, state: tuple, alone: bool) -> None:
        """Look at a while: has it had too many turns, or been exactly here before?"""
        if self._turns_left < 0:
            self._launch.report_endless(line)
        self._until_look = LOOK
        self._launch.look(line, state, alone)

    def _pause(self, line: int) -> Wait:
        """Let others go on, who may do what the loop on this line waits for."""
        return Wait(None, line, "others")

    def _back(self, line: int, value: object, where: object = None) -> object:
        """Return from a meeting or a call, and restore this thread's line and turns."""
        self._line = line
        self._where = where
        return value

    def _constant(self, number: int) -> object:
        return self._launch.constant(number)

    def _array(self, space: str, site: int, name: str, shape: tuple, dtype) -> object:
        return self._launch.array(space, site, name, shape, dtype)


def extent(items: object) -> int:
    """Return how many items there are, or a huge number where ``len`` fails."""
    try:
        return len(items)
    except OverflowError:  # a range longer than any list
        return 1 << 62
