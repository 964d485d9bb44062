"""What a compiler makes of the attention kernels, and what that costs on a GPU.

With NumPy only:

    devices.py         what makers publish about their GPUs
    limits.py          what one multiprocessor can hold and do: occupancy, a least time
    banks.py           how a warp's accesses are served: sectors and banks
    reports.py         registers, shared memory and spills of each kernel, stored
    counts.py          how many instructions each line executes, stored

With a compiler, but without a GPU:

    compile.py         `compile_report`: what the compiler makes of a kernel
    sass.py            reads machine code, and names the kinds of its instructions
    counting.py        works out how often each block of machine code runs
    lab.py             runs compiled kernels on `ptxsim`, and counts line by line

With a GPU:

    trial.py           checks and times the rungs, by timing_cuda or timing_webgpu
"""

__version__ = "0.1.0"
