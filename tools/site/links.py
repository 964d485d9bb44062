"""Asks every outside address that the built book links to whether it still answers.

    python -m tools.site.links

Not part of the tests: another site's bad day is no fault of the book.
"""

import sys
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bs4 import BeautifulSoup

from tools.common import options
from tools.serve import HTML

AGENT = {"User-Agent": "Mozilla/5.0 (link check of an online book)"}


def outside(html: Path) -> dict[str, str]:
    """Every address that an `<a>` of the site leads out to, and a page that does."""
    found: dict[str, str] = {}
    for file in sorted(html.rglob("*.html")):
        soup = BeautifulSoup(file.read_text("utf-8"), "html.parser")
        for link in soup.select('a[href^="http"]'):
            found[link["href"].split("#")[0]] = file.name
    return found


def complaint(address: str) -> str | None:
    """Why `address` is dead, or None. Refusing robots is not death."""
    request = urllib.request.Request(address, headers=AGENT)
    try:
        with urllib.request.urlopen(request, timeout=30):
            return None
    except urllib.error.HTTPError as error:
        return None if error.code in (401, 403, 405, 429) else f"HTTP {error.code}"
    except (urllib.error.URLError, TimeoutError) as error:
        return str(error)


def main() -> int:
    options.parse([])
    if not (HTML / "index.html").exists():
        print("no built book: run `make book` first", file=sys.stderr)
        return 1
    links = outside(HTML)
    with ThreadPoolExecutor(8) as pool:
        said = dict(zip(links, pool.map(complaint, links), strict=True))
    dead = {address: why for address, why in said.items() if why}
    for address, why in dead.items():
        print(f"{links[address]}: {address}: {why}")
    print(f"{len(links) - len(dead)} of {len(links)} outside links answer")
    return bool(dead)


if __name__ == "__main__":
    sys.exit(main())
