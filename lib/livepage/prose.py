"""Hands values that a cell computed to the prose, so that nobody types them by hand.

The prose shows a value by MyST-NB's role, `{glue:text}`. MyST-NB's own `glue` is not used
because its import loads all of Sphinx, which would cost each chapter three seconds.
"""

from __future__ import annotations

import numpy as np
from IPython.display import display

HIDDEN = "application/papermill.record/"  # outputs of this type are stored, not shown


def glue(name: str, value: object) -> None:
    """Hand a number or a few words to the prose, under a name.

    Parameters
    ----------
    name : str
        The name that `{glue:text}` uses, unique within a chapter.
    value : number or str
        The value. A NumPy scalar becomes a Python number, which `{glue:text}` can format.
    """
    plain = value.item() if isinstance(value, np.generic) else value
    if not isinstance(name, str):
        raise TypeError(f"name: expected a text, got {name!r:.60}")
    if not isinstance(plain, int | float | str):
        expected = "expected a number or a text"
        raise TypeError(f"value: {expected}, got {type(value).__name__} for {name!r}")
    note = {"scrapbook": {"name": name, "mime_prefix": HIDDEN}}
    display({f"{HIDDEN}text/plain": repr(plain)}, raw=True, metadata=note)
