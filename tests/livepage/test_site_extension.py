"""The extension that makes the pages: maths, links, hosts, stylesheet, fonts."""

from __future__ import annotations

import io
import json
import re
import threading
import weakref
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from fontTools.ttLib import TTFont

from livepage import book, drills
from livepage import quantities as given
from livepage.drills import page_script
from livepage.figures import build
from livepage.site import fonts, hosts, keep, maths, quantities, search, stylesheet
from livepage.site.ahead import Ahead
from livepage.site.head import inline, split_heading
from livepage.site.page import for_scripts, launch_links, repository_links, scripts
from livepage.site.paths import ASSETS, VENDOR
from tools.building.plain_markdown import Context, plain_markdown

ROOT = Path(__file__).resolve().parents[2]

QUANTITIES = given.quantities()

# Maths -----------------------------------------------------------------------


def test_a_formula_is_for_the_eye_and_for_the_ear():
    html = BeautifulSoup(maths.typeset(r"\frac{a}{b}"), "html.parser")
    assert html.select_one("math mfrac")
    assert html.select_one(".katex-html")["aria-hidden"] == "true"


@pytest.mark.parametrize("name", QUANTITIES)
def test_each_quantity_has_a_macro_that_marks_it(name):
    html = BeautifulSoup(
        maths.typeset(f"{QUANTITIES[name].macro}^2", True), "html.parser"
    )
    marked = html.select("[data-q]")
    assert [tag["data-q"] for tag in marked] == [name]
    assert marked[0].get_text() in (QUANTITIES[name].letter, name)


@pytest.mark.parametrize(
    "tex",
    [r"\frac{a}", r"\nosuchmacro", r"\href{https://a.example}{x}", r"\htmlClass{a}{x}"],
)
def test_a_faulty_formula_names_itself(tex):
    with pytest.raises(maths.MathsError, match=re.escape(repr(tex))):
        maths.typeset(tex)


# Quantities ------------------------------------------------------------------

FIRST = (
    "k: {macro: '\\qk', tex: \\kappa, letter: κ, code: [kept], colour: link, en: kept}"
)
MADE_ONCE = (maths.engine, maths.typeset, search._signs, page_script)


@pytest.fixture
def another(tmp_path, monkeypatch):
    """The book with one more of its quantities."""
    text = (book.current().data / "quantities.yml").read_text("utf-8")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "quantities.yml").write_text(f"{text}\n{FIRST}\n", "utf-8")
    monkeypatch.setattr(book, "_opened", [book.Book(tmp_path, version="0")])
    for made in MADE_ONCE:
        made.cache_clear()
    yield
    for made in MADE_ONCE:
        made.cache_clear()


def test_another_quantity_is_another_line_of_one_file(another):
    assert 'data-q="k"' in maths.typeset(r"\qk + 1")
    assert search.readable(r"\qk + \kappa") == "κ + κ"
    code = quantities.link_identifiers('<span class="n">kept</span>')
    assert code == '<span class="n" data-q="k">kept</span>'
    assert for_scripts({}, "en")["quantities"]["k"] == ("κ", "kept")
    assert '"k":"κ"' in page_script()
    assert '[data-q="k"] { --quantity: var(--link); }' in build.stylesheet()
    assert plain_markdown(r"{q}`k` $\qk$", {}, Context(None)) == r"κ $\kappa$"


@pytest.mark.parametrize(
    "row, told",
    [("{macro: a, letter: a}", "k: tex missing"), ("{}", "k: macro, tex, letter")],
)
def test_a_quantity_without_a_letter_is_named(tmp_path, row, told):
    (tmp_path / "quantities.yml").write_text(f"k: {row}\n")
    with pytest.raises(ValueError, match=f"quantities.yml, {told}"):
        given.read(tmp_path / "quantities.yml")


def spans(**extra: str | None) -> list[tuple[str, str]]:
    names = ("m_new", "pocket", "x")
    code = " ".join(f'<span class="n">{name}</span>' for name in names)
    html = BeautifulSoup(quantities.link_identifiers(code, extra), "html.parser")
    return [(tag.get_text(), tag["data-q"]) for tag in html.select("[data-q]")]


def test_names_in_code_are_linked():
    assert spans() == [("m_new", "m")]
    assert spans(pocket="l") == [("m_new", "m"), ("pocket", "l")]
    assert spans(m_new=None) == []


def test_a_quantity_that_does_not_exist_is_refused():
    with pytest.raises(ValueError, match="'pocket' means 'lambda'"):
        spans(pocket="lambda")


# Hosts -----------------------------------------------------------------------


def host(state: str = "{}") -> str:
    return (
        '<figure class="os-figure" id="a" data-figure="two-chunks" '
        f'data-state="{state}"></figure>'
    )


def test_a_figures_host_is_filled_with_its_still():
    seen = []

    def still(name, state, lang, asks):
        seen.append((name, state, lang, asks))
        return "<svg></svg>"

    filled = hosts.fill_figures(host("{&quot;max&quot;: 5}"), still, "en")
    assert filled.endswith("<svg></svg></figure>")
    silent = host("{}").replace("></figure>", ' data-asks="no"></figure>')
    hosts.fill_figures(silent, still, "en")
    assert seen == [
        ("two-chunks", {"max": 5}, "en", True),
        ("two-chunks", {}, "en", False),
    ]


def failing(*_args, **_named):
    raise KeyError("unknown")


@pytest.mark.parametrize("html", [host(), host("{"), host().replace("></f", ">x</f")])
def test_a_figure_that_cannot_be_drawn_stops_the_build(html):
    with pytest.raises(hosts.HostError):
        hosts.fill_figures(html, failing, "en")


def test_a_drills_host_is_replaced_whole():
    html = '<div class="os-drill" data-drill="one" id="drill-one"><div>x</div></div>'
    filled = hosts.fill_drill(html, lambda name, lang: f"<p>{name}</p>", "en")
    assert filled == "<p>one</p>"


def test_a_drill_that_cannot_be_written_stops_the_build():
    with pytest.raises(hosts.HostError, match="'gone'"):
        hosts.fill_drill(
            '<div class="os-drill" data-drill="gone"></div>', failing, "en"
        )


@pytest.mark.parametrize("book", ["rescaling", "no_such_book"])
def test_drills_made_ahead_are_those_that_are_made_here(monkeypatch, book):
    """Also where the process that makes them ahead has failed."""
    monkeypatch.setattr(keep, "_kept", {})
    names = ["third-weight", "ratio-two", "streaming-softmax"]
    ahead = Ahead(book, "en", names)
    ahead.meet()
    ahead.stop()
    for name in names:
        assert hosts.has_drill(name, "en")
        made = hosts.drill(name, "en")
        assert made == drills.page_html(name, "en", maths=maths.typeset)


def test_no_thread_takes_memory_while_a_drill_measures_its_own(monkeypatch):
    """What a thread allocates would count as memory of the drill's code."""
    monkeypatch.setattr(keep, "_kept", {})
    here, start, mine = threading.current_thread(), threading.Thread.start, []

    def noted(thread: threading.Thread) -> None:
        if threading.current_thread() is here:  # threads of other tests start some too
            mine.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", noted)
    ahead = Ahead("rescaling", "en", ["third-weight", "streaming-softmax"])
    ahead.process.wait()
    ahead.take()
    ahead.stop()
    assert keep.all_kept() and not mine


def test_a_line_that_the_process_has_half_written_is_taken_when_it_is_whole(
    monkeypatch,
):
    monkeypatch.setattr(keep, "_kept", {})
    ahead = Ahead("no_such_book", "en", [])
    ahead.process.wait()
    with Path(ahead.made.name).open("ab") as out:
        for part, taken in ((b'{"a": 1}\n{"b"', {"a": 1}), (b": 2}\n", {"b": 2})):
            out.write(part), out.flush()
            ahead.take()
            assert taken.items() <= keep.all_kept().items()
    ahead.stop()


def test_a_drill_that_cannot_be_made_ahead_is_told_here(monkeypatch):
    monkeypatch.setattr(keep, "_kept", {})
    ahead = Ahead("rescaling", "en", ["third-weight", "no-such-drill"])
    with pytest.raises(ValueError, match="no-such-drill"):
        ahead.meet()
    ahead.stop()


def test_other_outputs_pass_unchanged():
    assert hosts.fill("<table></table>", "en") == "<table></table>"


# Pages -----------------------------------------------------------------------


def test_a_page_needs_a_heading():
    before, heading, rest = split_heading("a", "<section><h1>A<b>!</b></h1>\n<p>b")
    assert (before, heading, rest) == ("<section>", "A<b>!</b>", "<p>b")
    with pytest.raises(Exception, match="a-page"):
        split_heading("a-page", "<p>b")


def test_links_to_the_repository_are_absent_while_it_has_no_address():
    assert repository_links({"theme_repository_url": ""}, "a", "1.0") == {}

    class App:
        class config:
            book_notebook_branch = "shelf"

    assert launch_links(App, "a", "") == {}
    colab = launch_links(App, "02-a", "https://github.com/one/two")["colab"]
    assert colab.endswith("/github/one/two/blob/shelf/notebooks/02-a.ipynb")


def test_a_report_names_the_page_and_the_build():
    context = {"theme_repository_url": "https://github.com/one/two"}
    report = repository_links(context, "a-page", "1.0, build 3fa")["report"]
    assert report.endswith("/two/issues/new?title=a-page%3A+&body=1.0%2C%20build%203fa")


def test_a_page_loads_only_the_scripts_it_needs():
    assert scripts("<p>plain</p>", search_page=False) == ["site.js"]
    drill = '<section class="os-drill" data-drill="one"></section>'
    body = '<i data-q="m"></i>' + host() + drill
    assert scripts(body, search_page=False) == [
        "site.js",
        "link.js",
        "figures/two-chunks.js",
        "figures/host.js",
        "drills/drills.js",
    ]


def test_the_page_of_all_drills_loads_what_opens_them():
    row = '<li class="os-deck-row" id="deck-one" data-drill="one"></li>'
    assert hosts.deck_on(row) == ["one"] and hosts.drills_on(row) == []
    assert scripts(row, search_page=False) == ["site.js", "drills/drills.js"]


def test_the_marks_of_the_chapters_are_filled_on_every_page():
    plain = scripts("<p>plain</p>", search_page=False, has_marks=True)
    assert plain == ["site.js", "sittings.js", "drills/road.js"]
    drill = '<section class="os-drill" data-drill="one"></section>'
    asking = scripts(drill, search_page=False, has_marks=True)
    assert asking == ["site.js", "sittings.js", "drills/drills.js"]


def test_drills_that_cannot_be_listed_stop_the_build(monkeypatch):
    from livepage import drills

    monkeypatch.setattr(drills, "deck_html", failing)
    with pytest.raises(hosts.HostError, match="unknown"):
        hosts.deck([{"number": "2", "title": "Two", "href": "a", "drills": []}], "en")


def test_front_matter_may_hold_code_and_formulas():
    html = inline("a < b, `x < y`, *so* $a < b$, softmax's", "en")
    assert html.startswith("a &lt; b, <code>x &lt; y</code>, <em>so</em> <span")
    assert html.endswith("softmax’s")


# Stylesheet ------------------------------------------------------------------

CSS = """
/* a remark */
.used, .unused { color: red }
.unused { color: blue }
@media (min-width: 9em) {
  .unused { color: blue }
  #here > .used:not(.x) { margin: 0 1px }
}
@font-face { font-family: Gone; src: url(gone.woff2) }
.made-by-script::before { content: "a  /* kept */  b" }
"""


def test_the_stylesheet_keeps_what_can_match_and_no_more():
    used = stylesheet.names_on('<p class="used" id="here">')
    used |= stylesheet.names_in("el.className = 'made-by-script'")
    css = stylesheet.merge([CSS], used)
    assert ".unused" not in css and "Gone" not in css and "remark" not in css
    assert css.startswith(".used{color:red}")
    assert "@media (min-width:9em){#here > .used:not(.x){margin:0 1px}}" in css
    assert 'content:"a  /* kept */  b"' in css


FACES = """
@font-face { font-family: Maths; src: url(plain.woff2) }
@font-face { font-family: Maths; font-weight: 700; src: url(bold.woff2) }
@font-face { font-family: Maths; font-style: italic; src: url(slanted.woff2) }
@font-face { font-family: Maths; font-weight: 700; font-style: italic; src: url(both.woff2) }
@font-face { font-family: Text; font-weight: 600; src: url(words.woff2) }
:root { --text: Text, serif }
.katex { font: normal 1.2em Maths, serif }
.q { font: italic 1.1em/1 Maths }
.katex .bold { font-family: Maths; font-weight: 700 }
.katex .also { font-weight: bold; font-style: italic }
"""


@pytest.mark.parametrize(
    ("classes", "files"),
    [("katex", {"plain"}), ("katex bold", {"plain", "bold"}), ("q", {"slanted"}),
     ("katex also", {"plain", "both"}), ("other", set())],
)  # fmt: skip
def test_a_font_s_look_that_no_rule_asks_for_is_not_published(classes, files):
    used = stylesheet.names_on(f'<p class="{classes}">')
    css = stylesheet.merge([FACES], used)
    assert set(re.findall(r"(\w+)\.woff2", css)) == {*files, "words"}


def test_a_broken_stylesheet_stops_the_build():
    with pytest.raises(ValueError, match="cannot be read"):
        stylesheet.merge([".a { color: red } }"], set())


def test_colours_come_from_the_tokens_only():
    for sheet in ASSETS.glob("*.css"):
        css = re.sub(r"rgb\(0 0 0 / [\d.]+\)", "", sheet.read_text(encoding="utf-8"))
        assert re.findall(r"#[0-9a-fA-F]{3,8}\b|\brgba?\(|\bhsla?\(", css) == [], sheet


# Fonts and other people's files ----------------------------------------------


def test_a_font_is_cut_to_the_letters_used(tmp_path):
    whole = VENDOR / "fonts/inter/inter-latin-400-normal.woff2"
    small = fonts.cut(whole, "abc", tmp_path)
    assert small is not None and len(small) < whole.stat().st_size / 4
    assert set(map(chr, TTFont(io.BytesIO(small)).getBestCmap())) == set("abc")
    assert fonts.cut(whole, "abc", tmp_path) == small
    assert fonts.cut(whole, "漢", tmp_path) is None


def test_the_letters_of_formulas_are_found_wherever_they_wait():
    hint = json.dumps({"hints": [maths.typeset("y")]})
    html = f'<p>a</p>{maths.typeset("x+1")}<span class="q">ℓ</span><b>b</b>'
    html += f'<script type="application/json">{hint}</script>'
    assert set(fonts.formula_characters([html])) - {"\u200b"} == set("x+1yℓ")


# A whole small book ----------------------------------------------------------

NOTEBOOK = {
    "nbformat": 4,
    "nbformat_minor": 5,
    "metadata": {
        "kernelspec": {"name": "python3", "display_name": "Python 3"},
        "language_info": {"name": "python", "pygments_lexer": "ipython3"},
    },
}


BASE = "https://book.example/here/"


def render(
    folder: Path,
    text: str,
    cells: list[dict] | None = None,
    sources: str = "",
    **front: str,
) -> Path:
    """A book of one page, through the real configuration."""
    from jupyter_book.config import get_final_config
    from sphinx.application import Sphinx

    from tools.building.isolation import isolated_sphinx

    source = folder / "src"
    source.mkdir()
    markdown = {"cell_type": "markdown", "id": "t", "metadata": {}, "source": text}
    notebook = NOTEBOOK | {"cells": [markdown, *(cells or [])]}
    notebook["metadata"] = NOTEBOOK["metadata"] | front
    (source / "index.ipynb").write_text(json.dumps(notebook))
    (source / "references.bib").write_text(sources)
    toc = folder / "_toc.yml"
    toc.write_text("format: jb-book\nroot: index\n")
    config, _ = get_final_config(
        user_yaml=ROOT / "_config.yml",
        cli_config={"external_toc_path": str(toc), "latex_individualpages": False},
        sourcedir=source,
    )
    config |= {"nb_execution_mode": "off", "html_baseurl": BASE}
    with isolated_sphinx():
        app = Sphinx(
            str(source),
            None,
            str(folder / "html"),
            str(folder / "trees"),
            "html",
            confoverrides=config,
            status=None,
            warning=None,
        )
        app.build()
    return folder / "html" / "index.html"


def cell(source: str, *outputs: dict, **metadata: object) -> dict:
    return {
        "cell_type": "code",
        "id": "c",
        "metadata": metadata,
        "execution_count": None,
        "source": source,
        "outputs": list(outputs),
    }


PAGE = """# One

{q}`m` and $\\ql$. {cite:t}`key2018` published it.

```{admonition} Why
:class: dropdown

Because.
```

|   | is |
|---|----|
| m | 3 |

## Two {label}`optional`

$$
x
$$

```{bibliography}
```
"""
SOURCE = """@article{key2018, title={Online things},
author={Maxim Milakov and Natalia Gimelshein}, year={2018}, journal={A journal}}"""
FOLDS = ["hide-input", "remove-input", "remove-cell", "hide-output"]


def cells_of_the_page() -> list[dict]:
    """What was printed and what went wrong, cells that fold, a figure and a drill."""
    error = {
        "output_type": "error",
        "ename": "ValueError",
        "evalue": "block: got 0",
        "traceback": ['File "/home/me/lib.py", line 3', "ValueError: block: got 0"],
    }
    printed = {"output_type": "stream", "name": "stdout", "text": ["5.0\n"]}
    shrink = cell("alpha = in_pocket", printed, error, name="shrink")
    shrink["metadata"]["quantities"] = {"in_pocket": "l"}
    drill = '<div class="os-drill" data-drill="streaming-softmax"></div>'
    shown = [
        {"output_type": "display_data", "metadata": {}, "data": {"text/html": html}}
        for html in (host(), drill)
    ]
    cells = [shrink, *(cell(f"{tag!r}", printed, tags=[tag]) for tag in FOLDS)]
    cells += [cell("2", printed, tags=["remove-input", "hide-output"], fold="a < b")]
    cells += [cell("1", one) for one in shown]
    return [one | {"id": f"c{at}"} for at, one in enumerate(cells)]


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """One page with all that a page can have, made once for all who look at it."""
    folder = tmp_path_factory.mktemp("page")
    return render(folder, PAGE, cells_of_the_page(), SOURCE)


@pytest.fixture
def page(built) -> BeautifulSoup:
    return BeautifulSoup(built.read_text(encoding="utf-8"), "html.parser")


def texts(tags: list) -> list[str]:
    return [tag.get_text() for tag in tags]


def test_a_page_as_it_comes_out(page):
    assert page.select_one("p .q[data-q=m]").get_text() == "m"
    assert page.select_one(".math[tabindex='0'] math")
    assert page.select_one("h2 .label").get_text() == "optional"
    assert page.select_one("nav.here a[href='#two-optional'] .label")
    assert page.select_one("details.aside > summary").get_text() == "Why"
    assert page.select_one("details.aside > p").get_text() == "Because."
    assert page.select_one("footer p").get_text().endswith(" code MIT.")


def test_a_cell_shows_its_quantities_and_of_an_error_the_last_line(page):
    assert texts(page.select("#cell-shrink [data-q]")) == ["alpha", "in_pocket"]
    assert texts(page.select(".printed"))[:2] == ["5.0", "ValueError: block: got 0"]


def test_the_site_has_what_its_pages_need_and_no_more(built):
    names = {f.name for f in built.parent.rglob("*") if f.is_file()}
    assert {"index.html", "search.html", "book.css"} <= names
    assert not {"doctools.js", "basic.css", "genindex.html"} & names


def test_a_lost_reader_is_shown_the_way_at_any_depth(built):
    page = (built.parent / "404.html").read_text(encoding="utf-8")
    lost = BeautifulSoup(page, "html.parser")
    links = [tag[name] for name in ("href", "src") for tag in lost.select(f"[{name}]")]
    assert len(links) > 5 and f"{BASE}search.html" in links
    assert [link for link in links if not link.startswith((BASE, "#"))] == []
    assert lost.html["data-root"] == BASE
    assert not lost.select("[rel=canonical]") and lost.select_one("[name=robots]")
    assert "404" not in (built.parent / "sitemap.xml").read_text(encoding="utf-8")


def test_an_empty_corner_of_a_table_is_no_heading(page):
    assert [tag.name for tag in page.select("#one .table thead tr > *")] == ["td", "th"]


def test_cells_fold_and_vanish_as_their_tags_say(page):
    folded = [one.summary.get_text() for one in page.select("details.folded-code")]
    assert folded == ["Show the code", "Show what it gives", "a < b"]
    code = texts(page.select(".code"))
    assert [tag for tag in FOLDS if f"{tag!r}" in code] == ["hide-input", "hide-output"]
    assert len(page.select(".printed")) == 2 + 4
    assert len(page.select("details.folded-code .printed")) == 2


@pytest.mark.parametrize(
    "text, told",
    [
        ("# One\n\n$\\frac{a}$", r"index: KaTeX cannot set .*frac\{a\}"),
        ("# One\n\n{q}`lambda`", "index: the role q got 'lambda'"),
        ("No heading", "index: a page needs a heading"),
    ],
)
def test_a_fault_in_a_page_stops_the_build(tmp_path, text, told):
    with pytest.raises(Exception, match=told):
        render(tmp_path, text)


def test_an_unknown_figure_stops_the_build(tmp_path):
    shown = {"output_type": "display_data", "metadata": {}}
    shown["data"] = {"text/html": host().replace("two-chunks", "no-such-figure")}
    with pytest.raises(Exception, match="index: figure 'no-such-figure'"):
        render(tmp_path, "# One", [cell("1", shown)])


def test_pages_are_rendered_beside_references_to_what_is_gone():
    from sphinx.environment.collectors.toctree import TocTreeCollector
    from sphinx_external_toc import collectors

    from tools.building.isolation import isolated_sphinx

    gone = weakref.proxy(TTFont())  # nobody else holds it
    with pytest.raises(ReferenceError):
        isinstance(gone, TocTreeCollector)
    with isolated_sphinx():
        shown = collectors.gc.get_objects()
        assert not [each for each in shown if each is gone]
        assert [each for each in shown if isinstance(each, type)]
    assert [each for each in collectors.gc.get_objects() if each is gone]


# Search ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "tex, line",
    [
        (r"H_n = 1 + \frac12 + \dots + \frac1n", "H_n = 1 + 1/2 + … + 1/n"),
        (r"\frac{a + b}{\sqrt{d + 1}}", "(a + b)/(√(d + 1))"),
        (r"\dfrac{\qo}{\frac{1}{\ell'}}", "o/(1/ℓ')"),
        (r"\log p_i - \log\ell", "log p_i - log ℓ"),
        (r"\max(\alpha\,\qo, 2\!x)", "max(α o, 2x)"),
        (r"e^{m - m'} s_{i}", "e^(m - m') s_i"),
    ],
)
def test_search_reads_a_formula_without_falsifying_it(tex, line):
    assert search.readable(tex) == line


def test_marks_of_a_text_are_not_searched():
    marked = "Write `f(x)` **with `m`**, for $\\alpha$ *now*."
    assert search.unmarked(marked) == "Write f(x) with m, for α now."


def indexed(built: Path) -> dict[str, str]:
    """Address to text, as `search.js` gets them."""
    script = (built.parent / "_static" / "search-index.js").read_text(encoding="utf-8")
    entries = json.loads(script.removeprefix("window.bookIndex=").rstrip(";\n"))
    return {href: text for href, _page, _heading, text in entries}


@pytest.fixture
def found(built) -> dict[str, str]:
    return indexed(built)


def test_search_reads_citations_and_sources_as_the_page_shows_them(found):
    page, sources = found["index.html"], found["index.html#two-optional"]
    assert "Milakov and Gimelshein (2018) published it." in page
    assert sources.count("Gimelshein") == 1 and "Online things" in sources
    assert "key2018" not in page + sources


def test_search_reads_titles_of_figures_and_questions_of_drills(found):
    text = found["index.html#two-optional"]
    assert "A block arrives" in text
    assert "Write streaming_softmax(x, block)." in text
    assert "os-figure" not in text


def test_search_reads_a_page_that_this_build_did_not_write():
    class Env:
        metadata = {"one": {}}
        doctreedir = "no such folder"

        class app:
            builder = None

        def get_and_resolve_doctree(self, page, _builder):
            search.texts(self)[page] = {"top": "Dao et al. (2022)"}

    assert search.text_of(Env(), "one", "top") == "Dao et al. (2022)"
