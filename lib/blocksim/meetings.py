"""Meetings of threads (barriers, shuffles, votes): who has arrived, and with what result.

"For each of the calling threads, its own bit must be set in mask, and all non-exited
threads named in mask must execute the same intrinsic with the same mask, or the result
is undefined" (CUDA C++ Programming Guide, Warp Vote Functions). Neither these nor barriers
wait for threads that have left the kernel: "__syncthreads*() wait until all non-exited
threads in the thread block simultaneously reach the same __syncthreads*() intrinsic call
in the program or exit" (the same guide, Synchronization Functions).
"""

WARP = 32


def arrival(wait) -> tuple:
    """Return what has to be equal for threads to meet."""
    return wait.what, wait.key, wait.mask


def ready(waiting: list, warp: list) -> list:
    """Return lanes that can continue, because all lanes in their masks have arrived."""
    for thread in waiting:
        wait = thread.wait
        if wait.what == "activemask":
            continue
        lanes = [t for t in waiting if arrival(t.wait) == arrival(wait)]
        named = [t for t in warp if t.wait and wait.mask >> (t.number % WARP) & 1]
        if len(lanes) == len(named):
            return lanes
    at = [t for t in waiting if t.wait.what == "activemask"]
    return [t for t in at if t.wait.key == at[0].wait.key]


def missing_lane(thread, lanes: list, warp: list) -> int | None:
    """Return the lane that a shuffle reads, if that lane does not take part."""
    asked = thread.wait.lane
    if asked is None or asked in [lane.number % WARP for lane in lanes]:
        return None
    return asked


def answers(threads: list) -> list:
    """Return the result of a meeting for each of its threads."""
    what = threads[0].wait.what
    values = [thread.wait.value for thread in threads]
    if what[:4] == "shfl":
        offers = {t.number % WARP: t.wait.value for t in threads}
        return [offers[thread.wait.lane] for thread in threads]
    if what == "match_any_sync":
        return [mask_of(threads, lambda v, own=own: same(v, own)) for own in values]
    return [VOTES[what](threads, values)] * len(threads)


def mask_of(threads: list, chosen: object) -> int:
    """Return the mask of the lanes for whose values ``chosen`` is true."""
    mask = 0
    for thread in threads:
        if chosen(thread.wait.value):
            mask |= 1 << thread.number % WARP
    return mask


def same(a: object, b: object) -> bool:
    """Return whether two values have the same bits."""
    return a == b and str(a)[:1] == str(b)[:1] or (a != a and b != b)


def all_the_same(threads: list, values: list) -> tuple:
    """Return the mask of all lanes and True, or 0 and False."""
    alike = all([same(value, values[0]) for value in values])
    return (mask_of(threads, lambda value: True) if alike else 0), alike


VOTES = {
    "syncthreads": lambda threads, values: None,
    "syncthreads_count": lambda threads, values: sum(values),
    "syncthreads_and": lambda threads, values: int(all(values)),
    "syncthreads_or": lambda threads, values: int(any(values)),
    "syncwarp": lambda threads, values: None,
    "ballot_sync": lambda threads, values: mask_of(threads, lambda value: value),
    "all_sync": lambda threads, values: all(values),
    "any_sync": lambda threads, values: any(values),
    "eq_sync": lambda threads, values: all(values) or not any(values),
    "match_all_sync": all_the_same,
    "activemask": lambda threads, values: mask_of(threads, lambda value: True),
}


# ---- differences between two arrivals


def difference(code, mine: object, theirs: object) -> str:
    """Return a phrase for the difference between two arrivals."""
    if not (isinstance(mine, tuple) and isinstance(theirs, tuple)):
        return "at two calls of it"
    if mine[0] != theirs[0]:
        return f"at two calls on line {line_of(code, mine)}"
    loops = code.sites[mine[0]][1]
    for line, a, b in zip(loops, mine[1], theirs[1]):
        if a != b:
            return f"in turn {a + 1} and turn {b + 1} of the loop on line {line}"
    lines = [line_of(code, key[2]) for key in (mine, theirs)]
    if lines[0] != lines[1]:
        return f"called from line {lines[0]} and from line {lines[1]}"
    return "in a helper called " + difference(code, mine[2], theirs[2])


def line_of(code, key: object) -> int | None:
    """Return the line of the call that a key identifies."""
    return code.sites[key[0]][0] if isinstance(key, tuple) else key
