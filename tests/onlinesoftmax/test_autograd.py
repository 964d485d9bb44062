"""Gradients against torch's, as far as those are stored: `python -m tools.model.autograd`."""

import json
from functools import reduce
from operator import and_
from pathlib import Path

import numpy as np
import pytest
from test_backward import by_tiles

from onlinesoftmax import dense, masks
from planting import faulty
from tools.model import autograd

quiet = pytest.mark.filterwarnings("ignore::RuntimeWarning")
TORCH = json.loads(
    (Path(__file__).parents[1] / "data" / "autograd.json").read_text("utf-8")
)


def asked_of_torch(case: dict) -> tuple[list[np.ndarray], dict]:
    """Return q, k, v, do and the options of a case that is stored."""
    arrays = [np.array(case["arrays"][name]) for name in ("q", "k", "v", "do")]
    each = (getattr(masks, name)(*given) for name, given in case["masks"].items())
    return arrays, {**case["options"], "mask": reduce(and_, each, masks.Mask())}


def torch_agrees(got, case: dict) -> bool:
    """Return whether gradients are those that torch found."""
    found = {name: x for name, x in got._asdict().items() if x is not None}
    assert found.keys() == case["grads"].keys()
    for name, grad in found.items():
        expected = np.array(case["grads"][name])
        allow = 1e-13 * np.abs(expected).max()
        if not np.allclose(grad, expected, rtol=1e-11, atol=allow):
            return False
    return True


@pytest.mark.parametrize("case", TORCH["cases"], ids=lambda case: case["name"])
def test_torch_finds_the_same(case: dict) -> None:
    arrays, options = asked_of_torch(case)
    assert torch_agrees(dense.attention_grad(*arrays, **options), case)
    for keep, block_q, block_k in ((True, 2, 3), (False, 3, 2)):
        blocks = {"block_q": block_q, "block_k": block_k}
        assert torch_agrees(by_tiles(*arrays, keep=keep, **blocks, **options), case)


DENSE_FAULTS = {
    "the Jacobian is its diagonal": ("np.diag(p) - np.outer(p, p)", "np.diag(p)"),
    "the Jacobian has the wrong sign": ("np.diag(p) - np", "np.diag(p) + np"),
    "the scale is forgotten": ("slopes[i, j] * asked.scale", "slopes[i, j]"),
    "the cap has no slope": ("1 - (scores / softcap) ** 2", "np.ones_like(scores)"),
    "heads that share do not add up": ("dk[j] +=", "dk[j] ="),
    "the sink is forgotten": ("(0, 1), constant_values=sink)", "(0, 1))"),
    "hidden keys are seen": ("np.flatnonzero(row != -np.inf)", "np.arange(len(row))"),
}


@quiet
@pytest.mark.parametrize("name", DENSE_FAULTS)
def test_torch_finds_a_fault_in_the_definition(name: str) -> None:
    fault = faulty(dense, DENSE_FAULTS[name])
    asked = [(asked_of_torch(case), case) for case in TORCH["cases"]]
    agree = [
        torch_agrees(fault.attention_grad(*arrays, **options), case)
        for (arrays, options), case in asked
    ]
    assert not all(agree)


def test_what_is_stored_is_what_torch_is_asked() -> None:
    assert TORCH["by"] == "python -m tools.model.autograd" and TORCH["torch"] >= "2"
    stored = [(case["name"], case["masks"]) for case in TORCH["cases"]]
    assert stored == [(name, masks) for name, _, masks, _ in autograd.CASES]
    for case, (_, shape, _, _) in zip(TORCH["cases"], autograd.CASES):
        q, k = (np.shape(case["arrays"][name]) for name in "qk")
        assert (*q[:2], k[1], q[2], k[2]) == shape
