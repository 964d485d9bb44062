"""The book whose pages the kit builds. The book registers itself, once.

The kit holds no content and looks for none. A book calls `open` with its folder; code
that needs a figure, a drill or a measurement calls `current`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Book:
    """The folders of a book's content and of the code behind it, and its version."""

    folder: Path
    version: str
    made_with: tuple[Path, ...] = ()

    @property
    def figures(self) -> Path:
        """One folder for each figure."""
        return self.folder / "figures"

    @property
    def stills(self) -> Path:
        """The stills of all figures as JSON, for installations that have no V8."""
        return self.figures / "stills.json"

    @property
    def drills(self) -> Path:
        """One YAML file of drills for each chapter."""
        return self.folder / "drills"

    @property
    def data(self) -> Path:
        """Stored data, such as one JSON file for each measurement."""
        return self.folder / "data"


_opened: list[Book] = []


def open(folder: Path, *, version: str, made_with: tuple[Path, ...] = ()) -> Book:
    """Register a book: from now on, figures, drills and measurements are read from it.

    Parameters
    ----------
    folder : Path
        The folder of `figures/`, `drills/` and `data/`; each may be missing.
    version : str
        The version shown at the foot of each page.
    made_with : tuple of Path
        Folders of code that the figures and drills use. A change in one of these folders
        rebuilds all pages.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise ValueError(f"folder: expected a book's folder, got {str(folder)!r}")
    _opened[:] = [Book(folder, version, made_with)]
    return _opened[0]


def opened() -> tuple[Book, ...]:
    """Return the book that was registered last, if any was."""
    return tuple(_opened)


def current() -> Book:
    """Return the book that was registered last."""
    if not _opened:
        raise RuntimeError(
            "no book is open: import the book's own module first, or call"
            " livepage.book.open(folder, version=…)"
        )
    return _opened[0]
