"""The simulator as text, for a Python that has no files: MicroPython on a page."""

from pathlib import Path

HERE = Path(__file__).parent
# These need CPython: its own functions, Numba's simulator, and files.
CPYTHON_ONLY = {"cudasim", "functions", "portable"}


def sources() -> dict[str, str]:
    """Return the text of each module that also runs in MicroPython, by its path."""
    return {
        f"blocksim/{path.stem}": path.read_text(encoding="utf-8")
        for path in sorted(HERE.glob("*.py"))
        if path.stem not in CPYTHON_ONLY
    }
