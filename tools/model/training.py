"""Trains the model of the last chapter; runs in .venv-model, the environment with torch.

Half-way the weights begin to be rounded to half a byte in every pass, while the training
goes on with what they were before: so the model learns to do with what is stored.
"""

import base64
import hashlib
import math
import platform
import re
import time
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

import speaker
from tools.model.text import Texts, texts

SIZES = speaker.Sizes(width=96, heads=4, layers=3, hidden=240, context=128)
PIECES = 320
WORD = re.compile(r" ?[A-Za-z]+| ?[0-9]+| ?[^A-Za-z0-9 \n]+| |\n")  # no piece spans two
SEED = 1
STEPS, BATCH = 4000, 32
RATE, WARM, DECAY, DROPOUT = 3e-3, 100, 0.1, 0.2
ROUNDED_FROM = 0.5  # of the steps
EACH = 400  # steps between two points of the curve
LEVELS = 7  # a rounded number is at most so many times its row's factor
SAYS = [  # prompt, temperature, pieces
    ("The maximum", 0.0, 60),
    ("A block of keys", 0.6, 100),
    ("What is", 0.6, 100),
]


class Layer(nn.Module):
    """Attention, then a feed-forward."""

    def __init__(self) -> None:
        super().__init__()
        width, hidden = SIZES.width, SIZES.hidden
        back = 1 / math.sqrt(2 * SIZES.layers)
        self.qkv = matrix(3 * width, width)
        self.out = matrix(width, width, back)
        self.up = matrix(hidden, width)
        self.down = matrix(width, hidden, back)

    def forward(self, x: Tensor, rounded: bool) -> Tensor:
        batch, n, _ = x.shape
        w = {name: halved(p) if rounded else p for name, p in self.named_parameters()}
        split = (normed(x) @ w["qkv"].T).view(batch, n, 3, SIZES.heads, SIZES.d)
        q, k, v = split.permute(2, 0, 3, 1, 4)
        o = F.scaled_dot_product_attention(turned(q), turned(k), v, is_causal=True)
        x = x + self.dropped(o.transpose(1, 2).reshape(batch, n, -1) @ w["out"].T)
        return x + self.dropped(F.relu(normed(x) @ w["up"].T) @ w["down"].T)

    def dropped(self, x: Tensor) -> Tensor:
        return F.dropout(x, DROPOUT, self.training)


class Model(nn.Module):
    """What `speaker.Speaker` is, for many texts at once, and able to learn."""

    def __init__(self, pieces: int) -> None:
        super().__init__()
        self.embedding = matrix(pieces, SIZES.width)
        self.layers = nn.ModuleList(Layer() for _ in range(SIZES.layers))

    def forward(self, numbers: Tensor, rounded: bool = False) -> Tensor:
        embedding = halved(self.embedding) if rounded else self.embedding
        x = embedding[numbers] * math.sqrt(SIZES.width)
        x = F.dropout(x, DROPOUT, self.training)
        for layer in self.layers:
            x = layer(x, rounded)
        return normed(x) @ embedding.T

    def matrices(self) -> list[np.ndarray]:
        """The weights in the order in which they are stored."""
        return [p.detach().double().numpy() for p in self.parameters()]


def matrix(rows: int, columns: int, factor: float = 1.0) -> nn.Parameter:
    return nn.Parameter(torch.randn(rows, columns) * factor / math.sqrt(columns))


def normed(x: Tensor) -> Tensor:
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + speaker.TINY)


def turned(x: Tensor) -> Tensor:
    n, d = x.shape[-2:]
    speeds = speaker.BASE ** (-torch.arange(d // 2, dtype=x.dtype) / (d // 2))
    angle = torch.arange(n, dtype=x.dtype)[:, None] * speeds
    a, b = x.chunk(2, -1)
    cos, sin = angle.cos(), angle.sin()
    return torch.cat([a * cos - b * sin, a * sin + b * cos], -1)


def halved(w: Tensor) -> Tensor:
    """Weights as they are stored; the gradient goes to what they were."""
    factor = w.detach().abs().amax(1, keepdim=True) / LEVELS
    return w + ((w / factor).round() * factor - w).detach()


def numbers_of(text: str, pieces: list[str]) -> Tensor:
    place = {piece: i for i, piece in enumerate(pieces)}
    return torch.tensor([place[x] for x in speaker.cut(text, pieces)])


def learnt_pieces(text: str, letters: set[str]) -> list[str]:
    """All letters, and then, again and again, the pair of pieces that is met most."""
    pieces = sorted(letters)
    words = Counter(tuple(word) for word in WORD.findall(text))
    while len(pieces) < PIECES:
        pairs: Counter[tuple[str, str]] = Counter()
        for word, count in words.items():
            for pair in zip(word, word[1:]):
                pairs[pair] += count
        pair = max(pairs, key=lambda one: (pairs[one], one))
        pieces.append("".join(pair))
        words = Counter({_joined(word, pair): n for word, n in words.items()})
    return pieces


def _joined(word: tuple[str, ...], pair: tuple[str, str]) -> tuple[str, ...]:
    """A word in which this pair has become one piece."""
    parts: list[str] = []
    for part in word:
        if parts and (parts[-1], part) == pair:
            parts[-1] += part
        else:
            parts.append(part)
    return tuple(parts)


def rows(text: Tensor, starts: Iterator[int]) -> tuple[Tensor, Tensor]:
    """Stretches of a text, and the same stretches one piece further on."""
    found = torch.stack([text[i : i + SIZES.context + 1] for i in starts])
    return found[:, :-1], found[:, 1:]


def surprise(model: Model, given: Tensor, wanted: Tensor, rounded: bool) -> Tensor:
    """Nats a piece."""
    return F.cross_entropy(model(given, rounded).flatten(0, 1), wanted.flatten())


@torch.no_grad()
def held_out(model: Model, held: Tensor, rounded: bool) -> float:
    """How surprised the model is by all that was held out."""
    starts = range(0, len(held) - SIZES.context - 1, SIZES.context)
    learning = model.training
    model.eval()
    found = surprise(model, *rows(held, iter(starts)), rounded).item()
    model.train(learning)
    return found


def rate(step: int) -> float:
    """It rises at first, and falls along half a cosine."""
    falling = (1 + math.cos(math.pi * step / STEPS)) / 2
    return RATE * min(1, (step + 1) / WARM) * falling + RATE / 300


def train(parts: Texts, pieces: list[str]) -> tuple[Model, list[list[float]]]:
    """Return the model and its curve: step, nats a letter learnt, and held out."""
    torch.manual_seed(SEED)
    learnt, held = (numbers_of(part, pieces) for part in parts)
    letters = [len(part) / len(cut) for part, cut in zip(parts, (learnt, held))]
    model, curve, since = Model(len(pieces)), [], []
    betas = (0.9, 0.98)
    steps = torch.optim.AdamW(
        model.parameters(), lr=RATE, betas=betas, weight_decay=DECAY
    )
    for step in range(STEPS + 1):
        rounded = step >= ROUNDED_FROM * STEPS
        starts = torch.randint(len(learnt) - SIZES.context - 1, (BATCH,)).tolist()
        loss = surprise(model, *rows(learnt, iter(starts)), rounded)
        since.append(loss.item())
        if step % EACH == 0:
            losses = [np.mean(since), held_out(model, held, rounded)]
            each = [float(nats / n) for nats, n in zip(losses, letters)]
            curve.append([step, *(round(x, 4) for x in each)])
            print("step {:5}   learnt {:.3f}   held out {:.3f}".format(*curve[-1]))
            since = []
        for group in steps.param_groups:
            group["lr"] = rate(step)
        steps.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        steps.step()
    return model.eval(), curve


def says_otherwise(found: dict[str, Any]) -> list[tuple[str, str]]:
    """Pairs of texts, stored and written now by the stored weights, that differ."""
    model = rounded_model(base64.b64decode(found["weights"]), len(found["pieces"]))
    now = says(model, found["pieces"])
    pairs = zip(found["says"], now)
    return [(a["text"], b["text"]) for a, b in pairs if a["text"] != b["text"]]


@torch.no_grad()
def says(model: Model, pieces: list[str]) -> list[dict[str, Any]]:
    """What it writes, by torch's own attention over the whole text each time."""
    return [
        {
            "prompt": prompt,
            "temperature": heat,
            "pieces": count,
            "seed": SEED,
            "text": _write(model, pieces, prompt, heat, count),
        }
        for prompt, heat, count in SAYS
    ]


def _write(
    model: Model, pieces: list[str], prompt: str, temperature: float, count: int
) -> str:
    draws, numbers = speaker.uniform(SEED), numbers_of(prompt, pieces)
    for _ in range(count):
        scores = model(numbers[None])[0, -1].numpy()
        piece = speaker.chosen(scores, temperature, next(draws))
        numbers = torch.cat([numbers, torch.tensor([piece])])
    return "".join(pieces[i] for i in numbers)


def rounded_model(raw: bytes, pieces: int) -> Model:
    """The model with its weights as they are stored, in double precision."""
    model = Model(pieces).double().eval()
    stored = speaker.unpacked(raw, SIZES.shapes(pieces))
    for parameter, values in zip(model.parameters(), stored):
        parameter.data = torch.from_numpy(values.copy())
    return model


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def made() -> dict[str, Any]:
    """Train, and return all that is stored."""
    parts, start = texts(), time.time()
    learnt, held = parts
    pieces = learnt_pieces(learnt, set(chain(*parts)))
    model, curve = train(parts, pieces)
    raw = speaker.packed(model.matrices())
    small, cut = rounded_model(raw, len(pieces)), numbers_of(held, pieces)
    held_loss = held_out(small, cut, False) * len(cut) / len(held)
    return {
        "made": time.strftime("%Y-%m-%d"),
        "command": "make model",
        "machine": f"{platform.machine()}, {torch.get_num_threads()} thread(s)",
        "versions": {
            "python": platform.python_version(),
            "torch": torch.__version__,
            "numpy": np.__version__,
        },
        "minutes": round((time.time() - start) / 60, 1),
        "training": {
            "seed": SEED,
            "steps": STEPS,
            "batch": BATCH,
            "dropout": DROPOUT,
            "learnt": len(learnt),
            "learnt_sha256": digest(learnt),
            "held_out": len(held),
            "held_out_sha256": digest(held),
        },
        "curve": curve,
        "held_out_loss": round(held_loss, 4),
        "sizes": SIZES._asdict(),
        "pieces": pieces,
        "sha256": hashlib.sha256(raw).hexdigest(),
        "weights": base64.b64encode(raw).decode(),
        "held": held,
        "says": says(small, pieces),
    }
