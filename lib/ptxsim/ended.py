"""What threads did that have ended: the next barrier does not order it.

A barrier does not wait for a thread that has ended, so nothing says whether what it did
since its last barrier comes before or after what the others do from now on.
"""

import numpy as np

from ptxsim.lanes import WARP, Lanes
from ptxsim.memory import DID, Array, Space


def mark(
    space: Space, lanes: Lanes, ended: Array, did: dict[tuple[str, str], Array]
) -> None:
    """Mark the grains that threads touched which ended before their next barrier.

    Parameters
    ----------
    space : Space
    lanes : Lanes
    ended : ndarray of bool
        The lanes that have ended since the last barrier.
    did : dict of (str, str) to ndarray of bool
        Which lanes have done what since then, by state space and word of `DID`.
    """
    space.settle()
    since = space.start << space.tags.shift
    at = np.flatnonzero(space.written >= since)
    atomic = space.written[at] & space.tags.atomic != 0
    touched = {"write": (space.written, at[~atomic])}
    touched["atomic"] = (space.written, at[atomic])
    if space.read_by is not None:
        touched["read"] = (space.read_by, np.flatnonzero(space.read_by >= since))
    bound = _bound(lanes)
    for word, (table, grains) in touched.items():
        who = ended & did[space.name, word]
        tags = table[grains]
        if not who.any():
            continue
        own = _are_of(space, lanes, grains, tags, who, bound)
        if own.any():
            if space.left is None:
                space.left = np.zeros(len(space.written), "u1")
            mixed = tags[own] & space.tags.mixed != 0  # a plain write as well
            space.left[grains[own]] |= np.where(mixed, DID["write"], DID[word]).astype(
                "u1"
            )


def _bound(lanes: Lanes) -> Array:
    """Return for each lane the time before which all it did is over for those alive.

    Who has met with it in its warp goes on to the barrier, and passes that on.
    """
    if not lanes.warps_met:
        return np.zeros(lanes.count, "i8")
    own = lanes.since.reshape(-1, WARP, 1)
    if lanes.known is not None:
        own = np.maximum(own, lanes.known.reshape(-1, WARP, WARP))
    alive = lanes.alive.reshape(-1, WARP, 1)
    return np.broadcast_to(np.where(alive, own, 0).max(1), (len(own), WARP)).reshape(-1)


def _are_of(
    space: Space, lanes: Lanes, at: Array, tags: Array, who: Array, bound: Array
) -> Array:
    """Return which tags stand for one of some lanes, and for what is not over.

    A code of many threads may stand for any of them.
    """
    code, time = tags & space.tags.code, tags >> space.tags.shift
    blocks = who.reshape(-1, lanes.padded).any(1)
    if space.block:
        several = space.tags.blocks
        number = space.tags.block(code, space.block) - lanes.first
        many, here = code >= several, (number >= 0) & (number < lanes.blocks)
        lane = np.where(many, 0, code - lanes.first * lanes.padded)
    else:
        number = at // (space.window >> space.lg)
        many, here = code == space.tags.many, np.ones(len(at), bool)
        lane = number * lanes.padded + np.where(many, 0, code)
    in_block = blocks.take(np.where(here, number, 0), mode="clip")
    if space.tags.lanes:
        first = number * lanes.padded + np.where(many, 0, code >> 32 << 5)
        each = first[:, None] + np.arange(WARP)
        open_ = who[each] & (bound[each] <= time[:, None])
        alone = (open_ & (code[:, None] >> np.arange(WARP) & 1 != 0)).any(1)
    else:
        lane = np.where(here & ~many, lane, 0)
        alone = who[lane] & (bound[lane] <= time)
    return here & np.where(many, in_block, alone)
