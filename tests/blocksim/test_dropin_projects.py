"""What public projects' CUDA code needs of the drop-in; the tools that run their tests."""

import sys
from collections import namedtuple
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numba import cuda as numbas

from blocksim.dropin import Declined, Session
from blocksim.dropin.install import jit_of
from blocksim.faults import Fault
from tools.simulator import projects

TYPE = np.float32


def launched(kernel: Any, session: Session | None = None, n: int = 4) -> list[float]:
    """Return the numbers that one thread of a kernel leaves in an array of zeros."""
    x = np.zeros(n, np.float32)
    jit_of(session or Session())(kernel)[1, 1](x)
    return x.tolist()


@pytest.mark.parametrize("inline", [True, "always", False, "never"])
def test_a_function_that_numba_inlines_gives_back_an_array_it_made(inline: Any) -> None:
    @jit_of(Session())(device=True, inline=inline)
    def allocate(shared):
        array = numbas.local.array(2, TYPE)
        for k in range(2):
            array[k] = TYPE(3.0)
        return array

    @jit_of(Session())(device=True, inline=inline)
    def part(shared):
        return shared[1:3]

    def kernel(x):
        own = allocate(x)
        part(x)[1] = own[0]

    if inline in (True, "always"):
        assert launched(kernel) == [0, 0, 3, 0]
    else:
        with pytest.raises(Fault, match="cannot give back an array that it made"):
            launched(kernel)


def test_an_array_given_back_is_watched() -> None:
    @jit_of(Session())(device=True, inline="always")
    def allocate():
        return numbas.local.array(2, TYPE)

    def kernel(x):
        own = allocate()
        x[0] = own[1]

    with pytest.raises(Fault, match="nobody has written"):
        launched(kernel)


def test_numbas_successor_has_the_same_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its package is none of ours, so this is a small one with its names."""
    theirs = ModuleType("numba_cuda_mlir.cuda")
    stub = {"__module__": "numba_cuda_mlir.numba_cuda.stubs"}
    number = theirs.grid = type("grid", (), stub)
    monkeypatch.setitem(sys.modules, theirs.__name__, theirs)

    def kernel(x):
        x[number(1)] = theirs.blockDim.x + theirs.grid(1)

    assert launched(kernel) == [1, 0, 0, 0]


def test_a_named_tuple_around_a_kernel_has_its_names() -> None:
    sizes = namedtuple("Sizes", "rows columns")(3, 4.5)

    def kernel(x):
        x[0] = sizes.rows + sizes.columns

    assert launched(kernel) == [7.5, 0, 0, 0]


def test_a_slice_around_a_kernel_is_an_index() -> None:
    cut, rest = slice(1, 3), slice(None, None, 2)

    def kernel(x):
        x[cut] = 5.0
        part = x[rest]
        part[0] = part[1] + 1.0

    assert launched(kernel) == [6, 5, 5, 0]

    def named(x):
        mine = cut
        x[mine] = 1.0

    with pytest.raises(Declined, match="cut is a slice"):
        launched(named)


def test_texts_around_a_kernel_are_compared_before_it_runs() -> None:
    kind = "root"

    def kernel(x):
        if kind == "zero":
            x[0] = nothing_of_this_name  # noqa: F821
        elif kind == "linear" or kind != "cubic":
            x[0] = 2.0
        else:
            x[0] = 3.0

    assert launched(kernel) == [2, 0, 0, 0]


def test_a_view_of_the_same_type_is_the_array() -> None:
    def kernel(x):
        part = x[1:3].view(TYPE)
        part[0] = 4.0

    assert launched(kernel) == [0, 4, 0, 0]

    def other(x):
        x.view(np.int32)[0] = 1

    with pytest.raises(Declined, match="view"):
        launched(other)


def test_a_view_of_the_same_type_is_watched() -> None:
    def kernel(x):
        t = numbas.threadIdx.x
        x.view(TYPE)[0] = t

    with pytest.raises(Fault, match="both write"):
        jit_of(Session())(kernel)[1, 2](np.zeros(4, np.float32))


def test_a_fault_after_an_empty_line_has_its_own_line() -> None:
    def kernel(x):

        x[0] = 1.0

        x[9] = 1.0

    with pytest.raises(Fault) as found:
        launched(kernel)
    assert found.value.line == kernel.__code__.co_firstlineno + 4


@pytest.mark.parametrize(("mode", "wanted"), [("rounded", 0.0), ("race", 1.0)])
def test_float32_is_rounded_as_on_a_gpu(mode: str, wanted: float) -> None:
    def kernel(x):
        x[0] = 1e8
        x[1] = 1.0
        x[2] = (x[0] + x[1]) - x[0]

    assert launched(kernel, Session(mode=mode))[2] == wanted
    assert launched(kernel, Session())[2] == 0.0, "this is the mode of the drop-in"


def test_a_device_function_is_known_as_in_numbas_simulator() -> None:
    def function(x):
        return x

    jit = jit_of(Session())
    assert jit(device=True)(function)._device
    assert not jit(function)._device


# ---- the tools

REPORT = """<testsuites><testsuite>
<testcase classname="tests.a" name="right" time="0.5">
 <properties><property name="launches" value="3"/></properties></testcase>
<testcase classname="tests.a" name="racy" time="0.1">
 <properties><property name="launches" value="1"/></properties>
 <failure message="blocksim.faults.Fault: thread 1 reads x[4]">…</failure></testcase>
<testcase classname="tests.a" name="fixture" time="0.1">
 <error message="failed on setup with &quot;blocksim.faults.Fault: no&quot;">…</error>
 </testcase>
<testcase classname="tests.a" name="refused" time="0.1">
 <skipped type="pytest.skip" message="blocksim: no records (line 3)">…</skipped></testcase>
<testcase classname="tests.a" name="elsewhere" time="0.1">
 <skipped type="pytest.skip" message="no network">…</skipped></testcase>
<testcase classname="tests.a" name="wrong" time="0.1">
 <failure message="assert 1 == 2">…</failure></testcase>
</testsuite></testsuites>"""


def test_a_report_is_read_by_what_became_of_each_test(tmp_path: Path) -> None:
    (tmp_path / "report.xml").write_text(REPORT, "utf-8")
    rows = projects.rows(tmp_path / "report.xml")
    outcomes = {
        name.removeprefix("tests.a."): row.outcome for name, row in rows.items()
    }
    assert outcomes == {
        "right": "pass", "racy": "fault", "fixture": "fault", "refused": "declined",
        "elsewhere": "skip", "wrong": "fail",
    }  # fmt: skip
    assert rows["tests.a.right"] == projects.Row("pass", 0.5, 3, "")


def test_what_counts_is_what_numbas_simulator_launches_and_passes() -> None:
    row = projects.Row
    theirs = {
        "a": row("pass", 2.0, 1, ""), "b": row("pass", 2.0, 1, ""),
        "c": row("pass", 2.0, 1, ""), "hosts": row("pass", 2.0, 0, ""),
        "broken": row("fail", 2.0, 1, "no"), "lost": row("pass", 2.0, 1, ""),
    }  # fmt: skip
    mine = theirs | {
        "a": row("pass", 1.0, 1, ""),
        "b": row(
            "fault", 1.0, 1, "blocksim.faults.Fault: thread 1 reads x[4] (line 3)"
        ),
        "c": row("declined", 1.0, 0, "blocksim: no records"),
        "broken": row("pass", 1.0, 1, ""),
    }
    del mine["lost"]
    found = projects.compared(theirs, mine)
    assert [found[what] for what in ("tests", "pass", "fault", "declined", "fail")] == [
        4, 1, 1, 1, 1,
    ]  # fmt: skip
    assert found["only blocksim passes"] == 1 and found["median ratio"] == 0.5
    assert list(found["not passed"]) == ["b", "c", "lost"]


TESTS = """
import numpy as np
from numba import cuda

@cuda.jit
def twice(x):
    x[cuda.threadIdx.x] *= 2

@cuda.jit
def racy(x):
    x[0] = cuda.threadIdx.x

def test_launches():
    x = np.ones(2)
    twice[1, 2](x)
    twice[1, 2](x)
    assert x.tolist() == [4, 4]

def test_has_a_race():
    racy[1, 2](np.ones(2))

def test_launches_nothing():
    assert not cuda.is_cuda_array(np.ones(2))
"""


@pytest.mark.slow
def test_a_project_runs_under_both_simulators(tmp_path: Path, monkeypatch: Any) -> None:
    (tmp_path / "test_it.py").write_text(TESTS)
    project = projects.Project("", "", ("test_*.py",), lacking=("is_cuda_array",))
    monkeypatch.setitem(projects.PROJECTS, "small", project)
    found = {
        simulator: projects.run(Path(sys.executable), "small", tmp_path, simulator)[0]
        for simulator in projects.SIMULATORS
    }
    launches = [row.launches for row in found["cudasim"].values()]
    assert launches == [2, 1, 0]
    assert {row.outcome for row in found["cudasim"].values()} == {"pass"}
    assert [row.outcome for row in found["blocksim"].values()] == [
        "pass", "fault", "pass",
    ]  # fmt: skip
    assert [row.launches for row in found["blocksim"].values()] == launches


@pytest.mark.parametrize("name", projects.PROJECTS)
def test_a_projects_policy_can_be_read(name: str) -> None:
    from blocksim.dropin import policy

    file = projects.BESIDE / f"{name}.toml"
    assert file.exists() == projects.PROJECTS[name].policy
    if file.exists():
        assert policy.read(file).benign
