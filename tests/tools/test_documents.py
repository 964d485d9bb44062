"""What the documents for contributors name is there: files, commands, links."""

import re
import subprocess
from pathlib import Path

import pytest

from livepage.drills.bank import read
from livepage.drills.kinds import KINDS
from livepage.drills.payload import payload
from tools import check
from tools.common.readmes import files

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md"]
DOCUMENTS += [ROOT / "SECURITY.md"]
DOCUMENTS += sorted((ROOT / "docs").rglob("*.md"))
# The kit's README describes a book of its own, which test_readmes.py builds.
DOCUMENTS += sorted((ROOT / "lib").glob("[!l]*/README.md"))
DOCUMENTS += [ROOT / ".github" / "pull_request_template.md"]
SPAN = re.compile(r"`([^`\n]+)`")
FILE = re.compile(r"[\w.*/-]+/|[\w.*/-]*\.(py|md|yml|json|toml|txt|in|mjs|js|css|bib)")
BUILT = ("_build/", ".venv")  # not there before the first build


def tracked() -> list[str]:
    """Every file of the repository, those that are about to be added among them."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8")
    if done.returncode:
        pytest.skip("not a git checkout", allow_module_level=True)
    return done.stdout.splitlines()


FILES = tracked()


def is_there(name: str) -> bool:
    """A path from the root, or the last parts of one; a * stands for anything."""
    pattern = re.escape(name).replace(r"\*", "[^/]*")
    end = "" if name.endswith("/") else "(/|$)"
    return any(re.search(f"(^|/){pattern}{end}", file) for file in FILES)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda file: file.name)
def test_every_path_and_command_is_there(document: Path) -> None:
    text = document.read_text("utf-8")
    spans = [re.sub(r"<[^>]+>|\bNN\b", "*", span) for span in SPAN.findall(text)]
    paths = [span for span in spans if FILE.fullmatch(span)]
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    paths += re.findall(r"\]\((?!https?:|#)([^)#]+)", prose)
    paths = {path for path in paths if not path.startswith(BUILT)}
    paths -= set(files(text))  # of a project that the document shows
    assert not {path for path in paths if not is_there(path)}

    tools = {
        name.replace(".", "/")
        for name in re.findall(r"python -m (tools[.\w]+\w)", text)
    }
    assert not {
        name for name in tools if not {f"{name}.py", f"{name}/__main__.py"} & set(FILES)
    }
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.M)
    assert set(re.findall(r"\bmake ([a-z]+)`", text)) <= set(targets)
    steps = re.findall(r"tools\.check ([a-z-]+)", text)
    assert set(steps) <= set(check.STEPS)


def test_the_worked_commit_adds_a_drill(tmp_path) -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    name, diff = re.search(
        r"\+\+\+ b/book/drills/(\S+)\n(.*?)\n--- ", text, re.S
    ).groups()
    added = [line[1:] for line in diff.splitlines() if line.startswith("+")]
    (tmp_path / name).write_text("\n".join(["drills:", *added]), "utf-8")
    [drill] = read(tmp_path).values()
    answers = re.findall(r'^\+  - \["(.+?)", (\w+)', text, re.M)
    assert len(answers) == 5
    for answer, verdict in answers:
        assert KINDS["numeric"].mark(payload(drill), answer)["passed"] is (
            verdict == "right"
        )
