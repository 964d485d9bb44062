"""Which states are merged with which: a tree, fixed by the order of the keys.

Rounding depends on the order of additions. So the same neighbours are merged whichever
worker finishes first, and the bits are the same in every run.
"""

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, TypeVar

from onlinesoftmax.state import State, merge

FAN = 8  # states that one task merges
Node = TypeVar("Node")


def merged(states: Sequence[State]) -> State:
    """Return the state of several neighbours, merged from left to right."""
    return reduce(merge, states)


def tree(
    leaves: Sequence[Node], join: Callable[[list[Node], int, int], Node], fan: int = FAN
) -> Node:
    """Return the root of a tree over leaves, in their order.

    `join` makes a parent of up to `fan` neighbours, given the level of the parent (1
    above the leaves) and its index in that level. A single leaf is its own root.

    >>> tree("abcdefghij", lambda own, level, place: f"({''.join(own)})", fan=4)
    '((abcd)(efgh)(ij))'
    """
    nodes, level = list(leaves), 0
    while len(nodes) > 1:
        level += 1
        groups = [nodes[i : i + fan] for i in range(0, len(nodes), fan)]
        nodes = [
            own[0] if len(own) == 1 else join(own, level, place)
            for place, own in enumerate(groups)
        ]
    return nodes[0]


def graph(run: str, leaves: Sequence[Any]) -> Any:
    """Return the task whose result is the state of all leaves.

    Parameters
    ----------
    run : str
        A name that no other run has: results of old keys are not to be found again.
    leaves : sequence of dask.delayed.Delayed

    Returns
    -------
    dask.delayed.Delayed
    """
    from dask import delayed

    join = delayed(merged, pure=True)
    return tree(
        leaves,
        lambda own, level, place: join(
            own, dask_key_name=f"merge-{run}-{level}-{place}"
        ),
    )
