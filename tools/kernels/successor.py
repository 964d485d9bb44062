"""Compiles portable rungs by the newest numba-cuda and by its successor, and runs them.

python -m tools.kernels.successor [numba-cuda | numba-cuda-mlir] …

Each compiler gets a new environment with its newest version. What it makes of a rung is
linked for each architecture that reports are stored for, and the PTX runs on the PTX
machine, under every kind of mask. It needs Linux or Windows, and no GPU.
"""

import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path

from tools.common import options
from tools.common.environments import fresh, variables
from tools.common.paths import ROOT

COMPILERS = {
    "numba-cuda": ("numba-cuda[cu12]", "numpy<2.5"),  # it asks for numpy.row_stack
    "numba-cuda-mlir": ("numba-cuda-mlir[cu12]", "numba", "numpy"),
}
ADVICE = """\
  {name}: a rung that compiled before does not now, or its answers are off. Readers are on
  the version of requirements-gpu.txt. Mend `lib/kernellab/compile.py` or `mlir.py`, and say
  on the page *The library* which of the two compilers a reader should take.
"""


def here(name: str) -> int:
    """Compile and run every rung by one compiler, which is installed here."""
    from importlib.metadata import version

    from kernellab import compile, reports, trial
    from tiledattention.gpu import PORTABLE, WIDTHS
    from tiledattention.gpu.ladder import Build
    from tools.kernels import compiled

    wrong = 0
    print(f"  {name} {version(name)}")
    for rung, d, arch in product(PORTABLE, WIDTHS, reports.ARCHS):
        for dtype in reports.compiled_for(rung)[1]:
            case = trial.Case(rung, d, dtype, *compiled.EVERYTHING)
            try:
                made = {
                    build: compile.launched(
                        build, arch, dtype, lines=False, compiler=name
                    )
                    for build in Build.shipped(rung, d).launches
                }
                texts = {build: code.ptx for build, code in made.items()}
                said = compiled.judge(case, texts)
            except Exception as error:  # whatever a compiler may raise
                said = f"{type(error).__name__}: {' '.join(str(error).split())[:160]}"
            else:
                first, code = next(iter(made.items()))
                registers = compile.report_of(first, arch, dtype, code).registers
                bounds = "" if ".maxntid" in code.ptx else "; launch bounds are lost"
                said = said or f"right; {registers or '–'} registers{bounds}"
            wrong += not said.startswith("right")
            print(f"    {rung:10}{d:4} {dtype} {arch}: {said}", flush=True)
    return bool(wrong)


def main() -> int:
    if sys.argv[1:2] == ["--here"]:
        return here(sys.argv[2])
    names = options.parse(COMPILERS) or list(COMPILERS)
    failed = []
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            python = fresh(Path(folder, "env"), *COMPILERS[name])
            command = [python, "-m", "tools.kernels.successor", "--here", name]
            env = variables() | {"NUMBA_ENABLE_CUDASIM": "0"}
            failed += [name] * bool(subprocess.call(command, cwd=ROOT, env=env))
    print(*(ADVICE.format(name=name) for name in failed), end="")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
