"""GPUs as their makers publish them: rates, bandwidth, what one multiprocessor holds.

Nothing here was measured. `devices.json` holds the numbers, each with the document that
states it; what no document states is not there.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from onlinesoftmax import inputs

WARP = 32  # threads that run together
REGISTER_UNIT = 256  # a warp gets its registers in multiples of so many
PARTITIONS = 4  # a multiprocessor has so many parts; a warp's registers come from one


class Multiprocessor(NamedTuple):
    """What one multiprocessor of a compute capability holds.

    Attributes
    ----------
    threads, blocks, registers : int
        How many it holds at most at the same time.
    shared : int
        Bytes of shared memory.
    shared_block : int
        Bytes of shared memory that one block can have at most.
    shared_unit : int
        A block gets its shared memory in multiples of so many bytes.
    shared_reserved : int
        Bytes of every block's shared memory that the system keeps for itself.
    fp32, special : int
        How many products in float32, and how many special functions such as 2^x, it
        computes in a clock.
    source : str
        The documents that state the numbers.
    tensor : int or None
        How many products in float16 its tensor cores compute in a clock; None if no
        document of these states it.
    """

    threads: int
    blocks: int
    registers: int
    shared: int
    shared_block: int
    shared_unit: int
    shared_reserved: int
    fp32: int
    special: int
    source: str
    tensor: int | None = None


class Gpu(NamedTuple):
    """The peaks that a GPU's maker publishes.

    Attributes
    ----------
    capability : str
        The compute capability, such as "8.0".
    fp32 : float
        Operations a second in float32, without tensor cores.
    fp16 : float
        Operations a second in float16, with tensor cores, not counting sparsity.
    bandwidth : float
        Bytes a second between the GPU and its memory.
    source : str
        The document that states the numbers.
    multiprocessors : int or None
        How many there are; None if no document states it.
    """

    capability: str
    fp32: float
    fp16: float
    bandwidth: float
    source: str
    multiprocessors: int | None = None


def gpu(name: str) -> Gpu:
    """Return a GPU by its name.

    Parameters
    ----------
    name : str
        One of `names()`, such as "A100".

    Returns
    -------
    Gpu

    Examples
    --------
    >>> gpu("A100").bandwidth
    2039000000000.0
    """
    return Gpu(**_entry("name", "gpus", name))


def multiprocessor(capability: str) -> Multiprocessor:
    """Return what a multiprocessor of a compute capability holds.

    Parameters
    ----------
    capability : str
        One of `capabilities()`, such as "8.0".

    Returns
    -------
    Multiprocessor

    Examples
    --------
    >>> multiprocessor("8.0").shared // 1024
    164
    """
    return Multiprocessor(**_entry("capability", "capabilities", capability))


def names() -> list[str]:
    """Return the names of all GPUs, oldest first."""
    return list(_data()["gpus"])


def capabilities() -> list[str]:
    """Return all compute capabilities, oldest first."""
    return list(_data()["capabilities"])


def _entry(argument: str, kind: str, name: str) -> dict[str, Any]:
    """Return the numbers of an entry, and the document that states them."""
    data = _data()
    entry = data[kind][inputs.one_of(argument, name, data[kind])]
    return {**entry, "source": data["sources"][entry["source"]]}


@cache
def _data() -> dict[str, Any]:
    return json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
