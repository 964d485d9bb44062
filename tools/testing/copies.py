"""Copies of the book in other folders, for what changes it: its sources and its code."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def git(*words: str) -> str:
    """Return what git says in the repository; stop where there is none."""
    command = ["git", *words]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8")
    except OSError as error:
        sys.exit(f"git is needed, to copy the book: {error}")
    if done.returncode:
        sys.exit(
            f"a clone of the repository is needed, to copy the book: {done.stderr}"
        )
    return done.stdout


def copy_of_the_book(folder: Path, with_outputs: bool = True) -> None:
    """What git tracks, and the outputs of the last build if they are wanted."""
    listed = git("ls-files", "-co", "--exclude-standard", "-z")
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    if (ROOT / ".venv-gpu").is_dir():  # the kernels' compiler
        (folder / ".venv-gpu").symlink_to(ROOT / ".venv-gpu")
    if with_outputs and (ROOT / "_build" / "run").is_dir():
        shutil.copytree(ROOT / "_build" / "run", folder / "_build" / "run")


def environment_of(folder: Path) -> dict[str, str]:
    """What a command in a copy runs with, so that it imports the copy's own code."""
    path = os.pathsep.join(map(str, (folder, folder / "lib", folder / "book")))
    env = {**os.environ, "PYTHONPATH": path}
    env.pop("BOOK_HTML", None)
    return env


def run_in(folder: Path, *module: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run this Python in a copy, for instance with `-m tools.build`, to its end.

    `more` are variables of its environment.
    """
    return subprocess.run(
        [sys.executable, *module],
        cwd=folder,
        env=environment_of(folder) | more,
        capture_output=True,
        encoding="utf-8",
    )


def built(folder: Path, **more: str) -> None:
    """Build a copy; a build that stops raises with what it said."""
    done = run_in(folder, "-m", "tools.build", **more)
    if done.returncode:
        raise RuntimeError(done.stdout + done.stderr)
