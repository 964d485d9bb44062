"""The pages in other languages beside those of the original."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from sphinx.application import Sphinx

import site_checks as checks
from livepage import translations
from livepage.figures import registry
from livepage.site.translated import translating
from livepage.translations import UNTRANSLATED
from tools.build import HERE
from tools.building.isolation import isolated_sphinx

ROOT = Path(__file__).resolve().parents[2]
TRANSLATIONS = {code: place.strip("/") for code, place in HERE.languages.items()}
Site = dict[str, BeautifulSoup]


@pytest.fixture(scope="module")
def site(html: Path) -> Site:
    return checks.read_site(html)


def pairs(site: Site) -> list[tuple[str, str, BeautifulSoup, BeautifulSoup]]:
    """Language, name, original and translation of each page."""
    return [
        (code, name, site[name], site[f"{place}/{name}"])
        for code, place in TRANSLATIONS.items()
        for name in site
        if "/" not in name
    ]


def anchors(page: BeautifulSoup) -> list[str]:
    """Where a reader may be on a page, and what of it counts."""
    found = page.select("section[id], .cell[id], .os-drill[id], dt[id]")
    return [tag["id"] for tag in found]


def test_a_page_has_the_same_places_in_each_language(site):
    for _, name, original, translated in pairs(site):
        if name == "words.html":  # entries stand in the order of their own alphabet
            assert set(anchors(original)) <= set(anchors(translated))
        else:
            assert anchors(original) == anchors(translated), name


def test_a_page_has_the_same_parts_and_drills_in_each_language(site):
    for _, name, original, translated in pairs(site):
        for part in (".stop", ".parts"):
            kept = [
                [(tag["data-page"], tag.get("data-part")) for tag in page.select(part)]
                for page in (original, translated)
            ]
            assert kept[0] == kept[1], name
        times = [
            re.findall(
                r"\d+", " ".join(tag.get_text() for tag in page.select(".head-facts"))
            )
            for page in (original, translated)
        ]
        assert times[0] == times[1], name


def test_pages_name_each_other(site):
    for code, name, original, translated in pairs(site):
        for page, lang, other, place in (
            (original, "en", code, f"{TRANSLATIONS[code]}/{name}"),
            (translated, code, "en", f"../{name}"),
        ):
            assert page.html["lang"] == lang
            [alternate] = page.select(f'link[rel=alternate][hreflang="{other}"]')
            [switch] = page.select(f'a.language[hreflang="{other}"]')
            assert alternate["href"] == switch["href"]
            assert switch["href"].removeprefix("./") == place
            assert switch["lang"] == other and switch.get_text(strip=True)


def test_only_what_is_marked_is_english(site):
    """Headings, paragraphs and captions; what programs print stays as it is."""
    for _, name, original, translated in pairs(site):
        if name in ("search.html", "404.html"):  # these list headings of other pages
            continue
        english = {
            text
            for tag in original.select("main p, main h2, main li")
            for text in [said(tag)]
            if text
        }
        same = [
            said(tag)
            for tag in translated.select("main p, main h2, main li")
            if said(tag) in english
            and not tag.find_parent(lang="en")
            and not tag.select("[lang=en]")
            and tag.get("lang") != "en"
            and not tag.find_parent(class_=["os-measured", "os-figure"])
        ]
        assert same == [], name


def test_what_is_offered_in_english_says_so(site):
    for _, name, original, translated in pairs(site):
        for link in translated.select(".head-facts a[download]"):
            assert link.get_text().endswith(" (en inglés)"), name
        for link in original.select(".head-facts a[download]"):
            assert "(" not in link.get_text(), name


def test_figures_on_a_page_speak_its_language(html):
    """Also once a script has drawn them anew."""
    for code, place in TRANSLATIONS.items():
        for file in (html / place / "_static" / "figures").glob("*.js"):
            name = file.stem
            if name in registry.ids():
                title = registry.strings(name)[code]["title"]
                assert json.dumps(title, ensure_ascii=False)[1:-1] in file.read_text(
                    "utf-8"
                )


def said(tag: BeautifulSoup) -> str:
    """The words of an element, if it has more than a few besides code and formulas."""
    text = " ".join(
        one
        for one in tag.find_all(string=True)
        if not one.find_parent(["code", "pre", "script"])
        and not one.find_parent(class_="katex")
    )
    words = re.findall(r"[^\W\d_]{2,}", text)
    return " ".join(text.split()) if len(words) > 4 else ""


# One page of its own ----------------------------------------------------------

CONF = """
extensions = ["livepage.site"]
book_module = "rescaling"
language = {language!r}
project = "A book"
book_translations = {translations}
"""
FRONT = "---\ndescription: {}What it is.\nlearn: ['{}to count']\n---\n\n"
ASIDE = "\n```{{admonition}} {}The answer\n:class: dropdown\n\nUno.\n```\n"
TEXT = "# A title\n\nA line.\n\n## A part\n\nMore of it.\n\n- one thing\n- another\n"
HALF = (
    "# Un título\n\nUna línea.\n\n## {sign}A part\n\n{sign}More of it.\n\n"
    "- una cosa\n- {sign}another\n"
).replace("{sign}", UNTRANSLATED)


def render(folder: Path, text: str, language: str, original=None) -> Sphinx:
    """Render one page; a translation follows the environment of the original."""
    source = folder / f"src-{language}"
    source.mkdir(parents=True, exist_ok=True)
    others = {"es": "es/"} if language == "en" else {"en": "../"}
    conf = CONF.format(language=language, translations=others)
    (source / "conf.py").write_text(conf)
    (source / "index.md").write_text(text)
    out = folder / "html" / ("" if language == "en" else language)
    trees = folder / f"trees-{language}"
    with isolated_sphinx():
        app = Sphinx(
            source, source, out, trees, "html", status=None, warning=io.StringIO()
        )
        if original is None:
            app.build()
        else:
            with translating(original):
                app.build()
    return app


@pytest.fixture(scope="module")
def half(tmp_path_factory) -> BeautifulSoup:
    """A page of which a part is not translated."""
    folder = tmp_path_factory.mktemp("two-languages")
    text = FRONT.format("", "") + TEXT + ASIDE.format("")
    original = render(folder, text, "en").env
    text = FRONT.format(UNTRANSLATED, UNTRANSLATED) + HALF
    render(folder, text + ASIDE.format(UNTRANSLATED), "es", original)
    text = (folder / "html" / "es" / "index.html").read_text("utf-8")
    return BeautifulSoup(text, "html.parser")


def test_what_is_not_translated_is_marked(half):
    marked = half.select("main [data-untranslated]")
    english = ["What it is.", "to count", "A part", "More of it.", "another"]
    english.append("The answer")
    assert [tag.get_text() for tag in marked] == english
    assert {tag["lang"] for tag in marked} == {"en"}
    assert {tag["data-untranslated"] for tag in marked} == {"aún en inglés"}
    assert UNTRANSLATED not in str(half)


def test_what_is_translated_is_not_marked(half):
    for tag in half.select("h1, main p"):
        if tag.get_text() in ("Un título", "Una línea."):
            assert not tag.select("[lang]") and not tag.get("lang")


def test_a_link_to_a_heading_speaks_the_language_of_the_page(half):
    titles = {tag["title"] for tag in half.select("a.headerlink")}
    assert titles == {"Enlace a este lugar"}


def test_sections_keep_the_anchors_of_the_original(half):
    assert [tag["id"] for tag in half.select("main section")] == ["a-title", "a-part"]


def test_the_original_leaves_the_files_of_a_translation_alone(tmp_path):
    render(tmp_path, HALF, "es", render(tmp_path, TEXT, "en").env)
    shared = tmp_path / "html" / "es" / "_static"
    before = sorted(shared.rglob("*"))
    stray = tmp_path / "html" / "_static" / "old.js"
    stray.write_text("")
    render(tmp_path, TEXT + "\nAnd more.\n", "en")
    assert len(before) > 5 and sorted(shared.rglob("*")) == before
    assert not stray.exists()


def test_no_two_places_of_a_page_have_the_same_name(tmp_path):
    """A section is numbered where its title is its label; a footnote, where it is."""
    note = "\n\n[^1]: Una nota.\n"
    text = f"# A title\n\n(a-part)=\n## A part\n\nMore[^1].{note}"
    original = render(tmp_path, text, "en").env
    text = f"# Un título\n\n(a-part)=\n## Una parte\n\nY más[^1].{note}"
    render(tmp_path, text, "es", original)
    for page in ("index.html", "es/index.html"):
        html = BeautifulSoup(
            (tmp_path / "html" / page).read_text("utf-8"), "html.parser"
        )
        names = [tag["id"] for tag in html.find_all(id=True)]
        assert sorted(set(names)) == sorted(names), page
        assert html.select("section[id=a-part]")


def test_a_translation_with_another_section_is_refused(tmp_path):
    original = render(tmp_path, TEXT, "en").env
    with pytest.raises(
        Exception, match="index: the translation has 3 sections, and the original 2"
    ):
        render(tmp_path, TEXT + "\n## Otra\n", "es", original)


def test_a_fuzzy_translation_is_not_shown(tmp_path, monkeypatch):
    file = tmp_path / "page.po"
    head = 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=utf-8\\n"\n\n'
    file.write_text(head + 'msgid "One thing."\nmsgstr "Una cosa."\n')
    monkeypatch.setattr(translations, "po_files", lambda language: [file])
    translations.forget()
    assert translations.translation("One thing.", "es") == "Una cosa."
    assert translations.translation("One thing.", "en") == "One thing."
    assert translations.translation("Another thing.", "es") is None
    translations.forget()
    file.write_text(head + '#, fuzzy\nmsgid "One thing."\nmsgstr "Una cosa, creo."\n')
    assert translations.translation("One thing.", "es") is None
    translations.forget()
