"""The arrays of a device that is this computer's own memory."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np


class DeviceNDArray(np.ndarray):
    """An array in the memory of the device: a NumPy array with Numba's methods."""

    def copy_to_host(
        self, ary: np.ndarray | None = None, stream: Any = 0
    ) -> np.ndarray:
        """Return a copy, or fill ``ary`` with it."""
        if ary is None:
            return np.array(self, order="K", subok=False)
        if ary.dtype != self.dtype:
            raise TypeError(f"ary: expected an array of {self.dtype}, got {ary.dtype}")
        if ary.shape != self.shape:
            raise ValueError(f"ary: expected the shape {self.shape}, got {ary.shape}")
        np.copyto(ary, self)
        return ary

    def copy_to_device(self, ary: Any, stream: Any = 0) -> None:
        """Take over the numbers of another array of this shape."""
        given = np.asarray(ary)
        if given.shape != self.shape:
            raise ValueError(f"ary: expected the shape {self.shape}, got {given.shape}")
        np.copyto(self, given)

    def split(self, section: int, stream: Any = 0) -> Iterator["DeviceNDArray"]:
        """Yield the parts of a one-dimensional array, of this many elements each."""
        for begin in range(0, self.size, section):
            yield self[begin : begin + section]

    def is_c_contiguous(self) -> bool:
        """Say whether the elements lie in the order of C."""
        return bool(self.flags.c_contiguous)

    def is_f_contiguous(self) -> bool:
        """Say whether the elements lie in the order of Fortran."""
        return bool(self.flags.f_contiguous)

    @property
    def alloc_size(self) -> int:
        """The bytes that the array holds."""
        return self.nbytes

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {**self.__array_interface__, "version": 3}


def to_device(
    obj: Any, stream: Any = 0, copy: bool = True, to: DeviceNDArray | None = None
) -> DeviceNDArray:
    """Return a copy of an array on the device; with ``to``, copy into that array."""
    if to is not None:
        to.copy_to_device(obj)
        return to
    made = device_array_like(obj)
    if copy:
        made.copy_to_device(obj)
    return made


def device_array(
    shape: Any, dtype: Any = np.float64, strides: Any = None, order: str = "C",
    stream: Any = 0,
) -> DeviceNDArray:  # fmt: skip
    """Return an array whose elements have no value yet."""
    return np.empty(shape, dtype, order).view(DeviceNDArray)


def device_array_like(ary: Any, stream: Any = 0) -> DeviceNDArray:
    """Return an array of the same shape and type, whose elements have no value yet."""
    return np.empty_like(np.asarray(ary)).view(DeviceNDArray)


def pinned_array(
    shape: Any, dtype: Any = np.float64, strides: Any = None, order: str = "C"
) -> np.ndarray:
    """Return an array on the host; here all of its memory is as quick."""
    return np.empty(shape, dtype, order)


def pinned_array_like(ary: Any) -> np.ndarray:
    """Return an array on the host of the same shape and type."""
    return np.empty_like(np.asarray(ary))


def mapped_array(
    shape: Any, dtype: Any = np.float64, strides: Any = None, order: str = "C",
    stream: Any = 0, portable: bool = False, wc: bool = False,
) -> DeviceNDArray:  # fmt: skip
    """Return an array that host and device share."""
    return device_array(shape, dtype, strides, order)


def mapped_array_like(
    ary: Any, stream: Any = 0, portable: bool = False, wc: bool = False
) -> DeviceNDArray:
    """Return an array of the same shape and type that host and device share."""
    return device_array_like(ary)


def managed_array(
    shape: Any, dtype: Any = np.float64, strides: Any = None, order: str = "C",
    stream: Any = 0, attach_global: bool = True,
) -> DeviceNDArray:  # fmt: skip
    """Return an array that host and device share."""
    return device_array(shape, dtype, strides, order)


@contextmanager
def pinned(*arrays: np.ndarray) -> Iterator[None]:
    """Pin the memory of arrays; here there is nothing to do."""
    yield


@contextmanager
def mapped(*arrays: np.ndarray, stream: Any = 0) -> Iterator[Any]:
    """Give arrays to the device without a copy."""
    shown = [array.view(DeviceNDArray) for array in arrays]
    yield shown[0] if len(shown) == 1 else shown


def is_cuda_array(obj: Any) -> bool:
    """Say whether an object is an array on the device."""
    return hasattr(obj, "__cuda_array_interface__")


def as_cuda_array(obj: Any, sync: bool = True) -> DeviceNDArray:
    """Return an array of another library as one of this device."""
    if not is_cuda_array(obj):
        raise TypeError(
            f"obj: expected an array on the device, got {type(obj).__name__}"
        )
    return np.asarray(obj).view(DeviceNDArray)


class Reduce:
    """``cuda.reduce``: a function of two numbers that reduces an array to one.

    It runs on the host, from the first element to the last; a GPU takes another order.
    """

    def __init__(self, functor: Any):
        self.functor = functor

    def __call__(
        self, arr: Any, size: int | None = None, res: Any = None, init: Any = 0,
        stream: Any = 0,
    ) -> Any:  # fmt: skip
        """Return the result, or write it to ``res[0]``."""
        given = np.asarray(arr)
        if given.ndim != 1:
            raise TypeError("arr: only one-dimensional arrays are reduced")
        value = given.dtype.type(init)
        for element in given[:size]:
            value = given.dtype.type(self.functor(value, element))
        if res is None:
            return value
        res[0] = value
        return None
