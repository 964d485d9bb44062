"""Environments beside the book's own, each with the packages that a lock names."""

import hashlib
import json
import os
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

from tools.common.paths import ROOT

# Torch trains the model of the last chapter, and is an oracle for gradients.
TORCH = ROOT / ".venv-model", ROOT / "requirements-model.txt"


class NotInstalled(Exception):
    """The packages of a lock could not be installed."""


def python_of(folder: Path) -> Path:
    """Return the path of an environment's Python, whether it exists or not."""
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def variables(root: Path = ROOT) -> dict[str, str]:
    """Return the variables of a process that imports the code below `root`."""
    paths = (root, root / "lib", root / "book")
    return os.environ | {"PYTHONPATH": os.pathsep.join(map(str, paths))}


def environment(folder: Path, lock: Path) -> Path:
    """Create an environment, or update it to its lock; return its Python."""
    ready, python = folder / "ready", python_of(folder)
    digest = hashlib.sha256(lock.read_bytes()).hexdigest()
    if ready.exists() and ready.read_text("utf-8") == digest:
        return python
    print(f"  making an environment in {folder.name} (a minute or two) …", flush=True)
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    done = subprocess.run([*pip, "-r", lock], capture_output=True, encoding="utf-8")
    if done.returncode:
        raise NotInstalled(f"pip could not install {lock.name}:\n{done.stderr[-1000:]}")
    ready.write_text(digest, "utf-8")
    return python


def fresh(folder: Path, *packages: str) -> Path:
    """Create an environment with the newest of these packages; return its Python."""
    print(f"    a new environment with {', '.join(packages)} …", flush=True)
    venv.create(folder, with_pip=True)
    python = python_of(folder)
    subprocess.run([python, "-m", "pip", "install", "-q", *packages], check=True)
    return python


def hand_over(module: str, folder: Path, lock: Path, not_installed: int = 1) -> int:
    """Run a module of ours in an environment, with --here before its arguments.

    Return its exit status, or `not_installed` if the packages cannot be installed.
    """
    try:
        python = environment(folder, lock)
    except NotInstalled as problem:
        print(problem)
        return not_installed
    command = [python, "-m", module, "--here", *sys.argv[1:]]
    return subprocess.call(command, cwd=ROOT, env=variables())


def ask(python: Path, module: str, question: Any = None) -> Any:
    """Run a module of ours with --worker: a question and its answer travel as JSON."""
    done = subprocess.run(
        [python, "-m", module, "--worker"],
        input=json.dumps(question),
        capture_output=True,
        encoding="utf-8",
        env=variables() | {"NUMBA_ENABLE_CUDASIM": "0"},
        cwd=ROOT,
    )
    if done.returncode:
        raise SystemExit(f"{module} failed:\n{done.stderr[-3000:]}")
    return json.loads(done.stdout)
