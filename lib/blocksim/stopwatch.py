"""How long launches take on the GPU of the machine at hand, of any make.

`Burst` runs launches again and again without waiting in between, and tells the
milliseconds of all together. Where the GPU stamps the time, its own stamps count; where
it does not, the wall clock around the work does, less what a wait for no work takes.
"""

import statistics
import time

import numpy as np

from .webgpu import MOST_BLOCKS

STAMPS = "by time stamps of the GPU"
WALL = "by the wall clock, less a wait for no work"
WAITS = 9  # so many waits for no work are timed
LONG = 5.0  # milliseconds in which the two clocks can be compared
UNLIKELY = 4  # stamps of so small a share of the wall clock's time are not believed
NS_IN_MS = 1e6


class Burst:
    """Launches that run one after the other, as often as asked.

    Each should have been run by `Launch.go` before, which cuts it into slices: a burst
    is not cut, and a driver resets a GPU that is busy with one task for seconds.

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
        """How it is timed: for the end of a sentence."""
        return STAMPS if self.stamps else WALL

    def cut(self, launch: object) -> list:
        """Return what to dispatch: a pipeline, its memory, and how many blocks."""
        steps = []
        for first in range(0, launch.blocks, MOST_BLOCKS):
            numbers = launch.words.copy()
            numbers[0] = first
            buffer = self.device.buffer(numbers.tobytes(), uniform=True)
            count = min(MOST_BLOCKS, launch.blocks - first)
            steps.append((launch.pipeline, launch.grouped(buffer), count))
        return steps

    def room_for_stamps(self) -> object:
        """Return where the GPU stamps the time, if it does."""
        if not self.device.tick:
            return None
        return self.device.gpu.create_query_set(type="timestamp", count=2)

    def milliseconds(self, count: int) -> float:
        """Run all launches so many times; return how long the GPU was at it.

        Parameters
        ----------
        count : int

        Returns
        -------
        float
        """
        wall, stamped = self.run(count)
        if self.stamps and not self.is_likely(stamped, wall):
            self.stamps = None  # from now on the wall clock is asked
        return stamped if self.stamps else max(wall - self.idle, 0.0)

    def is_likely(self, stamped: float, wall: float) -> bool:
        """Return whether the wall clock bears out what the stamps tell.

        Not every driver counts in the unit that it states, and some stamp nothing.
        """
        share = (wall - self.idle) / UNLIKELY if wall > LONG else 0.0
        return share < stamped <= wall

    def run(self, count: int) -> tuple[float, float]:
        """Run all launches so many times; return the milliseconds by both clocks."""
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
        wall = 1e3 * (time.perf_counter() - start)  # the reading waited
        return wall, (int(ended) - int(begun)) * self.device.tick / NS_IN_MS
