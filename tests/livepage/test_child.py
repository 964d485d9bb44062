"""Child processes end with the process that started them."""

import subprocess
import sys

from patience import PATIENCE

PARENT = """
import sys
from livepage.child import child
child(sys.argv[1]).wait()
"""
CHILD = f"""
import sys, threading
assert sys.stdin.read() == ""
print("started", flush=True)
threading.Event().wait({PATIENCE})
print("outlived its parent", flush=True)
"""


def test_a_child_ends_when_its_parent_is_killed() -> None:
    command = [sys.executable, "-c", PARENT, CHILD]
    parent = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert parent.stdout.readline() == "started\n"
    parent.kill()
    # The child holds the other end of this pipe: reading ends when the child does.
    assert parent.communicate()[0] == ""
