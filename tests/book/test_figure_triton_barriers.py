"""The figure of Triton's barriers, held to the stored verdicts and to a count of groups."""

import re

import pytest

from figure_words import said
from livepage import figures
from livepage.figures import registry

barriers = registry.module("triton-barriers")

ROWS = list(enumerate(barriers.removed(), 1))
each = pytest.mark.parametrize(
    ("step", "row"), ROWS, ids=[f"line-{row['ptx_line']}" for _, row in ROWS]
)
RIGHT = {"en": ("are wrong", "are right"), "es": ("salen mal", "salen bien")}
TURNS = 4


def test_without_a_barrier_of_the_loop_two_threads_race_and_the_numbers_are_right() -> (
    None
):
    """What the prediction says, and what refutes each wrong answer."""
    spec = barriers.SPEC
    loop = {
        step: row for step, row in ROWS if row["in_loop"] and row["kind"] == "barrier"
    }
    assert len(loop) == 2
    for row in loop.values():
        assert row["right"] and row["needed"] and row["fault"]["kind"] == "race"
    assert {state["step"] for state in spec.prediction.shown_by} == set(loop)
    assert registry.strings("triton-barriers")["en"]["options"][
        spec.prediction.answer
    ].startswith("no, although")


@each
def test_the_loop_of_the_text_is_that_of_the_stored_verdicts(
    step: int, row: dict
) -> None:
    first, last = barriers.loop()
    assert (first <= row["ptx_line"] <= last) == row["in_loop"]


def test_a_race_leaves_the_numbers_right_and_a_late_copy_does_not() -> None:
    """The sentences give a reason for each."""
    faults = [row for _, row in ROWS if row["needed"]]
    assert {(row["fault"]["kind"], row["right"]) for row in faults} == {
        ("race", True),
        ("copy under way", False),
    }


@pytest.mark.parametrize("language", ["en", "es"])
@each
def test_a_sentence_says_both_sides_and_whether_the_numbers_are_right(
    step: int, row: dict, language: str
) -> None:
    sentence = said("triton-barriers", {"step": step}, language)
    wrong, right = RIGHT[language]
    assert (right in sentence, wrong in sentence) == (row["right"], not row["right"])
    named = {int(x) for x in re.findall(r"(?:line|línea) (\d+)", sentence)}
    sides = {side["ptx"] for side in (row["fault"] or {"lines": []})["lines"]}
    assert named == {row["ptx_line"], *sides}


@each
def test_the_picture_strikes_the_line_and_lights_both_sides(
    step: int, row: dict
) -> None:
    drawn = figures.still("triton-barriers", {"step": step})
    pictures = re.findall(r"<svg .*?</svg>", drawn)
    text = barriers.shortened(row["ptx_line"])
    lit = {side["source"] for side in (row["fault"] or {"lines": []})["lines"]}
    for picture in pictures:
        assert re.findall(r'class="snippet struck"[^>]*>([^<]*)<', picture) == [text]
        notes = re.findall(r'class="of-step note[^"]*"[^>]*>([^<]+)<', picture)
        assert len(notes) == (2 if row["needed"] else 0)
        lights = len(re.findall(r'class="band lit"', picture))
        assert lights == 1 + len(notes) + len(lit)  # the list's, the PTX's, Triton's


def late(gone: str) -> list[tuple[str, int]]:
    """Return the tiles that are read while their copies are under way, turn by turn.

    K and V of two tiles are copied before the loop. Each turn waits until two groups at
    most are left, reads its own tile of both, and copies the tile after the next.
    """
    groups: list[list[tuple[str, int]]] = []
    pending: list[tuple[str, int]] = []
    found = []

    def copy(tile: int, where: str) -> None:
        nonlocal pending
        for name in "KV":
            pending.append((name, tile))
            if f"{name} {where}" != gone:
                groups.append(pending)
                pending = []

    copy(0, "0")
    copy(1, "1")
    for turn in range(TURNS):
        arrived = {one for group in groups[:-2] for one in group}
        found += [(name, turn) for name in "KV" if (name, turn) not in arrived]
        copy(turn + 2, "loop")
    return found


def test_a_wait_counts_groups_as_the_sentences_say() -> None:
    """Without the first commit no tile is late; without any other one, a tile of V is."""
    commits = [row for _, row in ROWS if row["kind"] == "commit"]
    names = [f"{name} {where}" for where in ("0", "1", "loop") for name in "KV"]
    assert late("none") == []
    for name, row in zip(names, commits, strict=True):
        assert bool(late(name)) == row["needed"], name
        if row["needed"]:
            first, tile = late(name)[0]
            begins = row["fault"]["lines"][0]["ptx"]
            prologue = [commits[i]["ptx_line"] for i in (0, 1, 2, 3)]
            after = sum(line < begins for line in prologue)
            assert (first, tile) == ("KV"[after % 2], after // 2)
