"""Child processes end with the process that started them."""

import subprocess
import sys

import pytest

from patience import PATIENCE

PARENT = """
import sys
from livepage.child import child
child(sys.argv[1]).wait()
"""
CHILD = f"""
import os, threading
{{first}}
print("started", flush=True)
threading.Event().wait({PATIENCE})
print("outlived its parent", flush=True)
"""


@pytest.mark.parametrize(
    "first", ["", "os.dup2(os.open(os.devnull, os.O_RDONLY), 0)"], ids=["", "no input"]
)
def test_a_child_ends_when_its_parent_is_killed(first: str) -> None:
    command = [sys.executable, "-c", PARENT, CHILD.format(first=first)]
    parent = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert parent.stdout.readline() == "started\n"
    parent.kill()
    # The child holds the other end of this pipe: reading ends when the child does.
    assert parent.communicate()[0] == ""
