"""What attention takes on many workers: a simulation, and a closed form for a page.

Workers fold chunks of keys into states, `fold_time` each. A tree merges the states,
`fan` neighbours at a time, on the worker that holds the first of them; the other states
are sent there. As in LogP (Culler et al., 1993), a message takes its latency on the
way, and then keeps its receiver busy, which takes one message at a time.

`simulated` plays this task by task and message by message. `seconds` adds it up along
the path of the worker that holds the root; the lines of a figure need that, since a
browser cannot simulate while a slider moves. Where the work is shared evenly the two
agree to the last digits; the notes of `seconds` say what holds elsewhere.

No time here was measured. The rates are assumptions, each a round number with its
source below. Reading and arithmetic are assumed to overlap. Nothing else uses the
network, and only receivers are held up, never senders.
"""

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from math import inf
from typing import Any, NamedTuple

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
    """What a message takes."""

    latency: float  # seconds on the way, while the receiver may do something else
    bandwidth: float  # bytes a second that a worker receives
    handling: float  # seconds that a receiver is busy with any message, however short


# A round trip within a data centre takes 500 µs (J. Dean, Numbers Everyone Should Know,
# 2009; still the 80th percentile in E. Jones, Network latencies in the cloud, 2021), one
# way half of that. 10 Gbit/s are 1.25 GB/s. The other latencies and the handling are plain
# assumptions: what TCP and Python may take.
OFFICE = Network(latency=0.5e-3, bandwidth=0.125e9, handling=50e-6)
DATA_CENTRE = Network(latency=0.25e-3, bandwidth=1.25e9, handling=50e-6)
FAST = Network(latency=0.1e-3, bandwidth=12.5e9, handling=50e-6)
FAR = Network(latency=30e-3, bandwidth=1.25e9, handling=50e-6)


class Worker(NamedTuple):
    """How fast a worker is."""

    reading: float  # bytes of keys and values a second, from where they are stored
    operations: float  # operations a second while it folds
    merging: float  # bytes a second of states that it merges into another


# One core, by assumption: it reads as fast as a quick disk, computes at about the rate of
# the book's kernels on one core, and merges as fast as NumPy does.
CORE = Worker(reading=1e9, operations=1e11, merging=1e9)


class Job(NamedTuple):
    """Attention of some queries over many keys.

    >>> job = Job(queries=256, keys=2**23, d=64)
    >>> job.chunks, job.cut_for(workers=1024).chunks, job.state
    (128, 1024, 135168)
    """

    queries: int
    keys: int
    d: int  # numbers in a row of q, k and v
    chunk: int = CHUNK  # keys that are folded into one state
    itemsize: int = 4  # bytes of a number in k and v

    def cut_for(self, workers: int) -> "Job":
        """Return the same job in smaller chunks, where some workers would have none."""
        own = costs.tiles_along(self.keys, _count("workers", workers), "workers")
        return self._replace(chunk=min(self.chunk, own))

    @property
    def chunks(self) -> int:
        """The number of chunks; the last may be shorter."""
        return costs.tiles_along(self.keys, self.chunk, "chunk")

    @property
    def state(self) -> int:
        """The bytes of the state of a chunk."""
        return state_bytes(self.queries, self.d)


# ---- the tree ----


def depth(states: int, fan: int = FAN) -> int:
    """Return the levels of merges above so many states.

    >>> depth(1024), depth(1024, 2), depth(1024, 1024), depth(1)
    (4, 10, 1, 0)
    """
    return len(list(_nodes(states, fan))) - 1


def merges(states: int, fan: int = FAN) -> int:
    """Return the number of merge tasks. A state without a neighbour needs none.

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
    """What one level of the tree asks of the worker that holds the root."""

    messages: int  # states that are sent to it
    merges: int  # states that it merges into others


def levels(states: int, workers: int, fan: int = FAN) -> list[Level]:
    """Return what the tree asks of the worker that holds the root, level by level.

    Workers hold neighbouring states, as many as each other; where that is impossible,
    the first ones hold one more. The first worker holds the root. In the example three
    workers hold three states each, and four are merged at a time. So the first worker
    receives one state; and then two, of the four states that follow, and of the last.

    >>> levels(9, workers=3, fan=4)
    [Level(messages=1, merges=3), Level(messages=2, merges=2)]
    """
    asked, apart = [], 1  # from one node's first state to the next node's
    own = -(-_count("states", states) // _count("workers", workers))
    for nodes in list(_nodes(states, fan))[:-1]:
        held = min(-(-own // apart), nodes)
        groups = -(-held // fan)
        taken = min(groups * fan, nodes)
        asked.append(Level(taken - held, taken - groups))
        apart *= fan
    return asked


# ---- bytes and seconds ----


def state_bytes(rows: int, columns: int, itemsize: int = DOUBLE) -> int:
    """Return the bytes of a state: m, ℓ and the numbers of o, for each row.

    >>> state_bytes(256, 64)
    135168
    """
    rows, columns = _count("rows", rows), _count("columns", columns)
    return costs.state_footprint(rows, columns, itemsize=itemsize)


def fold_time(job: Job, keys: int | None = None, worker: Worker = CORE) -> float:
    """Return the seconds to fold a chunk: for its bytes or its operations, the longer.

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
    """Return the seconds of one level: to wait for states, to receive them, to merge."""
    _check_rates(network, worker)
    state = _count("state", state)
    return _receiving(level.messages, state, network) + _taking(level, state, worker)


def _receiving(messages: int, state: int, network: Network) -> float:
    """Return the seconds until states that are sent at the same time have arrived."""
    each = network.handling + state / network.bandwidth
    return network.latency + messages * each if messages else 0.0


def _taking(level: Level, state: int, worker: Worker) -> float:
    """Return the seconds to merge states into others."""
    return level.merges * state / worker.merging


class Seconds(NamedTuple):
    """What the whole takes, in three parts."""

    folding: float  # the worker with the most chunks folds them
    merging: float  # the levels of the tree, one after another
    waiting: float  # what the scheduler adds to that

    @property
    def total(self) -> float:
        """The sum of the parts."""
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

    If there are more workers than chunks, the rest have nothing to do. A `scheduler`
    takes so many seconds for each task, and hands out one task after another.

    Without a scheduler, `simulated` says the same, up to rounding, if every worker has
    equally many chunks, all of one size, and either that number and `fan` are powers of
    the same number, or all states are merged at once. Elsewhere another worker than the
    one with the root may get the most messages, and be waited for; so this is an
    estimate, at most a quarter too low and a fortieth too high.

    With a scheduler it is an estimate everywhere. Merges are handed out while chunks
    are still being folded, and the closed form does not count which of them waits for
    which. Where the work is shared evenly, it is at most a tenth too low if `fan` is 8,
    a quarter if it is 2, and a hundredth too high. Tests check this for up to 1,024
    workers.

    >>> job = Job(queries=256, keys=2**23, d=64)
    >>> for workers in (1, 128, 1024):
    ...     time = seconds(job.cut_for(workers), workers)
    ...     print(f"{workers:4} workers: {time.total:.4f} s, merging {time.share:.0%}")
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

    Either some worker is never idle once it has begun, or the last task to be handed
    out is also the last one done.
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
    """Return how many more keys a worker could fold while the states are merged.

    For many queries it no longer depends on their number.

    >>> for queries in (1, 256, 4096, 65536):
    ...     job = Job(queries, keys=2**23, d=64).cut_for(1024)
    ...     print(queries, round(worth(job, 1024)))
    1 4142
    256 11372
    4096 8368
    65536 8180
    """
    spent = seconds(job, workers, fan=fan, network=network, worker=worker)
    return spent.merging / fold_time(job, 1, worker)


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
    """Return the number of workers at which merging first takes a share of the time.

    The number doubles from one worker on, and the job is cut for each. It is None if
    merging never takes that share, up to `most` workers.

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
        rates: dict[str, Any] = {"network": network, "worker": worker}
        rates |= {"fan": fan, "scheduler": scheduler}
        if seconds(job.cut_for(count), count, **rates).share >= share:
            return count
        count *= 2
    return None


# ---- the simulation ----


class Simulated(NamedTuple):
    """The outcome of a simulation."""

    seconds: float  # until the root is merged
    messages: int  # states that were sent
    tasks: int  # folds and merges


def simulated(
    job: Job,
    workers: int,
    *,
    fan: int = FAN,
    network: Network = DATA_CENTRE,
    worker: Worker = CORE,
    scheduler: float = 0.0,
) -> Simulated:
    """Play the whole, task by task and message by message; the outcome never varies.

    Each worker folds a row of neighbouring chunks. The scheduler hands out the first
    chunk of every worker, then the second chunks; and a merge when all its states are
    ready. Then the states are sent, and arrive one after another. A worker runs its
    tasks in the order in which they become ready.

    >>> job = Job(queries=256, keys=2**23, d=64).cut_for(1024)
    >>> run = simulated(job, 1024)
    >>> run.messages, run.tasks, round(run.seconds, 4)
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
    """A future state: of a chunk, or of several nodes below it."""

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
    """Return the leaves of the tree; each knows the node above it."""
    leaves = [_Node(home, chunk=chunk) for chunk, home in enumerate(homes)]
    tree(
        leaves, lambda own, level, place: _Node(own[0].home, own), _count("fan", fan, 2)
    )
    return leaves


class _Run:
    """A simulation: which events come when, and who is busy until when."""

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
        """Let the scheduler hand out a task, once it has time."""
        self.tasks += 1
        self.later(self.keep_busy("scheduler", 0, self.scheduler), "begin", node)

    def keep_busy(self, what: str, whose: int, seconds: float) -> float:
        """Return when something ends that has to wait until one resource is free."""
        start = max(self.now, self.busy.get((what, whose), 0.0))
        self.busy[what, whose] = start + seconds
        return start + seconds

    def later(self, when: float, what: str, node: _Node) -> None:
        """Schedule an event; events at the same time keep their order."""
        self.happened += 1
        heappush(self.coming, (when, self.happened, what, node))

    def until_done(self) -> Simulated:
        """Process all events, and return the outcome."""
        while self.coming:
            self.now, _, what, node = heappop(self.coming)
            getattr(self, what)(node)
        return Simulated(self.now, self.messages, self.tasks)

    # The events of a node, in order.

    def begin(self, node: _Node) -> None:
        """Ask other workers for their states; a chunk needs none."""
        away = sum(below.home != node.home for below in node.below)
        self.messages += away
        wait = self.network.latency if away else 0.0
        self.later(self.now + wait, "receive" if away else "work", node)

    def receive(self, node: _Node) -> None:
        """Receive the states, one after another, once the link is free."""
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
    """Refuse a job that cannot be, by the name of the field."""
    inputs.instance("job", job, Job)
    for name in job._fields:
        _count(name, getattr(job, name))
    _check_rates(network, worker)


def _check_rates(network: Network, worker: Worker) -> None:
    """Refuse a network or a worker with impossible rates."""
    inputs.instance("network", network, Network)
    inputs.instance("worker", worker, Worker)
    for name in ("latency", "handling"):
        _seconds(name, getattr(network, name))
    inputs.positive("bandwidth", network.bandwidth)
    for name in worker._fields:
        inputs.positive(name, getattr(worker, name))


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
