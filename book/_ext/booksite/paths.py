"""Where the site's own files lie: beside the extension, never beside the sources.

The book is rendered from a staging folder, so nothing here may depend on Sphinx's
source directory.
"""

from __future__ import annotations

from pathlib import Path

EXTENSION = Path(__file__).resolve().parent
BOOK = EXTENSION.parents[1]
ASSETS = BOOK / "_assets"
VENDOR = BOOK / "_vendor"
