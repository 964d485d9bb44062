"""blocksim behind numba.cuda: a project's own kernels and tests, without a GPU."""

from pathlib import Path

import numpy as np
import pytest

from blocksim.dropin import arrays, devices, policy
from dropin import PLUGIN, run

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
    "misspelt": """
@pytest.mark.blocksim(bening=[])
def test_it():
    pass
""",
}


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What each project's test run says; all run at once."""
    folder = tmp_path_factory.mktemp("projects")
    running = {}
    for name, test in TESTS.items():
        home = folder / name.replace(" ", "_")
        home.mkdir()
        (home / "test_it.py").write_text(KERNELS + test)
        running[name] = run(home, *PLUGIN, "--blocksim")
    return {name: done.stdout + done.stderr for name, done in running.items()}


@pytest.mark.parametrize("name", ["right", "forall", "marked", "from the end"])
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


# The host's side ---------------------------------------------------------------


def test_a_device_array_is_a_copy() -> None:
    x = np.arange(6.0).reshape(2, 3)
    d = arrays.to_device(x)
    x[0, 0] = 7
    assert d.copy_to_host()[0, 0] == 0 and type(d.copy_to_host()) is np.ndarray
    out = np.empty((2, 3))
    assert d.copy_to_host(out) is out and (out == d).all()
    d.copy_to_device(x)
    assert d[0, 0] == 7 and d[1:].copy_to_host().tolist() == [[3.0, 4.0, 5.0]]
    assert [part.tolist() for part in d.ravel().split(4)] == [[7, 1, 2, 3], [4, 5]]
    back = np.zeros((2, 3))
    arrays.to_device(x, to=back.view(arrays.DeviceNDArray))
    assert (back == x).all()


@pytest.mark.parametrize(
    ("ary", "message"),
    [
        (np.empty((3, 2)), "expected the shape (2, 3), got (3, 2)"),
        (np.empty((2, 3), np.float32), "expected an array of float64, got float32"),
    ],
)
def test_a_copy_of_another_kind_is_refused(ary: np.ndarray, message: str) -> None:
    with pytest.raises((TypeError, ValueError)) as caught:
        arrays.to_device(np.zeros((2, 3))).copy_to_host(ary)
    assert message in str(caught.value)


def test_a_reduction_keeps_the_type_and_begins_with_init() -> None:
    total = arrays.Reduce(lambda a, b: a + b)
    x = np.array([1, 2, 3], np.float32)
    assert total(x) == 6 and total(x, init=4) == 10 and total(x, size=2) == 3
    assert type(total(x)) is np.float32
    out = np.zeros(1, np.float32)
    assert total(x, res=out) is None and out[0] == 6


def test_streams_and_events_are_done_at_once() -> None:
    heard = []
    stream = devices.stream()
    stream.add_callback(lambda *said: heard.append(said), "done")
    assert heard == [(stream, 0, "done")]
    first, last = devices.event(), devices.event()
    first.record(stream)
    assert last.query() and devices.event_elapsed_time(first, last) == 0
    with stream.auto_synchronize(), devices.gpus[0], devices.defer_cleanup():
        assert devices.get_current_device().WARP_SIZE == 32
    assert devices.current_context().get_memory_info().free > 0
    with pytest.raises(RuntimeError, match="expected 0, the only device, got 1"):
        devices.select_device(1)


WRONG = [
    ("seconds = 0", "seconds: expected a number above 0, got 0"),
    ("second = 1", "expected seconds and benign, got 'second'"),
    ("benign = 3", "expected benign as tables"),
    ("[[benign]]\nkernel = 'k'", "expected `because`"),
    ("[[benign]]\nbecause = 'known'", "expected `because` and one of"),
    ("[[benign]]\nkernels = 'k'\nbecause = 'known'", "got 'kernels'"),
    ("[[benign]]\nline = '3'\nbecause = 'known'", "benign: line: got '3'"),
    ("[[benign]", "cannot be read as a policy"),
]


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_a_policy_that_says_something_else_is_refused(
    tmp_path: Path, text: str, message: str
) -> None:
    file = tmp_path / "policy.toml"
    file.write_text(text)
    with pytest.raises(ValueError) as caught:
        policy.read(file)
    assert message in str(caught.value) and str(file) in str(caught.value)
