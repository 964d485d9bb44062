"""Puts the simulator behind the names of ``numba.cuda``."""

import importlib
import os
import sys
from types import FunctionType, ModuleType
from typing import Any

from blocksim.kernel import cuda as stand_in
from blocksim.things import KNOWN

from . import arrays, devices
from .kernels import Dispatcher, Session
from .policy import Policy
from .signatures import signature_of

HOST = {
    **{name: getattr(arrays, name) for name in (
        "as_cuda_array", "device_array", "device_array_like", "is_cuda_array",
        "managed_array", "mapped", "mapped_array", "mapped_array_like", "pinned",
        "pinned_array", "pinned_array_like", "to_device", "Reduce",
    )},
    **{name: getattr(devices, name) for name in (
        "close", "current_context", "default_stream", "defer_cleanup", "detect", "event",
        "event_elapsed_time", "external_stream", "get_current_device", "gpus",
        "is_available", "is_supported_version", "legacy_default_stream", "list_devices",
        "per_thread_default_stream", "profile_start", "profile_stop", "profiling",
        "select_device", "stream", "synchronize",
    )},
}  # fmt: skip
HOST["reduce"] = arrays.Reduce
SIMULATED = "NUMBA_ENABLE_CUDASIM"


def install(policy: Policy | None = None, mode: str = "rounded") -> Session:
    """Put the simulator behind ``numba.cuda``, from now on; return its session.

    Parameters
    ----------
    policy : Policy, optional
    mode : {"race", "rounded", "full", "plain"}
        As for ``blocksim.run``.
    """
    session = Session(policy or Policy(), mode)
    names = {**HOST, "jit": jit_of(session)}
    # Numba's own module then loads without a driver.
    os.environ.setdefault(SIMULATED, "1")
    for name in ("numba.cuda", "numba_cuda_mlir.cuda"):
        module = _module(name)
        if module is not None:
            for each, value in names.items():
                setattr(module, each, value)
    _name_the_arrays()
    return session


def _name_the_arrays() -> None:
    """Put our device arrays behind the name of those of Numba's simulator."""
    try:
        numbas = importlib.import_module("numba.cuda.simulator.cudadrv.devicearray")
    except ImportError:
        return
    numbas.FakeCUDAArray = arrays.DeviceNDArray


def _module(name: str) -> ModuleType | None:
    """Return a module of Numba's; where Numba has none any more, a new one."""
    package, _, last = name.rpartition(".")
    try:
        parent = importlib.import_module(package)
    except ImportError:
        return None
    try:
        return importlib.import_module(name)
    except ImportError:
        module = ModuleType(name)
        for path in KNOWN:
            if path.startswith("cuda.") and path.count(".") == 1:
                setattr(module, path[5:], getattr(stand_in, path[5:]))
        sys.modules[name] = module
        setattr(parent, last, module)
        return module


def jit_of(session: Session) -> Any:
    """Return ``cuda.jit`` for a session."""

    def jit(function: Any = None, *, device: bool = False, **options: Any) -> Any:
        options["device"] = device
        if isinstance(function, FunctionType):
            return Dispatcher(function, options, None, session)
        signature = signature_of(function)
        return lambda made: Dispatcher(made, options, signature, session)

    return jit
