"""Projects that know nothing of blocksim, and pytest and Python run in them."""

import os
import subprocess
import sys
from pathlib import Path

LIB = Path(__file__).parents[1] / "lib"
# The plugin of this checkout, in place of one that is installed.
PLUGIN = ("-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider", "-p", "no:blocksim",
          "-p", "blocksim.pytest_plugin")  # fmt: skip


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
