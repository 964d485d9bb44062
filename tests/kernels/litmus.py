"""Short programs about what orders two accesses, and which arrays have a race.

``LITMUS``: name -> (blocks, threads, body, the arrays with a race). x, y and c are in
global memory, s in shared; b and t are the numbers of the block and the thread.
"""

HEAD = """from numba import cuda, int32


@cuda.jit
def kernel(x, y, c):
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    s = cuda.shared.array(64, int32)
    v = 0
"""
# Block 0 writes x[0]; with a fence and an atomic after it block 1 may read it.
SEND = "if b == 0 and t == 0:\n    x[0] = 1\n    cuda.threadfence()\n"
ASK = "if b == 1 and t == 0:\n    if cuda.atomic.add(c, 0, 1) == 1: v = x[0]\n"
ADD = "    cuda.atomic.add(c, 0, 1)\n"
BLIND = "if b == 1 and t == 0:\n    cuda.atomic.add(c, 0, 1)\n    v = x[0]\n"
LITMUS = {}


def visible(source: str) -> str:
    """The text of a program that also stores what it has read.

    A compiler leaves out what a program reads and does not use.
    """
    return source + "    y[100 + b * 64 + t] = v\n"


def litmus(name: str, blocks: int, threads: int, body: str, races: str = "") -> None:
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    LITMUS[name] = blocks, threads, HEAD + lines, set(races.split())


litmus("a fence and atomics", 2, 1, SEND + ADD + ASK)
litmus(
    "atomics, no fence",
    2,
    1,
    (SEND + ADD + ASK).replace("    cuda.threadfence()\n", ""),
    "x",
)
litmus(
    "a fence for the block only",
    2,
    1,
    (SEND + ADD + ASK).replace("fence()", "fence_block()"),
    "x",
)
litmus(
    "a fence, and a flag that is no atomic", 2, 1, SEND + "    c[0] = 1\n" + ASK, "x c"
)
litmus(
    "a fence after the flag",
    2,
    1,
    "if b == 0:\n    x[0] = 1\n" + ADD + "    cuda.threadfence()\n" + ASK,
    "x",
)
litmus(
    "a comparison that failed says nothing",
    2,
    1,
    SEND + "    cuda.atomic.cas(c, 0, 5, 1)\n" + BLIND,
    "x",
)
litmus("a comparison that held", 2, 1, SEND + "    cuda.atomic.cas(c, 0, 0, 1)\n" + ASK)
litmus("another flag", 2, 1, SEND + "    cuda.atomic.add(c, 1, 1)\n" + BLIND, "x")
litmus("nobody looks at the flag", 2, 1, SEND + ADD + BLIND, "x")
litmus(
    "a plain write breaks the chain",
    1,
    2,
    """if t == 0:
    x[0] = 1
    cuda.threadfence()
    cuda.atomic.add(c, 0, 1)
    c[0] = 0
if t == 1:
    cuda.atomic.add(c, 0, 1)
    v = x[0]""",
    "c x",
)
litmus(
    "a plain write between two breaks it too",
    1,
    2,
    """if t == 0:
    x[0] = 1
    cuda.threadfence()
    c[0] = 5
    cuda.atomic.add(c, 0, 1)
    c[0] = 0
if t == 1:
    cuda.atomic.add(c, 0, 1)
    v = x[0]""",
    "c x",
)
litmus(
    "all readers but one have said so",
    3,
    3,
    """if b == 2:
    if t == 0:
        cuda.atomic.add(c, 0, 1)
        x[0] = 1
else:
    v = x[0]
    if b == 1 or t != 1:
        cuda.threadfence()
        cuda.atomic.add(c, 0, 1)""",
    "x",
)
litmus(
    "a fence behind a barrier speaks for the block",
    2,
    4,
    """if b == 0:
    x[t] = t
    cuda.syncthreads()
    if t == 0:
        cuda.threadfence()
        cuda.atomic.add(c, 0, 1)
elif t == 0:
    if cuda.atomic.add(c, 0, 1) == 1: v = x[3]""",
)
litmus(
    "what was learnt is not forgotten",
    3,
    1,
    """if b < 2:
    x[b] = 1
    cuda.threadfence()
    cuda.atomic.add(c, b, 1)
elif cuda.atomic.add(c, 0, 1) == 1 and cuda.atomic.add(c, 1, 1) == 1:
    v = x[0] + x[1]""",
)
litmus(
    "two say so without a look, and a third looks once",
    3,
    1,
    """if b < 2:
    x[b] = 1
    cuda.threadfence()
    cuda.atomic.add(c, 0, 1)
elif cuda.atomic.add(c, 0, 1) == 2:
    v = x[0] + x[1]""",
)
litmus(
    "all readers have said so",
    3,
    2,
    """v = x[0]
cuda.threadfence()
if cuda.atomic.add(c, 0, 1) == 5: x[0] = 1""",
)
litmus(
    "not all readers have said so",
    3,
    2,
    """v = x[0]
cuda.threadfence()
if cuda.atomic.add(c, 0, 1) == 4: x[0] = 1""",
    "x",
)
litmus(
    "a message passed on",
    1,
    3,
    """if t == 0:
    x[0] = 1
    cuda.threadfence_block()
    cuda.atomic.add(c, 0, 1)
if t == 1:
    if cuda.atomic.add(c, 0, 1) == 1: cuda.atomic.add(c, 1, 1)
if t == 2:
    if cuda.atomic.add(c, 1, 1) == 1: v = x[0]""",
)
litmus(
    "a fence, a barrier, the flag of another",
    2,
    2,
    SEND
    + """cuda.syncthreads()
if b == 0 and t == 1: cuda.atomic.add(c, 0, 1)
"""
    + ASK,
)
litmus(
    "a fence, a syncwarp, the flag of another",
    2,
    2,
    SEND
    + """cuda.syncwarp()
if b == 0 and t == 1: cuda.atomic.add(c, 0, 1)
"""
    + ASK,
)
litmus(
    "a fence, a shuffle, the flag of another",
    2,
    2,
    SEND
    + """
v = cuda.shfl_sync(0xffffffff, v, 0)
if b == 0 and t == 1: cuda.atomic.add(c, 0, 1)
"""
    + ASK,
    "x",
)
litmus(
    "a fence for the block, a syncwarp of two, a third",
    1,
    3,
    """if t == 0:
    x[0] = 1
    cuda.threadfence_block()
if t < 2: cuda.syncwarp(3)
if t == 1: cuda.atomic.add(c, 0, 1)
v = cuda.ballot_sync(0xffffffff, t)
if t == 2:
    if cuda.atomic.add(c, 0, 1) == 1: v = x[0]""",
)
litmus("a syncwarp orders its lanes", 1, 4, "s[t] = t\ncuda.syncwarp()\nv = s[3 - t]")
litmus(
    "a syncwarp orders no other lane",
    1,
    4,
    """s[t] = t
if t < 2: cuda.syncwarp(3)
v = cuda.ballot_sync(0xffffffff, t)
v = s[t // 2]""",
    "s",
)
litmus(
    "a syncwarp orders no other warp",
    1,
    64,
    "s[t] = t\ncuda.syncwarp()\nv = s[(t + 32) % 64]",
    "s",
)
litmus(
    "a vote orders nothing",
    1,
    4,
    "s[t] = t\nv = cuda.ballot_sync(0xffffffff, t)\nv = s[3 - t]",
    "s",
)
litmus(
    "who has left takes no part",
    1,
    4,
    """s[t] = t
if t == 3: return
cuda.syncthreads()
v = s[3]""",
    "s",
)
litmus(
    "who has left had met the others before",
    1,
    4,
    """s[t] = t
cuda.syncthreads()
if t == 3: return
cuda.syncthreads()
v = s[3]""",
)
litmus(
    "who has left cannot be overwritten either",
    1,
    4,
    """v = s[0]
if t == 3: return
cuda.syncthreads()
if t == 0: s[0] = 1""",
    "s",
)
litmus(
    "every block adds, the last by its number reads",
    3,
    4,
    """
cuda.atomic.add(c, 0, 1)
if b == 2 and t == 0: y[0] = c[0]""",
    "c",
)
litmus(
    "a thread adds and reads the total",
    1,
    4,
    """cuda.atomic.add(c, 0, 1)
v = c[0]""",
    "c",
)
litmus(
    "a thread adds, and reads behind a barrier",
    1,
    4,
    """cuda.atomic.add(c, 0, 1)
cuda.syncthreads()
v = c[0]""",
)
TICKET = """s[t] = t
cuda.syncthreads()
if t == 0:
    y[b] = s[0] + s[1]
    cuda.threadfence()
    s[9] = cuda.atomic.add(c, 0, 1)
cuda.syncthreads()
if s[9] == 2 and t < 3: v = y[t]"""
litmus("the block with the last ticket", 3, 4, TICKET)
litmus(
    "the block with the last ticket, no fence",
    3,
    4,
    TICKET.replace("cuda.threadfence()", "pass"),
    "y",
)
litmus(
    "the block with the last number, whatever its ticket",
    3,
    4,
    TICKET.replace("s[9] ==", "b =="),
    "y",
)
litmus(
    "the block with the first number, whatever its ticket",
    3,
    4,
    TICKET.replace("s[9] == 2", "b == 0"),
    "y",
)
litmus(
    "the block with the last number, no ticket",
    3,
    4,
    TICKET.replace("cuda.atomic.add(c, 0, 1)", "b"),
    "y",
)
litmus(
    "the last ticket, no barrier before the fence",
    3,
    4,
    """y[4 * b + t] = t
cuda.threadfence()
cuda.syncthreads()
if t == 0: s[9] = cuda.atomic.inc(c, 0, 2)
cuda.syncthreads()
if s[9] == 2: v = y[t] + y[4 + t] + y[8 + t]""",
)
litmus(
    "a fence of one thread before the barrier",
    3,
    4,
    """y[4 * b + t] = t
if t == 0: cuda.threadfence()
cuda.syncthreads()
if t == 0: s[9] = cuda.atomic.inc(c, 0, 2)
cuda.syncthreads()
if s[9] == 2: v = y[t] + y[4 + t] + y[8 + t]""",
    "y",
)
# The CUDA sample threadFenceReduction resets its counter by a plain write.
RESET = """x[b] = b
cuda.threadfence()
if cuda.atomic.add(c, 0, 1) == 2:
    v = x[0] + x[1] + x[2]
    c[0] = 0"""
litmus("who draws the last ticket resets the counter", 3, 1, RESET)
litmus(
    "who draws a ticket that is not the last resets the counter",
    3,
    1,
    RESET.replace("== 2", "== 1").replace(" + x[2]", ""),
    "c",
)
litmus(
    "who draws the last ticket has no fence, and resets the counter",
    3,
    1,
    RESET.replace("cuda.threadfence()", "pass"),
    "x",
)
litmus(
    "the last block by its number resets the counter",
    3,
    1,
    "if cuda.atomic.add(c, 0, 1) < 9 and b == 2: c[0] = 0",
    "c",
)
litmus(
    "the last block adds, does not look, and resets the counter",
    3,
    1,
    """cuda.atomic.add(c, 0, 1)
if b == 2: c[0] = 0""",
    "c",
)
litmus(
    "who draws the second ticket adds once more, and a third resets the counter",
    3,
    1,
    """v = cuda.atomic.add(c, 0, 1)
if v == 1: cuda.atomic.add(c, 0, 1)
if v == 3: c[0] = 0""",
)
LOCK = """while cuda.atomic.cas(c, 0, 0, 1) != 0: pass
cuda.threadfence()
x[0] += 1
cuda.threadfence()
cuda.atomic.exch(c, 0, 0)"""
litmus("a lock", 3, 2, LOCK)
litmus("a lock without fences", 3, 2, LOCK.replace("cuda.threadfence()", "pass"), "x")
litmus(
    "a lock that is opened by a plain write",
    1,
    2,
    LOCK.replace("cuda.atomic.exch(c, 0, 0)", "c[0] = 0"),
    "x c",
)
# A thread waits for another one, which runs later.
FLAG = """if b == 0:
    while cuda.atomic.add(c, 0, 0) == 0: pass
    v = x[0]
else:
    x[0] = 1
    cuda.threadfence()
    cuda.atomic.exch(c, 0, 1)"""
litmus("a flag from a later block", 2, 1, FLAG)
litmus(
    "a flag from a later block, no fence",
    2,
    1,
    FLAG.replace("fence()", "fence_block()"),
    "x",
)
litmus("a flag from a later thread", 1, 2, FLAG.replace("b == 0", "t == 0"))
litmus(
    "a flag from a later thread, a fence too late",
    1,
    2,
    """if t == 0:
    while cuda.atomic.add(c, 0, 0) == 0: pass
    v = x[0]
else:
    x[0] = 1
    cuda.atomic.exch(c, 0, 1)
    cuda.threadfence()""",
    "x",
)
GRID = """y[4 * b + t] = t
cuda.threadfence()
cuda.syncthreads()
if t == 0:
    cuda.atomic.add(c, 0, 1)
    while cuda.atomic.add(c, 0, 0) < 3: pass
    cuda.threadfence()
cuda.syncthreads()
s[t] = y[4 * ((b + 1) % 3) + t]
cuda.syncthreads()
v = s[3 - t]"""
litmus("a barrier of the whole grid", 3, 4, GRID)
litmus(
    "a barrier of the whole grid that one passes too early",
    3,
    4,
    GRID.replace("< 3", "< 2"),
    "y",
)
litmus(
    "a block reads its own numbers after others have run",
    3,
    4,
    GRID.replace("(b + 1) % 3", "b").replace("v = s[3 - t]", "v = s[3 - t] + y[4 * b]"),
)
litmus(
    "a block reads its own numbers after others have run, no barrier",
    3,
    4,
    "s[t] = t\n"
    + GRID.split("\ncuda.syncthreads()\nif")[0]
    + "\nif t == 0:"
    + GRID.split("if t == 0:")[1].split("\ncuda.syncthreads()")[0]
    + "\nv = s[3 - t]",
    "s",
)
TURNS = """for r in range(3):
    while cuda.atomic.add(c, 0, 0) != 2 * r + b: pass
    cuda.threadfence()
    x[0] += 1
    cuda.threadfence()
    cuda.atomic.add(c, 0, 1)"""
litmus("two blocks take turns", 2, 1, TURNS)
litmus(
    "two blocks take turns, no fence",
    2,
    1,
    TURNS.replace("cuda.threadfence()", "pass"),
    "x",
)
litmus(
    "what another block wrote, after a wait and a barrier of one's own",
    2,
    2,
    """if t == 0:
    if b == 0:
        while cuda.atomic.add(c, 0, 0) == 0: pass
    else:
        x[0] = 1
        cuda.atomic.exch(c, 0, 1)
cuda.syncthreads()
if b == 0: v = x[0]""",
    "x",
)
litmus(
    "a barrier before a wait holds after it",
    2,
    2,
    """s[t] = t
cuda.syncthreads()
if t == 0:
    if b == 0:
        while cuda.atomic.add(c, 0, 0) == 0: pass
        v = s[1]
    else:
        cuda.atomic.exch(c, 0, 1)""",
)
SAME = """for i in range(c[1] + 2):
    if (t == 0) == (i == 0):
        if t == 0: FIRST
        x[0] = 5"""
litmus("all write the same", 1, 4, SAME.replace("FIRST", "pass"))
litmus("all write the same, in two blocks", 2, 4, SAME.replace("FIRST", "pass"))
litmus(
    "one reads before all write the same", 1, 4, SAME.replace("FIRST", "v = x[0]"), "x"
)
litmus(
    "one reads, and has a fence, before all write the same",
    1,
    4,
    "cuda.threadfence()\n" + SAME.replace("FIRST", "v = x[0]"),
    "x",
)
litmus(
    "one adds before all write the same",
    1,
    4,
    SAME.replace("FIRST", "v = cuda.atomic.add(x, 0, 1)"),
    "x",
)
litmus("one writes another number before", 1, 4, SAME.replace("FIRST", "x[0] = 4"), "x")
litmus(
    "all write the same, and one reads a barrier later",
    1,
    4,
    SAME.replace("FIRST", "pass") + "\ncuda.syncthreads()\nv = x[0]",
)
litmus(
    "one writes two numbers, and another the second of them",
    1,
    4,
    """if t == 0: x[0] = 3
cuda.syncthreads()
for i in range(c[1] + 2):
    if t == 0 or i == 1: x[0] = 4 + i""",
    "x",
)
