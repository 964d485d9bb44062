"""Where the site's own files lie: in this package, never beside the book's sources."""

from __future__ import annotations

from pathlib import Path

EXTENSION = Path(__file__).resolve().parent
ASSETS = EXTENSION / "assets"
VENDOR = EXTENSION.parent / "vendor"
