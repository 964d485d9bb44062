"""Figures in a live notebook: traits that a cell reads, sets, observes and links."""

import json
import math
from types import SimpleNamespace

import ipywidgets
import pytest
import traitlets

from livepage.figures import figure, registry
from livepage.figures import widget as widgets

ids = pytest.mark.parametrize("id", registry.ids())


@ids
def test_every_control_is_a_trait_that_the_browser_shares(id: str) -> None:
    widget = figure(id)
    for name, default in registry.spec(id).defaults().items():
        assert widget.has_trait(name) and widget.trait_metadata(name, "sync")
        assert getattr(widget, name) == default
    assert widget.state == registry.spec(id).defaults()


@pytest.mark.parametrize("name", ["keys", "state", "observe"])
def test_a_control_that_would_hide_a_part_of_the_widget_is_refused(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = SimpleNamespace(controls=(SimpleNamespace(name=name),))
    monkeypatch.setattr(registry, "spec", lambda id: spec)
    with pytest.raises(ValueError, match=f"'made-up', control '{name}'"):
        widgets._class_of("made-up")


def test_a_log_is_told_to_the_figures_that_draw_one(monkeypatch) -> None:
    told = []
    monkeypatch.setattr(widgets.Figure, "send", lambda self, _: told.append(self.name))
    shown = [figure(id, name=f"told-{id}") for id in ("kernel-race", "banks")]
    widgets.tell("", {})
    assert [each.name for each in shown if each.name in told] == ["told-kernel-race"]


def test_a_cell_sets_and_observes_a_control() -> None:
    widget, heard = figure("block-stepper"), []
    widget.observe(lambda change: heard.append(change["new"]), "block")
    widget.block = 2
    widget.step = 3
    assert heard == [2]
    assert (widget.state["block"], widget.state["step"]) == (2, 3)


def test_a_cell_sets_many_controls_at_once() -> None:
    widget = figure("block-stepper")
    widget.state = {"block": 8, "forget": True}
    assert (widget.block, widget.forget, widget.step) == (8, True, 0)
    assert widget.state["scores"] == registry.spec("block-stepper").defaults()["scores"]


def test_what_the_browser_sets_arrives() -> None:
    """The message that a moved slider sends to the kernel."""
    widget = figure("block-stepper")
    widget.set_state({"block": 16, "state": widget.state | {"block": 16}})
    assert widget.block == 16 and widget.state["block"] == 16


def test_several_traits_that_the_browser_sets_at_once_arrive() -> None:
    """None of them is set back, even for a moment, to what the state held before."""
    widget, heard = figure("block-stepper"), []
    changes = {"block": 2, "forget": True, "step": 3}
    widget.observe(lambda change: heard.append(change["new"]), "step")
    widget.set_state(changes)
    assert heard == [3]
    assert widget.state == registry.spec("block-stepper").defaults() | changes


def test_what_the_figure_had_to_fit_is_taken() -> None:
    widget = figure("block-stepper", scores=[-math.inf, 1.0, 2.0])
    widget.step = 7
    asked = json.loads(json.dumps(widget.get_state()["state"]))
    widget.set_state({"_fit": {"asked": asked, "shown": {"step": 1}}})
    assert widget.step == widget.state["step"] == 1


def test_what_the_figure_fitted_of_an_older_wish_is_not_taken() -> None:
    widget = figure("block-stepper", step=7)
    fit = {"asked": dict(widget.state), "shown": {"step": 4}}
    widget.block = 2
    widget.set_state({"_fit": fit})
    assert (widget.step, widget.block) == (7, 2)


def test_a_slider_can_be_linked() -> None:
    widget, slider = figure("block-stepper"), ipywidgets.IntSlider(4, min=1, max=16)
    ipywidgets.link((slider, "value"), (widget, "block"))
    slider.value = 5
    assert widget.block == 5
    widget.block = 8
    assert slider.value == 8
    browser_side = ipywidgets.jslink((slider, "value"), (widget, "block"))
    assert browser_side.target == (widget, "block")


@pytest.mark.parametrize(
    ("name", "value"),
    [("block", 0), ("block", 2.5), ("step", -1), ("forget", "yes"), ("scores", [None])],
)
def test_an_impossible_value_is_refused(name: str, value: object) -> None:
    widget = figure("block-stepper")
    before = dict(widget.state)
    with pytest.raises(traitlets.TraitError):
        setattr(widget, name, value)
    assert widget.state == before


def test_an_impossible_state_is_refused() -> None:
    widget = figure("two-chunks")
    with pytest.raises(ValueError, match="top is 99, expected a number from -2 to 8"):
        widget.state = {"top": 99}
    with pytest.raises(ValueError, match="has no 'bottom'"):
        widget.state = {"bottom": 1}


def test_a_score_of_minus_infinity_travels() -> None:
    widget = figure("block-stepper", scores=[-math.inf, 1.0])
    sent = widget.get_state()
    assert json.loads(json.dumps(sent["scores"], allow_nan=False)) == ["-Infinity", 1.0]
    widget.set_state({"scores": [0.0, "-Infinity"]})  # and back
    assert widget.scores == widget.state["scores"] == [0.0, -math.inf]


def test_a_figure_that_comes_again_need_not_ask() -> None:
    hosts = (
        figure("two-chunks", asks=asks)._repr_mimebundle_()[0]["text/html"]
        for asks in (True, False)
    )
    assert ['data-asks="no"' in host for host in hosts] == [False, True]


def test_the_published_page_gets_an_empty_host() -> None:
    html = figure("two-chunks", name="again", top=2)._repr_mimebundle_()[0]["text/html"]
    assert html == (
        '<figure class="os-figure" id="again" data-figure="two-chunks"'
        ' data-state="{&quot;top&quot;: 2.0}"></figure>'
    )


def test_the_host_shows_what_a_cell_has_set_since() -> None:
    widget = figure("two-chunks")
    widget.step = 2
    html = widget._repr_mimebundle_()[0]["text/html"]
    assert 'data-state="{&quot;step&quot;: 2}"' in html


@ids
def test_a_notebook_gets_a_widget_with_its_module_and_style(id: str) -> None:
    widget = figure(id)
    assert "application/vnd.jupyter.widget-view+json" in widget._repr_mimebundle_()[0]
    assert "export default" in widget._esm
    assert "--weight-new" in widget._css and ".os-figure" in widget._css


def test_without_a_kernel_the_output_says_what_to_do() -> None:
    plain = figure("two-chunks")._repr_mimebundle_()[0]["text/plain"]
    assert plain == ('Figure "A block arrives" (two-chunks): run this cell to see it.')
