"""What a cell hands to the text around it: a number that no one has to type.

The text shows it by MyST-NB's role, `{glue:text}`. MyST-NB's own `glue` is not used: to
import it takes a chapter three seconds, for it loads all of Sphinx.
"""

from __future__ import annotations

import numpy as np
from IPython.display import display

HIDDEN = "application/papermill.record/"  # an output that is stored, not shown


def glue(name: str, value: object) -> None:
    """Hand a number or a few words to the text, under a name.

    Parameters
    ----------
    name : str
        What `{glue:text}` calls it; a chapter has it once.
    value : number or str
        A scalar of NumPy is handed over as a number of Python, which the text formats.
    """
    plain = value.item() if isinstance(value, np.generic) else value
    if not isinstance(name, str):
        raise TypeError(f"name: expected a text, got {name!r:.60}")
    if not isinstance(plain, int | float | str):
        expected = "expected a number or a text"
        raise TypeError(f"value: {expected}, got {type(value).__name__} for {name!r}")
    note = {"scrapbook": {"name": name, "mime_prefix": HIDDEN}}
    display({f"{HIDDEN}text/plain": repr(plain)}, raw=True, metadata=note)
