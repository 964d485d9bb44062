"""`make watch`: pages that ask their server for the next build, and are told of it."""

import json
import re
import subprocess
import sys
import threading
from functools import partial
from urllib.request import urlopen

import pytest

from livepage.site.page import CONTENT_SECURITY_POLICY
from patience import PATIENCE
from tools import watch
from tools.serve import serving
from tools.testing.copies import copy_of_the_book

PAGE = f'<head><meta content="{CONTENT_SECURITY_POLICY}"></head><p>text</p>'


@pytest.fixture
def address(tmp_path):
    """A site of one page, watched."""
    (tmp_path / "index.html").write_text(PAGE)
    with serving(tmp_path, watch.Watching) as address:
        yield address


def test_a_page_may_ask_its_server_and_the_file_stays(address, tmp_path) -> None:
    page = urlopen(address).read().decode()
    assert "connect-src 'self'" in page and "connect-src 'none'" not in page
    assert 'src="/.watch.js"></script></head>' in page
    assert "fetch(" in urlopen(f"{address}.watch.js").read().decode()
    assert (tmp_path / "index.html").read_text() == PAGE


class Noticed(threading.Condition):
    """A condition of which it is known that somebody waits for it."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = threading.Event()

    def wait_for(self, *given: object) -> object:
        self.begun.set()
        return super().wait_for(*given)


def test_a_page_that_waits_is_told_of_the_next_build(address, monkeypatch) -> None:
    monkeypatch.setattr(watch, "newest", watch.Newest())
    first = json.load(urlopen(f"{address}.watch?seen="))
    assert first == {"number": 0, "complaint": ""}
    watch.newest.changed = waiting = Noticed()
    finish = partial(watch.newest.finish, "01-one.md: no")
    threading.Thread(target=lambda: waiting.begun.wait(PATIENCE) and finish()).start()
    build = json.load(urlopen(f"{address}.watch?seen=0", timeout=PATIENCE))
    assert build == {"number": 1, "complaint": "01-one.md: no"}


class Pipe:
    """Keeps what is sent."""

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.send = self.sent.append


@pytest.mark.parametrize("error", [ValueError("the page"), KeyError("the page")])
def test_a_build_that_fails_is_told_and_not_raised(monkeypatch, error) -> None:
    from tools import build as builder

    def failing(**_named: object) -> None:
        raise error

    monkeypatch.setattr(builder, "make", failing)
    pipe = Pipe()
    watch.build(pipe)
    assert "the page" in pipe.sent[0]


def test_a_fault_in_the_sources_reaches_the_open_page(tmp_path) -> None:
    copy_of_the_book(tmp_path, with_outputs=False)
    (tmp_path / "_toc.yml").write_text("format: jb-book\nroot: nowhere\n")
    page = tmp_path / "_build" / "html" / "index.html"
    page.parent.mkdir(parents=True)
    page.write_text(PAGE)
    command = [sys.executable, "-m", "tools.watch", "0"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, text=True
    ) as watching:
        try:
            heard = iter(watching.stdout.readline, "")
            line = next(line for line in heard if "http://" in line)
            address = re.search(r"http://\S+", line)[0]
            for _ in range(6):  # a busy machine may need longer than a page waits
                build = json.load(urlopen(f"{address}.watch?seen=0"))
                if build["number"]:
                    break
        finally:
            watching.terminate()
    assert build["number"] == 1
    assert "_toc.yml names 'nowhere'" in build["complaint"]
