"""Opens the chapters in JupyterLab, on copies: what you changed in one stays.

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

BUILD = Path(__file__).resolve().parent.parent / "_build"
HANDED_OUT = ".handed-out.json"  # beside the copies: the digest of each when new


def copies(published: Path, own: Path) -> list[str]:
    """Copy the notebooks to `own`; return the names of those that were left alone.

    A notebook that its reader changed stays as it is; an untouched one is renewed.
    """
    own.mkdir(parents=True, exist_ok=True)
    record = own / HANDED_OUT
    handed = records.load(record)
    kept = []
    for file in sorted(published.glob("*.ipynb")):
        copy, new = own / file.name, _digest(file)
        now = _digest(copy) if copy.exists() else None
        if now not in (None, new, handed.get(file.name)):
            kept.append(file.name)
            continue
        if now != new:
            shutil.copy(file, copy)
        handed[file.name] = new
    records.store(record, handed)
    return kept


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def main() -> int:
    published, own = BUILD / "html" / "notebooks", BUILD.parent / "notebooks"
    if not any(published.glob("*.ipynb")):
        print("no notebooks yet: `python -m tools.build` makes them", file=sys.stderr)
        return 1
    kept = copies(published, own)
    if kept:
        print(f"kept as you left them: {', '.join(kept)} (delete one to get it afresh)")
    lab = [sys.executable, "-m", "jupyterlab", str(own), *as_root(), *sys.argv[1:]]
    return subprocess.call(lab, env=os.environ | elsewhere(BUILD / "jupyter"))


def as_root() -> list[str]:
    """Return the options for root, such as the user of a container; else none."""
    if getattr(os, "geteuid", lambda: 1)() != 0:  # Windows has no such function
        return []
    print("you are root: JupyterLab can be reached from this machine only")
    return ["--allow-root", "--ip=127.0.0.1"]


def elsewhere(folder: Path) -> dict[str, str]:
    """Return the variables that move Jupyter's folders, as far as it cannot write to them.

    Without a home, or in one that is read-only, it would stop with a traceback.
    """
    own = {
        "JUPYTER_CONFIG_DIR": paths.jupyter_config_dir(),
        "JUPYTER_DATA_DIR": paths.jupyter_data_dir(),
        "JUPYTER_RUNTIME_DIR": paths.jupyter_runtime_dir(),
        "IPYTHONDIR": os.environ.get("IPYTHONDIR", "~/.ipython"),
    }
    closed = [name for name, path in own.items() if not writable(path)]
    if closed:
        print(f"your home cannot be written to: Jupyter's settings go to {folder}")
    return {name: str(folder / name.lower()) for name in closed}


def writable(path: str) -> bool:
    """Return whether a folder can be written to; it is made if need be."""
    folder = Path(path).expanduser()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)


if __name__ == "__main__":
    sys.exit(main())
