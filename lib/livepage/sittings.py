"""Sittings: the parts of a chapter, each of ten to twenty minutes and ending in a drill.

A page arrives as stretches: its sections in their order, and in a section that holds
little but drills, each drill. A sitting is a run of stretches. Nothing is filled in by
hand: whoever moves a drill or adds a section moves the ends of the sittings as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

SHORTEST, LONGEST = 10, 20  # minutes


class Stretch(NamedTuple):
    """A piece of a page that no sitting divides."""

    anchor: str
    title: str
    section: str  # the section that ends with it; empty if none does
    reading: float  # minutes
    doing: float  # minutes, of its drills
    drills: tuple[str, ...]
    stops: bool  # whether a drill closes it, so that a sitting may end here
    optional: bool = False


class Sitting(NamedTuple):
    """A part of a chapter: something to read, and a drill at its end."""

    stretches: tuple[Stretch, ...]

    @property
    def anchor(self) -> str:
        """Where it begins."""
        return self.stretches[0].anchor

    @property
    def title(self) -> str:
        """The heading of its first section."""
        return self.stretches[0].title

    @property
    def minutes(self) -> float:
        """Minutes to read it and to do its drills."""
        return sum(each.reading + each.doing for each in self.stretches)

    @property
    def optional(self) -> bool:
        """Whether a reader may leave out all of it."""
        return all(each.optional for each in self.stretches)

    @property
    def drills(self) -> tuple[str, ...]:
        """The ids of its drills."""
        return tuple(drill for each in self.stretches for drill in each.drills)

    @property
    def sections(self) -> tuple[str, ...]:
        """The anchors of the sections that end in it."""
        return tuple(each.section for each in self.stretches if each.section)


def sittings(stretches: Sequence[Stretch]) -> list[Sitting]:
    """Divide a page; a page without a drill has no sittings.

    Of all divisions this is the one with the fewest minutes outside ten to twenty, and
    of several such the most even one. What follows the last drill belongs to the last
    sitting.
    """
    ends = [place for place, one in enumerate(stretches, 1) if one.stops]
    if not ends:
        return []
    ends[-1] = len(stretches)
    total = [0.0, *accumulate(one.reading + one.doing for one in stretches)]
    best: dict[int, tuple[tuple[float, float], list[Sitting]]] = {0: ((0, 0), [])}
    for end in ends:
        best[end] = min(
            (_cost(cost, total[end] - total[start]), [*before, one])
            for start, (cost, before) in best.items()
            for one in [Sitting(tuple(stretches[start:end]))]
        )
    return best[ends[-1]][1]


def excess(minutes: float) -> float:
    """How many minutes a sitting is too long, or too short, by; 0 for most."""
    return max(SHORTEST - minutes, minutes - LONGEST, 0)


def _cost(before: tuple[float, float], minutes: float) -> tuple[float, float]:
    """The minutes outside the rule so far, and how uneven the sittings are."""
    outside, uneven = before
    middle = (SHORTEST + LONGEST) / 2
    return round(outside + excess(minutes), 6), uneven + (minutes - middle) ** 2
