"""Times launches on this machine's GPU, of any make.

`Burst` repeats launches without waiting in between, and returns the milliseconds of all
of them together. It uses the GPU's timestamps where the GPU has them. Otherwise it uses
the wall clock around the work, less the time of an empty submission.
"""

import statistics
import time

import numpy as np

from .webgpu import MOST_BLOCKS

STAMPS = "by time stamps of the GPU"
WALL = "by the wall clock, less a wait for no work"
WAITS = 9  # how many empty submissions are timed
LONG = 5.0  # milliseconds from which on the two clocks are compared
UNLIKELY = 4  # timestamps below the wall clock's time divided by this are not trusted
NS_IN_MS = 1e6


class Burst:
    """Launches that run one after the other, repeatedly.

    Run each launch by `Launch.go` first, which cuts it into slices. A burst is not cut,
    and a driver resets a GPU that is busy with one task for seconds.

    Parameters
    ----------
    launches : list of webgpu.Launch
        All on the same device.
    """

    def __init__(self, launches: list):
        import wgpu

        self.device = launches[0].device
        usage = wgpu.BufferUsage.QUERY_RESOLVE | wgpu.BufferUsage.COPY_SRC
        self.stamped = self.device.gpu.create_buffer(size=16, usage=usage)
        self.steps = [step for launch in launches for step in self.cut(launch)]
        self.stamps = self.room_for_stamps()
        self.idle = statistics.median(self.run(0)[0] for _ in range(WAITS))

    @property
    def how(self) -> str:
        """The clock that is used, as the end of a sentence."""
        return STAMPS if self.stamps else WALL

    def cut(self, launch: object) -> list:
        """Return the dispatches of a launch: pipeline, bind group, number of blocks."""
        steps = []
        for first in range(0, launch.blocks, MOST_BLOCKS):
            numbers = launch.words.copy()
            numbers[0] = first
            buffer = self.device.buffer(numbers.tobytes(), uniform=True)
            count = min(MOST_BLOCKS, launch.blocks - first)
            steps.append((launch.pipeline, launch.bind_group(buffer), count))
        return steps

    def room_for_stamps(self) -> object:
        """Return the query set for two timestamps; None if the GPU has none."""
        if not self.device.tick:
            return None
        return self.device.gpu.create_query_set(type="timestamp", count=2)

    def milliseconds(self, count: int) -> float:
        """Run all launches ``count`` times; return how long the GPU took.

        Parameters
        ----------
        count : int

        Returns
        -------
        float
        """
        wall, stamped = self.run(count)
        if self.stamps and not self.is_likely(stamped, wall):
            self.stamps = None  # from now on the wall clock counts
        return stamped if self.stamps else max(wall - self.idle, 0.0)

    def is_likely(self, stamped: float, wall: float) -> bool:
        """Return whether the timestamps agree with the wall clock.

        Not every driver counts in the unit that it states, and some write no timestamps.
        """
        share = (wall - self.idle) / UNLIKELY if wall > LONG else 0.0
        return share < stamped <= wall

    def run(self, count: int) -> tuple[float, float]:
        """Run all launches ``count`` times; return the milliseconds by both clocks."""
        gpu = self.device.gpu
        encoder = gpu.create_command_encoder()
        places = {"beginning_of_pass_write_index": 0, "end_of_pass_write_index": 1}
        stamps = {"query_set": self.stamps, **places} if self.stamps else None
        work = encoder.begin_compute_pass(timestamp_writes=stamps)
        for pipeline, group, blocks in count * self.steps:
            work.set_pipeline(pipeline)
            work.set_bind_group(0, group)
            work.dispatch_workgroups(blocks)
        work.end()
        if self.stamps:
            encoder.resolve_query_set(self.stamps, 0, 2, self.stamped, 0)
        start = time.perf_counter()
        gpu.queue.submit([encoder.finish()])
        begun, ended = np.frombuffer(gpu.queue.read_buffer(self.stamped), np.uint64)
        wall = 1e3 * (time.perf_counter() - start)  # read_buffer has waited for the GPU
        return wall, (int(ended) - int(begun)) * self.device.tick / NS_IN_MS
