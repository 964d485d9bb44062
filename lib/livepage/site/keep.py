"""What took long to draw is kept from build to build: formulas, figures, drills.

Such a text depends on what it is asked for and on what all pages are made with. So it
is kept under its question, and when the fingerprint changes everything goes.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config

_kept: dict[str, Any] = {}


def kept(make: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function of texts be asked once for the same; it returns JSON."""

    def key(*question: Any) -> str:
        asked = hashlib.sha256(json.dumps(question).encode()).hexdigest()
        return f"{make.__name__} {asked}"

    @wraps(make)
    def ask(*question: Any) -> Any:
        if (asked := key(*question)) not in _kept:
            _kept[asked] = make(*question)
        return _kept[asked]

    ask.cache_clear = _kept.clear  # type: ignore[attr-defined]
    ask.has = lambda *question: key(*question) in _kept  # type: ignore[attr-defined]
    return ask


def all_kept() -> dict[str, Any]:
    """Return all answers that are kept, for another process to take."""
    return dict(_kept)


def take(answers: dict[str, Any]) -> None:
    """Take the answers that another process kept."""
    _kept.update(answers)


def load(app: Sphinx, config: Config) -> None:
    """Begin with what the last build kept, if pages are made as they were then."""
    _kept.clear()
    if _file(app).exists():
        last = json.loads(_file(app).read_text(encoding="utf-8"))
        if last["fingerprint"] == config.book_fingerprint:
            _kept.update(last["kept"])


def save(app: Sphinx, error: Exception | None) -> None:
    """Keep it for the next build; at once, for this one may be stopped."""
    text = json.dumps({"fingerprint": app.config.book_fingerprint, "kept": _kept})
    new = _file(app).with_suffix(".new")
    new.write_text(text, encoding="utf-8")
    os.replace(new, _file(app))


def _file(app: Sphinx) -> Path:
    return Path(app.doctreedir).parent / ".kept.json"


def setup(app: Sphinx) -> None:
    """Load once the fingerprint is known, which `fingerprint` sees to."""
    app.connect("config-inited", load, priority=900)
    app.connect("build-finished", save)
