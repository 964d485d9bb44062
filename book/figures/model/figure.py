"""The model: it writes with your attention, and with mistakes in it.

Prediction. Which mistake can you not hear, whatever the model writes?
Why wrong answers tempt. "Only the sum": one of two lines is right, and that sounds like
half an error. "A short last tile": few keys are missing, but they are the newest. "No √d":
a constant factor looks harmless, but softmax is not proportional. What settles it: in
tiles of 8 each of these texts parts from the right one; without a mask no letter changes,
since nothing later is there to be looked at. Only the loss on a page tells.
"""

from collections.abc import Iterator
from functools import cache
from itertools import product

import numpy as np

import speaker
from livepage.figures.spec import (
    Again,
    Choice,
    Menu,
    Prediction,
    Range,
    Spec,
    Step,
    Typed,
    Values,
)
from onlinesoftmax import dense

LONGEST = 120  # tokens that it writes
SHOWN = {"block": 8, "step": 48}


def loads() -> Values:
    """What the drawing needs of the stored model."""
    stored = speaker.stored()
    wanted = {"vocabulary": stored["pieces"]}
    wanted |= {name: stored[name] for name in ("sizes", "weights")}
    # The loss that is shown at once; the others are measured when they are asked for.
    block = speaker.load().sizes.context
    losses = {f"{block} none": loss(block, "none")}
    return wanted | {"held": stored["held"][: speaker.PAGE], "losses": losses}


def letters() -> str:
    """What can be typed."""
    vocabulary = speaker.stored()["pieces"]
    return "".join(x for x in vocabulary if len(x) == 1 and x.isprintable())


class Watched:
    """An attention that remembers what it was last asked, head by head."""

    def __init__(self, attend: speaker.Attend, heads: int) -> None:
        self.attend, self.heads, self.asked = attend, heads, []

    def __call__(self, q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
        self.asked = [*self.asked, (q, k, v)][-self.heads :]
        return self.attend(q, k, v)


@cache
def written(
    prompt: str, temperature: float, seed: int, block: int, mistake: str, step: int
) -> tuple[str, list[tuple[np.ndarray, ...]]]:
    """A text, and what its last token asked each head."""
    model = speaker.load()
    heads = model.sizes.layers * model.sizes.heads
    watched = Watched(speaker.in_tiles(block, mistake), heads)
    text = model.write(prompt, step, temperature, seed, watched)
    return text, watched.asked


@cache
def loss(block: int, mistake: str) -> float:
    """The cross-entropy of a page, in nats a letter."""
    model, attend = speaker.load(), speaker.in_tiles(block, mistake)
    rows = speaker.row_by_row(attend, model.sizes.context, mistake == "no-mask")
    return model.loss(speaker.stored()["held"][: speaker.PAGE], rows)


def expected(state: Values) -> Values:
    """The texts, with one tile of all keys and as asked; a head; now and then, the loss."""
    given = [state[name] for name in ("prompt", "temperature", "seed")]
    block, mistake, step = (state[name] for name in ("block", "mistake", "step"))
    right, _ = written(*given, speaker.load().sizes.context, "none", step)
    own, asked = written(*given, block, mistake, step)
    pairs = enumerate(zip(right, own))
    parts = next((i for i, (a, b) in pairs if a != b), min(len(right), len(own)))
    heads = speaker.load().sizes.heads
    head = asked[heads * (state["layer"] - 1) + state["head"] - 1]
    found = {"steps": LONGEST, "texts": [right, own], "parts": parts}
    found["head"] = one_head(*head, block, mistake)
    if block == 64:
        found["loss"] = {"own": loss(block, mistake), "right": loss(block, "none")}
    return found


def one_head(
    q: np.ndarray, keys: np.ndarray, values: np.ndarray, block: int, mistake: str
) -> Values:
    """What a head makes of its keys, with the mistake and without."""
    attend = speaker.in_tiles(block, mistake)
    root = 1 if mistake == "no-root" else np.sqrt(len(q))
    scores, due = keys @ q / root, keys @ q / np.sqrt(len(q))
    # A column of zeros and a 1 in place of the values gives the weight of a key; there
    # have to be as many columns as numbers in a query.
    groups = -(-len(keys) // len(q))
    columns = np.hsplit(np.eye(len(keys), groups * len(q)), groups)
    weights = np.concatenate([attend(q, keys, some) for some in columns])
    cut = len(keys) % block if mistake == "no-tail" and len(keys) > block else 0
    return {
        "scores": scores,
        "weights": weights[: len(keys) - cut],
        "out": attend(q, keys, values),
        "due": {
            "m": due.max(),
            "l": np.exp(due - due.max()).sum(),
            "out": speaker.attend(q, keys, values),
            "weights": dense.softmax(due),
        },
    }


def states(random: np.random.Generator) -> Iterator[Values]:
    """Every mistake at two sizes of a tile, with prompts, heat and seeds."""
    prompts = ["The maximum", "A", "What is the sum of 3 and 4?", "zzz", " the", "=="]
    # A loss takes a while to measure: so few sizes, and many texts with each of them.
    for block, mistake in product((SHOWN["block"], 64), speaker.MISTAKES):
        for prompt in random.choice(prompts, 10):
            yield {
                "prompt": str(prompt),
                "temperature": float(random.choice([0, 0.6, 1.2])),
                "seed": int(random.integers(1, 4)),
                "block": block,
                "mistake": mistake,
                "layer": int(random.integers(1, 4)),
                "head": int(random.integers(1, 5)),
                "step": int(random.choice([0, 1, 4, 12])),
            }
    for mistake in speaker.MISTAKES:
        yield {"mistake": mistake, **SHOWN}
    yield {"step": LONGEST, "prompt": "The block that comes first", "mistake": "none"}


SPEC = Spec(
    controls=(
        Typed("prompt", "The maximum", letters=letters(), rewinds="step"),
        Menu("mistake", "none", speaker.MISTAKES),
        Range("block", SHOWN["block"], low=1, high=speaker.load().sizes.context),
        Range("temperature", 0.6, low=0, high=1.2, step=0.1),
        Again("seed", 1, low=1, high=99),
        Choice("layer", 1, (1, 2, 3)),
        Choice("head", 1, (1, 2, 3, 4)),
        Step("step", SHOWN["step"]),
    ),
    still={},
    below=("layer", "head", "temperature", "seed"),
    prediction=Prediction(
        answer=3,
        shown_by=(
            {"mistake": "only-sum", **SHOWN},
            {"mistake": "no-tail", **SHOWN},
            {"mistake": "no-root", **SHOWN},
            {"mistake": "no-mask", **SHOWN},
        ),
    ),
    expected=expected,
    states=states,
    pace=80,
    constants={
        "ALIKE": speaker.ALIKE,
        "BASE": speaker.BASE,
        "DRAWS": {
            "multiplier": speaker.MULTIPLIER,
            "addend": speaker.ADDEND,
            "modulus": speaker.MODULUS,
        },
        "LONGEST": LONGEST,
        "EPSILON": speaker.EPSILON,
    },
    loads=loads,
    room=1e-9,
)
