"""Makes `.venv` with the locked packages; runs on any Python 3, to say what is wrong.

    python3 tools/environment.py             what the book needs
    python3 tools/environment.py test lab    and what tests need, and JupyterLab

Each part is a lock of its own, requirements*.txt; a part that is up to date is left alone.
"""

import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VENV = os.path.join(ROOT, ".venv")
BIN = os.path.join(VENV, "Scripts" if os.name == "nt" else "bin")
OURS = (
    "lib/blocksim",
    "lib/ptxsim",
    "lib/onlinesoftmax",
    "lib/tiledattention",
    "lib/kernellab",
    "lib/livepage",
    "book",
)
PARTS = {
    "book": ("what the book needs (a minute)", "requirements.txt"),
    "test": ("what its tests need", "requirements-test.txt"),
    "lab": ("JupyterLab", "requirements-lab.txt"),
}


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


def stamp(part):
    """The file that is written when a part has been installed, with its lock in it."""
    return os.path.join(VENV, "ready-" + part)


def content(file):
    """The bytes of a file; none if there is no such file."""
    try:
        with open(file, "rb") as opened:
            return opened.read()
    except OSError:
        return b""


def install(python, part):
    """Install a part, unless the lock is the one that was installed last."""
    what, lock = PARTS[part]
    # A lock lists every package, so nothing has to be resolved; and Python compiles a
    # module when it first imports it, which spares those that nothing imports.
    pip = (python, "-m", "pip", "install", "-q", "--disable-pip-version-check")
    pip += ("--no-deps", "--no-compile")
    wanted = content(os.path.join(ROOT, lock))
    if content(stamp(part)) != wanted:
        run("installing %s" % what, *pip, "-r", lock)
    if part == "book":
        editable = [word for package in OURS for word in ("-e", package)]
        run("installing our own", *pip, "--no-build-isolation", *editable)
    with open(stamp(part), "wb") as file:
        file.write(wanted)


def main(asked):
    unknown = [part for part in asked if part not in PARTS]
    if unknown:
        sys.exit("part: expected %s; got %s" % (", ".join(PARTS), unknown[0]))
    problem = complaint()
    if problem:
        sys.exit(problem)
    python = os.path.join(BIN, "python.exe" if os.name == "nt" else "python")
    if not has_pip(python):
        venv = (sys.executable, "-m", "venv", "--clear", VENV)
        run("making an environment in .venv", *venv)
    for part in [part for part in PARTS if part == "book" or part in asked]:
        install(python, part)


if __name__ == "__main__":
    main(sys.argv[1:])
