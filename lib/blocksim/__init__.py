"""A GPU in Python, as large as it is because it must agree with Numba on what compiles.

Grids and blocks of threads run Numba-CUDA kernels unchanged. A kernel is written once. It
runs here (in CPython and, on the book's pages, in MicroPython), under Numba's own
simulator, and on a GPU:

>>> from blocksim import cuda, float32, run
>>> @cuda.jit
... def shift(x, y):
...     t = cuda.threadIdx.x
...     tile = cuda.shared.array(8, float32)
...     tile[t] = x[t]
...     cuda.syncthreads()
...     y[t] = tile[(t + 1) % 8]

Launch it as on a GPU, ``shift[1, 8](x, y)``: arrays are changed in place, and the
first fault is raised. Or look inside: ``run(shift, 1, 8, x, y)`` returns a `Report`.

What a kernel may use
---------------------
What Numba compiles for a GPU, found out from the text and the types of the arguments
before anything runs: ``if``, ``while``, ``for`` over ranges, arrays and tuples;
numbers, arrays, tuples; functions inside and device functions, with barriers too; ``math``,
``range``, ``len``, ``min``, ``max``, ``abs``, ``round``, ``pow``, ``divmod``; of
``cuda`` the indices, ``grid``, ``gridsize``, shared, local and constant arrays, the
barriers (``syncthreads`` and its counting forms, ``syncwarp``), shuffles, votes,
``activemask``, atomics, fences, and questions about bits. What else Numba compiles, and
the simulator declines, ``declined.DECLINED`` lists with the reason for each.

Names
-----
run(kernel, grid, block, *args, mode="race", log=False, shared=0, turns=…) -> Report
    ``kernel`` is a Python function, one under ``@cuda.jit`` (this one or Numba's), or
    what ``load`` returns; ``grid`` and ``block`` an int or up to three, (x, y, z). An
    argument is a number, a numpy array or a list of numbers or of lists, float32 then,
    or int32 if all of them are whole. Arguments may share memory, as numpy's views do.
    ``shared`` is the number of bytes of dynamic shared memory, ``turns`` how often a
    thread may go around its loops.
    "race" computes with Python's floats and finds faults; "full" rounds every number
    to its type, finds float64, and counts transactions and bank conflicts too;
    "plain" only computes. A GPU may differ in the last bits: it may round a product and
    a sum at once (a * b + c as ``fma``), its functions are not always rounded to the
    nearest number, and its ``//`` and ``%`` of floats round on the way; not here.
load(source, name, names={}) -> Kernel
    A kernel from text, with further names it may use, such as tile sizes.
Report
    ``faults``, a list of `Fault`; ``log``; ``loads``, ``stores``: array name -> one
    number per thread; ``transactions`` (32-byte sectors), ``conflicts`` (extra passes
    at the banks): array name -> number, in full mode; ``shared_bytes``; ``bytes``:
    array name -> bytes loaded and stored; ``exits``: which threads had left before a
    barrier. True if there is no fault.
Fault, a ValueError
    ``kind``, ``line``, ``text``, and where they apply ``threads``, ``block``,
    ``array``, ``index``, ``earlier`` (the line of the first of two accesses) and
    ``how``. ``fields`` has them all, ready for JSON.

Faults
------
compile         nothing has run: Numba would not compile this for a GPU, or the
                simulator declines it (``declined`` says which); ``reason``, ``instead``
race            two threads touch one element, not both by an atomic, one of them
                writes, and nothing orders them (see ``order``); ``threads`` = [now,
                before], ``line``, ``earlier``; ``how`` is "read" (now reads what
                before wrote), "too early" (now reads what before has yet to write),
                "ahead" (now reads what before writes anew: the old or the new one),
                "overwrite" (now writes what before read) or "both write"; ``values``,
                as text, where there are any: [read], or [written now, before];
                ``alias``, the array's other name. Between blocks ``other_block``.
uninitialised   a thread reads a shared or local element that nobody has written
index           an index outside the array, or a negative one, which wraps around
barrier         ``threads`` = [one that waits at ``line``, one that never comes]; at a
                shuffle or a vote, one that its mask names, or that it asks
barriers        ``threads`` = [one that waits at ``line``, one waiting at ``earlier``]:
                two barriers, or one in two turns of a loop, or called from two lines
shared          more shared memory than a block gets unasked (``bytes``; 48 KiB)
block           more threads than a block may have (1024)
launch          a grid or a block that is too large in one direction
endless         a loop that does not end, with its line: nothing changes from turn to
                turn, or there are too many. A thread that waits in a loop for another
                one waits for ever here, unless it asks by an atomic in a while.
float64         an operation in double precision (full mode), found by type before
                anything runs
error           the kernel raised: ``text`` says what

Lines count from the start of the file or cell that holds the kernel, or of the text.

Threads that leave
------------------
"__syncthreads*() wait until all non-exited threads in the thread block simultaneously
reach the same __syncthreads*() intrinsic call in the program or exit" (CUDA Programming
Guide); so it is from Volta on, and "Pascal and prior architectures could only enforce
synchronization at the warp level". So a thread that leaves by a ``return`` is not
waited for, and leaving is no fault. What may be one is what it leaves behind: a share
of the work that nobody does ("uninitialised", or a wrong number), or an access of its
own that no barrier orders, because it came to none ("barrier"). A thread that runs past
a barrier to the end of the kernel, where others wait, is a fault: a barrier "is allowed
in conditional code but only if the conditional evaluates identically across the entire
thread block" (the same).

The log
-------
With ``log=True`` (JSON throughout) ``Report.log`` is::

    {"kernel": "shift", "grid": [1, 1], "block": [8, 1],
     "arrays": [{"name": "tile", "space": "shared", "shape": [8]},
                {"name": "x", "space": "global", "shape": [8]}, …],
     "blocks": [{"at": [0, 0],
                 "phases": [{"touches": [[thread, "w", array, index, line], …],
                             "barrier": 5}, …,
                            {"touches": […], "barrier": null}]}],
     "faults": [{"kind": "race", "text": …, "line": …, …}, …]}

A phase lies between two barriers; ``barrier`` is the line of the one that ends it. A
touch is a thread (its number in the block, x fastest), "r", "w" or "a" (atomic), the
number of the array in ``arrays``, the element's place in the array (counted row by
row), and the line. The same touch is noted once a phase. The log keeps block (0, 0) and
the first block with a fault, and of these shared and global memory, not local.

Reading order
-------------
The front end, from a text to a tree: ``tokens`` cuts the text into pieces, ``tree`` puts
them together, and ``source`` finds out what the names around a kernel stand for.

Types, found before anything runs: ``types`` are the rules, ``things`` what a name can
stand for, ``values`` what is known of an expression. ``infer`` reads statements,
``expressions`` and ``calls`` what stands in them; all refuse what does not compile.
``declined`` lists what only the simulator refuses.

The program: ``emit`` writes the Python that the simulator runs, which computes by
``arithmetic``; ``program`` keeps it for each list of argument types, and ``kernel`` is
what a reader launches. ``functions`` reads kernels that are Python functions, in CPython.

The run: ``launch`` runs one thread after another. ``device`` is what they call ``cuda``,
``arguments`` and ``memory`` are the arrays, with a record of who touched what;
``meetings`` says who waits for whom, ``order`` what that orders. ``scalars`` are numbers
as a type holds them, ``traffic`` counts sectors and banks, ``report`` gathers what was
found, and ``faults`` words it.

Apart from these, ``wgsl`` writes a kernel for the GPU of a browser, ``portable`` packs
the modules for MicroPython, and ``cudasim`` repairs Numba's own simulator where it
differs from a GPU.
"""

from .faults import Fault
from .kernel import Kernel, cuda, load, run
from .report import Report
from .things import Type

__version__ = "0.1.0"

float16, float32, float64 = Type("float16"), Type("float32"), Type("float64")
int32, int64, uint32 = Type("int32"), Type("int64"), Type("uint32")

__all__ = [
    "Fault",
    "Kernel",
    "Report",
    "cuda",
    "float16",
    "float32",
    "float64",
    "int32",
    "int64",
    "load",
    "run",
    "uint32",
]
