"""The walk through three engines, with engines that are none: what it tells, and when."""

import sys

import pytest

from tools.site import browsers
from tools.site.engines.engine import Engine, Missing, ScriptFailed


class Pretended(Engine):
    """No browser: each script goes well, but for what it is told to pretend."""

    name, install = "pretended", "nothing"

    def __init__(self, broken: str = "", console: str = "", unmoved: str = "") -> None:
        self.broken, self.console, self.unmoved = broken, console, unmoved
        self.opened: list[str] = []

    def __exit__(self, *error: object) -> None:
        pass

    def open(self, address: str) -> None:
        self.opened.append(address)

    def call(self, text: str, argument: str) -> str:
        if self.broken and self.broken in text:
            return '{"error": "Error: it never came: results"}'
        unmoved = f'["{self.unmoved}"]' if self.unmoved else "[]"
        return f'{{"answer": {{"unmoved": {unmoved}, "sliders": 1}}}}'

    def faults(self) -> list[str]:
        return [self.console] if self.console else []


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    def paths():
        yield "the figures", "one.html", browsers.FIGURES, []
        yield "search", "search.html", browsers.SEARCH, []

    monkeypatch.setattr(browsers, "paths", paths)


@pytest.mark.parametrize(
    ("engine", "told"),
    [
        (Pretended(), []),
        (Pretended(broken="#search-page"), ["search: Error: it never came: results"]),
        (Pretended(console="refused"), ["the figures: console: refused",
                                        "search: console: refused"]),
        (Pretended(unmoved="a slider"), ["the figures: a slider", "search: a slider"]),
    ],
)  # fmt: skip
def test_what_goes_wrong_on_a_path_is_told(few, engine: Pretended, told) -> None:
    assert browsers.walk(engine, "https://book.example/") == told
    assert engine.opened[0] == "https://book.example/one.html"


def test_a_script_that_throws_is_no_answer() -> None:
    with pytest.raises(ScriptFailed, match="it never came"):
        Pretended(broken="planted").run("async () => planted")


def test_the_paths_lead_to_what_the_book_has(html) -> None:
    for what, page, _, given in browsers.paths():
        if page:
            file = html / page.partition("?")[0]
            assert file.exists(), what
            text = file.read_text("utf-8")
        if given and isinstance(given[0], str):
            assert f'id="drill-{given[0]}"' in text, what


def test_an_engine_that_is_not_here_is_told_and_fails_only_in_ci(
    monkeypatch: pytest.MonkeyPatch, capsys, html
) -> None:
    def missing(name: str) -> list[str]:
        raise Missing(f"{name}: no {name} here; install it")

    monkeypatch.setattr(browsers, "visit", missing)
    monkeypatch.setattr(sys, "argv", ["browsers", "firefox"])
    monkeypatch.delenv("CI", raising=False)
    assert browsers.main() == 0
    assert "install it" in capsys.readouterr().out
    monkeypatch.setenv("CI", "true")
    assert browsers.main() == 1


def test_the_listener_is_the_first_script_of_every_page(html, tmp_path) -> None:
    copy = browsers.with_listener(tmp_path, "globalThis.heard = [];")
    for page in copy.glob("*.html"):
        text = page.read_text("utf-8")
        assert text.find("<script") == text.find(browsers.LISTEN) > 0, page.name
    assert browsers.with_listener(tmp_path, "") == browsers.HTML
