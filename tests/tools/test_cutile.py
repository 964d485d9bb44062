"""The attention in cuTile: what is stored of it, and its numbers, without cuTile.

NumPy takes the place of `cuda.tile` here, so this runs the text of the listing, not what
its compiler makes. Numbers beyond an array's edge are NaN unless the text asks for zeros.
"""

import json
import math
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tools.kernels import cutile

TEXT = cutile.SOURCE.read_text("utf-8")
SIZE = {"d": 8, "block_q": 16, "block_k": 8}
ARGUMENTS = (math.log2(math.e) / math.sqrt(SIZE["d"]), *SIZE.values())


def load(array: Any, index: Any, shape: Any, padding_mode: float = math.nan) -> Any:
    tile = np.full(shape, padding_mode, array.dtype)
    rows = array[index[0] * shape[0] :][: shape[0]]
    tile[: len(rows)] = rows
    return tile


def store(array: Any, index: Any, tile: Any) -> None:
    rows = array[index[0] * len(tile) :][: len(tile)]
    rows[:] = tile[: len(rows)]


def tiles() -> ModuleType:
    """Return the part of `cuda.tile` that the listing uses."""
    module = ModuleType("cuda.tile")
    for (
        name
    ) in "float16 float32 int32 full zeros arange where maximum max sum exp2".split():
        setattr(module, name, getattr(np, name))
    module.__dict__.update(
        kernel=lambda function: function,
        Constant={int: int},
        PaddingMode=SimpleNamespace(ZERO=0.0),
        cdiv=lambda a, b: -(-a // b),
        load=load,
        store=store,
        mma=lambda x, y, sums: np.float32(x) @ np.float32(y) + sums,
    )
    return module


def attend(
    text: str, queries: int, keys: int, monkeypatch: pytest.MonkeyPatch
) -> tuple[np.ndarray, np.ndarray]:
    """Run a text of the kernel; return its output and that of the three steps."""
    ct, cuda = tiles(), ModuleType("cuda")
    cuda.__dict__["tile"] = ct
    monkeypatch.setitem(sys.modules, "cuda", cuda)
    monkeypatch.setitem(sys.modules, "cuda.tile", ct)
    names: dict[str, Any] = {}
    exec(compile(text, "cutile_attention.py", "exec"), names)
    rng = np.random.default_rng(keys)
    Q = np.float16(3 * rng.normal(size=(queries, SIZE["d"])))
    K, V = np.float16(rng.normal(size=(2, keys, SIZE["d"])))
    O = np.zeros_like(Q)
    for block in range(ct.cdiv(queries, SIZE["block_q"])):
        ct.bid = lambda axis, block=block: block
        names["attention"](Q, K, V, O, *ARGUMENTS)
    p = np.exp(Q.astype(float) @ K.T.astype(float) / math.sqrt(SIZE["d"]))
    return O, p @ V.astype(float) / p.sum(axis=1, keepdims=True)


@pytest.mark.filterwarnings("ignore:invalid value")  # rows of no query are NaN
@pytest.mark.parametrize(("queries", "keys"), [(32, 24), (37, 29), (3, 1)])
def test_the_text_computes_attention(queries, keys, monkeypatch) -> None:
    output, truth = attend(TEXT, queries, keys, monkeypatch)
    assert np.abs(output - truth).max() < 4e-3


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        (", padding_mode=ZERO", ""),
        ("ct.where(key < K.shape[0], s * scale, -inf)", "s * scale"),
        ("alpha * l", "l"),
        ("alpha * o", "o"),
    ],
)
def test_a_fault_in_the_text_shows(old, new, monkeypatch) -> None:
    assert TEXT.count(old) == 1
    output, truth = attend(TEXT.replace(old, new), 37, 29, monkeypatch)
    assert not np.abs(output - truth).max() < 4e-3


def test_the_facts_are_of_this_text() -> None:
    stored = json.loads(cutile.STORED.read_text("utf-8"))
    assert stored["source"] == cutile.digest(), f"run `{cutile.COMMAND}`"
    assert (stored["what"], stored["command"]) == (cutile.WHAT, cutile.COMMAND)
    assert tuple(build["arch"] for build in stored["builds"]) == cutile.ARCHS


def test_other_facts_are_noticed() -> None:
    stored = json.loads(cutile.STORED.read_text("utf-8"))
    assert cutile.settle(stored | {"made": ""}, check=True) == []
    assert cutile.settle(stored | {"source": ""}, check=True) == ["source differs"]
