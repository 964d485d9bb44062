"""Many machines: the same answer, to the last bit, or an error that says which chunk."""

import itertools
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from functools import cache
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import dask
import dask.array as da
import ml_dtypes
import numpy as np
import pytest
import zarr
from distributed import Client, LocalCluster
from hypothesis import given
from hypothesis import strategies as st
from zarr.codecs import Crc32cCodec
from zarr.storage import LocalStore, MemoryStore

from onlinesoftmax import dense, masks, streaming
from onlinesoftmax.state import State
from patience import PATIENCE, wait_until
from problems import normal, problems
from tiledattention import cluster
from tiledattention.cluster import chunk, faults, forward, running, sources, tree

quiet = pytest.mark.filterwarnings("ignore::RuntimeWarning")
LIB = Path(cluster.__file__).parents[2]


def single(*shape: int, seed: int = 0) -> np.ndarray:
    return normal(*shape, seed=seed, dtype=np.float32)


def stored(folder: Path, name: str, array: np.ndarray, size: int, **options) -> str:
    """An array of Zarr in chunks of so many keys; its path."""
    path, axis = folder / name, array.ndim - 2
    chunks = (*array.shape[:axis], size, *array.shape[axis + 1 :])
    made = zarr.create_array(path, shape=array.shape, chunks=chunks, dtype=array.dtype,
                             compressors=None, **options)  # fmt: skip
    made[:] = array
    return str(path)


# ---- right answers


@quiet
@given(problems(most=120, dtypes=[np.float16, np.float32]), st.integers(1, 70))
def test_all_masks_and_layouts_give_what_dense_gives(problem, size: int) -> None:
    arrays, options = problem
    if {"softcap", "sinks"} & options.keys():
        options = {k: v for k, v in options.items() if k in ("mask", "scale")}
    out, lse = dense.attention(*arrays, **options, return_lse=True)
    got, log_sum = cluster.attention(*arrays, **options, chunk=size, return_lse=True)
    assert got.dtype == arrays[0].dtype and got.shape == out.shape
    assert log_sum.dtype == np.float64 and log_sum.shape == lse.shape
    allow = {2: 2e-3, 4: 4e-6}[arrays[0].dtype.itemsize]
    np.testing.assert_allclose(got, out, rtol=0, atol=allow)
    np.testing.assert_allclose(log_sum, lse, rtol=0, atol=8e-6)
    assert not got[np.isneginf(lse)].any()


@pytest.mark.parametrize("keys, size", [(1, 1), (65, 64), (4000, 333), (30_000, 1024)])
def test_the_accuracy_rule(keys: int, size: int) -> None:
    q, k, v = single(9, 64), single(keys, 64, seed=1), single(keys, 20, seed=2)
    got = cluster.attention(q, k, v, chunk=size)
    expected = dense.attention(*(x.astype(float) for x in (q, k, v)))
    allowed = (np.ceil(keys / 64) + np.log2(keys) + 4) * 2.0**-24
    assert np.abs(got - expected).max() <= allowed * np.abs(v).max()


def test_scores_far_from_0_lose_no_more_than_on_one_machine() -> None:
    """A state keeps m and l apart: out and a logsumexp of 32 bits would lose digits."""
    q, k, v = single(20, 8), single(500, 8, seed=1), single(500, 3, seed=2)
    k[:, 0] += 4000
    expected = dense.attention(*(x.astype(float) for x in (q, k, v)))
    q[:, 0] = 1  # so that all scores are near the same height
    expected = dense.attention(*(x.astype(float) for x in (q, k, v)), scale=1)
    one = streaming.attention(q, k, v, scale=1)
    got = cluster.attention(q, k, v, scale=1, chunk=7)
    allowed = 4 * np.abs(one - expected).max() + 1e-3
    assert np.abs(got - expected).max() <= allowed


@pytest.mark.parametrize("odd", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("which", [0, 1, 2])
@quiet
def test_odd_numbers_reach_those_who_read_them_and_nobody_else(odd, which) -> None:
    arrays = [single(70, 5, seed=seed) for seed in range(3)]
    arrays[which][40, 2] = odd
    for mask in (None, masks.causal(), masks.window(3, 3), masks.padding(40)):
        out, lse = streaming.attention(*arrays, mask=mask, return_lse=True)
        got, sums = cluster.attention(*arrays, mask=mask, chunk=16, return_lse=True)
        np.testing.assert_allclose(got, out, rtol=1e-5, atol=2e-6)
        np.testing.assert_allclose(sums, lse, rtol=1e-5, atol=2e-6)


def test_softmax_dot() -> None:
    scores, values = normal(3, 200), normal(3, 200, 4, seed=1)
    for weighed in (values, values[..., 0], values[0, :, 0]):
        got = cluster.softmax_dot(scores, weighed, chunk=17)
        expected = dense.softmax_dot(scores, weighed)
        np.testing.assert_allclose(got, expected, rtol=1e-13)
    assert cluster.softmax_dot([-np.inf, -np.inf], [1.0, np.inf], chunk=1) == 0


@quiet
def test_planted_faults_are_noticed(monkeypatch) -> None:
    """What would be a wrong answer here: places, the order of parts, a merge that adds."""
    q, k, v = single(30, 8), single(90, 8, seed=1), single(90, 4, seed=2)
    mask = masks.causal() & masks.alibi([0.3])
    expected = dense.attention(q, k, v, mask=mask)

    def off(target: object, name: str, fault: object) -> bool:
        with monkeypatch.context() as patch:
            patch.setattr(target, name, fault)
            got = cluster.attention(q, k, v, mask=mask, chunk=16)
        return not np.allclose(got, expected, atol=1e-5)

    part, add = chunk.Seen.part, tree.merged
    assert not off(tree, "merged", add)
    assert off(
        chunk.Seen, "part", lambda s, keys: part(s, keys)._replace(place=s.place)
    )
    assert off(chunk.Seen, "part", lambda s, keys: s)
    assert off(tree, "merged", lambda s: s[0])
    assert off(tree, "merged", lambda s: add([*s, s[-1]]))
    assert off(
        tree, "merged", lambda s: State(s[0].m, *(sum(x[i] for x in s) for i in (1, 2)))
    )


# ---- where keys lie


@pytest.fixture
def kept(tmp_path: Path) -> tuple[np.ndarray, str, str, np.ndarray]:
    """Queries, the paths of keys and values, and the answer."""
    q, k, v = single(11, 16), single(400, 16, seed=1), single(400, 5, seed=2)
    paths = [stored(tmp_path, name, x, 50) for name, x in (("k", k), ("v", v))]
    return q, *paths, cluster.attention(q, k, v, chunk=50)


def test_zarr_dask_and_numpy_give_the_same_bits(kept) -> None:
    q, k, v, expected = kept
    zk, zv = (zarr.open_array(path, mode="r") for path in (k, v))
    for keys, values in [
        (k, v), (Path(k), Path(v)), (zk, zv), (zk[:], zv[:]), (k, zv[:]),
        (da.from_zarr(k), da.from_zarr(v)),
        (da.from_array(zk[:], chunks=(33, 7)), da.from_array(zv[:], chunks=90)),
    ]:  # fmt: skip
        got = cluster.attention(q, keys, values, chunk=50)
        np.testing.assert_array_equal(got, expected)


def test_shards_and_a_tail_and_bfloat16(tmp_path: Path) -> None:
    q, k, v = single(3, 8), single(130, 8, seed=1), single(130, 8, seed=2)
    options = {"shape": k.shape, "chunks": (10, 8), "shards": (40, 8), "dtype": "f4"}
    sharded = zarr.create_array(tmp_path / "s", **options)
    sharded[:] = k
    assert sources.source("keys", sharded, -2).own == 40
    expected = cluster.attention(q, k, v, chunk=40)
    np.testing.assert_array_equal(cluster.attention(q, sharded, v, chunk=40), expected)
    brain = [x.astype(ml_dtypes.bfloat16) for x in (q, k, v)]
    got = cluster.attention(*brain, chunk=40)
    assert got.dtype == ml_dtypes.bfloat16
    wide = cluster.attention(*(x.astype(np.float32) for x in brain), chunk=40)
    np.testing.assert_array_equal(got, wide.astype(ml_dtypes.bfloat16))


def test_a_chunk_that_nobody_chose_is_whole_stored_ones(tmp_path: Path) -> None:
    path = stored(tmp_path, "k", np.zeros((4000, 16), np.float32), 1500, fill_value=1)
    keys = sources.source("keys", path, -2)
    assert sources.chunk_size((keys,), None) == 2**25 // (64 * 1500) * 1500
    row = sources.source("values", np.zeros((10**6, 64), np.float32), -2)
    assert sources.chunk_size((row,), None) == 2**17
    huge = keys._replace(own=10**7)
    assert sources.chunk_size((huge,), None) == 10**7
    assert sources.chunk_size((huge,), 5) == 5


def test_what_is_hidden_is_not_read(kept) -> None:
    q, k, v, _ = kept
    expected = cluster.attention(q, k, v, mask=masks.window(20, 0), chunk=50)
    for start in (0, 2):
        os.remove(Path(k) / "c" / str(start) / "0")
    got = cluster.attention(q, k, v, mask=masks.window(20, 0), chunk=50)
    np.testing.assert_array_equal(got, expected)
    nothing = cluster.attention(q, k, v, mask=masks.padding(0), return_lse=True)
    assert not nothing[0].any() and np.isneginf(nothing[1]).all()


# ---- what goes wrong


def test_a_chunk_that_is_missing_is_no_chunk_of_zeros(kept, tmp_path: Path) -> None:
    q, k, v, _ = kept
    os.remove(Path(k) / "c" / "3" / "0")
    assert not zarr.open_array(k)[150:200].any()  # what Zarr makes of it
    with pytest.raises(
        cluster.ClusterError, match=r"^keys 150 to 199: keys could not.*c/3/0"
    ):
        cluster.attention(q, k, v, chunk=50)
    zeros = np.zeros((20, 4), np.float32)
    meant = stored(tmp_path, "z", zeros, 10, config={"write_empty_chunks": True})
    assert not cluster.attention(zeros, meant, meant).any()


def test_a_chunk_that_cannot_be_read_is_named(kept) -> None:
    q, k, v, _ = kept
    (Path(v) / "c" / "7" / "0").write_bytes(b"torn")
    with pytest.raises(
        cluster.ClusterError, match="^keys 350 to 399: values could not be read from"
    ):
        cluster.attention(q, k, v, chunk=50)


class Between(LocalStore):
    """A folder in which something happens once a chunk of this name has been read."""

    def __init__(self, root: Path, chunk: str, happens: Callable[[], object]) -> None:
        super().__init__(root, read_only=True)
        self.chunk, self.happens, self.happened = chunk, happens, False

    async def get(self, key, prototype, byte_range=None):
        found = await super().get(key, prototype, byte_range)
        if key.startswith(self.chunk) and not self.happened:
            self.happened = True
            self.happens()
        return found


@pytest.mark.parametrize("read", ["c/", "c/3/0"])
def test_a_store_that_is_rewritten_during_a_run_is_no_mixture(kept, read: str) -> None:
    """After the first chunk is read, whichever that is, or the one that is rewritten."""
    q, k, v, _ = kept
    file = Path(k) / "c" / "3" / "0"
    os.utime(file, (1, 1))  # so that the time has changed, however coarse clocks are

    def rewrite() -> None:
        file.write_bytes(file.read_bytes()[::-1])

    with (
        dask.config.set(num_workers=1),
        pytest.raises(
            cluster.ClusterError,
            match="^keys 150 to 199: keys .*c/3/0 has changed since",
        ),
    ):
        keys = zarr.open_array(Between(Path(k), read, rewrite), mode="r")
        cluster.attention(q, keys, v, chunk=50)


def test_a_store_that_is_only_read_or_lies_elsewhere_is_taken(kept) -> None:
    """The rest of the array may change, and memory has no times."""
    q, k, v, expected = kept
    read = []
    keys = zarr.open_array(Between(Path(k), "c/3/0", lambda: read.append(1)), mode="r")
    np.testing.assert_array_equal(cluster.attention(q, keys, v, chunk=50), expected)
    assert read
    memory = zarr.create_array(
        MemoryStore(), data=zarr.open_array(k)[:], chunks=(50, 16)
    )
    np.testing.assert_array_equal(cluster.attention(q, memory, v, chunk=50), expected)


def test_a_flipped_bit_is_an_error_where_there_is_a_checksum(tmp_path: Path) -> None:
    q, k = single(11, 16), single(400, 16, seed=1)
    options = {"data": k, "chunks": (50, 16), "compressors": Crc32cCodec()}
    zarr.create_array(tmp_path / "k", **options)
    file = tmp_path / "k" / "c" / "2" / "0"
    bits = bytearray(file.read_bytes())
    bits[77] ^= 4
    file.write_bytes(bits)
    with pytest.raises(cluster.ClusterError, match="^keys 100 to 149: keys .*checksum"):
        cluster.attention(q, tmp_path / "k", k, chunk=50)


@pytest.mark.parametrize("instead", ["a file for its folder", "a folder for its file"])
def test_what_is_no_chunk_is_a_chunk_that_is_missing(kept, instead: str) -> None:
    q, k, v, _ = kept
    folder = Path(k) / "c" / "3"
    shutil.rmtree(folder)
    if instead.startswith("a file"):
        folder.write_bytes(b"")
    else:
        (folder / "0").mkdir(parents=True)
    with pytest.raises(cluster.ClusterError, match="^keys 150 to 199: keys could not"):
        cluster.attention(q, k, v, chunk=50)


def refused(kept, **changes) -> str:
    q, k, v, _ = kept
    arguments = {"q": q, "keys": k, "values": v} | changes
    with pytest.raises(ValueError) as error:
        cluster.attention(**arguments)
    return str(error.value)


def test_bad_arguments_are_named(kept, tmp_path: Path) -> None:
    q, k, v, _ = kept
    told = {
        "keys: expected an array of Zarr at": {"keys": str(tmp_path / "nothing")},
        "keys: expected float16, bfloat16 or float32, got float64": {
            "keys": np.ones((4, 16))
        },
        "values: expected shape (400, columns)": {"values": single(5, 4)},
        "keys: expected shape (keys, 16)": {"keys": single(400, 3)},
        "q: expected float16": {"q": [[1.0] * 16]},
        "keys: expected an array, got uneven rows": {"keys": [[1.0], [1.0, 2.0]]},
        "keys: expected numbers, in at least 2 axes": {"keys": np.ones(3, np.float32)},
        "q: expected an array, got uneven rows": {"q": [[1.0], [1.0, 2.0]]},
        "keys: expected a plain array": {"keys": np.ma.masked_less(single(400, 16), 0)},
        "chunk: expected a positive integer, got 0": {"chunk": 0},
        "client: expected a distributed.Client, got 'me'": {"client": "me"},
        "patience: expected a finite number of seconds": {"patience": 0},
        "progress: expected True or False, got 1": {"progress": 1},
        "return_lse: expected True or False": {"return_lse": "yes"},
        "mask: expected a mask": {"mask": np.ones((11, 400))},
        "scale: expected a finite number": {"scale": np.nan},
    }
    for message, changes in told.items():
        assert message in refused(kept, **changes)
    unknown = da.from_array(single(400, 16))[da.from_array(np.ones(400, bool))]
    assert "chunks of known sizes" in refused(kept, keys=unknown)
    with pytest.raises(ValueError, match=r"values: expected shape \(..., 4\)"):
        cluster.softmax_dot(np.ones(4), np.ones(3))


@pytest.mark.parametrize("lacking", ["dask", "distributed", "zarr"])
def test_a_package_that_is_missing_is_named(lacking: str, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, lacking, None)
    ones = np.ones((2, 2), np.float32)
    keys = "somewhere" if lacking == "zarr" else ones
    client = 3 if lacking == "distributed" else None
    with pytest.raises(ImportError, match=f"not installed: pip install {lacking}$"):
        cluster.attention(ones, keys, ones, client=client)


def test_importing_the_cluster_loads_no_engine() -> None:
    code = "import sys; from tiledattention import cluster; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True
    )
    assert not {"dask", "zarr", "distributed", "numba"} & set(loaded.stdout.split())


def test_where_a_run_stands_still_it_is_given_up(monkeypatch) -> None:
    class Stuck:
        status = "running"
        scheduler = SimpleNamespace(processing=None)
        at_work: dict = {}

        def sync(self, *_, **__) -> dict:
            return self.at_work

    clock = itertools.count()
    monkeypatch.setattr(running, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    watch = running.Watch(Stuck(), patience=1.5)
    for at_work, said in (
        ({}, "no worker has been there"),
        ({"a": ["x"], "b": []}, "1 of 2"),
        ({"a": ["x", ("y", 1)]}, "1 of 1"),  # keys of Dask are texts or tuples
    ):
        Stuck.at_work = at_work
        watch.look()
        watch.look()  # a second later
        with pytest.raises(cluster.ClusterError, match=said):
            watch.look()
        Stuck.at_work = {"a": ["y"]}
        watch.look()  # it moves: no reason to give up


# ---- the tree


@given(st.integers(1, 700), st.integers(2, 9))
def test_a_tree_merges_neighbours_in_order_and_each_leaf_once(
    count: int, fan: int
) -> None:
    parents: list[int] = []

    def join(own: list[tuple[int, ...]], level: int, place: int) -> tuple[int, ...]:
        assert 2 <= len(own) <= fan
        parents.append(level)
        return sum(own, ())

    assert tree.tree([(i,) for i in range(count)], join, fan) == tuple(range(count))
    assert max(parents, default=0) == int(
        np.ceil(np.round(np.log(count) / np.log(fan), 9))
    )


def test_a_graph_has_few_tasks() -> None:
    """At most 200 for a GB, with chunks of 32 MiB."""
    from dask import delayed

    leaf = delayed(single, pure=False)
    count = 1 + len(dict(tree.graph("x", [leaf(1) for _ in range(128)]).dask))
    assert count <= 200 * 128 * sources.TOGETHER / 1e9


# ---- on a cluster


@cache
def answer() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    q, k, v = single(30, 32), single(6000, 32, seed=1), single(6000, 32, seed=2)
    return q, k, v, cluster.attention(q, k, v, chunk=100)


@pytest.fixture(scope="module")
def workers(tmp_path_factory):
    """A cluster of two processes, and keys that lie in Zarr."""
    folder, (_, k, v, _) = tmp_path_factory.mktemp("kept"), answer()
    paths = [stored(folder, name, x, 100) for name, x in (("k", k), ("v", v))]
    with started(2) as own, Client(own) as client:
        yield client, paths


def started(count: int, memory: str = "1GB", **options) -> LocalCluster:
    return LocalCluster(n_workers=count, threads_per_worker=1, memory_limit=memory,
                        dashboard_address="127.0.0.1:0", silence_logs=50, **options)  # fmt: skip


def test_workers_give_the_bits_of_threads(workers, capsys) -> None:
    client, paths = workers
    q, k, v, expected = answer()
    for keys, values in (paths, (k, v)):
        got = cluster.attention(q, keys, values, chunk=100, client=client)
        np.testing.assert_array_equal(got, expected)
    assert not capsys.readouterr().out
    cluster.attention(q, k, v, chunk=1000, client=client, progress=True)
    assert "100% Completed" in capsys.readouterr().out


def test_a_killed_worker_changes_no_bit(workers, tmp_path: Path) -> None:
    """The first task to come to a certain chunk kills its own worker, once."""
    client, (k, v) = workers
    q, _, _, expected = answer()
    before = set(client.run(os.getpid).values())
    values = da.from_zarr(v).map_blocks(die_once, tmp_path / "died", dtype="f4")
    got = cluster.attention(q, k, values, chunk=100, client=client)
    np.testing.assert_array_equal(got, expected)
    assert (tmp_path / "died").exists()
    client.wait_for_workers(2, timeout=PATIENCE)
    assert set(client.run(os.getpid).values()) != before


def die_once(block: np.ndarray, note: Path, block_info=None) -> np.ndarray:
    if block_info and block_info[0]["chunk-location"][0] == 30 and not note.exists():
        note.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return block


def die(block: np.ndarray, block_info=None) -> np.ndarray:
    if block_info and block_info[0]["chunk-location"][0] == 5:
        os.kill(os.getpid(), signal.SIGKILL)
    return block


def test_errors_of_workers_name_the_chunk(workers, tmp_path: Path) -> None:
    client, (k, v) = workers
    q, _, _, expected = answer()
    torn = Path(shutil.copytree(k, tmp_path / "torn"))
    os.remove(torn / "c" / "9" / "0")
    with pytest.raises(cluster.ClusterError, match="^keys 900 to 999: keys could not"):
        cluster.attention(q, torn, v, chunk=100, client=client)
    got = cluster.attention(q, k, v, chunk=100, client=client)  # all is well again
    np.testing.assert_array_equal(got, expected)


def test_too_little_memory_ends_with_the_chunk_s_name() -> None:
    """A chunk that no worker has room for kills one after another, and then is named."""
    big = da.zeros((6_000_000, 8), chunks=6_000_000, dtype="f4") + np.float32(1)
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        started(1, "400MB") as own,
        Client(own) as client,
        pytest.raises(cluster.ClusterError) as error,
    ):
        cluster.attention(single(2, 8), big, big, chunk=6_000_000, client=client)
    assert "memory" in str(error.value) and "smaller chunk" in str(error.value)


def test_a_scheduler_that_goes_away_is_told(tmp_path: Path) -> None:
    q, k, v, _ = answer()
    begun, over = tmp_path / "begun", tmp_path / "over"
    slow = da.from_array(v, chunks=(100, 32)).map_blocks(nap, begun, over, meta=v[:0])
    # Or else the workers would look for their scheduler for half a minute.
    hasty = dask.config.set({"distributed.comm.timeouts.connect": "5s"})
    with hasty, started(1) as own:
        client = Client(own)

        def close() -> None:
            wait_until(begun.exists, "the first chunk is read")
            own.sync(own.scheduler.close)

        threading.Thread(target=close).start()
        with pytest.raises(cluster.ClusterError, match="the scheduler went away"):
            cluster.attention(q, k, slow, chunk=100, client=client)
        with pytest.raises(ValueError, match="client: expected one that is running"):
            cluster.attention(q, k, v, client=client)
        over.touch()
        client.close(timeout=1)  # clock: nobody is there to answer


FROZEN = """
from distributed import LocalCluster
if __name__ == "__main__":
    own = LocalCluster(0, protocol="tcp", dashboard_address="127.0.0.1:0")
    print(own.scheduler_address, flush=True)
    input()
"""


def test_a_scheduler_that_freezes_is_told(tmp_path: Path) -> None:
    """Its connection stays open, and nothing ever comes."""
    q, k, v, _ = answer()
    (tmp_path / "own.py").write_text(FROZEN)
    command = [sys.executable, str(tmp_path / "own.py")]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as own:
        client = Client(own.stdout.readline().strip(), timeout=PATIENCE)
        own.send_signal(signal.SIGSTOP)
        try:
            with pytest.raises(cluster.ClusterError, match="has not answered"):
                cluster.attention(q, k, v, chunk=100, client=client, patience=1)
        finally:
            own.kill()  # what is frozen would never end by itself
            client.close(timeout=1)  # clock: nobody is there to answer


def nap(block: np.ndarray, begun: Path, over: Path) -> np.ndarray:
    """A chunk that is read until the test is over."""
    begun.touch()
    wait_until(over.exists, "the test is over")
    return block


def test_a_merge_that_dies_is_no_chunk() -> None:
    class Died:
        task, allowed_failures = "merge-abc-1-0", 3

    assert running.killed(Died, 100).startswith("a merge of states: 4 workers")
    Died.task = "fold-abc123-200"
    assert running.killed(Died, 100).startswith("keys 200 to 299: 4 workers")


def test_reasons_are_one_line() -> None:
    assert faults.reason(ValueError("a\n b")) == "ValueError: a b"
    assert faults.reason(MemoryError()) == "MemoryError"
    assert forward.PATIENCE > running.LOOK


def test_progress_is_shown_by_dask_s_own_bar(capsys) -> None:
    q, k, v = single(2, 4), single(9, 4, seed=1), single(9, 4, seed=2)
    cluster.attention(q, k, v, chunk=3)
    assert not capsys.readouterr().out
    cluster.attention(q, k, v, chunk=3, progress=True)
    assert "100% Completed" in capsys.readouterr().out


def test_no_cluster_asks_for_a_certain_port() -> None:
    """Without an address Dask takes 8787 for its dashboard, where another may sit."""
    root, calls = LIB.parent, []
    for folder, kind in product(("book", "lib", "tests", "tools"), ("*.py", "*.md")):
        for file in (root / folder).rglob(kind):
            calls += re.findall(r"LocalCluster\((?:.*\n){1,8}", file.read_text("utf-8"))
    calls = [call for call in calls if "n_workers" in call or "protocol" in call]
    assert len(calls) >= 4
    assert not [c for c in calls if not re.search(r'dashboard_address\W+[\w.]*:0"', c)]
