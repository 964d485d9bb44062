"""Drills: one YAML file a chapter, answered on the page or in the notebook.

In a notebook ``drill("rescale-hard")`` shows a drill and ``check("rescale-hard", x)``
marks an answer. The build asks for the same drill as a piece of the page.
"""

from onlinesoftmax.drills.notebook import Verdict, check, drill
from onlinesoftmax.drills.page import (
    page_assets,
    page_html,
    page_script,
    progress_html,
    stylesheet,
)

__all__ = [
    "Verdict",
    "check",
    "drill",
    "page_assets",
    "page_html",
    "page_script",
    "progress_html",
    "stylesheet",
]
