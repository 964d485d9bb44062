"""The type stubs of blocksim and livepage match the code, and check a user's program."""

import ast
import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import livepage
from blocksim import portable
from blocksim.things import KNOWN
from livepage.figures import kinds
from livepage.figures.control import Control

LIB = Path(__file__).parents[2] / "lib"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.M | re.S)
MESSAGE = re.compile(r"^(\w+\.py):(\d+): error: .* \[([\w-]+)\]$", re.M)

# stubtest compares stubs only. The modules beside them are compared with themselves, and
# what mypy says of their code is left out.
CONFIG = """
[mypy]
ignore_errors = True
[mypy-blocksim,blocksim.webgpu,blocksim.wgsl,livepage.figures.spec]
ignore_errors = False
"""
ALLOWED = r"""
# No user constructs these.
blocksim\.(Kernel|Report|Type|webgpu\.Device)\.__init__
# The stub describes how kernels use these names. Their classes answer by __getattr__.
blocksim\.(cuda|u?int\d+|float\d+)
# These modules have no stub.
blocksim\.(cudasim|tokens)\..*
"""

# A user's first lines, then lines that are wrong, each with the code of mypy's error.
START = """
from blocksim import cuda, float32, load, run
from blocksim.webgpu import device
from blocksim.wgsl import translate
from livepage import check, glue, measured
from livepage.figures.spec import Range, Toggle

@cuda.jit
def shift(x: list[float], y: list[float]) -> None:
    y[cuda.threadIdx.x] = x[cuda.grid(1)]

@cuda.jit(device=True)
def half(x: float) -> float:
    return x / 2

x = [0.0]
report = run(shift, 1, (8, 1), x, x, mode="full", log=True)
""".lstrip()
WRONG = [
    ('run(shift, grid="1", block=8)', "arg-type"),
    ('run(shift, 1, 8, x, x, mode="fast")', "arg-type"),
    ("run(shift, 1, 8, x, x, logs=True)", "call-arg"),
    ("shift(x, x)", "operator"),
    ("shift[1](x, x)", "index"),
    ('half("1")', "arg-type"),
    ('load(1, "shift")', "arg-type"),
    ("report.fault", "attr-defined"),
    ('report.bytes["x"].bits', "attr-defined"),
    ('report.faults[0].kind == "races"', "comparison-overlap"),
    ("report.faults[0].thread", "attr-defined"),
    ("cuda.threadIdx.w", "attr-defined"),
    ("cuda.grid(4)", "call-overload"),
    ('cuda.shared.array("8", float32)', "arg-type"),
    ("cuda.atomic.add(x, 0)", "call-arg"),
    ("cuda.shfl_sync(x, 1.0, 3)", "arg-type"),
    ("float32(x)", "call-overload"),
    ("translate(shift, 8, [1])", "list-item"),
    ("device().names", "attr-defined"),
    ('check("id", hint="no")', "arg-type"),
    ("glue(1, 2)", "arg-type"),
    ('measured("name").column', "attr-defined"),
    ('Range("side", 3, low=1)', "call-arg"),
    ('Toggle("side", default="on")', "arg-type"),
]


def readme(package: str) -> list[str]:
    """Return the blocks of Python in a package's README."""
    return BLOCK.findall((LIB / package / "README.md").read_text("utf-8"))


def mypy(module: str, *options: str, folder: Path) -> str:
    """Run mypy or its stubtest in a folder; return its output."""
    done = subprocess.run(
        [sys.executable, "-m", module, *options],
        cwd=folder,
        env={**os.environ, "MYPYPATH": str(LIB), "PYTHONPATH": str(LIB)},
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode in (0, 1), done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def errors(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[tuple]]:
    """Return mypy's errors in each program of a user: pairs of a line and a code."""
    folder = tmp_path_factory.mktemp("user")
    first, *others = readme("blocksim")
    annotated = first.replace("(x, y):", "(x: list[float], y: list[float]) -> None:")
    untyped = "# mypy: allow-untyped-defs, allow-untyped-calls\n"
    programs = {
        "first": annotated,
        "readme": untyped + "".join([first, *others]),
        "book": "".join(readme("livepage")),
        "wrong": START + "\n".join(line for line, _ in WRONG),
    }
    for name, code in programs.items():
        (folder / f"{name}.py").write_text(code, "utf-8")
    options = ["--strict", "--follow-imports=silent", "--no-pretty", "."]
    output = mypy("mypy", *options, folder=folder)
    found: dict[str, list[tuple]] = {f"{name}.py": [] for name in programs}
    for file, line, code in MESSAGE.findall(output):
        found[file].append((int(line), code))
    assert output.count(": error: ") == sum(map(len, found.values())), output
    return found


@pytest.mark.slow
@pytest.mark.parametrize("program", ["first.py", "readme.py", "book.py"])
def test_what_a_readme_shows_type_checks(program: str, errors: dict) -> None:
    assert errors[program] == []


@pytest.mark.slow
def test_each_wrong_line_is_an_error(errors: dict) -> None:
    start = START.count("\n") + 1
    wrong = [(start + number, code) for number, (_, code) in enumerate(WRONG)]
    assert errors["wrong.py"] == wrong


def test_the_stubs_match_the_code(tmp_path: Path) -> None:
    (tmp_path / "mypy.ini").write_text(CONFIG, "utf-8")
    (tmp_path / "allowed").write_text(ALLOWED, "utf-8")
    options = ["--mypy-config-file", "mypy.ini", "--allowlist", "allowed"]
    options += ["--ignore-missing-stub", "--concise"]
    modules = ["blocksim", "livepage.figures.spec"]
    output = mypy("mypy.stubtest", *modules, *options, folder=tmp_path)
    assert output == ""


def tree(stub: str) -> ast.Module:
    """Return the syntax tree of a stub."""
    return ast.parse((LIB / stub).read_text("utf-8"))


@pytest.mark.parametrize("module", ["blocksim", "blocksim.wgsl", "livepage"])
def test_a_stub_exports_what_its_module_exports(module: str) -> None:
    body = tree(f"{module.replace('.', '/')}/__init__.pyi").body
    lists = [
        node.value
        for node in body
        if isinstance(node, ast.Assign) and node.targets[0].id == "__all__"
    ]
    assert list(map(ast.literal_eval, lists)) == [import_module(module).__all__]


def members(name: str, path: str, classes: dict[str, ast.ClassDef]) -> set[str]:
    """Return the paths of all that a class of a stub declares, and their members."""
    paths = set()
    for member in classes[name].body:
        if isinstance(member, ast.FunctionDef):
            paths.add(f"{path}.{member.name}")
        if isinstance(member, ast.AnnAssign):
            inner, declared = f"{path}.{member.target.id}", member.annotation.id
            paths.add(inner)
            paths |= members(declared, inner, classes) if declared in classes else set()
    return paths


def test_the_stub_of_cuda_has_what_a_kernel_may_use() -> None:
    """stubtest cannot tell: cuda answers by `__getattr__`."""
    body = tree("blocksim/__init__.pyi").body
    classes = {node.name: node for node in body if isinstance(node, ast.ClassDef)}
    known = {path for path in KNOWN if path.startswith("cuda.")}
    assert members("_Cuda", "cuda", classes) == known - {"cuda.types"}


def imported(stub: str) -> dict[str, object]:
    """Return what a stub imports from the modules beside it, by name."""
    package = stub.replace("/", ".").rpartition(".")[0].rpartition(".")[0]
    return {
        alias.name: getattr(import_module(f".{node.module}", package), alias.name)
        for node in tree(stub).body
        if isinstance(node, ast.ImportFrom) and node.level
        for alias in node.names
    }


def test_the_stub_of_livepage_has_the_names_that_chapters_import() -> None:
    names = {name: getattr(livepage, name) for name in livepage.HOME}
    assert imported("livepage/__init__.pyi") == names


def test_the_stub_of_spec_lists_every_kind_of_control() -> None:
    classes = {"Control": Control, **kinds.classes()}
    assert imported("livepage/figures/spec.pyi") == classes


@pytest.mark.parametrize("package", ["blocksim", "livepage"])
def test_a_package_says_that_it_has_types(package: str) -> None:
    assert (LIB / package / "py.typed").read_text("utf-8") == ""


def test_no_stub_is_packed_for_micropython() -> None:
    packed = portable.sources() | portable.translator()
    assert not [path for path, code in packed.items() if "typing" in code]
