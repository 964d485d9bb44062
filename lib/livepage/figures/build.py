"""What the site asks for while it is built. Whatever is wrong raises here."""

from collections.abc import Iterable
from pathlib import Path

from livepage import book
from livepage.quantities import quantities

from . import kinds, registry, v8
from .pack import host_script, loaded_script, page_script
from .registry import HERE

__all__ = [
    "host_script",
    "loaded_script",
    "page_script",
    "still",
    "stylesheet",
    "tokens",
]


def still(
    figure: str, state: dict | None = None, lang: str = "en", asks: bool = True
) -> str:
    """Return the inside of a figure's host: title, inputs, picture, sentence, table.

    Parameters
    ----------
    figure : str
    state : dict, optional
        What the chapter changed. The picture adds the figure's own `still` state to it,
        because the opening state of a stepper is usually empty.
    lang : str
    asks : bool
        Whether the reader predicts first, if the figure has something to ask.
    """
    spec = registry.spec(figure)
    spec.check(figure, state or {})
    return v8.run(figure, "still", spec.still | (state or {}), lang, asks)


def stylesheet(figures: Iterable[str] | None = None) -> str:
    """Return the style sheet of some figures, or of all; its colours are `tokens()`.

    What the book's figures share, and what a kind of control or a figure adds, stands
    between what all share: it may count on `figures.css`, and gives way to `around.css`.
    """
    folders = [
        *(kinds.HERE / kind for kind in kinds.names()),
        *(registry.folder(figure) for figure in figures or registry.ids()),
    ]
    own = [book.current().figures / "marks.css"]
    own += [folder / "style.css" for folder in folders]
    files = [HERE / "figures.css", *filter(Path.exists, own), HERE / "around.css"]
    texts = [file.read_text("utf-8") for file in files]
    return "".join(texts) + _coloured()


def _coloured() -> str:
    """Give each quantity its colour; one without has none of a quantity around it."""
    colours = {
        name: f"var(--{one.colour})" if one.colour else "initial"
        for name, one in quantities().items()
    }
    return "".join(
        f'[data-q="{name}"] {{ --quantity: {colour}; }}\n'
        for name, colour in colours.items()
    )


def tokens() -> str:
    """Return the book's colours and type as CSS custom properties."""
    return (HERE / "tokens.css").read_text("utf-8")
