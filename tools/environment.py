"""Makes `.venv` with the locked packages; runs on any Python 3, to say what is wrong.

python3 tools/environment.py
"""

import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VENV = os.path.join(ROOT, ".venv")
PACKAGES = ("lib/blocksim", "lib/ptxsim", "lib/onlinesoftmax", "lib/livepage", "book")
BIN = os.path.join(VENV, "Scripts" if os.name == "nt" else "bin")


def complaint():
    """One line that says what to install, or None."""
    if sys.version_info < (3, 11):
        return (
            "Python %d.%d is too old: install Python 3.11 or newer"
            % sys.version_info[:2]
        )
    try:
        import ensurepip  # noqa: F401  (Debian ships venv without it)
        import venv  # noqa: F401
    except ImportError:
        name = "python%d.%d-venv" % sys.version_info[:2]
        return "this Python cannot make environments: apt-get install %s" % name
    return None


def run(what, *command):
    """Say what is being done, do it, and show what it said only if it failed."""
    print("  %s ..." % what, flush=True)
    pipe = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    done = subprocess.run(command, cwd=ROOT, **pipe)
    if done.returncode:
        sys.exit("%s\n%s failed" % (done.stdout.decode(errors="replace"), what))


def has_pip(python):
    """Whether an environment can be installed into: one that was interrupted cannot."""
    try:
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        return subprocess.call([python, "-c", "import pip"], **quiet) == 0
    except OSError:
        return False


def main():
    problem = complaint()
    if problem:
        sys.exit(problem)
    python = os.path.join(BIN, "python.exe" if os.name == "nt" else "python")
    pip = (python, "-m", "pip", "install", "-q", "--disable-pip-version-check")
    if not has_pip(python):
        venv = (sys.executable, "-m", "venv", "--clear", VENV)
        run("making an environment in .venv", *venv)
    run(
        "installing what the book needs (a minute or two)",
        *pip,
        "-r",
        "requirements.txt",
    )
    editable = [word for package in PACKAGES for word in ("-e", package)]
    run("installing our own", *pip, "--no-deps", "--no-build-isolation", *editable)
    open(os.path.join(VENV, "ready"), "wb").close()


if __name__ == "__main__":
    main()
