"""What many workers take: the closed forms against a simulation and against counting."""

import doctest
import math
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from livepage.figures import registry
from onlinesoftmax import costs
from tiledattention.cluster import network
from tiledattention.cluster.network import (
    CORE,
    DASK,
    DASK_AT_BEST,
    DATA_CENTRE,
    FAR,
    FAST,
    OFFICE,
    Job,
    Level,
    Network,
    Worker,
    depth,
    fold_time,
    levels,
    merge_time,
    merges,
    reaching,
    seconds,
    simulated,
    state_bytes,
    worth,
)
from tiledattention.cluster.tree import tree

NETWORKS = (OFFICE, DATA_CENTRE, FAST, FAR)
counts = st.integers(1, 300)
fans = st.integers(2, 20)
workers = st.integers(1, 60)
jobs = st.builds(
    Job,
    queries=st.integers(1, 500),
    keys=st.integers(1, 2000),
    d=st.sampled_from([1, 64, 128]),
    chunk=st.integers(20, 400),
    itemsize=st.just(4),
)
nets = st.builds(
    Network,
    latency=st.floats(0, 0.1),
    bandwidth=st.floats(1e6, 1e11),
    handling=st.floats(0, 0.01),
)
cores = st.builds(
    Worker,
    reading=st.floats(1e7, 1e11),
    operations=st.floats(1e8, 1e12),
    merging=st.floats(1e7, 1e11),
)


def test_the_examples() -> None:
    assert doctest.testmod(network).failed == 0


# ---- the tree, against the one that the library builds ----


@given(states=counts, fan=fans)
def test_depth_and_merges_are_those_of_the_tree(states: int, fan: int) -> None:
    found: list[int] = []  # the levels of its tasks

    def join(own: list[int], level: int, place: int) -> int:
        found.append(level)
        return own[0]

    tree(range(states), join, fan)
    assert depth(states, fan) == max(found, default=0)
    assert merges(states, fan) == len(found)


@given(states=counts, share=st.integers(1, 40), fan=fans)
def test_levels_count_what_reaches_the_first_worker(states, share, fan) -> None:
    """Walk the tree, and look at each merge that this worker does."""
    sharing = -(-states // share)
    found = [Level(0, 0)] * depth(states, fan)
    own_share = -(-states // sharing)

    def join(own: list[int], level: int, place: int) -> int:
        if own[0] < own_share:
            sent = sum(leaf >= own_share for leaf in own)
            so_far = found[level - 1]
            found[level - 1] = Level(
                so_far.messages + sent, so_far.merges + len(own) - 1
            )
        return own[0]

    tree(range(states), join, fan)
    assert levels(states, sharing, fan) == found


@given(states=counts)
def test_all_at_once_is_one_level(states: int) -> None:
    assert depth(states, max(states, 2)) == (states > 1)
    assert merges(states, max(states, 2)) == (states > 1)
    if states > 1:
        assert levels(states, states, states) == [Level(states - 1, states - 1)]


@given(states=counts, fan=fans)
def test_every_state_but_one_is_merged_into_another(states: int, fan: int) -> None:
    alone = levels(states, 1, fan)
    assert sum(level.merges for level in alone) == states - 1
    assert sum(level.messages for level in alone) == 0


# ---- bytes and seconds ----


def test_a_state_is_two_numbers_and_a_row_for_each_query() -> None:
    assert state_bytes(1, 64) == 66 * 8
    assert state_bytes(256, 64, itemsize=4) == 256 * 66 * 4
    assert Job(7, 100, 64).state == state_bytes(7, 64)


def test_a_chunk_takes_its_bytes_or_its_operations() -> None:
    read = 2 * 1000 * 64 * 4 / CORE.reading
    assert fold_time(Job(1, 5000, 64, 1000)) == pytest.approx(read)
    many = costs.flops(9999, 64, keys=1000) / CORE.operations
    assert fold_time(Job(9999, 5000, 64, 1000)) == pytest.approx(many)
    assert fold_time(Job(1, 500, 64, 1000)) == pytest.approx(read / 2)


def test_a_level_waits_receives_and_merges() -> None:
    net, worker = Network(0.5, 10.0, 0.25), Worker(1.0, 1.0, 5.0)
    assert merge_time(Level(0, 0), 20, net, worker) == 0
    assert merge_time(Level(0, 3), 20, net, worker) == 3 * 20 / 5
    both = merge_time(Level(2, 3), 20, net, worker)
    assert both == 0.5 + 2 * (0.25 + 20 / 10) + 3 * 20 / 5


def test_the_parts_add_up() -> None:
    found = seconds(Job(256, 2**20, 64, 1000), 37, scheduler=DASK)
    assert found.total == sum(found)
    assert found.share == found.merging / sum(found)
    assert seconds(Job(256, 2**20, 64, 1000), 37).waiting == 0


# ---- the closed form against the simulation ----

EXACT = 1e-9
KEYS = (2**20, 2**23)
EVEN = (1, 2, 4, 8, 32, 128, 256, 1024)
UNEVEN = (3, 7, 12, 31, 100, 200, 500, 1000)


def ratios(counts, schedulers, fans=(2, 8, 32, None), queries=(1, 256, 4096)):
    """The closed form divided by the simulation, over a grid."""
    for q, keys, fan, net in product(queries, KEYS, fans, NETWORKS):
        for count, scheduler in product(counts, schedulers):
            job = Job(q, keys, 64).cut_for(count)
            at_once = fan or max(job.chunks, 2)
            given = {"fan": at_once, "network": net, "scheduler": scheduler}
            found = simulated(job, count, **given)
            yield seconds(job, count, **given).total / found.seconds


def test_shared_evenly_it_is_what_the_simulation_finds() -> None:
    assert not [each for each in ratios(EVEN, [0.0]) if not abs(each - 1) < EXACT]


def test_shared_unevenly_it_is_an_estimate() -> None:
    found = list(ratios(UNEVEN, [0.0], queries=(256,)))
    assert 0.75 < min(found) and max(found) < 1.025
    assert min(found) < 0.99  # it is no more than that


@pytest.mark.parametrize(("fan", "low"), [(2, 0.75), (8, 0.9), (32, 0.8), (None, 0.8)])
def test_with_a_scheduler_it_is_an_estimate(fan: int | None, low: float) -> None:
    counts = (1, 4, 32, 256, 1024)
    found = list(ratios(counts, [DASK_AT_BEST, DASK], [fan], queries=(1, 256)))
    assert low < min(found) and max(found) < 1.01


@given(job=jobs, count=workers, fan=fans, net=nets, core=cores)
def test_no_simulation_beats_its_busiest_worker(job, count, fan, net, core) -> None:
    """Folding has to be done, and so has the last level, whoever waits for whom."""
    found = simulated(job, count, fan=fan, network=net, worker=core)
    whole = job.keys // job.chunk  # chunks of full size
    most = -(-whole // min(count, job.chunks)) * fold_time(job, worker=core)
    assert found.seconds >= most * (1 - EXACT)
    assert found.tasks == job.chunks + merges(job.chunks, fan)
    assert found.messages >= min(count, job.chunks) - 1


@given(job=jobs, fan=fans, net=nets, core=cores, each=st.floats(0, 0.01))
def test_one_worker_sends_nothing(job, fan, net, core, each) -> None:
    given_ = {"fan": fan, "worker": core, "scheduler": each}
    found = simulated(job, 1, network=net, **given_)
    assert found.messages == 0
    assert found == simulated(job, 1, network=OFFICE, **given_)
    assert seconds(job, 1, network=net, **given_) == seconds(job, 1, **given_)


@given(job=jobs, count=workers, fan=fans, net=nets, each=st.floats(0, 0.01))
def test_it_is_the_same_every_time(job, count, fan, net, each) -> None:
    given_ = {"fan": fan, "network": net, "scheduler": each}
    assert simulated(job, count, **given_) == simulated(job, count, **given_)


FASTER = {
    "bandwidth": lambda net: net._replace(bandwidth=2 * net.bandwidth),
    "latency": lambda net: net._replace(latency=net.latency / 2),
    "handling": lambda net: net._replace(handling=net.handling / 2),
}


@pytest.mark.parametrize("what", FASTER)
@given(job=jobs, count=workers, fan=fans, net=nets)
def test_a_better_network_is_never_slower(what, job, count, fan, net) -> None:
    better = FASTER[what](net)
    room = 1 + EXACT
    for cost in (total, played):
        now, then = cost(job, count, fan, better), cost(job, count, fan, net)
        assert now <= then * room


def total(job: Job, count: int, fan: int, net: Network) -> float:
    return seconds(job, count, fan=fan, network=net).total


def played(job: Job, count: int, fan: int, net: Network) -> float:
    return simulated(job, count, fan=fan, network=net).seconds


@given(job=jobs, count=workers, fan=fans, net=nets, each=st.floats(0, 0.01))
def test_a_scheduler_never_saves_time(job, count, fan, net, each) -> None:
    given_ = {"fan": fan, "network": net}
    free, paid = (
        seconds(job, count, **given_),
        seconds(job, count, scheduler=each, **given_),
    )
    assert paid.waiting >= -EXACT * paid.total and paid[:2] == free[:2]
    found = simulated(job, count, scheduler=each, **given_)
    assert found.seconds >= found.tasks * each * (1 - EXACT)


@given(power=st.integers(0, 4), fan=st.sampled_from([2, 4, 8]), net=nets, core=cores)
def test_full_trees_are_exact_for_any_rates(power, fan, net, core) -> None:
    count = fan**power if fan < 8 else 8 ** min(power, 3)
    for chunks in (count, count * fan):
        job = Job(9, 100 * chunks, 16, 100)
        given_ = {"fan": fan, "network": net, "worker": core}
        found = simulated(job, count, **given_)
        assert math.isclose(seconds(job, count, **given_).total, found.seconds)
        if chunks == count:
            assert found.messages == count - 1


def test_a_receiver_takes_one_message_at_a_time() -> None:
    """Nine states on nine workers, all sent to the first: the last waits for the others."""
    net = Network(latency=1.0, bandwidth=1e30, handling=2.0)
    worker = Worker(1e30, 1e30, 1e30)
    job = Job(1, 9, 4, chunk=1)
    for fan, wanted in ((9, 1 + 8 * 2), (3, 2 * (1 + 2 * 2))):
        found = simulated(job, 9, fan=fan, network=net, worker=worker)
        assert found.seconds == pytest.approx(wanted)


# ---- where merging stops being free ----


def test_merging_is_worth_as_many_keys_however_many_queries() -> None:
    many = [worth(Job(q, 2**23, 64).cut_for(1024), 1024) for q in (4096, 65536, 2**20)]
    assert max(many) / min(many) < 1.05
    found = seconds(Job(4096, 2**23, 64).cut_for(1024), 1024)
    own = 2**23 // 1024  # keys of a worker
    assert found.merging / found.folding == pytest.approx(many[0] / own)


@given(share=st.floats(0.01, 0.99), job=jobs, fan=fans)
@settings(max_examples=50)
def test_the_first_number_that_reaches_a_share(share, job, fan) -> None:
    found = reaching(share, job, 64, fan=fan)
    for power in range(7):
        own = seconds(job.cut_for(2**power), 2**power, fan=fan).share
        if found is None or 2**power < found:
            assert own < share
    if found:
        assert seconds(job.cut_for(found), found, fan=fan).share >= share


# ---- a closed form that is wrong is noticed ----

FAULTS = {
    "latency for each message": ("_receiving", lambda n, s, net: n * (net.latency + net.handling + s / net.bandwidth)),
    "messages side by side": ("_receiving", lambda n, s, net: net.latency + net.handling + s / net.bandwidth if n else 0.0),
    "a message from itself": ("_receiving", lambda n, s, net: net.latency + (n + 1) * (net.handling + s / net.bandwidth) if n else 0.0),
    "handling forgotten": ("_receiving", lambda n, s, net: net.latency + n * s / net.bandwidth if n else 0.0),
    "merges are free": ("_taking", lambda level, state, worker: 0.0),
    "merges of what was sent only": ("_taking", lambda level, state, worker: level.messages * state / worker.merging),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_wrong_closed_form_is_noticed(fault: str, monkeypatch) -> None:
    name, wrong = FAULTS[fault]
    monkeypatch.setattr(network, name, wrong)
    off = [abs(each - 1) for each in ratios((4, 32, 1024), [0.0], queries=(256,))]
    assert max(off) > 1e-4


def test_a_receiver_of_many_at_a_time_is_noticed(monkeypatch) -> None:
    """A simulation in which nobody is ever busy agrees with nothing."""
    free = lambda run, what, whose, seconds: run.now + seconds  # noqa: E731
    monkeypatch.setattr(network._Run, "keep_busy", free)
    found = ratios((1, 4, 1024), [0.0], queries=(256,))
    assert max(abs(each - 1) for each in found) > 0.01


# ---- what makes no sense ----

JOB = Job(2, 100, 4, 10)


@pytest.mark.parametrize("run", [seconds, simulated])
@pytest.mark.parametrize(
    ("given_", "says"),
    [
        ((JOB, 0), "workers: expected an integer of at least 1, got 0"),
        ((JOB._replace(queries=0), 2), "queries: expected an integer of at least 1"),
        (
            (JOB._replace(keys=1.5), 2),
            "keys: expected an integer of at least 1, got 1.5",
        ),
        ((JOB._replace(d=-1), 2), "d: expected an integer of at least 1, got -1"),
        ((JOB._replace(chunk=0), 2), "chunk: expected an integer of at least 1, got 0"),
        ((JOB._replace(itemsize=0), 2), "itemsize: expected an integer of at least 1"),
    ],
)
def test_a_job_that_cannot_be(run, given_, says: str) -> None:
    with pytest.raises(ValueError, match=f"^{says}"):
        run(*given_)


@pytest.mark.parametrize("run", [seconds, simulated])
@pytest.mark.parametrize(
    ("given_", "says"),
    [
        ({"fan": 1}, "fan: expected an integer of at least 2, got 1"),
        ({"scheduler": -1.0}, "scheduler: expected seconds, 0 or more, got -1.0"),
        ({"scheduler": math.nan}, "scheduler: expected seconds, 0 or more, got nan"),
        ({"network": FAST._replace(latency=-1)}, "latency: expected seconds"),
        ({"network": FAST._replace(handling=math.inf)}, "handling: expected seconds"),
        ({"network": FAST._replace(bandwidth=0)}, "bandwidth: expected a number above"),
        ({"worker": CORE._replace(reading=0)}, "reading: expected a number above 0"),
        ({"worker": CORE._replace(operations=-2)}, "operations: expected a number"),
        ({"worker": CORE._replace(merging=0)}, "merging: expected a number above 0"),
    ],
)
def test_rates_that_cannot_be(run, given_, says: str) -> None:
    with pytest.raises(ValueError, match=f"^{says}"):
        run(JOB, 2, **given_)


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (lambda: depth(0), "states: expected an integer of at least 1"),
        (lambda: merges(3, 1), "fan: expected an integer of at least 2"),
        (lambda: levels(3, 0), "workers: expected an integer of at least 1"),
        (lambda: state_bytes(0, 4), "rows: expected an integer of at least 1"),
        (lambda: state_bytes(4, 0), "columns: expected an integer of at least 1"),
        (lambda: fold_time(JOB, 0), "keys: expected an integer of at least 1"),
        (lambda: merge_time(Level(1, 1), 0), "state: expected an integer of at least"),
        (lambda: JOB.cut_for(0), "workers: expected an integer of at least 1"),
        (lambda: reaching(1, JOB), "share: expected a number between 0 and 1, got 1"),
        (lambda: reaching(0.5, JOB, 0), "most: expected an integer of at least 1"),
    ],
)
def test_an_error_names_the_argument(ask, says: str) -> None:
    with pytest.raises(ValueError, match=f"^{says}"):
        ask()


# ---- the figure's dots ----

merge_cost = registry.module("merge-cost")
QUICK = [
    state
    for state in merge_cost.simulations()
    if state["stored"] < 2**27 and state["queries"] in (1, 256, 65536)
]


@pytest.mark.parametrize("state", QUICK, ids=merge_cost.name)
def test_the_dots_of_merge_cost_are_what_a_simulation_finds(state: dict) -> None:
    assert merge_cost.dots(state) == merge_cost.simulated(state)


def test_the_last_dot_of_a_job_with_many_chunks() -> None:
    state = {"queries": 256, "stored": 2**27, "scheduler": "usual"}
    state |= {"network": "centre", "fan": 8}
    assert merge_cost.dots(state) == merge_cost.simulated(state)


def test_every_dot_lies_near_its_line() -> None:
    for state in merge_cost.simulations():
        low = 0.99 if state["scheduler"] == "none" else 0.9
        for count, found in zip(merge_cost.DOTS, merge_cost.dots(state), strict=True):
            assert low < merge_cost.spent(state, count).total / found < 1.01


def test_the_answer_of_merge_cost_is_the_models() -> None:
    """The share stays about the same, and falls a little; with more keys it falls."""
    opening = registry.spec("merge-cost").defaults()
    before = merge_cost.expected(opening)["shares"][-1]
    after = merge_cost.expected(opening | merge_cost.LARGER)["shares"][-1]
    assert before > 0.5 and 0.8 * before < after < before
    more = merge_cost.expected(opening | {"stored": 2**27})["shares"][-1]
    assert more < before / 4


def test_the_lines_of_merge_cost_are_as_near_as_its_words_say() -> None:
    """With a scheduler: at most a quarter too low, whatever a reader sets."""
    for state in product(
        (1, 256), (2**20, 2**23), merge_cost.NETWORKS, merge_cost.FANS
    ):
        state = dict(zip(("queries", "stored", "network", "fan"), state))
        state["scheduler"] = "quick"
        for count, found in zip(merge_cost.DOTS, merge_cost.simulated(state)):
            assert 0.75 < merge_cost.spent(state, count).total / found < 1.01
