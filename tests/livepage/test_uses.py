"""Uses of a reader's kernel: their folder, their words, their host, and what launches."""

import json
import re
from pathlib import Path

import pytest

from livepage import book, drills, with_your_kernel, words, yml
from livepage.drills.bank import find
from livepage.drills.uses import WAYS, Use
from livepage.site import hosts

FOLDER = book.current().drills / "uses"
NAMES = sorted(path.parent.name for path in FOLDER.glob("*/use.yml"))
LANGUAGES = words.LANGUAGES


def test_the_book_has_one() -> None:
    assert "speaker" in NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_language_has_every_word_and_the_same_slots(name: str) -> None:
    said = yml.read(FOLDER / name / "use.yml")["words"]
    assert set(said) == set(LANGUAGES)
    for lang in LANGUAGES:
        assert said[lang].keys() == said["en"].keys()
        for key, text in said[lang].items():
            slots = [
                sorted(re.findall(r"{(\w+)}", each)) for each in (said["en"][key], text)
            ]
            assert slots[0] == slots[1], key


@pytest.mark.parametrize("name", NAMES)
def test_every_word_is_said_somewhere(name: str) -> None:
    use = Use(name)
    module = (FOLDER / name / "use.mjs").read_text("utf-8")
    of_page = {"title", "link", "notebook", *WAYS}
    for key in set(use.fields["words"]["en"]) - of_page:
        assert f'"{key}"' in module, key


def test_an_unknown_use_is_an_error() -> None:
    with pytest.raises(
        ValueError, match=r"name: expected one of \[.*'speaker'.*got 'x'"
    ):
        with_your_kernel("x")


def test_a_notebook_says_in_a_line_what_stands_on_the_page() -> None:
    shown = with_your_kernel("speaker")
    assert "the cell above does it" in repr(shown)
    assert repr(shown) in shown._repr_html_().replace("&#x27;", "'")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_site_fills_its_host(lang: str) -> None:
    html = hosts.fill(with_your_kernel("speaker")._repr_html_(), lang)
    assert hosts.uses_on(html) == ["speaker"]
    assert hosts.drills_on(html) == []  # it is no drill, and nobody counts it as one
    drill = find("tiled-attention")
    assert f'href="{drill.chapter}.html#drill-{drill.id}"' in html
    assert not [way for way in WAYS if f'data-way="{way}"' not in html]
    assert "{link}" not in html
    assert len(html.encode()) < 1300  # all that a page carries before the first press


def test_a_page_of_it_has_the_scripts_of_drills() -> None:
    from livepage.site.page import scripts

    assert "drills/drills.js" in scripts(drills.use_html("speaker"), search_page=False)


# ---- the launcher, in CPython; the browser's tests run it in MicroPython

TEXT = """
from numba import cuda

B, STEP = 4, 1


@cuda.jit
def add(x, y, n):
    i = cuda.blockIdx.x * B + cuda.threadIdx.x
    if i < n:
        y[i] = x[i] + STEP
"""


@pytest.fixture
def ask():
    space: dict = {}
    source = (Path(drills.__file__).parent / "page" / "launcher.py").read_text()
    exec(source, space)
    return lambda asked: json.loads(space["launcher"](json.dumps(asked)))


def test_the_launcher_says_which_names_a_text_lacks(ask) -> None:
    job = {"text": TEXT, "function": "add"}
    assert ask(job | {"names": {"B": 8, "STEP": 2}}) == {"missing": []}
    assert ask(job | {"names": {"B": 8, "D": 2, "cuda": 1}}) == {
        "missing": ["D", "cuda"]
    }


def test_the_launcher_gives_a_kernel_the_names_of_a_case(ask) -> None:
    ask({"text": TEXT, "function": "add", "names": {"B": 2, "STEP": 5}})
    x = ["x", "floats", [1, "nan", 3]]
    case = {"grid": [2, 1], "block": [2, 1], "names": {"B": 2, "STEP": 5}}
    found = ask({"launch": case | {"args": [x, ["y", "out", [3]], ["n", "number", 3]]}})
    assert found["fault"] is None
    assert found["outs"] == {"y": [6, "nan", 8]}
