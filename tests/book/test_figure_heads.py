"""The figure `heads`: the model's own attention is what its words say of it."""

import numpy as np
import pytest

from livepage.figures import registry

heads = registry.module("heads")
SECOND = heads.PICKED - 1
FIRST = heads.TOKENS.index(heads.TOKENS[SECOND])


def row(layer: int, head: int, token: int) -> np.ndarray:
    """The weights of one token, by the model's attention."""
    return heads.attention()[heads.HEADS * (layer - 1) + head - 1][token]


def test_the_text_has_the_same_token_twice() -> None:
    assert FIRST < SECOND and heads.TOKENS[SECOND] == " maximum"


def test_the_head_of_the_question_looks_at_the_token_just_before() -> None:
    weights = row(heads.BEFORE["layer"], heads.BEFORE["head"], SECOND)
    assert weights[SECOND - 1] > 0.9


def test_the_first_head_shown_looks_at_both_of_the_same_token() -> None:
    assert set(np.argsort(row(1, 1, SECOND))[-2:]) == {FIRST, SECOND}


def test_the_head_of_the_hint_looks_at_the_token_itself() -> None:
    assert row(2, 3, SECOND)[SECOND] > 0.9


@pytest.mark.parametrize("token", range(len(heads.TOKENS)))
def test_a_token_looks_at_itself_and_earlier_ones_only(token: int) -> None:
    weights = heads.attention()[:, token]
    assert np.allclose(weights.sum(axis=1), 1)
    assert not weights[:, token + 1 :].any()


def test_most_tokens_look_just_before_in_the_head_of_the_question() -> None:
    found = heads.expected(heads.BEFORE)
    assert found["before"] > len(heads.TOKENS) / 2 > 2 * found["own"]
