"""Drills that a second process puts on the page, while this one reads the pages.

All mistakes that a code drill knows are run for its page, and together that takes longer
than it takes to read the pages. The second process goes through the drills from the
first to the last, and this one, when it has read the pages, from the last to the first.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

from sphinx.application import Sphinx

from livepage.child import child

from . import hosts, keep

FEW = 10  # so many drills are made sooner than a process starts
_HOST = re.compile(r'class=\\"os-drill\\"[^>]*data-drill=\\"([\w-]+)\\"')
_MAKE = "import sys; from livepage.site.ahead import make; make(*sys.argv[1:])"


class Ahead:
    """The second process, and which drills it makes."""

    def __init__(self, module: str, language: str, names: Sequence[str]) -> None:
        self.names, self.language = names, language
        self.folder = TemporaryDirectory(prefix="drills-")
        file = Path(self.folder.name, "made")
        # No thread of this process reads a pipe: what a thread allocates would count as
        # memory of the drill whose memory is measured meanwhile.
        with file.open("wb") as out:
            command = _MAKE, module, language, *names
            self.process = child(*command, stdout=out, stderr=subprocess.DEVNULL)
        self.made = file.open("rb")

    def take(self) -> None:
        """Take what the process has made since the last time."""
        start = self.made.tell()
        while (line := self.made.readline()).endswith(b"\n"):
            keep.take(json.loads(line))
            start = self.made.tell()
        self.made.seek(start)  # a line that is not whole yet

    def meet(self) -> None:
        """Make what the process has not made yet. What it cannot make fails here."""
        for name in reversed(self.names):
            self.take()
            if hosts.has_drill(name, self.language):
                break
            hosts.drill(name, self.language)

    def stop(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.made.close()
        self.folder.cleanup()


_ahead: list[Ahead] = []


def start(app: Sphinx) -> None:
    """Have the drills of the notebooks made that the last build has not kept."""
    texts = (file.read_text("utf-8") for file in Path(app.srcdir).glob("*.ipynb"))
    names = dict.fromkeys(name for text in texts for name in _HOST.findall(text))
    language = app.config.language
    new = sorted(name for name in names if not hosts.has_drill(name, language))
    if len(new) > FEW:
        _ahead[:] = [Ahead(app.config.book_module, language, new)]


def meet(app: Sphinx, *_: object) -> None:
    """Have all drills made before the first page is written."""
    try:
        for ahead in _ahead:
            ahead.meet()
    finally:
        stop(app, None)


def stop(app: Sphinx, error: Exception | None) -> None:
    """End the process, also if the pages could not be read."""
    while _ahead:
        _ahead.pop().stop()


def make(module: str, language: str, *names: str) -> None:
    """Make drills, and print what was kept of each."""
    import_module(module)  # it hands the book in
    told: set[str] = set()
    for name in names:
        hosts.drill(name, language)
        new = {key: made for key, made in keep.all_kept().items() if key not in told}
        told |= set(new)
        print(json.dumps(new), flush=True)


def setup(app: Sphinx) -> None:
    """Start before the first page is read, and end before the first is written."""
    app.connect("builder-inited", start)
    app.connect("env-updated", meet)
    app.connect("build-finished", stop)
