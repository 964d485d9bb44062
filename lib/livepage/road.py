"""The road through a book: its chapters, written or planned, with their numbers.

The table of contents orders the written chapters. Its `meta` lists the planned chapters,
each with its future number, so that chapters can be written in any order. A chapter's
title is its heading; its line on the map comes from its front matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple


class Part(NamedTuple):
    """A part of a book, which may have no caption, and the names of its pages."""

    caption: str | None
    pages: list[str]


class Stop(NamedTuple):
    """A chapter on the road; a planned chapter has no file yet."""

    number: int
    part: str
    title: str
    line: str
    file: str = ""


def stops(
    parts: Iterable[Part],
    planned_rows: Iterable[Mapping[str, Any]],
    about: Callable[[str], tuple[str, str]],
) -> list[Stop]:
    """Return the chapters of a book in order.

    Parameters
    ----------
    parts : iterable of Part
        The table of contents.
    planned_rows : iterable of mappings
        The planned chapters, as the fields of a `Stop`.
    about : callable
        Returns a page's title and its line on the map. A page without a line is not a
        chapter.

    Raises
    ------
    ValueError
        If the numbers of the planned chapters leave a gap or occur twice.
    """
    planned = [Stop(**row) for row in planned_rows]
    pages = [(part.caption or "", name) for part in parts for name in part.pages]
    written = [(part, *about(name), name) for part, name in pages if about(name)[1]]
    numbers = range(1, len(planned) + len(written) + 1)
    taken = {stop.number: stop for stop in planned}
    if len(taken) < len(planned) or not set(taken) <= set(numbers):
        raise ValueError(
            f"planned: {len(planned)} planned and {len(written)} written chapters need "
            f"different numbers up to {len(numbers)}, got {[s.number for s in planned]}"
        )
    rest = iter(written)
    return [taken[n] if n in taken else Stop(n, *next(rest)) for n in numbers]
