"""Stores the gradients of a few small attentions as torch computes them.

    python -m tools.model.autograd           write tests/data/autograd.json
    python -m tools.model.autograd --check   compare torch's gradients with that file

It runs in the environment of `tools.model`, the only one with torch. The tests compare the
library's gradients with the file. This module builds torch's masks itself, and shares no
code with the library.
"""

import json
import platform
import sys
import time
from typing import Any

import numpy as np

from tools.common.environments import TORCH, hand_over
from tools.common.options import parse, report
from tools.common.paths import ROOT
from tools.common.records import with_rows

STORED = ROOT / "tests" / "data" / "autograd.json"
NAMES = ("q", "k", "v", "sinks")

# The name; batch, heads of q, heads of k, queries, keys; the masks by their names in the
# library, with their arguments; and other options.
PACKED = {"documents": [[0, 0, 0, 1, 2, 2]], "padding": [4]}
BIASED = {"causal": [], "alibi": [[0.5, 0.125]], "bias": [[0.5, 0.0, -1.0, 2.0, 0.25]]}
LARGE = {"scale": 25.0, "sinks": 1, "softcap": 50.0}
CASES: list[tuple[str, tuple[int, ...], dict[str, list], dict[str, float]]] = [
    ("everything is seen", (1, 1, 1, 5, 3), {}, {}),
    ("causal, later keys", (2, 2, 2, 4, 7), {"causal": []}, {"scale": 0.75}),
    ("heads that share", (2, 4, 2, 6, 6), {"window": [2, 0]}, {}),
    ("rows that see nothing", (1, 2, 1, 6, 6), PACKED, {}),
    ("what is added to the scores", (1, 2, 2, 5, 5), BIASED, {}),
    ("a softcap", (1, 2, 1, 5, 6), {"causal": []}, {"softcap": 1.5}),
    ("sinks", (2, 3, 1, 5, 5), {"window": [2, 1]}, {"sinks": 1}),
    ("large scores", (1, 2, 2, 8, 8), {"causal": []}, LARGE),
]


def draw_case(seed: int) -> dict[str, Any]:
    """Return a case with its arrays: multiples of 1/8, which are exact in every format."""
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


def bias_matrix(
    masks: dict[str, list], heads: int, queries: int, keys: int
) -> np.ndarray:
    """Return the bias of the scores (heads, queries, keys): −∞ where hidden."""
    position = np.arange(queries)[:, None] + keys - queries
    key = np.arange(keys)
    bias = np.zeros((heads, queries, keys))
    for mask, arguments in masks.items():
        if mask == "causal":
            bias[:, key > position] = -np.inf
        elif mask == "window":
            left, right = arguments
            bias[:, (key < position - left) | (key > position + right)] = -np.inf
        elif mask == "documents":
            ids = np.array(arguments[0])
            bias[:, ids[position] != ids[key]] = -np.inf
        elif mask == "padding":
            bias[:, :, arguments[0] :] = -np.inf
        elif mask == "alibi":
            bias -= np.array(arguments[0])[:, None, None] * abs(position - key)
        elif mask == "bias":
            bias += np.array(arguments[0])
    return bias


def differentiate(case: dict[str, Any]) -> dict[str, list]:
    """Return torch's gradients in float64."""
    import torch

    options = dict(case["options"])
    arrays = {**case["arrays"], "sinks": options.pop("sinks", None)}
    x = {name: torch.tensor(a, dtype=torch.float64) for name, a in arrays.items() if a}
    names = [name for name in NAMES if name in x]
    for name in names:
        x[name].requires_grad_()
    heads, queries, keys = *x["q"].shape[1:3], x["k"].shape[2]
    bias = torch.from_numpy(bias_matrix(case["masks"], heads, queries, keys))
    attend = by_softmax if {"sinks", "softcap"} & {*options, *names} else by_torch
    out = attend(x, bias, **options)
    grads = torch.autograd.grad(out, [x[name] for name in names], x["do"])
    return {name: grad.tolist() for name, grad in zip(names, grads)}


def by_torch(x: dict[str, Any], bias: Any, scale: float | None = None) -> Any:
    """Compute torch's own attention."""
    from torch.nn.functional import scaled_dot_product_attention

    q, k, v = x["q"], x["k"], x["v"]
    return scaled_dot_product_attention(
        q, k, v, attn_mask=bias, scale=scale, enable_gqa=True
    )


def by_softmax(
    x: dict[str, Any],
    bias: Any,
    scale: float | None = None,
    softcap: float | None = None,
) -> Any:
    """Compute, by a softmax, what torch's attention lacks. A sink is one more column."""
    import torch

    group = x["q"].shape[1] // x["k"].shape[1]
    k, v = (x[name].repeat_interleave(group, 1) for name in "kv")
    scale = x["q"].shape[-1] ** -0.5 if scale is None else scale
    scores = x["q"] @ k.transpose(-1, -2) * scale
    if softcap is not None:
        scores = softcap * torch.tanh(scores / softcap)
    scores = scores + bias
    if "sinks" in x:
        column = x["sinks"][:, None, None].expand(*scores.shape[:-1], 1)
        scores = torch.cat([scores, column], -1)
    return torch.softmax(scores, -1)[..., : k.shape[2]] @ v


def store() -> int:
    """Write the file, with a line for each case."""
    import torch

    cases = [draw_case(seed) for seed in range(len(CASES))]
    head = {
        "by": "python -m tools.model.autograd",
        "made": time.strftime("%Y-%m-%d"),
        "torch": torch.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
    }
    rows = [{**case, "grads": differentiate(case)} for case in cases]
    STORED.write_text(with_rows(head, "cases", rows), "utf-8")
    print(f"written: {STORED.relative_to(ROOT)}")
    return 0


def check() -> int:
    """Compare the stored gradients with torch's, for the stored arrays."""
    wrong = []
    for case in json.loads(STORED.read_text("utf-8"))["cases"]:
        now = differentiate(case)
        if now.keys() != case["grads"].keys() or not all(
            np.allclose(now[name], case["grads"][name], rtol=1e-11, atol=1e-12)
            for name in now
        ):
            wrong.append(f"other gradients by torch: {case['name']}")
    return report(wrong, f"{len(wrong)} cases differ")


if __name__ == "__main__":
    if "--here" not in parse(["--check", "--here"]):
        sys.exit(hand_over("tools.model.autograd", *TORCH))
    sys.exit(check() if "--check" in sys.argv else store())
