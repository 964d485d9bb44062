"""What axe finds wrong with a page."""

from collections.abc import Sequence

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


def violations(page: Page, but: Sequence[str] = (), **options: object) -> list[str]:
    """Each element that breaks a rule, with that rule.

    Parameters
    ----------
    page : Page
    but : sequence of str
        Selectors of what is left out.
    **options
        For ``axe.run``.
    """
    if not page.evaluate("'axe' in globalThis"):
        page.evaluate(AXE_SCRIPT)
    context = {"include": [["html"]], "exclude": [[each] for each in but]}
    return page.evaluate(FOUND, [context, options])
