"""A small grammar of kernels: every seed is a program of two blocks of eight threads.

Threads write their own place of a tile, meet, and read anybody's. All arithmetic is
float32, so that two simulators can be compared to the last bit.
"""

import random

HEAD = """import math
import operator
from numba import cuda, float32


@cuda.jit(device=True)
def swap(tile, t, v, k):
    tile[t] = v
    cuda.syncthreads()
    w = tile[(t + k) % 8]
    cuda.syncthreads()
    return w


@cuda.jit(device=True)
def blend(a, b):
    return a * float32(0.75) - b * float32(0.25)


@cuda.jit(device=True)
def apply(op, *values):
    return op(*values)


@cuda.jit
def kernel(x, y):
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile = cuda.shared.array(8, float32)
    grid = cuda.shared.array((2, 8), float32)
    own = cuda.local.array(3, float32)
    for c in range(3):
        own[c] = float32(c)
    v = x[i]
    w = float32(1)
"""


def program(seed: int) -> str:
    """Return the text of a kernel without a race."""
    rng = random.Random(seed)
    lines = [line for _ in range(rng.randint(1, 4)) for line in phase(rng)]
    return HEAD + "\n".join(f"    {line}" for line in [*lines, "y[i] = v + w"]) + "\n"


def phase(rng: random.Random) -> list[str]:
    """Return some lines that leave no access open."""
    form = rng.choice([plain, plain, through_tile, through_rows, helper, loop, branch])
    return form(rng)


def value(rng: random.Random) -> str:
    """Return an expression of float32 numbers."""
    a, b = rng.choice("vw"), rng.choice("vw")
    c = f"float32({rng.randint(-9, 9) / 8})"
    return rng.choice(
        [
            f"{a} + {b}",
            f"{a} * {c}",
            f"{a} - {b} * {c}",
            f"max({a}, {b})",
            f"-{a}",
            f"float32(math.exp(-abs({a})))",
            f"blend({a}, {b})",
            f"apply({rng.choice(['blend', 'operator.sub', 'max'])}, {a}, {b})",
            f"operator.mul({a}, {c})",
            f"min({a}, {c})",
            f"{a} / (float32(1) + {b} * {b})",
            f"own[{rng.randrange(3)}] + {b}",
            f"{a} if {a} > {b} else {c}",
            f"x[(i + {rng.randrange(16)}) % 16]",
        ]
    )


def plain(rng: random.Random) -> list[str]:
    return [f"{rng.choice('vw')} = {value(rng)}", f"own[t % 3] = {value(rng)}"]


def through_tile(rng: random.Random) -> list[str]:
    k = rng.randrange(8)
    return [
        f"tile[t] = {value(rng)}",
        "cuda.syncthreads()",
        f"{rng.choice('vw')} = tile[(t + {k}) % 8]",
        "cuda.syncthreads()",
    ]


def through_rows(rng: random.Random) -> list[str]:
    row = rng.choice(["0", "1", "t % 2"])
    return [
        f"grid[0, t], grid[1, t] = v, {value(rng)}",
        "cuda.syncthreads()",
        f"w = grid[{row}, (7 - t) % {rng.randint(1, 8)}]",
        "cuda.syncthreads()",
    ]


def helper(rng: random.Random) -> list[str]:
    return [f"{rng.choice('vw')} = swap(tile, t, {value(rng)}, {rng.randrange(8)})"]


def loop(rng: random.Random) -> list[str]:
    inner = [line for _ in range(2) for line in rng.choice([plain, helper])(rng)]
    head = rng.choice([f"for r in range({rng.randint(1, 3)}):", "for r in (2, 1):"])
    return [head, *(f"    {line}" for line in inner)]


def branch(rng: random.Random) -> list[str]:
    inner = [f"    {line}" for line in plain(rng)]
    test = rng.choice(["t % 2 == 0", f"t < {rng.randint(1, 7)}", "v > w", "i == 3"])
    return [f"if {test}:", *inner, "else:", f"    w = {value(rng)}"]


# ---- programs with and without races, for the all-pairs oracle

WILD = """from numba import cuda, int32


@cuda.jit(device=True)
def swap(tile, t, v, k):
    tile[t] = v
    cuda.syncthreads()
    w = tile[(t + k) % T]
    {barrier}
    return w


@cuda.jit(device=True)
def total(v):
    for k in range(2):
        v += cuda.shfl_xor_sync(0xffffffff, v, 1 << k)
    return v


@cuda.jit
def kernel(x, y, c):
    t = cuda.threadIdx.x
    b = cuda.blockIdx.x
    i = cuda.grid(1)
    tile = cuda.shared.array(T, int32)
    count = cuda.shared.array(2, int32)
    last = cuda.shared.array(1, int32)
    v = t
    w = 1

    def meet(a):
        cuda.syncthreads()
        return a
"""
# It uses the kernel's own names, so Numba compiles it only where it is called.
NEAR = """
    def near(a, k):
        return tile[(t + k) % T] + a

"""


def wild(seed: int) -> tuple[str, dict]:
    """Return the text of a kernel, and its launch: blocks, threads, aliases."""
    rng = random.Random(f"wild {seed}")
    if seed % 3:
        return tangled(rng)
    threads = rng.choice([4, 8, 8, 8, 40])
    shape = Shape(rng, threads, rng.choice([1, 2, 2, 3]))
    lines = []
    for _ in range(rng.randint(1, 6)):
        lines += shape.statement(1)
    apart = not shape.left and rng.random() < 0.15
    if apart:
        lines += shape.apart()
    barrier = rng.choice(["cuda.syncthreads()"] * 3 + ["pass"])
    body = "\n".join(f"    {line}" for line in lines)
    text = WILD.format(barrier=barrier) + (NEAR if "near(" in body else "") + body
    alias = rng.choice(["apart"] * 3 + ["same", "shifted", "reversed"])
    launch = {
        "blocks": shape.blocks,
        "threads": threads,
        "alias": alias,
        "apart": apart,
    }
    return text.replace("T]", f"{threads}]").replace("% T", f"% {threads}").replace(
        "array(T", f"array({threads}"
    ) + "\n", launch


class Shape:
    """Chooses statements; how tidy they are differs from program to program."""

    def __init__(self, rng: random.Random, threads: int, blocks: int) -> None:
        self.rng, self.threads, self.blocks = rng, threads, blocks
        self.tidy = rng.choice([0.5, 0.8, 0.95, 1])
        self.left = False  # may some threads have left?

    def statement(self, depth: int) -> list[str]:
        rng = self.rng
        forms = [self.access] * 6 + [self.atomic] * 2 + [self.sync] * 3
        forms += [self.fence, self.warp, self.vote, self.exchange, self.branch]
        if depth:
            forms += [self.loop, self.ticket, self.leave, self.helper, self.pair]
        return rng.choice(forms)()

    def apart(self) -> list[str]:
        """Threads that do not meet: in two arms, in two turns, half a warp."""
        rng = self.rng
        k = rng.randrange(1, self.threads)
        calls = [
            "v = swap(tile, t, v, 0)",
            "cuda.syncthreads()",
            "v = meet(v)",
            "v = cuda.shfl_sync(0xffffffff, v, 0)",
            "cuda.syncwarp()",
        ]
        first, second = rng.choice(calls), rng.choice(calls)
        if k >= 32 and "swap" not in first and "thr" not in first:
            first = "cuda.syncthreads()"
        return rng.choice(
            [
                [f"if t < {k}:", f"    {first}", "else:", f"    {second}"],
                ["for r in range(3):", f"    if (t + r) % 2: {calls[1]}"],
                [
                    f"for r in range(2 if t < {k} else 1):",
                    f"    {rng.choice(calls[:3])}",
                ],
            ]
        )

    def own(self) -> bool:
        return self.rng.random() < self.tidy

    def place(self, name: str) -> str:
        """An index: the thread's own if it is tidy, or anything."""
        rng, T = self.rng, self.threads
        if name == "tile":
            away = ["0", f"(t + {rng.randrange(T)}) % {T}", "t // 2", f"{T - 1} - t"]
            return "t" if self.own() else rng.choice(away)
        n = T * self.blocks
        away = ["0", "t", f"(i + {rng.randrange(n)}) % {n}", "b", f"{n - 1} - i"]
        return "i" if self.own() else rng.choice(away)

    def access(self) -> list[str]:
        rng = self.rng
        name = rng.choice(["tile", "tile", "x", "y"])
        at = f"{name}[{self.place(name)}]"
        forms = [f"{at} = v + w", f"v = {at}", f"w += {at}", f"{at} += 1", f"{at} = 7"]
        line = rng.choice(forms)
        return [line]

    def atomic(self) -> list[str]:
        rng = self.rng
        name = rng.choice(["count", "c", "c", "y"])
        at = str(rng.randrange(2)) if self.own() else "t % 2"
        change = rng.choice(["add", "add", "max", "exch", "sub", "min", "xor"])
        lines = [
            f"{rng.choice(['v = ', 'w = ', ''])}"
            f"cuda.atomic.{change}({name}, {at}, {rng.choice('vw1')})"
        ]
        if rng.random() < 0.3:
            lines = [f"w = cuda.atomic.cas({name}, {at}, {rng.choice('01v')}, v + 1)"]
        if rng.random() < 0.25:
            lines.append(f"v = {name}[{at}]")
        return lines

    def sync(self) -> list[str]:
        return [
            self.rng.choice(
                [
                    "cuda.syncthreads()",
                    "cuda.syncthreads()",
                    "cuda.syncthreads()",
                    "w = cuda.syncthreads_count(int32(v > w))",
                    "w = cuda.syncthreads_or(int32(v > 1))",
                    "w = cuda.syncthreads_and(int32(v > 1))",
                ]
            )
        ]

    def fence(self) -> list[str]:
        return [
            self.rng.choice(
                [
                    "cuda.threadfence()",
                    "cuda.threadfence_block()",
                    "cuda.threadfence_system()",
                ]
            )
        ]

    def warp(self) -> list[str]:
        rng = self.rng
        whole = "cuda.syncwarp()" if rng.random() < 0.5 else "cuda.syncwarp(0xffffffff)"
        if rng.random() < 0.5:
            return [whole]
        return [
            "if t % 32 < 2:",
            f"    {self.access()[0]}",
            "    cuda.syncwarp(3)",
            f"    {self.access()[0]}",
        ]

    def pair(self) -> list[str]:
        """Neighbours talk through a tile, with a syncwarp between, or without."""
        middle = "cuda.syncwarp()" if self.own() else "w += 1"
        return [
            "tile[t] = v",
            middle,
            "w = tile[t // 2 * 2]",
            self.rng.choice(
                ["cuda.syncthreads()", "cuda.syncwarp()", "cuda.threadfence_block()"]
            ),
        ]

    def vote(self) -> list[str]:
        return [
            self.rng.choice(
                [
                    "w = cuda.ballot_sync(0xffffffff, v > w)",
                    "w += cuda.activemask()",
                    "if cuda.any_sync(0xffffffff, v > 3): w += 1",
                    "if cuda.all_sync(0xffffffff, v > 3): w += 2",
                    "w = cuda.match_any_sync(0xffffffff, v)",
                ]
            )
        ]

    def exchange(self) -> list[str]:
        if self.left:
            return ["w = cuda.shfl_sync(0xffffffff, v, t % 32)"]
        return [
            self.rng.choice(
                [
                    "v = cuda.shfl_sync(0xffffffff, v, 0)",
                    "w = total(w)",
                    "w = cuda.shfl_xor_sync(0xffffffff, v, 1)",
                    "w = cuda.shfl_up_sync(0xffffffff, v, 1)",
                ]
            )
        ]

    def branch(self) -> list[str]:
        rng = self.rng
        inner = rng.choice([self.access, self.atomic, self.fence])()
        tests = ["t == 0", "t < 2", "t % 2 == 0", "b == 0", "i == 3", "v > w"]
        test = rng.choice(tests)
        return [f"if {test}:", *(f"    {line}" for line in inner)]

    def loop(self) -> list[str]:
        inner = [line for _ in range(2) for line in self.statement(0)]
        head = self.rng.choice(["for r in range(2):", "for r in range(3):"])
        return [head, *(f"    {line}" for line in inner)]

    def leave(self) -> list[str]:
        if self.rng.random() < 0.5:
            return []
        self.left = True
        k = self.rng.randrange(1, self.threads)
        return [f"if t >= {k}:", "    return"]

    def helper(self) -> list[str]:
        if self.rng.random() < 0.4:
            return [f"v = near(v, {self.rng.randrange(self.threads)})"]
        if self.left:
            return ["w = meet(v)"]
        return [f"v = swap(tile, t, v, {self.rng.randrange(self.threads)})"]

    def ticket(self) -> list[str]:
        """Every block leaves a part; the last one reads them all."""
        rng, own = self.rng, self.own
        write = "y[i] = v" if rng.random() < 0.5 else "if t == 0: y[i] = v"
        fence = (
            "cuda.threadfence()"
            if own()
            else rng.choice(["pass", "cuda.threadfence_block()"])
        )
        draw = "cuda.atomic.add(c, 0, 1)" if own() else "b"
        lines = [write, fence, "cuda.syncthreads()"][:: rng.choice([1, 1, -1])]
        if rng.random() < 0.5:
            lines = [write, "cuda.syncthreads()", fence]
        lines += ["if t == 0:", f"    {fence}", f"    last[0] = {draw}"]
        lines += ["cuda.syncthreads()"] if own() else []
        lines += [
            f"if last[0] == {self.blocks - 1}:",
            f"    w = y[(i + {rng.randrange(9)}) % {self.threads * self.blocks}]",
        ]
        if rng.random() < 0.4:
            lines = [
                "if t == 0:",
                "    y[b] = v",
                f"    {fence}",
                "    v = cuda.atomic.add(c, 1, 1)",
                f"    if v == {self.blocks - 1}:",
                "        for r in range(b + 1):",
                "            w += y[r]",
            ]
        return lines


def tangled(rng: random.Random) -> tuple[str, dict]:
    """Few threads and fewer elements, so that everything meets everything."""
    blocks, threads = rng.choice([1, 1, 2, 2, 3]), rng.choice([2, 3, 4])
    knot = Knot(rng, blocks, threads)
    lines = ["v = t", "w = 1", "s = cuda.shared.array(3, int32)"]
    if rng.random() < 0.7:
        lines += ["if t == 0:", "    for k in range(3): s[k] = 0", "cuda.syncthreads()"]
    for _ in range(rng.randint(2, 7)):
        lines += knot.statement()
    if rng.random() < 0.6:
        lines += knot.message()
    alias = rng.choice(["apart", "apart", "same", "reversed"])
    head = "from numba import cuda, int32\n\n\n@cuda.jit\ndef kernel(x, y, c):\n"
    head += "    t, b = cuda.threadIdx.x, cuda.blockIdx.x\n"
    body = "".join(f"    {line}\n" for line in lines)
    return head + body, {"blocks": blocks, "threads": threads, "alias": alias}


class Knot:
    """Chooses statements of single threads on single elements."""

    def __init__(self, rng: random.Random, blocks: int, threads: int) -> None:
        self.rng, self.blocks, self.threads = rng, blocks, threads
        self.size = min(2, blocks * threads)
        self.flag = rng.choice(["c[0]", "c[1]", "s[0]", "y[0]"])
        self.data = rng.choice(["s[1]", "x[1]", "y[1]", "x[0]", "c[1]"])

    def message(self) -> list[str]:
        """Data, a fence, a flag, perhaps passed on, and somebody who looks at it."""
        rng, sync = self.rng, ["cuda.syncthreads()", "cuda.syncwarp()", "w += 1"]
        first, second = self.who(), self.who()
        written = rng.choice([f"{self.data} = v", f"w += {self.data}"])
        steps = [
            (rng.choice(["w == w", first]), written),
            (first, self.fence()),
            ("", rng.choice(sync)),
            (rng.choice([first, second]), self.atomic(self.flag)),
            (second, rng.choice([f"{self.flag} = 0", self.atomic(self.flag)])),
            (second, rng.choice([self.atomic("c[1]"), f"w += {self.data}"])),
            (second, rng.choice([self.fence(), "w += 1"])),
            (self.who(), self.atomic(rng.choice([self.flag, "c[1]"]))),
        ]
        kept = [step for step in steps if rng.random() < 0.85]
        lines = [f"if {test}: {line}" if test else line for test, line in kept]
        last = f"t == {rng.randrange(self.threads)}"
        if rng.random() < 0.6:
            last += f" and b == {self.blocks - 1}"
        return [*lines, f"if {last}:", *(f"    {line}" for line in self.consume())]

    def statement(self) -> list[str]:
        rng = self.rng
        form = rng.random()
        if form < 0.2:
            return [
                rng.choice(
                    [
                        "cuda.syncthreads()",
                        "cuda.syncthreads()",
                        "w += cuda.syncthreads_or(int32(v > 2))",
                    ]
                )
            ]
        if form < 0.3:
            return self.warp()
        if form < 0.36:
            k = rng.randrange(1, self.threads)
            return self.steps("t == " + str(k)) + [f"if t == {k}: return"]
        return self.steps(self.who())

    def who(self) -> str:
        """Which threads act: mostly one, of one block or of every block."""
        rng = self.rng
        tests = [f"t == {rng.randrange(self.threads)}"] * 3 + ["t < 2", "w == w"]
        block = f"b == {rng.randrange(self.blocks)} and " if rng.random() < 0.5 else ""
        return block + rng.choice(tests)

    def steps(self, test: str) -> list[str]:
        rng = self.rng
        forms = [self.publish, self.consume, self.touch, self.touch]
        lines = rng.choice(forms)()
        return [f"if {test}:", *(f"    {line}" for line in lines)]

    def warp(self) -> list[str]:
        rng = self.rng
        if rng.random() < 0.4:
            return ["cuda.syncwarp()"]
        if rng.random() < 0.4:
            return ["w += cuda.ballot_sync(0xffffffff, v > 1)"]
        return [
            "if t < 2:",
            *(f"    {line}" for line in self.touch()),
            "    cuda.syncwarp(3)",
            *(f"    {line}" for line in self.touch()),
        ]

    def touch(self) -> list[str]:
        rng = self.rng
        place = rng.choice(
            [
                self.data,
                self.data,
                self.flag,
                f"{rng.choice('xyc')}[{rng.randrange(self.size)}]",
                "s[2]",
            ]
        )
        return [
            rng.choice(
                [
                    f"{place} = v",
                    f"{place} = 7",
                    f"v = {place}",
                    f"w += {place}",
                    self.atomic(place),
                    self.fence(),
                ]
            )
        ]

    def fence(self) -> str:
        return self.rng.choice(
            ["cuda.threadfence()", "cuda.threadfence()", "cuda.threadfence_block()"]
        )

    def atomic(self, place: str) -> str:
        name, index = place[0], place[2]
        kind = self.rng.choice(["add", "exch", "or_", "cas", "cas"])
        read = self.rng.choice(["w = ", "w = ", ""])
        if kind == "cas":
            found = self.rng.choice(["0", "1", "99"])
            return f"{read}cuda.atomic.cas({name}, {index}, {found}, w + 1)"
        return f"{read}cuda.atomic.{kind}({name}, {index}, v)"

    def publish(self) -> list[str]:
        rng = self.rng
        lines = [f"{self.data} = v", self.fence(), self.atomic(self.flag)]
        if rng.random() < 0.25:
            lines.insert(1, "pass  # no fence")
            lines.pop(2)
        if rng.random() < 0.2:
            lines.append(f"{self.flag} = 0")
        if rng.random() < 0.2:
            lines.append(self.atomic(self.flag))
        return lines

    def consume(self) -> list[str]:
        lines = [
            self.atomic(self.flag),
            self.rng.choice(
                [f"v = {self.data}", f"{self.data} = 7", f"w += {self.data}"]
            ),
        ]
        return lines if self.rng.random() < 0.85 else lines[::-1]
