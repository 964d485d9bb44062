"""A small language model that was trained on this book, in NumPy, around any attention.

`load` reads the stored weights. A `Speaker` cuts a text into pieces of a few letters,
reads them one at a time, and gives a score for each piece that may come next; `write`
lets it go on from a prompt. What it does with queries, keys and values is up to the
caller: `attend` gives the output of one query, `whole` is told an attention for all of a
text.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Iterator
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from onlinesoftmax import dense, inputs, masks
from rescaling import HERE

FILE = "speaker.json"
BASE = 100.0  # the slowest pair of numbers turns about so many times more slowly
TINY = 1e-5  # added where one divides, so that a list of zeros stays one
MULTIPLIER, ADDEND, MODULUS = 1664525, 1013904223, 2**32  # draws, as on the page
ALIKE = 8  # the first draws of neighbouring seeds are much the same

# What is done with the query, the keys and the values of one head, or with all of them.
Attend = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
Attention = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]

PAGE = 500  # letters on which the chapter and its figure measure the loss
MISTAKES = (  # that an attention, tile by tile, may make
    "none",
    "no-rescale",  # the old sum and output stay as they were
    "only-sum",  # the sum is rescaled, the output is not
    "only-output",  # the output is rescaled, the sum is not
    "each-divides",  # every tile divides by its own sum, and the tiles are averaged
    "zero-first",  # the first maximum is 0
    "no-tail",  # a last tile that is not full is left out
    "no-root",  # scores are not divided by the root of d
    "no-mask",  # a query looks at later keys too
    "half-sums",  # sum and output are kept in fp16
)


class Sizes(NamedTuple):
    """How large the model is.

    Attributes
    ----------
    width : int
        Numbers that stand for a piece, in every layer.
    heads, layers : int
    hidden : int
        Numbers in the middle of a feed-forward.
    context : int
        Pieces that it looks at when it reads one, that one included.
    """

    width: int
    heads: int
    layers: int
    hidden: int
    context: int

    @property
    def d(self) -> int:
        """Numbers of a query, a key or a value of one head."""
        return self.width // self.heads

    def shapes(self, pieces: int) -> list[tuple[int, int]]:
        """Rows and columns of the matrices, in the order in which they are stored."""
        w, h = self.width, self.hidden
        layer = [(3 * w, w), (w, w), (h, w), (w, h)]
        return [(pieces, w), *(layer * self.layers)]


class Layer(NamedTuple):
    """The matrices of a layer: to queries, keys and values, back, out and in again."""

    qkv: np.ndarray
    out: np.ndarray
    up: np.ndarray
    down: np.ndarray


class Kept(NamedTuple):
    """What is kept of the pieces that were read: keys and values of a layer.

    Each has the shape (heads, pieces, d).
    """

    keys: np.ndarray
    values: np.ndarray

    def and_one(self, key: np.ndarray, value: np.ndarray, context: int) -> Kept:
        """Add a piece's, and forget what is too far back to be looked at."""
        pairs = zip(self, (key, value))
        both = (np.concatenate([old, new[:, None]], axis=1) for old, new in pairs)
        return Kept(*(rows[:, -context:] for rows in both))


def normed(x: np.ndarray) -> np.ndarray:
    """Numbers whose squares are 1 on average."""
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + TINY)


def turned(x: np.ndarray, places: np.ndarray | int) -> np.ndarray:
    """Pairs of numbers, turned by an angle that grows with the place.

    The dot product of a query and a key then depends on how far apart they are.
    """
    half = x.shape[-1] // 2
    angle = np.multiply.outer(places, BASE ** (-np.arange(half) / half))
    a, b = x[..., :half], x[..., half:]
    cos, sin = np.cos(angle), np.sin(angle)
    return np.concatenate([a * cos - b * sin, a * sin + b * cos], axis=-1)


def attend(q: np.ndarray, keys: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The output of one query, by the definition."""
    return dense.attention(q[None], keys, values)[0]


def in_tiles(block: int, mistake: str = "none") -> Attend:
    """The output of one query, from tiles of so many keys, perhaps with a mistake."""
    inputs.one_of("mistake", mistake, MISTAKES)
    size = inputs.block_size(block, "block")
    return lambda q, keys, values: _folded(q, keys, values, size, mistake)


def _folded(
    q: np.ndarray, keys: np.ndarray, values: np.ndarray, block: int, mistake: str
) -> np.ndarray:
    scores = keys @ q / (1.0 if mistake == "no-root" else np.sqrt(len(q)))
    m, l, o = (0.0 if mistake == "zero-first" else -np.inf), 0.0, np.zeros(len(q))
    averages = []
    for start in range(0, len(scores), block):
        tile = slice(start, start + block)
        if mistake == "no-tail" and start > 0 and start + block > len(scores):
            break
        m_new = max(m, scores[tile].max())
        alpha, terms = np.exp(m - m_new), np.exp(scores[tile] - m_new)
        of_sum = 1.0 if mistake in ("no-rescale", "only-output") else alpha
        of_output = 1.0 if mistake in ("no-rescale", "only-sum") else alpha
        m, l, o = m_new, of_sum * l + terms.sum(), of_output * o + terms @ values[tile]
        if mistake == "half-sums":
            l, o = float(np.float16(l)), o.astype(np.float16).astype(float)
        averages.append(terms @ values[tile] / terms.sum())
    return np.mean(averages, axis=0) if mistake == "each-divides" else o / l


def row_by_row(attend: Attend, context: int, sees_later: bool = False) -> Attention:
    """The outputs of all queries, from an attention for one of them."""

    def attention(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
        o = np.empty_like(q)
        for head, i in np.ndindex(*q.shape[:2]):
            stop = q.shape[1] if sees_later else i + 1
            seen = slice(max(0, i + 1 - context), stop)
            row = attend(q[head, i], k[head, seen], v[head, seen])
            o[head, i] = like("attend", row, q[head, i])
        return o

    return attention


def like(name: str, output: Any, q: np.ndarray) -> np.ndarray:
    """Return the output of an attention, which has to be of the queries' shape."""
    return inputs.shaped(name, output, q.shape, "that of its queries")


class Speaker:
    """A model: the pieces that it knows, and its matrices."""

    def __init__(
        self, sizes: Sizes, pieces: list[str], matrices: list[np.ndarray]
    ) -> None:
        first, *rest = matrices
        groups = [rest[i : i + 4] for i in range(0, len(rest), 4)]
        self.sizes, self.pieces, self.embedding = sizes, pieces, first
        self.layers = [Layer(*group) for group in groups]

    def numbers(self, text: str, name: str = "text") -> np.ndarray:
        """The pieces of a text, as numbers; an error calls the text by its name.

        Raises
        ------
        ValueError
            If the text has a letter that the model does not know.
        """
        found = cut(text, self.pieces, name)
        return np.array([self.pieces.index(x) for x in found], int)

    def begin(self) -> list[Kept]:
        """What is kept before the first piece: nothing."""
        none = np.zeros((self.sizes.heads, 0, self.sizes.d))
        return [Kept(none, none) for _ in self.layers]

    def step(
        self, piece: int, place: int, kept: list[Kept], attend: Attend = attend
    ) -> np.ndarray:
        """Read one piece more, keep its keys and values, and score the next one."""
        heads = (self.sizes.heads, self.sizes.d)
        x = self.embedding[piece] * np.sqrt(self.sizes.width)
        for i, layer in enumerate(self.layers):
            q, k, v = (layer.qkv @ normed(x)).reshape(3, *heads)
            q, k = turned(q, place), turned(k, place)
            kept[i] = kept[i].and_one(k, v, self.sizes.context)
            pairs = zip(q, *kept[i])
            seen = [like("attend", attend(*one), one[0]) for one in pairs]
            x = x + layer.out @ np.concatenate(seen)
            x = x + layer.down @ np.maximum(layer.up @ normed(x), 0)
        return self.embedding @ normed(x)

    def whole(self, numbers: np.ndarray, attention: Attention) -> np.ndarray:
        """Scores after each piece of a text, all at once.

        `attention` is handed queries, keys and values of all heads, each of the shape
        (heads, pieces, d); no piece may look at a later one.
        """
        n, heads = len(numbers), (self.sizes.heads, self.sizes.d)
        x = self.embedding[numbers] * np.sqrt(self.sizes.width)
        for layer in self.layers:
            split = (normed(x) @ layer.qkv.T).reshape(n, 3, *heads)
            q, k, v = split.transpose(1, 2, 0, 3)
            o = attention(turned(q, np.arange(n)), turned(k, np.arange(n)), v)
            o = like("attention", o, q)
            x = x + o.transpose(1, 0, 2).reshape(n, -1) @ layer.out.T
            x = x + np.maximum(normed(x) @ layer.up.T, 0) @ layer.down.T
        return normed(x) @ self.embedding.T

    def attention(self, q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
        """The outputs of all queries, by the definition.

        No piece looks at a later one, nor further back than the context.
        """
        return dense.attention(q, k, v, mask=masks.window(self.sizes.context - 1, 0))

    def loss(self, text: str, attention: Attention | None = None) -> float:
        """How surprised it is by a text: nats a letter, after the first piece."""
        numbers = self.numbers(text)
        if len(numbers) < 2:
            raise ValueError(f"text: expected two pieces or more, got {text!r}")
        scores = self.whole(numbers[:-1], attention or self.attention)
        nats = [dense.logsumexp(row) - row[x] for row, x in zip(scores, numbers[1:])]
        return float(np.sum(nats)) / (len(text) - len(self.pieces[numbers[0]]))

    def write(
        self,
        prompt: str,
        length: int,
        temperature: float = 0.0,
        seed: int = 1,
        attend: Attend = attend,
    ) -> str:
        """Go on from a prompt for so many pieces."""
        given = self.numbers(prompt, "prompt")
        if not given.size:
            raise ValueError("prompt: expected a letter or more, got none")
        length, _ = inputs.count("length", length), not_negative(temperature)
        kept, draws, written = self.begin(), uniform(seed), prompt
        for place, piece in enumerate(given):
            scores = self.step(int(piece), place, kept, attend)
        for place in range(len(given), len(given) + length):
            piece = chosen(scores, temperature, next(draws))
            written += self.pieces[piece]
            scores = self.step(piece, place, kept, attend)
        return written


def cut(text: str, pieces: list[str], name: str = "text") -> list[str]:
    """A text in pieces, each the longest that fits where the one before it ends."""
    inputs.instance(name, text, str)
    longest, known = max(map(len, pieces)), set(pieces)
    found: list[str] = []
    while text:
        ends = range(min(longest, len(text)), 0, -1)
        piece = next((text[:end] for end in ends if text[:end] in known), None)
        if piece is None:
            letters = "".join(sorted(x for x in pieces if len(x) == 1))
            raise ValueError(
                f"{name}: expected letters of {letters!r}, got {text[0]!r}"
            )
        found.append(piece)
        text = text[len(piece) :]
    return found


def chosen(scores: np.ndarray, temperature: float, draw: float) -> int:
    """The piece that a draw from 0 to 1 falls on; without heat, the likeliest."""
    if np.isnan(scores).any():
        raise ValueError("scores: expected numbers, got NaN: what did attend return?")
    if not_negative(temperature) == 0:
        return int(np.argmax(scores))
    ends = np.cumsum(dense.softmax(scores / temperature))
    return min(int(np.searchsorted(ends, draw * ends[-1], "right")), len(scores) - 1)


def not_negative(temperature: float) -> float:
    """Return a temperature, a finite number of at least 0."""
    if 0 <= inputs.real(temperature) < np.inf:
        return float(temperature)
    came = inputs.shown(temperature)
    raise ValueError(f"temperature: expected a finite number, 0 or more, got {came}")


def uniform(seed: int) -> Iterator[float]:
    """Numbers between 0 and 1, the same on the page as here."""
    return _draws(inputs.integer("seed", seed, -np.inf, np.inf, "an integer"))


def _draws(state: int) -> Iterator[float]:
    for turn in count():
        state = (state * MULTIPLIER + ADDEND) % MODULUS
        if turn >= ALIKE:
            yield (state + 0.5) / MODULUS


def stored(file: Path | None = None) -> dict[str, Any]:
    """What the training left: weights, pieces, curve, and how it was made."""
    return json.loads((file or HERE.data / FILE).read_text("utf-8"))


@cache
def load(file: Path | None = None) -> Speaker:
    """The model, with its weights as they are stored.

    Raises
    ------
    ValueError
        If the weights are not those that the checksum is of.
    """
    found = stored(file)
    raw = base64.b64decode(found["weights"])
    if hashlib.sha256(raw).hexdigest() != found["sha256"]:
        raise ValueError(f"{FILE}: the weights are not those of the checksum")
    sizes = Sizes(**found["sizes"])
    shapes = sizes.shapes(len(found["pieces"]))
    return Speaker(sizes, found["pieces"], unpacked(raw, shapes))


def packed(matrices: list[np.ndarray]) -> bytes:
    """Matrices with half a byte for a number, and a factor of two bytes for a row.

    The factors come first; a number is stored as a whole one from 1 to 15.
    """
    factors = [_factors(matrix) for matrix in matrices]
    numbers = [np.rint(m / f[:, None].astype(float)) for m, f in zip(matrices, factors)]
    flat = np.concatenate([np.clip(x, -7, 7).ravel() for x in numbers]) + 8
    flat = np.append(flat, [0] * (flat.size % 2)).astype(np.uint8)
    halves = flat[0::2] | flat[1::2] << 4
    return np.concatenate(factors).astype("<f2").tobytes() + halves.tobytes()


def _factors(matrix: np.ndarray) -> np.ndarray:
    """The largest number of a row is 7 times its factor."""
    largest = np.abs(matrix).max(axis=1) / 7
    return np.where(largest > 0, largest, 1).astype(np.float16)


def unpacked(raw: bytes, shapes: list[tuple[int, int]]) -> list[np.ndarray]:
    """The matrices that were packed."""
    rows = sum(shape[0] for shape in shapes)
    factors = np.frombuffer(raw, "<f2", rows).astype(float)
    halves = np.frombuffer(raw, np.uint8, offset=2 * rows)
    numbers = np.stack([halves & 15, halves >> 4], axis=1).ravel() - 8.0
    matrices = []
    for rows, columns in shapes:
        given, numbers = np.split(numbers, [rows * columns])
        scale, factors = np.split(factors, [rows])
        matrices.append(given.reshape(rows, columns) * scale[:, None])
    return matrices
