"""The compile gate: what is stored is what ships, and planted faults turn it red.

`make test` runs the gate itself before these tests (tools/kernels.py). What needs the
compiler runs in its environment, .venv-gpu, and is skipped where there is none.
"""

import copy
import json
import os
import subprocess
import textwrap
from pathlib import Path

import pytest

from onlinesoftmax.gpu import RUNGS, WIDTHS, Build, reports
from tools import kernels


@pytest.fixture(scope="module")
def stored() -> dict:
    return json.loads(kernels.STORED.read_text("utf-8"))


# ---- what is stored ----


def test_every_kernel_that_ships_is_stored_and_as_it_should_be(stored: dict) -> None:
    assert kernels.complaints(stored) == []
    for rung in RUNGS:
        for d in WIDTHS:
            build = Build.shipped(rung, d)
            for arch in reports.ARCHS:
                for dtype in reports.DTYPES:
                    report = reports.stored(rung, d, arch, dtype=dtype)
                    assert (report.block_q, report.block_k) == (build.block_q,
                                                                build.block_k)
                    assert report.registers and report.float64 == report.local == 0
                    assert report.spills == 0 or d == 128


def test_the_sizes_of_the_sliders_are_stored() -> None:
    for rows in kernels.ROWS:
        for keys in kernels.KEYS:
            for rung in ("tiled", "registers"):
                report = reports.stored(rung, 64, "sm_80", tile=(rows, keys))
                assert report.shared == Build(rung, 64, rows, keys).shared
                assert (report.registers is None) == (report.shared > 48 * 1024)


def test_what_is_not_stored_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing stored for 'tiled', 96"):
        reports.stored("tiled", 96, "sm_80")


# ---- the rules ----


def changed(stored: dict, **change: object) -> dict:
    """What is stored, with the first report of rung 2 at d = 64 changed."""
    found = copy.deepcopy(stored)
    place = next(i for i, row in enumerate(found["rows"]) if row[:2] == ["tiled", 64])
    report = reports.Report(*found["rows"][place])._replace(**change)
    found["rows"][place] = list(report)
    return found


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"float64": 3}, "3 float64 instructions"),
        ({"local": 2}, "2 local arrays in memory"),
        ({"spills": 8}, "8 bytes spilled"),
        ({"registers": None, "spills": None}, "more than a block has"),
        ({"shared": 16388}, "16388 bytes of shared memory, not the 16384"),
    ],
)
def test_a_fault_in_a_report_is_a_complaint(stored: dict, change: dict, says: str):
    said = kernels.complaints(changed(stored, **change))
    assert len(said) == 1 and says in said[0] and "tiled d=64 float32 sm_75" in said[0]


def test_figures_that_differ_from_the_stored_ones_are_a_complaint(stored: dict) -> None:
    assert kernels.differences(stored, stored) == []
    said = kernels.differences(changed(stored, registers=99), stored)
    assert len(said) == 1 and "tiled 64 float32 sm_75" in said[0] and "99" in said[0]
    assert kernels.differences(stored, stored | {"rows": stored["rows"][1:]})
    assert kernels.differences(stored | {"columns": ["rung"]}, stored)


def test_figures_of_another_compiler_are_not_compared(
    stored: dict, capsys: pytest.CaptureFixture
) -> None:
    found = changed(stored, registers=99)
    assert kernels.check(found)
    assert kernels.check(found | {"versions": {"Python": "3.99"}}) == []
    assert "not compared" in capsys.readouterr().out


def test_a_changed_kernel_is_compiled_again(
    monkeypatch, tmp_path: Path, stored: dict
) -> None:
    before = kernels.key([])
    for file in kernels.SOURCES.glob("*.py"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    monkeypatch.setattr(kernels, "SOURCES", tmp_path)
    assert kernels.key([]) == before
    tiled = tmp_path / "tiled.py"
    tiled.write_text(f"{tiled.read_text('utf-8')}\n# a remark\n", "utf-8")
    assert kernels.key([]) == before and kernels.check(stored) == []
    tiled.write_text("another = kernel", "utf-8")
    assert kernels.key([]) != before
    assert kernels.check(stored) == ["kernels.json is of other kernels: run `make kernels`"]


def test_where_there_is_no_linux_the_gate_says_so(monkeypatch, capsys) -> None:
    monkeypatch.setattr(kernels.sys, "platform", "darwin")
    assert kernels.gate() == []
    assert capsys.readouterr().out.count("\n") == 1


def test_without_its_packages_the_gate_fails_in_ci_and_else_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    def fails() -> None:
        raise kernels.NoCompiler("pip could not install it")

    monkeypatch.setattr(kernels.sys, "platform", "linux")
    monkeypatch.setattr(kernels, "environment", fails)
    monkeypatch.setenv("CI", "true")
    assert kernels.gate() == ["pip could not install it"]
    monkeypatch.delenv("CI")
    assert kernels.gate() == []
    assert capsys.readouterr().out.count("\n") == 1


# ---- planted faults, and the compiler ----

PLANT = """
import importlib.util, inspect, json, pathlib, sys
from onlinesoftmax.gpu import Build, compile_report, ladder

def planted(rung, right, wrong, folder=pathlib.Path(sys.argv[1])):
    source = inspect.getsource(inspect.getmodule(getattr(ladder, rung)))
    assert right in source
    file = folder / f"{rung}_planted.py"
    file.write_text(source.replace(right, wrong, 1))
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    setattr(ladder, rung, getattr(module, rung))
    return compile_report(rung, "sm_80").faults()

tiled = ladder.tiled
said = {"as it ships": compile_report("tiled", "sm_80").faults()}
said["literal"] = planted("tiled", "l = float32(0.0)", "l = 0.0")
ladder.tiled = tiled
said["index"] = planted("naive", "= o[c] * inverse", "= o[(c + first) % d] * inverse")
ladder.BLOCKS["tiled", 64] = 6
said["spill"] = compile_report("tiled", "sm_80").faults()
said["tile"] = compile_report(Build("tiled", 128, 128, 64), "sm_80").faults()
print(json.dumps(said))
"""


@pytest.mark.skipif(not kernels.PYTHON.exists(), reason="no .venv-gpu: `make kernels`")
def test_planted_faults_turn_the_compiler_s_report_red(tmp_path: Path) -> None:
    env = {**os.environ, "PYTHONPATH": str(kernels.ROOT / "lib")}
    done = subprocess.run(
        [kernels.PYTHON, "-c", textwrap.dedent(PLANT), tmp_path],
        capture_output=True, text=True, env=env,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    said = json.loads(done.stdout)
    assert said["as it ships"] == []
    assert "float64 instructions" in said["literal"][0]
    assert any("local arrays" in fault for fault in said["index"])
    assert "bytes spilled" in said["spill"][0]
    assert said["tile"] == ["65536 bytes of shared memory: more than a block has"]
