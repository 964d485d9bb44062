"""What axe finds wrong with a page, and how well its texts are read on their grounds.

Of the colours axe makes seven times the work of all its other rules. So they are asked
here, and axe confirms the answer on one page (`test_site.py`).
"""

import re
from collections.abc import Sequence
from functools import cache

import numpy as np
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

COLOUR_RULES = ["color-contrast", "link-in-text-block"]
WITHOUT_COLOURS = {rule: {"enabled": False} for rule in COLOUR_RULES}

# Without its preload: that fetches style sheets, for rules about sound and for one that
# axe itself leaves out. And without long lists of what is right.
FOUND = """async ([context, options]) => {
  const given = { preload: false, resultTypes: ["violations"], ...options };
  const { violations } = await axe.run(context, given);
  return violations.flatMap(({ id, impact, nodes }) =>
    nodes.map(({ html }) => `${id} (${impact}): ${html.slice(0, 200)}`));
}"""


def violations(
    page: Page, but: Sequence[str] = (), within: str = "html", **options: object
) -> list[str]:
    """Each element that breaks a rule, with that rule.

    Parameters
    ----------
    page : Page
    but : sequence of str
        Selectors of what is left out.
    within : str
        A selector of what is asked about.
    **options
        For ``axe.run``.
    """
    if not page.evaluate("'axe' in globalThis"):
        page.evaluate(AXE_SCRIPT)
    context = {"include": [[within]], "exclude": [[each] for each in but]}
    return page.evaluate(FOUND, [context, options])


def wrong_but_colours(page: Page, but: Sequence[str] = ()) -> list[str]:
    return violations(page, but, rules=WITHOUT_COLOURS)


# The colours of each text on its ground, a kind once: text, ink, the grounds behind it
# and how opaque each is, points, weight. What is typed into a field is a text too.
# Texts of figures have shapes for a ground; axe asks them: `faint_in_pictures`.
INKS = """() => {
  const layers = new Map();  // behind an element, itself included
  const behind = (part) => {
    if (!part) return [];
    if (!layers.has(part)) layers.set(part, [...own(part), ...behind(part.parentElement)]);
    return layers.get(part);
  };
  const own = (part) => {
    const { backgroundColor, opacity } = getComputedStyle(part);
    const layer = [backgroundColor, Number(opacity) || 1];  // 0 until pointed at
    return String(layer) === "rgba(0, 0, 0, 0),1" ? [] : [layer];
  };
  const kinds = new Map();
  const note = (part, text) => {
    if (!text || part.closest("svg, math, :disabled, [inert]")) return;
    if (!part.checkVisibility({ visibilityProperty: true })) return;
    const { color, fontSize, fontWeight } = getComputedStyle(part);
    const kind = [color, behind(part), parseFloat(fontSize) * 0.75, Number(fontWeight)];
    kinds.set(JSON.stringify(kind), [text, ...kind]);
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode())
    note(texts.currentNode.parentElement, texts.currentNode.data.trim());
  for (const field of document.querySelectorAll("input, textarea"))
    note(field, field.value || field.placeholder);
  return [...kinds.values()];
}"""


@cache
def colour(css: str) -> np.ndarray:
    """Red, green, blue and opacity, each from 0 to 1."""
    form, _, inside = css.partition("(")
    numbers = [float(number) for number in re.findall(r"[-\d.e]*\d", inside)]
    assert form in ("rgb", "rgba") or inside.startswith("srgb "), f"what is {css}?"
    scale = 1 if form == "color" else 255
    return np.array([*np.array(numbers[:3]) / scale, *(numbers[3:] or [1])])


def over(top: np.ndarray, ground: np.ndarray) -> np.ndarray:
    return np.append(top[3] * top[:3] + (1 - top[3]) * ground[:3], 1)


def contrast(one: np.ndarray, other: np.ndarray) -> float:
    """The ratio of WCAG 2, from 1 to 21."""

    def brightness(shade: np.ndarray) -> float:
        light = np.where(
            shade[:3] <= 0.04045,
            shade[:3] / 12.92,
            ((shade[:3] + 0.055) / 1.055) ** 2.4,
        )
        return float(light @ [0.2126, 0.7152, 0.0722])

    dark, bright = sorted([brightness(one), brightness(other)])
    return (bright + 0.05) / (dark + 0.05)


def faint(page: Page) -> list[str]:
    """The texts that are harder to read than WCAG allows (4.5; 3 where large)."""
    found = []
    for text, ink, grounds, points, weight in page.evaluate(INKS):
        ground, opacity = np.ones(4), 1.0
        for layer, opaque in reversed(grounds):
            opacity *= opaque
            ground = over(colour(layer) * [1, 1, 1, opacity], ground)
        seen = over(colour(ink) * [1, 1, 1, opacity], ground)
        large = points >= 18 or (points >= 14 and weight >= 700)
        ratio = contrast(seen, ground)
        if ratio < (3 if large else 4.5):
            found.append(f"{text[:40]!r}: {ratio:.2f} ({ink} on {grounds})")
    return found


def wrong(page: Page) -> list[str]:
    """What is faint, and what breaks any other rule; `faint_in_pictures` is apart."""
    return faint(page) + violations(page, rules={"color-contrast": {"enabled": False}})


def faint_in_pictures(page: Page) -> list[str]:
    return violations(page, within="svg", runOnly=["color-contrast"])
