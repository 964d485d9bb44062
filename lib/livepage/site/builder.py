"""Writes the site: pages as Sphinx does, everything else by us.

Sphinx's own style sheets, scripts and search index are not written. Once the pages
stand, the stylesheet and the fonts are cut to what those pages use.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urljoin
from xml.sax.saxutils import escape

from sphinx.builders.html import StandaloneHTMLBuilder

from livepage import yml

from . import fonts, hosts, search, sittings, stylesheet
from .keep import kept
from .paths import ASSETS, VENDOR

STYLES = [
    "fonts.css",
    "base.css",
    "layout.css",
    "article.css",
    "code.css",
    "reference.css",
    "print.css",
    "sheet.css",
]
SCRIPTS = ["theme.js", "site.js", "link.js", "search.js"]
DATA = ["_static/search-index.js", "_static/sittings.js"]  # they build no elements


class Uses(NamedTuple):
    """What a page has of what pages share."""

    names: list[str]  # tags, .classes and #ids
    letters: str
    formulas: str  # the letters that formulas are set in
    figures: list[str]
    drills: list[str]
    deck: list[str]
    kernels: list[str]  # what a reader's kernel is put to


@kept
def uses_of(page: str) -> list[list[str] | str]:
    """Look a page through, once, for all that `Uses` has."""
    return [
        sorted(stylesheet.names_on(page)),
        "".join(sorted(set(page))),
        fonts.formula_characters([page]),
        hosts.figures_on(page),
        hosts.drills_on(page),
        hosts.deck_on(page),
        hosts.uses_on(page),
    ]


class BookBuilder(StandaloneHTMLBuilder):
    """Builds the book's site."""

    name = "html"
    search = False
    copysource = False

    # Sphinx and its extensions bring files that no page of ours loads.
    def add_css_file(self, filename: str, **attributes: object) -> None:
        """Pages have one stylesheet, ours."""

    def add_js_file(self, filename: str, **attributes: object) -> None:
        """Pages name their scripts themselves."""

    def copy_static_files(self) -> None:
        """Nothing of Sphinx's own; see `finish`."""

    def gen_indices(self) -> None:
        """The book has no index of terms; search does its work."""

    def gen_additional_pages(self) -> None:
        """The search page, and what a server shows in the place of one it has not."""
        self.handle_page("search", {}, "search.html")
        self.handle_page("404", {}, "404.html")
        if self.config.html_baseurl:
            lost = Path(self.outdir, "404.html")
            page = lost.read_text(encoding="utf-8")
            lost.write_text(absolute(page, self.config.html_baseurl), encoding="utf-8")

    def finish(self) -> None:
        """Write what pages share, once all pages stand."""
        super().finish()
        self.finish_tasks.join()
        names = {*self.env.found_docs, "search", "404"}
        pages = {f"{name}.html" for name in names}
        uses = [Uses(*uses_of(self._read(page))) for page in sorted(pages)]
        files = self._scripts(uses)
        files |= self._style(uses, files) | self._for_crawlers()
        for name, content in files.items():
            _write(Path(self.outdir, name), content)
        self._remove_strays(pages | set(files))

    def _read(self, page: str) -> str:
        return Path(self.outdir, page).read_text(encoding="utf-8")

    def _remove_strays(self, wanted: set[str]) -> None:
        """Remove what an earlier build wrote and this one would not have written.

        The folders of translations are theirs.
        """
        out = Path(self.outdir)
        for file in (
            *out.glob("*.html"),
            *out.glob("*.xml"),
            *out.glob("_static/**/*"),
        ):
            if file.is_file() and file.relative_to(out).as_posix() not in wanted:
                file.unlink()

    def _scripts(self, uses: list[Uses]) -> dict[str, bytes]:
        files = {name: (ASSETS / name).read_bytes() for name in SCRIPTS}
        files["mark.svg"] = (ASSETS / "mark.svg").read_bytes()
        files["search-index.js"] = search.index(self.env).encode()
        files["sittings.js"] = sittings.script(self.env).encode()
        files |= _figure_scripts(uses, self.config.language)
        files |= _drill_scripts(uses, self.config.language)
        return {f"_static/{name}": content for name, content in files.items()}

    def _style(self, uses: list[Uses], files: dict[str, bytes]) -> dict[str, bytes]:
        """The stylesheet and the fonts, cut to what pages and their scripts use."""
        scripts = [
            script.decode(errors="replace")
            for name, script in files.items()
            if name.endswith(".js") and name not in DATA and len(script) < 200_000
        ]
        used = set().union(*(page.names for page in uses))
        used = used.union(*map(stylesheet.names_in, scripts))
        text = fonts.characters([*(page.letters for page in uses), *scripts])
        formulas = "".join(
            sorted({letter for page in uses for letter in page.formulas})
        )
        css, cut = self._fonts(_merged(_sheets(), sorted(used)), text, formulas)
        licences = {"_static/LICENSES.txt": licences_of_vendored().encode()}
        return {"_static/book.css": css.encode(), **cut, **licences}

    def _fonts(
        self, css: str, text: str, formulas: str
    ) -> tuple[str, dict[str, bytes]]:
        """Cut each font the stylesheet names; give the stylesheet with their places."""
        files = {}
        keep = Path(self.doctreedir).parent / ".fonts"
        for place in sorted(set(re.findall(r"url\([\"']?([^\"')]+\.woff2)", css))):
            wanted = formulas if place.startswith("katex/") else text
            content = fonts.cut(VENDOR / place, wanted, keep)
            name = f"fonts/{Path(place).name}"
            if content is not None:
                files[f"_static/{name}"] = content
            css = css.replace(place, name)
        return css, files

    def _for_crawlers(self) -> dict[str, bytes]:
        files = {}
        robots = "User-agent: *\nAllow: /\n"
        if self.config.html_baseurl:
            base = self.config.html_baseurl.rstrip("/")
            robots += f"Sitemap: {base}/sitemap.xml\n"
            files["sitemap.xml"] = self._sitemap(base).encode()
        return files | {"robots.txt": robots.encode()}

    def _sitemap(self, base: str) -> str:
        names = sorted(self.env.found_docs - {self.config.root_doc})
        addresses = [f"{base}/", *(f"{base}/{name}.html" for name in names)]
        entries = "".join(
            f"<url><loc>{escape(address)}</loc></url>\n" for address in addresses
        )
        space = "http://www.sitemaps.org/schemas/sitemap/0.9"
        head = '<?xml version="1.0" encoding="UTF-8"?>\n'
        return f'{head}<urlset xmlns="{space}">\n{entries}</urlset>\n'


def absolute(page: str, base: str) -> str:
    """A page whose links hold at any depth: a server shows it for every lost address.

    `base` is where the book is published.
    """

    def anchored(found: re.Match[str]) -> str:
        return f'{found[1]}="{urljoin(base.rstrip("/") + "/", found[2])}"'

    return re.sub(r'\b(href|src|data-root)="(?!#)([^"]*)"', anchored, page)


def _write(file: Path, content: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    if not file.exists() or file.read_bytes() != content:
        file.write_bytes(content)


def licences_of_vendored() -> str:
    """Return the licences of the vendored files of a site, which must travel with them."""
    folders = [VENDOR / "katex", VENDOR / "micropython"]
    folders += sorted((VENDOR / "fonts").iterdir())
    texts = []
    for folder in folders:
        record = yml.read(folder / "VENDOR.yml")
        head = [record["name"], record["licence"], record.get("copyright")]
        licence = (folder / "LICENSE").read_text(encoding="utf-8")
        texts.append("\n".join([*filter(None, head), "", licence]))
    return "\n\n".join(texts)


def _sheets() -> list[str]:
    """Every stylesheet, in cascade order."""
    from livepage import cells, drills, figures

    katex = (VENDOR / "katex" / "katex.min.css").read_text(encoding="utf-8")
    # Only woff2 is vendored, and its address is told from the vendor folder.
    katex = re.sub(r"url\(fonts/([\w-]+)\.woff2\)", r"url(katex/fonts/\1.woff2)", katex)
    katex = re.sub(r",url\(fonts/[\w-]+\.(?:woff|ttf)\) format\(\"\w+\"\)", "", katex)
    katex = katex.replace("font-display:block", "font-display:swap")
    own = [(ASSETS / name).read_text(encoding="utf-8") for name in STYLES]
    return [
        figures.tokens(),
        katex,
        *own,
        figures.stylesheet(),
        drills.stylesheet(),
        cells.stylesheet(),
    ]


@kept
def _merged(sheets: list[str], used: list[str]) -> str:
    return stylesheet.merge(sheets, set(used))


def _figure_scripts(uses: list[Uses], language: str) -> dict[str, bytes]:
    from livepage import figures

    names = sorted({name for page in uses for name in page.figures})
    if not names and not any(".os-sweep" in page.names for page in uses):
        return {}
    files = {f"figures/{name}.js": _figure(name, language).encode() for name in names}
    later = {name: _figure_later(name) for name in names}
    files |= {
        f"figures/{n}-loaded.js": text.encode() for n, text in later.items() if text
    }
    return files | {"figures/host.js": figures.host_script().encode()}


@kept
def _figure(name: str, language: str) -> str:
    from livepage import figures

    return figures.page_script(name, language)


@kept
def _figure_later(name: str) -> str | None:
    from livepage import figures

    return figures.loaded_script(name)


def _drill_scripts(uses: list[Uses], language: str) -> dict[str, bytes]:
    if not any(page.drills or page.kernels for page in uses):
        return {}
    files = {name: text.encode() for name, text in _drill_engine().items()}
    for name in sorted({name for page in uses for name in page.deck}):
        files[f"cards/{name}.js"] = hosts.card(name, language).encode()
    for name in sorted({name for page in uses for name in page.kernels}):
        files[f"uses/{name}.js"] = _use(name).encode()
    return {f"drills/{name}": content for name, content in files.items()}


@kept
def _use(name: str) -> str:
    from livepage import drills

    return drills.use_script(name)


@kept
def _drill_engine() -> dict[str, str]:
    """The scripts that mark answers and run cells, Python among them."""
    from livepage import cells, drills

    scripts = {
        "drills.js": drills.page_script(),
        "cells.js": cells.page_script(),
        "road.js": drills.road_script(),
    }
    return scripts | drills.page_assets()
