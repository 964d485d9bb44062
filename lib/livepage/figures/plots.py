"""Static plots: matplotlib in one style, as inline SVG that follows the page's theme.

matplotlib cannot draw with CSS, so it draws with stand-ins: a hex colour for each
token, found and replaced by the token once the picture is text. Every plot is laid
out twice, for a page and for a phone, with the same size of letters.
"""

import hashlib
import html
import io
import re
from collections.abc import Iterator

import matplotlib as mpl
import matplotlib.pyplot as plt
from matplotlib.figure import Figure

# Token → (the colour matplotlib draws with, what to use where there is no token: a
# notebook's own text colour, or a hue that can be seen on light and dark).
TOKENS = {
    "ink": ("#010a01", "currentColor"),
    "soft": ("#010a02", "currentColor"),
    "line": ("#010a03", "currentColor"),
    "hair": ("#010a04", "#8888884d"),
    "paper": ("#010a05", "none"),
    "score": ("#010a06", "#7a869c"),
    "unseen": ("#010a07", "#8a93a3"),
    "max": ("#010a08", "#e0691a"),
    "weight-new": ("#010a09", "#3f74e0"),
    "weight-old": ("#010a0a", "#6b91e2"),
    "truth": ("#010a0b", "#2f9a5b"),
    "wrong": ("#010a0c", "#e0475a"),
}
COLOURS = {name: drawn for name, (drawn, _) in TOKENS.items()}

PAGE_INCHES = 7.2
PHONE_INCHES = 3.4
PHONE_HEIGHT = 0.85  # of the height on a page

STYLE = {
    "axes.axisbelow": True,
    "axes.edgecolor": COLOURS["line"],
    "axes.facecolor": "none",
    "axes.grid": True,
    "axes.labelcolor": COLOURS["soft"],
    "axes.prop_cycle": mpl.cycler(
        color=[
            COLOURS[name] for name in ("weight-new", "max", "truth", "score", "wrong")
        ]
    ),
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": COLOURS["ink"],
    "axes.titlelocation": "left",
    "axes.titlesize": 10.5,
    "figure.constrained_layout.use": True,
    "figure.facecolor": "none",
    "figure.figsize": (PAGE_INCHES, 3.6),
    "font.size": 9.5,
    "grid.color": COLOURS["hair"],
    "grid.linewidth": 0.8,
    "legend.edgecolor": "none",
    "legend.facecolor": COLOURS["paper"],
    "legend.labelcolor": COLOURS["ink"],
    "lines.linewidth": 1.8,
    "lines.markersize": 5,
    "savefig.facecolor": "none",
    "svg.fonttype": "none",
    "svg.hashsalt": "livepage",
    "text.color": COLOURS["ink"],
    "xtick.color": COLOURS["line"],
    "xtick.labelcolor": COLOURS["soft"],
    "ytick.color": COLOURS["line"],
    "ytick.labelcolor": COLOURS["soft"],
}
mpl.rcParams.update(STYLE)


class Plot:
    """A finished plot; a notebook shows it by its HTML."""

    def __init__(self, wide: str, narrow: str, alt: str) -> None:
        self.alt = alt
        self._html = (
            f'<div class="os-plot"><div class="os-wide">{wide}</div>'
            f'<div class="os-narrow" style="display:none">{narrow}</div></div>'
        )

    def _repr_html_(self) -> str:
        return self._html

    def __repr__(self) -> str:
        return f"plot: {self.alt}"


def plot(fig: Figure, *, alt: str) -> Plot:
    """Return a matplotlib figure as inline SVG in the book's style, and close it.

    Parameters
    ----------
    fig : matplotlib.figure.Figure
        Drawn after `plot` was imported: importing sets the style.
    alt : str
        What the picture shows, for a reader who cannot see it.
    """
    if not isinstance(alt, str) or not alt.strip():
        raise ValueError(f"alt is {alt!r}, expected words that say what the plot shows")
    width, height = fig.get_size_inches()
    wide = _svg(fig, width, height, alt)
    narrow = _svg(fig, PHONE_INCHES, height * PHONE_HEIGHT, alt)
    fig.set_size_inches(width, height)
    plt.close(fig)
    return Plot(wide, narrow, alt)


def _svg(fig: Figure, width: float, height: float, alt: str) -> str:
    """The figure at one size, as SVG that may stand in a page."""
    fig.set_size_inches(width, height)
    file = io.StringIO()
    without = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    fig.savefig(file, format="svg", metadata=without)
    text = file.getvalue()
    body = text[text.index(">", text.index("<svg")) + 1 :]
    body = re.sub(
        r"<defs>\s*<style.*?</style>\s*</defs>", "", body, count=1, flags=re.S
    )
    name = hashlib.sha256((alt + text).encode()).hexdigest()[:8]
    head = (
        f'<svg viewBox="0 0 {width * 72:g} {height * 72:g}" role="img"'
        f' aria-label="{html.escape(alt)}" stroke-linejoin="round">\n'
    )
    return head + _tokens(_own_ids(body, f"plot-{name}-"))


def _own_ids(svg: str, prefix: str) -> str:
    """Keep only the ids that something refers to, and make them this plot's own."""
    svg = svg.replace("xlink:href", "href")
    used = set(re.findall(r'(?:url\(|href=")#([^")]+)', svg))

    def renamed(match: re.Match[str]) -> str:
        return f' id="{prefix}{match[1]}"' if match[1] in used else ""

    svg = re.sub(r' id="([^"]+)"', renamed, svg)
    return re.sub(r'(url\(|href=")#', rf"\1#{prefix}", svg)


def _tokens(svg: str) -> str:
    for name, (drawn, otherwise) in TOKENS.items():
        svg = svg.replace(drawn, f"var(--{name}, {otherwise})")
    family = "var(--sans, system-ui, sans-serif)"
    svg = re.sub(r"font-family: [^;\"]+", f"font-family: {family}", svg)
    return "\n".join(_short_lines(svg))


def _short_lines(svg: str) -> Iterator[str]:
    """Without comments, indentation and empty lines."""
    for line in re.sub(r"<!--.*?-->", "", svg, flags=re.S).splitlines():
        if line.strip():
            yield line.strip()
