"""The book in another language: what is translated, what is not, and what must not differ."""

from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from nbformat import v4

from livepage import translations
from livepage.fixed import differences, has_words
from livepage.translations import UNTRANSLATED, regrouped
from tools.build import HERE, Book, BuildFailed, check_languages
from tools.building import reader, translated
from tools.building.chapters import notebook
from tools.building.spans import changed_markup, parser, spans
from tools.translations import (
    contradictions,
    counted,
    faults,
    packed,
    stored,
    table,
    updated,
)

EXTENSIONS = reader.extensions(HERE.book)
PAGES = {page.name: page for page in HERE.pages}


def sources(name: str) -> list[str]:
    """The Markdown of a page of the book."""
    page = PAGES[name]
    if page.notebook_header:
        return [
            cell.source for cell in notebook(page).cells if cell.cell_type != "code"
        ]
    return [translated.FRONT_MATTER.sub("", page.source.read_text("utf-8"))]


def speak(monkeypatch, said: dict[str, str] | None = None) -> None:
    """Let each text have the translation that is given, or else itself and a word more."""

    class Longer(dict):
        def get(self, text: str, default: str | None = None) -> str:
            return f"{text} ñandú"

    found = Longer() if said is None else said
    monkeypatch.setattr(translations, "catalogue", lambda language: found)


# Pages -----------------------------------------------------------------------


def blocks(text: str) -> list[str]:
    """The blocks of a text, without what they say."""
    return [token.type for token in parser(EXTENSIONS).parse(text)]


@pytest.mark.parametrize("name", sorted(set(PAGES) - {"words"}))
def test_a_translated_page_has_the_blocks_of_the_original(monkeypatch, name):
    speak(monkeypatch)
    for text in sources(name):
        new = translated.markdown(text, "es", EXTENSIONS)
        assert blocks(new) == blocks(text)
        assert new.count("ñandú") >= len(spans(text, EXTENSIONS))


@pytest.mark.parametrize("name", PAGES)
def test_what_is_not_translated_stays_behind_a_sign(monkeypatch, name):
    speak(monkeypatch, {})
    for text in sources(name):
        new = translated.markdown(text, "es", EXTENSIONS)
        told = [one for one in spans(text, EXTENSIONS) if one.kind not in UNMARKED]
        assert new.count(UNTRANSLATED) == len(told)
        if name != "words":
            assert new.replace(UNTRANSLATED, "") == regrouped_displays(text)


UNMARKED = {"glossary-term"}


def regrouped_displays(text: str) -> str:
    return translated.DISPLAYED.sub(lambda found: regrouped(found[0]), text)


def test_every_kind_of_text_is_found():
    text = """# A heading {label}`optional`

A paragraph of *two*
lines with {glue:text}`number`.

> A quotation.

- An item,
  {term}`warps <warp>`;
- `code alone`

| a column | $x$ |
|----------|-----|
| a\\|cell  | 12  |

```{admonition} The answer
:class: dropdown

Its body.
```

```{code-cell} ipython3
not_a_text = 1
```

$$
\\qm = \\max_{\\text{seen}} s
$$
"""
    found = list(translated.texts_of_markdown(text, frozenset({"dollarmath"})))
    assert [words for _, words in found] == [
        "A heading {label}`optional`",
        "A paragraph of *two* lines with {glue:text}`number`.",
        "A quotation.",
        "An item, {term}`warps <warp>`;",
        "a column",
        "a|cell",
        "The answer",
        "Its body.",
        "seen",
    ]


def test_a_text_is_replaced_where_it_stands(monkeypatch):
    said = {"Two of us.": "Nosotros dos.", "one|two": "una|dos", "seen": "vistas"}
    speak(monkeypatch, said)
    formula = "$$\n\\max_{\\text{%s}} s\n$$\n"
    listed = "- {q}`m`:\n\n  $$\n  \\max_{\\text{%s}} s\n  $$\n"
    rest = formula + "\n" + listed
    text = "> Two\n> of us.\n\n| one\\|two |\n|---|\n\n" + rest % ("seen", "seen")
    new = "> Nosotros dos.\n\n| una\\|dos |\n|---|\n\n" + rest % ("vistas", "vistas")
    assert translated.markdown(text, "es", frozenset({"dollarmath"})) == new


def test_a_glossary_has_both_terms_in_the_order_of_the_new_ones(monkeypatch):
    speak(monkeypatch, {"lane": "carril", "tree": "árbol", "A line.": "Una línea."})
    text = "```{glossary}\nlane\n  A line.\n\ntree\n  A line.\n\nwarp\n  A line.\n```\n"
    new = translated.markdown(text, "es", frozenset())
    assert new.split("\n\n") == [
        "```{glossary}\nárbol\ntree\n  Una línea.",
        "carril\nlane\n  Una línea.",
        "warp\n  Una línea.\n```\n",
    ]


def test_front_matter_is_translated_but_names_are_not(monkeypatch):
    speak(monkeypatch, {"One thing.": "Una cosa.", "the sum": "la suma"})
    head = {
        "description": "One thing.",
        "learn": ["the sum", "a product"],
        "moved": "a b",
    }
    assert translated.front(head, "es") == {
        "description": "Una cosa.",
        "learn": ["la suma", f"{UNTRANSLATED}a product"],
        "moved": "a b",
    }


def test_a_cell_keeps_its_code_and_what_it_printed(monkeypatch):
    speak(
        monkeypatch, {"one column": "una columna", "five": "cinco", "Why?": "¿Por qué?"}
    )
    table_html = '<table aria-label="one column"><th>one column</th><td>5 &lt; 6</td>'
    glue = {"application/papermill.record/text/plain": "'five'"}
    outputs = [
        v4.new_output("stream", text="one column"),
        v4.new_output("display_data", {"text/html": table_html}),
        v4.new_output("display_data", glue),
    ]
    cell = v4.new_code_cell("print('five')  # one column", outputs=outputs)
    nb = v4.new_notebook(cells=[v4.new_markdown_cell("Why?"), cell])
    new = translated.notebook(nb, "es", EXTENSIONS)
    assert new.cells[0].source == "¿Por qué?"
    assert new.cells[1].source == cell.source
    printed, shown, glued = new.cells[1].outputs
    assert printed.text == "one column"
    assert shown.data["text/html"] == table_html.replace("one column", "una columna")
    assert glued.data[translated.GLUED] == "'cinco'"
    assert nb.cells[1].outputs[1].data["text/html"] == table_html  # a copy was changed


def test_what_a_cell_gives_is_marked_if_it_is_not_translated(monkeypatch):
    speak(monkeypatch, {"a label": "un rótulo", "in all": "en total"})
    shown = '<th data-label="a label">a word</th><td data-label="a label">5</td>'
    shown += (
        "<p><code>a</code> of it<b>in all</b></p><p>A CPU, 1,024 KiB; 2026-11-29;</p>"
    )
    new = translated.html(shown, "es")
    english = 'lang="en" data-untranslated="aún en inglés"'
    assert new == (
        f'<th data-label="un rótulo" {english}>a word</th>'
        '<td data-label="un rótulo">5</td>'
        f"<p><code>a</code> <span {english}>of it</span><b>en total</b></p>"
        "<p>A CPU, 1024 KiB; 2026-11-29;</p>"
    )
    texts = [text for _, text in translated.texts_of_html(shown)]
    assert texts == ["a label", "a word", "a label", "5", "of it", "in all"]


def test_what_a_cell_hands_over_is_marked_if_it_is_not_translated(monkeypatch):
    speak(monkeypatch, {})
    glue = v4.new_output("display_data", {translated.GLUED: "'43 percent'"})
    cell = v4.new_code_cell("", outputs=[glue], metadata={"fold": "The threads"})
    [new] = translated.notebook(v4.new_notebook(cells=[cell]), "es", EXTENSIONS).cells
    assert new.metadata["fold"] == f"{UNTRANSLATED}The threads"
    assert new.outputs[0].data[translated.GLUED] == repr(f"{UNTRANSLATED}43 percent")


@pytest.mark.parametrize(
    "text",
    ["**`x`** is one.", "*(a)* b", '"Quoted" words', "_One_ of two", "**“Q” a** b"],
)
def test_the_sign_leaves_the_marks_behind_it_as_they_are(text):
    def marks(text: str) -> list[tuple[str, str]]:
        [block] = [one for one in parser(EXTENSIONS).parse(text) if one.children]
        found = [(one.type, one.content) for one in block.children]
        return [one for one in found if one != ("text", "")]

    signed = [
        (kind, said.removeprefix(UNTRANSLATED))
        for kind, said in marks(UNTRANSLATED + text)
    ]
    assert [one for one in signed if one != ("text", "")] == marks(text)


def test_code_in_an_output_is_no_text():
    html = "<p>a word</p><pre>a line</pre><code>a name</code><p>A CPU; 2026-11-29;</p>"
    assert list(translated.texts_of_html(html)) == [("output", "a word")]


# Numbers ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, wanted",
    [
        ("1,024 and 65,536", "1024 and 65\u202f536"),
        ("1,048,576 keys", "1\u202f048\u202f576 keys"),
        ("`1,024` and 0.5", "`1,024` and 0.5"),
        ("scores 3, 5, 4 and (1,2)", "scores 3, 5, 4 and (1,2)"),
        ("1,0245 and 12,34", "1,0245 and 12,34"),
        ("$10{,}000 + 1{,}024$", "$10\\,000 + 1024$"),
        ("$1,024$", "$1,024$"),  # a pair
        ("``a`1,024`` 1,024", "``a`1,024`` 1024"),
        ("[1,024](b/1,024.html)", "[1024](b/1,024.html)"),
        (
            "<https://a.org/1,024> https://a.org/1,024 x",
            "<https://a.org/1,024> https://a.org/1,024 x",
        ),
        ("12,345.6 ms, 3 < 1,024 > 2", "12\u202f345.6 ms, 3 < 1024 > 2"),
        ("keys [0,128) and 0,125", "keys [0,128) and 0,125"),
    ],
)
def test_thousands_have_no_comma(text, wanted):
    assert regrouped(text) == wanted


# What a translation keeps ----------------------------------------------------


@pytest.mark.parametrize(
    "text, new",
    [
        ("Use `x` twice.", "Usa `y` dos veces."),
        ("It is $m = 3$.", "Es $m = 4$."),
        ("{glue:text}`a` bytes", "{glue:text}`b` bytes"),
        ("{glue:text}`a` bytes", "`a` bytes"),
        ("{q}`m` rises", "{q}`l` sube"),
        ("{term}`warps <warp>`", "{term}`warps <lane>`"),
        ("[chapter 2](02.md#a)", "[capítulo 2](02.md#b)"),
        ("1,024 keys", "1,025 claves"),
        ("two keys", "2 claves"),
        ("{cite:t}`dao2022` found", "encontró"),
        ('[chapter](02.md "a title")', '[capítulo](03.md "un título")'),
        ("[chapter](<02 b.md>)", "[capítulo](<03 b.md>)"),
        ("{here} waits, {name} does not", "el {here} espera, {nombre} no"),
        ("−3 and 4", "3 y 4"),
        ("50% of them", "50 de ellas"),
        ("10⁻⁴ of a second", "10⁻⁵ segundos"),
        ("½ of them", "¼ de ellas"),
        (r"$\mathrm{softmax}(x)$", r"$\mathrm{max}(x)$"),
        (r"$a \text{if } b$", "$a b$"),
    ],
)
def test_a_translation_that_changes_a_part_is_refused(text, new):
    assert differences(text, new)


@pytest.mark.parametrize(
    "text, new",
    [
        ("`x` before $y$, 3 times", "3 veces $y$ tras `x`"),
        ("$\\max_{\\text{seen}} s$", "$\\max_{\\text{vistas}} s$"),
        ("{term}`merge`", "{term}`unión <merge>`"),
        ("{label}`optional`", "{label}`opcional`"),
        ("{glue:text}`a:.1f` of\n10", "{glue:text}`a:.1f` de 10"),
        ("{ref}`the page <a>`", "{ref}`la página <a>`"),
        ('[chapter](02.md "a title")', '[capítulo](02.md "un título")'),
        (r"costs \$5 and \$6", r"cuestan \$5 y \$6"),
        ("-3 and 50%", "50 % y −3"),
        ("2–4 keys", "de 2 a 4 claves"),
        ("3-byte words", "palabras de 3 bytes"),
    ],
)
def test_a_translation_may_change_words_and_order(text, new):
    assert differences(text, new) == []


@pytest.mark.parametrize(
    "text, new",
    [
        ("**Never** twice.", "Nunca dos veces."),
        ("**Never** twice.", "**Nunca dos veces."),
        ("*One* key.", "*Una * clave."),
        ("Two keys.", "2. Dos claves."),
        ("Less one.", "- uno."),
        ("More.", "> más"),
        ("More.", "Más.\n\nY más."),
        ("More.", "Más\ny más."),
        ("More.", " "),
        ("More.", "    Más."),
        ("More <b>words</b>.", "Más <i>palabras</i>."),
        ("<https://a.org/b> says", "<https://a.org/c> dice"),
        ("![a wave](a.png)", "[una ola](a.png)"),
        ("[chapter](02.md)", "[capítulo] (02.md)"),
        ("$a$ and more", "$a$ y más$"),
        ("Half of it", "La ``mitad`"),
    ],
)
def test_a_translation_that_breaks_the_markdown_is_refused(text, new):
    assert changed_markup(text, new, EXTENSIONS)


@pytest.mark.parametrize(
    "text, new",
    [
        ("Its **weight**.", "Su **peso** (*weight*)."),
        ("One\n\ntwo\nlines.", "Una\n\ndos líneas."),
        ('[page](a.md "one")', '[página](a.md "una")'),
        ("- one\n- `two`", "- uno\n- `two`"),
        ("{term}`race` and", "{term}`carrera <race>` y"),
    ],
)
def test_a_translation_may_tell_the_english_term(text, new):
    assert changed_markup(text, new, EXTENSIONS) == []


@pytest.mark.parametrize(
    "text, has",
    [
        ("A word", True),
        ("`code` $x = y$ {glue:text}`name`", False),
        ("{term}`warps <warp>`", True),
        ("$\\text{width}$, 12 %", False),
        ("x", False),
    ],
)
def test_what_has_no_words_needs_no_translation(text, has):
    assert has_words(text) is has


# Files -----------------------------------------------------------------------


def put(folder: Path, page: str, catalog: Catalog) -> None:
    folder.mkdir(exist_ok=True)
    (folder / f"{page}.po").write_bytes(packed(catalog))


def test_an_edited_text_keeps_its_translation_as_a_proposal(tmp_path, monkeypatch):
    wanted = [("paragraph", "The sum may shrink."), ("paragraph", "Nothing else.")]
    first = updated("page", wanted, {}, "es")
    first["The sum may shrink."].string = "La suma puede menguar."
    first["Nothing else."].string = "Nada más."
    put(tmp_path, "page", first)
    edited = [("paragraph", "The sum may shrink a lot."), wanted[1]]
    put(tmp_path, "page", updated("page", edited, stored(tmp_path), "es"))

    entries = stored(tmp_path)["page"]
    assert list(entries) == [text for _, text in edited]
    new = entries["The sum may shrink a lot."]
    assert new.fuzzy and new.string == "La suma puede menguar."
    assert (
        counted(entries.values()) == (2, 1, 1)
        and counted(entries.values()).missing == 0
    )
    assert "page      2           1      1        0" in table(
        {"page": counted(entries.values())}
    )
    monkeypatch.setattr(
        translations, "po_files", lambda language: [*tmp_path.glob("*.po")]
    )
    translations.forget()
    assert translations.translation("The sum may shrink a lot.", "es") is None
    assert translations.translation("Nothing else.", "es") == "Nada más."
    translations.forget()
    # A second update changes nothing, and loses nothing.
    again = packed(updated("page", edited, stored(tmp_path), "es"))
    assert again == (tmp_path / "page.po").read_bytes()


def test_a_text_that_moves_to_another_page_keeps_its_translation(tmp_path):
    first = updated("one", [("paragraph", "A thought.")], {}, "es")
    first["A thought."].string = "Una idea."
    put(tmp_path, "one", first)
    moved = updated("two", [("heading", "A thought.")], stored(tmp_path), "es")
    assert moved["A thought."].string == "Una idea."


def test_a_broken_translation_is_named():
    catalog = updated("page", [("paragraph", "Use `x`.")], {}, "es")
    catalog["Use `x`."].string = "Usa `y`."
    [fault] = faults("page", catalog)
    assert fault == "page.po: 'Use `x`.': lacks `x`; adds `y`"
    catalog["Use `x`."].string = "**Usa** `x`."
    assert list(faults("page", catalog)) == [
        "page.po: 'Use `x`.': adds the mark strong"
    ]
    catalog["Use `x`."].flags.add("fuzzy")  # no reader sees it
    assert list(faults("page", catalog)) == []


HEAD = 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=utf-8\\n"\n\n'
ENTRY = 'msgid "One thing"\nmsgstr "Una cosa"\n'


@pytest.mark.parametrize(
    "content, wanted",
    [
        (HEAD + 'msgid "One thing\nmsgstr "Una cosa"\n', ":5: .*quotation marks"),
        (HEAD + 'msgid "One thing"\nmsgstr "Una cosa\n', ":6: .*quotation marks"),
        (HEAD + ENTRY + "more\n", ":7: .*got 'more'"),
        (HEAD + "<<<<<<< HEAD\n" + ENTRY, ":5: .*HEAD"),
        (HEAD + ENTRY + "\n" + ENTRY, ":8: .*on line 5: 'One thing'"),
        (HEAD + 'msgid "One thing"\n\nmsgid "Two"\nmsgstr ""\n', ":5: missing msgstr"),
        (
            HEAD + 'msgid "One"\nmsgid_plural "Two"\nmsgstr[0] ""\n',
            ":6: .*msgid_plural",
        ),
        ((HEAD + 'msgid "One"\nmsgstr "Año"\n').encode("latin-1"), ":6: .*UTF-8"),
    ],
)
def test_a_damaged_file_is_refused_with_the_line(tmp_path, content, wanted):
    file = tmp_path / "page.po"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ValueError, match=f"page.po{wanted}"):
        translations.read_file(file)
    with pytest.raises(ValueError, match=f"page.po{wanted}"):
        stored(tmp_path)


@pytest.mark.parametrize(
    "content",
    [
        HEAD + ENTRY,
        ENTRY,
        "\ufeff" + HEAD + ENTRY,
        (HEAD + ENTRY).replace("\n", "\r\n"),
        HEAD.replace("utf-8", "latin-1") + '#~ msgid "Old"\n#~ msgstr ""\n\n' + ENTRY,
    ],
)
def test_a_file_from_another_editor_is_read(tmp_path, content):
    file = tmp_path / "page.po"
    file.write_bytes(content.encode())
    assert [(one.id, one.string) for one in translations.read_file(file)] == [
        ("One thing", "Una cosa")
    ]


def test_a_text_with_two_translations_is_named(tmp_path):
    for page, new in {"a": "Una cosa", "b": "Una cosa", "c": "Otra cosa"}.items():
        (tmp_path / f"{page}.po").write_text(HEAD + ENTRY.replace("Una cosa", new))
    assert list(contradictions(stored(tmp_path))) == [
        "c.po: 'One thing': a.po translates it otherwise"
    ]


def test_a_language_without_files_has_no_texts():
    assert table({}).splitlines()[1].split() == ["all", "0", "0", "0", "0"]


@pytest.mark.parametrize(
    "said, wanted",
    [
        ("{fr: fr/}", "book_translations: fr: expected a language of the kit: es"),
        ("{en: en/}", "book_translations: en: expected a language"),
        ("{es: es}", "book_translations: es: expected a folder like es/, got es"),
        ("{es: ../es/}", "expected a folder like es/, got ../es/"),
    ],
)
def test_a_translation_that_cannot_be_made_is_refused_at_once(tmp_path, said, wanted):
    (tmp_path / "_config.yml").write_text(
        f"sphinx: {{config: {{book_translations: {said}}}}}"
    )
    with pytest.raises(BuildFailed, match=wanted):
        check_languages(Book(tmp_path, tmp_path / "_build"))


@pytest.mark.parametrize("said", ["{}", "", "{es: es/}"])
def test_a_book_may_have_no_translation(tmp_path, said):
    (tmp_path / "_config.yml").write_text(
        f"sphinx:\n  config:\n    book_translations: {said}\n"
    )
    check_languages(Book(tmp_path, tmp_path / "_build"))


@pytest.mark.parametrize("language", HERE.languages)
def test_no_translation_of_the_book_is_broken(language):
    entries = stored(HERE.book / "locale" / language)
    assert len(entries) > 20
    found = [
        fault for page, each in entries.items() for fault in faults(page, each.values())
    ]
    assert found + list(contradictions(entries)) == []
