"""The list of wrong kernels that a GPU alone would pass: whole, and honest."""

from datetime import date

import pytest

from livepage.drills.bank import bank
from livepage.measurements import measured
from tools.faults import unseen

STORED = measured("unseen.json")
KERNELS = [drill for drill in bank().values() if drill.kind == "kernel"]


def test_every_wrong_kernel_of_the_drills_is_in_the_list() -> None:
    wanted = [(d.id, name) for d in KERNELS for name, _ in unseen.wrong_kernels(d)]
    assert [(id, name) for id, name, *_ in STORED.rows] == wanted, (
        "run `python -m tools.faults.unseen`"
    )


def test_the_list_says_where_it_comes_from() -> None:
    assert (STORED.what, STORED.columns) == (unseen.WHAT, unseen.COLUMNS)
    assert STORED.command == unseen.COMMAND and "Chromium" in STORED.versions
    assert date.fromisoformat(STORED.date)


@pytest.mark.parametrize("d", KERNELS, ids=lambda d: d.id)
def test_the_simulator_finds_what_the_list_says(d) -> None:
    said = [found for id, _, found, _ in STORED.rows if id == d.id]
    found = [unseen.simulators_word(d, text) for _, text in unseen.wrong_kernels(d)]
    assert found == said


def test_a_right_kernel_has_no_place_in_it() -> None:
    with pytest.raises(ValueError, match="neighbour: the simulator passes"):
        unseen.simulators_word(bank()["neighbour"], bank()["neighbour"].get("code"))


def test_another_list_is_noticed(capsys: pytest.CaptureFixture) -> None:
    assert unseen.compare(STORED.rows) == 0
    (id, name, found, _), *others = STORED.rows
    assert unseen.compare([[id, name, found, "another"], *others]) == 1
    assert "another" in capsys.readouterr().out
