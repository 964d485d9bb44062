"""Builds the packages under `lib` for release, and rehearses the release.

    python -m tools.release                       the archives, in _build/dist
    python -m tools.release --rehearse [PYTHON …] then installs and tries them

The rehearsal takes the Pythons that it is given, or its own. For each package it makes a
new environment, installs what the package's README says from the built archives, and runs
the README's examples there. Then it runs a chapter, and each package's own tests, on what
was installed. The workflow `release` uploads the archives that passed.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml

from livepage import modules
from tools.common import readmes
from tools.common.environments import environment, python_of, variables
from tools.common.options import report
from tools.common.paths import BUILD, HTML, ROOT
from tools.environment import LIB as PACKAGES
from tools.site import first_use

DIST = BUILD / "dist"
# What builds the archives and checks them, in an environment of its own.
TOOLS = ROOT / ".venv-release", ROOT / "requirements-release.txt"
URLS = """
[project.urls]
Source = "{url}/tree/{branch}/lib/{name}"
Changelog = "{url}/blob/{branch}/lib/{name}/CHANGELOG.md"
Issues = "{url}/issues"
"""


# ---- building ----


def stage(name: str, folder: Path) -> Path:
    """Copy a package, with the licence and the addresses that all packages share."""
    package = folder / name
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "lib" / name, package, ignore=ignore)
    shutil.copy2(ROOT / "LICENSE", package)
    if name == "livepage":
        modules.ship(package, modules.of_the_kit())
    repository = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))["repository"]
    if url := repository["url"]:
        with (package / "pyproject.toml").open("a", encoding="utf-8") as file:
            file.write(URLS.format(url=url, branch=repository["branch"], name=name))
    return package


def build() -> list[Path]:
    """Build a source archive of each package, and a wheel from it; return the wheels."""
    python = environment(*TOOLS)
    shutil.rmtree(DIST, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        for name in PACKAGES:
            package = stage(name, Path(folder))
            command = [
                python,
                "-m",
                "build",
                "-q",
                "--no-isolation",
                "-o",
                DIST,
                package,
            ]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    archives = sorted(DIST.iterdir())
    check = [python, "-m", "twine", "check", "--strict", *archives]
    subprocess.run(check, check=True, stdout=subprocess.DEVNULL)
    for archive in archives:
        print(f"  {archive.name:45}{archive.stat().st_size / 1e3:8.0f} kB", flush=True)
    return sorted(DIST.glob("*.whl"))


# ---- the rehearsal ----


@contextmanager
def installed(python: str, *requirements: str) -> Iterator[tuple[Path, Path]]:
    """Install requirements in a new environment, packages of ours from the built wheels.

    Yield the environment's Python and an empty folder to work in.
    """
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        ours = ("==".join(wheel.name.split("-")[:2]) + "\n" for wheel in wheels())
        (folder / "ours.txt").write_text("".join(ours), "utf-8")
        subprocess.run([python, "-m", "venv", folder / "env"], check=True)
        there = python_of(folder / "env")
        pip = [there, "-m", "pip", "-q", "--disable-pip-version-check"]
        install = [*pip, "install", "--find-links", DIST, "-c", folder / "ours.txt"]
        subprocess.run([*install, *requirements], check=True)
        subprocess.run([*pip, "check"], check=True)
        (folder / "work").mkdir()
        yield there, folder / "work"


def wheels() -> list[Path]:
    """Return the built wheels."""
    return sorted(DIST.glob("*.whl"))


def follow_readme(python: str, package: str) -> list[str]:
    """Do what a package's README says; return complaints."""
    text = (ROOT / "lib" / package / "README.md").read_text("utf-8")
    wanted = readmes.requirements(text)
    start = time.perf_counter()
    with installed(python, *wanted) as (there, folder):
        seconds = time.perf_counter() - start
        print(f"    pip install {' '.join(wanted)}: {seconds:.0f} s", flush=True)
        if package == "livepage":
            return open_page(there, text, folder)
        codes, expected = readmes.blocks(text)
        before = readmes.WITH_COMPILERS if package == "ptxsim" else ""
        printed = readmes.printed(there, codes, folder, before=before)
    complaints = []
    if package == "blocksim":
        with installed(python, "blocksim[pytest]", "numba") as (there, folder):
            complaints = project_tested(there, text, folder)
    return complaints + [
        f"{package}: expected {right!r}, got {given!r} from\n{code}"
        for code, given, right in zip(codes, printed, expected)
        if given != right
    ]


def project_tested(
    python: str | Path, text: str, folder: Path, *options: str, **env: str
) -> list[str]:
    """Test the project of blocksim's README, with its barrier and without; complain."""
    name, complaints = "test_reverse.py", []
    test, fault = readmes.files(text)[name], re.search(r"^E   (.*)", text, re.M)
    broken = test.replace("    cuda.syncthreads()\n", "")
    for code, said in ((test, "1 passed"), (broken, fault[1])):
        (folder / name).write_text(code, "utf-8")
        command = [python, "-m", "pytest", *options, "--blocksim", name]
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, env=os.environ | env
        )
        if said not in done.stdout:
            complaints.append(f"expected {said!r} from\n{code}\nand got\n{done.stdout}")
    return complaints


def open_page(python: Path, text: str, folder: Path) -> list[str]:
    """Build the page of a README and use it in a browser; return complaints."""
    for name, content in readmes.files(text).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content, "utf-8")
    readmes.build_project(folder, folder.parent / "html", path="", python=python)
    test = "tests/browser/test_page_of_your_own.py"
    page = {"PAGE_OF_YOUR_OWN": str(folder.parent / "html" / "index.html")}
    command = [sys.executable, "-m", "pytest", "-q", "-n0", test]
    failed = subprocess.call(command, cwd=ROOT, env=os.environ | page)
    return ["the page of livepage's README"] if failed else []


def run_chapter(python: str) -> list[str]:
    """Run a chapter's notebook on the built packages; return complaints."""
    notebook = HTML / "notebooks" / f"{first_use.CHAPTER}.ipynb"
    (book,) = notebook.parent.glob("rescaling-*.whl")
    with installed(python, str(book), "ipykernel", "nbclient") as (there, folder):
        shutil.copy2(notebook, folder)
        outputs = first_use.execute(there, folder / notebook.name, VSCODE_PID="1")
        first_use.check_outputs(outputs)
    return []


def run_tests(python: str) -> list[str]:
    """Run each package's quick tests on the built packages; return complaints."""
    tests = [f"tests/{name}" for name in PACKAGES]
    lock = [
        "-r",
        str(ROOT / "requirements.txt"),
        "-r",
        str(ROOT / "requirements-test.txt"),
    ]
    with installed(python, *lock, *map(str, wheels())) as (there, _):
        path = os.pathsep.join([str(ROOT), str(ROOT / "book")])
        command = [there, "-m", "pytest", "-q", "-n2", "-o", "pythonpath=. book tests"]
        command += ["-p", "tools.testing.speeds", "--quick=", "-m", "not browser"]
        env = variables() | {"PYTHONPATH": path, "PYTHONUTF8": "1"}
        failed = subprocess.call([*command, *tests], cwd=ROOT, env=env)
    return ["the packages' own tests"] if failed else []


def rehearse(python: str) -> list[str]:
    """Try everything with one Python; return complaints."""
    version = "import platform; print(platform.python_version())"
    done = subprocess.run([python, "-c", version], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"PYTHON: expected a Python that runs, got {python!r}")
    print(f"  Python {done.stdout.strip()}")
    tries = [lambda name=name: follow_readme(python, name) for name in PACKAGES]
    tries += [lambda: run_chapter(python), lambda: run_tests(python)]
    complaints = []
    for attempt in tries:
        try:
            complaints += attempt()
        except (
            readmes.Failed,
            first_use.NotShown,
            subprocess.CalledProcessError,
        ) as error:
            complaints.append(f"    NOT: {error}")
    return complaints


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rehearse", nargs="*", metavar="PYTHON")
    pythons = parser.parse_args().rehearse
    build()
    if pythons is None:
        return 0
    wrong = [
        line for python in pythons or [sys.executable] for line in rehearse(python)
    ]
    return report(wrong, f"  {len(wrong)} complaints; nothing was uploaded")


if __name__ == "__main__":
    sys.exit(main())
