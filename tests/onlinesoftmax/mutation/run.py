"""Change the ideas floor one token at a time, and see which changes no test notices.

    python tests/onlinesoftmax/mutation/run.py [module …]

runs mutmut, over all modules of the floor or over some, and compares what survives with
survivors.yml: it fails if something else does, or if something there no longer does.
A good ten minutes on two cores, so this is no part of `make test`.
"""

import shutil
import subprocess
import sys
from pathlib import Path

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from statements import functions, statement, statements

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
FIELD = ROOT / "_build" / "mutation"
FLOOR = ["inputs", "masks", "dense", "state", "exact", "streaming", "backward"]
TESTS = [
    "../conftest",
    "../exact",
    "../planting",
    "../problems",
    "test_attention",
    "test_backward",
    "test_dense",
    "test_exact_blocks",
    "test_masks",
    "test_state",
    "test_streaming",
]
# Left out: examples, since mutmut copies every docstring into every mutant; tests that
# plant faults themselves; those that count calls or take their time. The table tells it
# that the field, not the repository around it, is where tests live.
LEFT_OUT = "examples or fault or sixteen or memory or million"
CONFIGURATION = """[tool.pytest.ini_options]
testpaths = ["tests"]

[tool.mutmut]
source_paths = ["src"]
do_not_mutate = ["*/__init__.py"]
pytest_add_cli_args = ["-p", "no:cacheprovider", "-k", "not (%s)"]
pytest_add_cli_args_test_selection = ["tests"]
"""


def lay_out() -> None:
    """Copy the floor and its tests: mutmut knows a package under src/, not lib/."""
    shutil.rmtree(FIELD, ignore_errors=True)
    package, tests = FIELD / "src" / "onlinesoftmax", FIELD / "tests"
    package.mkdir(parents=True)
    tests.mkdir()
    for name in ["__init__", *FLOOR]:
        shutil.copy(ROOT / "lib" / "onlinesoftmax" / f"{name}.py", package)
    for name in TESTS:
        shutil.copy(HERE.parent / f"{name}.py", tests)
    (FIELD / "pyproject.toml").write_text(CONFIGURATION % LEFT_OUT)


def mutmut(*arguments: str, show: bool = False) -> str:
    """Run mutmut in the field, and return what it says, or let it say it itself."""
    command = [sys.executable, "-m", "mutmut", *arguments]
    to = None if show else subprocess.PIPE
    done = subprocess.run(command, cwd=FIELD, stdout=to, text=True)
    if done.returncode:
        sys.exit(f"mutmut {' '.join(arguments)}: exit status {done.returncode}")
    return done.stdout


def difference(mutant: str) -> tuple[str, str, str]:
    """Return the function a mutant is in, and its statement before and after."""
    _, module, mangled = mutant.split(".", 2)
    name = mangled.partition("__mutmut_")[0]
    file = FIELD / "mutants" / "src" / "onlinesoftmax" / f"{module}.py"
    made = {
        full.rpartition(".")[2]: function
        for full, function in functions(file.read_text("utf-8")).items()
    }
    both = statements(made[f"{name}__mutmut_orig"]), statements(made[mangled])
    was, now = next(pair for pair in zip(*both, strict=True) if len(set(pair)) == 2)
    function = name.removeprefix("x_").removeprefix("xǁ").replace("ǁ", ".")
    return f"{module}.{function}", was, now


def report(title: str, mutants: set[tuple[str, str, str]]) -> None:
    """Print some mutants, as they would stand in survivors.yml."""
    if mutants:
        print(f"\n{title}:")
        fields = [dict(zip(("in", "was", "now"), mutant)) for mutant in sorted(mutants)]
        print(yaml.safe_dump(fields, sort_keys=False, allow_unicode=True, width=1000))


def main(modules: list[str]) -> None:
    lay_out()
    wanted = [f"onlinesoftmax.{module}.*" for module in modules]
    mutmut("run", "--max-children", "2", *wanted, show=True)
    lines = [line.strip().partition(": ") for line in mutmut("results").splitlines()]
    known_fates = ("killed", "timeout", "not checked")
    unnoticed = [name for name, _, fate in lines if fate not in known_fates]
    found = {difference(name) for name in unnoticed if "__mutmut_" in name}
    listed = yaml.safe_load((HERE / "survivors.yml").read_text("utf-8"))
    known = {
        (mutant["in"], statement(mutant["was"]), statement(mutant["now"]))
        for mutant in listed
        if not modules or mutant["in"].partition(".")[0] in modules
    }
    report("No test notices, and survivors.yml does not say why", found - known)
    report("In survivors.yml, but noticed or gone", known - found)
    print(f"{len(found)} changes survive, {len(known)} are explained")
    sys.exit(found != known)


if __name__ == "__main__":
    main(sys.argv[1:])
