"""Builds the book whenever a file changes, and reloads the page in the browser.

    python -m tools.watch [PORT]

Each build is a new process, forked from a server that has imported the large packages: it
starts at once and shares no state with the last build. An edit of the prose runs no
chapter and reads one page, an edit of the style reads none; an edit of code runs its
chapter first.
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
from tools.common.paths import HTML, ROOT
from tools.serve import Handler, is_built, parse_port, server

FOLDERS = ("book", "lib", "tools")
FILES = ("_config.yml", "_toc.yml", "requirements.txt")
PAUSE = 0.2  # seconds between two polls of the files
PATIENCE = 20  # seconds until a waiting page learns that nothing changed
# Imported once, by the server: third-party packages only, because ours may change.
LARGE = """
    tools fontTools.subset hatchling.builders.wheel jupyter_book.config jupytext
    myst_nb.sphinx_ext py_mini_racer sphinx.builders.html sphinx_book_theme
    sphinx_external_toc.api sphinxcontrib.bibtex tinycss2
""".split()
RELOAD = """
const panel = document.createElement("pre");
panel.style = "position: fixed; inset: auto 0 0; max-height: 60%; margin: 0; z-index: 99;"
  + "padding: 1rem; overflow: auto; white-space: pre-wrap; background: #a00; color: #fff";
for (let seen = ""; ; ) {
  try {
    const answer = await fetch(`/.watch?seen=${seen}`);
    const { number, complaint } = await answer.json();
    if (seen !== "" && number !== seen && !complaint) location.reload();
    seen = number;
    panel.textContent = complaint;
    if (complaint) document.body.append(panel);
    else panel.remove();
  } catch {
    await new Promise((done) => setTimeout(done, 1000)); // the server is gone
  }
}
"""


class Newest:
    """The newest build: its number and its complaint, which is empty if it succeeded."""

    def __init__(self) -> None:
        self.number, self.complaint = 0, ""
        self.changed = threading.Condition()

    def finish(self, complaint: str) -> None:
        """Record a build, and wake every page that waits for it."""
        with self.changed:
            self.number, self.complaint = self.number + 1, complaint
            self.changed.notify_all()

    def after(self, seen: str) -> str:
        """Wait for a build that a page has not seen; return the build as JSON."""
        with self.changed:
            self.changed.wait_for(lambda: str(self.number) != seen, PATIENCE)
            return json.dumps({"number": self.number, "complaint": self.complaint})


newest = Newest()


class Watching(Handler):
    """Serves the site with a script in each page that waits for the next build."""

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
            self._answer("text/html", with_script(file.read_text("utf-8")))
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


def with_script(page: str) -> str:
    """Return a page with the script, and with a policy that permits its requests."""
    page = page.replace("connect-src 'none'", "connect-src 'self'", 1)
    script = '<script type="module" src="/.watch.js"></script>'
    return page.replace("</head>", f"{script}</head>", 1)


def modification_times() -> dict[Path, int]:
    """Return when each source was last changed."""
    files = files_in(*(ROOT / name for name in FOLDERS))
    files |= {ROOT / name for name in FILES}
    times = {}
    for file in files:
        try:
            times[file] = file.stat().st_mtime_ns
        except FileNotFoundError:  # an editor's temporary file
            continue
    return times


def build(outcome: Connection) -> None:
    """Build the book; send "" once the pages are rendered, or the complaint."""
    try:
        from tools import build as builder

        try:
            builder.make(on_rendered=lambda: outcome.send(""))
        except builder.FAILURES as error:
            outcome.send(str(error))
    except BaseException:  # a module of ours that cannot be imported, for instance
        outcome.send(traceback.format_exc())


def rebuild() -> None:
    """Build once in a new process, and notify the pages."""
    method = "forkserver" if "forkserver" in get_all_start_methods() else "spawn"
    context = get_context(method)
    context.set_forkserver_preload(LARGE)
    receiver, sender = context.Pipe(duplex=False)
    start = time.perf_counter()
    process = context.Process(target=build, args=(sender,))
    process.start()
    sender.close()
    complaint = None
    try:
        while True:
            complaint = receiver.recv()
            newest.finish(complaint)
            took = f"{time.perf_counter() - start:.1f} s"
            print(complaint or f"\n  rendered after {took}", flush=True)
    except EOFError:
        process.join()
    if complaint is None:  # the process was killed, perhaps for its memory
        newest.finish("the build was stopped")


def watch() -> None:
    """Build after each change, without end."""
    before: dict[Path, int] = {}
    while True:
        now = modification_times()
        if now != before:
            before = now
            rebuild()
        time.sleep(PAUSE)


def main() -> int:
    port = parse_port(sys.argv[1:])
    threading.Thread(target=watch, daemon=True).start()
    HTML.mkdir(parents=True, exist_ok=True)
    try:
        with newest.changed:
            newest.changed.wait_for(lambda: is_built(HTML))
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
