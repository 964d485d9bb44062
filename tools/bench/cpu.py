"""Benches of the chapter on CPUs: its ladder, its blocks, a softmax alone, one query.

They are compared with PyTorch, which the book does not need otherwise:

    pip install torch --index-url https://download.pytorch.org/whl/cpu
"""

from collections.abc import Callable
from functools import partial
from typing import Any

Cells = dict[str, Any]
Task = Callable[[], object]

KEYS, WIDTH = 4096, 64
# With a power of two, the elements of a column share a few sets of a cache, and the
# measurement would include these conflicts.
BLOCKED = 3840  # queries and keys
BLOCKS_Q = (64, 192, 320, 640, 960, 1920)
BLOCKS_K = (12, 48, 192, 768, 3840)
SIZES = 192, 48  # queries and keys, among the best of the measured ones
WIDTHS = (256, 4096, 2**16, 2**20, 2**22)
LADDER = (
    "Attention of {n:,} queries and keys of {d} numbers, one head, float32. “Of the peak”"
    " is the share of what the strip reaches on numbers that never change: {peak:.0f}"
    " billion operations a second. Medians of {repeats} runs, taking turns; a turn begins"
    " with a run that is not timed."
)
LINES = (
    "Dense attention line by line, {n:,} queries and keys of {d} numbers, one thread: how"
    " often a line reads or writes the matrix, and its share of the time. Medians of"
    " {repeats} runs."
)
BLOCKS = (
    "Milliseconds of the attention in strips, {n:,} queries and keys of {d} numbers, one"
    " thread: a line for each block of queries, a column for each tile of keys. Medians of"
    " {repeats} runs."
)
ALONE = (
    "Softmax of rows alone, one thread: time in proportion to three reads with the"
    " weights kept. Medians of {repeats} runs, each after one that is not timed."
)


def ladder(cells: Cells, interleaved: Any) -> dict[str, Any]:
    """The chapter's rungs, the library and PyTorch, on one thread and on two."""
    import numpy as np

    repeats, operations = 15, 4 * KEYS**2 * WIDTH
    kernels = rungs(cells)
    a, sums, turns = np.ones((2, 8192), "f4"), np.zeros((6, 64), "f4"), 10**6
    tasks = [task for _, _, task in kernels]
    tasks.append(lambda: cells["sprint"](*a, sums, turns))
    *seconds, sprint = interleaved(tasks, repeats, after=1)
    peak = 2 * sums.size * turns / sprint / 1e9
    rows = []
    for (name, threads, _), s in zip(kernels, seconds, strict=True):
        speed = operations / s / 1e9
        share = f"{100 * speed / peak / threads:.0f} %"
        rows.append([name, threads, f"{1e3 * s:.1f}", f"{speed:.0f}", share])
    what = LADDER.format(n=KEYS, d=WIDTH, peak=peak, repeats=repeats)
    columns = ["", "threads", "milliseconds"]
    columns += ["billion operations a second", "of the peak"]
    return {"what": what, "columns": columns, "rows": rows}


def rungs(cells: Cells) -> list[tuple[str, int, Task]]:
    """Return the name, the threads and the task of each kernel on the ladder."""
    import numpy as np

    from tiledattention import cpu

    q, k, v = rows = cells["drawn"](KEYS)
    out = np.empty_like(q)
    strips, on_threads = cells["in_strips"], cells["on_threads"]
    kernels: list[tuple[str, int, Task]] = [
        ("1 dense NumPy", 1, lambda: cells["by_lines"](*rows)),
        ("2 key by key", 1, lambda: cells["by_key"](*rows, out)),
        ("3 tiles, plain loops", 1, lambda: cells["by_tiles"](*rows, out, 64, 64)),
        ("4 a lane for each query", 1, lambda: cells["in_lanes"](*rows, out, *SIZES)),
        ("5 strips in registers", 1, lambda: strips(*rows, out, *SIZES)),
        ("6 two threads", 2, lambda: on_threads(strips, *rows, out, 2)),
    ]
    for n in (1, 2):
        kernels.append(("the library", n, partial(cpu.attention, *rows, threads=n)))
        kernels.append((f"PyTorch {_torch_version()}", n, _sdpa(rows, n)))
    return kernels


def lines(cells: Cells, interleaved: Any) -> dict[str, Any]:
    """Dense attention, line by line."""
    repeats = 15
    own, _ = cells["lines_of"](*cells["drawn"](KEYS))
    seconds = interleaved([task for _, _, task in own], repeats)
    return {
        "what": LINES.format(n=KEYS, d=WIDTH, repeats=repeats),
        "columns": ["line", "passes", "milliseconds", "share"],
        "rows": [
            [text, passes, f"{1e3 * s:.1f}", f"{100 * s / sum(seconds):.0f} %"]
            for (text, passes, _), s in zip(own, seconds, strict=True)
        ],
    }


def blocks(cells: Cells, interleaved: Any) -> dict[str, Any]:
    """The chapter's last kernel in blocks of many sizes."""
    import numpy as np

    repeats, rows = 15, cells["drawn"](BLOCKED)
    out = np.empty_like(rows[0])
    tasks = [
        lambda q=q, k=k: cells["in_strips"](*rows, out, block_q=q, block_k=k)
        for q in BLOCKS_Q
        for k in BLOCKS_K
    ]
    times = [f"{1e3 * s:.1f}" for s in interleaved(tasks, repeats)]
    across = len(BLOCKS_K)
    return {
        "what": BLOCKS.format(n=BLOCKED, d=WIDTH, repeats=repeats),
        "columns": ["queries", *(f"{k:,} keys" for k in BLOCKS_K)],
        "rows": [
            [f"{q:,}", *times[i * across : (i + 1) * across]]
            for i, q in enumerate(BLOCKS_Q)
        ],
    }


def alone(cells: Cells, interleaved: Any) -> dict[str, Any]:
    """A softmax of rows by three reads, online, and PyTorch's."""
    import numpy as np
    import torch

    repeats, table = 15, []
    torch.set_num_threads(1)
    for width in WIDTHS:
        shape = max(1, 2**22 // width), width
        x = cells["rng"].standard_normal(shape, dtype="float32")
        out, answer = np.empty(shape, x.dtype), torch.empty(shape)
        seconds = interleaved(
            [
                partial(cells["three_reads"], x, out),
                partial(cells["online"], x, out),
                partial(torch.softmax, torch.from_numpy(x), 1, out=answer),
            ],
            repeats,
            after=1,
        )
        table.append([f"{width:,}", *(f"{s / seconds[0]:.2f}" for s in seconds)])
    return {
        "what": ALONE.format(repeats=repeats),
        "columns": ["numbers in a row", "three reads", "online"]
        + [f"PyTorch {_torch_version()}"],
        "rows": table,
    }


def _torch_version() -> str:
    import torch

    return torch.__version__.partition("+")[0]


def _sdpa(rows: Any, threads: int) -> Task:
    """PyTorch's own attention; on four axes, because other shapes take a slower path."""
    import torch
    from torch.nn.functional import scaled_dot_product_attention

    q, k, v = (torch.from_numpy(x)[None, None] for x in rows)

    def run() -> None:
        torch.set_num_threads(threads)
        scaled_dot_product_attention(q, k, v)

    return run
