"""Lets torch differentiate a few small attentions, and stores what it finds.

    python -m tools.model.autograd           tests/data/autograd.json, anew
    python -m tools.model.autograd --check   compare what torch finds with what is stored

It works in the environment of `tools.model`, the only one with torch. The tests compare
the library with the file. Torch is told what is seen by tables that are made here: this
file shares no code with the library.
"""

import json
import platform
import sys
import time
from typing import Any

import numpy as np

from tools.common import options
from tools.common.environments import ROOT, TORCH, hand_over

STORED = ROOT / "tests" / "data" / "autograd.json"
NAMES = ("q", "k", "v", "sinks")

# Batch, heads of q, heads of k, queries, keys; the masks by their names in the library,
# with their arguments; and other options.
CASES: list[tuple[str, tuple[int, ...], dict[str, list], dict[str, float]]] = [
    ("everything is seen", (1, 1, 1, 5, 3), {}, {}),
    ("causal, later keys", (2, 2, 2, 4, 7), {"causal": []}, {"scale": 0.75}),
    ("heads that share", (2, 4, 2, 6, 6), {"window": [2, 0]}, {}),
    (
        "rows that see nothing",
        (1, 2, 1, 6, 6),
        {"documents": [[0, 0, 0, 1, 2, 2]], "padding": [4]},
        {},
    ),
    (
        "what is added to the scores",
        (1, 2, 2, 5, 5),
        {"causal": [], "alibi": [[0.5, 0.125]], "bias": [[0.5, 0.0, -1.0, 2.0, 0.25]]},
        {},
    ),
    ("a softcap", (1, 2, 1, 5, 6), {"causal": []}, {"softcap": 1.5}),
    ("sinks", (2, 3, 1, 5, 5), {"window": [2, 1]}, {"sinks": 1}),
    (
        "large scores",
        (1, 2, 2, 8, 8),
        {"causal": []},
        {"scale": 25.0, "sinks": 1, "softcap": 50.0},
    ),
]


def made(seed: int) -> dict[str, Any]:
    """Return a case with its arrays: multiples of 1/8, which every format can hold."""
    name, (batch, heads, shared, queries, keys), masks, options = CASES[seed]
    rng = np.random.default_rng(seed)

    def draw(*shape: int) -> list:
        return (np.rint(8 * rng.normal(size=shape)) / 8).tolist()

    arrays = {
        "q": draw(batch, heads, queries, 3),
        "k": draw(batch, shared, keys, 3),
        "v": draw(batch, shared, keys, 2),
        "do": draw(batch, heads, queries, 2),
    }
    if options.get("sinks"):
        options = {**options, "sinks": draw(heads)}
    return {"name": name, "masks": masks, "options": options, "arrays": arrays}


def added(masks: dict[str, list], heads: int, queries: int, keys: int) -> np.ndarray:
    """Return what is added to the scores (heads, queries, keys): −∞ where hidden."""
    place = np.arange(queries)[:, None] + keys - queries
    key = np.arange(keys)
    table = np.zeros((heads, queries, keys))
    for mask, given in masks.items():
        if mask == "causal":
            table[:, key > place] = -np.inf
        elif mask == "window":
            left, right = given
            table[:, (key < place - left) | (key > place + right)] = -np.inf
        elif mask == "documents":
            ids = np.array(given[0])
            table[:, ids[place] != ids[key]] = -np.inf
        elif mask == "padding":
            table[:, :, given[0] :] = -np.inf
        elif mask == "alibi":
            table -= np.array(given[0])[:, None, None] * abs(place - key)
        elif mask == "bias":
            table += np.array(given[0])
    return table


def differentiated(case: dict[str, Any]) -> dict[str, list]:
    """Return what torch finds, in float64."""
    import torch

    options = dict(case["options"])
    given = {**case["arrays"], "sinks": options.pop("sinks", None)}
    x = {name: torch.tensor(a, dtype=torch.float64) for name, a in given.items() if a}
    wanted = [name for name in NAMES if name in x]
    for name in wanted:
        x[name].requires_grad_()
    heads, queries, keys = *x["q"].shape[1:3], x["k"].shape[2]
    table = torch.from_numpy(added(case["masks"], heads, queries, keys))
    attend = spelled_out if {"sinks", "softcap"} & {*options, *wanted} else by_torch
    out = attend(x, table, **options)
    grads = torch.autograd.grad(out, [x[name] for name in wanted], x["do"])
    return {name: grad.tolist() for name, grad in zip(wanted, grads)}


def by_torch(x: dict[str, Any], table: Any, scale: float | None = None) -> Any:
    """Torch's own attention."""
    from torch.nn.functional import scaled_dot_product_attention

    q, k, v = x["q"], x["k"], x["v"]
    return scaled_dot_product_attention(
        q, k, v, attn_mask=table, scale=scale, enable_gqa=True
    )


def spelled_out(
    x: dict[str, Any],
    table: Any,
    scale: float | None = None,
    softcap: float | None = None,
) -> Any:
    """What torch's own cannot do, by its softmax. A sink is one more column."""
    import torch

    group = x["q"].shape[1] // x["k"].shape[1]
    k, v = (x[name].repeat_interleave(group, 1) for name in "kv")
    scale = x["q"].shape[-1] ** -0.5 if scale is None else scale
    scores = x["q"] @ k.transpose(-1, -2) * scale
    if softcap is not None:
        scores = softcap * torch.tanh(scores / softcap)
    scores = scores + table
    if "sinks" in x:
        column = x["sinks"][:, None, None].expand(*scores.shape[:-1], 1)
        scores = torch.cat([scores, column], -1)
    return torch.softmax(scores, -1)[..., : k.shape[2]] @ v


def store() -> int:
    """Write the file, a case a line."""
    import torch

    cases = [made(seed) for seed in range(len(CASES))]
    about = {
        "by": "python -m tools.model.autograd",
        "made": time.strftime("%Y-%m-%d"),
        "torch": torch.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
    }
    lines = [json.dumps({**case, "grads": differentiated(case)}) for case in cases]
    head = json.dumps(about, indent=1).removesuffix("\n}")
    text = f'{head},\n "cases": [\n' + ",\n".join(lines) + "\n]}\n"
    STORED.write_text(text, "utf-8")
    print(f"written: {STORED.relative_to(ROOT)}")
    return 0


def check() -> int:
    """Compare what is stored with what torch finds now, for the arrays that are stored."""
    wrong = []
    for case in json.loads(STORED.read_text("utf-8"))["cases"]:
        now = differentiated(case)
        if now.keys() != case["grads"].keys() or not all(
            np.allclose(now[name], case["grads"][name], rtol=1e-11, atol=1e-12)
            for name in now
        ):
            wrong.append(case["name"])
    print(f"torch finds something else: {wrong}" if wrong else "torch finds the same")
    return bool(wrong)


if __name__ == "__main__":
    if "--here" not in options.parse(["--check", "--here"]):
        sys.exit(hand_over("tools.model.autograd", *TORCH))
    sys.exit(check() if "--check" in sys.argv else store())
