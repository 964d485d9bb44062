"""The score among numba-cuda's own tests: how it is counted, and that the README has it."""

import json

import pytest

from tools.simulator import projects, score
from tools.simulator.score import Row


def test_the_readme_has_the_stored_score() -> None:
    text = score.README.read_text("utf-8")
    for what, of in (("score", score), ("projects", projects)):
        said = of.words(json.loads(of.STORED.read_text("utf-8")))
        assert said in text and score.put(text, what, said) == text


def row(outcome: str, seconds: float = 1.0, launches: int = 1, reason: str = "") -> Row:
    return Row("test_x.T.test", outcome, seconds, launches, reason)


ROWS = {
    "test_a.T.both": {"cudasim": row("pass", 4.0), "blocksim": row("pass", 1.0)},
    "test_a.T.one": {
        "cudasim": row("pass"),
        "blocksim": row(
            "fail", reason="Declined: x: elements of type complex64 are not simulated"
        ),
    },
    "test_b.T.mine": {"cudasim": row("fail"), "blocksim": row("pass")},
    "test_b.T.none": {"cudasim": row("fail"), "blocksim": row("skip")},
    "test_b.T.no_launch": {
        "cudasim": row("pass", launches=0),
        "blocksim": row("pass", launches=0),
    },
    "test_b.T.odd": {"cudasim": row("pass"), "blocksim": row("fail", reason="?")},
}


def test_a_test_counts_if_it_launches_and_one_simulator_passes_it() -> None:
    found = score.score(ROWS)
    assert (found["tests"], found["cudasim"], found["blocksim"]) == (4, 3, 2)
    assert found["files"] == {"test_a": [2, 2, 1], "test_b": [2, 1, 1]}
    assert found["seconds"] == {"cudasim": 4.0, "blocksim": 1.0}
    assert found["median_ratio"] == 0.25
    assert found["reasons"] == {"complex numbers": 1, "others": 1}


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("Declined: 1j as an argument is not simulated", "complex numbers"),
        ("Fault: thread 0 reads sa[0], which nobody has written (line 2)",
         "memory that the test itself reads unwritten"),
    ],
)  # fmt: skip
def test_a_reason_has_plain_words(reason: str, words: str) -> None:
    assert score.why(reason) == words
