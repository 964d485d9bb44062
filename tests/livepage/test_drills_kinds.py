"""A new kind of drill is one new folder: nothing else lists the kinds."""

import textwrap
from pathlib import Path

import pytest

from livepage.drills import kinds, notebook
from livepage.drills.bank import read
from livepage.drills.kind import Kind

KIND = """
    from livepage.drills.kind import Kind, typed_line

    class Colour(Kind):
        needs = {"colour"}

        def payload(self, drill):
            return {"right": drill.get("colour")}

        def mark(self, data, answer, language="en"):
            return {"passed": answer == data["right"]}

        def answer_text(self, drill, language):
            return drill.get("colour")

        def html(self, card):
            return typed_line(card, "colour", "")

    KIND = Colour()
"""
DRILL = """
    drills:
    - {id: sky, kind: colour, prompt: Which colour has the sky?, colour: blue,
       solution: It is blue.}
"""


@pytest.fixture
def colour(tmp_path: Path, monkeypatch) -> Path:
    """A book whose drill is of a kind that a folder of its own defines."""
    package = tmp_path / "made_up"
    (package / "colour").mkdir(parents=True)
    for folder in (package, package / "colour"):
        (folder / "__init__.py").write_text("")
    (package / "colour" / "kind.py").write_text(textwrap.dedent(KIND))
    monkeypatch.syspath_prepend(tmp_path)
    for name, kind in kinds.find_kinds(package, "made_up").items():
        monkeypatch.setitem(kinds.KINDS, name, kind)
    (tmp_path / "drills").mkdir()
    (tmp_path / "drills" / "01-sky.yml").write_text(textwrap.dedent(DRILL))
    return tmp_path / "drills"


def test_a_folder_is_enough(colour: Path, monkeypatch) -> None:
    drills = read(colour)
    monkeypatch.setattr(notebook, "find", drills.__getitem__)
    assert notebook.check("sky", "blue").passed
    wrong = notebook.check("sky", "green")
    assert not wrong and "Not yet" in repr(wrong)
    assert "blue" in repr(notebook.check("sky", show=True))


def test_its_fields_are_checked(colour: Path) -> None:
    file = colour / "01-sky.yml"
    file.write_text(file.read_text().replace("colour: blue,", "color: blue,"))
    with pytest.raises(ValueError, match="'colour': missing; a colour drill needs it"):
        read(colour)


def test_every_folder_is_a_kind() -> None:
    folders = {
        path.name for path in kinds.HERE.iterdir() if (path / "kind.py").exists()
    }
    assert set(kinds.KINDS) == folders >= {"numeric", "choice", "order", "kernel"}
    wrong = [name for name, kind in kinds.KINDS.items() if not isinstance(kind, Kind)]
    assert not wrong
