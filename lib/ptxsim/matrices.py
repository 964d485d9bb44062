"""Loads of 8×8 matrices of 16-bit numbers from shared memory: ldmatrix.

Lanes name the addresses of rows, eight lanes for each matrix, and the numbers of a row go
to four lanes. A lane is said to read the numbers that it receives, whoever named the row.
"""

from typing import Any

import numpy as np

from ptxsim.access import Access
from ptxsim.lanes import WARP
from ptxsim.memory import GUARD

Array = Any
ROWS, ROW = 8, 16  # rows of a matrix, and the bytes of one
LANE = np.arange(WARP)
GROUP, THREAD = LANE // 4, LANE % 4


def load(
    access: Access, number: int, address: Array, offset: int, transposed: bool,
    outs: tuple[Array, ...], act: Array | None,
) -> None:  # fmt: skip
    """Fill a register of every lane from each of one, two or four matrices."""
    shared, count = access.spaces["SHARED"], len(outs)
    lanes = access.everybody if act is None else act
    naming = lanes.reshape(-1, WARP)[:, : ROWS * count].reshape(-1)
    rows = access.place(number, shared, address, offset, naming, ROW)
    if access.check:
        ends = (
            np.stack([rows, rows + (ROW - 1)]) >> shared.lg
        )  # gaps are wider than a row
        outside = (shared.written.take(ends) == GUARD).any(0)
        if outside.any():
            bad = int(np.flatnonzero(outside)[0])
            why = "a row that the thread names"
            raise access.fault("out of bounds", number, shared, rows, bad, naming, why)
    size = 2 if transposed else 4
    index = received(rows.reshape(-1, count, ROWS).swapaxes(0, 1), transposed)
    every = np.tile(lanes, len(index) * count)
    access.watch(number, shared, index.reshape(-1), every, size, "read")
    words = shared.views[f"u{size}"].take(index // size).reshape(-1, count, len(lanes))
    low, *high = words.astype("u4")
    values = low | high[0] << np.uint32(16) if high else low
    for out, value in zip(outs, values):
        out[slice(None) if act is None else act] = value


def received(rows: Array, transposed: bool) -> Array:
    """Return where each lane's numbers are, by the places of rows: (…, warps, 8).

    A lane receives 4 bytes of one row, or 2 bytes of each of two rows if the matrix is
    transposed; so the first axis of the result has one or two parts.
    """
    if transposed:
        upper = rows[..., 2 * THREAD] + 2 * GROUP
        return np.stack([upper, rows[..., 2 * THREAD + 1] + 2 * GROUP])
    return (rows[..., GROUP] + 4 * THREAD)[None]
