"""What `import onlinesoftmax` brings along, and what its docstrings describe."""

import ast
import doctest
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
import yaml

import onlinesoftmax
from statements import functions, statement, statements

ROOT = Path(__file__).parents[2]
LIB = Path(onlinesoftmax.__file__).parent
FLOOR = "inputs masks dense state streaming backward exact precision costs".split()
# What readers call: its docstring describes every argument.
ENTRIES = {
    "masks": "window padding documents bias alibi",
    "dense": "softmax log_softmax logsumexp softmax_dot attention attention_grad",
    "state": "State.of merge rescale",
    "streaming": "update sum_exp softmax softmax_dot attention trace trace_attention",
    "backward": "attention_grad",
    "precision": "ulp round_to add_up running_sum sum_in",
}


def loaded_by(code: str) -> set[str]:
    """Return the modules that a fresh Python has after `code` and had not before."""
    code = f"import sys; old = set(sys.modules); {code}; print(*set(sys.modules) - old)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def test_importing_the_package_loads_nothing_else() -> None:
    loaded = loaded_by("import onlinesoftmax")
    assert "onlinesoftmax" in loaded
    assert {
        name for name in loaded if name.startswith(("numpy", "onlinesoftmax."))
    } == {"onlinesoftmax.moved"}


def test_the_floor_needs_numpy_only() -> None:
    floor = ", ".join(f"onlinesoftmax.{name}" for name in FLOOR)
    numpy = "import numpy, numpy.typing; old = set(sys.modules)"
    loaded = loaded_by(f"{numpy}; import {floor}")
    third_party = {name.partition(".")[0] for name in loaded} - sys.stdlib_module_names
    assert third_party == {"onlinesoftmax"}
    assert {name.partition(".")[2] for name in loaded if "soft" in name} <= {
        "",
        "moved",
        *FLOOR,
    }


def test_the_public_names() -> None:
    from onlinesoftmax import State, dense, merge, state, streaming

    assert (State, merge) == (state.State, state.merge)
    assert dense.softmax and streaming.softmax
    assert {"State", "dense", "merge", "state", "streaming"} <= set(dir(onlinesoftmax))
    assert not [name for name in dir(onlinesoftmax) if not hasattr(onlinesoftmax, name)]


def test_a_name_that_is_not_there() -> None:
    with pytest.raises(AttributeError) as error:
        onlinesoftmax.flash  # noqa: B018
    assert str(error.value) == "module 'onlinesoftmax' has no attribute 'flash'"


# ---- the old names, until 1.0 ----


@pytest.mark.filterwarnings("ignore:onlinesoftmax:DeprecationWarning")
def test_old_names_lead_to_what_moved() -> None:
    from onlinesoftmax.gpu import compile_report, reports
    from onlinesoftmax.gpu.rungs.naive import naive

    from onlinesoftmax import cluster, costs, cpu, devices, gpu

    assert naive is import_module("tiledattention.gpu.rungs.naive").naive
    assert reports.stored is import_module("kernellab.reports").stored
    assert compile_report is import_module("kernellab.compile").compile_report
    assert costs.wavefronts is import_module("kernellab.banks").wavefronts
    assert devices.gpu is import_module("kernellab.devices").gpu
    for old, new in {cluster: "cluster", cpu: "cpu", gpu: "gpu"}.items():
        now = import_module(f"tiledattention.{new}")
        names = now.__all__
        assert [getattr(old, n) for n in names] == [getattr(now, n) for n in names]


@pytest.mark.parametrize(
    ("code", "old", "new"),
    [
        ("from onlinesoftmax import gpu", "gpu", "tiledattention.gpu"),
        ("import onlinesoftmax.devices", "devices", "kernellab.devices"),
        (
            "from onlinesoftmax.costs import wavefronts",
            "costs.wavefronts",
            "kernellab.banks.wavefronts",
        ),
    ],
)
def test_an_old_name_warns_in_the_file_that_uses_it(
    code: str, old: str, new: str, tmp_path: Path
) -> None:
    """In the file itself: Python shows a deprecation only there, and only in __main__."""
    script = tmp_path / "old.py"
    script.write_text(f"import numpy\n{code}\n", "utf-8")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True)
    warning = f"onlinesoftmax.{old} is called {new} now; the old name goes with"
    assert f"{script}:2: DeprecationWarning: {warning}" in done.stderr


def test_code_without_a_module_imports_an_old_name() -> None:
    """As exec runs it: nothing says in which module it stands."""
    loaded = loaded_by("exec('import onlinesoftmax.gpu', {})")
    assert "tiledattention.gpu" in loaded


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (
            "import onlinesoftmax.gpu.flash",
            "No module named 'tiledattention.gpu.flash'",
        ),
        (
            "from onlinesoftmax.gpu import flash",
            "No module named 'tiledattention.gpu.fl",
        ),
        ("import onlinesoftmax.flash", "No module named 'onlinesoftmax.flash'"),
        ("from onlinesoftmax.costs import flash", "cannot import name 'flash'"),
    ],
)
@pytest.mark.filterwarnings("ignore:onlinesoftmax:DeprecationWarning")
def test_an_old_name_that_never_was(code: str, said: str) -> None:
    with pytest.raises(ImportError, match=said):
        exec(code, {})


OLD_NAME = re.compile(
    r"onlinesoftmax\.(?:cluster|cpu|devices|gpu)\b"
    r"|from onlinesoftmax import [^\n]*\b(?:cluster|cpu|devices|gpu)\b"
    r"|onlinesoftmax/(?:cluster|cpu|devices|gpu)\b"
)


def test_nothing_of_ours_uses_an_old_name() -> None:
    """Only notebooks that somebody has still do; four files name what is old."""
    folders = [ROOT / name for name in ("book", "docs", "lib", "tests", "tools")]
    kinds = ("*.md", "*.py", "*.yml")
    files = {file for at in folders for kind in kinds for file in at.rglob(kind)}
    assert len(files) > 500
    files |= {
        ROOT / name for name in ("README.md", "CONTRIBUTING.md", "pyproject.toml")
    }
    files -= {LIB / name for name in ("moved.py", "__init__.py", "CHANGELOG.md")}
    files -= {Path(__file__)}
    assert not [file for file in files if OLD_NAME.search(file.read_text("utf-8"))]


def documented(function: ast.FunctionDef) -> list[str]:
    """Return the arguments that a NumPy docstring describes, in order."""
    text = ast.get_docstring(function) or ""
    section = text.partition("Parameters\n----------\n")[2]
    section = re.split(r"\n\w+\n---", section)[0]
    names = re.findall(r"^(\w[\w, ]*)(?: :|$)", section, re.M)
    return [name for line in names for name in line.split(", ")]


@pytest.mark.parametrize("module", ENTRIES)
def test_docstrings_describe_every_argument(module: str) -> None:
    public = functions((LIB / f"{module}.py").read_text("utf-8"))
    for name in ENTRIES[module].split():
        arguments = ast.walk(public[name].args)
        wanted = [x.arg for x in arguments if isinstance(x, ast.arg)]
        wanted = [argument for argument in wanted if argument not in ("self", "cls")]
        assert sorted(documented(public[name])) == sorted(wanted), name


def test_the_mathematics_can_be_read_in_an_evening() -> None:
    """It is what the book's owner asked for: a small library. New lines replace old."""
    files = sorted(LIB.glob("*.py"))
    lines = sum(len(file.read_text("utf-8").splitlines()) for file in files)
    assert len(files) == len(FLOOR) + 2 and lines <= 3000


def test_the_example() -> None:
    assert doctest.testmod(onlinesoftmax).failed == 0


def test_every_mutant_that_survives_is_in_the_code_and_has_its_reason() -> None:
    listed = Path(__file__).parent / "mutation" / "survivors.yml"
    for mutant in yaml.safe_load(listed.read_text("utf-8")):
        module, _, function = mutant["in"].partition(".")
        source = (LIB / f"{module}.py").read_text("utf-8")
        within = statements(functions(source)[function])
        was, now = statement(mutant["was"]), statement(mutant["now"])
        assert was in within and now not in within
        assert len(mutant["why"]) > 20
