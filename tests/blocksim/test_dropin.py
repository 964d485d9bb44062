"""blocksim behind numba.cuda: a project's own kernels and tests, without a GPU."""

from pathlib import Path

import pytest

from dropin import PLUGIN, run

pytestmark = pytest.mark.slow  # each project is a run of pytest

KERNELS = """
import numpy as np
import pytest
from numba import cuda, float32

@cuda.jit
def total(x, out):
    t = cuda.threadIdx.x
    s = cuda.shared.array(64, float32)
    s[t] = x[t]
    cuda.syncthreads()
    k = 32
    while k:
        if t < k:
            s[t] += s[t + k]
        cuda.syncthreads()
        k //= 2
    if t == 0:
        out[0] = s[0]

@cuda.jit
def turned(x, out):
    t = cuda.threadIdx.x
    s = cuda.shared.array(64, float32)
    s[t] = x[t]
    out[t] = s[63 - t]

@cuda.jit
def spins(x):
    while x[0] < 1:
        cuda.atomic.add(x, 1, 1)

@cuda.jit
def wanders(x, out):
    while x[0] < 2:
        x[1] += 1

@cuda.jit
def counts(x, out):
    for i in range(1 << 40):
        x[2] += 1

@cuda.jit
def stays(x, out):
    t = cuda.threadIdx.x
    out[0] += t
    half = 4
    while half > 0:
        if t == 0:
            out[1] += 1
        cuda.syncthreads()
        half -= half // 2

X, OUT = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
"""
TESTS = {
    "right": """
def test_it():
    out = cuda.device_array(1, np.float32)
    total[1, 64, cuda.stream()](cuda.to_device(X), out)
    assert out.copy_to_host()[0] == X.sum()
""",
    "forall": """
def test_it():
    d = cuda.to_device(X)
    total.forall(64, tpb=64)(d, OUT)
    assert OUT[0] == X.sum()
""",
    "racy": """
def test_it():
    turned[1, 64](X, OUT)
""",
    "declined": """
@cuda.jit
def joined(x):
    x[0] = len("two" + "words")

def test_it():
    joined[1, 1](X)
""",
    "marked": """
@pytest.mark.blocksim(benign=[{"kernel": "turned", "because": "known"}])
def test_it():
    turned[1, 64](X, OUT)
""",
    "endless": """
pytestmark = pytest.mark.blocksim(
    benign=[{"kind": "error", "because": "known"}], seconds=0.5
)

def test_spins():
    spins[1, 1](np.zeros(2, np.int32))

@pytest.mark.parametrize("kernel", [wanders, counts, stays])
def test_others(kernel):
    kernel[1, 4](np.zeros(4, np.int32), np.zeros(2, np.int32))
""",
    "from the end": """
@cuda.jit
def last(x, out):
    out[0] = x[-1]

def test_it():
    last[1, 1](X, OUT)
    last[1, 1](X[:9], OUT[1:])
    assert OUT[0] == 63 and OUT[1] == 8
""",
    "swallowed": """
import threading

def launch():
    turned[1, 64](X, OUT)

def test_caught():
    try:
        launch()
    except Exception:
        pass

def test_any_error():
    with pytest.raises(Exception):
        launch()

def test_in_a_thread():
    thread = threading.Thread(target=launch)
    thread.start()
    thread.join()

@pytest.fixture
def late():
    yield
    test_caught()

def test_in_a_fixture_that_ends(late):
    pass
""",
    "expected": """
from blocksim import Fault

def test_it():
    with pytest.raises(Fault):
        turned[1, 64](X, OUT)
""",
    "refused by Numba": """
@cuda.jit
def unknown(x):
    x[0] = nobody

def test_it():
    with pytest.raises(Exception):
        unknown[1, 1](X)
""",
    "misspelt": """
@pytest.mark.blocksim(bening=[])
def test_it():
    pass
""",
}


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What the test run of each project says."""
    folder = tmp_path_factory.mktemp("projects")
    running = {}
    for name, test in TESTS.items():
        home = folder / name.replace(" ", "_")
        home.mkdir()
        (home / "test_it.py").write_text(KERNELS + test)
        running[name] = run(home, *PLUGIN, "--blocksim")
    return {name: done.stdout + done.stderr for name, done in running.items()}


def test_a_fault_that_is_caught_or_lost_fails_its_test(
    verdicts: dict[str, str],
) -> None:
    assert "3 failed, 1 passed" in verdicts["swallowed"]
    assert "1 error" in verdicts["swallowed"], "of the fixture"
    assert "Fault: caught or lost: thread 31 reads s[32]" in verdicts["swallowed"]


RIGHT = ["right", "forall", "marked", "from the end", "expected", "refused by Numba"]


@pytest.mark.parametrize("name", RIGHT)
def test_right_kernels_pass(verdicts: dict[str, str], name: str) -> None:
    assert "1 passed" in verdicts[name], verdicts[name]


def test_a_race_fails_its_test_with_thread_array_and_line(
    verdicts: dict[str, str],
) -> None:
    said = verdicts["racy"]
    line = 1 + KERNELS.splitlines().index("    out[t] = s[63 - t]")
    assert (
        f"thread 31 reads s[32], which thread 32 has yet to write on line {line - 1}"
        in said
    )
    assert f"(line {line})" in said and "1 failed" in said
    assert "dropin/kernels.py" not in said, "the launch is shown, not the simulator"


def test_what_is_declined_is_skipped_with_its_reason(verdicts: dict[str, str]) -> None:
    assert "1 skipped" in verdicts["declined"]
    assert "blocksim: the simulator does not take this" in verdicts["declined"]


def test_what_is_passed_over_is_counted(verdicts: dict[str, str]) -> None:
    assert "passed over: turned: race (known), 1 times" in verdicts["marked"]


def test_a_negative_index_is_noted(verdicts: dict[str, str]) -> None:
    assert verdicts["from the end"].count("x[-1], which is x[63]") == 1


def test_what_is_noted_of_a_line_again_is_said_once(verdicts: dict[str, str]) -> None:
    assert "x[8]" not in verdicts["from the end"]


def test_a_launch_ends_at_its_limit(verdicts: dict[str, str]) -> None:
    said = verdicts["endless"]
    assert "spins ran for more than 0.5 seconds" in said
    for name, text in (("wanders", "while x[0] < 2:"), ("counts", "    x[2] += 1")):
        line = 1 + KERNELS.splitlines().index(f"    {text}")
        assert f"{name} ran for more than 0.5 seconds (line {line})" in said
    assert "4 failed" in said, "no policy passes over the limit"


def test_a_launch_at_its_limit_tells_its_races_first(verdicts: dict[str, str]) -> None:
    said = verdicts["endless"]
    race = said.index("thread 1 reads out[0], which thread 0 wrote")
    notes = [line for line in said[race:].splitlines() if "also: thread" in line]
    assert ": stays ran for more than 0.5 seconds" in notes[0]


def test_a_misspelt_mark_is_told(verdicts: dict[str, str]) -> None:
    assert (
        "expected the mark as blocksim(benign=[], seconds=None)" in verdicts["misspelt"]
    )


def test_without_the_option_nothing_is_changed(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "def test_it():\n    import numba.cuda\n"
        "    assert 'blocksim' not in numba.cuda.jit.__module__\n"
    )
    assert "1 passed" in run(tmp_path, *PLUGIN).stdout


def test_a_policy_passes_over_what_it_names(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(KERNELS + TESTS["racy"])
    (tmp_path / "rules.toml").write_text(
        '[[benign]]\nkernel = "turned"\narray = "s"\nbecause = "known"\n'
    )
    option = "--blocksim-policy=rules.toml"
    assert "1 passed" in run(tmp_path, *PLUGIN, "--blocksim", option).stdout
    (tmp_path / "rules.toml").write_text('[[benign]]\narray = "s"\n')
    done = run(tmp_path, *PLUGIN, "--blocksim", option)
    assert "expected `because`" in done.stderr and done.returncode == 4


def test_a_script_runs_with_its_arguments(tmp_path: Path) -> None:
    (tmp_path / "s.py").write_text(
        KERNELS + "import sys\ntotal[1, 64](X, OUT)\nprint(sys.argv, OUT[0])\n"
    )
    done = run(tmp_path, "-m", "blocksim", "s.py", "-a", "b")
    assert done.stdout == "['s.py', '-a', 'b'] 2016.0\n"
    assert done.stderr.startswith("1 launches") and done.returncode == 0
    (tmp_path / "s.py").write_text(KERNELS + "turned[1, 64](X, OUT)\n")
    done = run(tmp_path, "-m", "blocksim", "s.py")
    assert done.returncode == 1 and "thread 31 reads s[32]" in done.stderr
    caught = "try:\n    turned[1, 64](X, OUT)\nexcept Exception:\n    pass\n"
    for end in ("", "import sys\nsys.exit(0)\n"):
        (tmp_path / "s.py").write_text(KERNELS + caught + end)
        done = run(tmp_path, "-m", "blocksim", "s.py")
        assert done.returncode == 1 and "caught or lost: thread 31" in done.stderr
