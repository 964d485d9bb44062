"""The arguments of a launch, as the simulator takes them."""

from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from blocksim.types import SIZES

from . import arrays, random
from .declined import Declined

# Numba has types for some of these, but takes none of them in a launch.
REFUSED = (list, dict, set, frozenset, str, bytes, bytearray, memoryview, range, slice)


def taken(
    function: FunctionType,
    values: tuple[Any, ...],
    extensions: list[Any],
    after: list[Callable[[], Any]],
) -> list[Any]:
    """Return the arguments; raise Declined for those that only the simulator refuses.

    ``after`` collects what is to be called after the launch.
    """
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    given = []
    for number, value in enumerate(values):
        for extension in reversed(extensions):
            _, value = extension.prepare_args(None, value, stream=0, retr=after)
        name = names[number] if number < len(names) else f"argument {number + 1}"
        if getattr(value, "dtype", None) == random.xoroshiro128p_dtype:
            given.append(random.columns(function, number, value))
        else:
            given.append(_taken(name, value))
    return given


def _taken(name: str, value: Any) -> Any:
    if isinstance(value, arrays.InOut):
        value = value.on_device()
    if isinstance(value, tuple):
        parts = [_taken(f"{name}[{i}]", part) for i, part in enumerate(value)]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if isinstance(value, (np.ndarray, np.generic)):
        return _numbers(name, value)
    if type(value) in (bool, int, float):
        return value
    if arrays.is_cuda_array(value):
        return _numbers(name, arrays.as_cuda_array(value))
    kind = type(value).__name__
    if isinstance(value, REFUSED):
        wanted = f"{name}: expected a number, an array or a tuple of these"
        raise TypeError(f"{wanted}, as Numba does; got {kind}")
    what = "None" if value is None else f"an argument of type {kind}"
    raise Declined(f"{name}: {what} is not simulated")


def _numbers(name: str, value: Any) -> Any:
    dtype = value.dtype
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"{name}: expected an array, as Numba does; got a masked one")
    if dtype.hasobject or not dtype.isnative or dtype.char in "gG":
        kinds = "of types that Numba has, in this machine's order of bytes"
        raise ValueError(f"{name}: expected numbers {kinds}; got {dtype}")
    if dtype.name not in SIZES:
        kind = "records" if dtype.names else f"elements of type {dtype}"
        raise Declined(f"{name}: {kind} are not simulated")
    if isinstance(value, np.ndarray) and not value.ndim:
        raise Declined(f"{name}: an array without dimensions is not simulated")
    # A matrix, say, has other rules for its indices than an array.
    return value.view(np.ndarray) if isinstance(value, np.ndarray) else value
