"""The block simulator in MicroPython, in the worker that a page starts."""

from pathlib import Path

import pytest

from kernels.correct import CORRECT
from kernels.faulty import FAULTY
from livepage import drills
from livepage.drills import kernel_grader
from livepage.drills.kernels import player
from livepage.drills.page import bundle

from .test_drills import write_page, write_scripts

pytestmark = pytest.mark.browser

FIRST = """globalThis.ask = (cases) => Promise.all(cases.map(([source, case_]) =>
  runPython({kind: "kernel", function: "kernel", cases: [case_], tolerance: 1e-12,
             slips: []},
            source)));"""


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with nothing on it but the way to Python."""
    folder = tmp_path_factory.mktemp("micropython")
    write_scripts(folder)
    script = f"{bundle('python.mjs')}const {{ runPython }} = $python;\n{FIRST}"
    (folder / "drills" / "drills.js").write_text(script)
    write_page(folder / "empty.html", "")
    return folder / "empty.html"


def ask(page, kernels: list) -> list:
    return page.evaluate("cases => ask(cases)", [list(kernel) for kernel in kernels])


@pytest.mark.long
def test_right_kernels_have_no_report_in_micropython_either(page_file, open_page):
    reports = ask(open_page(page_file), CORRECT.values())
    for name, report in zip(CORRECT, reports, strict=True):
        assert report["passed"], (name, report)


@pytest.mark.long
def test_faults_are_told_word_for_word_as_in_cpython(page_file, open_page) -> None:
    """Every second fault: each costs a page two fresh Pythons."""
    chosen = list(FAULTY.items())[::2]
    reports = ask(open_page(page_file), [kernel[:2] for _, kernel in chosen])
    for (name, (source, case, _)), report in zip(chosen, reports, strict=True):
        make, _ = kernel_grader.defined(source, "kernel")
        play = player(make, [case])
        expected = kernel_grader.grade(play, [case], list, 1e-12, lambda report: None)
        if expected["fields"]["kind"] == "error":  # the message is Python's own
            assert report["fields"]["line"] == expected["fields"]["line"]
            continue
        assert report["fields"] == expected["fields"], name
        assert report["log"] == expected["log"], name


def test_what_a_page_carries_has_no_need_of_cpython() -> None:
    script = drills.page_assets()["simulator.js"]
    for name in ("inspect", "numpy", "ast", "typing"):
        assert f"\\nimport {name}" not in script, "at the start of a line of a module"
