"""Attention and softmax-dot over chunks that may lie anywhere.

What crosses the wire is a state for each chunk: 2 + d numbers a query, however long the
chunk was.
"""

from functools import partial
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import ArrayLike

from onlinesoftmax import inputs
from onlinesoftmax.inputs import Array, Numbers
from onlinesoftmax.masks import Mask, head_of
from onlinesoftmax.state import State
from tiledattention.cluster import chunk as work
from tiledattention.cluster import running, tree
from tiledattention.cluster.sources import Source, chunk_size, source
from tiledattention.cpu import arguments as cpu_arguments

PATIENCE = 120.0  # seconds without any progress


def attention(
    q: ArrayLike,
    keys: Any,
    values: Any,
    *,
    mask: Mask | None = None,
    scale: float | None = None,
    chunk: int | None = None,
    client: Any = None,
    return_lse: bool = False,
    progress: bool = False,
    patience: float = PATIENCE,
) -> Array | tuple[Array, Array]:
    """Return softmax(q keysᵀ · scale) values, chunk by chunk, on many machines.

    A worker folds each chunk of keys into a state. A tree merges the states, eight at a
    time, in the order of the keys. So with the same chunks, and on processors of one
    kind, the answer is the same to the last bit, whatever the number of workers and
    threads, in whatever order they finish, and whichever worker dies on the way.

    Parameters
    ----------
    q : array_like, (..., heads, queries, d) or (queries, d)
    keys : array, (..., heads, keys, d) or (keys, d)
        Of Zarr, or the path of one; of Dask; or of NumPy. It may have fewer heads than
        q. All three are float16, bfloat16 or float32.
    values : array, (..., heads, keys, columns) or (keys, columns)
    mask : Mask, optional
        From `onlinesoftmax.masks`. Chunks of which nothing is seen are not read.
    scale : float, optional
        1/√d unless given.
    chunk : int, optional
        The keys of a task; unless given, whole chunks of the arrays, about 32 MiB.
    client : distributed.Client, optional
        The workers. Without one, Dask's threads on this machine.
    return_lse : bool
        Whether to return the logsumexp of each row of scores as well.
    progress : bool
        Whether to show Dask's progress bar.
    patience : float
        A run on a client is given up after so many seconds without any progress, or
        without an answer from its scheduler.

    Returns
    -------
    out : ndarray, (..., heads, queries, columns)
        In the dtype of the three, or float32; 0 for a row that sees nothing.
    lse : ndarray, (..., heads, queries), float64
        −∞ for a row that sees nothing.

    Raises
    ------
    ClusterError
        If the run fails: it names the cause, and the chunk if there is one.

    Notes
    -----
    Arrays of NumPy travel with the tasks. Store what is larger than memory in Zarr.

    If chunks of Zarr in a folder are written while the run reads them, the run fails:
    each file needs the time and the size that it had when the run began, before and after
    it is read. In other stores, and in arrays of Dask, such a change is not noticed, and
    the answer may mix old keys with new ones. Only an array with a checksum
    (`compressors=zarr.codecs.Crc32cCodec()`) guards the bits of a chunk.

    Examples
    --------
    >>> q = k = np.array([[1.0], [2.0]], np.float32)
    >>> attention(q, k, k, chunk=1).round(4)
    array([[1.7311],
           [1.8808]], dtype=float32)
    """
    running.checked(client, progress, patience)
    inputs.flag("return_lse", return_lse)
    sources = (source("keys", keys, -2), source("values", values, -2))
    asked, dtype = _asked(q, sources, scale)
    whole = [work.Seen.of(head_of(mask, asked.shape, x.at)) for x in asked.heads()]
    size = chunk_size(sources, chunk)
    folds = []
    for at in inputs.blocks(sources[0].keys, size):
        seen = [head.part(at) for head in whole]
        if any(own.anything for own in seen):
            folds.append((at, partial(work.fold, seen=seen, scale=asked.scale, at=at)))
    nothing = State.empty(asked.shape[:-1], asked.output[-1])
    state = _run(folds, sources, [asked.q], nothing, client, progress, patience, size)
    out = state.result().astype(dtype)
    lse = np.asarray(state.logsumexp(), np.float64)
    return (out, lse) if return_lse else out


def _asked(
    q: ArrayLike, sources: tuple[Source, Source], scale: float | None
) -> tuple[inputs.Attention, inputs.DType]:
    """Return the arguments of an attention, checked by their shapes, and its dtype."""
    q, (keys, values) = inputs.array("q", q), sources
    kinds = {
        cpu_arguments.narrow(name, np.empty(0, dtype))
        for name, dtype in (("q", q.dtype), *((x.name, x.dtype) for x in sources))
    }
    q = q.astype(np.float32) if cpu_arguments.is_bfloat16(q) else q
    names = ("q", keys.name, values.name)
    asked = inputs.attention(
        q, keys.stand_in, values.stand_in, scale, None, None, names
    )
    return asked, kinds.pop() if len(kinds) == 1 else np.dtype(np.float32)


def softmax_dot(
    scores: Any,
    values: Any,
    *,
    chunk: int | None = None,
    client: Any = None,
    progress: bool = False,
    patience: float = PATIENCE,
) -> Numbers:
    """Return softmax(scores) · values, chunk by chunk, on any number of machines.

    Parameters
    ----------
    scores : array, (..., n)
        Of Zarr, or the path of one; of Dask; or of NumPy.
    values : array, (..., n) or (..., n, d)
    chunk, client, progress, patience
        As for `attention`; a chunk is of scores.

    Returns
    -------
    ndarray or number, (...) or (..., d), float64

    Examples
    --------
    >>> softmax_dot([0.0, 5.0], [2.0, 3.0], chunk=1).round(5)
    np.float64(2.99331)
    """
    running.checked(client, progress, patience)
    row = source("scores", scores, -1)
    rank = len(row.shape)
    weighed = source("values", values, -1)
    if len(weighed.shape) == rank + 1:
        weighed = source("values", values, -2)
    inputs.paired(row.shape, weighed.shape)
    sources = (row, weighed)
    size = chunk_size(sources, chunk)
    folds = [
        (at, partial(work.fold_row, at=at)) for at in inputs.blocks(row.keys, size)
    ]
    batch, columns = row.shape[:-1], weighed.shape[rank:]
    nothing = State.empty(batch, *columns)
    return _run(folds, sources, [], nothing, client, progress, patience, size).result()


def _run(
    folds: list[tuple[slice, Any]],
    sources: tuple[Source, Source],
    shared: list[Any],
    nothing: State,
    client: Any,
    progress: bool,
    patience: float,
    size: int,
) -> State:
    """Return the state of all chunks, folded and merged by Dask."""
    if not folds:
        return nothing
    from dask import delayed

    name = uuid4().hex[:12]
    ours = [delayed(x, name=f"queries-{name}") for x in shared]
    leaves = [
        delayed(fold)(
            *ours,
            *(each.part(at) for each in sources),
            dask_key_name=f"fold-{name}-{at.start}",
        )
        for at, fold in folds
    ]
    root = tree.graph(name, leaves)
    return running.run(root, client, progress, patience, size)
