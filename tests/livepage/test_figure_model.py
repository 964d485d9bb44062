"""The figure `model`: the page's model writes what the library's writes, and is heard."""

from collections.abc import Callable, Iterator

import numpy as np
import pytest

import rescaling  # noqa: F401  opens the book
import speaker
from livepage.figures import registry, v8

model = registry.module("model")
OPTIONS = ("only-sum", "no-tail", "no-root", "no-mask")  # of the prediction


def numbers(**changes: object) -> dict:
    state = registry.spec("model").defaults() | {"mistake": "none"} | changes
    return v8.from_json(v8.run("model", "compute", state))


@pytest.mark.parametrize("prompt", ["The maximum", "A", "xqzxqzxqzxqzxqz"])
def test_logits_of_the_next_token_are_those_of_numpy(prompt: str) -> None:
    """All 320, to nine digits behind the point, from a text past the context too."""
    here = speaker.load()
    for step in (0, 20, 120):
        got = numbers(prompt=prompt, step=step, block=5)["head"]
        tokens = np.array([here.vocabulary.index(each) for each in got["tokens"]])
        wanted = here.forward(tokens, here.attention)[-1]
        assert np.allclose(got["logits"], wanted, rtol=0, atol=1e-9)


@pytest.mark.parametrize("temperature", [0, 0.6, 1.2])
def test_no_size_of_a_tile_changes_a_letter(temperature: float) -> None:
    for seed in (1, 7):
        for block in (1, 2, 3, 5, 8, 16, 31, 64, 100, 127, 128):
            got = numbers(temperature=temperature, seed=seed, block=block, step=60)
            assert got["same"], (seed, block)
            assert got["bits"]["usual"] <= got["bits"]["most"] <= 30
            assert (got["bits"]["most"] > 0) == (block < len(got["keys"]))


def test_the_answer_is_the_one_that_cannot_be_heard() -> None:
    """Of the four in the question, in tiles of 8, whatever it is asked to write."""
    unheard = {
        mistake
        for mistake in OPTIONS
        for prompt in ("The maximum", "What is", "A block of keys")
        for seed in (1, 2, 3)
        if numbers(prompt=prompt, seed=seed, mistake=mistake, step=60)["same"]
    }
    prediction = registry.spec("model").prediction
    assert unheard == {OPTIONS[prediction.answer]}
    assert [each["mistake"] for each in prediction.shown_by] == list(OPTIONS)


@pytest.mark.parametrize("block", [1, 8])
@pytest.mark.parametrize("mistake", speaker.MISTAKES)
def test_every_mistake_is_heard_in_the_loss_but_for_two(
    block: int, mistake: str
) -> None:
    """Each loss is that of NumPy: the golden states of the figure say so."""
    got = numbers(block=block, mistake=mistake, step=0)["loss"]
    right = model.loss(speaker.load().sizes.context, "none")
    assert got["right"] == pytest.approx(right, abs=1e-12)
    page = speaker.stored()["held"][: speaker.PAGE]
    assert len(page) == speaker.PAGE
    if mistake in ("none", "zero-first"):
        assert got["own"] == pytest.approx(right, abs=1e-12)
    elif mistake != "half-sums" and not (block == 1 and mistake == "no-tail"):
        assert got["own"] > right + 0.05


def test_the_page_has_the_stored_texts() -> None:
    for said in speaker.stored()["says"]:
        state = {name: said[name] for name in ("prompt", "temperature", "seed")}
        assert numbers(**state, step=said["pieces"])["texts"] == [said["text"]] * 2


@pytest.fixture
def exponentials() -> Iterator[Callable[[], int]]:
    """What tells how many exponentials V8 has computed since it was last asked."""
    eval = v8._engine().eval
    eval("var plain = Math.exp, calls = 0; Math.exp = (x) => (calls++, plain(x)); 0")
    yield lambda: eval("{ const now = calls; calls = 0; now }")
    eval("Math.exp = plain; 0")


def test_the_next_letter_reads_nothing_again(exponentials) -> None:
    """Its keys and values are cached: a hundred letters cost fifty times as much as one."""
    prompt = "Never asked before"
    numbers(prompt=prompt, step=0), exponentials()
    numbers(prompt=prompt, step=100)
    hundred = exponentials()
    numbers(prompt=prompt, step=101)
    assert 0 < 10 * exponentials() < hundred


@pytest.mark.parametrize("text", ["", "x" * 41, "a~", "a\nb", 3])
def test_only_what_the_model_knows_can_be_typed(text: object) -> None:
    with pytest.raises(ValueError, match="prompt is .* expected a text of 1 to 40 of"):
        registry.spec("model").check("model", {"prompt": text})
