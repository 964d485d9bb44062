"""The comparison of the book's pages with those that plain Sphinx makes."""

from pathlib import Path

import pytest

from tools.site.plain_sphinx import compare

HEAD = (
    '<section id="{0}"><span id="{1}"></span><h2>A<a href="#{0}">#</a></h2></section>'
)
PAGE = (
    HEAD
    + '<script src="s.js"></script><p>Text</p><img src="a.svg" alt="a curve"><a href="{0}.html#{0}">b</a>'
)


def site(folder: Path, page: str, *others: str) -> Path:
    folder.mkdir()
    for name in ("index", *others):
        (folder / f"{name}.html").write_text(page, "utf-8")
    return folder


def test_the_order_of_a_section_s_labels_is_no_difference(tmp_path: Path) -> None:
    page = HEAD + '<a href="index.html#{0}">there</a>'
    first = site(tmp_path / "book", page.format("a-label", "a-title"))
    second = site(tmp_path / "plain", page.format("a-title", "a-label"))
    assert not compare(first, second)


@pytest.mark.parametrize(
    ("change", "shown"),
    [
        ("Text", "-Text"),
        ("a curve", '"alt": "a curve"'),
        ("a.svg", '"src": "a.svg"'),
        ("s.js", '"src": "s.js"'),
        ('<span id="y"></span>', '"id": "y"'),
        ("#x.html#x", "#x"),
    ],
)
def test_another_text_picture_or_anchor_is_one(
    change: str, shown: str, tmp_path: Path
) -> None:
    page = PAGE.format("x", "y").replace("x.html#x", "#x.html#x")
    assert change in page
    first = site(tmp_path / "book", page)
    second = site(tmp_path / "plain", page.replace(change, change[1:-1].upper()))
    (complaint,) = compare(first, second)
    assert complaint.startswith("index.html: ") and shown in complaint


def test_a_page_that_one_of_the_two_lacks_is_one(tmp_path: Path) -> None:
    sites = (
        site(tmp_path / "book", "<p>Text</p>", "two"),
        site(tmp_path / "plain", "<p>Text</p>"),
    )
    assert compare(*sites) == ["two.html: only one of the two has it"]
