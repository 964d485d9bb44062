"""What a release holds: the licence, a changelog, an order that the workflow knows."""

import re
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest
import yaml

from dropin import PLUGIN
from tools import release
from tools.common import readmes
from tools.environment import LIB as PACKAGES

ROOT = Path(__file__).parents[2]
WORKFLOW = ROOT / ".github" / "workflows" / "release.yml"


def test_every_folder_of_the_library_is_a_package_that_is_released() -> None:
    folders = {file.parent.name for file in (ROOT / "lib").glob("*/pyproject.toml")}
    publish = yaml.safe_load(WORKFLOW.read_text("utf-8"))["jobs"]["publish"]
    published = publish["strategy"]["matrix"]["package"]
    assert folders == set(PACKAGES) == set(published)


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_says_what_is_new_and_how_it_is_installed(package: str) -> None:
    folder = ROOT / "lib" / package
    version = import_module(package).__version__
    newest = re.search(r"^## (.*)", (folder / "CHANGELOG.md").read_text("utf-8"), re.M)
    assert newest and version in newest[1]
    text = (folder / "README.md").read_text("utf-8")
    assert readmes.requirements(text)[0].partition("[")[0] == package
    assert {"## Install", "## Limits", "## Beside what exists"} <= set(text.split("\n"))


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_of_ours_is_bound_to_versions_that_fit(package: str) -> None:
    project = tomllib.loads(
        (ROOT / "lib" / package / "pyproject.toml").read_text("utf-8")
    )
    extras = project["project"].get("optional-dependencies", {}).values()
    for needed in [*project["project"]["dependencies"], *sum(extras, [])]:
        name = re.match(r"[\w-]+", needed)[0]
        if name in PACKAGES:
            minor = import_module(name).__version__.rpartition(".")[0]
            assert needed.endswith(f"~={minor}.0")


@pytest.mark.parametrize("url", ["", "https://github.com/owner/book"])
def test_a_staged_package_has_the_licence_and_its_addresses(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = {"repository": {"url": url, "branch": "main"}}
    monkeypatch.setattr(release.yaml, "safe_load", lambda _: config)
    package = release.stage("ptxsim", tmp_path)
    assert (package / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    project = tomllib.loads((package / "pyproject.toml").read_text("utf-8"))["project"]
    source = project.get("urls", {}).get("Source")
    assert source == (f"{url}/tree/main/lib/ptxsim" if url else None)


def test_the_workflow_holds_no_secret_and_its_uploads_wait_for_the_rehearsal() -> None:
    text = WORKFLOW.read_text("utf-8")
    assert "secrets." not in text and "password" not in text
    jobs = yaml.safe_load(text)["jobs"]
    assert jobs["publish"]["needs"] == "rehearse"
    assert "--rehearse" in str(jobs["rehearse"]["steps"])


@pytest.mark.slow
def test_the_project_of_a_readme_is_tested_and_its_missing_barrier_found(
    tmp_path: Path,
) -> None:
    text = (ROOT / "lib" / "blocksim" / "README.md").read_text("utf-8")
    options = PLUGIN[2:]  # of pytest
    how = {"PYTHONPATH": str(ROOT / "lib"), "PYTEST_ADDOPTS": ""}
    project = release.project_tested
    assert not project(sys.executable, text, tmp_path, *options, **how)
    wrong = text.replace("thread 31 reads", "thread 30 reads")
    [complaint] = project(sys.executable, wrong, tmp_path, *options, **how)
    assert "thread 31 reads tile[32]" in complaint
