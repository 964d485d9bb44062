"""What makes the pages of a book live: figures, drills, and the site they stand on.

A book is a folder of content. It hands itself in once, in a module of its own:

    from livepage import book
    book.open(Path(__file__).parent, version="1.0")

`figures/` holds the host that every figure shares, `drills/` the bank and what marks an
answer, `cells/` the code cells that run on the page, `site/` the Sphinx extension with
its theme, `words/` what the kit itself says in every language, `measurements.py` what was
measured and stored, `prose.py` how a cell hands a number to the text. `road.py` orders
the chapters, `quantities.py` reads what the book's letters stand for, `markup.py` the
little markup of prompts and front matter.
Nothing here knows what the book is about.
"""

from importlib import import_module

__version__ = "0.1.0"

# What a chapter uses, and the module it comes from.
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
    """Load what is asked for, when it is: matplotlib and widgets take their time."""
    if name not in HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{HOME[name]}"), name)
