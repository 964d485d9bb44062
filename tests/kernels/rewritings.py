"""Programs of ``grammar`` written otherwise: the same accesses, in the same order.

An element is reached through a view, a tuple or a negative index, in a function or in a
loop. Every write keeps a line of its own, because two equal writes are benign only if they
are on the same line.
"""

import random
import re
from itertools import count

VIEWS = [  # of an array with one index
    "{name}[:][{at}]",
    "{name}[{at} :][0]",
    "{name}[::-1][len({name}) - 1 - ({at})]",
    "{name}[{at} : ({at}) + 1][0]",
    "{name}[...,][{at}]",
    "{name}[::-1][::-1][{at}]",
]
VIEWS_OF_TWO = [
    "{name}[{at}][{then}]",
    "{name}[:, {then}][{at}]",
    "{name}[{at}, {then} :][0]",
    "{name}[..., {then}][({at}) :][0]",
    "{name}[{at} :, ::-1][0, {name}.shape[1] - 1 - ({then})]",
]
ELEMENT = re.compile(r"(\w+)\[([^\[\]]+)\]")


def viewed(text: str, seed: int) -> str:
    """Return a program that has the same accesses, some of them through views."""
    rng = random.Random(f"viewed {seed}")

    def through_view(match: re.Match) -> str:
        name, (at, _, then) = match[1], match[2].partition(", ")
        form = rng.choice([*(VIEWS_OF_TWO if then else VIEWS), match[0]])
        return form.format(name=name, at=at, then=then)

    return ELEMENT.sub(through_view, text)


# ---- programs of whole numbers, for the all-pairs oracle

HEAD = """import enum
import math
import operator
from numba import cuda, float32, int8, int32, uint8, uint16
from numba.types import float16


class Numbers(enum.IntEnum):
    SEVEN = 7


@cuda.jit(device=True)
def fetch(array, k):
    return array[k]


@cuda.jit(device=True)
def same(array):
    return array


@cuda.jit(device=True)
def unpacked(pair):
    k, array = pair
    return array[k]


@cuda.jit(device=True)
def apply(do, *values):
    return do(*values)


@cuda.jit(device=True)
def perform(do, *values):
    do(*values)


@cuda.jit(device=True)
def meeting(do, *values):  # Numba takes no apply in a function that apply is handed
    return do(*values)
"""
PLACES = [  # to read or to write
    *VIEWS,
    "{name}[({at}) - len({name})]",
    "{name}[:][({at}) - len({name})]",
    "{name}[({at}) - len({name}) :][0]",
    "{name}[({at}) % 2 :: 2][({at}) // 2]",
    "{array}[{at}]",
    "({name}, {name}[:])[t % 2][{at}]",
]
READS = [
    "fetch({array}, {at})",
    "apply(fetch, {array}, {at})",
    "apply(lambda a, k: a[k], {array}, {at})",
    "unpacked(({at}, {array}))",
    "apply(unpacked, ({at}, {array}))",
    "fetch(*({array}, {at}))",
    "apply(int32, {array}[{at}])",
    "operator.pos({array}[{at}])",
]
MEETINGS = {
    r"(?P<to>[vw]) = swap\((?P<name>tile), (?P<rest>.+)\)": [
        "{to} = meeting(swap, {array}, {rest})",
        "for a_{n}, _ in zip(({array},), (1, 2)):\n    {to} = meeting(swap, a_{n}, {rest})",
    ],
    r"(?P<to>[vw]) = (?P<name>meet|total)\((?P<rest>.+)\)": [
        "{to} = meeting({name}, {rest})"
    ],
}
STATEMENTS = {  # with a function for this statement alone after an empty line
    **MEETINGS,
    r"{element} = (?P<value>.+)": [
        "put_{n}({array}, {at}, {value})\n\ndef put_{n}(a, k, e):\n    a[k] = e",
        "put_{n}(({array}, {at}), {value})\n\ndef put_{n}(p, e):\n    p[0][p[1]] = e",
        "perform(put_{n}, {array}, {at}, {value})\n\ndef put_{n}(a, k, e):\n    a[k] = e",
        "apply(put_{n}, {array}, {at}, {value})\n\ndef put_{n}(a, *p):\n    a[p[0]] = p[1]",
        "def put_{n}(k, e):\n    {array}[k] = e\nput_{n}({at}, {value})",
        "for a_{n} in ({array},):\n    a_{n}[{at}] = {value}",
        "for k_{n}, e_{n} in zip(({at},), ({value},)):\n    {array}[k_{n}] = e_{n}",
    ],
    r"{element} \+= (?P<value>.+)": [
        "{array}[{at}] = operator.add({array}[{at}], {value})",
        "{array}[{at}] = operator.iadd(fetch({array}, {at}), {value})",
        "for k_{n}, e_{n} in enumerate({array}[{at} : ({at}) + 1], {at}):\n"
        "    {array}[k_{n}] = e_{n} + {value}",
    ],
    r"(?P<to>[vw]) = {element}": [
        "{to} = int32(0)\nfor {to} in {array}[{at} : ({at}) + 1]:\n    pass",
        "{to} = int32(0)\nfor k_{n}, {to} in enumerate({array}[{at} :]):\n    break",
        "{to} = int32(0)\nfor {to}, _ in zip({array}[{at} : ({at}) + 1], (1, 2)):\n    pass",
        "k_{n}, {to} = {at}, {array}[{at}]",
        "get_{n} = fetch\n{to} = get_{n}({array}, {at})",
        "def at_{n}(k):\n    return {array}[k]\n{to} = at_{n}({at})",
        "def at_{n}(a, k):\n    return a[k]\n{to} = apply(at_{n}, {array}, {at})",
        "def at_{n}(of, k):\n    return of({array}[k])\n{to} = at_{n}(int32, {at})",
        "k_{n}, {to} = both_{n}({array}, {at})\n\ndef both_{n}(a, k):\n    return k, a[k]",
    ],
    r"(?P<to>[vw]) \+= {element}": [
        "{to} = operator.add({to}, {array}[{at}])",
        "{to} = apply(operator.iadd, {to}, {array}[{at}])",
        "for e_{n} in {array}[{at} : ({at}) + 1]:\n    {to} += e_{n}",
        "for k_{n}, e_{n} in enumerate({array}[{at} : ({at}) + 1]):\n    {to} += e_{n}",
        "for k_{n}, (e_{n}, _) in enumerate(zip({array}[{at} :], (1,))):\n    {to} += e_{n}",
    ],
}
ATOMICS = [
    "{call}{array}, {at}, ",
    "{call}{name}[{at} :], 0, ",
    "{call}{name}[::-1], len({name}) - 1 - ({at}), ",
    "{call}{array}, ({at}) - len({name}), ",
    "{call}({name}, 1)[0], {at}, ",
]
SEVENS = [  # seven, where t is the number of a thread
    "operator.add(t, 7) - t",
    "operator.floordiv(63, apply(operator.sub, t + 9, t))",
    "apply(max, 7, 7 - t)",
    "int32(Numbers.SEVEN)",
    "cuda.popc(int8(-2 - t * 0))",
    "cuda.clz(uint16(256 + t * 0))",
    "int32(cuda.brev(uint8(7 + t * 0)) >> 29)",
    "int32(float16(t) + float16(7)) - t",
    "int32(cuda.fp16.hfma(float16(t), float16(2), float16(7))) - 2 * t",
    "int32(cuda.fp16.hfloor(float16(t) + float16(7.5))) - t",
    "int32(math.ldexp(float32(3.5), 1 + t * 0))",
    "int32(math.frexp(float32(56 + t * 0))[0] * float32(8))",
    "int32(math.modf(float32(t) + float32(7.25))[1]) - t",
    "int32(math.remainder(float32(39 + t * 0), float32(32)))",
    "int32(math.nextafter(float32(7 + t * 0), float32(8)))",
]
LOOPS = {  # over more elements than one
    r"for r in range\((.+)\):\n( +)w \+= y\[r\]": [
        r"for e in y[:\1]:\n\2w += e",
        r"for k, e in enumerate(y[:][:\1], 5):\n\2w += e",
        r"for e, k in zip(y[:\1], range(9)):\n\2w += e",
    ],
    r"for k in range\(3\):\n( +)s\[k\] = 0": [
        r"for k, e in enumerate((0, 0, 0)):\n\1s[k] = e",
        r"for k, (e, _) in enumerate(zip((0, 0, 0), range(9))):\n\1s[k] = e",
    ],
}


AT = r"(?P<name>\w+)\[(?P<at>[^\[\]:]+)\]"
PLACE = re.compile(AT)
ATOMIC = re.compile(r"(?P<path>cuda\.atomic\.\w+)\((?P<name>\w+), (?P<at>[^,]+), ")
ARRAYS = ["{name}", "{name}[:]", "({name}, 1)[0]", "same({name}[:])"]


def rewritten(text: str, seed: int) -> tuple[str, int]:
    """Return a program with the same accesses, and its bytes of dynamic shared memory."""
    rng, number, helpers = random.Random(f"rewritten {seed}"), count(), []
    text = re.sub(r"^( *)((?:if|for) .+:) (\S.*)$", r"\1\2\n\1    \3", text, flags=re.M)
    for pattern, forms in LOOPS.items():
        text = re.sub(pattern, rng.choice(forms), text)
    if rng.random() < 0.3:
        head = r"def kernel(both\1):\n    x, y = both"
        text = re.sub(r"def kernel\(x, y(.*)\):", head, text)
    text, size = in_dynamic_memory(text) if rng.random() < 0.3 else (text, 0)
    imports, *lines = text.splitlines()
    written = []
    for line in lines:
        indent = line[: len(line) - len(line.lstrip())]
        statement = statement_of(line.strip(), rng, next(number))
        statement, _, helper = statement.partition("\n\n")
        written += [indent + each for each in statement.splitlines() or [""]]
        helpers += [f"\n\n@cuda.jit(device=True)\n{helper}\n"] if helper else []
    return HEAD + "".join(helpers) + "\n".join(written) + "\n", size


def in_dynamic_memory(text: str) -> tuple[str, int]:
    """Return a program whose shared arrays are slices of one, and their bytes."""
    start = 0
    for size in re.findall(r"cuda\.shared\.array\((\d+)", text):
        end = start + int(size)
        old, new = f"array({size}, int32)", f"array(0, int32)[{start} : {end}]"
        text, start = text.replace(old, new, 1), end
    return text, 4 * start


def statement_of(line: str, rng: random.Random, n: int) -> str:
    """Return a statement that does what a line does, and perhaps the function it calls."""
    line = re.sub(r"= 7$", f"= {rng.choice(SEVENS)}", line)
    line = re.sub(r"= 1$", f"= {rng.choice([*SEVENS, '7'])} - 6", line)
    line = re.sub(r"\bv \+ (w|1)\b", r"operator.add(v, \1)", line)
    for pattern, forms in STATEMENTS.items():
        found = re.fullmatch(pattern.format(element=AT), line)
        if found and rng.random() < 0.7:
            array = rng.choice(ARRAYS).format(**found.groupdict())
            return rng.choice(forms).format(array=array, n=n, **found.groupdict())
    line = ATOMIC.sub(lambda found: atomic(found, rng), line)
    return PLACE.sub(lambda found: place(found, rng), line)


def atomic(found: re.Match, rng: random.Random) -> str:
    """Return the beginning of an atomic; whether its result is read stays as it is."""
    handed = "apply({path}, " if found.start() else "perform({path}, "
    call = rng.choice(["{path}(", handed]).format(**found.groupdict())
    array = rng.choice(ARRAYS).format(**found.groupdict())
    return rng.choice(ATOMICS).format(call=call, array=array, **found.groupdict())


def place(found: re.Match, rng: random.Random) -> str:
    """Return an element, to read or to write."""
    written = re.match(r" [+]?= ", found.string[found.end() :])
    form = rng.choice(PLACES if written else rng.choice([PLACES, READS]))
    array = rng.choice(ARRAYS).format(**found.groupdict())
    return form.format(array=array, **found.groupdict())
