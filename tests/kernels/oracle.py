"""Which elements have a race, from all pairs of accesses in what a launch told.

Nothing here is the simulator's: every event is a node, what happens before it is a set
of nodes, and two accesses are a race if neither is in the other's set.
"""

from itertools import combinations

WRITES, ATOMIC = "wac", "ac"


class Trace:
    """What a launch tells: accesses, fences, meetings, and the races it reports."""

    def __init__(self, threads: int) -> None:
        self.threads = threads  # in a block
        self.events: list[tuple] = []
        self.reported: set[tuple] = set()
        self.memories: list[list] = []  # kept, so that no two share an identity

    def __call__(self, kind: str, who: list[int], more: object) -> None:
        if isinstance(more, tuple):
            memory, place = more
            if not any(memory is known for known in self.memories):
                self.memories.append(memory)
            more = [memory is known for known in self.memories].index(True), place
        if kind == "race":
            self.reported.add(more)
        else:
            self.events.append((kind, who, more))


def racy(trace: Trace) -> set[tuple]:
    """The elements, as (memory, place), that two accesses touch in no order."""
    before = happens_before(trace)
    touched: dict[tuple, list[int]] = {}
    for node, (kind, _, more) in enumerate(trace.events):
        if kind in ("r", "w", "a", "c"):
            touched.setdefault(more, []).append(node)
    return {
        place
        for place, nodes in touched.items()
        if any(clash(trace.events, a, b, before) for a, b in combinations(nodes, 2))
    }


def clash(events: list[tuple], a: int, b: int, before: list[int]) -> bool:
    one, two = events[a], events[b]
    writes = one[0] in WRITES or two[0] in WRITES
    both_atomic = one[0] in ATOMIC and two[0] in ATOMIC
    return writes and not both_atomic and not before[b] >> a & 1


def happens_before(trace: Trace) -> list[int]:
    """For every event the set of those before it, as the bits of a number."""
    before: list[int] = []
    so_far: dict[int, int] = {}  # thread -> what is before its next event
    chains: dict[tuple, list[int]] = {}  # element -> atomics since its last plain write
    for node, (kind, threads, more) in enumerate(trace.events):
        if kind in ("warp", "block"):
            before.append(0)
            met = 0
            for who in threads:
                met |= so_far.get(who, 0)
            so_far.update(dict.fromkeys(threads, met))
            continue
        (who,) = threads
        mine = so_far.get(who, 0)
        if kind in ATOMIC:
            mine |= released(trace, before, chains.get(more, []), who)
        before.append(mine)
        so_far[who] = mine | 1 << node
        if kind == "a":
            chains.setdefault(more, []).append(node)
        if kind == "w":
            chains[more] = []
    return before


def released(trace: Trace, before: list[int], chain: list[int], who: int) -> int:
    """What an atomic learns: all that was before a fence before an atomic there."""
    learnt = 0
    for node in chain:
        for fence, (kind, threads, for_block) in enumerate(trace.events[:node]):
            if kind == "fence" and before[node] >> fence & 1:
                near = threads[0] // trace.threads == who // trace.threads
                if near or not for_block:
                    learnt |= before[fence] | 1 << fence
    return learnt
