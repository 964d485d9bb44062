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
from onlinesoftmax import streaming

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

    `rate` is in operations a second, of 4·n²·d; `block_q` the queries of a block;
    `cache` the bytes of the GPU's cache that all blocks share.
    """

    gpu: str
    format: str
    n: int
    d: int
    block_q: int
    rate: float
    cache: float
    source: str


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
    ("one score", "un solo número", [-3.0], 1),
    ("a tie", "un empate", [1.0, 1.0], 1),
    ("a tie in one block", "un empate en un bloque", [2.0, 2.0, 1.0], 3),
    ("ascending", "creciente", [1.0, 2.0, 3.0], 1),
    ("descending", "decreciente", [3.0, 2.0, 1.0], 1),
    ("blocks of two", "bloques de dos", [1.0, 0.0, 3.0, 2.0], 2),
    ("ragged tail", "último bloque corto", [0.5, -1.0, 2.0, 0.0, 1.0], 2),
    ("huge jump", "salto enorme", [0.0, 800.0, 1.0], 1),
    ("far below zero", "muy por debajo de cero", [-800.0, -801.0, -802.0], 2),
    ("first block switched off", "primer bloque apagado", [-INF, -INF, 1, 0], 2),
    ("switched off in the middle", "apagado en medio", [1, 0, -INF, -INF, -INF, 2], 2),
    ("everything switched off", "todo apagado", [-INF, -INF, -INF], 2),
    ("low after nothing", "bajo después de nada", [-INF, -120.0, -121.0], 1),
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
