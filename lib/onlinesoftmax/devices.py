"""GPUs as their makers publish them: rates, bandwidth, what one multiprocessor holds.

Nothing here was measured. `book/data/devices.json` holds the figures, each with the
document it stands in; what no document says is not there.
"""

import json
from functools import cache
from typing import Any, NamedTuple

from onlinesoftmax.measurements import folder


class Multiprocessor(NamedTuple):
    """What one multiprocessor of a compute capability holds.

    Attributes
    ----------
    threads, blocks, registers : int
        At most, at the same time.
    shared, shared_block : int
        Bytes of shared memory, of the multiprocessor and for one block at most.
    shared_unit : int
        Bytes of the portions in which it is handed out.
    shared_reserved : int
        Bytes the system keeps for itself of every block's shared memory.
    source : str
    """

    threads: int
    blocks: int
    registers: int
    shared: int
    shared_block: int
    shared_unit: int
    shared_reserved: int
    source: str


class Gpu(NamedTuple):
    """A GPU's published peaks: operations a second in two formats, bytes a second.

    `fp32` is without tensor cores, `fp16` with them, not counting sparsity.
    """

    capability: str
    fp32: float
    fp16: float
    bandwidth: float
    source: str


def gpu(name: str) -> Gpu:
    """Return a GPU by its name, such as "A100".

    Examples
    --------
    >>> gpu("A100").bandwidth
    2039000000000.0
    """
    return Gpu(**_entry("name", "gpus", name))


def multiprocessor(capability: str) -> Multiprocessor:
    """Return the limits of a compute capability, such as "8.0".

    Examples
    --------
    >>> multiprocessor("8.0").shared // 1024
    164
    """
    return Multiprocessor(**_entry("capability", "capabilities", capability))


def names() -> list[str]:
    """Return the GPUs there are, oldest first."""
    return list(_data()["gpus"])


def capabilities() -> list[str]:
    """Return the compute capabilities there are, oldest first."""
    return list(_data()["capabilities"])


def _entry(argument: str, kind: str, name: str) -> dict[str, Any]:
    """Return an entry, its source written out."""
    data = _data()
    if name not in data[kind]:
        raise ValueError(
            f"{argument}: expected one of {list(data[kind])}, got {name!r}"
        )
    entry = data[kind][name]
    return {**entry, "source": data["sources"][entry["source"]]}


@cache
def _data() -> dict[str, Any]:
    return json.loads((folder() / "devices.json").read_text("utf-8"))
