"""Keys dealt out to blocks: the states of all parts merge into the answer of the whole.

Against `dense.attention`, over lengths, parts, groups and masks; parts in any order;
when it is picked; and that "auto" answers the same, whichever rung it picks.
"""

import math
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from test_gpu import Case, module, run, simulated

import blocksim
from kernellab import devices, reports, trial
from onlinesoftmax import dense, masks
from planting import at_each_place, planted
from tiledattention import gpu
from tiledattention.gpu import nvidia
from tiledattention.gpu.ladder import LADDER, Build
from tiledattention.gpu.rung import Work
from tiledattention.gpu.task import Task, checked_arguments, fit

SPLIT = LADDER["split"]
A100, H100 = (devices.gpu(name).multiprocessors for name in ("A100", "H100"))


def task_of(n: int, keys: int, group: int, mask: masks.Mask, dtype: str) -> tuple:
    """An attention of two heads of keys, and what it should return."""
    rng = np.random.default_rng(n + 7 * keys)
    sizes = [(2 * group, n, 8), (2, keys, 8), (2, keys, 8)]
    q, k, v = (rng.standard_normal(size).astype(dtype) for size in sizes)
    q *= 4  # so that the maximum rises, and rescaling matters
    task = fit(checked_arguments(q, k, v, None), mask, 8)
    wide = (x.astype(float) for x in (q, k, v))
    return task, *dense.attention(*wide, mask=mask, return_lse=True)


def close(out, lse, truth, true_lse, keys: int, dtype: str) -> bool:
    """Whether an answer is right by the accuracy rule."""
    case = trial.Case("split", 8, dtype, None, (1, 1, len(out), keys))
    allowed = trial.tolerance(case, np.abs(truth).max(initial=1))
    return np.allclose(out, truth, rtol=0, atol=allowed) and np.allclose(
        lse, true_lse, rtol=1e-5, atol=1e-5
    )


@given(
    n=st.integers(1, 5),
    keys=st.integers(1, 25),
    parts=st.integers(1, 4),
    group=st.sampled_from([1, 2, 4]),
    reach=st.tuples(*[st.sampled_from([0, 2, 9, None])] * 2),
    length=st.integers(0, 25),
    dtype=st.sampled_from(["float32", "float16"]),
)
@example(n=1, keys=24, parts=4, group=4, reach=(None, 0), length=24, dtype="float32")
@example(n=3, keys=9, parts=4, group=1, reach=(2, 0), length=0, dtype="float32")
@settings(max_examples=25)
def test_the_parts_together_answer_as_the_whole(
    n, keys, parts, group, reach, length, dtype
) -> None:
    mask = masks.window(*reach) & masks.padding(min(length, keys))
    task, *truth = task_of(n, keys, group, mask, dtype)
    answer = simulated(Build.small("split", 8), task, parts)
    assert close(*answer, *truth, keys, dtype)


def test_several_warps_and_wide_rows_as_they_ship() -> None:
    for d, dtype in ((64, "float32"), (128, "float16")):
        case = Case((2, 1), 1, 70, d, masks.window(60), dtype)
        build = Build.shipped("split", d)
        report, off = run(build.kernel, build, case, mode="race")
        assert not off and not report.faults
        assert report.shared_bytes == build.shared


# ---- states ----


def states_of(task: Task, parts: int) -> tuple[np.ndarray, Build]:
    """What the first kernel leaves behind, and the build of the second."""
    build, after = Build.small("split", 8).launches
    given = task.arguments(np.zeros_like(task.q), np.zeros(task.q.shape[:2]), parts)
    arguments = (given[name] for name in build.arguments)
    blocksim.run(build.kernel, task.grid(build, parts), build.threads, *arguments)
    return given["states"], after


def merged(states: np.ndarray, task: Task, after: Build) -> tuple:
    """The answer that the second kernel makes of states."""
    out, lse = np.zeros_like(task.q), np.zeros(task.q.shape[:2], np.float32)
    report = blocksim.run(
        after.kernel, task.grid(after), after.threads, states, out, lse
    )
    assert not report.faults
    return out, lse


def test_parts_may_be_merged_in_any_order_and_empty_ones_change_nothing() -> None:
    task, *truth = task_of(2, 24, 2, masks.causal(), "float32")
    states, after = states_of(task, 4)
    answer = merged(states, task, after)
    empty = np.zeros_like(states[:1])
    empty[..., 8] = -np.inf
    for places in ([2, 0, 3, 1], [3, 2, 1, 0]):
        assert close(*merged(states[places], task, after), *truth, 24, "float32")
    for at in (0, 2, 4):
        with_one = np.concatenate([states[:at], empty, states[at:]])
        for got, expected in zip(merged(with_one, task, after), answer, strict=True):
            np.testing.assert_array_equal(got, expected)


def test_a_part_without_keys_leaves_the_state_that_has_seen_nothing() -> None:
    task, *_ = task_of(1, 3, 1, masks.window(), "float32")
    states, _ = states_of(task, 5)  # three parts with a key each, two without
    m, l, o = states[..., 8], states[..., 9], states[..., :8]
    assert (np.isneginf(m[3:])).all() and not l[3:].any() and not o[3:].any()
    assert np.isfinite(m[:3]).all() and (l[:3] == 1).all()


def test_teams_and_parts_are_merged_by_the_same_lines() -> None:
    text = SPLIT.source.read_text("utf-8")
    first, second = (
        [line.strip() for line in piece.split("\n\n")[0].splitlines()]
        for piece in text.split("            m_new = max(m, m_part)")[1:]
    )
    assert first[:7] == second[:7] and "beta * o_part" in first[6]


# ---- one line wrong at a time ----

MUTANTS = {
    "a part is dropped": ("range(states.shape[0])", "range(1, states.shape[0])"),
    "a part is dealt out twice": ("begin += part * share", "begin += 0 * share"),
    "a part is too short": ("+ parts - 1) // parts", ") // parts"),
    "a part goes on to the end": ("min(begin + share, end)", "end"),
    "alpha and beta change places": (
        "o = alpha * o + beta * o_part",
        "o = beta * o + alpha * o_part",
    ),
    "a state is not rescaled": ("l = alpha * l + beta", "l = l + beta"),
    "a team is forgotten": ("for team in range(block_k)", "for team in range(1, block_k)"),
    "a key is not rescaled": ("alpha * team_o[r, c]", "team_o[r, c]"),
    "a team hands over two of its sums": ("range(HOPS)", "range(2)"),
    "the last key counts twice": (" <= key < stop[r]", " <= key"),
    "hidden keys before": ("max(place - left, begin)", "begin"),
    "the rows of one head": ("rows = n * group", "rows = n"),
    "the next head's rows": ("                head += 1", "                head += 0"),
    "the row after the last": ("min(block_q, rows - top)", "block_q"),
    "the guard": ("m_new if m_new > float32(-math.inf) else float32(0.0)", "m_new"),
    "padding": ("lengths[shared_head * group]", "keys"),
}  # fmt: skip
NOTICE = {
    "causal": Case((2, 1), 3, 23, 8, masks.causal()),
    "window": Case((4, 2), 1, 30, 8, masks.window(21, 2) & masks.padding([25, 30])),
    "rows apart": Case((1, 1), 3, 12, 8, masks.window(3, 0)),
    "nothing": Case((1, 1), 3, 2, 8, masks.causal()),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_wrong_line_is_noticed(name: str, tmp_path: Path) -> None:
    source = SPLIT.source.read_text("utf-8")
    # The lines of the merge stand there twice.
    for place, text in enumerate(at_each_place(source, *MUTANTS[name])):
        assert noticed(module(text, tmp_path).RUNG), f"{name}, place {place}"


def noticed(rung) -> bool:
    """Whether some case shows that a rung is wrong."""
    build = Build("split", 8, 2, 8)
    kernels = rung.kernel(build.size), rung.then.kernel(build.size)
    reports = (run(kernels[0], build, case, kernels[1]) for case in NOTICE.values())
    return any(off or report.faults for report, off in reports)


def test_as_it_is_it_is_right() -> None:
    assert not noticed(SPLIT)


@pytest.mark.parametrize(
    ("right", "wrong_one", "kind"),
    [
        ("cuda.syncthreads()", "pass", "race"),
        ("uint32(min(key, last))", "uint32(key)", "index"),
        ("for x in range(t, count * d", "for x in range(t, block_q * d", "index"),
    ],
)  # fmt: skip
def test_a_fault_is_found(right, wrong_one, kind, tmp_path: Path) -> None:
    source = planted(SPLIT.source.read_text("utf-8"), right, wrong_one)
    made = module(source, tmp_path).RUNG
    build = Build("split", 8, 2, 8)
    report, _ = run(made.kernel(build.size), build, NOTICE["nothing"])
    assert kind in {fault.kind for fault in report.faults}


# ---- how many parts, and when ----


@pytest.mark.parametrize("d", gpu.WIDTHS)
@pytest.mark.parametrize("gpus", [A100, H100])
def test_parts_fill_the_multiprocessors_but_not_more(d: int, gpus: int) -> None:
    build = Build.shipped("split", d)
    room = gpus * SPLIT.blocks[d]
    for heads, keys in product((1, 8, 32, 500), (100, 8192, 131_072)):
        work = Work(heads, 1)
        parts = build.parts(work, keys, gpus)
        blocks = math.prod(build.grid(work._replace(parts=parts)))
        assert blocks <= max(room, heads)
        turns = math.ceil(math.ceil(keys / parts) / build.block_k)
        assert parts == 1 or turns >= 3  # a part is no smaller …
        assert heads * (parts + 1) > room or turns <= 4  # … than it has to be


def test_so_many_blocks_do_fit() -> None:
    """`blocks`, which the parts are counted by, is what the compiler allows."""
    for d, arch, dtype in product(gpu.WIDTHS, ("sm_80", "sm_90a"), SPLIT.dtypes):
        found = reports.stored("split", d, arch, dtype=dtype)
        assert found.occupancy.blocks >= SPLIT.blocks[d]


@pytest.mark.parametrize(
    ("work", "pays"),
    [
        (Work(heads=32, n=1), True),  # a row for each head: 32 blocks
        (Work(heads=32, n=1, group=4), True),
        (Work(heads=2000, n=1), True),  # all busy, with tiles that are nearly empty
        (Work(heads=32, n=16), True),
        (Work(heads=32, n=64), False),  # full tiles
        (Work(heads=32, n=4096), False),
        (Work(heads=1, n=4096), False),
        (Work(heads=1, n=0), False),
    ],
)
def test_it_pays_where_few_rows_of_the_tiles_are_there(work: Work, pays: bool) -> None:
    assert SPLIT.pays(work, 64, A100) == pays


def test_on_a_gpu_few_rows_pick_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvidia, "has_gpu", lambda: True)
    monkeypatch.setattr(nvidia, "device", lambda: "a GPU")
    monkeypatch.setattr(nvidia, "multiprocessors", lambda: A100)
    one, many = np.zeros((32, 1, 64), "f4"), np.zeros((8, 8192, 64), "f4")
    found = gpu.plan(one, many, many)
    assert found.build == Build.shipped("split", 64)
    assert found.parts == A100 * SPLIT.blocks[64] // 8  # eight heads of keys
    assert SPLIT.merit in found.why
    assert gpu.plan(many, many, many).build.rung != "split"
    assert gpu.plan(many, many, many, kernel="tiled").parts == 1


# ---- the same on every device ----

RUBBISH = (None, np.nan, np.inf, -np.inf)


def with_rubbish() -> tuple[np.ndarray, ...]:
    """Heads of queries, keys and values; in each, one key or value holds rubbish.

    A key of −∞ has weight 0; what becomes of rubbish in its value is left open.
    """
    rng = np.random.default_rng(8)
    pairs = [(k, v) for k, v in product(RUBBISH, repeat=2) if k != -np.inf or v is None]
    q, k, v = rng.standard_normal((3, len(pairs), 9, 8)).astype(np.float32)
    for head, found in enumerate(pairs):
        for x, bad in zip((k, v), found):
            x[head, 5] = x[head, 5] if bad is None else bad
    return np.abs(q[:, 6:]), k, v  # scores of a key of −∞ are −∞, and not NaN


@pytest.mark.parametrize("rung", gpu.PORTABLE)
@pytest.mark.parametrize("mask", [masks.causal(), masks.window(2, 1)])
def test_auto_answers_the_same_whatever_it_picks(rung: str, mask: masks.Mask) -> None:
    """NaN and ∞ at the same places, and else numbers within the accuracy rule."""
    options = {"mask": mask, "return_lse": True}
    picked = gpu.attention(*with_rubbish(), **options)
    answer = gpu.attention(*with_rubbish(), kernel=rung, **options)
    for one, other in zip(answer, picked):
        assert np.allclose(one, other, rtol=1e-5, atol=1e-6, equal_nan=True)
    assert np.isnan(answer[0]).any() and np.isinf(answer[0]).any()
