"""The parts of the book's chapters: ten to twenty minutes, as the pages promise them."""

import pickle

import pytest

from livepage.site import times
from livepage.sittings import LONGEST, SHORTEST, Sitting
from tools.site.sittings import ENVIRONMENT, chapters

# Parts that cannot be divided, and why.
OUTSIDE = {
    ("09-the-tiled-attention-kernel", "Yours"): "the kernel itself takes 21 minutes",
}


@pytest.fixture(scope="module")
def parts(html) -> dict[str, list[Sitting]]:
    if not ENVIRONMENT.exists():
        pytest.skip(f"the site in {html} was built elsewhere")
    return chapters()


def test_every_part_takes_ten_to_twenty_minutes(parts):
    promised = {
        (page, one.title): times.rounded(one.minutes)
        for page, found in parts.items()
        for one in found
    }
    outside = {
        part for part, took in promised.items() if not SHORTEST <= took <= LONGEST
    }
    assert outside == set(OUTSIDE)


def test_the_parts_add_up_to_what_their_page_promises(parts):
    env = pickle.loads(ENVIRONMENT.read_bytes())
    for page, found in parts.items():
        stretches = [one for sitting in found for one in sitting.stretches]
        reading = times.rounded(sum(one.reading for one in stretches))
        doing = times.rounded(sum(one.doing for one in stretches))
        drills = sum(len(sitting.drills) for sitting in found)
        assert times.of(env, page) == (reading, drills, doing), page


def test_the_drills_of_a_page_are_those_of_its_parts(parts):
    env = pickle.loads(ENVIRONMENT.read_bytes())
    for page, found in parts.items():
        listed = [id for sitting in found for id in sitting.drills]
        assert listed == env.metadata[page]["drills"], page
