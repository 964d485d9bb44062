"""What attention takes on many workers: closed forms, and a simulation that checks them.

Workers fold chunks of keys into states, `fold_time` each. A tree merges the states,
`fan` neighbours at a time, each time on the worker that holds the first of them, to which
the others are sent. As in LogP (Culler et al., 1993), a message takes its latency on the
way, and then keeps its receiver busy, who takes one message at a time.

`seconds` adds this up along the way of the worker that holds the root. `simulated` plays
it task by task and message by message. Where the work is shared evenly the two agree to
the last digits; the notes of `seconds` say what holds elsewhere.

No time here was measured. The rates are assumptions, each a round number, and they stand
below with where they come from. Reading and arithmetic are taken to overlap. Nothing else
uses the network, and nobody waits for a sender: only receivers are held up.
"""

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from math import inf
from typing import NamedTuple

from onlinesoftmax import costs, inputs
from tiledattention.cluster.tree import FAN, tree

DOUBLE = 8  # bytes of a number in a state, which is float64
CHUNK = 2**16  # keys: 32 MiB of keys and values, in rows of 64 numbers of float32

# A central scheduler's seconds for a task. "Each task suffers about 1ms of overhead"
# (distributed.dask.org, first page); "somewhere between 200us and 1ms" (docs.dask.org,
# Dask Best Practices, "Avoid Very Large Graphs").
DASK = 1e-3
DASK_AT_BEST = 2e-4


class Network(NamedTuple):
    """What a message takes.

    Attributes
    ----------
    latency : float
        Seconds on the way, during which its receiver may do something else.
    bandwidth : float
        Bytes a second that a worker receives.
    handling : float
        Seconds that a receiver is busy with any message, however short.
    """

    latency: float
    bandwidth: float
    handling: float


# A round trip within a data centre takes 500 µs (J. Dean, Numbers Everyone Should Know,
# 2009; E. Jones, Network latencies in the cloud, 2021, found it to be the 80th percentile
# still), one way half of that. 10 Gbit/s are 1.25 GB/s. The other latencies, and all that
# is said of handling, are plain assumptions: what TCP and Python may take.
OFFICE = Network(latency=0.5e-3, bandwidth=0.125e9, handling=50e-6)
DATA_CENTRE = Network(latency=0.25e-3, bandwidth=1.25e9, handling=50e-6)
FAST = Network(latency=0.1e-3, bandwidth=12.5e9, handling=50e-6)
FAR = Network(latency=30e-3, bandwidth=1.25e9, handling=50e-6)


class Worker(NamedTuple):
    """How fast a worker is.

    Attributes
    ----------
    reading : float
        Bytes of keys and values a second, from where they are stored.
    operations : float
        Operations a second while it folds.
    merging : float
        Bytes of states a second that it takes into another.
    """

    reading: float
    operations: float
    merging: float


# One core, by assumption: it reads what a quick disk gives, calculates at about the rate
# that the book's kernels reach on one core, and merges as fast as NumPy does.
CORE = Worker(reading=1e9, operations=1e11, merging=1e9)


class Job(NamedTuple):
    """Attention of some queries over many keys.

    Attributes
    ----------
    queries, keys : int
    d : int
        Numbers in a row of q, k and v.
    chunk : int
        Keys that are folded into one state.
    itemsize : int
        Bytes of a number in k and v.

    Examples
    --------
    >>> job = Job(queries=256, keys=2**23, d=64)
    >>> job.chunks, job.cut_for(workers=1024).chunks, job.state
    (128, 1024, 135168)
    """

    queries: int
    keys: int
    d: int
    chunk: int = CHUNK
    itemsize: int = 4

    def cut_for(self, workers: int) -> "Job":
        """Return the same job in smaller chunks, where some workers would have none.

        Parameters
        ----------
        workers : int

        Returns
        -------
        Job
        """
        own = costs.tiles_along(self.keys, _count("workers", workers), "workers")
        return self._replace(chunk=min(self.chunk, own))

    @property
    def chunks(self) -> int:
        """How many there are; the last may be shorter."""
        return costs.tiles_along(self.keys, self.chunk, "chunk")

    @property
    def state(self) -> int:
        """The bytes of the state of a chunk."""
        return state_bytes(self.queries, self.d)


# ---- the tree ----


def depth(states: int, fan: int = FAN) -> int:
    """Return the levels of merges above so many states.

    Parameters
    ----------
    states : int
    fan : int
        States that one task merges.

    Returns
    -------
    int

    Examples
    --------
    >>> depth(1024), depth(1024, 2), depth(1024, 1024), depth(1)
    (4, 10, 1, 0)
    """
    return len(list(_nodes(states, fan))) - 1


def merges(states: int, fan: int = FAN) -> int:
    """Return the tasks of the tree. A state that has no neighbour left needs none.

    Parameters
    ----------
    states : int
    fan : int

    Returns
    -------
    int

    Examples
    --------
    >>> merges(1024), merges(9), merges(1)
    (147, 2, 0)
    """
    below = list(_nodes(states, fan))[:-1]
    return sum(-(-nodes // fan) - (nodes % fan == 1) for nodes in below)


def _nodes(states: int, fan: int) -> Iterator[int]:
    """Yield how many nodes each level has, from the states up to the root."""
    nodes = _count("states", states)
    fan = _count("fan", fan, 2)
    yield nodes
    while nodes > 1:
        nodes = -(-nodes // fan)
        yield nodes


class Level(NamedTuple):
    """What one level of the tree asks of the worker that holds the root.

    Attributes
    ----------
    messages : int
        States that are sent to it.
    merges : int
        States that it takes into others.
    """

    messages: int
    merges: int


def levels(states: int, workers: int, fan: int = FAN) -> list[Level]:
    """Return what the tree asks of the worker that holds the root, level by level.

    Workers hold neighbouring states, as many as each other; where that is impossible,
    the first ones hold one more. The first one holds the root.

    Parameters
    ----------
    states : int
    workers : int
    fan : int

    Returns
    -------
    list of Level
        From the states up. In the example three workers hold three states each, and four
        are merged at a time. So the first worker is sent one state; and then two, of the
        four states that follow, and of the last.

    Examples
    --------
    >>> levels(9, workers=3, fan=4)
    [Level(messages=1, merges=3), Level(messages=2, merges=2)]
    """
    found, apart = [], 1  # from one node's first state to the next node's
    own = -(-_count("states", states) // _count("workers", workers))
    for nodes in list(_nodes(states, fan))[:-1]:
        held = min(-(-own // apart), nodes)
        groups = -(-held // fan)
        taken = min(groups * fan, nodes)
        found.append(Level(taken - held, taken - groups))
        apart *= fan
    return found


# ---- bytes and seconds ----


def state_bytes(rows: int, columns: int, itemsize: int = DOUBLE) -> int:
    """Return the bytes of a state: m, ℓ and the numbers of o, for each row.

    Parameters
    ----------
    rows, columns : int
        Queries; numbers in a row of v.
    itemsize : int
        Bytes of a number.

    Returns
    -------
    int

    Examples
    --------
    >>> state_bytes(256, 64)
    135168
    """
    rows, columns = _count("rows", rows), _count("columns", columns)
    return costs.state_footprint(rows, columns, itemsize=itemsize)


def fold_time(job: Job, keys: int | None = None, worker: Worker = CORE) -> float:
    """Return the seconds to fold a chunk: for its bytes or its operations, what is more.

    Parameters
    ----------
    job : Job
    keys : int, optional
        A whole chunk's unless given.
    worker : Worker

    Returns
    -------
    float

    Examples
    --------
    >>> job = Job(queries=1, keys=2**23, d=64)
    >>> round(fold_time(job), 4), round(fold_time(job._replace(queries=256)), 4)
    (0.0336, 0.0429)
    """
    inputs.instance("job", job, Job)
    keys = min(job.chunk, job.keys) if keys is None else _count("keys", keys)
    operations = costs.flops(job.queries, job.d, keys=keys)
    read = 2 * costs.dense_footprint(keys, keys=job.d, itemsize=job.itemsize)
    return costs.least_time(operations, read, worker.operations, worker.reading)


def merge_time(
    level: Level, state: int, network: Network = DATA_CENTRE, worker: Worker = CORE
) -> float:
    """Return the seconds of one level: to wait for states, to receive them, to merge.

    Parameters
    ----------
    level : Level
    state : int
        Bytes of a state.
    network : Network
    worker : Worker

    Returns
    -------
    float
    """
    _check_rates(network, worker)
    state = _count("state", state)
    return _receiving(level.messages, state, network) + _taking(level, state, worker)


def _receiving(messages: int, state: int, network: Network) -> float:
    """Return the seconds until states have arrived that are sent at the same time."""
    each = network.handling + state / network.bandwidth
    return network.latency + messages * each if messages else 0.0


def _taking(level: Level, state: int, worker: Worker) -> float:
    """Return the seconds to take states into others."""
    return level.merges * state / worker.merging


class Seconds(NamedTuple):
    """What the whole takes.

    Attributes
    ----------
    folding : float
        The worker that has most chunks folds them.
    merging : float
        The levels of the tree, one after another.
    waiting : float
        What the scheduler adds to that.
    """

    folding: float
    merging: float
    waiting: float

    @property
    def total(self) -> float:
        """All three."""
        return self.folding + self.merging + self.waiting

    @property
    def share(self) -> float:
        """The part of the time that merging takes."""
        return self.merging / self.total


def seconds(
    job: Job,
    workers: int,
    *,
    fan: int = FAN,
    network: Network = DATA_CENTRE,
    worker: Worker = CORE,
    scheduler: float = 0.0,
) -> Seconds:
    """Return what folding and merging take on so many workers.

    Parameters
    ----------
    job : Job
    workers : int
        If there are more than chunks, the rest have nothing to do.
    fan : int
        States that one task merges.
    network : Network
    worker : Worker
    scheduler : float
        Seconds of the scheduler for a task; it hands out one after another.

    Returns
    -------
    Seconds

    Notes
    -----
    Without a scheduler, `simulated` says the same, up to rounding, if every worker has
    equally many chunks, all of one size, and either that number and `fan` are powers of
    the same number, or all states are merged at once. Elsewhere some other worker may get
    more messages than the one with the root, or fewer, and be waited for; so this is only
    an estimate, at most a quarter too low and a fortieth too high.

    With a scheduler it is an estimate everywhere. Merges are handed out while chunks are
    still being folded, and which of them waits for which is not counted here. Where the
    work is shared evenly, it is at most a tenth too low if `fan` is 8, a quarter if it is
    2, and a hundredth too high.

    The tests hold it to this for up to 1,024 workers.

    Examples
    --------
    >>> job = Job(queries=256, keys=2**23, d=64)
    >>> for workers in (1, 128, 1024):
    ...     found = seconds(job.cut_for(workers), workers)
    ...     print(f"{workers:4} workers: {found.total:.4f} s, merging {found.share:.0%}")
       1 workers: 5.5147 s, merging 0%
     128 workers: 0.0481 s, merging 11%
    1024 workers: 0.0128 s, merging 58%
    """
    _check(job, network, worker)
    count = min(_count("workers", workers), job.chunks)
    fold, each = fold_time(job, worker=worker), _seconds("scheduler", scheduler)
    folding = -(-job.chunks // count) * fold
    path = [
        merge_time(level, job.state, network, worker)
        for level in levels(job.chunks, count, fan)
    ]
    folded = _folded(job.chunks, count, fold, each)
    handed_out = (job.chunks + merges(job.chunks, fan)) * each
    done = max(folded + len(path) * each + sum(path), handed_out + sum(path[-1:]))
    waiting = done - folding - sum(path)
    return Seconds(folding, sum(path), waiting if each else 0.0)


def _folded(chunks: int, workers: int, fold: float, each: float) -> float:
    """Return when the last chunk is folded: the workers take turns to be handed one.

    Either some worker is never idle once it has begun, or the last task to be handed out
    is also the last one done.
    """
    rounds = -(-chunks // workers)
    last = chunks - (rounds - 1) * workers  # of those that have a chunk in each round
    never_idle = max(last * each + rounds * fold, workers * each + (rounds - 1) * fold)
    return max(never_idle, chunks * each + fold)


def worth(
    job: Job,
    workers: int,
    *,
    fan: int = FAN,
    network: Network = DATA_CENTRE,
    worker: Worker = CORE,
) -> float:
    """Return how many keys more a worker could fold while the states are merged.

    Parameters
    ----------
    job : Job
    workers : int
    fan : int
    network : Network
    worker : Worker

    Returns
    -------
    float
        Of many queries, it no longer depends on how many they are.

    Examples
    --------
    >>> for queries in (1, 256, 4096, 65536):
    ...     job = Job(queries, keys=2**23, d=64).cut_for(1024)
    ...     print(queries, round(worth(job, 1024)))
    1 4142
    256 11372
    4096 8368
    65536 8180
    """
    found = seconds(job, workers, fan=fan, network=network, worker=worker)
    return found.merging / fold_time(job, 1, worker)


def reaching(
    share: float,
    job: Job,
    most: int = 1024,
    *,
    fan: int = FAN,
    network: Network = DATA_CENTRE,
    worker: Worker = CORE,
    scheduler: float = 0.0,
) -> int | None:
    """Return with how many workers merging first takes such a share of the time.

    The number is doubled, from one worker on, and the job is cut for each.

    Parameters
    ----------
    share : float
    job : Job
    most : int
        Workers.
    fan : int
    network : Network
    worker : Worker
    scheduler : float

    Returns
    -------
    int or None
        None if it never does, up to `most`.

    Examples
    --------
    >>> job = Job(queries=256, keys=2**23, d=64)
    >>> reaching(0.1, job), reaching(0.5, job), reaching(0.9, job)
    (128, 1024, None)
    """
    if not 0 < inputs.real(share) < 1:
        came = inputs.shown(share)
        raise ValueError(f"share: expected a number between 0 and 1, got {came}")
    inputs.instance("job", job, Job)
    count = 1
    while count <= _count("most", most):
        found = seconds(
            job.cut_for(count),
            count,
            fan=fan,
            network=network,
            worker=worker,
            scheduler=scheduler,
        )
        if found.share >= share:
            return count
        count *= 2
    return None


# ---- the simulation ----


class Simulated(NamedTuple):
    """What a simulation found.

    Attributes
    ----------
    seconds : float
        Until the root is merged.
    messages : int
        States that were sent.
    tasks : int
        Folds and merges.
    """

    seconds: float
    messages: int
    tasks: int


def simulated(
    job: Job,
    workers: int,
    *,
    fan: int = FAN,
    network: Network = DATA_CENTRE,
    worker: Worker = CORE,
    scheduler: float = 0.0,
) -> Simulated:
    """Play the whole, task by task and message by message; it is the same every time.

    Each worker folds a row of neighbouring chunks. The scheduler hands out the first chunk
    of every worker, then the second ones; and a merge when all its states are there.
    Then the states are sent, and arrive one after another. A worker does its tasks in the
    order in which it can begin them.

    Parameters
    ----------
    job : Job
    workers : int
    fan : int
    network : Network
    worker : Worker
    scheduler : float

    Returns
    -------
    Simulated

    Examples
    --------
    >>> job = Job(queries=256, keys=2**23, d=64).cut_for(1024)
    >>> found = simulated(job, 1024)
    >>> found.messages, found.tasks, round(found.seconds, 4)
    (1023, 1171, 0.0128)
    """
    _check(job, network, worker)
    count = min(_count("workers", workers), job.chunks)
    run = _Run(job, network, worker, _seconds("scheduler", scheduler))
    rows = _rows(job.chunks, count)
    leaves = _leaves([home for home, row in enumerate(rows) for _ in row], fan)
    for turn in range(len(rows[0])):
        for row in rows:
            if turn < len(row):
                run.hand_out(leaves[row[turn]])
    return run.until_done()


class _Node:
    """A state that is to be: of a chunk, or of several nodes below it."""

    def __init__(
        self, home: int, below: Sequence["_Node"] = (), chunk: int = 0
    ) -> None:
        self.home = home  # the worker that will hold it
        self.below = below
        self.chunk = chunk
        self.missing = len(below)
        self.above: _Node | None = None
        for node in below:
            node.above = self


def _rows(chunks: int, workers: int) -> list[range]:
    """Return the chunks of each worker, in a row; the first ones may have one more."""
    least, more = divmod(chunks, workers)
    starts = [home * least + min(home, more) for home in range(workers + 1)]
    return [range(first, last) for first, last in zip(starts, starts[1:])]


def _leaves(homes: Sequence[int], fan: int) -> list[_Node]:
    """Return the leaves of the tree, of which each knows the node above it."""
    leaves = [_Node(home, chunk=chunk) for chunk, home in enumerate(homes)]
    tree(
        leaves, lambda own, level, place: _Node(own[0].home, own), _count("fan", fan, 2)
    )
    return leaves


class _Run:
    """A simulation: what happens when, and who is busy until when."""

    def __init__(
        self, job: Job, network: Network, worker: Worker, scheduler: float
    ) -> None:
        self.job, self.network, self.worker = job, network, worker
        self.scheduler = scheduler
        self.now = 0.0
        self.busy: dict[tuple[str, int], float] = {}
        self.coming: list[tuple[float, int, str, _Node]] = []
        self.happened = self.messages = self.tasks = 0

    def hand_out(self, node: _Node) -> None:
        """Let the scheduler hand out a task, once it has the time."""
        self.tasks += 1
        self.later(self.keep_busy("scheduler", 0, self.scheduler), "begin", node)

    def keep_busy(self, what: str, whose: int, seconds: float) -> float:
        """Return when something ends for which only one has to be free."""
        start = max(self.now, self.busy.get((what, whose), 0.0))
        self.busy[what, whose] = start + seconds
        return start + seconds

    def later(self, when: float, what: str, node: _Node) -> None:
        """Let something happen; of two things at one time, what was said first."""
        self.happened += 1
        heappush(self.coming, (when, self.happened, what, node))

    def until_done(self) -> Simulated:
        """Return what was found once nothing is left to happen."""
        while self.coming:
            self.now, _, what, node = heappop(self.coming)
            getattr(self, what)(node)
        return Simulated(self.now, self.messages, self.tasks)

    # What can happen to a node.

    def begin(self, node: _Node) -> None:
        """Send for the states that others hold; a chunk needs none."""
        away = sum(below.home != node.home for below in node.below)
        self.messages += away
        wait = self.network.latency if away else 0.0
        self.later(self.now + wait, "receive" if away else "work", node)

    def receive(self, node: _Node) -> None:
        """Take the states, one after another, once the link is free."""
        away = sum(below.home != node.home for below in node.below)
        each = self.network.handling + self.job.state / self.network.bandwidth
        self.later(self.keep_busy("link", node.home, away * each), "work", node)

    def work(self, node: _Node) -> None:
        """Fold or merge, once the worker is free."""
        if node.below:
            takes = (len(node.below) - 1) * self.job.state / self.worker.merging
        else:
            left = self.job.keys - node.chunk * self.job.chunk
            takes = fold_time(self.job, min(self.job.chunk, left), self.worker)
        self.later(self.keep_busy("worker", node.home, takes), "finish", node)

    def finish(self, node: _Node) -> None:
        """Tell the node above."""
        if node.above:
            node.above.missing -= 1
            if not node.above.missing:
                self.hand_out(node.above)


# ---- arguments ----


def _check(job: Job, network: Network, worker: Worker) -> None:
    """Refuse what nothing can be said of, by the name of the field."""
    inputs.instance("job", job, Job)
    for name in job._fields:
        _count(name, getattr(job, name))
    _check_rates(network, worker)


def _check_rates(network: Network, worker: Worker) -> None:
    """Refuse a network or a worker that cannot be."""
    inputs.instance("network", network, Network)
    inputs.instance("worker", worker, Worker)
    for name in ("latency", "handling"):
        _seconds(name, getattr(network, name))
    _rate("bandwidth", network.bandwidth)
    for name in worker._fields:
        _rate(name, getattr(worker, name))


def _count(name: str, number: int, low: int = 1) -> int:
    """Return an integer of at least `low`."""
    expected = f"an integer of at least {low}"
    return inputs.integer(name, number, low, inputs.LARGEST, expected)


def _seconds(name: str, number: float) -> float:
    """Return a number of seconds, which may be 0."""
    if not 0 <= inputs.real(number) < inf:
        came = inputs.shown(number)
        raise ValueError(f"{name}: expected seconds, 0 or more, got {came}")
    return number


def _rate(name: str, number: float) -> float:
    """Return a number above 0, a second."""
    if not inputs.real(number) > 0:
        came = inputs.shown(number)
        raise ValueError(f"{name}: expected a number above 0, got {came}")
    return number
