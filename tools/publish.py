"""Makes what the workflow `publish` uploads besides the site, and rehearses the workflow.

    python -m tools.publish              the branch of notebooks, in _build/branch
    python -m tools.publish --rehearse   every step of the workflow but the uploads

Colab and Binder open notebooks of a branch on GitHub. The branch holds the notebooks,
their wheels, and what Binder installs. The rehearsal sets the two keys of `_config.yml` in
a copy of the repository, runs the workflow's steps there, pushes to a repository on the
disk, and checks that every button of the pages leads to a pushed file.
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

from tools.common import options
from tools.common.paths import BUILD, HTML, ROOT
from tools.testing.copies import git

BRANCH = BUILD / "branch"
WORKFLOW = ".github/workflows/publish.yml"
PYTHON_OF_BINDER = "python-3.12\n"
KEYS = {
    'url: ""': 'url: "https://github.com/rehearsal/book"',
    'baseurl: ""': 'baseurl: "https://rehearsal.github.io/book/"',
}
EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
README = """\
# Notebooks of the book

The workflow `publish` makes them from the branch main, again with each change there.
Colab and Binder open them here.
"""


def lay_out(html: Path, branch: Path) -> None:
    """Empty the folder `branch`, and fill it with the notebooks of the built site."""
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
    (branch / "README.md").write_text(README, "utf-8")


# ---- the rehearsal ----


def steps(workflow: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the commands of the workflow's own jobs in order, with their environment."""
    for job, step in all_steps(workflow):
        if "run" in step:
            yield step["run"], {**job.get("env", {}), **step.get("env", {})}


def all_steps(workflow: Path) -> Iterator[tuple[dict, dict]]:
    """Yield each step of the workflow, after its job."""
    for job in yaml.safe_load(workflow.read_text("utf-8"))["jobs"].values():
        yield from ((job, step) for step in job.get("steps", []))


def uploads(workflow: Path) -> list[str]:
    """Return the folders that the workflow uploads."""
    inputs = [step.get("with", {}) for _, step in all_steps(workflow)]
    return [each["path"] for each in inputs if "path" in each]


def run_steps(copy: Path, remote: Path) -> None:
    """Run the workflow's commands in a copy of the repository; they push to `remote`."""
    context = {"github.token": "none", "github.repository": "rehearsal/book"}
    context["github.sha"] = git("rev-parse", "HEAD").strip()
    for command, env in steps(copy / WORKFLOW):
        print(f"  {command.strip().splitlines()[0]}", flush=True)
        variables = {
            name: EXPRESSION.sub(lambda match: context[match[1]], str(value))
            for name, value in env.items()
        }
        if "REMOTE" in variables:
            variables["REMOTE"] = str(remote)
        bash = ["bash", "-e", "-o", "pipefail", "-c", command]
        subprocess.run(bash, cwd=copy, env=os.environ | variables, check=True)


def pushed(remote: Path, branch: str) -> set[str]:
    """Return the files of a branch of a repository."""
    command = ["git", "ls-tree", "-r", "--name-only", branch]
    done = subprocess.run(command, cwd=remote, capture_output=True, text=True)
    return set(done.stdout.split("\n")) - {""}


def dead_buttons(html: Path, remote: Path) -> list[str]:
    """Return the buttons that lead to no file, and the pages that lack a button."""
    dead = []
    for page in sorted(html.glob("*.html")):
        soup = BeautifulSoup(page.read_text("utf-8"), "html.parser")
        buttons = soup.select(".head-facts a[href^=https]")
        if soup.select(".head-facts a[download]") and not buttons:
            dead.append(f"{page.name}: a notebook, and no button that opens it")
        for link in buttons:
            target = re.search(r"/blob/([\w-]+)/(.*)$", link["href"])
            target = target or re.search(
                r"/([\w-]+)\?urlpath=lab/tree/(.*)", link["href"]
            )
            if not target or target[2] not in pushed(remote, target[1]):
                dead.append(f"{page.name}: {link['href']}")
    return dead


def wheels_missing(html: Path, site: str) -> list[str]:
    """Return the notebooks whose first cell names a wheel, or an address, that is wrong."""
    missing = []
    for file in sorted((html / "notebooks").glob("*.ipynb")):
        text = file.read_text("utf-8")
        wheels = re.findall(r"'([\w.-]+\.whl)'", text)
        there = all((html / "notebooks" / wheel).exists() for wheel in wheels)
        if not (wheels and there and f"{site}notebooks/" in text):
            missing.append(file.name)
    return missing


def set_keys(config: Path) -> str:
    """Set the two keys that publish the book; return the address of the site."""
    text = config.read_text("utf-8")
    for unset, now in KEYS.items():
        if unset not in text:
            raise ValueError(f"{config.name}: expected {unset} before a rehearsal")
        text = text.replace(unset, now, 1)
    config.write_text(text, "utf-8")
    return yaml.safe_load(text)["html"]["baseurl"]


def rehearse(copy: Path, remote: Path) -> list[str]:
    """Publish from a copy to a repository on the disk; return complaints."""
    site = set_keys(copy / "_config.yml")
    subprocess.run(["git", "init", "-q", "--bare", remote], check=True)
    run_steps(copy, remote)
    html = copy / "_build" / "html"
    folders = [name for name in uploads(copy / WORKFLOW) if not (copy / name).is_dir()]
    commit = git("rev-parse", "HEAD").strip()[:10]
    unnamed = [
        page.name
        for page in sorted(html.glob("*.html"))
        if f"build {commit}" not in page.read_text("utf-8")
    ]
    return [
        *(f"nothing to upload in {name}" for name in folders),
        *(f"a button leads nowhere: {line}" for line in dead_buttons(html, remote)),
        *(f"no wheels for {name}" for name in wheels_missing(html, site)),
        *(f"no build named at the foot of {name}" for name in unnamed),
    ]


def main() -> int:
    if "--rehearse" not in options.parse(["--rehearse"]):
        try:
            lay_out(HTML, BRANCH)
        except ValueError as error:
            print(error, file=sys.stderr)
            return 1
        print(f"  {BRANCH.relative_to(ROOT)}: the branch of notebooks")
        return 0
    with tempfile.TemporaryDirectory() as name:
        copy, remote = Path(name, "book"), Path(name, "remote.git")
        git("clone", "-q", str(ROOT), str(copy))
        wrong = rehearse(copy, remote)
    return options.report(wrong, f"  {len(wrong)} complaints; nothing was uploaded")


if __name__ == "__main__":
    sys.exit(main())
