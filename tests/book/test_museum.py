"""The museum's exhibits on the page and in their drills are the same programs."""

import ast
from functools import cache
from pathlib import Path

import jupytext
import pytest

from livepage.drills.bank import bank
from livepage.drills.entry import Drill

PAGE = Path(__file__).parents[2] / "book" / "museum.md"


@cache
def functions() -> dict[str, str]:
    """The text of each function that a cell of the page defines."""
    found = {}
    for cell in jupytext.read(PAGE).cells:
        if cell.cell_type == "code":
            for node in ast.parse(cell.source).body:
                if isinstance(node, ast.FunctionDef):
                    found[node.name] = ast.get_source_segment(cell.source, node)
    return found


MUSEUM = [drill for drill in bank().values() if drill.chapter == "museum"]
SHOWN = [
    drill
    for drill in MUSEUM
    if drill.kind == "code" and drill.get("function") in functions()
]


def test_every_exhibit_has_a_drill() -> None:
    headings = PAGE.read_text(encoding="utf-8").count("\n### ")
    assert headings == len(MUSEUM) - 1, (
        "and one drill besides asks for a whole attention"
    )


def test_the_exhibits_of_attention_are_on_the_page() -> None:
    assert len(SHOWN) >= 10


@pytest.mark.parametrize("drill", SHOWN, ids=lambda drill: drill.id)
def test_a_drill_asks_for_the_exhibit_as_it_was_found(drill: Drill) -> None:
    assert functions()[drill.get("function")] in drill.get("starter")
