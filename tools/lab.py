"""Opens the chapters in JupyterLab, on copies that are yours: nothing overwrites them.

    python -m tools.lab
"""

import shutil
import subprocess
import sys
from pathlib import Path

BUILD = Path(__file__).resolve().parent.parent / "_build"


def copies(published: Path, own: Path) -> list[str]:
    """Copy new notebooks to `own`; return the names of those that were there already.

    A notebook that its reader changed stays as it is.
    """
    own.mkdir(parents=True, exist_ok=True)
    kept = []
    for file in sorted(published.glob("*.ipynb")):
        if (own / file.name).exists():
            kept.append(file.name)
        else:
            shutil.copy(file, own / file.name)
    return kept


if __name__ == "__main__":
    own = BUILD.parent / "notebooks"
    kept = copies(BUILD / "html" / "notebooks", own)
    if kept:
        print(f"kept as you left them: {', '.join(kept)} (delete one to get it afresh)")
    sys.exit(subprocess.call([sys.executable, "-m", "jupyterlab", str(own)]))
