"""Every fault of `make faults` can still be planted: a moved text is found here."""

import re

import pytest

from tools.copies import ROOT
from tools.faults import FAULTS


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_the_fault_can_be_planted(fault):
    assert (ROOT / fault.file).read_text("utf-8").count(fault.find) >= 1
    assert fault.replace != fault.find
    for file, _, test in (word.partition("::") for word in fault.tests.split()):
        assert f"def {test}" in (ROOT / file).read_text("utf-8")
    assert re.compile(fault.says)
