"""Projects that know nothing of blocksim, and pytest and Python run in them."""

import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

LIB = Path(__file__).parents[1] / "lib"
PLUGIN = ("-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider")
if not entry_points(group="pytest11", name="blocksim"):  # installed, pytest loads it
    PLUGIN += ("-p", "blocksim.pytest_plugin")


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a project that knows nothing of blocksim."""
    return subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        capture_output=True,
        text=True,
        env={k: v for k, v in os.environ.items() if k != "NUMBA_ENABLE_CUDASIM"}
        | {"PYTHONPATH": os.pathsep.join([str(LIB), "."])},
    )


def write(folder: Path, files: dict[str, str]) -> None:
    """Write the files of a project."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
