"""Attention on any GPU: the rungs that a reader's kernel is timed against.

Each comes in several builds, the largest first. A device takes the first that fits its
shared memory.
"""

import inspect
import textwrap
from typing import Any

from blocksim.functions import used
from tiledattention.gpu.ladder import Build

WIDTH = 64
SIZES = {  # query rows of a block, keys of a tile
    "naive": [(64, 1)],
    "tiled": [(64, 32), (64, 16)],
    "registers": [(64, 32), (32, 32), (32, 16)],
    "patches": [(64, 32), (32, 32), (32, 16)],
}
KINDS = {
    **dict.fromkeys("QKVO", ["array", "float32", 3]),
    "LSE": ["array", "float32", 2],
    "lengths": ["array", "int32", 1],
    "scale": "float32",
    **dict.fromkeys(("left", "right", "group"), "int32"),
}


def rungs() -> list[dict[str, Any]]:
    """Return each rung: its text, and the builds to try, in this order."""
    return [_rung(name, sizes) for name, sizes in SIZES.items()]


def _rung(name: str, sizes: list[tuple[int, int]]) -> dict[str, Any]:
    builds = [Build(name, WIDTH, *size) for size in sizes]
    kernel = builds[0].kernel
    return {
        "name": name,
        "text": textwrap.dedent(inspect.getsource(kernel)),
        "function": kernel.__name__,
        "takes": list(builds[0].arguments),
        "kinds": [KINDS[name] for name in builds[0].arguments],
        "builds": [_build(build) for build in builds],
    }


def _build(build: Build) -> dict[str, Any]:
    numbers = used(build.kernel).items()
    return {
        "names": {name: x for name, x in numbers if isinstance(x, int | float)},
        "block": build.threads,
        "rows": build.block_q,
        "tile": [build.block_q, build.block_k],
    }
