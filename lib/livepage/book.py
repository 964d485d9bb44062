"""The book that is served: handed in once, by the book itself.

The kit holds no content and looks for none. A book calls `open` with its folder; what
needs a figure, a drill or a measurement asks `current`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Book:
    """Where a book's content and the code behind it lie, and which version this is."""

    folder: Path
    version: str
    made_with: tuple[Path, ...] = ()

    @property
    def figures(self) -> Path:
        """One folder for each figure."""
        return self.folder / "figures"

    @property
    def stills(self) -> Path:
        """Each figure's still as JSON: packed with the book, where no V8 draws one."""
        return self.figures / "stills.json"

    @property
    def drills(self) -> Path:
        """One YAML file of drills for each chapter."""
        return self.folder / "drills"

    @property
    def data(self) -> Path:
        """What was measured, one JSON file for each measurement."""
        return self.folder / "data"


_opened: list[Book] = []


def open(folder: Path, *, version: str, made_with: tuple[Path, ...] = ()) -> Book:
    """Hand a book in; from now on figures, drills and measurements are its own.

    Parameters
    ----------
    folder : Path
        Holds `figures/`, `drills/` and `data/`, as many of them as the book has.
    version : str
        What the foot of each page shows.
    made_with : tuple of Path
        Folders of code that its figures and drills ask: a change there makes all pages
        anew.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise ValueError(f"folder: expected a book's folder, got {str(folder)!r}")
    _opened[:] = [Book(folder, version, made_with)]
    return _opened[0]


def current() -> Book:
    """Return the book that was handed in last."""
    if not _opened:
        raise RuntimeError(
            "no book is open: import the book's own module first, or call"
            " livepage.book.open(folder, version=…)"
        )
    return _opened[0]
