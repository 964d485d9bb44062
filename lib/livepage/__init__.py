"""What makes the pages of a book live: figures, drills, and the site they stand on.

A book is a folder of content. A module of the book registers that folder once:

    from livepage import book
    book.open(Path(__file__).parent, version="1.0")

`figures/` holds the host that every figure shares, `drills/` the bank and the graders,
`cells/` the code cells that run on the page, `site/` the Sphinx extension with its theme,
`words/` the kit's own messages in every language. `measurements.py` shows stored
measurements, `prose.py` hands a cell's numbers to the text, `road.py` orders the
chapters, `quantities.py` reads what the book's letters stand for, and `markup.py` renders
the small markup language of prompts and front matter.
Nothing here knows what the book is about.
"""

from importlib import import_module

__version__ = "0.1.0"

# The names that chapters import, and the module that defines each.
HOME = {
    "check": "drills",
    "drill": "drills",
    "figure": "figures",
    "glue": "prose",
    "measured": "measurements",
    "plot": "figures",
    "sweep": "figures",
    "with_your_kernel": "drills",
}
__all__ = sorted(HOME)


def __getattr__(name: str) -> object:
    """Import a name's module on first use: matplotlib and widgets are slow to import."""
    if name not in HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{HOME[name]}"), name)
