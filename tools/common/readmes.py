"""The blocks of code in a package's README, and what they print in a fresh Python."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.M | re.S)
STAND_INS = Path(__file__).with_name("compilers.py")
# Triton and Numba do not run where the examples do; the rest of those does.
WITH_COMPILERS = f"import runpy\nrunpy.run_path({str(STAND_INS)!r})\n"
FILE = re.compile(r"^`([\w./]+\.\w+)`.*?\n\n(```+)\w+\n(.*?)^\2\n", re.M | re.S)
INSTALL = re.compile(r"^    pip install (.*)", re.M)
# Lets a process import only the standard library and the modules that `allowed` names.
ALONE = """
import sys

class Absent:
    @staticmethod
    def find_spec(name, *_):
        top = name.partition(".")[0]
        if top not in allowed and top not in sys.stdlib_module_names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

if allowed:
    sys.meta_path.insert(0, Absent)
"""
# Runs blocks as cells of one notebook, each a file: a kernel's text is read from it.
RUNNER = """
import contextlib, io, json, sys
names, printed = {"__name__": "__main__"}, []
for number, code in enumerate(json.load(sys.stdin)):
    file = f"block_{number}.py"
    with open(file, "w", encoding="utf-8") as out:
        out.write(code)
    with contextlib.redirect_stdout(io.StringIO()) as heard:
        exec(compile(code, file, "exec"), names)
    printed.append(heard.getvalue())
print(json.dumps(printed))
"""


class Failed(Exception):
    """A block of a README raised an exception."""


def blocks(text: str) -> tuple[list[str], list[str]]:
    """Return the blocks of Python in a README, and what each is said to print."""
    pairs = BLOCK.findall(text)
    if len(pairs) != text.count("```python"):
        raise ValueError("a block of Python does not begin and end at a line's start")
    return [code for code, _ in pairs], [printed for _, printed in pairs]


def files(text: str) -> dict[str, str]:
    """Return the files that a README shows, each below its name and a sentence."""
    return {name: content for name, _, content in FILE.findall(text)}


def requirements(text: str) -> list[str]:
    """Return what a README's first `pip install` line names."""
    line = INSTALL.search(text)
    if line is None:
        raise ValueError("no line with `pip install`")
    return line[1].partition("  #")[0].replace('"', "").split()


def alone(allowed: tuple[str, ...]) -> str:
    """Return the start of a program that may import only these; all, if there are none."""
    return f"allowed = {allowed!r}\n{ALONE}"


def printed(
    python: str | Path,
    codes: list[str],
    folder: Path,
    allowed: tuple[str, ...] = (),
    before: str = "",
    **env: str,
) -> list[str]:
    """Return what blocks print when `python` runs them in `folder`, after `before`.

    Raises
    ------
    Failed
        If a block raises an exception.
    """
    done = subprocess.run(
        [python, "-c", before + alone(allowed) + RUNNER],
        input=json.dumps(codes),
        capture_output=True,
        encoding="utf-8",
        cwd=folder,
        env={**os.environ, "PYTHONIOENCODING": "utf-8", **env},
    )
    if done.returncode:
        raise Failed(done.stderr)
    return json.loads(done.stdout)


def build_project(
    project: Path,
    html: Path,
    path: str | Path,
    python: str | Path = sys.executable,
    allowed: tuple[str, ...] = (),
) -> None:
    """Build a Sphinx project; a warning is an error.

    Raises
    ------
    Failed
        If the project cannot be built.
    """
    start = "from sphinx.cmd.build import main\nsys.exit(main(sys.argv[1:]))"
    done = subprocess.run(
        [python, "-c", alone(allowed) + start, "-q", "-W", project, html],
        capture_output=True,
        encoding="utf-8",
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(path)},
    )
    if done.returncode:
        raise Failed(done.stdout + done.stderr)
