"""Random inputs of an attention: q, k, v of any layout and dtype, and a valid mask."""

import numpy as np
from hypothesis import strategies as st

from onlinesoftmax import masks
from onlinesoftmax.masks import alibi, bias, causal, documents, padding, window

DTYPES = [np.float16, np.float32, np.float64]


def normal(*shape: int, seed: int = 0, dtype: type = np.float64) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


@st.composite
def problems(
    draw: st.DrawFn, most: int = 9, dtypes: list[type] = DTYPES
) -> tuple[tuple[np.ndarray, ...], dict]:
    """Draw q, k, v of any layout and dtype, a valid mask, and other options."""
    batch = draw(st.sampled_from([None, (), (2,), (2, 1)]))
    groups, shared = draw(st.sampled_from([(1, 1), (2, 1), (2, 2), (1, 3)]))
    queries, keys = draw(st.integers(0, most)), draw(st.integers(0, most))
    dtype, seed = draw(st.sampled_from(dtypes)), draw(st.integers(0, 99))
    of = lambda heads: () if batch is None else (*batch, heads)  # noqa: E731
    q = normal(*of(groups * shared), queries, 4, seed=seed, dtype=dtype)
    k = normal(*of(groups), keys, 4, seed=seed + 1, dtype=dtype)
    v = normal(*of(groups), keys, 3, seed=seed + 2, dtype=dtype)
    heads, sequences = q.shape[-3:-2], q.shape[:-3]
    rng = np.random.default_rng(seed)
    parts = [
        causal(),
        window(2, 1),
        padding(rng.integers(0, keys + 1, sequences)),
        alibi(rng.random(heads)),
        bias(rng.normal(size=(queries, keys))),
        bias(np.where(rng.random((*heads, 1, keys)) < 0.5, 0, -np.inf)),
    ]
    if queries <= keys:
        parts.append(documents(np.sort(rng.integers(0, 3, (*sequences, keys)))))
        parts.append(documents(rng.integers(0, 3, keys)))
    mask = masks.Mask()
    for part in draw(st.lists(st.sampled_from(parts), max_size=3)):
        mask &= part
    options = draw(st.sampled_from([{}, {"softcap": 2.0}, {"sinks": 0.25}]))
    return (q, k, v), {"mask": mask, **options}
