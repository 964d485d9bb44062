"""``pytest --blocksim`` and ``python -m blocksim`` in other people's projects."""

from pathlib import Path

import pytest

from blocksim.dropin import policy
from dropin import PLUGIN, run, write

pytestmark = pytest.mark.slow  # each project is a run of pytest

FILES = {
    # Another plugin, which imports Numba, and has a kernel, before blocksim's.
    "early.py": """
from numba import cuda

@cuda.jit
def racy(x):
    x[0] += cuda.grid(1)
""",
    "package/__init__.py": "",
    "package/device.py": """
from numba import cuda

@cuda.jit(device=True)
def following(x, i):
    return x[i + 1]
""",
    "package/kernels.py": """
import numpy as np
from numba import cuda
from . import device

@cuda.jit
def shift(x):
    i = cuda.grid(1)
    x[i] = device.following(x, i)

@cuda.jit
def declined(x):
    x[0] = len("two" + "words")

def doctested():
    \"\"\"
    >>> declined[1, 1](np.zeros(1))
    >>> doctested()
    \"\"\"
""",
    "test_places.py": """
import numpy as np
from package.kernels import shift

def test_places():
    shift[1, 8](np.zeros(9))
""",
    "test_swallowed.py": """
import threading
import unittest
import numpy as np
import pytest
from package.kernels import declined

X = np.zeros(1)

def test_raises():
    with pytest.raises(Exception):
        declined[1, 1](X)

def test_caught():
    try:
        declined[1, 1](X)
    except Exception:
        pass

@pytest.mark.filterwarnings("ignore")
def test_thread():
    thread = threading.Thread(target=declined[1, 1], args=(X,))
    thread.start()
    thread.join()

class TestCase(unittest.TestCase):
    def test_subtest(self):
        with self.subTest(1):
            declined[1, 1](X)

@pytest.fixture
def launched():
    yield
    declined[1, 1](X)

def test_before_the_fixture_ends(launched):
    pass

def test_after():
    pass
""",
    "test_import.py": """
import numpy as np
from package.kernels import declined

declined[1, 1](np.zeros(1))

def test_it():
    pass
""",
    "test_early.py": """
import early
import numba
import numpy as np

def test_early():
    assert numba.config.ENABLE_CUDASIM
    early.racy[1, 8](np.zeros(1))
""",
    "test_names.py": """
import numba
import numpy as np
from numba import cuda
from numba.cuda import CudaSupportError, grid, jit, libdevice, threadIdx
from numba.cuda.cudadrv.devicearray import DeviceNDArray
from numba.cuda.random import create_xoroshiro128p_states
from numba import types
from numba.types import float64
from numba.cuda import types as others

@jit(func_or_sig="void(float64[:])")
def filled(x):
    tile = cuda.shared.array(4, types.float64)
    line = cuda.local.array(1, others.float64)
    line[0] = tile[cuda.threadIdx.x] = float64(cuda.threadIdx.x)
    x[grid(1)] = line[0]

def test_names_imported_from_numba():
    x = cuda.device_array(4)
    filled[1, 4](x)
    assert isinstance(x, DeviceNDArray) and x.tolist() == [0, 1, 2, 3]
    assert issubclass(CudaSupportError, Exception) and cuda.cuda_error() is None

def test_no_library_of_a_gpu():
    @jit
    def sine(x):
        x[0] = libdevice.sin(x[0])
    sine[1, 1](np.zeros(1))

@numba.vectorize(["float32(float32)"], target="cuda")
def same(x):
    return x

def test_no_vectorize():
    same(np.zeros(1, np.float32))
""",
}


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What one test run of the whole project says."""
    home = tmp_path_factory.mktemp("project")
    write(home, FILES)
    options = ("--blocksim", "--doctest-modules", "-p", "early", "-W", "error")
    done = run(home, *PLUGIN, *options)
    assert "INTERNALERROR" not in done.stdout + done.stderr
    return done.stdout + done.stderr


def line_of(file: str, text: str) -> int:
    return 1 + FILES[file].splitlines().index(text)


def test_a_fault_names_the_files_and_lines_of_both_accesses(said: str) -> None:
    now = line_of("package/kernels.py", "    x[i] = device.following(x, i)")
    before = line_of("package/device.py", "    return x[i + 1]")
    said = said.replace("\\", "/")
    assert f" package/kernels.py:{now}: x[i] = device.following(x, i)" in said
    assert f" package/device.py:{before}: return x[i + 1]" in said
    assert f"package/kernels.py:{before}: " not in said, (
        "another file has that line too"
    )
    assert "FAILED test_places.py::test_places" in said


@pytest.mark.parametrize(
    "test", ["raises", "caught", "thread", "subtest", "before_the_fixture_ends"]
)
def test_a_declined_kernel_that_a_test_swallows_does_not_pass(
    said: str, test: str
) -> None:
    passed = {line for line in said.splitlines() if line.startswith("PASSED")}
    once = test == "before_the_fixture_ends"  # the fault is in the fixture's end
    assert once == any(line.endswith(f"test_{test}") for line in passed)
    assert f"::test_{test} -" not in said  # neither FAILED nor ERROR
    assert "PASSED test_swallowed.py::test_after" in passed


def test_swallowed_tests_are_skipped_with_the_reason(said: str) -> None:
    skipped = [line for line in said.splitlines() if "test_swallowed.py:" in line]
    skipped = [line for line in skipped if line.startswith("SKIPPED")]
    assert len(skipped) == 5
    assert [line[:11] for line in skipped].count("SKIPPED [2]") == 1, "the subtest"
    assert not [line for line in skipped if "does not take this" not in line]


def test_a_module_that_launches_what_is_declined_is_skipped(said: str) -> None:
    assert "] test_import.py:1: blocksim: the simulator does not take this" in said


def test_a_doctest_that_launches_what_is_declined_is_skipped(said: str) -> None:
    assert "FAILED package" not in said and "ERROR package" not in said
    line = line_of("package/kernels.py", "def doctested():")
    assert f"kernels.py:{line + 1}: blocksim: the simulator" in said


def test_kernels_made_before_the_plugin_run_on_the_simulator(said: str) -> None:
    assert "FAILED test_early.py::test_early - blocksim.faults.Fault: thread 1" in said


def test_numbas_other_names_are_there_or_declined(said: str) -> None:
    assert "PASSED test_names.py::test_names_imported_from_numba" in said
    assert "blocksim: same: vectorize for cuda is not simulated" in said
    assert "libdevice is nothing that a kernel here can use" in said


def test_the_end_counts_faults_and_declined_launches(said: str) -> None:
    assert ", 2 with faults; 9 declined" in said


def test_a_wrong_mark_is_told_before_any_test_runs(tmp_path: Path) -> None:
    test = (
        "import pytest\n\ndef test_a():\n    print('ran')\n\n"
        "@pytest.mark.blocksim(seconds=0)\nclass TestB:\n    def test_b(self): pass\n"
    )
    write(tmp_path, {"test_it.py": test})
    done = run(tmp_path, *PLUGIN, "--blocksim")
    message = "test_it.py::TestB::test_b: the mark: seconds: expected a number above 0"
    assert message in done.stderr and done.returncode == 4
    assert "PASSED" not in done.stdout


@pytest.mark.parametrize(
    ("benign", "message"),
    [
        ("text", "expected a list, got 'text'"),
        ({"kernel": "k", "because": "known"}, "expected a list, got {"),
        ([3], "expected a table, got 3"),
        ([{"kernel": "k"}], "expected `because`"),
    ],
)
def test_a_mark_with_another_value_is_refused(benign: object, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        policy.Policy().with_marks(benign, None)
    assert message in str(caught.value)


# Programs ----------------------------------------------------------------------

SCRIPT = """
import numpy as np
from numba import cuda

@cuda.jit
def racy(x):
    x[0] += cuda.grid(1)

def main():
    racy[1, 8](np.zeros(1))

main()
"""


def test_a_program_ends_with_its_own_traceback(tmp_path: Path) -> None:
    write(tmp_path, {"s.py": SCRIPT})
    done = run(tmp_path, "-m", "blocksim", "s.py")
    files = [
        line.split('"')[1] for line in done.stderr.splitlines() if "  File" in line
    ]
    assert files == ["s.py", "s.py"] and done.returncode == 1
    assert "s.py:7: x[0] += cuda.grid(1)" in done.stderr
    assert "1 launches in" in done.stderr and "1 with faults" in done.stderr


def test_a_program_that_is_not_there_is_told(tmp_path: Path) -> None:
    done = run(tmp_path, "-m", "blocksim", "nothing.py")
    assert "nothing.py: expected a Python file, and there is none" in done.stderr
    assert done.returncode == 2


def test_without_numba_the_error_says_what_to_install(tmp_path: Path) -> None:
    write(tmp_path, {"s.py": SCRIPT})
    start = (
        "import runpy, sys; sys.modules['numba'] = None;"
        " sys.argv = ['blocksim', 's.py']; runpy.run_module('blocksim', alter_sys=True,"
        " run_name='__main__')"
    )
    done = run(tmp_path, "-c", start)
    assert "expected numba to be installed: pip install numba" in done.stderr
    assert done.returncode == 2


def test_a_fault_in_a_pools_worker_comes_back(tmp_path: Path) -> None:
    script = SCRIPT.rpartition("main()")[0] + (
        "if __name__ == '__main__':\n"
        "    import multiprocessing\n"
        "    with multiprocessing.get_context('fork').Pool(1) as pool:\n"
        "        pool.apply(main)\n"
    )
    write(tmp_path, {"s.py": script})
    done = run(tmp_path, "-m", "blocksim", "s.py")
    assert "Fault: thread 1 reads x[0]" in done.stderr and done.returncode == 1


def test_the_workers_of_xdist_say_what_they_launched(tmp_path: Path) -> None:
    pytest.importorskip("xdist")
    test = SCRIPT.rpartition("main()")[0] + "def test_it():\n    main()\n"
    write(tmp_path, {"test_it.py": test})
    done = run(tmp_path, *PLUGIN, "--blocksim", "-n", "1")
    assert "gw0: 1 launches in" in done.stdout and "0 launches" not in done.stdout
    assert "test_it.py:7: x[0] += cuda.grid(1)" in done.stdout
