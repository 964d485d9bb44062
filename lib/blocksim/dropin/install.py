"""Puts the simulator behind the names of ``numba.cuda``."""

import importlib
import os
import sys
from types import FunctionType, ModuleType
from typing import Any

from blocksim.functions import MODULES
from blocksim.kernel import OPTIONS
from blocksim.kernel import cuda as stand_in
from blocksim.things import KNOWN

from . import arrays, devices, random
from .declined import Declaration, NotSimulated, Ufunc
from .kernels import Dispatcher, Session
from .policy import Policy
from .signatures import is_signature, signature_of

HOST = {
    **{name: getattr(arrays, name) for name in (
        "as_cuda_array", "device_array", "device_array_like", "from_cuda_array_interface",
        "is_cuda_array", "managed_array", "mapped", "mapped_array", "mapped_array_like",
        "pinned", "pinned_array", "pinned_array_like", "to_device", "In", "InOut", "Out",
        "Reduce",
    )},
    **{name: getattr(devices, name) for name in (
        "close", "cuda_error", "current_context", "default_stream", "defer_cleanup",
        "detect", "event", "event_elapsed_time", "external_stream", "get_current_device",
        "gpus", "is_available", "is_supported_version", "legacy_default_stream",
        "list_devices", "per_thread_default_stream", "profile_start", "profile_stop",
        "profiling", "select_device", "stream", "synchronize",
    )},
    **{name: NotSimulated(f"cuda.{name}") for name in (
        "compile", "compile_all", "compile_for_current_device", "compile_ptx",
        "compile_ptx_for_current_device", "open_ipc_array", "ldca", "ldcg", "ldcs", "ldcv",
        "ldlu", "stcg", "stcs", "stwb", "stwt",
    )},
    "declare_device": Declaration,
    "reduce": arrays.Reduce,
}  # fmt: skip
# What Numba's modules have without a GPU's driver only in part.
PARTS = {
    "cudadrv.devicearray": {
        "DeviceNDArray": arrays.DeviceNDArray,
        "is_cuda_ndarray": arrays.is_cuda_array,
    },
    "simulator.cudadrv.devicearray": {"FakeCUDAArray": arrays.DeviceNDArray},
    "vectorizers": {"CUDAVectorize": Ufunc, "CUDAGUFuncVectorize": Ufunc},
}
ERRORS = ("CudaDriverError", "CudaRuntimeError", "CudaSupportError", "NvvmError",
          "NvvmSupportError", "NvrtcError", "NvrtcCompilationError")  # fmt: skip
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
    # Numba's own module then loads without a driver.
    os.environ.setdefault(SIMULATED, "1")
    for name in MODULES:
        module = _module(name)
        if module is not None:
            _fill(module, session)
            _fill_parts(name)
            module.random = sys.modules[f"{name}.random"] = random
            _adopt_kernels(name, session)
    return session


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
        sys.modules[name] = module
        setattr(parent, last, module)
        return module


def _fill(module: ModuleType, session: Session) -> None:
    """Set the names of the host, and those that only kernels use where they are absent."""
    for name, value in {**HOST, "jit": jit_of(session)}.items():
        setattr(module, name, value)
    for path in KNOWN:
        name = path.removeprefix("cuda.")
        if path != name and "." not in name and not hasattr(module, name):
            setattr(module, name, getattr(stand_in, name))


def _fill_parts(name: str) -> None:
    for part, values in PARTS.items():
        module = _part(f"{name}.{part}")
        for each, value in values.items():
            setattr(module, each, value)
    for kind in ("Vectorize", "GUVectorize"):
        decorator = getattr(_part(f"{name}.np.ufunc.decorators"), kind, None)
        if decorator is not None:
            dict.__setitem__(decorator.target_registry, "cuda", Ufunc)
    errors = _part(f"{name}.cudadrv.error")
    for error in ERRORS:
        if not hasattr(errors, error):
            setattr(errors, error, type(error, (Exception,), {}))
    sys.modules[name].CudaSupportError = errors.CudaSupportError
    for config in (f"{name}.core.config", f"{name.partition('.')[0]}.core.config"):
        _part(config).ENABLE_CUDASIM = 1


def _part(name: str) -> Any:
    """Return a module, or an object that nobody looks at if there is none."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return Declaration(name)


def _adopt_kernels(name: str, session: Session) -> None:
    """Take over kernels that were made before, as by another plugin of pytest's."""
    for module, kind in (
        ("dispatcher", "CUDADispatcher"),
        ("simulator.kernel", "FakeCUDAKernel"),
    ):
        made = getattr(sys.modules.get(f"{name}.{module}"), kind, None)
        for method in ("__getitem__", "configure", "forall"):
            if made is not None:
                setattr(made, method, _adopted(method, session))


def _adopted(method: str, session: Session) -> Any:
    def call(kernel: Any, *arguments: Any, **options: Any) -> Any:
        if not hasattr(kernel, "_by_blocksim"):
            known = getattr(kernel, "targetoptions", {})
            kernel._by_blocksim = Dispatcher(kernel.py_func, known, None, session)
        return getattr(kernel._by_blocksim, method)(*arguments, **options)

    return call


def jit_of(session: Session) -> Any:
    """Return ``cuda.jit`` for a session."""

    def jit(func_or_sig: Any = None, device: bool = False, **options: Any) -> Any:
        _check(device, options)
        options["device"] = device
        bare = getattr(func_or_sig, "py_func", func_or_sig)
        if isinstance(bare, FunctionType):
            return Dispatcher(bare, options, None, session)
        if func_or_sig is not None and not is_signature(func_or_sig):
            wanted = "expected a function or a signature"
            raise TypeError(f"cuda.jit: {wanted}, got {func_or_sig!r}")
        signature = signature_of(func_or_sig)

        def decorate(made: Any) -> Dispatcher:
            bare = getattr(made, "py_func", made)
            if not isinstance(bare, FunctionType):
                raise TypeError(f"cuda.jit: expected a function, got {made!r}")
            return Dispatcher(bare, options, signature, session)

        return decorate

    return jit


def _check(device: bool, options: dict[str, Any]) -> None:
    """Refuse the options that Numba refuses."""
    if options.get("boundscheck"):
        raise NotImplementedError("bounds checking is not supported for CUDA")
    for option in options:
        if option not in (*OPTIONS, "extensions") and not device:
            raise TypeError(f"cuda.jit: expected options that Numba has, got {option}")
