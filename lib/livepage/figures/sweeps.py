"""One function, seen at several values: live in a notebook, precomputed on the page."""

import contextlib
import html
import io
from collections.abc import Callable, Sequence
from typing import Any

import ipywidgets


class Sweep:
    """A slider over values and, below it, what a function gives for the chosen one.

    In a notebook the slider re-runs the function in the kernel: `slider` is an ordinary
    ipywidgets slider. On the page the same slider chooses among results that were
    computed when the chapter ran.
    """

    def __init__(
        self, function: Callable, name: str, values: Sequence, label: str
    ) -> None:
        self.function, self.name, self.label = function, name, label
        self.values = list(values)
        self.slider = ipywidgets.SelectionSlider(options=self.values, description=label)
        self.slider.style.description_width = "initial"
        self.screen = ipywidgets.HTML()
        self.box = ipywidgets.VBox([self.slider, self.screen])
        self.slider.observe(self._run, "value")

    def _run(self, _: object = None) -> None:
        self.screen.value = shown(self.function, self.slider.value)

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict, dict]:
        self._run()
        data, metadata = self.box._repr_mimebundle_(**kwargs), {}
        return data | {"text/html": self._repr_html_()}, metadata

    def _repr_html_(self) -> str:
        """Every result, one below the other; the page's slider shows one at a time."""
        cases = "".join(
            f'<div class="os-case" data-value="{html.escape(str(value))}">'
            f'<p class="os-case-name">{html.escape(f"{self.label} {value}")}</p>'
            f"{shown(self.function, value)}</div>"
            for value in self.values
        )
        return (
            f'<div class="os-sweep" data-name="{html.escape(self.name)}"'
            f' data-label="{html.escape(self.label)}">'
            f'<div class="os-sweep-bar"></div>{cases}</div>'
        )


def sweep(
    function: Callable, *, values: Sequence, name: str = "value", label: str = ""
) -> Sweep:
    """Return a slider that runs `function(value)` for one of a few values.

    Parameters
    ----------
    function : callable
        Takes one value. What it prints and what it returns is shown; of what it
        returns, the HTML if it has any (a `plot`, say), else its text.
    values : sequence
        The slider's positions.
    name : str
        What the value is, in code.
    label : str, optional
        What the value is, in words; the name if left out.
    """
    if len(values) == 0:
        raise ValueError("values is empty, expected at least one position")
    return Sweep(function, name, values, label or name)


def shown(function: Callable, value: object) -> str:
    """What a call prints and gives, as HTML."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        result = function(value)
    text, drawn = printed.getvalue(), ""
    if hasattr(result, "_repr_html_"):
        drawn = result._repr_html_()
    elif result is not None:
        text += str(result)
    return (f"<pre>{html.escape(text)}</pre>" if text else "") + drawn
