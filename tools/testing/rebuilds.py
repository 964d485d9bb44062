"""Builds the book again and again in copies: clean builds are equal, no edit is missed.

python -m tools.testing.rebuilds           both of these
python -m tools.testing.rebuilds twice     two clean builds at once, each the other's load
python -m tools.testing.rebuilds edits     an edit of each kind of file, seen at once; the
                                           site ends as if built from nothing
"""

import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from tools.common import words
from tools.testing.copies import built, copy_of_the_book

FIRST = "book/01-stable-softmax.md"
FIGURE = "book/figures/two-chunks"
CELL = '```{code-cell} ipython3\nprint("mark" + "code")\n```\n'


class Edit(NamedTuple):
    """In `file` the first `find` becomes `replace`; `page` has to hold `shows` then."""

    file: str
    find: str
    replace: str
    page: str
    shows: str


EDITS = [
    Edit(FIRST, "\n## ", "\nMarkprose.\n\n## ", "01-stable-softmax.html", "Markprose"),
    Edit(
        FIRST, "\n## Recap", f"\n{CELL}\n## Recap", "01-stable-softmax.html", "markcode"
    ),
    Edit("book/references.bib", "{Online", "{Markbib", "references.html", "Markbib"),
    Edit(
        "book/drills/01-stable-softmax.yml",
        "prompt: >-\n    ",
        "prompt: >-\n    Markdrill. ",
        "drills.html",
        "Markdrill",
    ),
    Edit(
        f"{FIGURE}/strings.json",
        '"title": "',
        '"title": "Markstrings: ',
        "02-the-rescaling-trick.html",
        "Markstrings",
    ),
    Edit(
        f"{FIGURE}/figure.mjs",
        "\nexport",
        '\nexport const mark = "markscript";\nexport',
        f"_static/{FIGURE[5:]}.js",
        "markscript",
    ),
    Edit(
        "book/data/threads.json",
        '"machine": "',
        '"machine": "Markdata ',
        "05-merge.html",
        "Markdata",
    ),
    Edit(
        "book/data/quantities.yml",
        "the running maximum",
        "the markquantity",
        "02-the-rescaling-trick.html",
        "the markquantity",
    ),
    Edit(
        "lib/onlinesoftmax/precision.py",
        "A binary floating-point format.",
        "A marklib floating-point format.",
        "library.html",
        "marklib",
    ),
    Edit(
        "lib/livepage/site/assets/base.css",
        "html {",
        "html { outline-offset: 3.1415px;",
        "_static/book.css",
        "3.1415px",
    ),
    Edit(
        "lib/livepage/site/theme/layout.html",
        "<body ",
        '<body data-mark="template" ',
        "references.html",
        'data-mark="template"',
    ),
    Edit(
        "lib/livepage/words/en.yml",
        "skip: ",
        "skip: Markwords ",
        "index.html",
        "Markwords",
    ),
    Edit(
        "_config.yml",
        "book_licence: ",
        "book_licence: Markconfig. ",
        "index.html",
        "Markconfig",
    ),
    Edit("_toc.yml", "title: Tensor cores", "title: Marktoc", "index.html", "Marktoc"),
]


def build(folder: Path, forks: str = "yes") -> dict[str, bytes]:
    """Build a copy of the book; return the files of its site."""
    built(folder, BOOK_FORKS=forks)
    return site(folder)


def site(folder: Path) -> dict[str, bytes]:
    """Return the files of the site that was built in a folder."""
    html = folder / "_build" / "html"
    files = (file for file in html.rglob("*") if file.is_file())
    return {file.relative_to(html).as_posix(): file.read_bytes() for file in files}


def differing(one: dict[str, bytes], other: dict[str, bytes]) -> list[str]:
    """The files that two sites do not share, byte by byte."""
    return sorted(
        name for name in one.keys() | other.keys() if one.get(name) != other.get(name)
    )


def twice(folder: Path) -> list[str]:
    """What differs between two clean builds, one of which forks its kernels."""
    copies = [folder / "one", folder / "the other, elsewhere"]
    for copy in copies:
        copy_of_the_book(copy, with_outputs=False)
    with ThreadPoolExecutor() as beside:
        one, other = beside.map(build, copies, ["yes", "no"])
    return [f"differs from build to build: {name}" for name in differing(one, other)]


def edits(folder: Path) -> list[str]:
    """What an edited book does not show, and what a clean build shows otherwise."""
    grown, new = folder / "grown", folder / "new"
    copy_of_the_book(grown, with_outputs=False)
    build(grown)
    faults = [fault for edit in EDITS for fault in try_edit(grown, edit)]
    sources = [path for path in grown.iterdir() if path.name != "_build"]
    new.mkdir()
    for source in sources:
        source.rename(new / source.name)
    anew = build(new)
    stale = differing(site(grown), anew)
    return faults + [f"stale after the edits: {name}" for name in stale]


def try_edit(folder: Path, edit: Edit) -> list[str]:
    """Edit, build, and look."""
    file = folder / edit.file
    text = file.read_text("utf-8")
    if edit.find not in text:
        return [f"cannot be edited: {edit.file} has no {edit.find!r}"]
    file.write_text(text.replace(edit.find, edit.replace, 1), "utf-8")
    seen = edit.shows in build(folder).get(edit.page, b"").decode()
    print(f"    {edit.file}{'' if seen else ': STALE'}", flush=True)
    return [] if seen else [f"{edit.file}: {edit.page} is stale"]


CHECKS: dict[str, Callable[[Path], list[str]]] = {"twice": twice, "edits": edits}


def main() -> int:
    faults = []
    for name in words.given(CHECKS) or CHECKS:
        print(f"  {name} …", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            faults += CHECKS[name](Path(folder).resolve())
    print(*faults or ["  clean builds are equal, and no edit was missed"], sep="\n")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
