"""What the simulator declines although Numba compiles it: a reason for each.

A kernel that needs one of these is refused, and the message says that Numba may compile it.
"""

DECLINED = {
    "texts": "Strings and bytes: a kernel computes with numbers.",
    "complex": "Complex numbers and records: none of the book's arrays holds any.",
    "enums": "Members of an Enum as arguments of a launch, or one or another by the way;"
    " those of an IntEnum where a number of Numba's own is meant.",
    "none": "None beside numbers: a name that is None on one way and a number on"
    " another hides a start value that should be written down.",
    "identity": "`is` and `in`: only `is None` has an answer before the kernel runs.",
    "slices": "Arrays as indices, np.newaxis, and an array changed in place at once: the"
    " simulator follows single elements.",
    "views": "Methods and attributes of arrays but shape, size, ndim and dtype, a view of"
    " another type, and dynamic shared memory under a second type: each hides a loop or"
    " another view of the memory.",
    "loops": "sum, min and max of a whole array or tuple, and enumerate and zip outside"
    " the head of a for: a loop says who reads which element.",
    "output": "print of anything but numbers and texts, or in a kernel made from a text;"
    " and a raise of anything but an exception by its name.",
    "floats": "Floats where a whole number is meant, in range, masks and indices:"
    " Numba cuts them off without a word.",
    "library": "Functions of NumPy, some of operator, of libdevice, those of cuda.fp16 by"
    " the names of CUDA's header, vector types, and cooperative groups: the book has no use"
    " for them.",
    "functions": "Lambdas that use variables around them, and those made outside of a"
    " kernel; functions and kernels without a text, as exec makes them; stars and"
    " defaults in a kernel's parameters; and functions that return nothing on some ways.",
    "signatures": "Types in a decorator that are not those of the launch or the call: a"
    " GPU takes the bytes for what the decorator says, or converts the numbers.",
    "statements": "match, async, global, nonlocal, := of a variable and a for that"
    " writes to elements.",
    "asking": "isinstance, hasattr, type and slice: types are known when the text is"
    " written.",
    "tuples": "Comparing tuples, tuples as tests, tuple(…), named tuples made in a"
    " kernel, arrays unpacked into names, and the length of a range.",
    "lists": "Lists that are never used: Numba drops them, and refuses all others but"
    " those that a for goes through.",
    "constants": "Atomics on an array around the kernel: that is a constant.",
    "unset": "A name that has no value on the way to its line: where another way gives"
    " it one, Numba takes what happens to be there.",
    "depth": "Dozens of brackets or blocks in each other: the simulator's stack is a"
    " small one.",
    "mention": "A barrier that is named and not called: it compiles, and nobody waits.",
}
