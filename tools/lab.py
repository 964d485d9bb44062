"""Opens copies of the chapters in JupyterLab; an edited copy is never overwritten.

python -m tools.lab                  further options go to JupyterLab, such as --no-browser
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from jupyter_core import paths

from tools.common import records
from tools.common.paths import BUILD

HANDED_OUT = ".handed-out.json"  # beside the copies: the digest of each original


def copies(published: Path, own: Path) -> list[str]:
    """Copy the notebooks to `own`; return the names of the edited ones, which stay."""
    own.mkdir(parents=True, exist_ok=True)
    record = own / HANDED_OUT
    originals = records.load(record)
    edited = []
    for file in sorted(published.glob("*.ipynb")):
        copy, new = own / file.name, _digest(file)
        now = _digest(copy) if copy.exists() else None
        if now not in (None, new, originals.get(file.name)):
            edited.append(file.name)
            continue
        if now != new:
            shutil.copy(file, copy)
        originals[file.name] = new
    records.store(record, originals)
    return edited


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def main() -> int:
    published, own = BUILD / "html" / "notebooks", BUILD.parent / "notebooks"
    if not any(published.glob("*.ipynb")):
        print("no notebooks yet: `python -m tools.build` makes them", file=sys.stderr)
        return 1
    if edited := copies(published, own):
        print(f"your edits are kept: {', '.join(edited)} (delete a file to renew it)")
    lab = [sys.executable, "-m", "jupyterlab", str(own), *root_options(), *sys.argv[1:]]
    return subprocess.call(lab, env=os.environ | moved_folders(BUILD / "jupyter"))


def root_options() -> list[str]:
    """Return the options for root, such as the user of a container; else none."""
    if getattr(os, "geteuid", lambda: 1)() != 0:  # Windows has no such function
        return []
    print("you are root: JupyterLab can be reached from this machine only")
    return ["--allow-root", "--ip=127.0.0.1"]


def moved_folders(folder: Path) -> dict[str, str]:
    """Return the variables that move those of Jupyter's folders that are read-only.

    Without them, Jupyter would stop with a traceback where the home is read-only.
    """
    own = {
        "JUPYTER_CONFIG_DIR": paths.jupyter_config_dir(),
        "JUPYTER_DATA_DIR": paths.jupyter_data_dir(),
        "JUPYTER_RUNTIME_DIR": paths.jupyter_runtime_dir(),
        "IPYTHONDIR": os.environ.get("IPYTHONDIR", "~/.ipython"),
    }
    read_only = [name for name, path in own.items() if not is_writable(path)]
    if read_only:
        print(f"your home is read-only: Jupyter's settings go to {folder}")
    return {name: str(folder / name.lower()) for name in read_only}


def is_writable(path: str) -> bool:
    """Return whether a folder can be written to; a missing folder is created."""
    folder = Path(path).expanduser()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)


if __name__ == "__main__":
    sys.exit(main())
