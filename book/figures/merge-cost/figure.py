"""Merge cost: what folding and merging take on 1 to 1,024 workers, by a model.

A model, not a measurement: `tiledattention.cluster.network` says what it assumes. The lines
are its closed form. The dots are its simulation, stored in simulated.json for the data
centre's network and a tree of eight; this file, run as a program, writes it again.

Prediction. On 1,024 workers merging takes more than half of the time. With sixteen times
as many queries each state is sixteen times as large, and the keys are the same: what
becomes of merging's share? Why wrong answers tempt. "Nearly all": what is sent grows, what
is stored does not. "A few percent": latency is paid once, and now there is more to do.
What settles it: that state, where folding has sixteen times as much to calculate as well,
and the share even falls a little. It is the keys of a worker that decide.

It shows no quantity of the book.
"""

import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np

from livepage.figures.spec import Menu, Prediction, Spec, Values
from tiledattention.cluster import network as model

D = 64  # numbers in a row of keys and of values
WORKERS = tuple(2**power for power in range(11))
DOTS = (4, 32, 256, 1024)  # workers of the simulations
QUERIES = (1, 16, 256, 4096, 65536)
KEYS = (2**20, 2**23, 2**27, 2**32)
FANS = (2, 8, 32, "all")
NETWORKS = {
    "office": model.OFFICE,
    "centre": model.DATA_CENTRE,
    "fast": model.FAST,
    "far": model.FAR,
}
SCHEDULERS = {"none": 0.0, "quick": model.DASK_AT_BEST, "usual": model.DASK}
SIMULATED = Path(__file__).with_name("simulated.json")


def job(state: Values, workers: int) -> model.Job:
    """The job, in chunks that leave no worker without one."""
    return model.Job(state["queries"], state["stored"], D).cut_for(workers)


def given(state: Values, chunks: int) -> Values:
    """What else the model is told."""
    return {
        "fan": max(2, chunks) if state["fan"] == "all" else state["fan"],
        "network": NETWORKS[state["network"]],
        "scheduler": SCHEDULERS[state["scheduler"]],
    }


def spent(state: Values, workers: int) -> model.Seconds:
    """The closed form."""
    own = job(state, workers)
    return model.seconds(own, workers, **given(state, own.chunks))


def reached(state: Values, share: float, shares: list[float]) -> int | None:
    """With how many workers merging first takes such a share."""
    if state["fan"] != "all":  # which is another number for each number of workers
        whole = model.Job(state["queries"], state["stored"], D)
        return model.reaching(share, whole, WORKERS[-1], **given(state, 0))
    return next((n for n, own in zip(WORKERS, shares) if own >= share), None)


def expected(state: Values) -> Values:
    """The lib's seconds for every number of workers, and what follows from them."""
    found = [spent(state, workers) for workers in WORKERS]
    shares = [each.share for each in found]
    last = job(state, WORKERS[-1])
    totals = [each.total for each in found]
    return {
        "parts": [list(each) for each in found],
        "totals": totals,
        "shares": shares,
        "reached": [reached(state, share, shares) for share in (0.1, 0.5)],
        "worth": found[-1].merging / model.fold_time(last, 1),
        "state": last.state,
        "bytes": 2 * 4 * D * state["stored"],
        "best": WORKERS[totals.index(min(totals))],
        "dots": dots(state),
    }


# ---- simulations, which take too long for a page ----


def name(state: Values) -> str:
    """The name of a state among those that are simulated."""
    return " ".join(str(state[each]) for each in ("queries", "stored", "scheduler"))


def dots(state: Values) -> list[float] | None:
    """The seconds that simulations found, for the states that have been simulated."""
    if (state["network"], state["fan"]) != ("centre", 8):
        return None
    return STORED.get(name(state))


def simulated(state: Values) -> list[float]:
    """The seconds that simulations find, to three digits."""
    found = []
    for workers in DOTS:
        own = job(state, workers)
        play = model.simulated(own, workers, **given(state, own.chunks))
        found.append(float(f"{play.seconds:.3g}"))
    return found


def simulations() -> Iterator[Values]:
    """The states that are simulated."""
    for queries, keys, scheduler in product(QUERIES, KEYS, ("none", "usual")):
        state = {"queries": queries, "stored": keys, "scheduler": scheduler}
        yield state | {"network": "centre", "fan": 8}


STORED = json.loads(SIMULATED.read_text("utf-8")) if SIMULATED.exists() else {}

# ---- the figure ----


def states(random: np.random.Generator) -> Iterator[Values]:
    """Every setting of the network, the tree and the scheduler, over several jobs."""
    settings = list(product(NETWORKS, FANS, SCHEDULERS))
    for network, fan, scheduler in settings:
        for _ in range(5):
            yield {
                "queries": int(random.choice(QUERIES)),
                "stored": int(random.choice(KEYS)),
                "network": network,
                "fan": fan,
                "scheduler": scheduler,
            }


LARGER = {"queries": 4096}

SPEC = Spec(
    controls=(
        Menu("queries", 256, of=QUERIES),
        Menu("stored", 2**23, of=KEYS),
        Menu("network", "centre", of=tuple(NETWORKS)),
        Menu("fan", 8, of=FANS),
        Menu("scheduler", "none", of=tuple(SCHEDULERS)),
    ),
    prediction=Prediction(answer=1, shown_by=(LARGER,) * 3),
    presets=tuple(
        {"queries": 256, "stored": 2**23, "network": "centre", "fan": 8} | changes
        for changes in (
            {"scheduler": "none"},
            {"scheduler": "none", "queries": 1},
            {"scheduler": "none", "stored": 2**32},
            {"scheduler": "usual"},
        )
    ),
    constants={
        "D": D,
        "WORKERS": WORKERS,
        "DOTS": DOTS,
        "CHUNK": model.CHUNK,
        "ITEM": model.Job(1, 1, D).itemsize,
        "DOUBLE": model.DOUBLE,
        "NETWORKS": NETWORKS,
        "CORE": model.CORE,
        "SCHEDULERS": SCHEDULERS,
        "SIMULATED": STORED,
    },
    expected=expected,
    room=1e-9,
    states=states,
)

if __name__ == "__main__":
    found = {name(state): simulated(state) for state in simulations()}
    rows = ",\n".join(f'"{key}": {row}' for key, row in found.items())
    SIMULATED.write_text(f"{{\n{rows}\n}}\n", "utf-8")
