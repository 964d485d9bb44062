"""Heads: a token of a short text, and how one head of the model spreads its attention.

Prediction. In layer 2, head 2, what does the second "maximum" look at most? Why wrong
answers tempt. "The first maximum": a score measures how well a key fits a query, and the
same token sounds like the best fit. "Itself": head 3 of the same layer does that. What
settles it: nearly all of the weight lies on the token just before, and this head looks at
the token just before nearly everywhere.
"""

from collections.abc import Iterator
from functools import cache
from itertools import product

import numpy as np

import speaker
from livepage.figures.spec import Choice, Pick, Prediction, Spec, Values

TEXT = "The maximum of the scores and the maximum of the sums"
TOKENS = speaker.tokenize(TEXT, speaker.load().vocabulary)
LAYERS, HEADS = speaker.load().sizes.layers, speaker.load().sizes.heads
PICKED = 8  # the second "maximum", counted from 1
BEFORE = {"layer": 2, "head": 2, "token": str(PICKED)}


@cache
def scores() -> list[list[list[int]]]:
    """Scores in thousandths of the whole text at once: heads, tokens, earlier tokens."""
    model, found = speaker.load(), []

    def watched(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
        found.extend(q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1]))
        return model.attention(q, k, v)

    model.forward(model.encode(TEXT), watched)
    rounded = np.rint(1000 * np.array(found)).astype(int)
    return [[row[: i + 1].tolist() for i, row in enumerate(head)] for head in rounded]


@cache
def attention() -> np.ndarray:
    """The weights of the model's own attention, as it reads the text token by token.

    The shape is (heads, tokens, tokens). Values that are unit vectors bring the weights
    out as the output.
    """
    model = speaker.load()
    kv_cache, weights = model.empty_cache(), []

    def watched(q: np.ndarray, keys: np.ndarray, values: np.ndarray) -> np.ndarray:
        units = np.eye(len(keys), len(q))
        weights.append(speaker.attend(q, keys, units)[: len(TOKENS)])
        return speaker.attend(q, keys, values)

    for position, token in enumerate(model.encode(TEXT)):
        model.step(int(token), position, kv_cache, watched)
    return np.reshape(weights, (len(TOKENS), LAYERS * HEADS, -1)).swapaxes(0, 1)


def expected(state: Values) -> Values:
    """The weights of the picked token, and where the head's tokens look most."""
    head = attention()[HEADS * (state["layer"] - 1) + state["head"] - 1]
    known = [str(i + 1) for i in range(len(TOKENS))]
    token = known.index(state["token"]) if state["token"] in known else PICKED - 1
    best = head.argmax(axis=1)
    back = np.arange(len(TOKENS)) - best
    return {
        "token": token,
        "weights": head[token, : token + 1],
        "best": best.tolist(),
        "before": int(np.sum(back[1:] == 1)),
        "own": int(np.sum(back[1:] == 0)),
    }


def states(random: np.random.Generator) -> Iterator[Values]:
    """Every token of every head, and keys that name no token."""
    tokens = [*(str(i + 1) for i in range(len(TOKENS))), "", "0", "-1", "1.5", "99"]
    for layer, head, token in product(range(LAYERS), range(HEADS), tokens):
        yield {"layer": layer + 1, "head": head + 1, "token": token}


SPEC = Spec(
    controls=(
        Choice("layer", 1, tuple(range(1, LAYERS + 1))),
        Choice("head", 1, tuple(range(1, HEADS + 1))),
        Pick("token", str(PICKED)),
    ),
    still=BEFORE,
    prediction=Prediction(answer=1, shown_by=(BEFORE,) * 3),
    constants={"TOKENS": TOKENS, "SCORES": scores(), "HEADS": HEADS, "PICKED": PICKED},
    expected=expected,
    states=states,
    room=1e-3,  # the page has scores of three decimals
)
