"""What every chapter owes its reader, read off its source."""

import re
from collections import Counter
from pathlib import Path

import jupytext
import pytest
import yaml

from livepage.drills.bank import bank
from livepage.figures import registry
from tools.building.chapters import road
from tools.site.words import length

BOOK = Path(__file__).parents[2] / "book"
ROAD = road(BOOK.parent / "_toc.yml", BOOK)
PAGES = [BOOK / f"{stop.file}.md" for stop in ROAD if stop.file]
CHAPTERS = [file for file in PAGES if not file.stem.startswith("museum")]
BRANCHES = {stop.file for stop in ROAD if stop.part == "Branches"}
PARTS = yaml.safe_load((BOOK.parent / "_toc.yml").read_text("utf-8"))["meta"][
    "branches"
]
ANY_ORDER = [stop.file for stop in ROAD if stop.part in PARTS]
ROOMS = [name for name in ANY_ORDER if name.startswith("museum-")]
MAIN_ROAD = [file for file in CHAPTERS if file.stem not in BRANCHES]

GLUED = re.compile(r"\{glue:text\}`([\w-]+)")
QUANTITY = re.compile(r"\{q\}`(\w+)`")
QUANTITY_MACRO = re.compile(r"\\q([mlaosp])(?![a-z])")
CALL = re.compile(r'\b(glue|figure|drill)\("([\w-]+)"')
ANCHOR = re.compile(r"^\((.+)\)=$", re.M)
TWENTY = re.compile(
    r"\*\*If you have twenty minutes\*\*, read \[.+?\]\(#([\w-]+)\) alone"
)
SECTION = re.compile(r"(?<!\)=\n)^(?=(?:\(.+\)=\n)+## )", re.M)
MAY_BE_LEFT_OUT = re.compile(r"Sources|.*\{label\}`optional`")
# Words that tell a reader who is stuck that the fault is theirs.
HOUSE_AVOIDS = re.compile(r"\b(simply|obviously|clearly|trivial\w*|of course)\b", re.I)

for_each_chapter = pytest.mark.parametrize("file", CHAPTERS, ids=lambda file: file.stem)
for_each_page = pytest.mark.parametrize("file", PAGES, ids=lambda file: file.stem)


def front_matter(file: Path) -> dict:
    """The YAML at the head of a page."""
    return yaml.safe_load(file.read_text(encoding="utf-8").split("---\n")[1])


def prose(file: Path) -> str:
    """A chapter's text cells."""
    cells = jupytext.read(file).cells
    return "\n\n".join(c.source for c in cells if c.cell_type == "markdown")


def calls(file: Path, function: str) -> list[str]:
    """The names that a chapter's code hands to `glue`, `figure` or `drill`."""
    cells = jupytext.read(file).cells
    code = "\n".join(c.source for c in cells if c.cell_type == "code")
    return [name for called, name in CALL.findall(code) if called == function]


def words(text: str) -> int:
    """How many words a reader meets; a formula counts as one."""
    text = re.sub(r"\$\$.*?\$\$|\$[^$\n]+\$", " formula ", text, flags=re.S)
    text = ANCHOR.sub("", text)
    return len(re.findall(r"[^\W_][\w'’,.-]*", text))


def test_there_are_chapters():
    assert CHAPTERS


@for_each_chapter
def test_front_matter_is_complete(file):
    head = front_matter(file)
    assert 50 <= len(head["description"]) <= 160
    lines = head["learn"] + head["need"]
    assert not [line for line in lines if not isinstance(line, str) or not line]
    assert head["line"]


@for_each_chapter
def test_the_order_of_a_chapter(file):
    headings = re.findall(r"^(#+) (.+)$", prose(file), re.M)
    assert [level for level, _ in headings].count("#") == 1
    assert headings[0][0] == "#"
    titles = [title for level, title in headings if level == "##"]
    assert titles[-3:] == ["Recap", "Drills", "Sources"]
    opening = prose(file).split("\n## ")[0]
    assert "?" in opening, "a chapter opens with a question"


@pytest.mark.parametrize("file", MAIN_ROAD, ids=lambda file: file.stem)
def test_length(file):
    """What a reader has to read: no Sources, and no section that may be left out."""
    opening, *sections = re.split(r"^## ", prose(file), flags=re.M)
    owed = [s for s in sections if not MAY_BE_LEFT_OUT.match(s)]
    assert 1200 <= words("\n".join([opening, *owed])) <= 2700


@for_each_page
def test_every_number_in_the_prose_is_glued_and_every_glued_number_used(file):
    used, glued = GLUED.findall(prose(file)), calls(file, "glue")
    assert max(Counter(glued).values(), default=1) == 1, "a name glued twice"
    assert set(used) == set(glued)


@for_each_chapter
def test_figures_exist_and_differ(file):
    placed = calls(file, "figure")
    assert placed and set(placed) <= set(registry.ids())


@for_each_page
def test_the_drills_of_a_page_are_all_in_it_once(file):
    assert sorted(calls(file, "drill")) == sorted(
        id for id, drill in bank().items() if drill.chapter == file.stem
    )


def test_every_drill_is_on_a_page_of_the_book():
    pages = {file.stem for file in PAGES}
    assert [id for id, one in bank().items() if one.chapter not in pages] == []


def sections(page: str) -> list[str]:
    """A page's opening, then its sections, each with its anchors."""
    return SECTION.split((BOOK / f"{page}.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", [name for name in ANY_ORDER if name not in ROOMS])
def test_a_branch_opens_with_twenty_minutes_a_figure_and_a_drill(page):
    (target,) = TWENTY.findall(sections(page)[0])
    around = ROOMS if page == "museum" else [page]
    parts = [part for name in around for part in sections(name)[1:]]
    (section,) = (part for part in parts if target in ANCHOR.findall(part))
    called = [function for function, _ in CALL.findall(section) if function != "glue"]
    assert called[:2] == ["figure", "drill"]


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_has_a_figure_and_says_what_an_exhibit_takes(room, html):
    opening, *exhibits = sections(room)
    assert re.search(r"\b[Ee]ach (exhibit )?takes about ten minutes\.", opening)
    promised = length(html / f"{room}.html")
    minutes = (promised.reading + promised.doing) / len(exhibits)
    assert 5 < minutes <= 10
    assert calls(BOOK / f"{room}.md", "figure")


@for_each_chapter
def test_a_chapter_has_something_to_debug_and_something_to_build(file):
    drills = {id: drill for id, drill in bank().items() if drill.chapter == file.stem}
    code = [drill for drill in drills.values() if drill.kind in ("code", "kernel")]
    debug = [drill for drill in code if "Find the fault" in drill.get("prompt")]
    assert debug, "something to debug"
    assert len(code) > len(debug), "something to build"


@for_each_chapter
def test_sentences_and_equations_name_the_same_quantities(file):
    text = prose(file)
    in_sentences = {name[0] for name in QUANTITY.findall(text)}
    in_equations = set(QUANTITY_MACRO.findall(text))
    assert {"m", "l"} <= in_sentences <= in_equations


@for_each_page
def test_tone(file):
    assert HOUSE_AVOIDS.findall(prose(file)) == []


@for_each_chapter
def test_the_essays_are_discussed_in_the_sources_only(file):
    """A reader cannot get them: the text says what is right, not who said otherwise."""
    text, sources = prose(file).split("\n## Sources\n")
    assert "{cite:t}`essay" not in text
    assert "{cite:" in sources


def test_anchors_are_unique_across_the_book():
    anchors = Counter(a for file in PAGES for a in ANCHOR.findall(file.read_text()))
    assert [anchor for anchor, times in anchors.items() if times > 1] == []
    assert not set(anchors) & set(registry.ids()), "a figure has that id already"


def test_an_old_number_in_a_file_name_is_the_chapter_s_number():
    for stop in ROAD:
        if old := re.match(r"\d\d", stop.file):
            assert int(old[0]) == stop.number


TOC = """
format: jb-book
root: index
parts:
  - caption: One
    chapters: [{file: first}]
  - caption: Branches
    chapters: [{file: fourth}]
  - caption: More
    chapters: [{file: sources}]
meta:
  planned:
    - {number: 2, part: One, title: Second, line: Soon.}
    - {number: 3, part: Branches, title: Third, line: Later.}
"""


def written(folder: Path) -> Path:
    """A book of two chapters; two that lie between them are planned."""
    for name in ("index", "first", "fourth", "sources"):
        line = "" if name in ("index", "sources") else "line: Now.\n"
        text = f"---\ndescription: A page.\n{line}---\n# {name.title()}\n"
        (folder / f"{name}.md").write_text(text)
    toc = folder / "_toc.yml"
    toc.write_text(TOC)
    return toc


def test_chapters_may_be_written_in_any_order(tmp_path):
    assert road(written(tmp_path), tmp_path) == [
        (1, "One", "First", "Now.", "first"),
        (2, "One", "Second", "Soon.", ""),
        (3, "Branches", "Third", "Later.", ""),
        (4, "Branches", "Fourth", "Now.", "fourth"),
    ]


@pytest.mark.parametrize("number", [3, 5])
def test_a_planned_chapter_has_a_number_of_its_own_and_leaves_no_gap(tmp_path, number):
    toc = written(tmp_path)
    toc.write_text(TOC.replace("number: 2", f"number: {number}"))
    with pytest.raises(
        ValueError, match=rf"different numbers up to 4, got \[{number}, 3"
    ):
        road(toc, tmp_path)


def test_every_citation_has_its_source_and_every_source_is_cited():
    cited = set()
    for file in BOOK.glob("*.md"):
        text = file.read_text(encoding="utf-8")
        for keys in re.findall(r"\{cite:[pt]\}`([^`]+)`", text):
            cited |= {key.strip() for key in keys.split(",")}
    sources = re.findall(r"^@\w+\{(\w+),", (BOOK / "references.bib").read_text(), re.M)
    assert len(sources) == len(set(sources))
    assert cited == set(sources)


GLOSSARY = re.compile(r"^(\S.*)\n  (.+) \[Chapter \d+\]\(([\w-]+)\.md\)\.$", re.M)
TERMS = GLOSSARY.findall((BOOK / "words.md").read_text(encoding="utf-8"))
BOLD = re.compile(r"\*\*([^*\n]+)\*\*")
TERM = re.compile(r"\{term\}`(?:[^`<]*<)?([^`<>]+)>?`")


def plain(term: str) -> str:
    """A term without what stands in brackets behind it."""
    return term.partition(" (")[0].lower()


@pytest.mark.parametrize(("term", "page"), [(t, page) for t, _, page in TERMS])
def test_the_chapter_that_builds_a_term_has_it_in_bold(term, page):
    bold = " | ".join(BOLD.findall(prose(BOOK / f"{page}.md"))).lower()
    assert plain(term)[:6] in bold


@for_each_page
def test_a_page_links_no_term_that_it_has_in_bold(file):
    text = prose(file)
    bold = {word.lower().rstrip("s") for word in BOLD.findall(text)}
    assert not [t for t in TERM.findall(text) if plain(t).rstrip("s") in bold]
