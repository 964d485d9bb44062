"""Builds copies of the book repeatedly: clean builds are equal, and no edit is missed.

python -m tools.testing.rebuilds           both of these
python -m tools.testing.rebuilds twice     two clean builds at once, each the other's load
python -m tools.testing.rebuilds edits     an edit of each kind of file appears at once; the
                                           site ends equal to a clean build
"""

import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from tools.common import options
from tools.testing.copies import build_copy, copy_of_the_book

FIRST, DRILLS = "book/01-stable-softmax.md", "book/drills/01-stable-softmax.yml"
FIGURE = "book/figures/two-chunks"
SITE = "lib/livepage/site"
ONE, TWO, FIVE = "01-stable-softmax", "02-the-rescaling-trick", "05-merge"
CELL = '```{code-cell} ipython3\nprint("mark" + "code")\n```\n'
SCRIPT = '\nexport const mark = "markscript";\nexport'
STYLE, BODY = "html { outline-offset: 3.1415px;", "<body data-mark "


class Edit(NamedTuple):
    """In `file` the first `old` becomes `new`; then `page` has to contain `text`."""

    file: str
    old: str
    new: str
    page: str
    text: str


# Each edit marks its file with a word of its own.
EDITS = [
    Edit(FIRST, "\n## ", "\nMarkprose.\n\n## ", f"{ONE}.html", "Markprose"),
    Edit(FIRST, "\n## Recap", f"\n{CELL}\n## Recap", f"{ONE}.html", "markcode"),
    Edit("book/references.bib", "{Online", "{Markbib", "references.html", "Markbib"),
    Edit(DRILLS, ">-\n    ", ">-\n    Markdrill ", "drills.html", "Markdrill"),
    Edit(
        f"{FIGURE}/strings.json", ': "A b', ': "Markname b', f"{TWO}.html", "Markname"
    ),
    Edit(
        f"{FIGURE}/figure.mjs",
        "\nexport",
        SCRIPT,
        f"_static/{FIGURE[5:]}.js",
        "markscr",
    ),
    Edit(
        "book/data/threads.json", '": "A', '": "Markdata A', f"{FIVE}.html", "Markdata"
    ),
    Edit(
        "book/data/quantities.yml", "running", "markletter", f"{TWO}.html", "markletter"
    ),
    Edit(
        "lib/onlinesoftmax/precision.py", "A bin", "A mark", "library.html", "A markary"
    ),
    Edit(f"{SITE}/assets/base.css", "html {", STYLE, "_static/book.css", "3.1415px"),
    Edit(f"{SITE}/theme/layout.html", "<body ", BODY, "references.html", "data-mark"),
    Edit(
        "lib/livepage/words/en.yml",
        "skip: ",
        "skip: Markwords ",
        "index.html",
        "Markwords",
    ),
    Edit("_config.yml", "licence: ", "licence: Markconf ", "index.html", "Markconf"),
    Edit("_toc.yml", "title: Tensor", "title: Marktoc", "index.html", "Marktoc"),
]


def build(folder: Path, forks: str = "yes") -> dict[str, bytes]:
    """Build a copy of the book; return the files of its site."""
    build_copy(folder, BOOK_FORKS=forks)
    return site(folder)


def site(folder: Path) -> dict[str, bytes]:
    """Return the files of the site that was built in a folder."""
    html = folder / "_build" / "html"
    files = (file for file in html.rglob("*") if file.is_file())
    return {file.relative_to(html).as_posix(): file.read_bytes() for file in files}


def differing(one: dict[str, bytes], other: dict[str, bytes]) -> list[str]:
    """Return the names of the files in which two sites differ."""
    return sorted(
        name for name in one.keys() | other.keys() if one.get(name) != other.get(name)
    )


def twice(folder: Path) -> list[str]:
    """Return the differences of two clean builds, one of which forks its kernels."""
    copies = [folder / "one", folder / "the other, elsewhere"]
    for copy in copies:
        copy_of_the_book(copy, with_outputs=False)
    with ThreadPoolExecutor() as pool:
        one, other = pool.map(build, copies, ["yes", "no"])
    return [f"differs from build to build: {name}" for name in differing(one, other)]


def edits(folder: Path) -> list[str]:
    """Return the edits that no page shows, and the differences to a clean build."""
    edited, clean = folder / "edited", folder / "clean"
    copy_of_the_book(edited, with_outputs=False)
    build(edited)
    faults = [fault for edit in EDITS for fault in try_edit(edited, edit)]
    sources = [path for path in edited.iterdir() if path.name != "_build"]
    clean.mkdir()
    for source in sources:
        source.rename(clean / source.name)
    stale = differing(site(edited), build(clean))
    return faults + [f"stale after the edits: {name}" for name in stale]


def try_edit(folder: Path, edit: Edit) -> list[str]:
    """Edit a file and build; complain if the page does not show the edit."""
    file = folder / edit.file
    text = file.read_text("utf-8")
    if edit.old not in text:
        return [f"cannot be edited: {edit.file} has no {edit.old!r}"]
    file.write_text(text.replace(edit.old, edit.new, 1), "utf-8")
    is_shown = edit.text in build(folder).get(edit.page, b"").decode()
    print(f"    {edit.file}{'' if is_shown else ': STALE'}", flush=True)
    return [] if is_shown else [f"{edit.file}: {edit.page} is stale"]


CHECKS: dict[str, Callable[[Path], list[str]]] = {"twice": twice, "edits": edits}


def main() -> int:
    faults = []
    for name in options.parse(CHECKS) or CHECKS:
        print(f"  {name} …", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            faults += CHECKS[name](Path(folder).resolve())
    return options.report(faults, f"  {len(faults)} faults")


if __name__ == "__main__":
    sys.exit(main())
