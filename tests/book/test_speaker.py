"""The model of the last chapter: its weights, its text, its steps."""

import base64
import hashlib
import itertools
import json
from math import inf, nan
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import speaker
from tools.model import text as model_text

MODEL = speaker.load()
STORED = speaker.stored()
LETTERS = "".join(sorted(x for x in MODEL.vocabulary if len(x) == 1))
texts = st.text(LETTERS, min_size=1, max_size=60)


def test_the_weights_are_those_of_the_checksum(tmp_path: Path) -> None:
    raw = bytearray(base64.b64decode(STORED["weights"]))
    assert hashlib.sha256(raw).hexdigest() == STORED["sha256"]
    raw[-1] ^= 1
    other = tmp_path / "speaker.json"
    changed = STORED | {"weights": base64.b64encode(raw).decode()}
    other.write_text(json.dumps(changed), "utf-8")
    with pytest.raises(ValueError, match="not those of the checksum"):
        speaker.load(other)


def test_the_weights_weigh_no_more_than_a_reader_is_told() -> None:
    assert len(STORED["weights"]) <= 200_000


@pytest.mark.parametrize("says", STORED["says"], ids=lambda one: one["prompt"])
def test_it_writes_what_torch_wrote(says: dict) -> None:
    """What is stored was written by torch, by its own attention over the whole text."""
    begun = len(MODEL.encode(says["prompt"]))
    written = MODEL.write(
        says["prompt"],
        says["pieces"],
        temperature=says["temperature"],
        seed=says["seed"],
    )
    assert written == says["text"]
    assert begun + says["pieces"] <= MODEL.sizes.context  # torch saw all of it


def test_its_loss_on_the_held_out_page_is_the_stored_one() -> None:
    """Torch looked at stretches of the whole page; a part of it is near that."""
    found = MODEL.loss(STORED["held"][:4000])
    assert found == pytest.approx(STORED["held_out_loss"], rel=0.15)


@given(texts)
def test_the_tokens_of_a_text_are_the_longest(text: str) -> None:
    tokens = speaker.tokenize(text, MODEL.vocabulary)
    assert "".join(tokens) == text
    for token, start in zip(tokens, itertools.accumulate(map(len, ["", *tokens]))):
        longer = [x for x in MODEL.vocabulary if len(x) > len(token)]
        assert not [x for x in longer if text.startswith(x, start)]


def test_a_letter_it_does_not_know_is_named() -> None:
    with pytest.raises(ValueError, match=r"text: expected letters of .*, got 'ñ'"):
        MODEL.encode("mañana")


@given(texts)
def test_token_by_token_is_all_at_once(text: str) -> None:
    kv_cache, tokens = MODEL.empty_cache(), MODEL.encode(text)
    steps = [MODEL.step(int(x), i, kv_cache) for i, x in enumerate(tokens)]
    assert np.allclose(steps, MODEL.forward(tokens, MODEL.attention), atol=1e-9)


def test_what_is_too_far_back_is_forgotten() -> None:
    context = MODEL.sizes.context
    kv_cache = MODEL.empty_cache()
    for position in range(context + 9):
        MODEL.step(5, position, kv_cache)
    assert kv_cache[0].keys.shape == (MODEL.sizes.heads, context, MODEL.sizes.d)
    oldest = speaker.rotate(MODEL.layers[0].qkv @ np.zeros(MODEL.sizes.width), 9)
    assert oldest.shape == (3 * MODEL.sizes.width,)


@given(texts, st.integers(1, 130))
def test_tiles_of_any_size_give_the_definition(text: str, block: int) -> None:
    tokens = MODEL.encode(text)
    tiled = speaker.row_by_row(speaker.in_tiles(block), MODEL.sizes.context)
    right = MODEL.forward(tokens, MODEL.attention)
    assert np.allclose(MODEL.forward(tokens, tiled), right, atol=1e-9)


@pytest.mark.parametrize("seed", range(1, 6))
def test_the_size_of_a_tile_changes_no_letter(seed: int) -> None:
    written = {
        MODEL.write("The sum", 40, 0.8, seed, speaker.in_tiles(block))
        for block in (1, 3, 16, 128)
    }
    assert len(written) == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: speaker.in_tiles(8, "typo"), "mistake: expected one of .*'typo'"),
        (lambda: speaker.in_tiles(0), "block: expected a positive integer, got 0"),
        (lambda: MODEL.write("", 3), "prompt: expected a letter or more, got none"),
        (lambda: MODEL.write("ñ", 3), "prompt: expected letters of .*, got 'ñ'"),
        (lambda: MODEL.loss("A"), "text: expected two tokens or more, got 'A'"),
    ],
)
def test_what_makes_no_sense_is_named(call, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


ODD = [None, "ñ", b"a", nan, inf, -1, 0.5, 1j, [1], {"a": 1}, np.ones(2), len]
TAKEN = {"temperature": [0.5], "seed": [-1]}  # of the odd values
CALLS = {
    "prompt": lambda odd: MODEL.write(odd, 0),
    "length": lambda odd: MODEL.write("A", odd),
    "temperature": lambda odd: MODEL.write("A", 0, odd),
    "seed": lambda odd: MODEL.write("A", 0, seed=odd),
    "text": lambda odd: MODEL.loss(odd),
    "block": lambda odd: speaker.in_tiles(odd),
    "mistake": lambda odd: speaker.in_tiles(8, odd),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("odd", ODD, ids=repr)
def test_odd_input_is_named_before_anything_is_computed(name: str, odd) -> None:
    if any(odd is taken for taken in TAKEN.get(name, [])):
        CALLS[name](odd)
        return
    with pytest.raises(ValueError, match=f"^{name}: expected .*, got "):
        CALLS[name](odd)


@pytest.mark.parametrize("temperature", [0, 0.6])
@pytest.mark.parametrize(
    ("attend", "message"),
    [
        (lambda q, k, v: None, "attend: expected .*, got object"),
        (lambda q, k, v: v, r"attend: expected shape \(24,\), .*, got \(1, 24\)"),
        (lambda q, k, v: q * nan, "logits: expected numbers, got NaN: .* attend"),
    ],
    ids=["nothing", "a row too many", "NaN"],
)
def test_no_text_is_made_of_what_is_no_attention(
    temperature: float, attend, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        MODEL.write("A", 1, temperature, attend=attend)


def test_an_attention_of_another_shape_is_named() -> None:
    with pytest.raises(ValueError, match=r"attention: expected shape \(4, .*got \(4,"):
        MODEL.loss("What is", lambda q, k, v: v[:, :1])
    scalar = speaker.row_by_row(lambda q, k, v: 0.0, MODEL.sizes.context)
    with pytest.raises(ValueError, match=r"attend: expected shape \(24,\), .*got \(\)"):
        MODEL.loss("What is", scalar)


def test_draws_of_neighbouring_seeds_are_not_alike() -> None:
    first = [next(speaker.uniform(seed)) for seed in range(1, 200)]
    assert abs(np.mean(first) - 0.5) < 0.1
    assert np.abs(np.diff(first)).mean() > 0.2


@given(st.floats(0, 1, exclude_max=True), st.integers(2, 9))
def test_a_draw_falls_on_a_token_by_its_probability(draw: float, n: int) -> None:
    """With equal logits, the draws from 0 to 1 are dealt out evenly, in order."""
    found = speaker.sample(np.zeros(n), 1.0, draw)
    assert abs(found - int(draw * n)) <= (abs(draw * n - round(draw * n)) < 1e-9)


matrices = st.lists(
    arrays(
        float,
        st.tuples(st.integers(1, 5), st.integers(1, 5)),
        elements=st.floats(-8, 8, width=16),
    ),
    min_size=1,
    max_size=4,
)


@given(matrices)
def test_what_is_packed_comes_back_to_half_a_step(given: list[np.ndarray]) -> None:
    shapes = [matrix.shape for matrix in given]
    back = speaker.unpacked(speaker.packed(given), shapes)
    for matrix, found in zip(given, back):
        step = np.abs(matrix).max(axis=1, keepdims=True) / 7
        assert (np.abs(found - matrix) <= 0.51 * step + 1e-6).all()
    assert speaker.packed(back) == speaker.packed(given)


def test_the_text_it_learns_from_is_prose() -> None:
    learnt, held = model_text.texts()
    assert set(learnt + held) <= model_text.LETTERS
    assert not set(held.splitlines()) & set(learnt.splitlines())
    for mark in ("code-cell", "import numpy", "glue", "jupytext", "hint:"):
        assert mark not in learnt + held
    assert len(learnt) > 200_000
    assert 0.05 < len(held) / len(learnt) < 0.15


def test_it_has_not_read_its_own_chapter() -> None:
    own = (model_text.ROOT / "book" / f"{model_text.OWN}.md").read_text("utf-8")
    learnt, held = model_text.texts()
    sentences = [one for one in model_text.paragraphs(own) if len(one) > 100]
    assert sentences
    assert not [one for one in sentences if one in learnt + held]
