"""Trains the model of the last chapter; runs in .venv-model, the environment with torch.

In the second half of the training every forward pass quantizes the weights to 4 bits, while
the gradients update the full-precision weights (quantization-aware training).
"""

import base64
import hashlib
import math
import platform
import re
import time
from collections import Counter
from collections.abc import Iterable
from itertools import chain
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

import speaker
from tools.model.text import Texts, texts

SIZES = speaker.Sizes(width=96, heads=4, layers=3, hidden=240, context=128)
VOCABULARY = 320  # tokens
WORD = re.compile(r" ?[A-Za-z]+| ?[0-9]+| ?[^A-Za-z0-9 \n]+| |\n")  # no token spans two
SEED = 1
STEPS, BATCH = 4000, 32
RATE, WARM, DECAY, DROPOUT = 3e-3, 100, 0.1, 0.2
QUANTIZED_FROM = 0.5  # of the steps
EACH = 400  # steps between two points of the curve
LEVELS = 7  # a quantized weight is at most so many times its row's factor
SAYS = [  # prompt, temperature, tokens
    ("The maximum", 0.0, 60),
    ("A block of keys", 0.6, 100),
    ("What is", 0.6, 100),
]


class Layer(nn.Module):
    """Attention, then an MLP."""

    def __init__(self) -> None:
        super().__init__()
        width, hidden = SIZES.width, SIZES.hidden
        back = 1 / math.sqrt(2 * SIZES.layers)
        self.qkv = matrix(3 * width, width)
        self.out = matrix(width, width, back)
        self.up = matrix(hidden, width)
        self.down = matrix(width, hidden, back)

    def forward(self, x: Tensor, quantized: bool) -> Tensor:
        batch, n, _ = x.shape
        weights = self.named_parameters()
        w = {name: quantize(p) if quantized else p for name, p in weights}
        split = (rms_norm(x) @ w["qkv"].T).view(batch, n, 3, SIZES.heads, SIZES.d)
        q, k, v = split.permute(2, 0, 3, 1, 4)
        o = F.scaled_dot_product_attention(rotate(q), rotate(k), v, is_causal=True)
        x = x + self.dropout(o.transpose(1, 2).reshape(batch, n, -1) @ w["out"].T)
        return x + self.dropout(F.relu(rms_norm(x) @ w["up"].T) @ w["down"].T)

    def dropout(self, x: Tensor) -> Tensor:
        return F.dropout(x, DROPOUT, self.training)


class Model(nn.Module):
    """The trainable counterpart of `speaker.Speaker`, for batches of texts."""

    def __init__(self, tokens: int) -> None:
        super().__init__()
        self.embedding = matrix(tokens, SIZES.width)
        self.layers = nn.ModuleList(Layer() for _ in range(SIZES.layers))

    def forward(self, ids: Tensor, quantized: bool = False) -> Tensor:
        embedding = quantize(self.embedding) if quantized else self.embedding
        x = embedding[ids] * math.sqrt(SIZES.width)
        x = F.dropout(x, DROPOUT, self.training)
        for layer in self.layers:
            x = layer(x, quantized)
        return rms_norm(x) @ embedding.T

    def matrices(self) -> list[np.ndarray]:
        """Return the weights in the order in which they are stored."""
        return [p.detach().double().numpy() for p in self.parameters()]


def matrix(rows: int, columns: int, factor: float = 1.0) -> nn.Parameter:
    return nn.Parameter(torch.randn(rows, columns) * factor / math.sqrt(columns))


def rms_norm(x: Tensor) -> Tensor:
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + speaker.EPSILON)


def rotate(x: Tensor) -> Tensor:
    """Apply rotary position embeddings."""
    n, d = x.shape[-2:]
    speeds = speaker.BASE ** (-torch.arange(d // 2, dtype=x.dtype) / (d // 2))
    angle = torch.arange(n, dtype=x.dtype)[:, None] * speeds
    a, b = x.chunk(2, -1)
    cos, sin = angle.cos(), angle.sin()
    return torch.cat([a * cos - b * sin, a * sin + b * cos], -1)


def quantize(w: Tensor) -> Tensor:
    """Return weights as they are stored; the gradient passes through the rounding."""
    factor = w.detach().abs().amax(1, keepdim=True) / LEVELS
    return w + ((w / factor).round() * factor - w).detach()


def encode(text: str, tokens: list[str]) -> Tensor:
    """Return the ids of the tokens of a text."""
    ids = {token: i for i, token in enumerate(tokens)}
    return torch.tensor([ids[token] for token in speaker.tokenize(text, tokens)])


def learn_tokens(text: str, letters: set[str]) -> list[str]:
    """Return a vocabulary by byte-pair encoding, which starts from the letters."""
    tokens = sorted(letters)
    words = Counter(tuple(word) for word in WORD.findall(text))
    while len(tokens) < VOCABULARY:
        pairs: Counter[tuple[str, str]] = Counter()
        for word, count in words.items():
            for pair in zip(word, word[1:]):
                pairs[pair] += count
        pair = max(pairs, key=lambda one: (pairs[one], one))
        tokens.append("".join(pair))
        words = Counter({_merge(word, pair): n for word, n in words.items()})
    return tokens


def _merge(word: tuple[str, ...], pair: tuple[str, str]) -> tuple[str, ...]:
    """Return a word in which this pair has become one token."""
    parts: list[str] = []
    for part in word:
        if parts and (parts[-1], part) == pair:
            parts[-1] += part
        else:
            parts.append(part)
    return tuple(parts)


def batch_at(text: Tensor, starts: Iterable[int]) -> tuple[Tensor, Tensor]:
    """Return a batch of inputs, and of targets: the same tokens, one position later."""
    batch = torch.stack([text[i : i + SIZES.context + 1] for i in starts])
    return batch[:, :-1], batch[:, 1:]


def loss_of(model: Model, inputs: Tensor, targets: Tensor, quantized: bool) -> Tensor:
    """Return the cross-entropy in nats for each token."""
    return F.cross_entropy(model(inputs, quantized).flatten(0, 1), targets.flatten())


@torch.no_grad()
def validation_loss(model: Model, held: Tensor, quantized: bool) -> float:
    """Return the loss on the text that was held out."""
    starts = range(0, len(held) - SIZES.context - 1, SIZES.context)
    training = model.training
    model.eval()
    loss = loss_of(model, *batch_at(held, starts), quantized).item()
    model.train(training)
    return loss


def learning_rate(step: int) -> float:
    """Return a rate that rises during the warm-up, and decays along half a cosine."""
    decay = (1 + math.cos(math.pi * step / STEPS)) / 2
    return RATE * min(1, (step + 1) / WARM) * decay + RATE / 300


def train(parts: Texts, tokens: list[str]) -> tuple[Model, list[list[float]]]:
    """Return the model and its curve: step, nats a letter learnt, and held out."""
    torch.manual_seed(SEED)
    learnt, held = (encode(part, tokens) for part in parts)
    letters = [len(part) / len(ids) for part, ids in zip(parts, (learnt, held))]
    model, curve, since = Model(len(tokens)), [], []
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=RATE, betas=(0.9, 0.98), weight_decay=DECAY
    )
    for step in range(STEPS + 1):
        quantized = step >= QUANTIZED_FROM * STEPS
        starts = torch.randint(len(learnt) - SIZES.context - 1, (BATCH,)).tolist()
        loss = loss_of(model, *batch_at(learnt, starts), quantized)
        since.append(loss.item())
        if step % EACH == 0:
            losses = [np.mean(since), validation_loss(model, held, quantized)]
            each = [float(nats / n) for nats, n in zip(losses, letters)]
            curve.append([step, *(round(x, 4) for x in each)])
            print("step {:5}   learnt {:.3f}   held out {:.3f}".format(*curve[-1]))
            since = []
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return model.eval(), curve


def differing_texts(record: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the pairs of a stored and a newly generated text that differ."""
    tokens = record["pieces"]
    model = quantized_model(base64.b64decode(record["weights"]), len(tokens))
    pairs = zip(record["says"], generate_all(model, tokens))
    return [(a["text"], b["text"]) for a, b in pairs if a["text"] != b["text"]]


@torch.no_grad()
def generate_all(model: Model, tokens: list[str]) -> list[dict[str, Any]]:
    """Generate the texts that are stored, without a KV cache."""
    return [
        {
            "prompt": prompt,
            "temperature": temperature,
            "pieces": count,
            "seed": SEED,
            "text": _generate(model, tokens, prompt, temperature, count),
        }
        for prompt, temperature, count in SAYS
    ]


def _generate(
    model: Model, tokens: list[str], prompt: str, temperature: float, count: int
) -> str:
    draws, ids = speaker.uniform(SEED), encode(prompt, tokens)
    for _ in range(count):
        logits = model(ids[None])[0, -1].numpy()
        token = speaker.sample(logits, temperature, next(draws))
        ids = torch.cat([ids, torch.tensor([token])])
    return "".join(tokens[i] for i in ids)


def quantized_model(raw: bytes, tokens: int) -> Model:
    """Return the model with its weights as they are stored, in double precision."""
    model = Model(tokens).double().eval()
    stored = speaker.unpacked(raw, SIZES.shapes(tokens))
    for parameter, values in zip(model.parameters(), stored):
        parameter.data = torch.from_numpy(values.copy())
    return model


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def train_and_describe() -> dict[str, Any]:
    """Train the model; return the content of its file."""
    parts, start = texts(), time.time()
    learnt, held = parts
    tokens = learn_tokens(learnt, set(chain(*parts)))
    model, curve = train(parts, tokens)
    raw = speaker.packed(model.matrices())
    small, ids = quantized_model(raw, len(tokens)), encode(held, tokens)
    held_loss = validation_loss(small, ids, False) * len(ids) / len(held)
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
        "pieces": tokens,
        "sha256": hashlib.sha256(raw).hexdigest(),
        "weights": base64.b64encode(raw).decode(),
        "held": held,
        "says": generate_all(small, tokens),
    }
