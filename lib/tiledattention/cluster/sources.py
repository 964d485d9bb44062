"""Where keys and values are stored: Zarr, Dask or NumPy. A worker reads its own chunk.

This module reads only shapes. A `Source` knows the length of its own chunks and returns
parts: for Zarr a reference, which travels to the worker instead of the numbers.
"""

import os
import sys
from itertools import product
from pathlib import Path
from stat import S_ISREG
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from onlinesoftmax import inputs
from onlinesoftmax.inputs import DType
from tiledattention.cluster.faults import ClusterError, needed, reason, span

TOGETHER = 2**25  # bytes that a chunk should have, unless a stored chunk is larger
GRAIN = 64  # keys: a chunk whose size nobody chose is a multiple of it


class Source(NamedTuple):
    """An array whose keys lie along one axis."""

    name: str  # of the argument
    array: Any  # of Zarr, Dask or NumPy
    axis: int  # from 0, that of the keys
    own: int | None  # keys in one of its own chunks

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array."""
        return tuple(self.array.shape)

    @property
    def dtype(self) -> DType:
        """The dtype of the array."""
        return np.dtype(self.array.dtype)

    @property
    def keys(self) -> int:
        """How many keys there are."""
        return self.shape[self.axis]

    @property
    def stand_in(self) -> NDArray[Any]:
        """An array of this shape without memory, to check shapes with."""
        return np.broadcast_to(np.float32(0), self.shape)

    @property
    def bytes_a_key(self) -> float:
        """The bytes of one key."""
        return self.dtype.itemsize * float(np.prod(self.shape)) / max(self.keys, 1)

    def part(self, keys: slice) -> "Part":
        """Return some keys: a `Stored` reference if they are stored, else the numbers."""
        if is_zarr(self.array):
            return Stored.of(self.name, self.array, self.axis, keys)
        return self.array[(slice(None),) * self.axis + (keys,)]


class Stored(NamedTuple):
    """A reference to keys in Zarr. It travels to a worker, which reads them."""

    name: str
    array: Any
    axis: int
    keys: slice
    stamps: "tuple[Stamp, ...]" = ()  # of its chunks, when the run began

    @classmethod
    def of(cls, name: str, array: Any, axis: int, keys: slice) -> "Stored":
        """Return a reference to some keys, as they are now."""
        from zarr.storage import LocalStore

        note = cls(name, array, axis, keys)
        if isinstance(array.store, LocalStore):
            return note._replace(stamps=note.stamped())
        # Asking another store about each chunk is slow, so the worker asks.
        return note._replace(stamps=(True,) * len(note.chunks()))

    def read(self) -> NDArray[Any]:
        """Return the keys; a chunk that is missing, or has changed, is an error.

        Zarr itself would fill a missing chunk with zeros, but a key of zeros is no
        absent key: its score is 0, and it takes its share of every answer.
        """
        try:
            part = self.array[(slice(None),) * self.axis + (self.keys,)]
            self.unchanged(self.stamped())  # afterwards, to notice changes meanwhile
            return part
        except Exception as error:
            where = f"{span(self.keys)}: {self.name} could not be read from"
            raise ClusterError(
                f"{where} {self.array.store}: {reason(error)}"
            ) from error

    def unchanged(self, stamps: "tuple[Stamp, ...]") -> None:
        """Raise an error unless all chunks are there and unchanged."""
        for name, was, now in zip(self.chunks(), self.stamps, stamps, strict=True):
            if now is None:
                raise FileNotFoundError(
                    f"{name} is not there (zeros that are meant have to be written:"
                    " Zarr leaves them out unless write_empty_chunks is set)"
                )
            if now != was:
                raise RuntimeError(f"{name} has changed since the run began")

    def chunks(self) -> list[str]:
        """Return the names of the stored chunks that hold the keys."""
        array, sizes = self.array, self.array.shards or self.array.chunks
        wanted = [range(n) for n in array.shape]
        wanted[self.axis] = range(self.keys.start, self.keys.stop)
        places = [
            range(r.start // size, -(-r.stop // size)) for r, size in zip(wanted, sizes)
        ]
        return [array.metadata.encode_chunk_key(place) for place in product(*places)]

    def stamped(self) -> "tuple[Stamp, ...]":
        """Return a stamp of each chunk, which changes when the chunk is rewritten."""
        from zarr.core.sync import sync

        return sync(stamps_of(self.array.store_path, self.chunks()))


# The time and the size of a file; of a chunk in another store only that it is there.
# None for no chunk.
Stamp: TypeAlias = "tuple[int, int] | bool | None"
Part: TypeAlias = "Stored | NDArray[Any] | Any"  # the last one of Dask, until it is run


async def stamps_of(store_path: Any, names: list[str]) -> tuple[Stamp, ...]:
    """Return the stamps of some chunks of a store."""
    from zarr.storage import LocalStore

    places = [store_path / name for name in names]
    if isinstance(store_path.store, LocalStore):
        return tuple(file_stamp(store_path.store.root / x.path) for x in places)
    return tuple([await place.exists() or None for place in places])


def file_stamp(file: Path) -> Stamp:
    """Return when a file was written, and its size; None if there is none.

    The file is opened for that: over a network, `stat` alone may return old values.
    Some file systems drop the last digits of the time, so the stamp has microseconds.
    """
    try:
        opened = os.open(file, os.O_RDONLY)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:  # reading it will raise the same error, with its reason
        return False
    try:
        status = os.fstat(opened)
    finally:
        os.close(opened)
    if not S_ISREG(status.st_mode):  # to Zarr, a folder is a missing chunk
        return None
    return status.st_mtime_ns // 1000, status.st_size


def read(part: Part) -> NDArray[Any]:
    """Return the numbers of a part."""
    return part.read() if isinstance(part, Stored) else np.asarray(part)


def source(name: str, array: Any, axis: int) -> Source:
    """Return an argument as a source; a text is the path of an array of Zarr.

    `axis` is that of the keys; below 0 it counts from the last.
    """
    if isinstance(array, str | os.PathLike):
        array = opened(name, array)
    elif not (is_zarr(array) or is_dask(array)):
        array = inputs.array(name, array)
    real = array.dtype.kind in "fiu" or array.dtype.name == "bfloat16"
    if len(array.shape) < abs(axis) or not real:
        raise ValueError(
            f"{name}: expected numbers, in at least {abs(axis)} axes, got {array.dtype}"
            f" of shape {tuple(array.shape)}"
        )
    axis = axis % len(array.shape)
    return Source(name, array, axis, chunk_of(name, array, axis))


def opened(name: str, path: "str | os.PathLike[str]") -> Any:
    """Return the array of Zarr at a path, to be read only."""
    zarr = needed("zarr", f"{name}: a path")
    try:
        return zarr.open_array(path, mode="r")
    except Exception as error:
        raise ValueError(
            f"{name}: expected an array of Zarr at {os.fspath(path)}, got"
            f" {reason(error)}"
        ) from error


def is_zarr(array: Any) -> bool:
    """Return whether an array is of Zarr, without importing Zarr."""
    zarr = sys.modules.get("zarr")
    return zarr is not None and isinstance(array, zarr.Array)


def is_dask(array: Any) -> bool:
    """Return whether an array is of Dask, without importing Dask."""
    dask = sys.modules.get("dask.array")
    return dask is not None and isinstance(array, dask.Array)


def chunk_of(name: str, array: Any, axis: int) -> int | None:
    """Return the number of keys in the array's own chunks, if it has chunks."""
    if is_zarr(array):
        return int((array.shards or array.chunks)[axis])
    if not is_dask(array):
        return None
    if any(size != size for sizes in array.chunks for size in sizes):  # NaN
        raise ValueError(
            f"{name}: expected chunks of known sizes, got {array.chunks}: call"
            " compute_chunk_sizes() before"
        )
    return max(*array.chunks[axis], 1)


def chunk_size(sources: tuple[Source, ...], chunk: int | None) -> int:
    """Return the keys of a task: `chunk`, or whole chunks of about 32 MiB."""
    if chunk is not None:
        return inputs.block_size(chunk, "chunk")
    own = max((each.own or GRAIN for each in sources), default=GRAIN)
    keys = TOGETHER / max(sum(each.bytes_a_key for each in sources), 1)
    return own * max(int(keys // own), 1)
