"""The compile gate: what is stored is what ships, and planted faults turn it red.

`make test-all` runs the gate itself before these tests (tools/kernels/gate.py). What needs the
compiler runs in its environment, .venv-gpu, and is skipped where there is none.
"""

import copy
import json
import os
import shutil
import subprocess
import textwrap
from itertools import product
from pathlib import Path

import pytest

from kernellab import reports
from kernellab.compile import compile_report
from tiledattention.gpu import RUNGS, WIDTHS, Build
from tiledattention.gpu.nvidia import OTHER_CODE
from tiledattention.gpu.nvidia import compiled as ready
from tools.kernels import gate as kernels


@pytest.fixture(scope="module")
def stored() -> dict:
    return json.loads(kernels.STORED.read_text("utf-8"))


# ---- what is stored ----


def test_every_kernel_that_ships_is_stored_and_as_it_should_be(stored: dict) -> None:
    assert kernels.complaints(stored) == []
    for rung in RUNGS:
        for d in WIDTHS:
            build = Build.shipped(rung, d)
            for arch, dtype in product(*reports.compiled_for(rung)):
                report = reports.stored(rung, d, arch, dtype=dtype)
                assert report[4:6] == (build.block_q, build.block_k)
                assert report.registers and report.float64 == report.spills == 0
                assert report.local == 0 or arch not in kernels.ON_PAGES


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
        ({"shared": 16388}, "16388 bytes of shared memory, not the 17408"),
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
    before = kernels.key([], [])
    copied = tmp_path / kernels.RUNGS.relative_to(kernels.LIB)
    shutil.copytree(kernels.RUNGS, copied)
    shutil.copytree(kernels.LAB, tmp_path / "kernellab")
    for name, path in {"LIB": tmp_path, "RUNGS": copied}.items():
        monkeypatch.setattr(kernels, name, path)
    assert kernels.key([], []) == before
    counted = kernels.key([], [("tiled",)])
    tiled = copied / "rungs" / "tiled.py"
    reworded = tiled.read_text("utf-8").replace("Rung 2", "The second rung")
    tiled.write_text(f"{reworded}\n# a remark\n", "utf-8")
    assert kernels.key([], []) == before and kernels.check(stored) == []
    assert kernels.key([], [("tiled",)]) != counted  # its lines have moved
    tiled.write_text("another = kernel", "utf-8")
    assert kernels.key([], []) != before
    assert kernels.check(stored) == [
        "kernels.json is of other kernels: run `make kernels`"
    ]


def test_where_there_is_no_linux_the_gate_says_so(monkeypatch, capsys) -> None:
    monkeypatch.setattr(kernels.sys, "platform", "darwin")
    assert kernels.gate() == []
    assert capsys.readouterr().out.count("\n") == 1


def test_without_its_packages_the_gate_fails_in_ci_and_else_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    def fails() -> None:
        raise kernels.environments.NotInstalled("pip could not install it")

    monkeypatch.setattr(kernels.sys, "platform", "linux")
    monkeypatch.setattr(kernels, "environment", fails)
    monkeypatch.setenv("CI", "true")
    assert kernels.gate() == ["pip could not install it"]
    monkeypatch.delenv("CI")
    assert kernels.gate() == []
    assert capsys.readouterr().out.count("\n") == 1


# ---- where there is no compiler ----


def test_a_report_without_the_compiler_says_what_is_missing() -> None:
    with pytest.raises(RuntimeError, match="compile_report needs .* numba-cuda"):
        compile_report("naive", "sm_80")


def test_plain_numba_compiles_with_the_options_it_knows() -> None:
    options = ready(Build.shipped("naive", 64)).targetoptions
    assert options["fastmath"] and not {"lto", "launch_bounds"} & options.keys()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"kernel": ["naive"]}, "kernel: expected one of"),
        ({"arch": 80}, "arch: expected one of"),
        ({"arch": ["sm_80"]}, "arch: expected one of"),
        ({"d": "64"}, "d: expected a positive integer, got '64'"),
        ({"d": 64.5}, "d: expected a positive integer"),
        ({"dtype": float}, "dtype: expected one of"),
    ],
)
def test_a_report_of_nothing_is_refused(change: dict, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        compile_report(**{"kernel": "naive", "arch": "sm_80"} | change)


# ---- planted faults, and the compiler ----

PLANT = """
import importlib.util, json, pathlib, sys
from kernellab.compile import compile_report
from tiledattention.gpu import Build
from tiledattention.gpu.ladder import LADDER

def planted(rung, right, wrong, folder=pathlib.Path(sys.argv[1])):
    source = LADDER[rung].source.read_text("utf-8")
    assert right in source
    file = folder / f"{rung}_planted.py"
    file.write_text(source.replace(right, wrong, 1), "utf-8")
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    LADDER[rung] = module.RUNG
    return compile_report(rung, "sm_80").faults()

tiled = LADDER["tiled"]
said = {"as it ships": compile_report("tiled", "sm_80").faults()}
said["literal"] = planted("tiled", "l = float32(0.0)", "l = 0.0")
LADDER["tiled"] = tiled
said["index"] = planted("naive", "= o[c] * inverse", "= o[(c + first) % d] * inverse")
tiled.blocks = {64: 6}
said["spill"] = compile_report("tiled", "sm_80").faults()
said["tile"] = compile_report(Build("tiled", 128, 128, 64), "sm_80").faults()
print(json.dumps(said))
"""


def compiled(program: str, *arguments: str | Path) -> str:
    """Return what a program prints in the environment that has the compiler."""
    if not kernels.PYTHON.exists():
        pytest.skip("no .venv-gpu: `make kernels`")
    env = {**os.environ, "PYTHONPATH": str(kernels.ROOT / "lib")}
    done = subprocess.run(
        [kernels.PYTHON, "-c", textwrap.dedent(program), *arguments],
        capture_output=True, text=True, env=env,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_planted_faults_turn_the_compiler_s_report_red(tmp_path: Path) -> None:
    said = json.loads(compiled(PLANT, tmp_path))
    assert said["as it ships"] == []
    assert "float64 instructions" in said["literal"][0]
    assert "local arrays" in str(said["index"])
    assert "bytes spilled" in said["spill"][0]
    assert said["tile"] == ["69632 bytes of shared memory: more than a block has"]


COUNT = """
import json
import numpy as np
from numba import cuda, float32
from kernellab import lab

def kernel(x, y, n):
    i = cuda.grid(1)
    if i < n:
        y[i] = x[i] * float32(3.0) + float32(1.0)

def races(x, y, n):
    y[0] = x[cuda.grid(1)]

x, y = np.ones(70, np.float32), np.zeros(70, np.float32)
found = lab.count(kernel, 3, 32, x, y, np.int32(70), outputs=[1])
first = kernel.__code__.co_firstlineno
said = {"kinds": found.machine.by_kind(), "right": bool((y == 4).all())}
said["last line"] = found.by_line()[first + 3]
for name, wrong in (("race", (races, 3, 32, x, y, np.int32(70))),
                    ("type", (kernel, 3, 32, x, y, 70))):
    try:
        lab.count(*wrong, outputs=[1])
    except Exception as problem:
        said[name] = f"{type(problem).__name__}: {problem}"
print(json.dumps(said))
"""


def test_the_laboratory_counts_a_reader_s_kernel(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(textwrap.dedent(COUNT), "utf-8")
    said = json.loads(compiled(f"import runpy; runpy.run_path({str(file)!r})"))
    assert said["right"]
    assert said["kinds"]["fma"] == said["last line"]["fma"] == 3  # one for each warp
    assert said["kinds"]["global"] == said["last line"]["global"] == 6
    assert said["kinds"]["shared"] == said["kinds"]["special"] == 0
    assert said["race"].startswith("Fault") and "mine.py" in said["race"]
    assert (
        said["type"].startswith("TypeError: args[2]: expected") and "70" in said["type"]
    )


# Numba's own code for a launch, told that an A100 is there; names apart, its PTX.
LAUNCHED = """
import re
from types import SimpleNamespace
from numba.cuda import codegen, dispatcher
from kernellab import compile
from tiledattention.gpu import Build, nvidia

dispatcher.get_current_device = lambda: SimpleNamespace(compute_capability=(8, 0))
codegen.CUDACodeLibrary._ensure_cc = lambda self, cc: cc or (8, 0, "")
wanted, found = [], compile.cuda.compile

def remember(kernel, arguments, **options):
    wanted.append(arguments)
    return found(kernel, arguments, **options)

def plain(ptx):
    ptx = re.sub(r"[\\w$]*kernel[\\w$]*|_cudapy_smem_\\d+|//.*", "", ptx)
    return ptx.strip("\\0\\n ")

compile.cuda.compile = remember
build = Build.shipped("tiled", 64)
reported = compile.link(compile.to_ltoir(build, "sm_80"), "sm_80", "-ptx").ptx
jitted = nvidia.compiled(build)
runs = dispatcher._Kernel(build.kernel, wanted[-1], **jitted.targetoptions)
print(plain(runs.library.get_lto_ptx(cc=(8, 0))) == plain(reported))
"""


def test_what_is_reported_is_what_a_launch_runs() -> None:
    assert compiled(LAUNCHED).strip() == "True"


NO_LINKER = """
from numba.cuda import decorators
from kernellab import compile
from tiledattention.gpu import Build, nvidia

decorators._have_nvjitlink = lambda: False
nvidia.has_gpu = lambda: True
print(nvidia.compiled(Build.shipped("naive", 64)).targetoptions["lto"])
compile.has_linker = lambda: False
try:
    compile.compile_report("naive", "sm_80")
except RuntimeError as missing:
    print(missing)
"""


def test_without_nvjitlink_kernels_run_and_it_is_said_that_reports_are_others() -> None:
    said = compiled(NO_LINKER).splitlines()
    assert said[0] == OTHER_CODE and said[1] == "False"
    assert said[2].startswith("compile_report needs nvJitLink 12.3 or later")
