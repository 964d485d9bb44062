"""Figures in a notebook: anywidgets whose traits are the figure's controls."""

import html
import json
from functools import cache
from typing import Any
from weakref import WeakSet

import anywidget
import traitlets

from livepage import book
from livepage.words import ENGLISH, table

from . import registry
from .build import still, stylesheet, tokens
from .pack import widget_module
from .v8 import finite, numbers, to_json

# Synchronised with the browser; an infinity travels as a word.
SYNC = {
    "sync": True,
    "to_json": lambda value, _: finite(value),
    "from_json": lambda value, _: numbers(value),
}


made: WeakSet["Figure"] = WeakSet()  # every figure of this kernel


def tell(source: str, log: dict[str, Any]) -> None:
    """Let every figure that draws a kernel's log draw this one.

    Parameters
    ----------
    source : str
        The text of the kernel, its lines as the log counts them.
    log : dict
        As the block simulator keeps it.
    """
    for figure in made:
        if "log" in registry.spec(figure.figure_id).defaults():
            figure.send({"source": source, "log": log})


class Figure(anywidget.AnyWidget):
    """A figure with a trait for each of its controls.

    Read, set, observe or link them. `state` holds them all as a dict and may be set
    too. On the published page there is no kernel: the host wakes the same figure instead.
    """

    name = traitlets.Unicode().tag(sync=True)
    asks = traitlets.Bool(True).tag(sync=True)
    state = traitlets.Dict().tag(**SYNC)
    # What the figure shows instead of what it was asked for: {"asked", "shown"}.
    _fit = traitlets.Dict().tag(**SYNC)
    figure_id = ""

    def __init__(self, name: str | None = None, **changes: Any) -> None:
        super().__init__(name=name or self.figure_id, **changes)
        self.state = self._controls()
        self.observe(self._follow_control, list(self.state))
        self.observe(self._follow_state, "state")
        self.observe(self._follow_fit, "_fit")
        made.add(self)

    def __repr__(self) -> str:
        """What stands in a notebook that is opened without its kernel."""
        title = registry.strings(self.figure_id)["en"]["title"]
        return f'Figure "{title}" ({self.figure_id}): run this cell to see it.'

    def _controls(self) -> dict:
        defaults = registry.spec(self.figure_id).defaults()
        return {name: getattr(self, name) for name in defaults}

    def _follow_control(self, change: dict) -> None:
        # All controls are read: others may have changed at once, their call comes later.
        self.state = self._controls()

    def _follow_state(self, change: dict) -> None:
        with self.hold_trait_notifications():
            for name, value in change["new"].items():
                setattr(self, name, value)

    def _follow_fit(self, change: dict) -> None:
        """Take what the figure shows, unless other things were asked for since."""
        fit, now = change["new"], self._controls()
        if fit and fit["asked"] == now:
            self.state = now | fit["shown"]

    @traitlets.validate("state")
    def _check_state(self, proposal: dict) -> dict:
        spec = registry.spec(self.figure_id)
        spec.check(self.figure_id, proposal["value"])
        return self.state | proposal["value"] if self.state else proposal["value"]

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict, dict]:
        data, metadata = super()._repr_mimebundle_(**kwargs)
        return data | {"text/html": self._host()}, metadata

    def _host(self) -> str:
        """The host that the site fills and the page wakes: empty while a book is built.

        Where the book is installed, it holds the figure's still: a notebook that is
        open while it installs the packages of widgets has nothing else to show.
        """
        defaults = registry.spec(self.figure_id).defaults()
        changed = {
            name: now for name, now in self.state.items() if now != defaults[name]
        }
        state = html.escape(to_json(changed))
        asks = "" if self.asks else ' data-asks="no"'
        still = _still(self.figure_id)
        style = f"<style>{_style()}</style>" if still else ""
        failed = " os-failed" if still else ""
        return (
            f'{style}<figure class="os-figure{failed}" id="{html.escape(self.name)}"'
            f' data-figure="{self.figure_id}" data-state="{state}"{asks}>{still}</figure>'
        )


def figure(
    id: str, *, name: str | None = None, asks: bool = True, **state: Any
) -> Figure:
    """Return an interactive figure.

    Parameters
    ----------
    id : str
        A folder of this package, such as "block-stepper".
    name : str, optional
        The figure's name on its page and in its address; the id if left out. Two
        figures on one page need two names.
    asks : bool
        Whether the reader predicts first; a figure that comes again need not ask again.
    **state
        What to change from the figure's defaults. Unknown or impossible values raise.

    Examples
    --------
    >>> stepper = figure("block-stepper", block=2)
    >>> stepper.block
    2
    """
    registry.spec(id).check(id, state)
    if not asks:  # there is no answer to wait for
        state = registry.spec(id).evidence() | state
    return _class_of(id)(name=name, asks=asks, **state)


@cache
def _class_of(id: str) -> type[Figure]:
    """The widget class of one figure, its traits made from the controls."""
    controls = registry.spec(id).controls
    for control in controls:
        # Nobody asks a figure for a widget's logger, and a kernel's log is a good name.
        if control.name != "log" and hasattr(Figure, control.name):
            raise ValueError(
                f"figure {id!r}, control {control.name!r}: every widget has something"
                " of that name, which the control would hide"
            )
    traits = {c.name: c.trait().tag(**SYNC) for c in controls}
    members = {"figure_id": id, "_esm": widget_module(id), "_css": _style()}
    title = "".join(part.capitalize() for part in id.split("-"))
    return type(f"{title}Figure", (Figure,), traits | members)


def stills() -> str:
    """Return the text of `Book.stills`: each figure as it looks before it moves.

    It is drawn by V8, which those who read in a notebook do not have.
    """
    return to_json({name: still(name) for name in registry.ids()})


def _still(figure: str) -> str:
    """A figure's still and how to make it move; empty where none is packed."""
    packed = book.current().stills
    if not packed.exists():
        return ""
    drawn = json.loads(packed.read_text("utf-8"))[figure]
    advice = table("figures", ENGLISH)["still"]
    return f'{drawn}<p class="os-still">{advice}</p>'


@cache
def _style() -> str:
    """Tokens and figures, with JupyterLab's own light or dark theme obeyed."""
    lab = "".join(
        f'body[data-jp-theme-light="{light}"] .os-figure {{ color-scheme: {theme}; }}\n'
        for light, theme in (("true", "light"), ("false", "dark"))
    )
    return tokens() + stylesheet() + lab
