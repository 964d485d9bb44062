"""Colours and their contrast, static plots, sweeps."""

import re
import subprocess
import sys

import matplotlib.pyplot as plt
import pytest

from livepage.figures import plot, plots, sweep, tokens

# ---- colours ----

TOKENS = {
    name: themes
    for name, *themes in re.findall(
        r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)", tokens()
    )
}
NAMES = (
    "paper panel ink soft line hair link focus score unseen max weight-new weight-old"
    " truth wrong band lit max-ink weight-ink truth-ink wrong-ink"
).split()


def luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels
    ]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear))


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_contrast_is_computed_as_wcag_says() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)


def test_every_token_has_two_themes() -> None:
    assert set(TOKENS) == set(NAMES)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("surface", ["paper", "panel", "band", "lit"])
@pytest.mark.parametrize(
    "words", ["ink", "soft", "link", *[name for name in NAMES if name.endswith("-ink")]]
)
def test_words_can_be_read(words: str, surface: str, theme: int) -> None:
    assert contrast(TOKENS[words][theme], TOKENS[surface][theme]) >= 4.5


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(
    "mark",
    "line focus score unseen max weight-new weight-old truth wrong".split(),
)
def test_marks_can_be_seen(mark: str, theme: int) -> None:
    assert contrast(TOKENS[mark][theme], TOKENS["panel"][theme]) >= 3


# ---- plots ----


def drawn(alt: str = "A line that rises.") -> str:
    fig, axes = plt.subplots()
    axes.plot([0, 1], [0, 1], label="sum")
    axes.plot([0, 1], [1, 0], color=plots.COLOURS["max"])
    axes.set_xlabel("block size")
    axes.legend()
    return plot(fig, alt=alt)._repr_html_()


@pytest.mark.parametrize("alt", ["", "  ", None])
def test_a_plot_without_words_is_refused(alt: str | None) -> None:
    with pytest.raises(ValueError, match="alt is"):
        plot(plt.figure(), alt=alt)
    with pytest.raises(TypeError, match="alt"):
        plot(plt.figure())
    plt.close("all")


def test_a_plot_says_what_it_shows() -> None:
    assert drawn('A "rise" < 2').count('aria-label="A &quot;rise&quot; &lt; 2"') == 2


def test_a_plot_takes_its_colours_from_the_page() -> None:
    html = drawn()
    for name in ("weight-new", "max", "soft", "line", "hair"):
        assert f"var(--{name}, " in html
    stand_ins = set(plots.COLOURS.values())
    left = set(re.findall(r"#[0-9a-fA-F]{6}\b(?![^(]*\))", html))
    assert not left & stand_ins and not left


def test_a_plot_keeps_to_the_content_security_policy() -> None:
    assert not re.search(r"<style|<script|xlink|https?:(?!//www\.w3\.org/)", drawn())


def test_a_plot_is_the_same_every_time() -> None:
    assert drawn() == drawn()


def test_two_plots_share_no_id() -> None:
    one, other = (
        set(re.findall(r'\bid="([^"]+)"', drawn(alt))) for alt in ("One", "Two")
    )
    assert one and other and not one & other
    html = drawn()
    used = set(re.findall(r'(?:url\(|href=")#([^")]+)', html))
    assert used == set(re.findall(r'\bid="([^"]+)"', html))


def test_a_plot_is_laid_out_for_a_phone_too() -> None:
    html = drawn()
    wide, narrow = re.findall(r'viewBox="0 0 ([\d.]+) ', html)
    assert float(narrow) < 0.6 * float(wide)
    smallest = min(float(size) for size in re.findall(r"font-size: ([\d.]+)px", html))
    assert set(re.findall(r"font-family: ([^;]+)", html)) == {FAMILY}
    assert (
        smallest * 330 / float(narrow) >= 12
    )  # a phone's column is 330 CSS px or more


FAMILY = "var(--sans, system-ui, sans-serif)"


def test_a_plot_is_closed_once_shown() -> None:
    before = plt.get_fignums()
    drawn()
    assert plt.get_fignums() == before


# ---- sweeps ----


def halves(block: int) -> str:
    print(f"block of {block}")
    return f"<half> {block / 2:g}"


def test_a_sweep_holds_every_result_for_the_page() -> None:
    html = sweep(
        halves, name="block", values=[1, 2, 4], label="block size"
    )._repr_html_()
    assert re.findall(r'class="os-case" data-value="(\d)"', html) == ["1", "2", "4"]
    assert "block of 4\n&lt;half&gt; 2" in html
    assert 'data-label="block size"' in html


def test_a_sweep_reruns_the_function_in_the_kernel() -> None:
    calls = []
    live = sweep(lambda value: calls.append(value) or value * 10, values=[1, 2, 4])
    live.slider.value = 4
    assert calls[-1] == 4
    assert live.screen.value == "<pre>40</pre>"


def test_a_sweep_shows_plots_and_is_a_widget() -> None:
    def picture(n: int) -> plots.Plot:
        fig, axes = plt.subplots()
        axes.plot(range(n))
        return plot(fig, alt=f"{n} points")

    bundle, _ = sweep(picture, values=[2, 3])._repr_mimebundle_()
    assert bundle["text/html"].count("<svg") == 4
    assert "application/vnd.jupyter.widget-view+json" in bundle


def test_a_sweep_over_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="values is empty"):
        sweep(halves, values=[])


# ---- imports ----


def test_drawing_a_still_needs_neither_matplotlib_nor_widgets() -> None:
    code = (
        "import sys, rescaling; from livepage import figures;"
        "figures.still('two-chunks'); figures.page_script('two-chunks');"
        "print([m for m in ('matplotlib', 'anywidget', 'IPython') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr
