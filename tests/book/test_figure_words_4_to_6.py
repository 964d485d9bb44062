"""What the figures of chapters 4 to 6 say is true wherever a reader can take them.

A sentence is read back with the templates it was made from. Each template that was used
is a claim, and stands here with what the library has to say for it to be true. Each has
to come up, so that no claim is held to nothing.
"""

import re
from collections.abc import Callable, Iterator
from itertools import combinations, islice
from math import prod

import numpy as np
import pytest

from figure_words import QUANTITY, everywhere, said, tells
from kernellab import devices
from livepage.figures import registry
from onlinesoftmax import costs, dense, streaming

merge_tree = registry.module("merge-tree")
one_output = registry.module("one-output")
roofline = registry.module("roofline")
word_asks = registry.module("word-asks")

Told = dict[str, str]  # what stands in a template's places
# A name, a number, a number of bytes, a pair of numbers, or several names in quotes.
PLACE = r"(?:\([^)]*\)|[“«].*[”»]|[^\s:]+?(?: [kMGTP]?B)?)"
STEPS = {"one-output": 3, "word-asks": 3}
SIZE = {"bytes": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "PB": 1e15}


def reachable(figure: str) -> Iterator[dict]:
    """Every state of the chapter's figure: what a reader sets, not an author."""
    spec, steps = registry.spec(figure), STEPS.get(figure, 0)
    for state in everywhere(figure, steps):
        faults = (c.fault(state[c.name]) for c in spec.controls)
        data = (c for c in spec.controls if c.kind == "data")
        if not any(faults) and all(state[c.name] == c.default for c in data):
            yield state
    if figure == "merge-tree":
        for order in islice(trees("ABCDE"), 0, None, 5):  # some of 105, for time's sake
            yield {**spec.defaults(), "merges": order}
            yield {**spec.defaults(), "masked": True, "merges": f"{order}.AF"}


def trees(names: str) -> Iterator[str]:
    """An order of merges for every tree; those of a part stand before the whole's."""
    if len(names) == 1:
        yield ""
    first, rest = names[0], names[1:]
    for size in range(len(rest)):
        for beside in combinations(rest, size):
            other = "".join(name for name in rest if name not in beside)
            for left in trees(first + "".join(beside)):
                for right in trees(other):
                    yield ".".join(filter(None, [left, right, first + other[0]]))


# ---- a sentence as claims ----


def template(text: str) -> re.Pattern:
    """What matches everything a template can say."""
    parts = re.split(r"\{(\w+)\}", QUANTITY.sub(r"\1", text))
    return re.compile(
        "".join(
            f"(?P<{part}>{PLACE})" if i % 2 else re.escape(part)
            for i, part in enumerate(parts)
        )
    )


def claims(figure: str, state: dict, language: str) -> dict[str, Told]:
    """Which templates a sentence was made of, and what stands in their places."""
    words, rest = registry.strings(figure)[language], said(figure, state, language)
    keys = [key for key in words if key.startswith("say")]
    found = {}
    while rest:
        ends = [
            (key, match)
            for key in keys
            if (match := re.match(f"(?:{template(words[key]).pattern})(?: |$)", rest))
        ]
        assert ends, f"made of no template: {rest!r}"
        key, match = max(ends, key=lambda each: each[1].end())
        found[key], rest = match.groupdict(), rest[match.end() :]
    return found


def amounts(told: str, value: float) -> bool:
    """Whether "136 MB" is this many bytes."""
    written, unit = told.split(" ")
    return tells(written, value / SIZE[unit])


# ---- chapter 4 ----


def balance(state: dict) -> dict[str, Callable[[Told], bool]]:
    """The claims of the balance, by template."""
    lib = registry.spec("balance").expected(state)
    places = [1.0] if state["ones"] else state["values"]
    right = np.isclose(lib["answer"], lib["truth"], rtol=1e-9)
    inside = min(places) - 1e-9 <= lib["answer"] <= max(places) + 1e-9

    def unshrunk(sums: str) -> Callable[[Told], bool]:
        return lambda told: (
            state["rescale"] == sums
            and lib["alpha"] < 1
            and tells(told["times"], 1 / lib["alpha"])
        )

    def answers(told: Told) -> bool:
        return tells(told["answer"], lib["answer"])

    return {
        "say_both": lambda told: state["rescale"] == "both",
        "saySame": lambda told: lib["alpha"] == 1 and state["m"] == lib["mOld"],
        "say_neither": lambda told: (
            unshrunk("neither")(told)
            and tells(told["m"], state["m"])
            and tells(told["mOld"], lib["mOld"])
        ),
        "say_l": unshrunk("l"),
        "say_o": unshrunk("o"),
        "sayRight": lambda told: right and answers(told) and state["rescale"] == "both",
        "sayHere": lambda told: (
            right
            and answers(told)
            and state["rescale"] != "both"
            and lib["alpha"] == 1
            and not state["ones"]
        ),
        "sayOnes": lambda told: state["ones"] and right and answers(told),
        "sayWrong": lambda told: (
            not right
            and inside
            and answers(told)
            and tells(told["truth"], lib["truth"])
        ),
        "sayOutside": lambda told: (
            not inside
            and answers(told)
            and tells(told["least"], min(places))
            and tells(told["most"], max(places))
        ),
        "sayNotOne": lambda told: state["ones"] and not right and answers(told),
    }


def asked(state: dict) -> dict[str, Callable[[Told], bool]]:
    """The claims of a word that asks."""
    lib, who = word_asks.expected(state), word_asks.WORDS.index(state["word"])
    query = np.reshape(state["Q"], (6, 2))[who]
    best = [
        word
        for word, s in zip(word_asks.WORDS, lib["scores"])
        if s == max(lib["scores"])
    ]

    def the_best(told: Told) -> bool:
        return re.findall(r"\w+", re.sub(r" (and|y) ", " ", told["best"])) == best

    def largest(told: Told) -> bool:
        share = float(told["share"].removesuffix("%")) / 100
        return the_best(told) and abs(share - max(lib["shares"])) <= 0.005

    return {
        "sayAsks": lambda told: (
            told["asks"] == state["word"] and tells(told["query"].strip("()"), query)
        ),
        "sayScores": lambda told: (
            the_best(told) and tells(told["score"], max(lib["scores"]))
        ),
        "sayShares": lambda told: len(best) == 1 and largest(told),
        "sayEach": lambda told: len(best) > 1 and largest(told),
        "sayAnswer": lambda told: (
            tells(told["answer"], np.dot(lib["shares"], state["values"]))
            and told["asks"] == state["word"]
            and tells(told["own"], state["values"][who])
        ),
    }


def one(state: dict) -> dict[str, Callable[[Told], bool]]:
    """The claims of one number of the output."""
    scores = np.reshape(state["scores"], (6, 6))[one_output.WORDS.index(state["row"])]
    column = one_output.ASPECTS.index(state["column"])
    values = np.reshape(state["values"], (6, 3))[:, column]
    steps = streaming.trace(scores, 2, values)
    now = steps[state["step"] - 1] if state["step"] else None

    def holds(told: Told) -> bool:
        written = (("m", now.m), ("l", now.l), ("o", now.o), ("alpha", now.alpha))
        seen = told["seen"] == str(now.stop) != "1"
        return seen and all(tells(told[k], v) for k, v in written if k in told)

    return {
        "sayMeet": lambda told: True,
        "sayNone": lambda told: state["step"] == 0,
        "saySeen": lambda told: holds(told) and (now.start == 0 or now.alpha == 1),
        "sayRescaled": lambda told: holds(told) and now.start > 0 and now.alpha < 1,
        "saySoFar": lambda told: (
            0 < state["step"] < 3 and tells(told["out"], now.o / now.l)
        ),
        "sayDone": lambda told: (
            state["step"] == 3 and tells(told["out"], dense.softmax_dot(scores, values))
        ),
        "sayAll": lambda told: state["all"],
    }


# ---- chapter 5 ----


def merged(state: dict) -> dict[str, Callable[[Told], bool]]:
    """The claims of the merge tree."""
    lib = merge_tree.expected(state)
    counts, result = dict(map(tuple, lib["ends"])), lib["result"]
    off = result["off"] if result else None
    sides: list[str] = []  # of the last merge, once they have been told
    m = {"F": -np.inf} | dict(zip("ABCDE", (leaf["m"] for leaf in lib["leaves"])))

    def largest(group: str) -> float:
        return max(m[name] for name in group)

    def merged_from(told: Told) -> bool:
        sides.extend((told["a"], told["b"]))
        return tells(told["m"], max(map(largest, sides)))

    def shrunk(told: Told) -> bool:
        low, high = sorted(sides, key=largest)
        alpha = np.exp(largest(low) - largest(high))
        return told["shrunk"] == low and tells(told["alpha"], alpha)

    def counted(told: Told) -> bool:
        leaves = ord(told["farthest"]) - ord("A") + 1
        every = prod(range(1, 2 * leaves - 1, 2))  # as many trees as there are
        return int(told["trees"]) == sum(counts.values()) == every

    def ends(told: Told) -> bool:
        exact = tells(told["truth"], lib["truth"]["y"])
        return exact and np.float32(told["y"]) == result["y"]

    return {
        "sayStart": lambda told: state["merges"] == "",
        "sayMerged": merged_from,
        "sayShrunk": shrunk,
        "sayTie": lambda told: len(set(map(largest, sides))) == 1,
        "sayBlank": lambda told: m[told["shrunk"]] == -np.inf,
        "sayLeft": lambda told: int(told["n"]) == len(lib["roots"]) > 1,
        "sayNearest": lambda told: off == 0 and ends(told),
        "sayOff": lambda told: abs(off) == int(told["off"]) > 0 and ends(told),
        "sayMany": lambda told: int(told["here"]) == counts[off] > 1 and counted(told),
        "sayOne": lambda told: counts[off] == 1 and counted(told),
    }


# ---- chapter 6 ----


def times(told: Told, ratio: float) -> bool:
    """Whether a sentence has the ratio; "1.0 times less" would say nothing."""
    return tells(told["times"], ratio) and float(told["times"]) != 1


def moved(state: dict) -> dict[str, Callable[[Told], bool]]:
    """The claims of the traffic."""
    lib = registry.spec("traffic").expected(state)
    (dense_held, tiled_held), (table, tiled) = lib["held"], lib["moved"]

    def both(told: Told) -> bool:
        return amounts(told["moved"], tiled) and amounts(told["dense"], table)

    return {
        "say": lambda told: (
            int(told["reads"].replace(",", "")) == lib["reads"] > 1
            and amounts(told["held"], tiled_held)
            and amounts(told["table"], dense_held)
        ),
        "sayLevel": lambda told: abs(tiled / table - 1) < 0.05 and both(told),
        "sayMore": lambda told: times(told, tiled / table) and both(told),
        "sayLess": lambda told: times(told, table / tiled) and both(told),
    }


def under_the_roof(state: dict) -> dict[str, Callable[[Told], bool]]:
    """The claims of the roofline. No cache is in the count, and the words say so."""
    lib, n, d, rows = roofline.expected(state), *(state[k] for k in ("n", "d", "rows"))
    gpu, size = devices.gpu(state["gpu"]), roofline.BYTES[state["format"]]
    loop = costs.tiled_traffic(n, d, rows, itemsize=size)
    per_byte = costs.flops(n, d) / loop
    peak, ridge = getattr(gpu, state["format"]), lib["ridge"]
    allowed = costs.roofline(per_byte, peak, gpu.bandwidth)
    memory_waits = allowed == peak
    three, under = lib["rate"][0], min(peak, lib["intensity"][0] * gpu.bandwidth)
    product = costs.flops(n, d) / 2 / (n * (n + 2 * d) * size)  # operations per byte

    def faster(told: Told) -> bool:
        return lib["gain"] > 1 and times(told, lib["gain"])

    return {
        "say": lambda told: (
            tells(told["ridge"], lib["ridge"])
            and tells(told["tiled"], per_byte)
            and tells(told["high"], allowed / 1e12)
            and tells(told["dense"], lib["intensity"][0])
            and tells(told["low"], lib["rate"][0] / 1e12)
        ),
        "sayInTurn": lambda told: three < 0.999 * under and product >= ridge,
        "sayMemory": lambda told: faster(told) and not memory_waits,
        "sayArithmetic": lambda told: faster(told) and memory_waits,
        "sayWorse": lambda told: (
            loop > costs.dense_traffic(n, d, itemsize=size)
            and not memory_waits
            and times(told, 1 / lib["gain"])
        ),
        "sayLevel": lambda told: abs(lib["gain"] - 1) < 0.05,
    }


CLAIMS = {
    "word-asks": asked,
    "balance": balance,
    "one-output": one,
    "merge-tree": merged,
    "traffic": moved,
    "roofline": under_the_roof,
}
# Ties of two chunks' maxima are not in the chapter's data.
NEVER_COME_UP = {"merge-tree": {"sayTie"}}


@pytest.mark.parametrize("language", ["en", "es"])
@pytest.mark.parametrize("figure", CLAIMS)
def test_every_claim_of_a_sentence_is_true(figure: str, language: str) -> None:
    made = set()
    for state in reachable(figure):
        true = CLAIMS[figure](state)
        told = claims(figure, state, language)
        for key, places in told.items():
            assert true[key](places), (key, places, state)
        made |= set(told)
    keys = {k for k in registry.strings(figure)[language] if k.startswith("say")}
    assert made == keys - NEVER_COME_UP.get(figure, set())


def test_what_holds_without_a_cache_is_said_to() -> None:
    for language, cache in (("en", "cache"), ("es", "caché")):
        words = registry.strings("roofline")[language]
        for key in ("sayMemory", "sayWorse", "because", "y"):
            assert cache in words[key]


def test_the_answer_to_the_merge_tree_is_what_its_dots_show() -> None:
    """More than one bit moves, and no more than the digits it admits to."""
    lib = merge_tree.expected(registry.spec("merge-tree").defaults())
    offs = [off for off, _ in lib["ends"]]
    assert max(map(abs, offs)) > 1
    near, gap = np.float32(lib["truth"]["y"]), np.spacing(np.float32(lib["truth"]["y"]))
    assert len({f"{near + off * gap:.5f}" for off in offs}) == 1  # six digits agree
    for language, digits in (("en", "digits"), ("es", "cifras")):
        words = registry.strings("merge-tree")[language]
        answer = registry.spec("merge-tree").prediction.answer
        assert digits in words["options"][answer]
