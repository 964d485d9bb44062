"""The book's own module: hands the book in, and gives its chapters what they use.

    from rescaling import check, drill, figure, measured, plot, published, sweep
    from rescaling import with_your_kernel

`sentence` is the example that chapters and figures share; `ladder`, `rows` and `steps`
are what drills about one row of scores share.
"""

import json
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import livepage
from livepage import book
from onlinesoftmax import dense, streaming

__version__ = "0.1.0"
BESIDE = Path(__file__).parent
INSTALLED = BESIDE / "rescaling_files"  # where a wheel puts the content
HERE = book.open(
    INSTALLED if INSTALLED.is_dir() else BESIDE,
    version=__version__,
    made_with=(Path(streaming.__file__).parent,),
)


def __getattr__(name: str) -> object:
    """Load what makes a page live when it is first asked for."""
    if name in livepage.__all__:
        return getattr(livepage, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class Published(NamedTuple):
    """How fast somebody's attention ran, as they published it.

    `best` is the highest rate that they state, in operations a second, and `share` the
    share of the GPU's peak that it is. `rate` is that of one measurement, with 4·n²·d
    operations in blocks of `block_q` queries; `cache` the bytes of the GPU's cache that
    all blocks share.
    """

    gpu: str
    format: str
    best: float
    share: float
    source: str
    n: int | None = None
    d: int | None = None
    block_q: int | None = None
    rate: float | None = None
    cache: float | None = None


def published(program: str) -> Published:
    """Return what was published of a program, such as "FlashAttention-3".

    Examples
    --------
    >>> published("FlashAttention-3").gpu
    'H100'
    """
    stored = json.loads((HERE.data / "published.json").read_text("utf-8"))
    if program not in stored:
        raise ValueError(f"program: expected one of {sorted(stored)}, got {program!r}")
    return Published(**stored[program])


def listing(name: str) -> str:
    """Return the text of a kernel that stands beside this module, from its decorator on.

    Parameters
    ----------
    name : str
        Of its file, such as "triton_attention".
    """
    text = BESIDE.joinpath(f"{name}.py").read_text("utf-8")
    return text[text.index("\n@") :].strip()


class Sentence(NamedTuple):
    """A sentence with the vectors of attention, one row for each word."""

    words: tuple[str, ...]
    queries: tuple[tuple[int, ...], ...]
    keys: tuple[tuple[int, ...], ...]
    values: tuple[tuple[int, ...], ...]


def sentence() -> Sentence:
    """Return "She walked along the river bank", with small vectors set by hand.

    Queries and keys have two numbers, for place and for motion; values have three, for
    water (0 is money, 10 is water), for motion and for life.

    Examples
    --------
    >>> she, *others = sentence().words
    >>> others
    ['walked', 'along', 'the', 'river', 'bank']
    """
    return Sentence(*zip(*SENTENCE, strict=True))


SENTENCE = [
    ("she", (0, 2), (0, 1), (4, 5, 9)),
    ("walked", (2, 0), (1, 3), (6, 9, 6)),
    ("along", (1, 1), (1, 2), (8, 6, 2)),
    ("the", (1, -1), (0, 0), (5, 0, 0)),
    ("river", (0, 1), (3, 1), (10, 7, 3)),
    ("bank", (1, 0), (2, 0), (2, 0, 1)),
]


INF = float("inf")


def ladder() -> list[dict[str, Any]]:
    """Return rows of scores that fall over in different ways, tiny ones first.

    A failure should fit into the head of the reader who meets it.
    """
    return [
        {"name": {"en": name, "es": es}, "scores": scores, "block": block}
        for name, es, scores, block in LADDER
    ]


LADDER = [
    ("one score", "una puntuación", [-3.0], 1),
    ("a tie", "un empate", [1.0, 1.0], 1),
    ("a tie in one block", "un empate en un bloque", [2.0, 2.0, 1.0], 3),
    ("ascending", "ascendente", [1.0, 2.0, 3.0], 1),
    ("descending", "descendente", [3.0, 2.0, 1.0], 1),
    ("blocks of two", "bloques de dos", [1.0, 0.0, 3.0, 2.0], 2),
    ("ragged tail", "último bloque corto", [0.5, -1.0, 2.0, 0.0, 1.0], 2),
    ("huge jump", "salto enorme", [0.0, 800.0, 1.0], 1),
    ("far below zero", "muy por debajo de cero", [-800.0, -801.0, -802.0], 2),
    ("very far below zero", "muy, muy por debajo de cero", [-3e9, -2e9], 1),
    ("first block switched off", "primer bloque apagado", [-INF, -INF, 1, 0], 2),
    ("switched off in the middle", "apagado en medio", [1, 0, -INF, -INF, -INF, 2], 2),
    ("everything switched off", "todo apagado", [-INF, -INF, -INF], 2),
    (
        "low after nothing",
        "puntuaciones bajas después de nada",
        [-INF, -120.0, -121.0],
        1,
    ),
]


def rows(rng: Random, count: int) -> list[dict[str, Any]]:
    """Return so many drawn rows of scores, each with the size of its blocks."""
    drawn = []
    for _ in range(count):
        size, spread = rng.randint(3, 9), rng.choice([0.5, 3.0, 30.0])
        scores = [round(rng.gauss(0, spread), 2) for _ in range(size)]
        drawn.append({"name": "random", "scores": scores, "block": rng.randint(1, 4)})
    return drawn


def steps(
    scores: list[float], block: int, values: list[float] | None = None
) -> list[dict[str, float]]:
    """Return a row's trace: for each block m, alpha, l, o and what made them.

    Without values there is no o, o_old, moment (what the block adds to o) or bare (the
    sum of its values).
    """
    found, o_old = [], 0.0
    for step in streaming.trace(scores, block, values):
        row = {
            "m_old": step.m_old,
            "l_old": step.l_old,
            "m": step.m,
            "alpha": step.alpha,
            "added": step.added,
            "l": step.l,
            "block_max": max(scores[step.start : step.stop]),
        }
        if values is not None:
            moment = step.o - step.alpha * o_old
            bare = sum(values[step.start : step.stop])
            row |= {"o_old": o_old, "moment": moment, "bare": bare, "o": step.o}
            o_old = step.o
        found.append({name: float(value) for name, value in row.items()})
    return found


def attention_cases() -> list[dict[str, Any]]:
    """Return small inputs of attention that wrong loops fall over, tiny ones first.

    A query, a key and a value are a list each; `sees` says which keys a query sees.
    """
    return [
        {"name": name, "Q": q, "K": k, "V": v, "sees": sees, "block": block}
        for name, q, k, v, sees, block in ATTENTION
    ]


def many_keys(left: float = 0.0) -> dict[str, Any]:
    """Return an input to see what a loop carries along: its keys come many times.

    All scores are very low. Before them come more than a tile of hidden keys, whose
    values hold what is `left` there, and the last tile is short.
    """
    return {
        "name": "many keys",
        "Q": [[1]],
        "K": [[-60001], [-60000], [-59998], [-60003], [-60002]],
        "V": [[1, 2], [7, 0], [-2, 1], [3, 3], [0, 5]],
        "sees": [[1] * 5],
        "block": 8,
        "times": 81,
        "left": left,
    }


def attention_drawn(rng: Random, count: int) -> list[dict[str, Any]]:
    """Return so many drawn inputs of attention, with keys hidden here and there."""
    drawn = []
    for _ in range(count):
        n, keys, d = rng.randint(1, 4), rng.randint(2, 7), rng.randint(1, 4)
        table = [
            [[round(rng.gauss(0, 2), 1) for _ in range(width)] for _ in range(rows)]
            for rows, width in ((n, d), (keys, d), (keys, 2))
        ]
        sees = [[rng.randint(0, 3) and 1 for _ in range(keys)] for _ in range(n)]
        names = ("name", "Q", "K", "V", "sees", "block")
        row = ("random", *table, sees, rng.randint(1, 3))
        drawn.append(dict(zip(names, row, strict=True)))
    return drawn


def attended(
    Q: list[list[float]],
    K: list[list[float]],
    V: list[list[float]],
    sees: list[list[int]],
    block: int = 0,
) -> list[dict[str, Any]]:
    """Return what attention gives each query, from the keys that it sees alone."""
    found = []
    for i, (q, seen) in enumerate(zip(Q, sees, strict=True)):
        here = [j for j, shown in enumerate(seen) if shown]
        keys, values = [K[j] for j in here], [V[j] for j in here]
        row = dense.attention([q], keys, values)[0] if here else [0.0] * len(V[0])
        products = (sum(a * b for a, b in zip(q, k, strict=True)) for k in K)
        scores = [_short(x / len(q) ** 0.5, 4) for x in products]
        shown = [x if ok else -INF for x, ok in zip(scores, seen, strict=True)]
        output = [_short(x, 13) for x in row]  # a page carries all of its digits
        found.append({"query": i, "scores": shown, "output": output})
    return found


def _short(x: float, digits: int) -> float:
    return float(f"{x:.{digits}g}")


ALL = [[1, 1], [1, 1]]
ATTENTION = [
    ("a single key", [[1]], [[2]], [[3, 5]], [[1]], 2),
    (
        "two keys in one tile",
        [[1, 1, 1, 1]],
        [[1, 0, 0, 0], [1, 1, 1, 0]],
        [[1, 0], [0, 2]],
        [[1, 1]],
        2,
    ),
    (
        "two tiles",
        [[1]],
        [[0], [1], [3], [3]],
        [[1, 2], [3, 1], [2, 5], [7, 1]],
        [[1] * 4],
        2,
    ),
    ("two queries", [[1], [3]], [[1], [2]], [[1, 5], [3, 4]], ALL, 1),
    (
        "a ragged end",
        [[1], [-2]],
        [[0.5], [-1], [2], [0], [1]],
        [[1, 0], [-2, 1], [3, 0], [0, 2], [9, 1]],
        [[1] * 5, [1, 1, 1, 0, 1]],
        2,
    ),
    (
        "causal",
        [[1], [2], [-1]],
        [[1], [0], [2]],
        [[1, 2], [2, 1], [4, 4]],
        [[1, 0, 0], [1, 1, 0], [1, 1, 1]],
        2,
    ),
    (
        "hidden in the second tile",
        [[1]],
        [[1], [0], [2], [3]],
        [[1, 2], [2, 1], [9, 9], [3, 1]],
        [[1, 1, 0, 1]],
        2,
    ),
    (
        "first tile hidden",
        [[1]],
        [[5], [6], [1], [0]],
        [[8, 8], [8, 8], [1, 2], [2, 1]],
        [[0, 0, 1, 1]],
        2,
    ),
    (
        "hidden in the middle",
        [[1]],
        [[1], [5], [6], [2]],
        [[1, 2], [8, 8], [8, 8], [3, 1]],
        [[1, 0, 0, 1]],
        1,
    ),
    (
        "one query sees nothing",
        [[1], [1]],
        [[1], [2]],
        [[1, 2], [3, 1]],
        [[0, 0], [1, 1]],
        1,
    ),
    ("far below zero", [[1]], [[-800], [-801]], [[1, 2], [2, 1]], [[1, 1]], 2),
    (
        "where exponentials lose digits",
        [[1]],
        [[-740.2], [-741]],
        [[1, 2], [2, 1]],
        [[1, 1]],
        1,
    ),
    (
        "low after a hidden tile",
        [[1]],
        [[5], [-800], [-801]],
        [[8, 8], [1, 2], [2, 1]],
        [[0, 1, 1]],
        1,
    ),
    (
        "lower still, a hidden key",
        [[1]],
        [[-6e4], [5], [-6e4 - 1]],
        [[1, 2], [9, 9], [2, 1]],
        [[1, 0, 1]],
        3,
    ),
    (
        "very low after a hidden tile",
        [[1]],
        [[5], [-1.7e308]],
        [[8, 8], [1, 2]],
        [[0, 1]],
        1,
    ),
    (
        "far below zero, a ragged end",
        [[1]],
        [[-800], [-801], [-802]],
        [[1, 2], [2, 1], [4, 4]],
        [[1] * 3],
        2,
    ),
    (
        "very far below zero, causal",
        [[1], [1]],
        [[-1.7e308], [-1.6e308]],
        [[1, 2], [2, 1]],
        [[1, 0], [1, 1]],
        1,
    ),
    (
        "far below zero, each its own key",
        [[1], [1]],
        [[-800], [-801]],
        [[1, 2], [2, 1]],
        [[1, 0], [0, 1]],
        1,
    ),
    (
        "where exponentials lose digits, causal",
        [[1], [1]],
        [[-740.2], [-741], [-740.5]],
        [[1, 2], [2, 1], [4, 4]],
        [[1, 1, 0], [1, 1, 1]],
        1,
    ),
    (
        "very far below zero, a ragged end",
        [[1]],
        [[-1.7e308], [-1.6e308], [-1.65e308]],
        [[1, 2], [2, 1], [4, 4]],
        [[1] * 3],
        2,
    ),
    (
        "very far below zero, a hidden key",
        [[1]],
        [[-1.7e308], [5], [-1.6e308]],
        [[1, 2], [9, 9], [2, 1]],
        [[1, 0, 1]],
        3,
    ),
    ("a huge fall", [[1]], [[800], [0]], [[1, 2], [3, 4]], [[1, 1]], 1),
    (
        "a huge rise",
        [[1]],
        [[0], [800], [799]],
        [[5, 1], [1, 2], [2, 3]],
        [[1] * 3],
        1,
    ),
    (
        "a lone peak",
        [[1]],
        [[0], [1], [3000], [2], [0]],
        [[1, 4], [4, 0], [2, 3], [7, 1], [5, 5]],
        [[1] * 5],
        3,
    ),
    (
        "three queries and a window",
        [[1, 2], [0, 1], [-1, 1]],
        [[1, 0], [0, 1], [1, 1], [2, -1], [0, 2]],
        [[1, 2], [7, 0], [-2, 1], [3, 3], [0, 5]],
        [[1, 1, 0, 0, 0], [0, 1, 1, 1, 0], [0, 0, 0, 1, 1]],
        2,
    ),
]
