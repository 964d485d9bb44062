"""How long a page takes: its reading and its drills, apart, by a rule that is stated.

Nobody can know how long a reader takes. The rule counts what is on the page, so that a
chapter full of code is not called short because it has few words.
"""

from __future__ import annotations

from typing import NamedTuple

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from livepage.sittings import Stretch

from . import stretches


class Times(NamedTuple):
    """Minutes to read a page, how many drills it has, and minutes to do them."""

    reading: int
    drills: int
    doing: int

    def said(self, words: dict[str, str]) -> list[str]:
        """Both times in words; that of the drills only where there are any."""
        said = [words["reading"].format(n=self.reading)]
        if self.drills:
            key = "doing_one" if self.drills == 1 else "doing"
            said.append(words[key].format(drills=self.drills, n=self.doing))
        return said


def rounded(minutes: float) -> int:
    """Whole minutes up to ten, then fives: more would be pretended."""
    step = 1 if minutes <= 10 else 5
    return max(1, step * round(minutes / step))


def rule(words: dict[str, str]) -> str:
    """The rule in a sentence."""
    from livepage.drills.kinds import KINDS

    numbers = {
        "words": stretches.WORDS,
        "lines": stretches.LINES,
        "figure": stretches.FIGURE,
    }
    minutes = {name: kind.minutes for name, kind in KINDS.items()}
    return words["times_rule"].format(**numbers, **minutes)


def remember(app: Sphinx, doctree: nodes.document) -> None:
    """Keep what there is to read and to do on a page, when it is read."""
    about = app.env.metadata[app.env.docname]
    about["stretches"] = stretches.stretches(doctree)


def stretches_of(env: BuildEnvironment, page: str) -> list[Stretch]:
    """The stretches of a page, as it was last read."""
    return env.metadata.get(page, {}).get("stretches", [])


def of(env: BuildEnvironment, page: str) -> Times:
    """The times of a page."""
    found = stretches_of(env, page)
    reading, doing = sum(one.reading for one in found), sum(one.doing for one in found)
    drills = sum(len(one.drills) for one in found)
    return Times(rounded(reading), drills, rounded(doing))


def setup(app: Sphinx) -> None:
    """Look at every page as it is read."""
    app.connect("doctree-read", remember)
