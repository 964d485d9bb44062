"""Checks of the built site and its sources; each returns a list of faults.

A page is parsed HTML; a site maps file names to pages. The tests run every check on the
real site, and once more on a planted fault that the check must report.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from bs4 import BeautifulSoup, Tag

Site = Mapping[str, BeautifulSoup]

DATA_SCRIPTS = {"application/json", "application/ld+json"}
LOADING = {
    "img": "src",
    "script": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "audio": "src",
    "track": "src",
    "embed": "src",
    "object": "data",
    "image": "href",
    "use": "href",
}
LOADING_LINKS = {"stylesheet", "icon", "preload", "modulepreload", "manifest"}


def read_site(folder: Path) -> dict[str, BeautifulSoup]:
    """Return every page of the built site, by file name."""
    return {
        file.relative_to(folder).as_posix(): parse(file.read_text(encoding="utf-8"))
        for file in sorted(folder.rglob("*.html"))
    }


def parse(html: str) -> BeautifulSoup:
    """Return the parsed page."""
    return BeautifulSoup(html, "html.parser")


# Links ---------------------------------------------------------------------


def dead_links(site: Site, files: set[str]) -> list[str]:
    """Return internal links to a page, a file or an anchor that does not exist.

    Parameters
    ----------
    site : mapping
        File name to page.
    files : set of str
        Every file of the site, as names relative to its root.
    """
    anchors = {name: _anchors(page) for name, page in site.items()}
    return [
        f"{name}: {href}"
        for name, page in site.items()
        for href in _internal(page)
        if not _resolves(name, href, anchors, files)
    ]


def _anchors(page: BeautifulSoup) -> set[str]:
    return {tag["id"] for tag in page.find_all(id=True)} | {""}


def _internal(page: BeautifulSoup) -> Iterator[str]:
    for tag in page.find_all(["a", "link"], href=True):
        rel = tag.get("rel") or []
        if not urlsplit(tag["href"]).scheme and "canonical" not in rel:
            yield tag["href"]


def _resolves(
    name: str, href: str, anchors: Mapping[str, set[str]], files: set[str]
) -> bool:
    parts = urlsplit(href)
    folder = Path(name).parent
    target = (folder / unquote(parts.path)).as_posix() if parts.path else name
    target = re.sub(r"[^/]+/\.\./", "", target)
    if target not in files:
        return False
    fragment = unquote(parts.fragment)
    # A figure's state travels in the fragment: #figure:control=value.
    return target not in anchors or fragment.split(":")[0] in anchors[target]


# Every page ----------------------------------------------------------------


def head_faults(page: BeautifulSoup, policy: str) -> list[str]:
    """Return what is missing in the head of a page, and a wrong number of titles."""
    faults = []
    meta = page.find("meta", attrs={"http-equiv": "Content-Security-Policy"})
    if meta is None or meta["content"] != policy:
        faults.append("no Content-Security-Policy, or another one")
    if page.html is None or not page.html.get("lang"):
        faults.append("no language")
    if page.title is None or not page.title.get_text(strip=True):
        faults.append("no title")
    description = page.find("meta", attrs={"name": "description"})
    if description is None or not description.get("content", "").strip():
        faults.append("no description")
    if len(page.find_all("h1")) != 1:
        faults.append(f"{len(page.find_all('h1'))} headings of the first level")
    return faults


def fetched_ahead(page: BeautifulSoup) -> list[str]:
    """Return links that make a browser prefetch, which the policy forbids.

    Firefox treats `<link rel="next">` as a prefetch, and logs an error on every page.
    """
    kinds = {"next", "prefetch", "prerender", "preload", "modulepreload"}
    return [str(link) for link in page.find_all("link") if kinds & {*link["rel"]}]


def heading_faults(page: BeautifulSoup) -> list[str]:
    """Return headings that skip a level."""
    faults, level = [], 0
    for tag in page.find_all(re.compile(r"^h[1-6]$")):
        here = int(tag.name[1])
        if here > level + 1:
            faults.append(f"{tag.name} after h{level}: {tag.get_text(strip=True)!r}")
        level = here
    return faults


def missing_alternatives(page: BeautifulSoup) -> list[str]:
    """Return images and figures without a text alternative."""
    faults = [
        f"img without alt: {tag.get('src')}"
        for tag in page.find_all("img")
        if not (tag.get("alt") or "").strip()
    ]
    faults += [
        f"svg without a name: {str(tag)[:90]}"
        for tag in page.find_all("svg")
        if not _is_hidden(tag) and not (tag.get("role") == "img" and _name(page, tag))
    ]
    faults += [
        f"figure without a caption or a name: {tag.get('id')}"
        for tag in page.find_all("figure")
        if not (tag.find("figcaption") or _name(page, tag) or tag.find("img", alt=True))
    ]
    return faults


def _is_hidden(tag: Tag) -> bool:
    return any(t.get("aria-hidden") == "true" for t in [tag, *tag.parents])


def _name(page: BeautifulSoup, tag: Tag) -> str:
    if tag.get("aria-label", "").strip():
        return tag["aria-label"]
    for id in (tag.get("aria-labelledby") or "").split():
        named = page.find(id=id)
        if named and named.get_text(strip=True):
            return named.get_text(strip=True)
    title = tag.find("title")
    return title.get_text(strip=True) if title else ""


def outside_loads(page: BeautifulSoup) -> list[str]:
    """Return resources that a page loads from other sites; plain links do not count."""
    loads = [
        f"{tag.name} {tag[attribute]}"
        for name, attribute in LOADING.items()
        for tag in page.find_all(name)
        if _is_outside(tag.get(attribute, ""))
    ]
    for link in page.find_all("link", href=True):
        if LOADING_LINKS & set(link.get("rel") or []) and _is_outside(link["href"]):
            loads.append(f"link {link['href']}")
    for style in [*page.find_all("style"), *page.find_all(style=True)]:
        loads += outside_in_css(style.get("style") or style.get_text())
    return loads


def _is_outside(address: str) -> bool:
    return address.startswith("//") or urlsplit(address).scheme in ("http", "https")


def outside_in_css(css: str) -> list[str]:
    """Return addresses on other sites that a stylesheet loads."""
    addresses = re.findall(r"(?:url\(|@import)\s*[\"']?((?:https?:)?//[^\"')\s]+)", css)
    return [f"css {address}" for address in addresses]


def inline_scripts(page: BeautifulSoup) -> list[str]:
    """Return inline scripts and event handlers, which the policy forbids."""
    scripts = [
        f"script: {tag.get_text()[:60]!r}"
        for tag in page.find_all("script")
        if not tag.get("src") and tag.get("type") not in DATA_SCRIPTS
    ]
    scripts += [
        f"{tag.name} {attribute}"
        for tag in page.find_all(True)
        for attribute, value in tag.attrs.items()
        if attribute.startswith("on") or str(value).strip().startswith("javascript:")
    ]
    return scripts


# Sources -------------------------------------------------------------------

_UNITS = (
    "%|percent|per cent|ns|µs|us|ms|s|seconds?|minutes?|hours?|bytes?|[kKMGT]i?B|"
    "[kMG]?bits?|[MG]Hz|[MGT]?FLOPS?|[MGT]?FLOP/s|GB/s|×|x|fold|ulps?"
)
_TYPED = re.compile(
    rf"(?<![\w.#-])[-−+]?\d[\d,]*(?:\.\d+(?:e[-+]?\d+)?|\s?-?(?:{_UNITS})(?![\w-]))"
)
_NOT_PROSE = [
    re.compile(r"\A---\n.*?\n---\n", re.S),
    re.compile(r"^(`{3,})\{(?:code|math)[\w-]*\}.*?^\1\s*$", re.M | re.S),
    re.compile(r"^(`{3,})\w*\n.*?^\1\s*$", re.M | re.S),
    re.compile(r"<!--.*?-->", re.S),
    re.compile(r"^%.*$", re.M),
    re.compile(r"\{[\w:+-]+\}`[^`]*`"),
    re.compile(r"(?<!`)(`{1,2})(?!`)[^`]+\1(?!`)"),
    re.compile(r"\$\$.*?\$\$", re.S),
    re.compile(r"\$[^$\n]+(?:\n[^$\n]+)*\$"),
    re.compile(r"\]\([^)]*\)"),
    re.compile(r"https?://\S+"),
]


def typed_numbers(markdown: str) -> list[tuple[int, str]]:
    """Return decimals and numbers with a unit that are typed into the prose.

    Returns
    -------
    list of (int, str)
        The line of the source, and the number as written. Code, maths, roles, citations,
        addresses and the front matter do not count as prose.
    """
    for pattern in _NOT_PROSE:
        markdown = pattern.sub(_blank, markdown)
    return [
        (markdown.count("\n", 0, match.start()) + 1, match[0])
        for match in _TYPED.finditer(markdown)
    ]


def _blank(match: re.Match[str]) -> str:
    return "\n" * match[0].count("\n")
