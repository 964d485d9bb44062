"""Which elements have a race, from all pairs of accesses in what a launch told.

Nothing here is the simulator's: every event is a node, what happens before it is a set
of nodes, and two accesses are a race if neither is in the other's set. Only two plain
writes of the same bits on one line are benign instead.
"""

import struct
from itertools import combinations

# "u" and "f" are atomics whose result nobody reads; "c" and "f" are comparisons that failed.
WRITES, ATOMIC = "waucf", "aucf"
READ, CHANGES = "ac", "au"


class Trace:
    """What a launch tells: accesses, fences, meetings, and the races it reports."""

    def __init__(self, threads: int) -> None:
        self.threads = threads  # in a block
        self.events: list[tuple] = []
        # Of the events that are plain writes: what was stored, and on which line.
        self.stored: dict[int, tuple] = {}
        self.reported: set[int] = set()
        self.benign: set[int] = set()
        # Each element has a number, in the order in which they are touched first.
        self.elements: dict[tuple, int] = {}
        self.memories: dict[int, list] = {}  # kept, so that no two share an identity

    def __call__(self, kind: str, who: list[int], more: object) -> None:
        if isinstance(more, tuple):
            memory, place, *written = more
            self.memories[id(memory)] = memory
            element = id(memory), place
            more = self.elements.setdefault(element, len(self.elements))
        if kind in ("race", "benign"):
            (self.reported if kind == "race" else self.benign).add(more)
            return
        self.events.append((kind, who, more))
        if kind == "w":
            line, value = written
            bits = struct.pack("d", value) if isinstance(value, float) else value
            self.stored[len(self.events) - 1] = bits if value == value else "NaN", line


def racy(trace: Trace) -> tuple[set[int], set[int]]:
    """The numbers of the elements with a race, and of those with a benign one."""
    before = happens_before(trace)
    touched: dict[int, list[int]] = {}
    for node, (kind, _, more) in enumerate(trace.events):
        if kind == "r" or kind in WRITES:
            touched.setdefault(more, []).append(node)
    races, benign = set(), set()
    for place, nodes in touched.items():
        found = {clash(trace, a, b, before) for a, b in combinations(nodes, 2)}
        races |= {place} if "race" in found else set()
        benign |= {place} if "benign" in found else set()
    return races, benign


def clash(trace: Trace, a: int, b: int, before: list[int]) -> str:
    one, two = trace.events[a][0], trace.events[b][0]
    writes = one in WRITES or two in WRITES
    both_atomic = one in ATOMIC and two in ATOMIC
    if not writes or both_atomic or before[b] >> a & 1:
        return ""
    same = one == two == "w" and trace.stored[a] == trace.stored[b]
    return "benign" if same else "race"


def happens_before(trace: Trace) -> list[int]:
    """For every event the set of those before it, as the bits of a number."""
    before: list[int] = []
    so_far: dict[int, int] = {}  # thread -> what is before its next event
    chains: dict[int, list[int]] = {}  # element -> changes since its last plain write
    seen: dict[int, int] = {}  # element -> all atomics since then
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
        if kind in READ:
            mine |= seen.get(more, 0) | released(
                trace, before, chains.get(more, []), who
            )
        before.append(mine)
        so_far[who] = mine | 1 << node
        if kind in CHANGES:
            chains.setdefault(more, []).append(node)
        if kind in ATOMIC:
            seen[more] = seen.get(more, 0) | 1 << node
        if kind == "w":
            chains[more], seen[more] = [], 0
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
