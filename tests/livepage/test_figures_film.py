"""The film of the rescale: at any time its picture is true, and nothing in it jumps."""

import json
import re
from functools import cache

import numpy as np
import pytest

from figure_words import said
from livepage import figures
from livepage.figures import registry, v8
from livepage.figures.spec import Film
from livepage.words import LANGUAGES
from onlinesoftmax import State

FILM = "one-factor"
film = registry.module(FILM)
FRAMES = 120  # a second
FASTEST = 40  # units of the picture from one frame to the next: the giant's growth
READ = 20  # characters a second, as fast as captions are read

DRAW = """
function drawn(id, times, wide, words) {
  const figure = figures[id];
  const view = { wide, words: JSON.parse(words), title: "", was: null };
  return times.map((t) => figure.draw({ t }, figure.compute({ t }), view)).join("\\n");
}
"""


def pictures(times: list[float], wide: bool) -> list[str]:
    """The film's picture at each time, wide or narrow."""
    v8._load(FILM)
    v8._engine().eval(DRAW)
    words = json.dumps(registry.strings(FILM)["en"])
    return v8._engine().call("drawn", FILM, times, wide, words).split("\n")


@cache
def frames(wide: bool) -> list[str]:
    """The whole film; at 0 there is its poster."""
    times = np.arange(1, film.SECONDS * FRAMES + 1) / FRAMES
    return pictures(times.tolist(), wide)


RECT = re.compile(r'<rect [^>]*class="(?!slot|ghost)[^>]*>')
SIDES = ("x", "y", "width", "height")


def rects(picture: str, look: str = "") -> np.ndarray:
    """Where the bars stand, and how large they are; those with no height left out."""
    found = [rect for rect in RECT.findall(picture) if look in rect]
    sides = [
        [float(re.search(rf' {side}="([-\d.]+)"', rect)[1]) for side in SIDES]
        for rect in found
    ]
    boxes = np.array(sides).reshape(-1, 4)
    return boxes[boxes[:, 3] > FASTEST]


def heights(picture: str) -> tuple[float, float]:
    """Where the ground is, and how tall a bar that counts 1."""
    ground, line = (
        float(re.search(rf'<line class="{look}"[^>]* y1="([\d.]+)"', picture)[1])
        for look in ("axis", "max")
    )
    return ground, ground - line


# ---- true at any time ----


@pytest.mark.parametrize("wide", [True, False])
def test_the_tower_is_as_tall_as_the_sum(wide: bool) -> None:
    """A hair is left out of every part, as a seam."""
    times = np.arange(0.1, film.SECONDS, 0.1).tolist()
    for t, picture in zip(times, pictures(times, wide), strict=True):
        parts = re.findall(r'<rect [^>]*class="weight old"[^>]*>', picture)
        tops = [float(re.search(r' y="([\d.]+)"', part)[1]) for part in parts]
        ground, unit = heights(picture)
        tall = ground - min(tops, default=ground)
        assert tall == pytest.approx(unit * film.expected({"t": t})["l"], abs=1.02), t


def test_everything_shrinks_by_one_factor() -> None:
    """In a rescale, each part of the tower and the newcomer keep their proportions."""
    for i, beat in enumerate(film.BEATS):
        if not beat["shrink"]:
            continue
        start, middle, end = (
            film.expected({"t": float(t)})
            for t in np.linspace(*beat["shrink"], 3) + [-1e-9, 0, 1e-9]
        )
        assert start["worth"][i] > 1 and end["worth"][i] == pytest.approx(1)
        for now in (middle, end):
            shrunk = np.divide(now["worth"], start["worth"])
            assert np.allclose(shrunk, now["l"] / start["l"], rtol=1e-6)
        assert end["l"] / start["l"] == pytest.approx(start["alpha"])


def test_at_the_end_the_stream_has_the_sum_of_all_at_once() -> None:
    (last,) = pictures([film.SECONDS], True)
    sums = re.findall(r">(?:ℓ = )?(\d\.\d{3})</text>", last)
    assert sums == [f"{State.of(film.SCORES).l:.3f}"] * 2


# ---- nothing jumps ----


@pytest.mark.parametrize("wide", [True, False])
def test_from_frame_to_frame_nothing_jumps(wide: bool) -> None:
    """Each bar has one near it in the next frame, also where a new one takes over."""
    film_strip = [rects(picture) for picture in frames(wide)]
    for i, (before, after) in enumerate(zip(film_strip, film_strip[1:])):
        for some, others in ((before, after), (after, before)):
            if not len(some):
                continue
            assert len(others) or some[:, 3].max() < 2 * FASTEST, i / FRAMES
            if len(others):
                apart = np.abs(some[:, None] - others[None]).max(axis=2).min(axis=1)
                near = apart <= FASTEST
                assert (near | (some[:, 3] < 2 * FASTEST)).all(), i / FRAMES


@pytest.mark.parametrize("wide", [True, False])
def test_what_appears_and_goes_fades(wide: bool) -> None:
    """No word and no mark is there at once."""
    seen = [re.findall(r' opacity="([\d.]+)"', picture) for picture in frames(wide)]
    for i, (before, after) in enumerate(zip(seen, seen[1:])):
        if len(before) == len(after):
            changed = np.subtract(np.array(after, float), np.array(before, float))
            assert np.abs(changed).max() < 0.2, i / FRAMES


def test_one_beat_follows_the_other() -> None:
    """What is asked for one score is over before the next is called."""
    end = 0.0
    for beat in film.BEATS:
        spans = [beat["grow"], *filter(None, [beat["shrink"]]), beat["join"]]
        for start, stop in [[beat["call"], beat["call"]], *spans]:
            assert end <= start <= stop
            end = stop
    assert end <= film.ALL["call"] and film.ALL["equal"][1] <= film.SECONDS


# ---- the captions ----


@pytest.mark.parametrize("language", LANGUAGES)
def test_there_is_a_caption_at_any_time_and_time_to_read_it(language: str) -> None:
    captions = registry.strings(FILM)[language]["captions"]
    assert film.CAPTIONS[0] == 0 and len(captions) == len(film.CAPTIONS)
    ends = [*film.CAPTIONS[1:], film.SECONDS]
    for i, (start, end) in enumerate(zip(film.CAPTIONS, ends, strict=True)):
        text = said(FILM, {"t": start}, language)
        assert text == said(FILM, {"t": end - 0.01}, language)
        assert end - start >= len(text) / READ, text
        assert i == 0 or text != said(FILM, {"t": start - 0.01}, language)


# ---- the stills ----


STORY = [
    "Two scores have come. The larger, {m}, counts as 1, and {s} counts {w}. "
    "The sum ℓ is {l}.",
    "Now {s} comes. Measured from {m}, it counts {w}: too tall.",
    "So {s} becomes the largest, m. Everything old shrinks by one factor, "
    "α\u00a0=\u00a0{alpha}, and the sum with it: ℓ\u00a0=\u00a0{l}.",
    "After all six scores the sum is {truth}. All six counted at once give the same.",
]
# What each sentence of the story claims of the moment that it stands under.
CLAIMED = [
    lambda f: f["called"] == f["joined"] == 2 and f["worth"][0] == 1 > f["worth"][1],
    lambda f: f["called"] == 3 and f["worth"][2] > 1 and f["m"] == film.SCORES[0],
    lambda f: f["called"] == 3 > f["joined"] and f["m"] == max(film.SCORES[:3]),
    lambda f: f["joined"] == 6 and np.isclose(f["l"], f["truth"]),
]


def stills() -> list[tuple[str, str]]:
    """The pictures side by side, and what each is called."""
    html = figures.still(FILM)
    found = re.findall(r'<figure>(<svg [^>]*aria-label="([^"]*)".*?)</figure>', html)
    return [(picture, name) for picture, name in found]


def test_four_stills_tell_it_without_motion() -> None:
    told = []
    for t, sentence, claimed in zip(film.STILLS, STORY, CLAIMED, strict=True):
        facts = film.expected({"t": t})
        assert claimed(facts), sentence
        last = facts["called"] - 1
        shown = {"s": film.SCORES[last], "w": facts["worth"][last]} | facts
        digits = {"s": 1, "m": 1}
        numbers = {
            name: f"{shown[name]:.{digits.get(name, 2)}f}"
            for name in ("s", "m", "w", "l", "alpha", "truth")
        }
        told.append(sentence.format(**numbers))
    assert [name for _, name in stills()] == told


def test_nothing_is_empty_above_a_still() -> None:
    """What stands highest, a bar or a word, is near the upper edge."""
    for picture, name in stills():
        tops = [
            float(y) - (14 if tag == "text" else 0)
            for tag, y in re.findall(r'<(rect|text)[^>]* y="([\d.]+)"', picture)
        ]
        assert 0 <= min(tops) <= 24, name


def test_a_figure_without_a_film_has_no_stills() -> None:
    assert "os-stills" not in figures.still("two-chunks")


@pytest.mark.parametrize("t", [-1, 20.5, float("nan"), "3", True])
def test_a_time_outside_of_the_film_is_refused(t: object) -> None:
    assert Film("t", seconds=20).fault(t) == "a time from 0 to 20 seconds"
    with pytest.raises(ValueError, match="t is .*expected a time from 0 to 20 seconds"):
        figures.figure(FILM, t=t)
