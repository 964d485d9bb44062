"""Serves the built book on this machine, compressed as by a web server.

python -m tools.serve [PORT]
"""

import gzip
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from tools.common.paths import HTML

COMPRESSED = {".woff2", ".zip", ".whl", ".png"}


@lru_cache(maxsize=256)
def _gzipped(file: Path, changed: float) -> bytes:
    return gzip.compress(file.read_bytes(), mtime=0)


class Handler(SimpleHTTPRequestHandler):
    """Files of the site, gzip-compressed where that helps."""

    # Windows' registry may hold other types, with which a browser runs no script.
    extensions_map = {
        **SimpleHTTPRequestHandler.extensions_map,
        ".css": "text/css",
        ".js": "text/javascript",
    }

    def do_GET(self) -> None:
        file = Path(self.translate_path(self.path))
        if file.is_dir():
            file /= "index.html"
        if not file.is_file() or file.suffix in COMPRESSED:
            return super().do_GET()
        body = _gzipped(file, file.stat().st_mtime)
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(str(file)))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args) -> None:
        pass


def server(
    html: Path = HTML, port: int = 0, handler: type[Handler] = Handler
) -> ThreadingHTTPServer:
    """Return a server for `html` on the loopback address; port 0 takes a free port."""
    if not is_built(html):
        raise ValueError(f"no built book in {html}: run `make book` first")
    try:
        return ThreadingHTTPServer(
            ("127.0.0.1", port), partial(handler, directory=str(html))
        )
    except OSError as error:
        raise ValueError(
            f"port: {port} is not available ({error}); name another, or 0 for a free one"
        ) from None


def is_built(html: Path) -> bool:
    """Return whether `html` holds a built book."""
    return (html / "index.html").exists()


@contextmanager
def serving(html: Path = HTML, handler: type[Handler] = Handler) -> Iterator[str]:
    """Serve `html` from a thread; yield the address."""
    with server(html, handler=handler) as running:
        Thread(target=running.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{running.server_port}/"
        finally:
            running.shutdown()


def parse_port(arguments: list[str]) -> int:
    """Return the port that a command line names; 8000 by default."""
    if not arguments:
        return 8000
    if len(arguments) > 1:
        raise ValueError(f"port: expected one, got {' '.join(arguments)}")
    [port] = arguments
    if not re.fullmatch("[0-9]{1,5}", port) or int(port) > 65535:
        raise ValueError(f"port: expected a number from 0 to 65535, got {port!r}")
    return int(port)


def main() -> None:
    with server(port=parse_port(sys.argv[1:])) as running:
        print(f"The book is at http://127.0.0.1:{running.server_port}/ (Ctrl-C ends)")
        try:
            running.serve_forever()
        except KeyboardInterrupt:
            print()


if __name__ == "__main__":
    try:
        main()
    except ValueError as error:
        sys.exit(str(error))
