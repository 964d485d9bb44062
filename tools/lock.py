"""Compiles each requirements*.in into a lock for Python 3.11 to 3.14.

python -m tools.lock [--upgrade]
"""

import subprocess
import sys

from tools.common.paths import ROOT

# The locks for tests and for JupyterLab include the first, which is compiled before them.
LOCKS = ("requirements", "requirements-test", "requirements-lab")
LOCKS += ("requirements-gpu", "requirements-model", "requirements-release")
LOCKS += ("requirements-triton",)
HEADER = "# Made by `make lock` from {name}.in, for Python 3.11 to 3.14.\n"


def lock(name: str, options: list[str]) -> int:
    """Compile one file; return the exit status."""
    command = ["-m", "uv", "pip", "compile", "--universal", "--python-version", "3.11"]
    command += ["--no-header", "--no-emit-index-url", f"{name}.in"]
    command += ["-o", f"{name}.txt", "-q", *options]
    done = subprocess.run([sys.executable, *command], cwd=ROOT)
    if done.returncode == 0:
        file, header = ROOT / f"{name}.txt", HEADER.format(name=name)
        file.write_text(header + file.read_text("utf-8").removeprefix(header), "utf-8")
    return done.returncode


def main() -> int:
    pip = [sys.executable, "-m", "pip", "install", "-q", "uv"]
    installed = subprocess.run(pip, capture_output=True, encoding="utf-8")
    if installed.returncode:
        sys.exit(f"uv could not be installed:\n{installed.stderr}")
    return max(lock(name, sys.argv[1:]) for name in LOCKS)


if __name__ == "__main__":
    sys.exit(main())
