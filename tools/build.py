"""Builds the book: chapters to notebooks, run them once, render what they gave.

    python -m tools.build              what `make book` calls
    python -m tools.build --path-output DIR    the same, to DIR/_build

A chapter runs again only when its code, the lib it imports or its data changed; an edit
of the prose pairs the stored outputs with the new text and renders.
"""

import argparse
import io
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import nbformat
from hatchling.builders.wheel import WheelBuilder
from jupyter_book.config import get_final_config
from pybtex.database import parse_file
from pybtex.exceptions import PybtexError
from sphinx.application import Sphinx
from sphinx.errors import SphinxError

try:
    import rescaling  # hands the book in
except SyntaxError as error:
    place = f"{error.filename}:{error.lineno}\n    {(error.text or '').strip()}"
    sys.exit(f"The build stopped.\n{place}\n  SyntaxError: {error.msg}")
from livepage import figures, modules, yml
from livepage.child import child
from livepage.digest import digest, files_in
from livepage.quantities import quantities
from tools.building import reader
from tools.building.apart import sphinx_apart
from tools.building.chapters import Page, check_code, in_source, notebook, pages
from tools.building.execute import ANSI, ChapterFailed, Store, execute, with_outputs
from tools.building.freshness import Ours, key
from tools.building.made import Made
from tools.environment import OURS

ROOT = Path(__file__).resolve().parent.parent


class BuildFailed(Exception):
    """A step of the build failed; the message says which and why."""


@dataclass(frozen=True)
class Book:
    """Where the book's files are: the sources in `root`, the results in `out`.

    Jupyter Book insists that the folder of the results is called `_build`.
    """

    root: Path
    out: Path

    @property
    def book(self) -> Path:
        return self.root / "book"

    @property
    def config(self) -> Path:
        return self.root / "_config.yml"

    @property
    def toc(self) -> Path:
        return self.root / "_toc.yml"

    @property
    def stills(self) -> Path:
        """Where in its folder the packed book has the stills of its figures."""
        return rescaling.HERE.stills.relative_to(rescaling.HERE.folder)

    @property
    def store(self) -> Store:
        return Store(self.out / "run")

    @property
    def staged(self) -> Path:
        return self.out / "src"

    @property
    def made(self) -> Made:
        return Made(self.out / "made")

    def chapter(self, page: Page) -> Path:
        """A chapter with what its code gave, as it is rendered."""
        return self.staged / f"{page.name}.ipynb"

    @property
    def trees(self) -> Path:
        return self.out / ".doctrees"

    @property
    def html(self) -> Path:
        return self.out / "html"

    @property
    def pages(self) -> list[Page]:
        return pages(self.toc, self.book)

    @property
    def chapters(self) -> list[Page]:
        return [page for page in self.pages if page.is_chapter]

    @property
    def handouts(self) -> list[Page]:
        """Notebooks for readers that are no pages of the book; no build runs them."""
        return [
            Page(name, self.book / f"{name}.md") for name in reader.handouts(self.book)
        ]


HERE = Book(ROOT, ROOT / "_build")


@contextmanager
def step(what: str):
    """Say what is being done, and how long it took."""
    print(f"  {what} …", end=" ", flush=True)
    start = time.perf_counter()
    yield
    print(f"{time.perf_counter() - start:.1f} s", flush=True)


def build(book: Book, shown: Callable[[], None]) -> None:
    """Run what is stale, render the site, pack the notebooks.

    `shown` is called as soon as the pages can be read.
    """
    settings(book), quantities(), check_sources(book)  # before the long run
    ours = Ours(book.root)
    run_chapters(book, ours)
    stage(book)
    with step("rendering the pages"), ExitStack() as packing:
        render(book, lambda *_: packing.enter_context(packing_ahead(book)))
    shown()
    with step("packing the notebooks"):
        pack(book)


def run_chapters(book: Book, ours: Ours) -> list[str]:
    """Execute the stale chapters, stage the edited ones; return which ran."""
    with step(f"running what changed in {len(book.chapters)} chapters"):
        edited = [page for page in book.chapters if not is_staged(page, book, ours)]
        for page in edited:
            check_code(page)
        keys = {page: key(notebook(page), ours) for page in edited}
        ran = execute(keys, book.store, (ours.lib, ours.book))
        for page in edited:
            stage_chapter(page, book, ours)
    print(f"    ran {', '.join(ran)}" if ran else "    all outputs are up to date")
    check_count(book, ours)
    return ran


def is_staged(page: Page, book: Book, ours: Ours) -> bool:
    """Whether a chapter, and all that is ours, is as it was when it was staged."""
    staged = book.chapter(page)
    if not staged.exists():
        return False
    of = digest([page.source], staged.read_text("utf-8"), ours.version)
    return book.made.is_fresh(f"staged/{page.name}", of)


def stage_chapter(page: Page, book: Book, ours: Ours) -> None:
    """Put the text of a chapter, with what its code gave, where it is rendered."""
    staged, text = book.chapter(page), nbformat.writes(with_outputs(page, book.store))
    of = digest([page.source], text, ours.version)
    with book.made.anew(f"staged/{page.name}", of):
        write(staged, text.encode())


def check_count(book: Book, ours: Ours) -> None:
    """Fail unless every chapter of `_toc.yml` has run as it is now."""
    missing = [page.name for page in book.chapters if not is_staged(page, book, ours)]
    if missing:
        raise BuildFailed(f"chapters that did not run: {', '.join(missing)}")


def stage(book: Book) -> None:
    """Put the other pages, and what they name, beside the chapters; remove what goes."""
    pages = [page.source for page in book.pages if not page.is_chapter]
    sources = (*pages, *book.book.glob("*.bib"), *book.book.glob("*.yml"))
    for source in sources:
        write(book.staged / source.name, source.read_bytes())
    wanted = {source.name for source in sources}
    wanted |= {book.chapter(page).name for page in book.chapters}
    for old in book.staged.iterdir():
        if old.name not in wanted and old.is_file():
            old.unlink()


def check_sources(book: Book) -> None:
    """Refuse a list of sources that cannot be read; the message names the file."""
    for file in book.book.glob("*.bib"):
        try:
            parse_file(str(file))
        except PybtexError as error:
            raise BuildFailed(f"{file.name}: {error}") from None


def write(file: Path, content: bytes) -> None:
    """Write a file, unless it is so already: what is not touched is not read anew."""
    if not file.exists() or file.read_bytes() != content:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)


def render(book: Book, when_read: Callable[..., object] = lambda *_: None) -> None:
    """The staged pages as HTML: those whose sources changed, or what they are made with.

    `when_read` is called once the pages have been read, before they are written.

    A render that failed or was stopped leaves pages that Sphinx takes for written: all
    are read anew then.
    """
    whole = book.trees / "whole"
    if not whole.exists():
        shutil.rmtree(book.trees, ignore_errors=True)
        (book.html / ".buildinfo").unlink(missing_ok=True)  # it may be half written
    whole.unlink(missing_ok=True)
    said = io.StringIO()
    # As `jupyter-book build -W --keep-going -n -q` does, without its command line.
    with sphinx_apart():
        folders = (book.staged, None, book.html, book.trees)
        strict = {"warningiserror": True, "keep_going": True}
        try:
            made_by = Sphinx(
                *folders, "html", settings(book), status=None, warning=said, **strict
            )
            made_by.connect("env-updated", when_read, priority=900)
            made_by.build()
        except SphinxError as error:
            said.write(f"{error}\n")
            raise BuildFailed(refused(book, said.getvalue())) from error
    if made_by.statuscode:
        raise BuildFailed(refused(book, said.getvalue()))
    whole.touch()


def refused(book: Book, said: str) -> str:
    """What the renderer said, each line once, with the places in the book's sources."""
    told = in_source(ANSI.sub("", said), book.staged, book.pages)
    lines = dict.fromkeys(line for line in told.splitlines() if line.strip())
    return "\n".join(["Jupyter Book refused to render:", *lines])


def settings(book: Book) -> dict[str, object]:
    """What Sphinx is told: the book's configuration, for pages that have run already."""
    config = yml.read(book.config)
    config.setdefault("execute", {})["execute_notebooks"] = "off"
    config["sphinx"]["config"]["book_notebooks"] = True  # `pack_notebooks` makes them
    toc = book.toc.as_posix()
    more = {"external_toc_path": toc, "latex_individualpages": False, "nitpicky": True}
    return get_final_config(user_yaml=config, cli_config=more, sourcedir=book.staged)[0]


@contextmanager
def packing_ahead(book: Book) -> Iterator[None]:
    """Pack in a second process, beside what is done meanwhile, if there is much to pack.

    If that process fails, this one packs again, and says what is wrong.
    """
    if (book.out / "wheels").exists():
        yield
        return
    pack = "import sys; from tools import build; from pathlib import Path as P; "
    pack += "build.pack(build.Book(P(sys.argv[1]), P(sys.argv[2])))"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    packing = child(pack, str(book.root), str(book.out), cwd=ROOT, **quiet)
    try:
        yield
        packing.wait()
    finally:
        packing.kill()
        packing.wait()


def pack(book: Book) -> None:
    """Pack our packages, and the notebooks with them."""
    pack_notebooks(book, Ours(book.root), pack_wheels(book))


def pack_wheels(book: Book) -> list[Path]:
    """Our packages and the book's content as wheels, for notebooks away from here."""
    folder = book.out / "wheels"
    now = digest(packed_from(book), sys.version)
    there = len(list(folder.glob("*.whl"))) == len(OURS)
    if not (there and book.made.is_fresh("wheels", now)):
        shutil.rmtree(folder, ignore_errors=True)
        os.environ["SOURCE_DATE_EPOCH"] = "315619200"  # two builds, one file
        with book.made.anew("wheels", now), drawn_for_readers(book) as copies:
            for package in copies:
                list(WheelBuilder(str(package)).build(directory=str(folder)))
    return sorted(folder.glob("*.whl"))


def packed_from(book: Book) -> set[Path]:
    """The files that wheels are made of; an edit of a chapter leaves them as they are."""
    packages = (book.root / package for package in OURS)
    return files_in(*packages) - set(book.book.glob("*.md"))


def widget_modules(book: Book) -> set[Path]:
    """The modules that a figure in a notebook may be made of."""
    kit = book.root / "lib" / "livepage"
    folders = (kit / "figures", book.book / "figures")
    return {*kit.glob("*.mjs"), *(m for at in folders for m in at.rglob("*.mjs"))}


@contextmanager
def drawn_for_readers(book: Book) -> Iterator[list[Path]]:
    """Copies of the packages, with what V8 made of the figures: readers have no V8.

    It stands in no source tree, where a chapter would find a still and put it on its
    page.
    """
    with tempfile.TemporaryDirectory() as place:
        for package in OURS:
            unpacked = shutil.ignore_patterns("__pycache__", "*.egg-info")
            shutil.copytree(book.root / package, Path(place, package), ignore=unpacked)
        shipped = Path(place, "lib", "livepage", modules.SHIPPED.name)
        shipped.write_text(modules.unlinked(sorted(widget_modules(book))), "utf-8")
        Path(place, "book", book.stills).write_text(figures.stills(), "utf-8")
        yield [Path(place, package) for package in OURS]


def pack_notebooks(book: Book, ours: Ours, packed: list[Path]) -> None:
    """The reader's notebooks, each alone and with the wheels, beside the pages."""
    folder = book.html / "notebooks"
    folder.mkdir(parents=True, exist_ok=True)
    wheels = [Path(shutil.copy2(wheel, folder)) for wheel in packed]
    around = reader.around(book.book)
    names = [wheel.name for wheel in wheels]
    first = reader.install_cell(names, reader.wheels_at(book.book))
    wanted = set(wheels)
    shared = [*wheels, *book.book.glob("*.bib"), book.config, book.toc]
    road, version = repr(around.road), ours.version
    for page in [*book.chapters, *book.handouts]:
        files = [folder / f"{page.name}.{kind}" for kind in ("ipynb", "zip")]
        run = [book.chapter(page)] if page in book.chapters else []
        of = digest([*run, page.source, *shared], first, road, version)
        thing = f"notebook/{page.name}"
        if not (all(map(Path.exists, files)) and book.made.is_fresh(thing, of)):
            with book.made.anew(thing, of):
                source = nbformat.read(run[0], as_version=4) if run else notebook(page)
                text = page.source.read_text("utf-8")
                nb = reader.reader_notebook(source, text, first, around)
                reader.write(nb, wheels, *files)
        wanted |= set(files)
    for old in set(folder.iterdir()) - wanted:
        old.unlink()


@contextmanager
def only_one(out: Path):
    """One build at a time in one folder."""
    out.mkdir(parents=True, exist_ok=True)
    lock = out / "building"
    try:
        import fcntl
    except ImportError:  # Windows: two builds at once are the reader's own doing
        yield
        return
    with lock.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"  waiting for another build in {out} …", flush=True)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


FAILURES = (BuildFailed, ChapterFailed, OSError, ValueError)


def make(book: Book = HERE, shown: Callable[[], None] = lambda: None) -> None:
    """Build the book, alone in its folder."""
    with only_one(book.out):
        build(book, shown)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--path-output", type=Path, help="default: the repository")
    parser.add_argument("--open", action="store_true", help="open the book at the end")
    options = parser.parse_args()
    book = Book(ROOT, (options.path_output or ROOT).resolve() / "_build")
    try:
        make(book)
    except FAILURES as error:
        print(f"\n\nThe build stopped.\n{error}", file=sys.stderr)
        return 1
    address = (book.html / "index.html").as_uri()
    print(f"\nThe book is at {address}")
    if options.open and (os.environ.get("DISPLAY") or sys.platform == "darwin"):
        import webbrowser

        webbrowser.open(address)
    return 0


if __name__ == "__main__":
    sys.exit(main())
