"""A GPU in Python, large because it must infer types and refuse kernels just as Numba does.

blocksim runs Numba-CUDA kernels unchanged, on grids and blocks of simulated threads. The
same kernel runs here (in CPython and, on the book's pages, in MicroPython), under Numba's
own simulator, and on a GPU:

>>> from blocksim import cuda, float32, run
>>> @cuda.jit
... def shift(x, y):
...     t = cuda.threadIdx.x
...     tile = cuda.shared.array(8, float32)
...     tile[t] = x[t]
...     cuda.syncthreads()
...     y[t] = tile[(t + 1) % 8]

Launch it as on a GPU, ``shift[1, 8](x, y)``: arrays are changed in place, and the
first fault is raised. To inspect a launch, call ``run(shift, 1, 8, x, y)``: the faults are
in the `Report` that it returns. A call with wrong arguments is a ValueError.

What a kernel may use
---------------------
A kernel may use what Numba compiles for a GPU. The kernel's text and the types of its
arguments are checked before anything runs. Supported are ``if``, ``while``, ``for`` over
ranges, arrays and tuples, also with ``zip`` and ``enumerate``; numbers, arrays and slices
of them, tuples; nested functions and device functions, also with barriers in them;
functions and types as arguments of these; ``math``, ``operator``, ``range``, ``len``,
``min``, ``max``, ``abs``, ``round``, ``pow``, ``divmod``; and of ``cuda`` the indices,
``grid``, ``gridsize``, shared, local and constant arrays, the barriers (``syncthreads`` and
its counting forms, ``syncwarp``), shuffles, votes, ``activemask``, atomics, fences, the bit
intrinsics (``popc``, ``clz``, ``ffs``, ``brev``), and the functions of ``cuda.fp16``.
``declined.DECLINED`` lists what Numba compiles and the simulator declines, with a reason
for each.

Names
-----
run(kernel, grid, block, *args, mode="race", log=False, shared=0, turns=…) -> Report
    ``kernel`` is a Python function, one under ``@cuda.jit`` (this one or Numba's), or
    what ``load`` returns; ``grid`` and ``block`` are an int or a tuple of up to three,
    (x, y, z). An argument is a number, a numpy array, a list of numbers or of lists,
    or a tuple of arguments. An array in a tuple x is named x[1].
    The numbers of a list are float32, or int32 if all of them are whole. Arguments may
    share memory, as numpy's views do. ``shared`` is the number of bytes of dynamic shared
    memory, ``turns`` the number of loop iterations that a thread may take.
    Mode "race" computes with Python's floats and finds faults. Mode "rounded" also rounds
    float32 (float16 is rounded in every mode). Mode "full" also reports float64
    arithmetic, and counts memory transactions and bank conflicts. Mode "plain" only
    computes. A GPU may differ in the last bits: it may contract a * b + c into one ``fma``,
    its math functions and its quotients of float16 are not always correctly rounded, and
    it rounds intermediate results of ``//`` and ``%`` of floats. The simulator does none of
    this.
load(source, name, names={}) -> Kernel
    A kernel from text. ``names`` are further names that it may use, such as tile sizes.
Report
    ``faults`` and ``notes``, lists of `Fault`; ``log``; ``loads``, ``stores``: array name
    -> one number per thread; ``transactions`` (32-byte sectors), ``conflicts`` (extra
    passes at the banks): array name -> number, in full mode; ``shared_bytes``;
    ``barriers``, how often one opened; ``bytes``: array name -> bytes loaded and stored;
    ``printed``: the lines that a kernel printed, if it is a function and no text
    (``kernel[grid, block](…)`` prints them); ``exits``: which threads had left the kernel
    before a barrier. A report is true if it has no fault.
Fault, a ValueError
    ``kind``, ``line``, ``text``, and where they apply ``threads``, ``block``,
    ``array``, ``index``, ``earlier`` (the line of the first of two accesses) and
    ``how``. ``fields`` holds all of these, ready for JSON. ``severity`` is "fault" for
    those in ``Report.faults``. Those in ``Report.notes`` are no faults: "benign" makes no
    difference to any number, "unmodelled" is where a GPU may do something else, and
    "silent" is what a GPU keeps to itself.

Faults
------
compile         nothing has run: Numba would not compile this for a GPU, or the
                simulator declines it (``declined`` says which); ``reason``, ``instead``
race            two threads access one element, at least one of them writes, the
                accesses are not both atomic, and nothing orders them (see ``order``);
                ``threads`` = [now, before], ``line``, ``earlier``; ``how`` is "read"
                (now reads what before wrote), "too early" (now reads what before has
                yet to write), "ahead" (now reads what before overwrites: the old value
                or the new one), "overwrite" (now writes what before read) or "both
                write"; ``values`` as text, where there are any: [read], or [written
                now, written before]; ``alias``, the array's other name; for a race
                between blocks, ``other_block``. Benign if both write the same bits on
                the same line, and do nothing else to the element in no order
uninitialised   a thread reads a shared or local element that no thread has written
index           an index outside the array, or a negative one, which wraps around
barrier         ``threads`` = [one that waits at ``line``, one that never comes]; at a
                shuffle or a vote, the missing thread is a lane that the mask names, or
                whose value is asked for
barriers        ``threads`` = [one that waits at ``line``, one waiting at ``earlier``]:
                at two barriers, or at one barrier in two iterations of a loop, or at
                one that was called from two lines
shared          more shared memory than a block gets by default (``bytes``; 48 KiB)
block           more threads than a block may have (1024)
launch          a grid or a block that is too large in one direction
endless         a loop that does not end, with its line: either nothing changes from
                one iteration to the next, or there are too many iterations. A
                ``while`` gives way to other threads, of other blocks too; a ``for``
                never does
float64         an operation in double precision (full mode), found from the types
                before anything runs
error           the kernel raised an exception: ``text`` says which
raise           a note, silent: a thread raised an exception, and so has ended. A GPU tells
                the host only under ``@cuda.jit(debug=True)``, where it is an "error"
activemask      a note, unmodelled: the lanes that are there together on a GPU may be fewer

Lines count from the start of the file or cell that holds the kernel, or of the text.

Threads that leave
------------------
"__syncthreads*() wait until all non-exited threads in the thread block simultaneously
reach the same __syncthreads*() intrinsic call in the program or exit" (CUDA Programming
Guide). This holds from Volta on; "Pascal and prior architectures could only enforce
synchronization at the warp level". A barrier therefore does not wait for a thread that
has left the kernel by a ``return``, and such a ``return`` is no fault in itself. Two of
its consequences are: the thread's share of the work is missing ("uninitialised", or a
wrong number), or an earlier access of the thread is ordered by no barrier ("barrier").
A thread that runs past a barrier to the end of the kernel while others wait there is
always a fault: a barrier "is allowed in conditional code but only if the conditional
evaluates identically across the entire thread block" (the same guide).

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
     "faults": [{"kind": "race", "text": …, "line": …, …}, …],
     "notes": […]}

A phase lies between two barriers; ``barrier`` is the line of the one that ends it. A
touch is an access: the thread (its number in the block, x fastest), "r", "w" or "a"
(atomic), the number of the array in ``arrays``, the element's offset in the array (in
row-major order), and the line. A phase lists equal touches once. The log covers block
(0, 0) and the first block with a fault, and of these blocks the accesses to shared and
global memory, but not to local memory.

Reading order
-------------
The front end goes from a text to a syntax tree: ``tokens`` is the scanner, ``tree`` the
parser, and ``source`` resolves the names around a kernel.

Type inference comes before anything runs: ``types`` holds the rules, ``things`` what a
name can stand for, ``values`` what is known of an expression. ``infer`` handles
statements, ``expressions`` and ``calls`` the expressions in them, and ``handed`` what a
function knows of its arguments; all of them refuse what does not compile. ``declined``
lists what only the simulator refuses.

The program: ``emit`` generates the Python code that the simulator runs, which computes
with ``arithmetic``; ``program`` caches it for each list of argument types, and ``kernel``
is what a reader launches. ``functions`` reads kernels that are Python functions (CPython
only).

The run: ``launch`` runs one thread after another. ``device`` is the object that they call
``cuda``. ``arguments`` and ``memory`` hold the arrays, with a record of the accesses.
``meetings`` decides which threads wait for which, and ``order`` keeps the happens-before
relation. ``scalars`` converts numbers to a type, ``traffic`` counts sectors and bank
conflicts, ``report`` collects the findings, and ``faults`` puts them into words.

Apart from these, ``dropin`` stands behind ``numba.cuda``, for ``pytest_plugin`` and
``python -m blocksim``. ``wgsl`` translates a kernel for the GPU of a browser, ``webgpu``
runs the translation in a notebook and ``stopwatch`` times it, ``portable`` packs the
modules for MicroPython, and ``cudasim`` repairs Numba's own simulator where it differs
from a GPU.
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
