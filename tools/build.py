"""Builds the book: runs each chapter once, and renders the chapters with their outputs.

    python -m tools.build              what `make book` calls
    python -m tools.build --path-output DIR    the same, to DIR/_build

A chapter runs again only when its code, the lib it imports or its data changed. After an
edit of the prose the stored outputs are shown with the new text.
"""

import argparse
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import nbformat
import yaml
from hatchling.builders.wheel import WheelBuilder
from jupyter_book.config import get_final_config
from pybtex.database import parse_file
from pybtex.exceptions import PybtexError
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.errors import SphinxError

try:
    import rescaling  # registers the book with the kit
except SyntaxError as error:
    where = f"{error.filename}:{error.lineno}\n    {(error.text or '').strip()}"
    sys.exit(f"The build stopped.\n{where}\n  SyntaxError: {error.msg}")
from livepage import figures, modules, translations, yml
from livepage.child import child
from livepage.digest import digest, files_in
from livepage.quantities import quantities
from livepage.site.translated import translating
from livepage.translations import translation
from livepage.words import ENGLISH, LANGUAGES
from tools.building import reader
from tools.building import translated as in_language
from tools.building.chapters import Page, check_code, in_source, notebook, pages
from tools.building.execute import ANSI, ChapterFailed, Store, execute, with_outputs
from tools.building.freshness import Sources, key
from tools.building.isolation import isolated_sphinx
from tools.building.stamps import Stamps
from tools.common.paths import ROOT
from tools.environment import OURS


class BuildFailed(Exception):
    """A step of the build failed; the message names the step and the cause."""


@dataclass(frozen=True)
class Book:
    """The paths of the book: the sources in `root`, the results in `out`.

    Jupyter Book requires that the folder of the results is called `_build`.
    """

    root: Path
    out: Path
    language: str = ENGLISH

    @property
    def book(self) -> Path:
        return self.root / "book"

    @property
    def config(self) -> Path:
        return self.root / "_config.yml"

    @property
    def toc(self) -> Path:
        home = self.root if self.language == ENGLISH else self.staged / "contents"
        return home / "_toc.yml"

    @property
    def stills(self) -> Path:
        """The file of the figures' stills, relative to the packed book."""
        return rescaling.HERE.stills.relative_to(rescaling.HERE.folder)

    @property
    def store(self) -> Store:
        return Store(self.out / "run")

    @property
    def staged(self) -> Path:
        return self.out / ("src" + self.suffix)

    @property
    def suffix(self) -> str:
        """What distinguishes the folders of a translation."""
        return "" if self.language == ENGLISH else f"-{self.language}"

    @property
    def languages(self) -> dict[str, str]:
        """The languages that the book is translated into, and where their pages lie."""
        return reader.sphinx_config(self.book).get("book_translations") or {}

    @property
    def translations(self) -> list["Book"]:
        return [replace(self, language=language) for language in self.languages]

    @property
    def stamps(self) -> Stamps:
        return Stamps(self.out / "made")

    def chapter(self, page: Page) -> Path:
        """The notebook that is rendered: a chapter with the outputs of its code."""
        return self.staged / f"{page.name}.ipynb"

    @property
    def trees(self) -> Path:
        return self.out / f".doctrees{self.suffix}"

    @property
    def html(self) -> Path:
        place = "" if self.language == ENGLISH else self.languages[self.language]
        return self.out / "html" / place

    @property
    def pages(self) -> list[Page]:
        return pages(self.toc, self.book)

    @property
    def chapters(self) -> list[Page]:
        return [page for page in self.pages if page.is_chapter]

    @property
    def handouts(self) -> list[Page]:
        """Notebooks for readers that are no pages of the book; no build runs them."""
        names = reader.handouts(self.book)
        return [Page(name, self.book / f"{name}.md") for name in names]


HERE = Book(ROOT, ROOT / "_build")


@contextmanager
def step(name: str):
    """Print the name of a step, and the time it took."""
    print(f"  {name} …", end=" ", flush=True)
    start = time.perf_counter()
    yield
    print(f"{time.perf_counter() - start:.1f} s", flush=True)


def build(book: Book, on_rendered: Callable[[], None]) -> None:
    """Run the stale chapters, render the site, pack the notebooks.

    `on_rendered` is called as soon as the pages can be read.
    """
    translations.forget()
    # before the long run
    settings(book), quantities(), check_bibliography(book), check_languages(book)
    sources = Sources(book.root)
    run_chapters(book, sources)
    stage(book)
    with step("rendering the pages"), ExitStack() as packing:
        env = render(book, lambda *_: packing.enter_context(packing_ahead(book)))
    for translated in book.translations:
        with step(f"rendering the pages in {translated.language}"), translating(env):
            stage_translation(book, translated, sources)
            render(translated)
    on_rendered()
    with step("packing the notebooks"):
        pack(book)


def run_chapters(book: Book, sources: Sources) -> list[str]:
    """Execute the stale chapters, stage the edited ones; return the names that ran."""
    with step(f"running what changed in {len(book.chapters)} chapters"):
        edited = [page for page in book.chapters if not is_staged(page, book, sources)]
        for page in edited:
            check_code(page)
        keys = {page: key(notebook(page), sources) for page in edited}
        ran = execute(keys, book.store, (sources.lib, sources.book))
        for page in edited:
            stage_chapter(page, book, sources)
    print(f"    ran {', '.join(ran)}" if ran else "    all outputs are up to date")
    return ran


def is_staged(page: Page, book: Book, sources: Sources) -> bool:
    """Return whether neither a chapter nor our code has changed since it was staged."""
    staged = book.chapter(page)
    if not staged.exists():
        return False
    inputs = digest([page.source], staged.read_text("utf-8"), sources.version)
    return book.stamps.is_fresh(f"staged/{page.name}", inputs)


def stage_chapter(page: Page, book: Book, sources: Sources) -> None:
    """Write a chapter, with the outputs of its code, where it is rendered."""
    staged, text = book.chapter(page), nbformat.writes(with_outputs(page, book.store))
    inputs = digest([page.source], text, sources.version)
    with book.stamps.renew(f"staged/{page.name}", inputs):
        write(staged, text.encode())


def stage(book: Book) -> None:
    """Copy the other pages, and the files they name, beside the chapters.

    Pages that the book no longer has are removed.
    """
    pages = [page.source for page in book.pages if not page.is_chapter]
    files = (*pages, *book.book.glob("*.bib"), *book.book.glob("*.yml"))
    for file in files:
        write(book.staged / file.name, file.read_bytes())
    for file in (book.root / "lib").glob("*/README.md"):  # a page may include one
        write(book.staged.parent / file.relative_to(book.root), file.read_bytes())
    wanted = {file.name for file in files}
    wanted |= {book.chapter(page).name for page in book.chapters}
    remove_others(book.staged, wanted)


def check_bibliography(book: Book) -> None:
    """Raise if a bibliography cannot be parsed; the message names the file."""
    for file in book.book.glob("*.bib"):
        try:
            parse_file(str(file))
        except PybtexError as error:
            raise BuildFailed(f"{file.name}: {error}") from None


def check_languages(book: Book) -> None:
    """Raise if a translation cannot be made: its name, its place or its files are wrong."""
    for language, place in book.languages.items():
        where = f"{book.config.name}: book_translations: {language}"
        if language not in LANGUAGES or language == ENGLISH:
            known = ", ".join(name for name in LANGUAGES if name != ENGLISH)
            raise BuildFailed(f"{where}: expected a language of the kit: {known}")
        if not re.fullmatch(r"[\w-]+(/[\w-]+)*/", str(place)):
            raise BuildFailed(
                f"{where}: expected a folder like {language}/, got {place}"
            )
        translations.catalogue(language)


def write(file: Path, content: bytes) -> None:
    """Write a file unless it has this content: Sphinx reads what was written again."""
    if not file.exists() or file.read_bytes() != content:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)


def stage_translation(book: Book, translated: Book, sources: Sources) -> None:
    """Write each staged page of a book in the language of a translation."""
    files = translations.po_files(translated.language)
    for page in book.pages:
        original = book.chapter(page) if page.is_chapter else staged(page, book)
        new = translated.staged / original.name
        text = in_language.with_included(original.read_text("utf-8"), book.staged)
        inputs = digest([*files, book.config], text, sources.version)
        product = f"translated/{translated.language}/{page.name}"
        if not (new.exists() and book.stamps.is_fresh(product, inputs)):
            with book.stamps.renew(product, inputs):
                write(
                    new, in_translation(text, page, book, translated.language).encode()
                )
    shared = [*book.book.glob("*.bib"), *book.book.glob("*.yml")]
    for file in shared:
        write(translated.staged / file.name, file.read_bytes())
    remove_others(translated.staged, {file.name for file in book.staged.iterdir()})
    write(translated.toc, translated_toc(book, translated.language))


def in_translation(text: str, page: Page, book: Book, language: str) -> str:
    """Return a staged page in a language."""
    extensions = reader.extensions(book.book)
    if page.is_chapter:
        nb = nbformat.reads(text, as_version=4)
        return nbformat.writes(in_language.notebook(nb, language, extensions))
    return in_language.page(text, language, extensions)


def staged(page: Page, book: Book) -> Path:
    """Return where a page that is no chapter is rendered."""
    return book.staged / page.source.name


def remove_others(folder: Path, wanted: set[str]) -> None:
    """Remove the files of a folder that are not wanted."""
    for old in folder.iterdir():
        if old.name not in wanted and old.is_file():
            old.unlink()


def translated_toc(book: Book, language: str) -> bytes:
    """Return the table of contents with the captions of its parts in a language."""

    def said(text: str) -> str:
        return translation(text, language) or text

    toc = yml.read(book.toc)
    for part in toc.get("parts", []):
        part["caption"] = said(part["caption"])
    meta = toc.get("meta", {})
    meta["branches"] = [said(name) for name in meta.get("branches", [])]
    return yaml.safe_dump(toc | {"meta": meta}, allow_unicode=True).encode()


def render(
    book: Book, on_read: Callable[..., object] = lambda *_: None
) -> BuildEnvironment:
    """Render the staged pages whose sources, or whose renderer, have changed.

    `on_read` is called once Sphinx has read the pages, before it writes them.

    A render that failed or was stopped leaves pages that Sphinx considers written: the
    next render starts from nothing.
    """
    whole = book.trees / "whole"
    if not whole.exists():
        shutil.rmtree(book.trees, ignore_errors=True)
        (book.html / ".buildinfo").unlink(missing_ok=True)  # it may be half written
    whole.unlink(missing_ok=True)
    warnings = io.StringIO()
    # As `jupyter-book build -W --keep-going -n -q` does, without its command line.
    options = {"status": None, "warning": warnings}
    options |= {"warningiserror": True, "keep_going": True}
    folders = (book.staged, None, book.html, book.trees)
    with isolated_sphinx():
        try:
            sphinx = Sphinx(*folders, "html", settings(book), **options)
            sphinx.connect("env-updated", on_read, priority=900)
            sphinx.build()
        except SphinxError as error:
            warnings.write(f"{error}\n")
            raise BuildFailed(complaint(book, warnings.getvalue())) from error
    if sphinx.statuscode:
        raise BuildFailed(complaint(book, warnings.getvalue()))
    whole.touch()
    return sphinx.env


def complaint(book: Book, warnings: str) -> str:
    """Return the renderer's warnings, each once, located in the book's sources."""
    located = in_source(ANSI.sub("", warnings), book.staged, book.pages)
    lines = dict.fromkeys(line for line in located.splitlines() if line.strip())
    return "\n".join(["Jupyter Book refused to render:", *lines])


def settings(book: Book) -> dict[str, object]:
    """Return Sphinx's configuration, for pages that have run already."""
    config = yml.read(book.config)
    config.setdefault("execute", {})["execute_notebooks"] = "off"
    own = config["sphinx"]["config"]
    own["book_notebooks"] = "notebooks/"  # `pack_notebooks` makes them
    if book.language != ENGLISH:
        translate_settings(config, own, book)
    # A page that is published says which commit it was built from.
    own["book_build"] = os.environ.get("BOOK_BUILD", "")[:10]
    toc = book.toc.as_posix()
    more = {"external_toc_path": toc, "latex_individualpages": False, "nitpicky": True}
    return get_final_config(user_yaml=config, cli_config=more, sourcedir=book.staged)[0]


def translate_settings(config: dict, own: dict, book: Book) -> None:
    """Change the settings of the book to those of its pages in another language."""
    place = book.languages[book.language]
    back = "../" * place.count("/")
    named = ((config, "title"), (own, "html_short_title"), (own, "book_licence"))
    for values, name in named:
        if name in values:
            values[name] = translation(values[name], book.language) or values[name]
    others = {code: back + at for code, at in book.languages.items()}
    others = {ENGLISH: back} | {c: at for c, at in others.items() if c != book.language}
    own |= {"language": book.language, "book_translations": others}
    own["book_notebooks"] = f"{back}notebooks/"
    if base := (config.get("html") or {}).get("baseurl"):
        config["html"]["baseurl"] = f"{base.rstrip('/')}/{place}"


@contextmanager
def packing_ahead(book: Book) -> Iterator[None]:
    """Pack in a second process while the body runs, if the wheels have to be packed.

    If that process fails, this one packs again and reports the error.
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
    pack_notebooks(book, Sources(book.root), pack_wheels(book))


def pack_wheels(book: Book) -> list[Path]:
    """Pack our packages and the book's content as wheels; return their paths."""
    folder = book.out / "wheels"
    inputs = digest(packed_from(book), sys.version)
    exist = len(list(folder.glob("*.whl"))) == len(OURS)
    if not (exist and book.stamps.is_fresh("wheels", inputs)):
        shutil.rmtree(folder, ignore_errors=True)
        os.environ["SOURCE_DATE_EPOCH"] = "315619200"  # equal files in each build
        with book.stamps.renew("wheels", inputs), prerendered(book) as copies:
            for package in copies:
                list(WheelBuilder(str(package)).build(directory=str(folder)))
    return sorted(folder.glob("*.whl"))


def packed_from(book: Book) -> set[Path]:
    """Return the files that wheels are made of: no text of a chapter, no translation."""
    packages = (book.root / package for package in OURS)
    texts = {*book.book.glob("*.md"), *book.book.rglob("*.po")}
    return files_in(*packages) - texts


@contextmanager
def prerendered(book: Book) -> Iterator[list[Path]]:
    """Yield copies of the packages with the figures as V8 draws them: readers lack V8.

    A still in the source tree itself would appear on the pages.
    """
    with tempfile.TemporaryDirectory() as folder:
        for package in OURS:
            ignored = shutil.ignore_patterns("__pycache__", "*.egg-info", "*.po")
            shutil.copytree(book.root / package, Path(folder, package), ignore=ignored)
        modules.ship(Path(folder, "lib", "livepage"), modules.of_the_kit())
        own = book.book / "figures"
        modules.ship(Path(folder, "book", "figures"), own.rglob("*.mjs"))
        Path(folder, "book", book.stills).write_text(figures.stills(), "utf-8")
        yield [Path(folder, package) for package in OURS]


def pack_notebooks(book: Book, sources: Sources, packed: list[Path]) -> None:
    """Write the reader's notebooks, each alone and with the wheels, beside the pages."""
    folder = book.html / "notebooks"
    folder.mkdir(parents=True, exist_ok=True)
    wheels = [Path(shutil.copy2(wheel, folder)) for wheel in packed]
    context = reader.context(book.book)
    names = [wheel.name for wheel in wheels]
    first = reader.install_cell(names, reader.wheels_at(book.book))
    wanted = set(wheels)
    shared = [*wheels, *book.book.glob("*.bib"), book.config, book.toc]
    road, version = repr(context.road), sources.version
    for page in [*book.chapters, *book.handouts]:
        files = [folder / f"{page.name}.{kind}" for kind in ("ipynb", "zip")]
        run = [book.chapter(page)] if page in book.chapters else []
        inputs = digest([*run, page.source, *shared], first, road, version)
        product = f"notebook/{page.name}"
        if not (all(map(Path.exists, files)) and book.stamps.is_fresh(product, inputs)):
            with book.stamps.renew(product, inputs):
                source = nbformat.read(run[0], as_version=4) if run else notebook(page)
                text = page.source.read_text("utf-8")
                nb = reader.reader_notebook(source, text, first, context)
                reader.write(nb, wheels, *files)
        wanted |= set(files)
    for old in set(folder.iterdir()) - wanted:
        old.unlink()


@contextmanager
def lock(out: Path) -> Iterator[None]:
    """Let one build at a time work in a folder."""
    out.mkdir(parents=True, exist_ok=True)
    try:
        import fcntl
    except ImportError:  # Windows has no such lock
        yield
        return
    with (out / "building").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"  waiting for another build in {out} …", flush=True)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


FAILURES = (BuildFailed, ChapterFailed, OSError, ValueError)


def make(book: Book = HERE, on_rendered: Callable[[], None] = lambda: None) -> None:
    """Build the book; no other build works in its folder meanwhile."""
    with lock(book.out):
        build(book, on_rendered)


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
