"""Runs kernels on this machine's GPU, of any make.

`run` launches a kernel on the GPU as `blocksim.run` does in the simulator; `blocksim.wgsl`
translates it to WGSL. The package wgpu reaches the GPU by Vulkan, Metal or Direct3D 12.
wgpu is an optional dependency: where it or a GPU is missing, `NoDevice` says what to
install.

Run a kernel in the simulator first. A GPU reports neither races nor reads of
uninitialised memory, and it may hang where not all threads come to a barrier: unlike a
browser's compiler, wgpu's does not check beforehand that they do.
"""

import math
import time
from functools import cache

import numpy as np

from .kernel import Kernel, kernel_of, triple
from .wgsl import FAR, STAND_IN, explained, kinds_of, translate, words

SLICE_S = 0.1  # seconds of a slice: a driver resets a GPU that is busy for too long
GROWTH = 4  # a slice is at most this many times as large as the one before
MOST_BLOCKS = 65_535  # WebGPU's limit on the blocks in one direction
SECOND_TRY, ENDLESS = 1, 2  # bits of the status word that a launch leaves behind
MOST_TURNS = 65_535  # Mesa's limit on the iterations of a loop
STAMPS = "timestamp-query"  # the WebGPU feature for timestamps
TYPES = {"f32": np.float32, "i32": np.int32, "u32": np.uint32}
LIMITS = (
    "max-compute-workgroup-storage-size",
    "max-compute-invocations-per-workgroup",
    "max-compute-workgroup-size-x",
    "max-compute-workgroup-size-y",
    "max-compute-workgroup-size-z",
    "max-storage-buffers-per-shader-stage",
    "max-storage-buffer-binding-size",
    "max-buffer-size",
)


class NoDevice(ValueError):
    """wgpu is missing, or it finds no GPU."""


class Refused(ValueError):
    """A kernel that the GPU's compiler rejects.

    Attributes
    ----------
    line : int or None
        The line in the reader's kernel.
    reason : str
        The compiler's message, with the reader's names.
    """

    def __init__(self, line: int | None, reason: str):
        said = f"the GPU's compiler does not take this: {reason}"
        super().__init__(f"{said} (line {line})" if line else said)
        self.line = line
        self.reason = reason


class Device:
    """A GPU that has been opened.

    Attributes
    ----------
    name : str
        The vendor's name; a software renderer is marked as one.
    software : bool
        Is it a software renderer?
    shared, threads : int
        The bytes of shared memory and the threads that a block may have.
    largest : int
        The bytes that an array may have.
    info : dict of str to str
        wgpu's adapter information: vendor, driver, backend.
    tick : float
        Nanoseconds per unit of a timestamp; 0 without timestamps.
    turns : int
        Mesa's software renderer silently ends a thread's loops after this many iterations
        of all of them together; 0 for a device that does not.
    """

    def __init__(self, adapter: object):
        limits = {name: adapter.limits[name] for name in LIMITS}
        self.info = dict(adapter.info)
        self.software = self.info["adapter_type"] == "CPU"
        kind = ", a GPU in software" if self.software else ""
        self.name = f"{self.info['device']}{kind}"
        self.shared = limits["max-compute-workgroup-storage-size"]
        self.threads = limits["max-compute-invocations-per-workgroup"]
        self.largest = limits["max-storage-buffer-binding-size"]
        wanted = [STAMPS] if STAMPS in adapter.features else []
        self.gpu = adapter.request_device_sync(
            required_limits=limits, required_features=wanted
        )
        self.tick = tick(self.gpu) if wanted else 0.0
        self.pipelines: dict = {}  # by the text of the shader
        self.turns = turns(self) if self.software else 0

    def pipeline(self, made: dict) -> object:
        """Return the compiled pipeline of a translated kernel; compile it once."""
        if made["wgsl"] not in self.pipelines:
            self.pipelines[made["wgsl"]] = self.compile(made)
        return self.pipelines[made["wgsl"]]

    def compile(self, made: dict) -> object:
        """Compile a translated kernel; an error names the line of the reader's kernel."""
        import wgpu

        storage = wgpu.BufferBindingType.storage
        kinds = [wgpu.BufferBindingType.uniform, storage]
        for bound in made["bindings"]:
            read_only = wgpu.BufferBindingType.read_only_storage
            kinds.append(storage if bound["written"] else read_only)
        seen = {"visibility": wgpu.ShaderStage.COMPUTE}
        entries = [
            {"binding": binding, "buffer": {"type": kind}, **seen}
            for binding, kind in enumerate(kinds)
        ]
        try:
            layout = self.gpu.create_bind_group_layout(entries=entries)
            whole = self.gpu.create_pipeline_layout(bind_group_layouts=[layout])
            module = self.gpu.create_shader_module(code=made["wgsl"])
            compute = {"module": module, "entry_point": "main"}
            return self.gpu.create_compute_pipeline(layout=whole, compute=compute)
        except wgpu.GPUError as error:
            faults = explained(made, compiler_messages(str(error)))
            raise Refused(faults[0]["line"], faults[0]["text"]) from None

    def buffer(self, data: bytes, uniform: bool = False) -> object:
        """Return a GPU buffer with these bytes, padded to a multiple of four."""
        import wgpu

        usage = wgpu.BufferUsage
        kind = usage.UNIFORM if uniform else usage.STORAGE
        data += bytes(max(4 - len(data), -len(data) % 4))
        return self.gpu.create_buffer_with_data(
            data=data, usage=kind | usage.COPY_SRC | usage.COPY_DST
        )


class Launch:
    """A launch whose arrays are in the GPU's memory; `go` may be called repeatedly.

    Parameters
    ----------
    kernel, grid, block, arguments, shared
        As `run` takes them.
    on : Device, optional
    held : dict, optional
        Buffers that are in the GPU's memory already, for launches that share arrays. The
        buffers that this launch makes are added.
    """

    def __init__(self, kernel, grid, block, arguments, shared=0, on=None, held=None):
        self.device = on or device()
        self.kernel = kernel_of(kernel)
        self.arguments = [checked_argument(self.kernel, value) for value in arguments]
        kinds = kinds_of(self.kernel, self.arguments)
        self.translation = translate(self.kernel, block, kinds, shared=shared)
        self.arrays = [x for x in self.arguments if np.ndim(x)]
        self.blocks = math.prod(triple(grid, "grid"))
        self.fits()
        self.pipeline = self.device.pipeline(self.translation)
        shapes = [np.shape(x) or x for x in self.arguments]
        self.words = np.array(words(self.translation, grid, shapes), np.uint32)
        self.numbers = self.device.buffer(self.words.tobytes(), uniform=True)
        self.trouble = self.device.buffer(bytes(4))
        bound = zip(self.arrays, self.translation["bindings"])
        self.buffers = [
            self.upload(*each, {} if held is None else held) for each in bound
        ]
        self.group = self.bind_group(self.numbers)

    def fits(self) -> None:
        """Refuse a launch that exceeds the device's limits, or whose arrays overlap."""
        name, most = self.kernel.program.name, self.device
        for what, asked, allowed in (
            ("threads", self.translation["threads"], most.threads),
            ("bytes of shared memory", self.translation["shared"], most.shared),
        ):
            if asked > allowed:
                raise ValueError(
                    f"{name}: expected at most {allowed} {what} in a block, which is"
                    f" what {most.name} has, got {asked}"
                )
        for array, bound in zip(self.arrays, self.translation["bindings"]):
            size = array.size * (2 if bound["halves"] else 4)
            if size > most.largest:
                raise ValueError(
                    f"{bound['name']}: expected at most {most.largest} bytes, which is"
                    f" what {most.name} takes, got {size}"
                )
            others = [x for x in self.arrays if x is not array]
            if bound["written"] and any(np.may_share_memory(array, x) for x in others):
                raise ValueError(
                    f"{bound['name']}: expected an array in memory of its own, got one"
                    " that shares it with another argument"
                )

    def upload(self, array: np.ndarray, bound: dict, held: dict) -> object:
        """Return an array's buffer on the GPU; fill a new one."""
        key = id(array), bound["halves"]
        if key not in held:
            held[key] = self.device.buffer(pack(array, bound))
        return held[key]

    def bind_group(self, numbers: object) -> object:
        """Return the launch's bind group: the uniform numbers come first."""
        held = [numbers, self.trouble, *self.buffers]
        entries = [
            {"binding": binding, "resource": {"buffer": buffer}}
            for binding, buffer in enumerate(held)
        ]
        layout = self.pipeline.get_bind_group_layout(0)
        return self.device.gpu.create_bind_group(layout=layout, entries=entries)

    def go(self) -> None:
        """Run all blocks, in slices that each take a fraction of a second."""
        done, size = 0, 1
        while done < self.blocks:
            size = min(size, self.blocks - done, MOST_BLOCKS)
            start = time.perf_counter()
            self.slice(done, size)
            took = max(time.perf_counter() - start, 1e-6)
            done += size
            size = max(1, min(GROWTH * size, int(size * SLICE_S / took)))

    def slice(self, first: int, count: int) -> None:
        """Run ``count`` blocks, and wait for them."""
        queue = self.device.gpu.queue
        queue.write_buffer(self.numbers, 0, np.array([first], np.uint32))
        encoder = self.device.gpu.create_command_encoder()
        work = encoder.begin_compute_pass()
        work.set_pipeline(self.pipeline)
        work.set_bind_group(0, self.group)
        work.dispatch_workgroups(count)
        work.end()
        queue.submit([encoder.finish()])
        if int(np.frombuffer(queue.read_buffer(self.trouble), np.uint32)[0]) & ENDLESS:
            raise ValueError(
                f"{self.kernel.program.name}: a loop was given up on the GPU after a"
                " million turns"
            )

    def fetch(self) -> None:
        """Copy the arrays that the kernel writes back into the arguments."""
        for array, bound, buffer in zip(
            self.arrays, self.translation["bindings"], self.buffers
        ):
            if bound["written"]:
                data = self.device.gpu.queue.read_buffer(buffer)
                array[...] = unpack(data, bound, array)

    def free(self) -> None:
        """Destroy the launch's buffers."""
        for buffer in (self.numbers, self.trouble, *self.buffers):
            buffer.destroy()


def run(kernel, grid, block, *arguments, shared=0) -> None:
    """Launch a kernel on the GPU, and wait for it; arrays are changed in place.

    Parameters
    ----------
    kernel : function or Kernel
        As for `blocksim.run`, which should have found no fault in it.
    grid, block : int or tuple of int
    arguments : numbers and numpy arrays
        No array that the kernel writes may share memory with another one.
    shared : int
        Bytes of dynamic shared memory.
    """
    launch = Launch(kernel, grid, block, arguments, shared)
    try:
        launch.go()
        launch.fetch()
    finally:
        launch.free()


@cache
def device() -> Device:
    """Return the GPU of this machine; the fastest, where there are several."""
    try:
        import wgpu
        from wgpu.backends.wgpu_native.extras import set_instance_extras
    except ImportError:
        raise NoDevice(
            "the package wgpu, by which kernels reach a GPU of any make, is not"
            " installed: `pip install wgpu` installs it"
        ) from None
    try:
        set_instance_extras(backends=["Primary"])  # all but OpenGL
    except RuntimeError:
        pass  # other code has started wgpu already
    try:
        return Device(
            wgpu.gpu.request_adapter_sync(power_preference="high-performance")
        )
    except (RuntimeError, ValueError) as error:
        raise NoDevice(
            "wgpu finds no GPU here: it takes a driver for Vulkan, Metal or Direct3D 12"
            " (one in software, for Linux, is in mesa-vulkan-drivers)"
        ) from error


def tick(gpu: object) -> float:
    """Return the nanoseconds per unit of a GPU's timestamps, or 0 if unknown.

    A browser's timestamps are nanoseconds. wgpu passes on the GPU's own units, and only
    a function without a public name in Python returns their length.
    """
    try:
        from wgpu.backends.wgpu_native import _api

        return float(_api.libf.wgpuQueueGetTimestampPeriod(gpu.queue._internal))
    except (ImportError, AttributeError):
        return 0.0


def turns(on: Device) -> int:
    """Return after how many iterations a device ends a loop by itself, or 0."""
    counted = np.zeros(1, np.int32)
    launch = Launch(count_turns, 1, 1, (2 * MOST_TURNS, counted), on=on)
    launch.go()
    launch.fetch()
    launch.free()
    return 0 if counted[0] == 2 * MOST_TURNS else int(counted[0])


def count_turns(count, counted):
    """Count the iterations of a loop (a kernel)."""
    for _ in range(count):
        counted[0] += 1


def checked_argument(kernel: Kernel, value: object) -> object:
    """Return an argument; refuse all but numbers and numpy arrays."""
    if value is None or np.isscalar(value) or isinstance(value, np.ndarray):
        return value
    raise ValueError(
        f"arguments of {kernel.program.name}: expected numbers and numpy arrays, got"
        f" {type(value).__name__}"
    )


def pack(array: np.ndarray, bound: dict) -> bytes:
    """Return an array's numbers as bytes in the GPU's format."""
    if bound["halves"]:
        return np.ascontiguousarray(array, np.float16).tobytes()
    numbers = np.ascontiguousarray(array, TYPES[bound["type"]])
    if bound["type"] == "f32":
        numbers = numbers.clip(-STAND_IN, STAND_IN)  # leaves NaN as it is
    return numbers.tobytes()


def unpack(data: object, bound: dict, array: np.ndarray) -> np.ndarray:
    """Return the numbers in a GPU buffer, in the shape of an argument."""
    numbers = np.frombuffer(data, TYPES[bound["type"]])[: array.size]
    numbers = numbers.reshape(array.shape)
    if bound["type"] == "f32":
        far = np.abs(numbers) >= FAR
        numbers = np.where(far, np.copysign(np.float32(np.inf), numbers), numbers)
    return numbers


def compiler_messages(text: str) -> list:
    """Return an error of wgpu's compiler as a list of WebGPU's messages.

    wgpu writes one text: a sentence after "error: ", then an excerpt with the line.
    """
    sentence, number = text.strip().split("\n")[-1], 0
    for line in text.split("\n"):
        before, mark, after = line.partition("error: ")
        if mark and not number:
            sentence = after
        if "wgsl:" in line and not number:
            number = int(line.split("wgsl:")[1].split(":")[0])
        if line.strip().startswith("= "):
            sentence += "; " + line.strip()[2:]
    return [("error", sentence.strip(), number)]
