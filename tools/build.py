"""Builds the book: chapters to notebooks, run them once, render what they gave.

    python -m tools.build              what `make book` calls
    python -m tools.build --path-output DIR    the same, to DIR/_build

A chapter runs again only when its code, the lib it imports or its data changed; an edit
of the prose pairs the stored outputs with the new text and renders.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import nbformat
import yaml

import rescaling  # noqa: F401  (hands the book in)
from livepage import modules
from tools import reader
from tools.chapters import Page, notebook, pages
from tools.execute import ChapterFailed, Store, execute, with_outputs
from tools.freshness import key

ROOT = Path(__file__).resolve().parent.parent
# What every page depends on besides its own source.
EVERY_PAGE = ("book/figures", "book/drills", "lib")
ALSO = ("_config.yml", "_toc.yml", "requirements.txt", "book/data/quantities.yml")


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
    def store(self) -> Store:
        return Store(self.out / "run")

    @property
    def staged(self) -> Path:
        return self.out / "src"

    @property
    def html(self) -> Path:
        return self.out / "html"

    @property
    def pages(self) -> list[Page]:
        return pages(self.root / "_toc.yml", self.book)

    @property
    def chapters(self) -> list[Page]:
        return [page for page in self.pages if page.is_chapter]


@contextmanager
def step(what: str):
    """Say what is being done, and how long it took."""
    print(f"  {what} …", end=" ", flush=True)
    start = time.perf_counter()
    yield
    print(f"{time.perf_counter() - start:.1f} s", flush=True)


def build(book: Book) -> None:
    """Run what is stale, render the site, pack the notebooks."""
    run_chapters(book)
    stage(book)
    with modules_read(book), ThreadPoolExecutor() as meanwhile:
        wheels = meanwhile.submit(pack_wheels, book)
        with step("rendering the pages"):
            render(book)
        with step("packing the notebooks"):
            pack_notebooks(book, wheels.result())


def run_chapters(book: Book) -> list[str]:
    """Execute the stale chapters; say which ran and which did not need to."""
    lock = book.root / "requirements.txt"
    with step(f"running what changed in {len(book.chapters)} chapters"):
        ran = execute(book.chapters, book.store, book.book, book.root / "lib", lock)
    print(f"    ran {', '.join(ran)}" if ran else "    all outputs are up to date")
    check_count(book)
    return ran


def check_count(book: Book) -> None:
    """Fail unless every chapter of `_toc.yml` has run as it is now."""
    lock, lib = book.root / "requirements.txt", book.root / "lib"
    missing = [
        page.name
        for page in book.chapters
        if not book.store.is_fresh(page, key(notebook(page), book.book, lib, lock))
    ]
    if missing:
        raise BuildFailed(f"chapters that did not run: {', '.join(missing)}")


def stage(book: Book) -> None:
    """Put what Jupyter Book renders into one folder; touch only what changed."""
    wanted: dict[str, bytes] = {}
    for page in book.pages:
        if page.is_chapter:
            nb = with_outputs(page, book.store)
            wanted[f"{page.name}.ipynb"] = nbformat.writes(nb).encode()
        else:
            wanted[page.source.name] = page.source.read_bytes()
    for extra in (*book.book.glob("*.bib"), *book.book.glob("*.yml")):
        wanted[extra.name] = extra.read_bytes()
    book.staged.mkdir(parents=True, exist_ok=True)
    for old in book.staged.iterdir():
        if old.name not in wanted and old.is_file():
            old.unlink()
    for name, content in wanted.items():
        file = book.staged / name
        if not file.exists() or file.read_bytes() != content:
            file.write_bytes(content)


def render(book: Book) -> None:
    """The staged pages as HTML; all of them anew, where all depend on a change."""
    marker, now = book.out / "everything.key", _everything(book.root)
    if not marker.exists() or marker.read_text("utf-8") != now:
        for old in (book.html, book.out / ".doctrees"):
            shutil.rmtree(old, ignore_errors=True)
        marker.unlink(missing_ok=True)
    config = _config_without_execution(book)
    # jupyter_book.cli.main has no main guard: `python -m` of it does nothing, quietly.
    start = "import tools; from jupyter_book.cli.main import main; main()"
    command = [sys.executable, "-c", start, "build", str(book.staged)]
    command += ["--config", str(config), "--toc", str(book.root / "_toc.yml")]
    command += ["--path-output", str(book.out.parent), "-W", "--keep-going", "-n", "-q"]
    path = os.pathsep.join(map(str, (book.root / "lib", book.book, ROOT)))
    env = {**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": "0"}
    done = subprocess.run(
        command, capture_output=True, encoding="utf-8", env=env, cwd=book.root
    )
    missing = [
        p.name for p in book.pages if not (book.html / f"{p.name}.html").exists()
    ]
    if done.returncode or missing:
        said = f"{done.stdout}\n{done.stderr}".strip()
        pages = f" (no page for {', '.join(missing)})" if missing else ""
        raise BuildFailed(f"Jupyter Book refused to render{pages}:\n{said}")
    marker.write_text(now, "utf-8")


def _everything(root: Path) -> str:
    """One digest of what every page depends on."""
    digest = hashlib.sha256(sys.version.encode())
    folders = (root / folder for folder in EVERY_PAGE)
    files = [f for d in folders for f in d.rglob("*") if "__pycache__" not in f.parts]
    for file in sorted([*files, *(root / name for name in ALSO)]):
        if file.is_file():
            digest.update(f"{file.relative_to(root)}\0".encode() + file.read_bytes())
    return digest.hexdigest()


def _config_without_execution(book: Book) -> Path:
    """The book's configuration for pages that have run already."""
    config = yaml.safe_load((book.root / "_config.yml").read_text("utf-8"))
    config.setdefault("execute", {})["execute_notebooks"] = "off"
    config["sphinx"]["config"]["book_notebooks"] = True  # `pack_notebooks` makes them
    file = book.out / "_config.yml"
    file.write_text(yaml.safe_dump(config, allow_unicode=True), "utf-8")
    return file


PACKAGES = ("lib/blocksim", "lib/onlinesoftmax", "lib/livepage", "book")


def pack_wheels(book: Book) -> list[Path]:
    """Our packages and the book's content as wheels, for notebooks away from here."""
    folder = book.out / "wheels"
    shutil.rmtree(folder, ignore_errors=True)
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps"]
    command += [
        "--no-build-isolation",
        "--disable-pip-version-check",
        "-w",
        str(folder),
    ]
    command += [str(book.root / package) for package in PACKAGES]
    env = {**os.environ, "SOURCE_DATE_EPOCH": "315619200"}  # two builds, one file
    done = subprocess.run(command, capture_output=True, encoding="utf-8", env=env)
    if done.returncode:
        raise BuildFailed(f"the packages could not be packed:\n{done.stderr}")
    return sorted(folder.glob("*.whl"))


@contextmanager
def modules_read(book: Book):
    """Meanwhile the package has what V8 found in modules: the wheel's readers have none.

    It is there for as long as anything is built, because pages depend on all files of
    the package: it must not come or go while they are read.
    """
    file = book.root / "lib" / "livepage" / "unlinked.json"
    folders = (book.root / "lib" / "livepage" / "figures", book.book / "figures")
    sources = (source for folder in folders for source in folder.rglob("*.mjs"))
    file.write_text(modules.unlinked(sources), "utf-8")
    try:
        yield
    finally:
        file.unlink()


def pack_notebooks(book: Book, packed: list[Path]) -> None:
    """The reader's notebooks, each alone and with the wheels, beside the pages."""
    folder = book.html / "notebooks"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    wheels = [Path(shutil.copy2(wheel, folder)) for wheel in packed]
    config = yaml.safe_load((book.root / "_config.yml").read_text("utf-8"))
    site = (config.get("html") or {}).get("baseurl") or None
    first = reader.install_cell([wheel.name for wheel in wheels], site)
    around = reader.around(book.book)
    for page in book.chapters:
        text = page.source.read_text("utf-8")
        executed = with_outputs(page, book.store)
        nb = reader.reader_notebook(executed, text, first, around)
        reader.write(nb, wheels, folder, page.name)


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
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, default=ROOT, help="the repository")
    parser.add_argument("--path-output", type=Path, help="default: the repository")
    parser.add_argument("--open", action="store_true", help="open the book at the end")
    options = parser.parse_args()
    root = options.root.resolve()
    book = Book(root, (options.path_output or root).resolve() / "_build")
    try:
        with only_one(book.out):
            build(book)
    except (BuildFailed, ChapterFailed, ValueError) as error:
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
