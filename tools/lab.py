"""Opens the chapters in JupyterLab, on copies: what you changed in one stays.

python -m tools.lab
"""

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

BUILD = Path(__file__).resolve().parent.parent / "_build"
HANDED_OUT = ".handed-out.json"  # beside the copies: the digest of each when new


def copies(published: Path, own: Path) -> list[str]:
    """Copy the notebooks to `own`; return the names of those that were left alone.

    A notebook that its reader changed stays as it is; an untouched one is renewed.
    """
    own.mkdir(parents=True, exist_ok=True)
    record = own / HANDED_OUT
    handed = json.loads(record.read_text("utf-8")) if record.exists() else {}
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
    record.write_text(json.dumps(handed, indent=1), "utf-8")
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
    return subprocess.call([sys.executable, "-m", "jupyterlab", str(own)])


if __name__ == "__main__":
    sys.exit(main())
