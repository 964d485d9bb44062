"""The kinds of controls: every folder here is one, and nothing else lists them.

control.py   A subclass of `Control`: what an author may give, how it is checked, the
             trait that holds it in a notebook.
control.mjs  What the host needs of it:
               html(control, words, ui)    its input, before any script runs
               below                       whether that stands under the picture
               wake(element, control, live)  gives a function that shows the state in it
               fit(control, value)         the value within its bounds; undefined if it
                                           cannot be one
               read(control, text)         the value in an address; without it the
                                           address leaves the control out
               last(numbers)               how far a count of steps may go
               answers                     whether it is set when the question is answered
               stills(control)             the changes that give the pictures to show
                                           side by side where nothing may move
             All but `fit` are optional: without `html` the reader has no input.
"""

from functools import cache
from importlib import import_module
from pathlib import Path

from ..control import Control

HERE = Path(__file__).parent


@cache
def names() -> tuple[str, ...]:
    """Every kind, in alphabetical order."""
    return tuple(sorted(path.parent.name for path in HERE.glob("*/control.py")))


def scripts() -> dict[str, Path]:
    """The module that the host uses for each kind."""
    return {name: HERE / name / "control.mjs" for name in names()}


@cache
def classes() -> dict[str, type[Control]]:
    """Every class of controls, by its own name."""
    found: dict[str, type[Control]] = {}
    for kind in names():
        module = import_module(f"{__name__}.{kind}.control")
        for name, value in vars(module).items():
            if isinstance(value, type) and value.__module__ == module.__name__:
                found[name] = value
    return found
