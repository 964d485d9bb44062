"""Compiles requirements.in into requirements.txt, for Python 3.11 to 3.14 at once.

    python -m tools.lock [--upgrade]
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEADER = "# Made by `make lock` from requirements.in, for Python 3.11 to 3.14.\n"


def main() -> int:
    pip = [sys.executable, "-m", "pip", "install", "-q", "uv"]
    subprocess.run(pip, check=True)
    command = ["-m", "uv", "pip", "compile", "--universal", "--python-version", "3.11"]
    command += ["--no-header", "--no-emit-index-url", "requirements.in"]
    command += ["-o", "requirements.txt", "-q", *sys.argv[1:]]
    done = subprocess.run([sys.executable, *command], cwd=ROOT)
    if done.returncode == 0:
        file = ROOT / "requirements.txt"
        file.write_text(HEADER + file.read_text().removeprefix(HEADER))
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
