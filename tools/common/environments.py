"""Environments beside the book's own, each with the packages that a lock names."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Torch trains the model of the last chapter, and is an oracle for gradients.
TORCH = ROOT / ".venv-model", ROOT / "requirements-model.txt"


class NotInstalled(Exception):
    """The packages of a lock could not be installed."""


def python_of(folder: Path) -> Path:
    """The Python of an environment, whether it is there or not."""
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def environment(folder: Path, lock: Path) -> Path:
    """Make an environment, or bring it up to date with its lock; return its Python."""
    ready, python = folder / "ready", python_of(folder)
    now = hashlib.sha256(lock.read_bytes()).hexdigest()
    if ready.exists() and ready.read_text("utf-8") == now:
        return python
    where = folder.name
    print(f"  making an environment in {where} (a minute or two) …", flush=True)
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    done = subprocess.run([*pip, "-r", lock], capture_output=True, encoding="utf-8")
    if done.returncode:
        raise NotInstalled(f"pip could not install {lock.name}:\n{done.stderr[-1000:]}")
    ready.write_text(now, "utf-8")
    return python


def hand_over(module: str, folder: Path, lock: Path) -> int:
    """Run a module of ours again in an environment, with --here before its arguments."""
    try:
        python = environment(folder, lock)
    except NotInstalled as problem:
        print(problem)
        return 1
    paths = os.pathsep.join(str(ROOT / part) for part in ("", "lib", "book"))
    env = {**os.environ, "PYTHONPATH": paths}
    command = [python, "-m", module, "--here", *sys.argv[1:]]
    return subprocess.call(command, cwd=ROOT, env=env)
