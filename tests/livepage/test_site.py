"""The built site: nothing dead, nothing from outside, nothing a reader cannot see."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest
import yaml

import site_checks as checks

ROOT = Path(__file__).resolve().parents[2]

from livepage.site.page import CONTENT_SECURITY_POLICY as POLICY  # noqa: E402
from tools.building.chapters import pages  # noqa: E402
from tools.site.budgets import weight  # noqa: E402

PAGE = """<!DOCTYPE html><html lang="en"><head><title>A page</title>
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="description" content="A page."></head>
<body><h1 id="top">A page</h1>{body}</body></html>"""


def page(body: str = "", whole: str = PAGE) -> checks.BeautifulSoup:
    return checks.parse(whole.format(policy=POLICY, body=body))


@pytest.fixture(scope="module")
def site(html: Path) -> dict[str, checks.BeautifulSoup]:
    return checks.read_site(html)


def faults(site: checks.Site, check, *given) -> list[str]:
    return [
        f"{name}: {fault}"
        for name, page in site.items()
        for fault in check(page, *given)
    ]


# The real site ---------------------------------------------------------------


def test_links_within_the_site_lead_somewhere(site, html):
    files = {file.relative_to(html).as_posix() for file in html.rglob("*")}
    assert checks.dead_links(site, files) == []


def test_every_page_says_what_it_is(site):
    assert faults(site, checks.head_faults, POLICY) == []


def test_nothing_is_fetched_ahead(site):
    assert faults(site, checks.fetched_ahead) == []


def test_headings_skip_no_level(site):
    assert faults(site, checks.heading_faults) == []


def test_pictures_have_words(site):
    assert faults(site, checks.missing_alternatives) == []


def test_nothing_is_loaded_from_elsewhere(site, html):
    assert faults(site, checks.outside_loads) == []
    sheets = [file.read_text(encoding="utf-8") for file in html.rglob("*.css")]
    assert [address for css in sheets for address in checks.outside_in_css(css)] == []


def test_no_script_is_written_into_a_page(site):
    assert faults(site, checks.inline_scripts) == []


def test_only_pages_with_figures_drills_or_marks_load_their_scripts(site):
    for name, content in site.items():
        sources = {tag["src"] for tag in content.find_all("script", src=True)}
        figures = {tag["data-figure"] for tag in content.select("figure.os-figure")}
        loaded = {Path(s).stem for s in sources if "/figures/" in s} - {"host"}
        assert loaded == figures, name
        names = {Path(s).stem for s in sources if "/drills/" in s}
        if content.select_one(".os-drill, .os-deck"):
            assert names == {"drills"}, name
        else:  # every page lists the chapters, with a mark for each part
            assert content.select_one(".road .parts") and "road" in names, name


def test_the_page_of_all_drills_has_each_of_them(site, html):
    listed = [row["data-drill"] for row in site["drills.html"].select(".os-deck-row")]
    placed = [
        drill["data-drill"]
        for page in pages(ROOT / "_toc.yml", ROOT / "book")
        for drill in site[f"{page.name}.html"].select(".os-drill:not(.os-use)")
    ]
    assert listed == placed
    cards = html / "_static" / "drills" / "cards"
    assert {card.stem for card in cards.iterdir()} == set(listed)


def test_what_a_cell_prints_fits_beside_the_margin(site):
    """More than 80 columns would be cut off in a wide window too."""
    wide = [
        (name, line)
        for name, page in site.items()
        for output in page.select(".printed")
        for line in output.get_text().splitlines()
        if len(line) > 80
    ]
    assert not wide


def test_no_page_is_heavy(site, html):
    """In kB, compressed, fonts included."""
    weights = {name: weight(html / name, page) for name, page in site.items()}
    assert {name: kB for name, kB in weights.items() if kB > 300} == {}


def test_no_page_carries_a_framework(site, html):
    names = {file.name for file in html.rglob("*") if file.is_file()}
    unwanted = ("jquery", "require", "mathjax", "thebe", "embed-amd", "doctools")
    assert [n for n in names if any(u in n.lower() for u in unwanted)] == []


# The sources -----------------------------------------------------------------


def allowed() -> list[dict[str, str]]:
    return yaml.safe_load((ROOT / "tests" / "typed_numbers.yml").read_text()) or []


def test_numbers_in_prose_come_from_cells():
    reasons = {(e["page"], str(e["number"])): e["reason"] for e in allowed()}
    found = {
        (source.stem, number): f"{source.name}:{line}: {number}"
        for source in sorted((ROOT / "book").glob("*.md"))
        for line, number in checks.typed_numbers(source.read_text(encoding="utf-8"))
    }
    advice = "take it from a cell, or give a reason in tests/typed_numbers.yml"
    assert [text for key, text in found.items() if key not in reasons] == [], advice
    assert [key for key in reasons if key not in found] == [], "no longer needed"
    assert all(reasons.values()), "a reason is missing"


# Planted faults: each check reports what it is there for ----------------------


def test_a_sound_page_has_no_faults():
    sound = page('<a href="#top">up</a><img src="a.svg" alt="A bar">')
    assert checks.dead_links({"a.html": sound}, {"a.html"}) == []
    assert checks.head_faults(sound, POLICY) == []
    for check in (
        checks.heading_faults,
        checks.missing_alternatives,
        checks.outside_loads,
        checks.inline_scripts,
    ):
        assert check(sound) == []


@pytest.mark.parametrize("href", ["gone.html", "#gone", "b.html#gone", "../a.html"])
def test_a_dead_link_is_reported(href):
    site = {"a.html": page(f'<a href="{href}">there</a>'), "b.html": page()}
    assert checks.dead_links(site, {"a.html", "b.html"}) == [f"a.html: {href}"]


def test_a_link_to_a_figures_state_is_alive():
    site = {"a.html": page('<figure id="two"></figure><a href="#two:max=5">see</a>')}
    assert checks.dead_links(site, {"a.html"}) == []


@pytest.mark.parametrize(
    "was, becomes",
    [
        ('lang="en"', ""),
        ("<title>A page</title>", "<title> </title>"),
        ('content="A page."', 'content=""'),
        ("default-src", "img-src"),
        ('<h1 id="top">A page</h1>', ""),
        ("<body>", "<body><h1>Another</h1>"),
    ],
)
def test_a_page_that_hides_what_it_is_is_reported(was, becomes):
    html = PAGE.format(policy=POLICY, body="").replace(was, becomes, 1)
    assert len(checks.head_faults(checks.parse(html), POLICY)) == 1


def test_what_firefox_would_fetch_ahead_is_reported():
    assert len(checks.fetched_ahead(page('<link rel="next" href="b.html">'))) == 1


def test_a_skipped_heading_is_reported():
    assert len(checks.heading_faults(page("<h2>a</h2><h4>b</h4>"))) == 1


@pytest.mark.parametrize(
    "body",
    [
        '<img src="a.png">',
        '<img src="a.png" alt=" ">',
        '<svg viewBox="0 0 1 1"></svg>',
        '<svg role="img"></svg>',
        '<figure id="f"><svg aria-hidden="true"></svg></figure>',
    ],
)
def test_a_picture_without_words_is_reported(body):
    assert len(checks.missing_alternatives(page(body))) == 1


@pytest.mark.parametrize(
    "body",
    [
        '<script src="https://cdn.example/x.js"></script>',
        '<img alt="x" src="//cdn.example/x.png">',
        '<link rel="stylesheet" href="https://cdn.example/x.css">',
        '<p style="background: url(https://cdn.example/x.png)">x</p>',
        '<style>@import "https://cdn.example/x.css";</style>',
        '<iframe src="https://example.org"></iframe>',
    ],
)
def test_a_load_from_elsewhere_is_reported(body):
    assert len(checks.outside_loads(page(body))) == 1


@pytest.mark.parametrize(
    "body",
    [
        "<script>alert(1)</script>",
        '<script type="module">import "./a.js"</script>',
        '<button onclick="go()">Go</button>',
        '<a href="javascript:go()">Go</a>',
    ],
)
def test_a_script_in_the_page_is_reported(body):
    assert len(checks.inline_scripts(page(body))) == 1


def test_data_in_a_page_is_no_script():
    body = '<script type="application/json">{}</script><script src="a.js"></script>'
    assert checks.inline_scripts(page(body)) == []


@pytest.mark.parametrize(
    "prose",
    [
        "It is 2.04 now.",
        "It takes 15 ms.",
        "Only 20% remain.",
        "A 64 kB page.",
        "3× more",
        "```{note}\nIt is 2.04.\n```",
        "`code` and 2.04 and `more`",
    ],
)
def test_a_typed_in_number_is_reported(prose):
    assert len(checks.typed_numbers(f"---\na: 1.5\n---\n\n# One\n\n{prose}\n")) == 1


@pytest.mark.parametrize(
    "prose",
    [
        "{glue:text}`new_sum:.3f` is left.",
        "In `x = 1.5` and $1.5 + x$ and $$\n2.5\n$$.",
        "```{code-cell} ipython3\nx = 1.5\n```",
        "As [shown](https://a.example/1.5) in chapter 2, with 5 scores, 1,000 of them.",
        "{cite:t}`dao2022` wrote it in 2022.",
    ],
)
def test_code_maths_roles_and_plain_counts_are_not_reported(prose):
    assert checks.typed_numbers(prose) == []


@pytest.mark.parametrize(
    "name", "masks dense state streaming precision devices costs".split()
)
def test_the_library_page_has_every_public_name(html: Path, name: str) -> None:
    module = import_module(f"onlinesoftmax.{name}")
    own = {
        each
        for each, value in vars(module).items()
        if getattr(value, "__module__", "") == module.__name__ and each[0] != "_"
    }
    page = checks.parse((html / "library.html").read_text("utf-8"))
    listed = {tag["id"] for tag in page.select("dt[id]")}
    missing = {each for each in own if f"{module.__name__}.{each}" not in listed}
    assert not missing
