"""Every fault and every edit that tools plant still can be: a moved text is found here."""

import re

import pytest

from tools.copies import ROOT
from tools.faults import FAULTS
from tools.rebuilds import EDITS


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_the_fault_can_be_planted(fault):
    assert (ROOT / fault.file).read_text("utf-8").count(fault.find) >= 1
    assert fault.replace != fault.find
    for file, _, test in (word.partition("::") for word in fault.tests.split()):
        assert f"def {test}" in (ROOT / file).read_text("utf-8")
    assert re.compile(fault.says)


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.file)
def test_the_edit_can_be_made(edit):
    text = (ROOT / edit.file).read_text("utf-8")
    assert edit.find in text and edit.shows not in text
