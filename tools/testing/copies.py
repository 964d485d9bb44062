"""Copies the book to other folders, where its sources and its code may be changed."""

import shutil
import subprocess
import sys
from pathlib import Path

from tools.common.environments import variables
from tools.common.paths import ROOT


def git(*arguments: str) -> str:
    """Return git's output in the repository; exit where there is no clone."""
    command = ["git", *arguments]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8")
    except OSError as error:
        sys.exit(f"git is needed, to copy the book: {error}")
    if done.returncode:
        sys.exit(f"a clone is needed, to copy the book: {done.stderr}")
    return done.stdout


def copy_of_the_book(folder: Path, with_outputs: bool = True) -> None:
    """Copy what git tracks, and the stored outputs of the chapters."""
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
    """Return the variables with which a command imports the code of a copy."""
    env = variables(folder)
    env.pop("BOOK_HTML", None)
    return env


def run_in(folder: Path, *module: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run this Python in a copy, for instance with `-m tools.build` and more variables."""
    return subprocess.run(
        [sys.executable, *module],
        cwd=folder,
        env=environment_of(folder) | env,
        capture_output=True,
        encoding="utf-8",
    )


def build_copy(folder: Path, **env: str) -> None:
    """Build a copy; raise with the output of a build that fails."""
    done = run_in(folder, "-m", "tools.build", **env)
    if done.returncode:
        raise RuntimeError(done.stdout + done.stderr)
