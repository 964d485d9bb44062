"""Hands the tasks to Dask and waits for the answer, on this machine or on others.

Dask's scheduler gives a dead worker's tasks to others. Failures that it cannot repair
become a `ClusterError`: a chunk that kills each worker that takes it, a scheduler that
is gone or no longer answers, and a run in which nothing moves any more.
"""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from threading import Thread
from typing import Any

from onlinesoftmax import inputs
from tiledattention.cluster.faults import ClusterError, needed, reason, span

LOOK = 1.0  # seconds from one look at the scheduler to the next


def run(task: Any, client: Any, progress: bool, patience: float, chunk: int) -> Any:
    """Return the result of a task, by Dask's threads here or the workers of `client`.

    `patience` is the seconds without any progress after which a run on a cluster is
    given up; `chunk`, the keys of a chunk, is for messages.
    """
    if client is None:
        return on_threads(task, progress)
    return on_cluster(task, client, progress, patience, chunk)


def checked(client: Any, progress: bool, patience: float) -> None:
    """Refuse arguments with which no run is possible."""
    needed("dask", "tiledattention.cluster")
    inputs.flag("progress", progress)
    inputs.number("patience", patience, "a finite number of seconds above 0", 0)
    if client is None:
        return
    distributed = needed("distributed", "client: other machines")
    if not isinstance(client, distributed.Client):
        raise ValueError(
            f"client: expected a distributed.Client, got {inputs.shown(client)}"
        )
    if client.asynchronous:
        raise ValueError("client: expected one that is not asynchronous")
    if client.status != "running":
        raise ValueError(f"client: expected one that is running, got {client.status!r}")


def on_threads(task: Any, progress: bool) -> Any:
    """Return the result of a task, computed by threads of this process."""
    from dask.diagnostics import ProgressBar

    with ProgressBar() if progress else nullcontext():
        return task.compute(scheduler="threads")


def on_cluster(
    task: Any, client: Any, progress: bool, patience: float, chunk: int
) -> Any:
    """Return the result of a task, computed by the workers of a cluster."""
    from distributed import KilledWorker

    future = client.compute(task)
    shown = nullcontext() if not progress else bar(future)
    try:
        with shown:
            return Watch(client, patience).result(future)
    except ClusterError:
        raise
    except KilledWorker as error:
        raise ClusterError(killed(error, chunk)) from error
    except Exception as error:
        raise ClusterError(lost(client, error)) from error
    finally:
        future.release()  # after an error, or Ctrl-C, the rest is useless


@contextmanager
def bar(future: Any) -> Iterator[None]:
    """Show Dask's progress bar, as text and in a thread of its own.

    The bar itself waits for the end, and would not notice a run that stands still.
    Dask's widget for notebooks does not move before the cell has ended.
    """
    from distributed import progress

    shown = Thread(target=lambda: progress(future, notebook=False), daemon=True)
    shown.start()
    yield
    shown.join(LOOK)  # until the bar is full


class Watch:
    """Waits for a result, as long as something moves."""

    def __init__(self, client: Any, patience: float) -> None:
        self.client, self.patience = client, patience
        self.tasks: dict[str, Any] | None = None  # of each worker, at the last look
        self.since = time.monotonic()

    def result(self, future: Any) -> Any:
        """Return the result of a future; a run that stands still is an error."""
        from distributed import TimeoutError

        while True:
            try:
                return future.result(timeout=min(LOOK, self.patience))
            except TimeoutError:
                self.look()

    def look(self) -> None:
        """Give up if every worker has been at the same tasks for too long."""
        if self.client.status != "running":
            raise ConnectionError("the connection is closed")
        at_work = {worker: set(keys) for worker, keys in self.processing().items()}
        now = time.monotonic()
        if at_work != self.tasks:
            self.tasks, self.since = at_work, now
        elif now - self.since > self.patience:
            raise ClusterError(standstill(at_work, self.patience))

    def processing(self) -> dict[str, Any]:
        """Return the tasks of each worker, according to the scheduler.

        A scheduler that is frozen, or behind a broken connection, keeps its connection
        open and never answers. `client.processing()` would wait for it forever.
        """
        from distributed import TimeoutError

        client = self.client
        try:
            return client.sync(
                client.scheduler.processing,
                workers=None,
                callback_timeout=self.patience,
            )
        except TimeoutError:
            raise ClusterError(
                f"the scheduler has not answered for {self.patience:g} s"
            ) from None


def standstill(at_work: dict[str, Any], patience: float) -> str:
    """Return the message for a run in which nothing moves."""
    if not at_work:
        return f"no worker has been there for {patience:g} s"
    busy = sum(map(bool, at_work.values()))
    return (
        f"nothing has moved for {patience:g} s: {busy} of {len(at_work)} workers are at"
        " the same tasks as then (patience= sets how long to wait)"
    )


def killed(error: Any, chunk: int) -> str:
    """Return the message for a task whose workers died, one after another."""
    fold = re.match(r"fold-\w+-(\d+)$", str(error.task))
    what = "a merge of states"
    if fold:
        start = int(fold[1])
        what = span(slice(start, start + chunk))
    deaths = error.allowed_failures + 1
    return (
        f"{what}: {deaths} workers that held this task died one after another, at it or at"
        " a neighbour, as happens when memory runs out; a smaller chunk needs less"
        f" (chunk={chunk:,})"
    )


def lost(client: Any, error: Exception) -> str:
    """Return the message for a run that ended without an answer."""
    if client.status != "running" or not isinstance(error, Exception):
        return f"the scheduler went away before the answer was there: {reason(error)}"
    return f"the run broke off: {reason(error)}"
