"""Runs PTX, what a compiler for NVIDIA's GPUs makes of a kernel, in NumPy.

No GPU takes part. Every thread is an element of NumPy's arrays, and many blocks of
threads run at once; each basic block of the PTX becomes a Python function.

>>> import numpy as np, ptxsim
>>> x, y = np.arange(64, dtype="f4"), np.empty(64, "f4")
>>> result = ptxsim.run(text, grid=2, args=(x, y), outputs=[1])  # doctest: +SKIP

Names
-----
check(compiled, grid, *arguments, outputs, changed, allow, …) -> Result
    Runs what ``triton.compile`` or ``numba.cuda.compile`` returns.
run(text, grid, args, *, threads, outputs=(), changed=(), …) -> Result
    ``args`` are arrays, numbers, structs and null pointers. An array is passed as the
    compiler of the PTX passes it, as a pointer (C, Triton, CuTe) or by the layout of
    numba-cuda or numba-cuda-mlir, which the number of the kernel's parameters tells.
    Arrays of `outputs` hold nothing before; those of `changed` may be read and
    written; no others may be written.
trace(text, grid, args, *, block, thread, …) -> list of Moment
    What one thread did: each instruction with what it left in registers.
Result
    How often each instruction was executed, by threads and by warps; with
    ``profile=True`` also the wavefronts of shared memory and the sectors of global
    memory. `by_opcode` and `by_source_line` add them up. `notes` lists what is no fault;
    `layout` is how the kernel takes arrays.
Fault, a ValueError
    ``kind``, ``detail``, ``line`` and ``text`` of the PTX, ``source`` (the file and
    line of the source, where the PTX has line information), ``block`` and ``thread``, and
    ``severity``.
Unsupported, a NotImplementedError
    PTX that the machine does not know; it never guesses. What is no PTX at all, a
    missing semicolon or a name that is not declared, is a ValueError with its line.

On a command line ``python -m ptxsim FILE`` lists kernels, and all that is not supported.

Faults
------
out of bounds       an access outside of every array
uninitialised       a read of what nobody has written
misaligned          an address that is no multiple of the size of the access. Arrays in
                    shared memory are aligned no better than the PTX declares.
race                two threads touch the same bytes, one of them writes, and nothing
                    orders the two. Strong accesses of one size do not race, if the scope
                    of each holds both threads: ``.cta`` is for one block.
copy under way      a touch of what ``cp.async`` writes, or a write to what it reads, before
                    its thread has waited for it
barrier             threads of a block wait at barriers of different numbers, or for
                    threads that do not come
warp not whole      a thread of a warp, or of a mask, misses an instruction that all of
                    them have to execute, and has not ended
shuffle             a thread reads a register of a thread that does not take part
input overwritten   a write to an argument that is neither an output nor changed
not written         an element of an output that no thread has written
division by zero    of whole numbers: the result is not defined
trap                the kernel gives up
endless             threads wait for what no thread does any more; or more than ``limit``
                    basic blocks, where a barrier counts as 60

Severities
----------
fault        is raised; the others are `Result.notes`, for each instruction the first time
benign       several threads store the same bytes, by one store of the source, in no order
unmodelled   a strong load of what another thread stores in no order: other runs may read
             another number. Or so many threads touch a word in no order that some are
             forgotten, and races with them.

What orders accesses
--------------------
Barriers of the block, also those for some of its warps or for a count of threads;
``bar.warp.sync`` for the lanes of its mask; and what threads learn through memory. After
a fence, or by a release, the next atomic operation or strong store of a thread leaves at
its address what that thread knows, and who reads that address by an atomic operation or a
strong load learns it. The reader needs no fence of its own, as in the ticket example of
NVIDIA's CUDA guide. So flags, locks and tickets are understood.

Limits
------
PTX is not what a GPU executes: an assembler, ptxas, translates it once more. It is
trusted here, and its registers, its schedule and its instructions are not seen.

- One kernel, with the functions of the same text that it calls. They are executed in
  the places of their calls: no recursion, no indirect calls, and nothing that the text
  only declares, such as ``vprintf``.
- Tensor cores are those of sm_80: ``mma.sync`` and ``ldmatrix``. What sm_90 and later have
  beyond that is missing (``wgmma``, bulk copies, ``mbarrier``, ``tcgen05``), and so are
  textures. What is missing raises `Unsupported`.
- A launch is one way through the code: what it does not come to is not looked at.
- A thread that has ended holds up no barrier and no mask, and a barrier does not order
  what it did since its last one. PTX does not tell a ``return`` from an ``if`` around a
  barrier that is the kernel's last: neither is a fault here.
- ``ld.global.nc`` asks for memory that nobody writes during the launch; that is not
  checked beyond what holds for any load.
- ``activemask`` gives the threads of a warp that are at the instruction together here;
  on a GPU they may be fewer.
- Blocks of one batch run together, and a loop that goes on and on gives way to the
  others; batches run one after the other. Whoever waits in a loop for a block of a
  later batch waits for ever, which is the fault ``endless``.
- ``ex2``, ``lg2``, ``sin``, ``cos``, ``tanh``, ``rcp``, ``rsqrt``, ``sqrt`` and ``div``
  are as exact as NumPy's; a GPU's approximations are off by a few units in the last place.
- The sums of ``mma`` are taken in single precision, in NumPy's order; a GPU's order is
  not published, and its last bits may differ.
- ``rcp`` and ``rsqrt`` with ``.approx.ftz.f64`` are rounded to the 20 bits that they keep.
- ``fma`` is rounded once, in every type.
- With ``.ftz``, results that are subnormal become zero; those that are exact, and
  subnormal numbers that go in, are looked for only with ``exact=True``, or if the
  arguments hold some.
- Special registers that tell the time or the multiprocessor are refused.
- An instruction with a predicate is counted for all threads that come to it.
- Wavefronts count passes through 32 banks of four bytes, where 8 bytes are served for 16
  threads at a time and 16 bytes for 8. Caches are not modelled, and nothing is timed.
"""

from ptxsim.compiled import check
from ptxsim.faults import Fault, Unsupported
from ptxsim.launch import run
from ptxsim.result import Count, Result
from ptxsim.trace import Moment, trace

__version__ = "0.1.0"
__all__ = ["Count", "Fault", "Moment", "Result", "Unsupported", "check", "run", "trace"]
