"""The one device, with its streams and events. What takes time on a GPU is done at once."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from .declined import DeclinedAttribute

COMPUTE_CAPABILITY = (8, 0)
BYTES = 1 << 33


class Stream:
    """A queue of work; here everything has been done when a call returns."""

    def __init__(self, handle: int = 0):
        self.handle = handle

    def __int__(self) -> int:
        return self.handle

    def __repr__(self) -> str:
        return f"<stream {self.handle} of blocksim>"

    def synchronize(self) -> None:
        """Return: nothing is left to wait for."""

    async def async_done(self) -> "Stream":
        """Return the stream: nothing is left to wait for."""
        return self

    def add_callback(self, callback: Callable[..., Any], arg: Any = None) -> None:
        """Call the function: what stood before it in the stream is done."""
        callback(self, 0, arg)

    @contextmanager
    def auto_synchronize(self) -> Iterator["Stream"]:
        """Synchronize at the end."""
        yield self


class Event:
    """A moment in a stream."""

    def record(self, stream: Any = 0) -> None:
        """Note the moment; no time passes here."""

    def synchronize(self) -> None:
        """Return: nothing is left to wait for."""

    def wait(self, stream: Any = 0) -> None:
        """Return: nothing is left to wait for."""

    def query(self) -> bool:
        """Say that the moment has passed."""
        return True

    def elapsed_time(self, evtend: "Event") -> float:
        """Return 0: a simulated launch takes no time of a GPU's."""
        return 0.0


def stream() -> Stream:
    """Return a stream."""
    return Stream(1)


def event(timing: bool = True) -> Event:
    """Return an event."""
    return Event()


def event_elapsed_time(evtstart: Event, evtend: Event) -> float:
    """Return 0: a simulated launch takes no time of a GPU's."""
    return evtstart.elapsed_time(evtend)


def default_stream() -> Stream:
    """Return the stream of launches that name none."""
    return Stream()


legacy_default_stream = per_thread_default_stream = default_stream


def external_stream(ptr: int) -> Stream:
    """Return a stream of another library."""
    return Stream(ptr)


def synchronize() -> None:
    """Return: nothing is left to wait for."""


class MemoryInfo(NamedTuple):
    """Bytes of the device's memory."""

    free: int
    total: int


class Device:
    """The one device; its limits are those of `blocksim` and of an A100."""

    id = 0
    name = "blocksim"
    uuid = "GPU-00000000-0000-0000-0000-000000000000"
    compute_capability = cc = COMPUTE_CAPABILITY
    WARP_SIZE = 32
    MAX_THREADS_PER_BLOCK = 1024
    MAX_BLOCK_DIM_X, MAX_BLOCK_DIM_Y, MAX_BLOCK_DIM_Z = 1024, 1024, 64
    MAX_GRID_DIM_X, MAX_GRID_DIM_Y, MAX_GRID_DIM_Z = 2**31 - 1, 65535, 65535
    MAX_SHARED_MEMORY_PER_BLOCK = 48 * 1024
    MULTIPROCESSOR_COUNT = 108
    CONCURRENT_KERNELS = ASYNC_ENGINE_COUNT = UNIFIED_ADDRESSING = 1
    COMPUTE_CAPABILITY_MAJOR, COMPUTE_CAPABILITY_MINOR = COMPUTE_CAPABILITY
    MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 48 * 1024
    MAX_SHARED_MEMORY_PER_MULTIPROCESSOR = 164 * 1024
    MAX_REGISTERS_PER_BLOCK = MAX_REGISTERS_PER_MULTIPROCESSOR = 65536
    MAX_THREADS_PER_MULTI_PROCESSOR, MAX_BLOCKS_PER_MULTIPROCESSOR = 2048, 32
    TOTAL_CONSTANT_MEMORY, L2_CACHE_SIZE = 64 * 1024, 40 << 20
    CAN_MAP_HOST_MEMORY = MANAGED_MEMORY = 1
    COOPERATIVE_LAUNCH = INTEGRATED = KERNEL_EXEC_TIMEOUT = TCC_DRIVER = 0
    PCI_DOMAIN_ID = PCI_BUS_ID = PCI_DEVICE_ID = 0
    supports_float16, supports_bfloat16, supports_fp8 = True, False, False

    def __getattr__(self, name: str) -> Any:
        if name.isupper() and not name.startswith("_"):
            raise DeclinedAttribute(f"{name} of the device is not simulated")
        raise AttributeError(f"the device has no {name}")

    def get_primary_context(self) -> "Context":
        """Return the context."""
        return CONTEXT

    def reset(self) -> None:
        """Do nothing: the device keeps nothing."""


class Deallocations:
    """What waits to be freed: nothing does."""

    def clear(self) -> None:
        """Do nothing."""

    def __len__(self) -> int:
        return 0


class Context:
    """The context of the device."""

    device = Device()
    deallocations = Deallocations()

    @property
    def id(self) -> int:
        """The number of the device."""
        return self.device.id

    def get_memory_info(self) -> MemoryInfo:
        """Return how much memory there is."""
        return MemoryInfo(BYTES, BYTES)

    def get_compute_capability(self) -> tuple[int, int]:
        """Return the compute capability of the device."""
        return COMPUTE_CAPABILITY

    def synchronize(self) -> None:
        """Return: nothing is left to wait for."""

    def reset(self) -> None:
        """Do nothing: the context keeps nothing."""

    push = pop = reset

    def __getattr__(self, name: str) -> Any:
        if name.startswith("mem") or name in ("can_access_peer", "create_module_ptx"):
            raise DeclinedAttribute(f"{name} of the context is not simulated")
        raise AttributeError(f"the context has no {name}")

    @contextmanager
    def defer_cleanup(self) -> Iterator[None]:
        """Free nothing meanwhile."""
        yield


class Managed(Device):
    """The device as an entry of ``gpus``, which a ``with`` makes current."""

    def __enter__(self) -> "Managed":
        return self

    def __exit__(self, *error: object) -> None:
        return None


CONTEXT = Context()


class DeviceList(list[Managed]):
    """``cuda.gpus``."""

    @property
    def lst(self) -> list[Managed]:
        """The devices."""
        return list(self)

    @property
    def current(self) -> Managed:
        """The device."""
        return self[0]


gpus = DeviceList([Managed()])


def cuda_error() -> None:
    """Return None: there is no driver that could fail."""


def list_devices() -> DeviceList:
    """Return the devices."""
    return gpus


def current_context(device_id: int = 0) -> Context:
    """Return the context."""
    return CONTEXT


def get_current_device() -> Device:
    """Return the device."""
    return gpus[0]


def select_device(device_id: int) -> Managed:
    """Return the device with this number; there is number 0 alone."""
    if device_id != 0:
        raise RuntimeError(f"device_id: expected 0, the only device, got {device_id!r}")
    return gpus[0]


def close() -> None:
    """Do nothing: the device keeps nothing."""


def is_available() -> bool:
    """Say that kernels can be launched."""
    return True


def is_supported_version() -> bool:
    """Say that kernels can be launched."""
    return True


def detect() -> bool:
    """Print the device; return whether there is one."""
    print("Found 1 CUDA device\nid 0  blocksim, a simulator  [SUPPORTED]")
    return True


@contextmanager
def defer_cleanup() -> Iterator[None]:
    """Free nothing meanwhile."""
    yield


profiling = defer_cleanup
profile_start = profile_stop = synchronize
