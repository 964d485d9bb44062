"""A site that is built on an earlier one equals a site built from nothing."""

import json
import shutil
from pathlib import Path

import nbformat
from jupyter_book.config import get_final_config
from sphinx.application import Sphinx

from livepage.digest import digest
from livepage.site import fingerprint, keep
from livepage.site.paths import ASSETS
from tools.building.isolation import isolated_sphinx

TOC = "format: jb-book\nroot: index\nchapters: [{file: one}, {file: two}, {file: three}]\n"
FIGURE = '<figure class="os-figure" id="a" data-figure="two-chunks" data-state="{}">'
SOURCE = "@book{key, title={T}, author={Ann Author}, publisher={P}, year={%s}}"
HOSTS = [
    f"{FIGURE}</figure>",
    '<div class="os-drill" data-drill="third-weight"></div>',
]


def write(source: Path, prose: str, year: int) -> None:
    """Write a book of four pages, one of them with a figure and a drill."""
    source.mkdir(parents=True, exist_ok=True)
    cells = [nbformat.v4.new_markdown_cell(f"# One\n\n{prose} $m^2$", id="t")]
    for place, html in enumerate(HOSTS):
        shown = nbformat.v4.new_output("display_data", {"text/html": html})
        cells.append(nbformat.v4.new_code_cell("1", id=f"c{place}", outputs=[shown]))
    page = nbformat.v4.new_notebook(cells=cells)
    texts = {
        "one.ipynb": nbformat.writes(page),
        "index.md": "# A book\n\n```{road}\n```\n",
        "two.md": "# Two\n\nAs in {doc}`one`, by {cite:t}`key`.\n",
        "three.md": "# Three\n\n```{bibliography}\n```\n",
        "references.bib": SOURCE % year,
    }
    for name, text in texts.items():
        if not (source / name).exists() or (source / name).read_text("utf-8") != text:
            (source / name).write_text(text, "utf-8")
    (source.parent / "_toc.yml").write_text(TOC)


def built(folder: Path, root: Path, prose: str, year: int) -> dict[str, bytes]:
    """The files of the site, made in a folder that may hold an earlier one."""
    write(folder / "src", prose, year)
    config, _ = get_final_config(
        user_yaml=root / "_config.yml",
        cli_config={
            "external_toc_path": str(folder / "_toc.yml"),
            "latex_individualpages": False,
        },
        sourcedir=folder / "src",
    )
    config["nb_execution_mode"] = "off"
    with isolated_sphinx():
        folders = (folder / "src", None, folder / "html", folder / "made" / "trees")
        made = Sphinx(*folders, "html", config, status=None, warning=None)
        made.build()
    files = (file for file in (folder / "html").rglob("*") if file.is_file())
    return {f.relative_to(folder / "html").as_posix(): f.read_bytes() for f in files}


def test_after_edits_of_prose_style_and_sources_the_site_is_as_if_built_anew(
    tmp_path, root, monkeypatch
) -> None:
    assets = tmp_path / "assets"
    shutil.copytree(ASSETS, assets)
    monkeypatch.setattr("livepage.site.builder.ASSETS", assets)
    monkeypatch.setattr("livepage.site.fonts.ALWAYS", "abc")  # letters come and go
    first = built(tmp_path / "grown", root, "Prose with a ü.", 2018)
    with (assets / "base.css").open("a") as sheet:
        sheet.write("\nh1 { outline-offset: 3px }\n")
    grown = built(tmp_path / "grown", root, "Other prose.", 2019)
    anew = built(tmp_path / "new", root, "Other prose.", 2019)
    changed = {name for name in anew if first.get(name) != anew[name]}
    assert {"one.html", "_static/book.css", "_static/search-index.js"} <= changed
    assert b"2019" in grown["two.html"] and b"2019" in grown["three.html"]
    assert [name for name in grown if grown[name] != anew.get(name)] == []
    assert grown.keys() == anew.keys()


def test_pages_are_made_with_what_the_fingerprint_covers(root) -> None:
    files = {file.relative_to(root).as_posix() for file in fingerprint.ingredients()}
    wanted = {
        "book/data/quantities.yml",
        "book/drills/01-stable-softmax.yml",
        "book/figures/two-chunks/figure.mjs",
        "book/rescaling.py",
        "lib/blocksim/memory.py",
        "lib/livepage/drills/page/python.mjs",
        "lib/livepage/figures/kinds/range/control.mjs",
        "lib/livepage/vendor/micropython/micropython.wasm",
        "lib/livepage/words/en.yml",
        "lib/livepage/site/theme/layout.html",
        "lib/onlinesoftmax/state.py",
    }
    assert wanted <= files
    assert not [file for file in files if file.endswith(".css")]


def test_a_digest_sees_names_contents_and_words_but_not_the_place(tmp_path) -> None:
    def of(folder: str, name: str, text: str, *also: str) -> str:
        file = tmp_path / folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return digest([file], *also)

    first = of("a", "x", "1")
    assert of("b", "x", "1") == first
    others = {of("c", "y", "1"), of("d", "x", "2"), of("e", "x", "1", "word")}
    assert len(others | {first}) == 4


def test_what_is_kept_goes_when_pages_are_made_with_something_else(tmp_path) -> None:
    class App:
        doctreedir = tmp_path / "trees"

        class config:
            book_fingerprint = "first"

    asked = []

    @keep.kept
    def double(text: str) -> str:
        asked.append(text)
        return text * 2

    assert [double("a"), double("a")] == ["aa", "aa"] and asked == ["a"]
    keep.save(App, None)
    keep.load(App, App.config)
    assert double("a") == "aa" and asked == ["a"]
    assert json.loads((tmp_path / ".kept.json").read_text())["kept"]
    App.config.book_fingerprint = "second"
    keep.load(App, App.config)
    assert double("a") == "aa" and asked == ["a", "a"]
