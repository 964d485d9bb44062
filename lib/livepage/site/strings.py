"""The interface's words, one table a language."""

from __future__ import annotations

from functools import cache

import yaml

from .paths import EXTENSION


@cache
def table(language: str) -> dict[str, str]:
    """Words in one language.

    Raises
    ------
    ValueError
        If there is no table for the language.
    """
    tables = yaml.safe_load((EXTENSION / "strings.yml").read_text(encoding="utf-8"))
    if language not in tables:
        known = ", ".join(tables)
        raise ValueError(f"language: got {language!r}, expected one of {known}")
    return tables[language]
