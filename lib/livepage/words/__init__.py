"""The kit's own words, one file a language: `en.yml`, `es.yml`.

Each has the same sections: `site`, `figures`, `drills`, `puzzle` and `gpu`. Which
languages there are is said by the files alone; English comes first, and stands in for
what a book has not translated.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from livepage import yml

HERE = Path(__file__).parent
ENGLISH = "en"
LANGUAGES = (ENGLISH, *sorted({f.stem for f in HERE.glob("*.yml")} - {ENGLISH}))


@cache
def section(name: str) -> Mapping[str, Mapping[str, str]]:
    """Return one section's words: language → key → text."""
    return {language: _file(language)[name] for language in LANGUAGES}


def table(name: str, language: str) -> Mapping[str, str]:
    """Return one section's words in one language."""
    if language not in LANGUAGES:
        known = ", ".join(LANGUAGES)
        raise ValueError(f"language: got {language!r}, expected one of {known}")
    return section(name)[language]


@cache
def _file(language: str) -> Mapping[str, Mapping[str, str]]:
    return yml.read(HERE / f"{language}.yml")
