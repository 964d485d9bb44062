"""What a cell hands to the text: MyST-NB finds it, and a page can format it."""

import numpy as np
import pytest
from myst_nb.ext.glue import extract_glue_data_cell
from nbformat.v4 import new_code_cell, new_output

from livepage import prose


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.float64(2.5), "2.5"),
        (np.float32(0.5), "0.5"),
        (7, "7"),
        ("8,192", "'8,192'"),
    ],
)
def test_a_glued_number_is_found_and_can_be_formatted(value, text, monkeypatch) -> None:
    shown = []
    monkeypatch.setattr(
        prose,
        "display",
        lambda data, *, raw, metadata: shown.append(
            new_output("display_data", data, metadata=metadata)
        ),
    )
    prose.glue("here", value)
    cell = new_code_cell(outputs=shown)
    [(name, output)] = extract_glue_data_cell(cell)
    assert (name, output["data"]) == ("here", {"text/plain": text})
    assert cell.outputs == []  # it is stored, not shown


def test_a_name_that_is_no_text_is_refused() -> None:
    with pytest.raises(TypeError, match=r"name: expected a text, got 2\.5"):
        prose.glue(2.5, "third")


@pytest.mark.parametrize("value", [[1, 2], None, np.zeros(3)])
def test_what_is_no_number_and_no_text_is_refused(value: object) -> None:
    expected = "value: expected a number or a text, got .* for 'here'"
    with pytest.raises(TypeError, match=expected):
        prose.glue("here", value)
