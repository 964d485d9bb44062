"""Processes that end when the process that started them ends, even if it was killed."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

# The pipe on the child's standard input closes when the parent ends. Only the watching
# thread reads the pipe. The child's code and its own child processes read from devnull.
_WATCH = """\
import os, sys, threading
pipe = os.dup(0)
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
def watch():
    while os.read(pipe, 1):
        pass
    os._exit(1)
threading.Thread(target=watch, daemon=True).start()
"""


def child(code: str, *arguments: str, **options: Any) -> subprocess.Popen[Any]:
    """Start Python code in a child process that never outlives this process.

    Parameters
    ----------
    code : str
        Python source for the child to run.
    *arguments : str
        The child's ``sys.argv[1:]``.
    **options
        Further options of ``subprocess.Popen``. Do not use ``communicate``, which closes
        the pipe that the child watches.
    """
    command = [sys.executable, "-c", _WATCH + code, *arguments]
    return subprocess.Popen(command, stdin=subprocess.PIPE, **options)
