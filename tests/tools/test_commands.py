"""What `make` and its commands find, and that they print what is meant and no more."""

import ast
import importlib
import importlib.metadata
import importlib.util
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import jupytext
import pytest

from tools import lab, serve
from tools import test as tools_test
from tools.site import budgets, chromium, words
from tools.testing import copies, speeds

ROOT = Path(__file__).parents[2]
# What `make` runs before what only tests need is installed.
BOOK_COMMANDS = ("build", "watch", "serve", "kernels/gpu", "model/__main__")


def test_a_failing_test_says_how_to_run_it_alone(tmp_path, monkeypatch) -> None:
    report = partial(SimpleNamespace, when="call", duration=1.0)
    stats = {
        "passed": [report(nodeid="tests/test_x.py::test_good")],
        "failed": [report(nodeid="tests/browser/test_y.py::test_bad[a b]")],
        "error": [report(nodeid="tests/test_z.py")],  # it could not be imported
    }
    for name in ("MEASURED", "RESULTS"):
        monkeypatch.setattr(speeds, name, tmp_path / name)
    speeds.pytest_terminal_summary(SimpleNamespace(stats=stats))
    results = json.loads(speeds.RESULTS.read_text())
    ids = ["tests/browser/test_y.py::test_bad[a b]", "tests/test_z.py"]
    assert results == {"passed": 1, "failed": ids, "skipped": 0}
    assert len(json.loads(speeds.MEASURED.read_text())) == 2
    assert tools_test.command_for(ids[0]).endswith(f"-m pytest -n0 '{ids[0]}'")


def environment():
    """tools/environment.py, which no package imports: any Python runs it as a script."""
    file = ROOT / "tools" / "environment.py"
    spec = importlib.util.spec_from_file_location("environment", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def imported(tree: ast.AST) -> Iterator[str]:
    """The packages that a module imports when it is loaded: not those in its functions."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield (node.module or "").split(".")[0]
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from imported(node)


def not_installed(packages: set[str], lock: str) -> list[str]:
    """Those of the packages that no line of a lock installs."""
    known = importlib.metadata.packages_distributions()
    locked = {
        name.lower().replace("_", "-")
        for name in re.findall(r"^([\w.-]+)==", lock, re.MULTILINE)
    }
    spelt = {
        package: {name.lower().replace("_", "-") for name in known.get(package, [])}
        for package in packages - sys.stdlib_module_names
    }
    return sorted(package for package, names in spelt.items() if not names & locked)


def test_what_the_book_imports_is_installed_without_the_tests() -> None:
    """Tests run where both are installed, and would not miss a package of the book's."""
    book = [*(ROOT / "lib").rglob("*.py"), *(ROOT / "book").glob("*.py")]
    # A listing is shown; only the tool that compiles it imports it.
    book = [file for file in book if not file.stem.endswith("_attention")]
    commands = [ROOT / "tools" / f"{name}.py" for name in BOOK_COMMANDS]
    trees = [ast.parse(file.read_text("utf-8")) for file in [*book, *commands]]
    for chapter in (ROOT / "book").glob("*.md"):
        cells = jupytext.read(chapter).cells
        code = [cell.source for cell in cells if cell.cell_type == "code"]
        trees += [
            ast.parse(re.sub(r"^[%!].*", "", source, flags=re.M)) for source in code
        ]
    ours = {file.stem for file in (ROOT / "book").glob("*.py")}
    ours |= {"tools", "google"}  # Colab brings its own
    ours.add("triton")  # pages read triton_attention.py as a text, and never import it
    ours |= {folder.name for folder in (ROOT / "lib").iterdir()}
    packages = {name for tree in trees for name in imported(tree)} - ours
    assert len(packages) > 30  # else this looked at nothing
    lock = (ROOT / "requirements.txt").read_text("utf-8")
    assert not_installed(packages, lock) == []
    without = re.sub("^tinycss2==.*", "", lock, flags=re.MULTILINE)
    assert not_installed(packages, without) == ["tinycss2"]


def test_what_pip_says_is_shown_only_if_it_fails(capfd) -> None:
    run = environment().run
    run("installing", sys.executable, "-c", "print('a warning')")
    assert capfd.readouterr() == ("  installing ...\n", "")
    with pytest.raises(SystemExit) as stop:
        run("installing", sys.executable, "-c", "exit('no network')")
    assert stop.value.code == "no network\n\ninstalling failed"


def test_an_environment_that_was_interrupted_is_made_anew(
    tmp_path, monkeypatch
) -> None:
    module = environment()
    venv.create(tmp_path / "half", with_pip=False)
    half = (
        tmp_path / "half" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    )
    assert module.has_pip(sys.executable)
    assert not module.has_pip(str(half))
    assert not module.has_pip(str(tmp_path / "none"))
    ran: list[tuple[str, ...]] = []
    monkeypatch.setattr(module, "run", lambda what, *command: ran.append(command))
    monkeypatch.setattr(module, "has_pip", lambda python: False)
    monkeypatch.setattr(module, "VENV", str(tmp_path))
    module.main([])
    assert ran[0][1:] == ("-m", "venv", "--clear", str(tmp_path))


def test_a_part_that_is_up_to_date_is_not_installed_again(tmp_path, monkeypatch):
    module = environment()
    ran: list[str] = []
    monkeypatch.setattr(module, "run", lambda what, *command: ran.append(what))
    monkeypatch.setattr(module, "VENV", str(tmp_path))
    lock = tmp_path / "lock.txt"
    monkeypatch.setitem(module.PARTS, "lab", ("JupyterLab", str(lock)))
    lock.write_text("jupyterlab==1")
    module.install(sys.executable, "lab"), module.install(sys.executable, "lab")
    assert ran == ["installing JupyterLab"]
    lock.write_text("jupyterlab==2")
    module.install(sys.executable, "lab")
    assert len(ran) == 2


def test_a_part_that_is_not_there_is_named() -> None:
    with pytest.raises(SystemExit, match="part: expected book, test, lab; got tests"):
        environment().main(["tests"])


def test_a_terminal_without_an_ellipsis_stops_no_command() -> None:
    command = [sys.executable, "-c", "import tools; print('building …')"]
    env = os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("building ?\n", "")


@pytest.mark.parametrize("port", ["taken", "99999", "x", "²", "-1", "0x10", "1" * 5000])
def test_a_port_that_cannot_be_had_is_said_plainly(tmp_path, port: str) -> None:
    (tmp_path / "index.html").touch()
    with serve.server(tmp_path) as running:
        number = str(running.server_port) if port == "taken" else port
        with pytest.raises(ValueError, match=f"port: .*{number}"):
            serve.server(tmp_path, serve.parse_port([number]))


def test_two_ports_are_one_too_many() -> None:
    with pytest.raises(ValueError, match="port: expected one, got 8000 9000"):
        serve.parse_port(["8000", "9000"])


COMMANDS = [
    "faults",
    "faults.barriers",
    "kernels",
    "kernels.barrier",
    "kernels.excerpts",
    "kernels.gpu",
    "kernels.laboratory",
    "kernels.tensor",
]
COMMANDS += ["model", "model.autograd", "publish", "simulator.fuzz", "site.browsers"]
COMMANDS += ["site.first_use", "site.links", "site.words", "testing.rebuilds"]


@pytest.mark.parametrize("name", COMMANDS)
def test_a_misspelt_option_stops_a_command(name: str, monkeypatch, capsys) -> None:
    """Without it, some of them would write anew what they were to compare."""
    monkeypatch.setattr(sys, "argv", [name, "--chekc"])
    # Nothing may be started: neither a process nor what takes long.
    monkeypatch.setattr(subprocess, "Popen", None)
    monkeypatch.delitem(sys.modules, f"tools.{name}", raising=False)
    with pytest.raises(SystemExit) as stop:
        runpy.run_module(f"tools.{name}", run_name="__main__")
    assert stop.value.code == 2
    assert "--chekc" in capsys.readouterr().err


@pytest.mark.parametrize("path", ["", os.environ["PATH"]], ids=["no git", "no clone"])
def test_without_git_a_copy_says_what_is_needed(path, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(copies, "ROOT", tmp_path)
    monkeypatch.setenv("PATH", path)
    with pytest.raises(SystemExit, match="needed, to copy the book"):
        copies.copy_of_the_book(tmp_path / "copy")


@pytest.mark.parametrize("text", ["", "{", '{"a": "b"'])
def test_a_record_that_was_cut_short_stops_no_command(
    text: str, tmp_path, monkeypatch
) -> None:
    record = tmp_path / "record.json"
    record.write_text(text)
    monkeypatch.setattr(speeds, "GREEN", record)
    assert isinstance(speeds.changed_files(), set)
    own, published = tmp_path / "own", tmp_path / "published"
    own.mkdir(), published.mkdir()
    (own / lab.HANDED_OUT).write_text(text)
    for folder, text_of in ((own, "mine"), (published, "theirs")):
        (folder / "a.ipynb").write_text(text_of)
    assert lab.copies(published, own) == ["a.ipynb"]
    assert (own / "a.ipynb").read_text() == "mine"


@pytest.mark.parametrize("name", ["publish", "site.links", "site.words"])
def test_a_command_without_a_book_says_so(name, tmp_path, monkeypatch, capsys) -> None:
    module = importlib.import_module(f"tools.{name}")
    monkeypatch.setattr(module, "HTML", tmp_path)
    monkeypatch.setattr(sys, "argv", [name])
    assert module.main() == 1
    assert "run `make book` first" in capsys.readouterr().err


def test_words_of_text_and_prompts_are_counted_apart(tmp_path) -> None:
    page = tmp_path / "page.html"
    page.write_text(
        "<article><p class=head-facts>about 25 min, 12 drills, 40 min</p><p>two words, –</p>"
        "<details><p>one</p></details><pre>no words</pre><div class=os-drill>"
        "<div class=os-drill-prompt>What is it?</div><button>Check</button></div></article>"
    )
    assert words.length(page) == words.Length(3, 3, 25, 40)
    page.write_text("<article>no chapter</article>")
    assert words.length(page) is None


def test_without_a_browser_the_budgets_say_what_to_install(monkeypatch) -> None:
    monkeypatch.setattr(budgets, "find_chromium", lambda: None)
    with pytest.raises(SystemExit, match="install Chromium, Chrome or Edge"):
        budgets.main()


@pytest.mark.skipif(os.name == "nt" or not shutil.which("make"), reason="no make")
def test_make_passes_over_a_version_that_only_pyenv_knows(tmp_path) -> None:
    for name in ("python3.14", "python3.13", "python3.12"):
        shim = tmp_path / name
        shim.write_text('#!/bin/sh\necho "pyenv: command not found" >&2\nexit 127\n')
        shim.chmod(0o755)
    good = tmp_path / "python3.11"
    good.write_text("#!/bin/sh\nexit 0\n")
    good.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    outer = ("MAKE", "MFLAGS", "PYTHON")  # of a `make test` that runs this one
    env = {k: v for k, v in os.environ.items() if not k.startswith(outer)}
    done = subprocess.run(
        ["make", "-n", "-W", "requirements.txt", ".venv/ready-book"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**env, "PATH": path},
    )
    assert (done.stdout, done.stderr) == ("python3.11 tools/environment.py\n", "")


@pytest.mark.parametrize(
    "place",
    ["Google/Chrome/Application/chrome.exe", "Microsoft/Edge/Application/msedge.exe"],
)
def test_chrome_and_edge_are_found_on_windows(place, tmp_path, monkeypatch) -> None:
    browser = tmp_path / place
    browser.parent.mkdir(parents=True)
    browser.touch()
    for name, value in {
        "CHROMIUM": "",
        "PATH": "",
        "LOCALAPPDATA": str(tmp_path),
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(chromium, "MACOS", ())
    assert chromium.find_chromium() == str(browser)


def test_chrome_is_found_on_macos(monkeypatch) -> None:
    monkeypatch.setenv("CHROMIUM", "")
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(chromium.Path, "exists", lambda path: "Edge" in str(path))
    wanted = "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge"
    assert Path(chromium.find_chromium()) == Path(wanted)


@pytest.mark.parametrize(
    ("drill", "said"),
    [("stable-softmax", "1 drills, 0 to look at"), ("ratio-two", "got ratio-two")],
)
def test_mutants_of_a_drill_can_be_asked_for(drill: str, said: str) -> None:
    """The command opens the book by itself; among the tests, others have opened it."""
    command = [sys.executable, "-m", "tools.faults.drills", drill]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8")
    assert said in done.stdout + done.stderr
