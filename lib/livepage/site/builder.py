"""Writes the site: pages as Sphinx does, everything else by us.

Sphinx's own style sheets, scripts and search index are not written. Once the pages
stand, the stylesheet and the fonts are cut to what those pages use.
"""

from __future__ import annotations

import re
from pathlib import Path
from xml.sax.saxutils import escape

from sphinx.builders.html import StandaloneHTMLBuilder

from . import fonts, hosts, search, stylesheet
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
        """The search page."""
        self.handle_page("search", {}, "search.html")

    def finish(self) -> None:
        """Write what pages share, once all pages stand."""
        super().finish()
        self.finish_tasks.join()
        outdir = Path(self.outdir)
        self._write_scripts(outdir / "_static")
        self._write_style(outdir)
        self._write_for_crawlers(outdir)

    def _write_scripts(self, static: Path) -> None:
        pages = _pages(Path(self.outdir))
        files = {name: (ASSETS / name).read_bytes() for name in SCRIPTS}
        files["mark.svg"] = (ASSETS / "mark.svg").read_bytes()
        files["search-index.js"] = search.index(self.env).encode()
        files |= _figure_scripts(pages)
        files |= _drill_scripts(pages, self.config.language)
        for name, content in files.items():
            _write(static / name, content)

    def _write_style(self, outdir: Path) -> None:
        pages = _pages(outdir)
        static = outdir / "_static"
        scripts = [
            file.read_text(encoding="utf-8", errors="replace")
            for file in sorted(static.rglob("*.js"))
            if file.name != "search-index.js" and file.stat().st_size < 200_000
        ]
        css = stylesheet.merge(_sheets(), pages, scripts)
        text = fonts.characters([*pages, *scripts])
        css = self._write_fonts(static, css, text, fonts.formula_characters(pages))
        _write(static / "book.css", css.encode())
        _write(static / "fonts" / "LICENSES.txt", _font_licences().encode())

    def _write_fonts(self, static: Path, css: str, text: str, formulas: str) -> str:
        """Cut each font the stylesheet names; give the stylesheet with their places."""
        keep = Path(self.doctreedir).parent / ".fonts"
        for place in sorted(set(re.findall(r"url\([\"']?([^\"')]+\.woff2)", css))):
            wanted = formulas if place.startswith("katex/") else text
            content = fonts.cut(VENDOR / place, wanted, keep)
            name = f"fonts/{Path(place).name}"
            if content is not None:
                _write(static / name, content)
            css = css.replace(place, name)
        return css

    def _write_for_crawlers(self, outdir: Path) -> None:
        robots = "User-agent: *\nAllow: /\n"
        if self.config.html_baseurl:
            base = self.config.html_baseurl.rstrip("/")
            robots += f"Sitemap: {base}/sitemap.xml\n"
            _write(outdir / "sitemap.xml", self._sitemap(base).encode())
        _write(outdir / "robots.txt", robots.encode())

    def _sitemap(self, base: str) -> str:
        names = sorted(self.env.found_docs - {self.config.root_doc})
        addresses = [f"{base}/", *(f"{base}/{name}.html" for name in names)]
        entries = "".join(
            f"<url><loc>{escape(address)}</loc></url>\n" for address in addresses
        )
        space = "http://www.sitemaps.org/schemas/sitemap/0.9"
        head = '<?xml version="1.0" encoding="UTF-8"?>\n'
        return f'{head}<urlset xmlns="{space}">\n{entries}</urlset>\n'


def _write(file: Path, content: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)


def _pages(outdir: Path) -> list[str]:
    return [page.read_text(encoding="utf-8") for page in sorted(outdir.glob("*.html"))]


def _font_licences() -> str:
    """The licences of the fonts, which must travel with them."""
    folders = [VENDOR / "katex", *sorted((VENDOR / "fonts").iterdir())]
    return "\n\n".join(
        f"{folder.name}\n\n{(folder / 'LICENSE').read_text(encoding='utf-8')}"
        for folder in folders
    )


def _sheets() -> list[str]:
    """Every stylesheet, in cascade order."""
    from livepage import drills, figures

    katex = (VENDOR / "katex" / "katex.min.css").read_text(encoding="utf-8")
    # Only woff2 is vendored, and its address is told from the vendor folder.
    katex = re.sub(r"url\(fonts/([\w-]+)\.woff2\)", r"url(katex/fonts/\1.woff2)", katex)
    katex = re.sub(r",url\(fonts/[\w-]+\.(?:woff|ttf)\) format\(\"\w+\"\)", "", katex)
    katex = katex.replace("font-display:block", "font-display:swap")
    own = [(ASSETS / name).read_text(encoding="utf-8") for name in STYLES]
    return [figures.tokens(), katex, *own, figures.stylesheet(), drills.stylesheet()]


def _figure_scripts(pages: list[str]) -> dict[str, bytes]:
    from livepage import figures

    names = sorted({name for page in pages for name in hosts.figures_on(page)})
    if not names and not any("os-sweep" in page for page in pages):
        return {}
    files = {f"figures/{name}.js": figures.page_script(name).encode() for name in names}
    return files | {"figures/host.js": figures.host_script().encode()}


def _drill_scripts(pages: list[str], language: str) -> dict[str, bytes]:
    from livepage import drills

    if not any(hosts.drills_on(page) for page in pages):
        return {}
    files = {"drills.js": drills.page_script().encode(), **drills.page_assets()}
    for name in sorted({name for page in pages for name in hosts.deck_on(page)}):
        files[f"cards/{name}.js"] = hosts.card(name, language).encode()
    return {f"drills/{name}": content for name, content in files.items()}
