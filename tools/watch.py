"""Builds the book whenever a file changes, and shows the page anew in the browser.

    python -m tools.watch [PORT]

Each build is a process of its own, forked from one that has the large packages loaded:
it starts at once and knows nothing of the build before. A prose edit runs no chapter and
reads one page, a style edit reads none; a code edit runs its chapter first.
"""

import json
import sys
import threading
import time
import traceback
from multiprocessing import get_all_start_methods, get_context
from multiprocessing.connection import Connection
from pathlib import Path
from urllib.parse import parse_qs, urlparse

from livepage.digest import files_in
from tools.serve import HTML, Handler, asked, server

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("book", "lib", "tools")
FILES = ("_config.yml", "_toc.yml", "requirements.txt")
PAUSE = 0.2  # seconds between two looks at the files
PATIENCE = 20  # seconds until a page that waits is told that nothing changed
# What is loaded once: nothing of ours, which may be what changed.
LARGE = [
    "tools",
    "fontTools.subset",
    "hatchling.builders.wheel",
    "jupyter_book.config",
    "jupytext",
    "myst_nb.sphinx_ext",
    "py_mini_racer",
    "sphinx.builders.html",
    "sphinx_book_theme",
    "sphinx_external_toc.api",
    "sphinxcontrib.bibtex",
    "tinycss2",
]
RELOAD = """
const told = document.createElement("pre");
told.style = "position: fixed; inset: auto 0 0; max-height: 60%; margin: 0; z-index: 99;"
  + "padding: 1rem; overflow: auto; white-space: pre-wrap; background: #a00; color: #fff";
for (let seen = ""; ; ) {
  try {
    const answer = await fetch(`/.watch?seen=${seen}`);
    const { number, said } = await answer.json();
    if (seen !== "" && number !== seen && !said) location.reload();
    seen = number;
    told.textContent = said;
    if (said) document.body.append(told);
    else told.remove();
  } catch {
    await new Promise((again) => setTimeout(again, 1000)); // the server is gone
  }
}
"""


class Newest:
    """The newest build: its number, and what it complained of."""

    def __init__(self) -> None:
        self.number, self.said = 0, ""
        self.changed = threading.Condition()

    def tell(self, said: str) -> None:
        """Let every open page know; an empty text is a build that went well."""
        with self.changed:
            self.number, self.said = self.number + 1, said
            self.changed.notify_all()

    def after(self, seen: str) -> str:
        """Wait for a build that a page has not seen, and say what it did."""
        with self.changed:
            self.changed.wait_for(lambda: str(self.number) != seen, PATIENCE)
            return json.dumps({"number": self.number, "said": self.said})


newest = Newest()


class Watching(Handler):
    """The site, with a script in each page that asks for the next build."""

    def do_GET(self) -> None:
        url = urlparse(self.path)
        file = Path(self.translate_path(self.path))
        file = file / "index.html" if file.is_dir() else file
        if url.path == "/.watch":
            seen = parse_qs(url.query).get("seen", [""])[0]
            self._answer("application/json", newest.after(seen))
        elif url.path == "/.watch.js":
            self._answer("text/javascript", RELOAD)
        elif file.suffix == ".html" and file.is_file():
            self._answer("text/html", watched(file.read_text("utf-8")))
        else:
            super().do_GET()

    def _answer(self, kind: str, text: str) -> None:
        body = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def end_headers(self) -> None:
        self.send_header("Cache-Control", "no-store")
        super().end_headers()


def watched(page: str) -> str:
    """Return a page that may ask this server, and does; the file stays as it is."""
    page = page.replace("connect-src 'none'", "connect-src 'self'", 1)
    script = '<script type="module" src="/.watch.js"></script>'
    return page.replace("</head>", f"{script}</head>", 1)


def look() -> dict[Path, int]:
    """Return when each source was last changed."""
    found = files_in(*(ROOT / name for name in FOLDERS))
    found |= {ROOT / name for name in FILES}
    seen = {}
    for file in found:
        try:
            seen[file] = file.stat().st_mtime_ns
        except FileNotFoundError:  # an editor's, gone already
            continue
    return seen


def build(told: Connection) -> None:
    """Build the book, in a process of its own; tell when its pages stand, or why not."""
    try:
        from tools import build as builder

        try:
            builder.make(shown=lambda: told.send(""))
        except builder.FAILURES as error:
            told.send(str(error))
    except BaseException:  # a module of ours that cannot even be loaded, for instance
        told.send(traceback.format_exc())


def rebuild() -> None:
    """Build once, and tell the pages."""
    method = "forkserver" if "forkserver" in get_all_start_methods() else "spawn"
    context = get_context(method)
    context.set_forkserver_preload(LARGE)
    told, tells = context.Pipe(duplex=False)
    start = time.perf_counter()
    process = context.Process(target=build, args=(tells,))
    process.start()
    tells.close()
    said = None
    try:
        while True:
            said = told.recv()
            newest.tell(said)
            took = f"{time.perf_counter() - start:.1f} s"
            print(said or f"\n  the pages stand after {took}", flush=True)
    except EOFError:
        process.join()
    if said is None:  # it was killed, for its memory perhaps
        newest.tell("the build was stopped")


def watch() -> None:
    """Build after each change, for good."""
    seen: dict[Path, int] = {}
    while True:
        now = look()
        if now != seen:
            seen = now
            rebuild()
        time.sleep(PAUSE)


def main() -> int:
    port = asked(sys.argv[1:])
    threading.Thread(target=watch, daemon=True).start()
    HTML.mkdir(parents=True, exist_ok=True)
    try:
        with newest.changed:
            newest.changed.wait_for(lambda: (HTML / "index.html").exists())
        with server(port=port, handler=Watching) as running:
            address = f"http://127.0.0.1:{running.server_port}/"
            print(f"\nThe book is at {address} (Ctrl-C ends)", flush=True)
            running.serve_forever()
    except KeyboardInterrupt:
        print()
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except ValueError as error:
        sys.exit(str(error))
