"""Requests every external address that the built book links to.

    python -m tools.site.links

It is not part of the tests, which must not depend on other sites.
"""

import sys
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bs4 import BeautifulSoup

from tools.common.options import parse, report
from tools.common.paths import HTML
from tools.serve import is_built

AGENT = {"User-Agent": "Mozilla/5.0 (link check of an online book)"}


def external_links(html: Path) -> dict[str, str]:
    """Return every external address that the site links to, each with a page."""
    pages: dict[str, str] = {}
    for file in sorted(html.rglob("*.html")):
        soup = BeautifulSoup(file.read_text("utf-8"), "html.parser")
        for link in soup.select('a[href^="http"]'):
            pages[link["href"].split("#")[0]] = file.name
    return pages


def complaint(address: str) -> str | None:
    """Return why `address` is dead, or None. A site that refuses robots is alive."""
    request = urllib.request.Request(address, headers=AGENT)
    try:
        with urllib.request.urlopen(request, timeout=30):
            return None
    except urllib.error.HTTPError as error:
        return None if error.code in (401, 403, 405, 429) else f"HTTP {error.code}"
    except (urllib.error.URLError, TimeoutError) as error:
        return str(error)


def main() -> int:
    parse([])
    if not is_built(HTML):
        print("no built book: run `make book` first", file=sys.stderr)
        return 1
    links = external_links(HTML)
    with ThreadPoolExecutor(8) as pool:
        complaints = dict(zip(links, pool.map(complaint, links), strict=True))
    dead = [f"{links[url]}: {url}: {why}" for url, why in complaints.items() if why]
    alive = len(links) - len(dead)
    return report(dead, f"{alive} of {len(links)} external links answer")


if __name__ == "__main__":
    sys.exit(main())
