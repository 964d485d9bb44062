"""The CPU's kernels: all masks and layouts, tails, nasty numbers, threads, and the cache."""

import doctest
import os
import subprocess
import sys
import threading
import tracemalloc
from math import ceil, log2
from pathlib import Path

import llvmlite.binding as llvm
import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlinesoftmax import dense, streaming
from onlinesoftmax.masks import alibi, bias, causal, documents, padding, window
from patience import PATIENCE, wait_until
from planting import planted
from problems import normal, problems
from tiledattention import cpu
from tiledattention.cpu import (
    arguments,
    backward,
    decoding,
    folding,
    forward,
    lanes,
    pool,
    rows,
    tiles,
)

INF, NAN = np.inf, np.nan
LIB = Path(cpu.__file__).parents[2]
NARROW = [np.float16, np.float32]
quiet = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def single(*shape: int, seed: int = 0) -> np.ndarray:
    return normal(*shape, seed=seed, dtype=np.float32)


# Attention and decoding.


@quiet
@given(problems(most=150, dtypes=NARROW), st.sampled_from(["attention", "decode"]))
def test_all_masks_give_what_dense_gives(problem, name: str) -> None:
    arrays, options = problem
    out, lse = dense.attention(*arrays, **options, return_lse=True)
    got, log_sum = getattr(cpu, name)(*arrays, **options, return_lse=True)
    dtype = arrays[0].dtype
    assert got.dtype == dtype and got.shape == out.shape
    assert log_sum.dtype == np.float32 and log_sum.shape == lse.shape
    allow = {2: 2e-3, 4: 4e-6}[dtype.itemsize]
    np.testing.assert_allclose(got, out, rtol=0, atol=allow)
    np.testing.assert_allclose(log_sum, lse, rtol=0, atol=8e-6)
    assert not got[np.isneginf(lse)].any()


@pytest.mark.parametrize("queries", [1, 3, 20])
def test_a_sink_counts_once_however_many_parts_the_keys_have(
    queries: int, monkeypatch
) -> None:
    monkeypatch.setattr(decoding, "SMALLEST", 128)
    q, (k, v) = single(2, queries, 20), single(2, 2, 700, 20, seed=1)
    options = {"sinks": single(2, seed=2) + 3, "mask": causal(), "return_lse": True}
    for got, right in zip(
        cpu.decode(q, k, v, **options), dense.attention(q, k, v, **options)
    ):
        np.testing.assert_allclose(got, right, rtol=0, atol=8e-6)


def allowed(keys: int) -> float:
    """What the accuracy rule allows, as a share of the largest output."""
    return (ceil(keys / tiles.TILE) + log2(max(keys, 1)) + 4) * 2.0**-24


@pytest.mark.parametrize("name", ["attention", "decode"])
@pytest.mark.parametrize("d", [1, 2, 7, 15, 16, 17, 31, 64, 65, 100, 128, 200, 256])
def test_any_width_obeys_the_accuracy_rule(name: str, d: int) -> None:
    """Tails of strips, panels, tiles and vectors; columns of another number than d."""
    for queries, keys, columns in ((1, 1, d), (7, 65, 257 - d), (50, 200, d)):
        q, k = single(queries, d), single(keys, d, seed=1)
        v = single(keys, columns, seed=2)
        got = getattr(cpu, name)(q, k, v)
        expected = dense.attention(*(x.astype(float) for x in (q, k, v)))
        error = np.abs(got - expected).max() / np.abs(v).max()
        assert error <= allowed(keys)


@pytest.mark.parametrize("name", ["attention", "decode"])
def test_long_rows_obey_the_accuracy_rule(name: str) -> None:
    q, k, v = single(5, 64), single(40_000, 64, seed=1), single(40_000, 64, seed=2)
    got, lse = getattr(cpu, name)(q, k, v, return_lse=True)
    expected, sums = dense.attention(
        *(x.astype(float) for x in (q, k, v)), return_lse=True
    )
    assert np.abs(got - expected).max() <= allowed(40_000) * np.abs(expected).max()
    np.testing.assert_allclose(lse, sums, rtol=3e-7)


LONG = {
    "everything": None,
    "causal": causal(),
    "window": window(300, 0),
    "padding": padding(4000),
    "documents": documents(np.arange(4500) // 1300),
    "bias": bias(single(4500, seed=5)),
    "alibi": alibi(0.01),
}


@pytest.mark.parametrize("seen", LONG)
@pytest.mark.parametrize(
    "queries", [1, 3, folding.MOST, folding.MOST + 1, decoding.MOST + 1]
)
def test_few_queries_of_many_keys_obey_the_accuracy_rule(
    seen: str, queries: int
) -> None:
    """Whichever way they go, with heads that share their keys and alone."""
    for heads, shared in ((1, 1), (4, 2)):
        q, k = single(heads, queries, 37), single(shared, 4500, 37, seed=1)
        v = single(shared, 4500, 20, seed=2)
        options = {"mask": LONG[seen], "softcap": 9.0, "return_lse": True}
        got, lse = cpu.attention(q, k, v, **options)
        wide = (x.astype(float) for x in (q, k, v))
        expected, sums = dense.attention(*wide, **options)
        assert np.abs(got - expected).max() <= allowed(4500) * np.abs(v).max()
        np.testing.assert_allclose(lse, sums, rtol=4e-7, atol=2e-6)


@pytest.mark.parametrize("name", ["attention", "decode"])
@pytest.mark.parametrize("layout", ["reversed", "fortran", "every other"])
def test_memory_may_lie_as_it_likes(name: str, layout: str) -> None:
    attend = getattr(cpu, name)
    arrays = [single(2, 70, 24, seed=seed) for seed in range(3)]
    lying = {
        "reversed": lambda x: x[:, ::-1, ::-1],
        "fortran": lambda x: np.asfortranarray(x),
        "every other": lambda x: x[:, ::2, 1::2],
    }[layout]
    given = [lying(x) for x in arrays]
    expected = attend(*(np.ascontiguousarray(x) for x in given))
    np.testing.assert_array_equal(attend(*given), expected)
    room = np.zeros((*expected.shape[:-1], 2 * expected.shape[-1]), np.float32)
    assert attend(*given, out=room[..., ::2]).base is room
    np.testing.assert_array_equal(room[..., ::2], expected)
    assert not room[..., 1::2].any()


@pytest.mark.parametrize("name", ["attention", "decode"])
def test_bfloat16_is_taken_and_given(name: str) -> None:
    attend = getattr(cpu, name)
    wide = [normal(40, 8, seed=seed) for seed in range(3)]
    brain = [x.astype(ml_dtypes.bfloat16) for x in wide]
    got = attend(*brain)
    expected = attend(*(x.astype(np.float32) for x in brain))
    assert got.dtype == ml_dtypes.bfloat16
    np.testing.assert_array_equal(got, expected.astype(ml_dtypes.bfloat16))
    assert attend(brain[0], *(x.astype(np.float16) for x in brain[1:])).dtype == "f4"


@quiet
@pytest.mark.parametrize("name", ["attention", "decode"])
@pytest.mark.parametrize("odd", [INF, -INF, NAN, 3e38])
@pytest.mark.parametrize("which", [0, 1, 2])
def test_odd_numbers_reach_those_who_read_them_and_nobody_else(
    name, odd, which
) -> None:
    arrays = [single(70, 5, seed=seed) for seed in range(3)]
    arrays[which][40, 2] = odd
    for mask in (None, causal(), window(3, 3), padding(40), padding(41)):
        out, lse = streaming.attention(*arrays, mask=mask, return_lse=True)
        got, log_sum = getattr(cpu, name)(*arrays, mask=mask, return_lse=True)
        np.testing.assert_allclose(got, out, rtol=1e-5, atol=2e-6)
        np.testing.assert_allclose(log_sum, lse, rtol=1e-5, atol=2e-6)


def test_a_lone_peak_and_a_rising_row_rescale() -> None:
    """Each key outdoes all before it: every tile rescales, and all but one weight is 0."""
    q, k = np.ones((7, 1), np.float32), np.arange(300, dtype=np.float32)[:, None]
    v = single(300, 3)
    for attend in (cpu.attention, cpu.decode):
        np.testing.assert_allclose(
            attend(q, 200 * k, v), v[-1:].repeat(7, 0), rtol=1e-6
        )
        low = attend(q, -200 * k, v)
        np.testing.assert_allclose(low, v[:1].repeat(7, 0), rtol=1e-6)


# Softmax.


@pytest.mark.parametrize(
    "n", [1, 2, 63, 64, 65, 1000, 4095, 4096, 4097, 70_001, rows.PART, rows.PART + 1]
)
def test_softmax_obeys_the_accuracy_rule(n: int) -> None:
    x = 5 * single(2, n)
    got, expected = cpu.softmax(x), dense.softmax(x.astype(float))
    blocks = ceil(n / rows.BLOCK)
    allow = (blocks + log2(n) + 4) * 2.0**-24 * expected.max()
    assert np.abs(got - expected).max() <= allow
    wide = np.zeros((2, 3 * n), np.float32)
    cpu.softmax(x[:, ::-1], out=wide[:, ::3])
    np.testing.assert_allclose(wide[:, ::3], expected[:, ::-1], atol=allow)
    half = cpu.softmax(x.astype(np.float16))
    assert half.dtype == np.float16
    np.testing.assert_allclose(half, dense.softmax(x.astype(np.float16)), atol=1e-3)


@quiet
@pytest.mark.parametrize("n", [3, 70, 3000, 9000, rows.PART + 70])
@pytest.mark.parametrize(
    "end",
    [[-INF] * 3, [NAN, 0, 1], [NAN, -INF, -INF], [INF, 0, 1], [0, -INF, 1]],
)
def test_softmax_of_odd_rows_is_what_dense_says(n: int, end: list[float]) -> None:
    x = np.full(n, -INF, np.float32)
    for at in (slice(3), slice(n - 3, n)):
        own = x.copy()
        own[at] = end
        np.testing.assert_allclose(cpu.softmax(own), dense.softmax(own), atol=1e-6)


def test_softmax_of_nothing_and_of_more_axes() -> None:
    assert cpu.softmax(np.zeros((3, 0), np.float32)).shape == (3, 0)
    assert cpu.softmax(np.zeros((0, 3), np.float32)).shape == (0, 3)
    x = single(2, 3, 5)
    np.testing.assert_allclose(cpu.softmax(x), dense.softmax(x), atol=1e-6)
    brain = cpu.softmax(x.astype(ml_dtypes.bfloat16))
    assert brain.dtype == ml_dtypes.bfloat16


# Gradients.


@quiet
@given(problems(most=220, dtypes=[np.float32]))
def test_gradients_are_what_dense_gives(problem) -> None:
    (q, k, v), options = problem
    o, lse = cpu.attention(q, k, v, **options, return_lse=True)
    do = single(*o.shape, seed=7)
    got = cpu.attention_grad(q, k, v, o, lse, do, **options)
    wide = (x.astype(float) for x in (q, k, v, do))
    expected = dense.attention_grad(*wide, **options)
    for one, other in zip(got, expected):
        if one is not None:
            assert one.dtype == np.float32 and one.shape == other.shape
            largest = max(np.abs(x).max(initial=0.1) for x in expected if x is not None)
            np.testing.assert_allclose(one, other, rtol=0, atol=2e-5 * largest)


def test_gradients_of_many_tiles_obey_the_accuracy_rule() -> None:
    n = 3 * backward.TILE + 5
    q, k, v, do = (single(2, n, 65, seed=seed) for seed in range(4))
    for mask in (None, causal()):
        o, lse = cpu.attention(q, k, v, mask=mask, return_lse=True)
        got = cpu.attention_grad(q, k, v, o, lse, do, mask=mask)
        wide = (x.astype(float) for x in (q, k, v, do))
        for one, other in zip(got[:3], dense.attention_grad(*wide, mask=mask)[:3]):
            error = np.abs(one - other).max() / np.abs(other).max()
            assert error <= 2 * (n / backward.TILE + log2(n) + 4) * 2.0**-24


@quiet
@pytest.mark.parametrize("which", [0, 1, 2, 5])
def test_gradients_of_odd_numbers_are_those_of_the_library(which: int) -> None:
    arrays = [single(70, 5, seed=seed) for seed in range(3)]
    do = single(70, 5, seed=3)
    (*arrays, do)[min(which, 3)][40, 2] = NAN
    o, lse = cpu.attention(*arrays, mask=causal(), return_lse=True)
    from onlinesoftmax.backward import attention_grad

    got = cpu.attention_grad(*arrays, o, lse, do, mask=causal())
    expected = attention_grad(*arrays, o, lse, do, mask=causal())
    for one, other in zip(got[:3], expected[:3]):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


# Threads.

CALLS = {
    "attention": lambda q, k, v, threads: cpu.attention(q, k, v, threads=threads),
    # Blocks of 198 queries and, at last, 8 on one thread; of 96, and 32, on two.
    "attention in blocks": lambda q, k, v, threads: cpu.attention(
        q[:1, :800], k[:1], v[:1], threads=threads
    ),
    "attention of few": lambda q, k, v, threads: cpu.attention(
        q[:, :2], *(np.tile(x, (10, 1)) for x in (k, v)), threads=threads
    ),
    "decode": lambda q, k, v, threads: cpu.decode(q[:, :2], k, v, threads=threads),
    "softmax": lambda q, k, v, threads: cpu.softmax(q.reshape(-1), threads=threads),
    "softmax of rows": lambda q, k, v, threads: cpu.softmax(
        q.reshape(3, -1), threads=threads
    ),
    "attention_grad": lambda q, k, v, threads: np.stack(
        cpu.attention_grad(q, k, v, v, q[..., 0], v, threads=threads)[:3]
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_no_number_of_threads_changes_a_bit(name: str, monkeypatch) -> None:
    monkeypatch.setattr(decoding, "SMALLEST", 128)
    monkeypatch.setattr(rows, "PART", 4096)
    arrays = [single(3, 900, 16, seed=seed) for seed in range(3)]
    one = CALLS[name](*arrays, 1)
    for threads in (2, 3, 7):
        np.testing.assert_array_equal(CALLS[name](*arrays, threads), one)


@pytest.mark.parametrize("name", CALLS)
def test_several_callers_do_not_disturb_each_other(name: str) -> None:
    problems = [
        [single(2, 300, 16, seed=9 * n + s) for s in range(3)] for n in range(6)
    ]
    expected = [CALLS[name](*arrays, 1) for arrays in problems]
    got = [None] * len(problems)

    def call(at: int) -> None:
        got[at] = CALLS[name](*problems[at], 2)

    callers = [threading.Thread(target=call, args=(at,)) for at in range(len(problems))]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    for one, other in zip(got, expected):
        np.testing.assert_array_equal(one, other)


def test_work_is_shared_and_errors_come_back() -> None:
    done, lock = [], threading.Lock()

    def work(task: int) -> None:
        with lock:
            done.append(task)

    pool.share(work, range(100), 4)
    assert sorted(done) == list(range(100))
    pool.share(work, [], 4)
    with pytest.raises(ZeroDivisionError):
        pool.share(lambda task: 1 / task, [1, 0, 2, 3], 3)


def test_work_inside_of_work_is_done() -> None:
    """However many threads wait for others."""
    inside = lambda task: pool.share(lambda own: None, range(8), 8)  # noqa: E731
    pool.share(inside, range(64), 8)


# Memory.


def warm_up_all_threads() -> None:
    """Each thread keeps its working memory, and any of them may get the next task."""
    threads = pool.HELPERS._max_workers + 1
    together = threading.Barrier(threads)

    def work(_: int) -> None:
        arguments.ROOM.of((1,))
        together.wait(PATIENCE)

    pool.share(work, range(threads), threads)


@pytest.mark.parametrize("n", [2048, 8192])
def test_memory_grows_with_the_keys_and_not_with_their_square(n: int) -> None:
    q, k, v = (single(n, 64, seed=seed) for seed in range(3))
    cpu.attention(q, k, v, threads=2)
    warm_up_all_threads()
    tracemalloc.start()
    out = cpu.attention(q, k, v, threads=2)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak <= out.nbytes + 2**23  # working memory of two threads


@pytest.mark.parametrize("queries", [1, folding.MOST])
def test_a_few_queries_read_the_keys_where_they_lie(queries: int) -> None:
    """To pack them for so few takes longer than all the rest."""
    q, k, v = (single(n, 64, seed=n) for n in (queries, 20_000, 20_000))
    cpu.attention(q, k, v, threads=2)
    warm_up_all_threads()
    tracemalloc.start()
    cpu.attention(q, k, v, threads=2)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak <= k.nbytes / 10


# The machine.


def test_the_machine_is_asked_what_it_has() -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()

    def offered(triple: str, cpu_name: str) -> tuple:
        target = llvm.Target.from_triple(triple)
        return lanes.read(target.create_target_machine(cpu=cpu_name))

    linux = "x86_64-unknown-linux-gnu"
    assert offered(linux, "skylake-avx512") == (16, 32, True)
    assert offered(linux, "haswell") == (8, 16, True)
    assert offered(linux, "x86-64") == (4, 16, False)
    assert offered("aarch64-unknown-linux-gnu", "apple-m1") == (4, 32, True)
    names = [offered(linux, "haswell").name, offered(linux, "x86-64").name]
    assert names == ["AVX2", "SSE"]


LESS = """
import numpy as np
from onlinesoftmax import dense
from tiledattention import cpu
from onlinesoftmax.masks import causal

rng = np.random.default_rng(0)
q, k, v, do = rng.normal(size=(4, 2, 150, 37)).astype(np.float32)
out, lse = cpu.attention(q, k, v, mask=causal(), return_lse=True)
wide = [x.astype(float) for x in (q, k, v, do)]
expected = dense.attention(*wide[:3], mask=causal())
assert abs(out - expected).max() < 2e-6
assert abs(cpu.decode(q, k, v, mask=causal()) - expected).max() < 2e-6
got = cpu.attention_grad(q, k, v, out, lse, do, mask=causal())
for one, other in zip(got[:3], dense.attention_grad(*wide, mask=causal())[:3]):
    assert abs(one - other).max() < 1e-5
x = rng.normal(size=(3, 5000)).astype(np.float32)
assert abs(cpu.softmax(x) - dense.softmax(x)).max() < 1e-8
print(cpu.machine().name)
"""


@pytest.mark.parametrize("name, lesser", [("AVX2", "haswell"), ("SSE", "x86-64")])
def test_a_lesser_machine_gets_code_of_its_own(
    name: str, lesser: str, tmp_path
) -> None:
    if lanes.MACHINE.name not in ("AVX-512", "AVX2"):
        pytest.skip(f"this machine has {lanes.MACHINE.name}, and cannot run {name}")
    # The compiler takes no time to improve code: what it is given is under test.
    own = {"NUMBA_CPU_NAME": lesser, "PYTHONPATH": str(LIB), "NUMBA_OPT": "0"}
    done = run(LESS, **own)
    assert done.stdout.strip() == name, done.stderr


def run(code: str, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )


EIGHTH = """
import numpy as np
from tiledattention import cpu
print(cpu.softmax(np.zeros(8, np.float32))[0])
"""


def copied(to: Path, old: str = "", new: str = "") -> dict[str, str]:
    """Copy what `cpu` needs, with a change to `steps.py`; return the environment for it."""
    cpu = LIB / "tiledattention" / "cpu"
    folders = (LIB / "onlinesoftmax", cpu.parent, cpu)
    for each in (each for folder in folders for each in folder.glob("*.py")):
        text = each.read_text("utf-8")
        if each == cpu / "steps.py" and old:
            text = planted(text, old, new, nth=0)
        copy = to / each.relative_to(LIB)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(text, "utf-8")
    return {"PYTHONPATH": str(to), "NUMBA_CACHE_DIR": str(to / "kept")}


def test_kernels_are_kept_and_made_again_when_any_of_their_files_changes(
    tmp_path,
) -> None:
    def kept() -> dict[Path, int]:
        assert run(EIGHTH, **place).stdout.strip() == "0.125"
        return {
            file: file.stat().st_mtime_ns for file in (tmp_path / "kept").rglob("*.nb*")
        }

    place = copied(tmp_path)
    first = kept()
    assert first and kept() == first
    copied(tmp_path, '"""', '"""Changed. ')
    assert not kept().items() <= first.items()


def test_a_long_compilation_is_announced(monkeypatch, capsys) -> None:
    from tiledattention.cpu import compiled

    monkeypatch.setattr(compiled, "PATIENCE", PATIENCE)
    with compiled.announced("fold"):
        pass
    assert not capsys.readouterr().err
    monkeypatch.setattr(compiled, "PATIENCE", 0)
    monkeypatch.setattr(compiled, "ANNOUNCED", said := set())
    with compiled.announced("fold"):
        wait_until(lambda: said, "the announcement of a long compilation")
    assert "compiling fold for" in capsys.readouterr().err


def test_several_threads_announce_a_compilation_once(monkeypatch, capsys) -> None:
    from tiledattention.cpu import compiled

    monkeypatch.setattr(compiled, "ANNOUNCED", set())
    together = threading.Barrier(8)

    def say() -> None:
        together.wait()
        compiled.announce("fold")

    threads = [threading.Thread(target=say) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    said = capsys.readouterr().err
    assert (
        said.startswith("tiledattention.cpu: compiling fold") and said.count("\n") == 1
    )


# Bad input.

ONE = np.ones((2, 2), np.float32)
BAD = {
    "q: expected float16, bfloat16 or float32, got float64": ((ONE.astype(float), ONE, ONE), {}),
    "v: expected float16, bfloat16 or float32, got int64": ((ONE, ONE, ONE.astype(int)), {}),
    r"out: expected an array of float32 \(2, 2\), got float64": ((ONE, ONE, ONE), {"out": np.ones((2, 2))}),
    r"out: expected an array of float32 \(2, 2\), got \[1\]": ((ONE, ONE, ONE), {"out": [1]}),
    "out: expected memory of its own": ((ONE, ONE, ONE), {"out": ONE}),
    "threads: expected a positive integer, got 0": ((ONE, ONE, ONE), {"threads": 0}),
    "mask: expected a mask": ((ONE, ONE, ONE), {"mask": 3}),
    "k: expected shape": ((ONE, ONE[:, :1], ONE), {}),
}  # fmt: skip


@pytest.mark.parametrize("name", ["attention", "decode"])
@pytest.mark.parametrize("message", BAD)
def test_bad_input(name: str, message: str) -> None:
    arrays, options = BAD[message]
    with pytest.raises(ValueError, match=f"^{message}"):
        getattr(cpu, name)(*arrays, **options)


def test_bad_input_of_the_others() -> None:
    with pytest.raises(ValueError, match="^x: expected float16, bfloat16 or float32"):
        cpu.softmax([1.0])
    with pytest.raises(ValueError, match="^x: expected shape"):
        cpu.softmax(np.float32(3))
    with pytest.raises(ValueError, match="^out: expected memory of its own"):
        cpu.softmax(ONE, out=ONE)
    closed = np.ones((2, 2), np.float32)
    closed.flags.writeable = False
    with pytest.raises(ValueError, match="^out: expected an array to write to"):
        cpu.softmax(ONE, out=closed)
    with pytest.raises(ValueError, match="^lse: expected shape"):
        cpu.attention_grad(ONE, ONE, ONE, ONE, ONE, ONE)
    with pytest.raises(ValueError, match="^o: expected the output of the attention"):
        cpu.attention_grad(ONE, ONE, ONE, None, ONE[0], ONE)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = cpu.nothing


def test_the_examples() -> None:
    for module in (forward, decoding, rows, backward):
        assert doctest.testmod(module).failed == 0
