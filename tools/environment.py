"""Creates `.venv` with the locked packages. Any Python 3 runs it, to learn what it lacks.

    python3 tools/environment.py             what the book needs
    python3 tools/environment.py test lab    also what tests need, and JupyterLab

Each part has a lock of its own, requirements*.txt; a part that is up to date is skipped.
"""

import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VENV = os.path.join(ROOT, ".venv")
BIN = os.path.join(VENV, "Scripts" if os.name == "nt" else "bin")
LIB = ("blocksim", "ptxsim", "onlinesoftmax", "tiledattention", "kernellab", "livepage")
OURS = tuple("lib/" + name for name in LIB) + ("book",)
PARTS = {
    "book": ("what the book needs (a minute)", "requirements.txt"),
    "test": ("what its tests need", "requirements-test.txt"),
    "lab": ("JupyterLab", "requirements-lab.txt"),
}


def complaint():
    """Return a line that says what to install, or None."""
    version = sys.version_info[:2]
    if version < (3, 11):
        return "Python %d.%d is too old: install Python 3.11 or newer" % version
    try:
        import ensurepip  # noqa: F401  (Debian ships venv without it)
        import venv  # noqa: F401
    except ImportError:
        name = "python%d.%d-venv" % version
        return "this Python cannot make environments: apt-get install %s" % name
    return None


def run(what, *command):
    """Run a command, and print its output only if it fails."""
    print("  %s ..." % what, flush=True)
    pipe = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    done = subprocess.run(command, cwd=ROOT, **pipe)
    if done.returncode:
        sys.exit("%s\n%s failed" % (done.stdout.decode(errors="replace"), what))


def has_pip(python):
    """Return whether an environment is complete: creating it may have been interrupted."""
    try:
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        return subprocess.call([python, "-c", "import pip"], **quiet) == 0
    except OSError:
        return False


def stamp(part):
    """Return the file that holds the lock of a part that has been installed."""
    return os.path.join(VENV, "ready-" + part)


def content(file):
    """Return the bytes of a file; none if the file is missing."""
    try:
        with open(file, "rb") as opened:
            return opened.read()
    except OSError:
        return b""


def install(python, part):
    """Install a part, unless its lock is the one that was installed last."""
    what, lock = PARTS[part]
    # A lock lists every package, so pip resolves no dependencies. Python compiles a module
    # at its first import, so pip need not compile those that nothing imports.
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


def main(parts):
    unknown = [part for part in parts if part not in PARTS]
    if unknown:
        sys.exit("part: expected %s; got %s" % (", ".join(PARTS), unknown[0]))
    problem = complaint()
    if problem:
        sys.exit(problem)
    python = os.path.join(BIN, "python.exe" if os.name == "nt" else "python")
    if not has_pip(python):
        venv = (sys.executable, "-m", "venv", "--clear", VENV)
        run("making an environment in .venv", *venv)
    for part in [part for part in PARTS if part == "book" or part in parts]:
        install(python, part)


if __name__ == "__main__":
    main(sys.argv[1:])
