"""Kernels with one fault each, and what the simulator should say about it."""

from kernels.correct import CORRECT, UNTRANSLATED, X, case

FAULTY = {}


def mutant(name, of, changes, **fields):
    """Add a correct kernel with a change; ``fields`` are those of the fault."""
    source, launch = {**CORRECT, **UNTRANSLATED}[of]
    for old, new in changes.items():
        assert old in source, (name, old)
        source = source.replace(old, new)
    FAULTY[name] = source, launch, fields


def kernel(name, source, args, block=4, grid=1, fields=None):
    source, launch = case(source, [grid, 1], [block, 1], args)
    FAULTY[name] = source, launch, fields


BARRIER = "    cuda.syncthreads()\n"
NEIGHBOUR = "a neighbour through shared memory"
ATTENTION = "tiled attention"
SOFTMAX = "a row's softmax, barriers in helpers"

mutant(
    "read before it is written",
    NEIGHBOUR,
    {BARRIER: "    pass\n"},
    kind="race",
    how="too early",
    threads=[0, 1],
    array="tile",
    index=[1],
    line=15,
    earlier=10,
)
mutant(
    "no barrier after the load",
    ATTENTION,
    {"        cuda.syncthreads()\n        if row": "        if row"},
    kind="race",
    how="too early",
    threads=[0, 1],
    array="keys",
    index=[1, 0],
    line=23,
    earlier=17,
)
mutant(
    "no barrier before the overwrite",
    ATTENTION,
    {"= m_new\n        cuda.syncthreads()\n": "= m_new\n"},
    kind="race",
    how="ahead",
    threads=[1, 0],
    array="keys",
    index=[0, 0],
    line=24,
    earlier=17,
)
mutant(
    "no barrier before anybody writes again",
    SOFTMAX,
    {"    cuda.syncthreads()  # before anybody writes again\n": ""},
    kind="race",
    how="ahead",
    threads=[1, 0],
    array="tile",
    line=15,
)
mutant(
    "two in one place",
    "the sum of a block, by halves",
    {"tile[t] +=": "tile[t // 2] +="},
    kind="race",
    how="ahead",
    threads=[1, 0],
    array="tile",
    index=[0],
    line=14,
)
mutant(
    "a barrier in a branch",
    "the sum of a block, by halves",
    {
        "        cuda.syncthreads()\n        if t < step:\n": "        if t < step:\n            cuda.syncthreads()\n"
    },
    kind="barrier",
    threads=[0, 4],
    line=13,
)
mutant(
    "some leave, and nobody does their share",
    ATTENTION,
    {
        "    for start in range(0, n, B):": "    if row >= n:\n        return\n"
        "    for start in range(0, n, B):"
    },
    kind="uninitialised",
    array="keys",
    threads=[0],
    index=[1, 0],
    block=[2, 0],
    line=26,
)
mutant(
    "some bring their share and leave",
    NEIGHBOUR,
    {
        "            tile[t + 1] = x[i + 1] if i + 1 < n else float32(0)\n": "            tile[t + 1] = x[i + 1] if i + 1 < n else float32(0)\n"
        "    if t % 2:\n        return\n"
    },
    kind="barrier",
    threads=[0, 1],
    line=15,
    array="tile",
)
mutant(
    "no guard",
    "map with a guard",
    {"if i < n:": "if i >= 0:"},
    kind="index",
    array="x",
    index=[10],
    threads=[2],
    block=[2, 0],
    line=8,
)
mutant(
    "a negative index",
    NEIGHBOUR,
    {"y[i] = tile[t + 1]": "y[i] = tile[t - 1]"},
    kind="index",
    array="tile",
    index=[-1],
    threads=[0],
    line=15,
)
mutant(
    "nobody has written",
    NEIGHBOUR,
    {"tile[t + 1] = x[i + 1]": "tile[t] = x[i + 1]"},
    kind="uninitialised",
    array="tile",
    index=[4],
    threads=[3],
    line=15,
)
mutant(
    "an accumulator that starts as garbage",
    ATTENTION,
    {"o[c] = float32(0)": "pass"},
    kind="uninitialised",
    array="o",
    space="local",
    threads=[0],
)
mutant(
    "a plain add for an atomic",
    "a histogram, by atomics",
    {
        "cuda.atomic.add(count, places[cuda.grid(1)], float32(1))": "count[places[cuda.grid(1)]] += float32(1)"
    },
    kind="race",
    array="count",
    threads=[3, 1],
)
mutant(
    "atomics beside a plain read",
    "a histogram, by atomics",
    {"    cuda.syncthreads()\n    if t < 3:\n        if": "    if t < 3:\n        if"},
    kind="race",
    array="count",
)
mutant(
    "two blocks, one element",
    "a histogram, by atomics",
    {
        "        else:\n            cuda.atomic.add(y, t, count[t])": "        else:\n            y[t] = count[t]"
    },
    kind="race",
    array="y",
    how="both write",
    block=[1, 0],
    other_block=[0, 0],
)
mutant(
    "a lane that does not come",
    "a warp's sum, by shuffles",
    {"total(x[i]) if i < 64": "total(x[i]) if i % 32"},
    kind="barrier",
    threads=[1, 0],
)
mutant(
    "a name that is not there",
    "map with a guard",
    {"x[i]": "z[i]"},
    kind="compile",
    reason="the name z is not defined",
    line=8,
)

kernel(
    "two barriers",
    """@cuda.jit
def kernel(x):
    if cuda.threadIdx.x < 2:
        cuda.syncthreads()
        x[0] = 1
    else:
        cuda.syncthreads()
""",
    {"x": X},
    fields={"kind": "barriers", "threads": [2, 0], "line": 10, "earlier": 7},
)
kernel(
    "both write",
    """@cuda.jit
def kernel(x):
    x[cuda.threadIdx.x // 2] = cuda.threadIdx.x
""",
    {"x": X},
    fields={"kind": "race", "how": "both write", "threads": [1, 0], "index": [0]},
)
kernel(
    "one block reads what another writes",
    """@cuda.jit
def kernel(x):
    i = cuda.grid(1)
    x[i] = x[i + 1] if i < 9 else float32(0)
""",
    {"x": X},
    block=5,
    grid=2,
    fields={"kind": "race"},
)
kernel(
    "too much shared memory",
    """@cuda.jit
def kernel(x):
    a = cuda.shared.array((64, 128), float32)
    b = cuda.shared.array((64, 65), float32)
    x[0] = 1
""",
    {"x": X},
    block=1,
    fields={"kind": "shared", "array": "b", "bytes": 49408, "line": 7},
)
kernel(
    "too much shared memory, where no thread comes",
    """@cuda.jit
def kernel(x):
    if x.shape[0] > 999:
        a = cuda.shared.array(12289, float32)
        a[0] = x[0]
""",
    {"x": X},
    fields={"kind": "shared", "array": "a", "bytes": 49156, "line": 7},
)
kernel(
    "too many threads",
    """@cuda.jit
def kernel(x):
    pass
""",
    {"x": X},
    block=1025,
    fields={"kind": "block", "line": None},
)
kernel(
    "a second reader, between two shuffles",
    """@cuda.jit
def kernel(x):
    t = cuda.threadIdx.x
    s = cuda.shared.array(1, float32)
    if t == 0:
        s[0] = x[0]
    cuda.syncthreads()
    v = s[0]
    v = cuda.shfl_xor_sync(0xffffffff, v, 1)
    if t == 0:
        s[0] = v
""",
    {"x": X},
    fields={
        "kind": "race",
        "how": "overwrite",
        "threads": [0, 1],
        "line": 14,
        "earlier": 11,
    },
)
kernel(
    "a reader in another block, long ago",
    """@cuda.jit
def kernel(x):
    v = x[0]
    cuda.syncthreads()
    if cuda.grid(1) == 7:
        x[0] = v
""",
    {"x": X},
    grid=2,
    fields={
        "kind": "race",
        "how": "overwrite",
        "other_block": [0, 0],
        "threads": [3, 0],
        "line": 9,
        "earlier": 6,
    },
)
kernel(
    "a plain read after several atomics",
    """@cuda.jit
def kernel(x):
    cuda.atomic.add(x, 0, float32(1))
    if cuda.threadIdx.x == 3:
        x[1] = x[0]
""",
    {"x": X},
    fields={"kind": "race", "how": "read", "threads": [3, 0], "line": 8, "earlier": 6},
)
for place in range(9):  # wherever the lines stand, the first array is told first
    kernel(
        f"two arrays that nobody has written, {place}",
        "#\n" * place
        + """@cuda.jit
def kernel(x):
    a = cuda.shared.array(2, float32)
    b = cuda.shared.array(2, float32)
    c = cuda.shared.array(2, float32)
    cuda.syncthreads()
    x[cuda.threadIdx.x] = a[0] + b[0] + c[0]
""",
        {"x": X},
        fields={"kind": "uninitialised", "array": "a"},
    )
kernel(
    "a negative row",
    """@cuda.jit
def kernel(x):
    s = cuda.shared.array((2, 3), float32)
    s[0, 0] = x[0]
    cuda.syncthreads()
    x[0] = s[-1, 0]
""",
    {"x": X},
    block=1,
    fields={"kind": "index", "index": [-1, 0], "line": 9},
)
kernel(
    "after a helper, on the line of its call",
    """@cuda.jit(device=True)
def helper(t):
    cuda.syncthreads()
    return t + 10

@cuda.jit
def kernel(x):
    x[0 + helper(cuda.threadIdx.x)] = 1
""",
    {"x": X},
    fields={"kind": "index", "index": [10], "line": 11},
)
kernel(
    "an atomic hides its own thread's plain write",
    """@cuda.jit
def kernel(x):
    c = cuda.shared.array(1, float32)
    if cuda.threadIdx.x == 0:
        c[0] = 0
    cuda.atomic.add(c, 0, float32(1))
""",
    {"x": X},
    fields={
        "kind": "race",
        "how": "both write",
        "threads": [1, 0],
        "line": 9,
        "earlier": 8,
    },
)
kernel(
    "half a warp at a shuffle for all",
    """@cuda.jit
def kernel(x):
    t = cuda.threadIdx.x
    v = x[0]
    if t < 2:
        v = cuda.shfl_xor_sync(0xffffffff, v, 1)
    cuda.syncthreads()
""",
    {"x": X},
    fields={"kind": "barrier", "threads": [0, 2], "line": 9},
)
kernel(
    "a shuffle whose mask leaves its caller out",
    """@cuda.jit
def kernel(x):
    v = cuda.shfl_xor_sync(1, x[0], 0)
""",
    {"x": X},
    fields={
        "kind": "error",
        "line": 6,
        "threads": [1],
        "said": "ValueError: lane 1 calls shfl_xor_sync with the mask 0x00000001, which"
        " does not name it",
    },
)
kernel(
    "a barrier that is not called",
    """@cuda.jit
def kernel(x):
    x[0] = 1
    cuda.syncthreads
""",
    {"x": X},
    block=1,
    fields={
        "kind": "compile",
        "line": 7,
        "reason": "cuda.syncthreads is not called",
        "instead": "cuda.syncthreads()",
    },
)
kernel(
    "an array in a sum",
    """@cuda.jit
def kernel(x):
    x[0] = 1 - x
""",
    {"x": X},
    block=1,
    fields={"kind": "compile", "line": 6},
)
kernel(
    "a negative column",
    """@cuda.jit
def kernel(x):
    s = cuda.shared.array((2, 3), float32)
    s[1, cuda.threadIdx.x - 1] = x[0]
""",
    {"x": X},
    fields={"kind": "index", "index": [1, -1], "line": 7},
)
HALVES = "shared memory in two halves"
mutant(
    "a race through two views",
    HALVES,
    {"    cuda.syncthreads()\n    if t == 0:\n": "    if t == 0:\n"},
    kind="race",
    how="too early",
    threads=[0, 1],
    array="both",
    index=[1],
    line=7,
    earlier=17,
)
mutant(
    "an index outside of a view, and inside of the array",
    HALVES,
    {"out[c] = row[row.size - 1 - c]": "out[c] = row[row.size - c]"},
    kind="index",
    array="both",
    index=[8],
    shape=[8],
    text="thread 0 asks for [8] of both[0:8], which is both[8]; its shape is [8]",
    threads=[0],
    line=7,
)
mutant(
    "what a view shows, and nobody has written",
    HALVES,
    {"range(row.shape[0])": "range(1, row.shape[0])"},
    kind="uninitialised",
    array="both",
    index=[8],
    threads=[0],
    line=24,
)
