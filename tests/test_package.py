"""What `import onlinesoftmax` brings along, and that packages keep to themselves."""

import ast
import doctest
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import onlinesoftmax
import upward
from statements import functions, statement, statements

LIB = Path(onlinesoftmax.__file__).parent
# The ideas floor, from the ground up: each may import those before it, and numpy.
FLOOR = ["_inputs", "masks", "dense", "state", "exact", "streaming", "backward"]
FLOOR += ["precision", "devices", "costs"]
PUBLIC = [f"{name}.py" for name in FLOOR if name != "_inputs"]
PUBLIC += [f"gpu/{name}.py" for name in ("compile", "ladder", "launch", "reports")]
PUBLIC += ["cluster/network.py", "cluster/forward.py"]


def loaded_by(code: str) -> set[str]:
    """Return the modules that a fresh Python has after `code` and had not before."""
    code = f"import sys; old = set(sys.modules); {code}; print(*set(sys.modules) - old)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def test_importing_the_package_loads_nothing_else() -> None:
    loaded = loaded_by("import onlinesoftmax")
    assert "onlinesoftmax" in loaded
    assert not {name for name in loaded if name.startswith(("numpy", "onlinesoftmax."))}


def test_the_floor_needs_numpy_only() -> None:
    floor = ", ".join(f"onlinesoftmax.{name}" for name in FLOOR)
    numpy = "import numpy, numpy.typing; old = set(sys.modules)"
    loaded = loaded_by(f"{numpy}; import {floor}")
    third_party = {name.partition(".")[0] for name in loaded} - sys.stdlib_module_names
    assert third_party == {"onlinesoftmax"}
    assert {name.partition(".")[2] for name in loaded if "soft" in name} <= {"", *FLOOR}


@pytest.mark.parametrize("name", FLOOR)
def test_nothing_imports_upward(name: str) -> None:
    tree = ast.parse((LIB / f"{name}.py").read_text())
    wanted = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module != "onlinesoftmax":
            wanted.add(node.module)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            package = "" if isinstance(node, ast.Import) else "onlinesoftmax."
            wanted |= {package + alias.name for alias in node.names}
    ours = {module for module in wanted if module.startswith("onlinesoftmax")}
    assert ours <= {f"onlinesoftmax.{below}" for below in FLOOR[: FLOOR.index(name)]}
    others = {module.partition(".")[0] for module in wanted - ours}
    assert others - sys.stdlib_module_names <= {"numpy"}


def test_the_public_names() -> None:
    from onlinesoftmax import State, dense, merge, state, streaming

    assert (State, merge) == (state.State, state.merge)
    assert dense.softmax and streaming.softmax
    assert {"State", "dense", "merge", "state", "streaming"} <= set(dir(onlinesoftmax))
    assert all(hasattr(onlinesoftmax, name) for name in dir(onlinesoftmax))


def test_a_name_that_is_not_there() -> None:
    with pytest.raises(AttributeError) as error:
        onlinesoftmax.flash  # noqa: B018
    assert str(error.value) == "module 'onlinesoftmax' has no attribute 'flash'"


def documented(function: ast.FunctionDef) -> list[str]:
    """Return the arguments that a NumPy docstring describes, in order."""
    text = ast.get_docstring(function) or ""
    section = text.partition("Parameters\n----------\n")[2]
    section = re.split(r"\n\w+\n---", section)[0]
    names = re.findall(r"^(\w[\w, ]*)(?: :|$)", section, re.M)
    return [name for line in names for name in line.split(", ")]


@pytest.mark.parametrize("module", PUBLIC)
def test_docstrings_describe_every_argument(module: str) -> None:
    found = functions((LIB / module).read_text("utf-8"))
    for name, function in found.items():
        if not re.search(r"(^|\.)_", name):
            arguments = ast.walk(function.args)
            wanted = [x.arg for x in arguments if isinstance(x, ast.arg)]
            wanted = [name for name in wanted if name not in ("self", "cls")]
            assert sorted(documented(function)) == sorted(wanted), name


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


# ---- files: what imports may not do, paths may not do either

UPWARD = {
    "a parent too many": "from pathlib import Path\nHERE = Path(__file__).parents[1]",
    "through a name": (
        "from pathlib import Path\nHERE = Path(__file__).parent\n"
        "def book():\n    return HERE.parent.parent / 'book'"
    ),
    "through another module": "from .inner.where import HERE\nUP = HERE.parent.parent",
    "by two dots": "from .inner.where import HERE\nopen(HERE / '../../book/a.yml')",
    "where Python was started": "from pathlib import Path\nPath('book/data').exists()",
    "the folder itself": "import os\nos.getcwd()",
    "by os.path": (
        "import os\nUP = os.path.join(os.path.dirname(os.path.dirname(__file__)), 'a')"
    ),
    "any of the parents": "from pathlib import Path\nUP = list(Path(__file__).parents)",
    "where a package lies": "from importlib.util import find_spec\nfind_spec('x').origin",
    "its resources": "from importlib.resources import files\nUP = files('a').parent",
    "by a package's name": (
        "from importlib import import_module\nimport_module('rescaling').HERE"
    ),
    "by what is loaded": "import sys\nsys.modules['rescaling'].__file__",
    "by a list of files": "import glob\nglob.glob('book/*.md')",
    "by a folder's list": "import os\nos.listdir('book')",
}
WHERE = "from pathlib import Path\nHERE = Path(__file__).resolve().parent"


PACKAGES = sorted(file.parent for file in LIB.parent.glob("*/pyproject.toml"))


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_no_package_reaches_for_files_beside_it(package: Path) -> None:
    assert upward.Reader(package).faults() == []


@pytest.mark.parametrize("how", UPWARD)
def test_a_reach_for_files_beside_a_package_is_seen(how: str, tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "where.py").write_text(WHERE)
    assert upward.Reader(tmp_path).faults() == []
    (tmp_path / "planted.py").write_text(UPWARD[how])
    (fault, *_) = upward.Reader(tmp_path).faults()
    assert fault.startswith("planted.py:")
