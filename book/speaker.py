"""A small language model that was trained on this book, in NumPy, around any attention.

`load` reads the stored weights. A `Speaker` cuts a text into tokens, reads them one at a
time, and returns the logits of the next token; `write` continues a prompt. The caller
chooses the attention: `attend` returns the output of one query, and `forward` takes an
attention for all queries of a text.
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
BASE = 100.0  # of RoPE: the slowest pair turns about so many times more slowly
EPSILON = 1e-5  # added to the mean square in RMSNorm, so that zeros stay zeros
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
        Numbers of the residual stream, in every layer.
    heads, layers : int
    hidden : int
        Numbers in the middle of an MLP.
    context : int
        Tokens that a token can attend to, itself included.
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

    def shapes(self, tokens: int) -> list[tuple[int, int]]:
        """Rows and columns of the matrices, in the order in which they are stored."""
        w, h = self.width, self.hidden
        layer = [(3 * w, w), (w, w), (h, w), (w, h)]
        return [(tokens, w), *(layer * self.layers)]


class Layer(NamedTuple):
    """The matrices of a layer: two of its attention, two of its MLP."""

    qkv: np.ndarray
    out: np.ndarray
    up: np.ndarray
    down: np.ndarray


class KVCache(NamedTuple):
    """The KV cache of a layer: the keys and values of the tokens that were read.

    Each has the shape (heads, tokens, d).
    """

    keys: np.ndarray
    values: np.ndarray

    def append(self, key: np.ndarray, value: np.ndarray, context: int) -> KVCache:
        """Return the cache with a token more, and without tokens beyond the context."""
        pairs = zip(self, (key, value))
        both = (np.concatenate([old, new[:, None]], axis=1) for old, new in pairs)
        return KVCache(*(rows[:, -context:] for rows in both))


def rms_norm(x: np.ndarray) -> np.ndarray:
    """Apply RMSNorm: scale x so that its squares are 1 on average."""
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + EPSILON)


def rotate(x: np.ndarray, positions: np.ndarray | int) -> np.ndarray:
    """Apply RoPE: rotate pairs of numbers by an angle that grows with the position.

    Of the positions of a query and a key, their dot product then depends only on the
    distance.
    """
    half = x.shape[-1] // 2
    angle = np.multiply.outer(positions, BASE ** (-np.arange(half) / half))
    a, b = x[..., :half], x[..., half:]
    cos, sin = np.cos(angle), np.sin(angle)
    return np.concatenate([a * cos - b * sin, a * sin + b * cos], axis=-1)


def attend(q: np.ndarray, keys: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the output of one query, by the definition."""
    return dense.attention(q[None], keys, values)[0]


def in_tiles(block: int, mistake: str = "none") -> Attend:
    """Return an attention for one query in tiles of keys, perhaps with a mistake."""
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
    """Return an attention for all queries, from an attention for one query."""

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
    """A model: its vocabulary and its matrices."""

    def __init__(
        self, sizes: Sizes, vocabulary: list[str], matrices: list[np.ndarray]
    ) -> None:
        first, *rest = matrices
        groups = [rest[i : i + 4] for i in range(0, len(rest), 4)]
        self.sizes, self.vocabulary, self.embedding = sizes, vocabulary, first
        self.layers = [Layer(*group) for group in groups]

    def encode(self, text: str, name: str = "text") -> np.ndarray:
        """Return the ids of a text's tokens; `name` is what an error calls the text.

        Raises
        ------
        ValueError
            If the text has a letter that the model does not know.
        """
        tokens = tokenize(text, self.vocabulary, name)
        return np.array([self.vocabulary.index(token) for token in tokens], int)

    def empty_cache(self) -> list[KVCache]:
        """Return the KV cache before the first token, layer by layer."""
        none = np.zeros((self.sizes.heads, 0, self.sizes.d))
        return [KVCache(none, none) for _ in self.layers]

    def step(
        self,
        token: int,
        position: int,
        kv_cache: list[KVCache],
        attend: Attend = attend,
    ) -> np.ndarray:
        """Read one token, append it to the KV cache, and return the logits after it."""
        heads = (self.sizes.heads, self.sizes.d)
        x = self.embedding[token] * np.sqrt(self.sizes.width)
        for i, layer in enumerate(self.layers):
            q, k, v = (layer.qkv @ rms_norm(x)).reshape(3, *heads)
            q, k = rotate(q, position), rotate(k, position)
            kv_cache[i] = kv_cache[i].append(k, v, self.sizes.context)
            pairs = zip(q, *kv_cache[i])
            outputs = [like("attend", attend(*one), one[0]) for one in pairs]
            x = x + layer.out @ np.concatenate(outputs)
            x = x + layer.down @ np.maximum(layer.up @ rms_norm(x), 0)
        return self.embedding @ rms_norm(x)

    def forward(self, tokens: np.ndarray, attention: Attention) -> np.ndarray:
        """Return the logits after each token of a text, all at once.

        `attention` gets the queries, keys and values of all heads, each of the shape
        (heads, tokens, d); no token may look at a later one.
        """
        n, heads = len(tokens), (self.sizes.heads, self.sizes.d)
        x = self.embedding[tokens] * np.sqrt(self.sizes.width)
        for layer in self.layers:
            split = (rms_norm(x) @ layer.qkv.T).reshape(n, 3, *heads)
            q, k, v = split.transpose(1, 2, 0, 3)
            o = attention(rotate(q, np.arange(n)), rotate(k, np.arange(n)), v)
            o = like("attention", o, q)
            x = x + o.transpose(1, 0, 2).reshape(n, -1) @ layer.out.T
            x = x + np.maximum(rms_norm(x) @ layer.up.T, 0) @ layer.down.T
        return rms_norm(x) @ self.embedding.T

    def attention(self, q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Return the outputs of all queries, by the definition.

        No token looks at a later one, nor further back than the context.
        """
        return dense.attention(q, k, v, mask=masks.window(self.sizes.context - 1, 0))

    def loss(self, text: str, attention: Attention | None = None) -> float:
        """Return the cross-entropy of a text: nats a letter, after the first token."""
        tokens = self.encode(text)
        if len(tokens) < 2:
            raise ValueError(f"text: expected two tokens or more, got {text!r}")
        logits = self.forward(tokens[:-1], attention or self.attention)
        nats = [dense.logsumexp(row) - row[x] for row, x in zip(logits, tokens[1:])]
        return float(np.sum(nats)) / (len(text) - len(self.vocabulary[tokens[0]]))

    def write(
        self,
        prompt: str,
        length: int,
        temperature: float = 0.0,
        seed: int = 1,
        attend: Attend = attend,
    ) -> str:
        """Return the prompt and so many tokens more."""
        prompted = self.encode(prompt, "prompt")
        if not prompted.size:
            raise ValueError("prompt: expected a letter or more, got none")
        length, _ = inputs.count("length", length), not_negative(temperature)
        kv_cache, draws, text = self.empty_cache(), uniform(seed), prompt
        for position, token in enumerate(prompted):
            logits = self.step(int(token), position, kv_cache, attend)
        for position in range(len(prompted), len(prompted) + length):
            token = sample(logits, temperature, next(draws))
            text += self.vocabulary[token]
            logits = self.step(token, position, kv_cache, attend)
        return text


def tokenize(text: str, vocabulary: list[str], name: str = "text") -> list[str]:
    """Return the tokens of a text, each the longest that fits after the one before."""
    inputs.instance(name, text, str)
    longest, known = max(map(len, vocabulary)), set(vocabulary)
    tokens: list[str] = []
    while text:
        ends = range(min(longest, len(text)), 0, -1)
        token = next((text[:end] for end in ends if text[:end] in known), None)
        if token is None:
            letters = "".join(sorted(x for x in vocabulary if len(x) == 1))
            raise ValueError(
                f"{name}: expected letters of {letters!r}, got {text[0]!r}"
            )
        tokens.append(token)
        text = text[len(token) :]
    return tokens


def sample(logits: np.ndarray, temperature: float, draw: float) -> int:
    """Return the token that a draw from 0 to 1 falls on; the likeliest at temperature 0."""
    if np.isnan(logits).any():
        raise ValueError("logits: expected numbers, got NaN: what did attend return?")
    if not_negative(temperature) == 0:
        return int(np.argmax(logits))
    ends = np.cumsum(dense.softmax(logits / temperature))
    return min(int(np.searchsorted(ends, draw * ends[-1], "right")), len(logits) - 1)


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
    """Return what the training stored: weights, vocabulary, curve, and how it was made."""
    return json.loads((file or HERE.data / FILE).read_text("utf-8"))


@cache
def load(file: Path | None = None) -> Speaker:
    """Return the model, with its weights as they are stored.

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
    """Quantize matrices to 4 bits for a weight, and a factor of two bytes for a row.

    The factors come first; a weight is stored as an integer from 1 to 15.
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
    """Return the matrices of packed bytes."""
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
