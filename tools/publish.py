"""What the workflow `publish` uploads besides the site, and a rehearsal of all of it.

    python -m tools.publish              the branch of notebooks, in _build/branch
    python -m tools.publish --rehearse   every step of the workflow but the uploads

Colab and Binder open notebooks of a branch on GitHub: the notebooks, their wheels
beside them, and what Binder installs. The rehearsal sets the two keys of `_config.yml` in
a copy of the repository, runs the workflow's steps there, pushes to a repository on the
disk, and holds every button of the pages against what was pushed.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import yaml
from bs4 import BeautifulSoup

from tools.common import words
from tools.serve import HTML
from tools.testing.copies import git

ROOT = Path(__file__).resolve().parent.parent
BRANCH = ROOT / "_build" / "branch"
WORKFLOW = ".github/workflows/publish.yml"
PYTHON_OF_BINDER = "python-3.12\n"
KEYS = {
    'url: ""': 'url: "https://github.com/rehearsal/book"',
    'baseurl: ""': 'baseurl: "https://rehearsal.github.io/book/"',
}
EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
README = """\
# Notebooks of the book

Made by the workflow `publish` from the branch {branch}, and made anew with each change
there. Colab and Binder open them here.
"""


def lay_out(html: Path, branch: Path, source: str = "main") -> None:
    """Put what belongs on the branch of notebooks into the folder `branch`.

    Parameters
    ----------
    html : Path
        The built site.
    branch : Path
        Emptied first.
    source : str
        The branch that the book is written on.
    """
    notebooks = sorted((html / "notebooks").glob("*.ipynb"))
    wheels = sorted((html / "notebooks").glob("*.whl"))
    if not notebooks or not wheels:
        raise ValueError(f"no notebooks or no wheels in {html}: run `make book` first")
    shutil.rmtree(branch, ignore_errors=True)
    (branch / "notebooks").mkdir(parents=True)
    (branch / "binder").mkdir()
    for file in (*notebooks, *wheels):
        shutil.copy2(file, branch / "notebooks")
    listed = "".join(f"./notebooks/{wheel.name}\n" for wheel in wheels)
    (branch / "binder" / "requirements.txt").write_text(listed, "utf-8")
    (branch / "binder" / "runtime.txt").write_text(PYTHON_OF_BINDER, "utf-8")
    (branch / "README.md").write_text(README.format(branch=source), "utf-8")


# ---- the rehearsal ----


def steps(workflow: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the commands of the workflow's own jobs in order, with their environment."""
    jobs = yaml.safe_load(workflow.read_text("utf-8"))["jobs"]
    for job in jobs.values():
        for step in job.get("steps", []):
            if "run" in step:
                yield step["run"], {**job.get("env", {}), **step.get("env", {})}


def uploaded(workflow: Path) -> list[str]:
    """The folders that the workflow uploads."""
    text = workflow.read_text("utf-8")
    jobs = yaml.safe_load(text)["jobs"].values()
    with_path = (step.get("with", {}) for job in jobs for step in job.get("steps", []))
    return [given["path"] for given in with_path if "path" in given]


def run_steps(copy: Path, remote: Path) -> None:
    """Run the workflow's commands in a copy of the repository; they push to `remote`."""
    here = {"github.token": "none", "github.repository": "rehearsal/book"}
    for command, env in steps(copy / WORKFLOW):
        print(f"  {command.strip().splitlines()[0]}", flush=True)
        given = {
            name: EXPRESSION.sub(lambda found: here[found[1]], str(value))
            for name, value in env.items()
        }
        if "REMOTE" in given:
            given["REMOTE"] = str(remote)
        bash = ["bash", "-e", "-o", "pipefail", "-c", command]
        subprocess.run(bash, cwd=copy, env=os.environ | given, check=True)


def pushed(remote: Path, branch: str) -> set[str]:
    """The files that a branch of a repository holds."""
    command = ["git", "ls-tree", "-r", "--name-only", branch]
    done = subprocess.run(command, cwd=remote, capture_output=True, text=True)
    return set(done.stdout.split("\n")) - {""}


def dead_buttons(html: Path, remote: Path) -> list[str]:
    """Buttons that lead to no file of the branch they name, or are not there."""
    found = []
    for page in sorted(html.glob("*.html")):
        soup = BeautifulSoup(page.read_text("utf-8"), "html.parser")
        buttons = soup.select(".head-facts a[href^=https]")
        if soup.select(".head-facts a[download]") and not buttons:
            found.append(f"{page.name}: a notebook, and no button that opens it")
        for link in buttons:
            target = re.search(r"/blob/([\w-]+)/(.*)$", link["href"])
            target = target or re.search(
                r"/([\w-]+)\?urlpath=lab/tree/(.*)", link["href"]
            )
            if not target or target[2] not in pushed(remote, target[1]):
                found.append(f"{page.name}: {link['href']}")
    return found


def wheels_missing(html: Path, site: str) -> list[str]:
    """Notebooks whose first cell asks for a wheel that is not where it looks."""
    found = []
    for file in sorted((html / "notebooks").glob("*.ipynb")):
        text = file.read_text("utf-8")
        wheels = re.findall(r"'([\w.-]+\.whl)'", text)
        there = all((html / "notebooks" / wheel).exists() for wheel in wheels)
        if not (wheels and there and f"{site}notebooks/" in text):
            found.append(file.name)
    return found


def set_keys(config: Path) -> str:
    """Set the two keys that publish the book; return the address of the site."""
    text = config.read_text("utf-8")
    for unset, now in KEYS.items():
        if unset not in text:
            raise ValueError(
                f"{config.name}: expected {unset} to be set in a rehearsal"
            )
        text = text.replace(unset, now, 1)
    config.write_text(text, "utf-8")
    return yaml.safe_load(text)["html"]["baseurl"]


def rehearse(copy: Path, remote: Path) -> list[str]:
    """Publish from a copy of the repository to one on the disk; return what is wrong."""
    site = set_keys(copy / "_config.yml")
    subprocess.run(["git", "init", "-q", "--bare", remote], check=True)
    run_steps(copy, remote)
    html = copy / "_build" / "html"
    folders = [name for name in uploaded(copy / WORKFLOW) if not (copy / name).is_dir()]
    return [
        *(f"nothing to upload in {name}" for name in folders),
        *(f"a button leads nowhere: {line}" for line in dead_buttons(html, remote)),
        *(f"no wheels for {name}" for name in wheels_missing(html, site)),
    ]


def clone(folder: Path) -> Path:
    """The repository as it is committed, with the environment of this one."""
    copy = folder / "book"
    git("clone", "-q", str(ROOT), str(copy))
    return copy


def main() -> int:
    if "--rehearse" not in words.given(["--rehearse"]):
        try:
            lay_out(HTML, BRANCH)
        except ValueError as error:
            print(error, file=sys.stderr)
            return 1
        print(f"  {BRANCH.relative_to(ROOT)}: the branch of notebooks")
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wrong = rehearse(clone(folder), folder / "remote.git")
    print("\n".join(wrong) or "  everything but the uploads works")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
