"""The arrays of a device that is this computer's own memory."""

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .declined import Declined, DeclinedAttribute

# What only an array in the memory of a GPU has.
OF_DRIVER = "gpu_data device_ctypes_pointer device_pointer get_ipc_handle".split()


class DeviceNDArray(np.ndarray):
    """An array in the memory of the device: a NumPy array with Numba's methods."""

    def copy_to_host(
        self, ary: np.ndarray | None = None, stream: Any = 0
    ) -> np.ndarray:
        """Return a copy, or fill ``ary`` with it."""
        if ary is None:
            return np.array(self, order="K", subok=False)
        self._check(ary)
        np.copyto(ary, np.asarray(self).reshape(ary.shape))
        return ary

    def copy_to_device(self, ary: Any, stream: Any = 0) -> None:
        """Take over the numbers of another array of this shape."""
        given = np.asarray(ary)
        self._check(given)
        np.copyto(self, given.reshape(self.shape))

    def _check(self, ary: np.ndarray) -> None:
        """Refuse an array of another type or shape; extents of 1 do not count."""
        if [n for n in ary.shape if n != 1] != [n for n in self.shape if n != 1]:
            raise ValueError(f"ary: expected the shape {self.shape}, got {ary.shape}")
        if ary.dtype != self.dtype:
            raise TypeError(f"ary: expected an array of {self.dtype}, got {ary.dtype}")

    def ravel(self, order: Any = "C", stream: Any = 0) -> "DeviceNDArray":
        """Return the elements in one dimension, in the same memory."""
        return self._shared(super().ravel(order))

    def reshape(self, *shape: Any, order: Any = "C") -> "DeviceNDArray":
        """Return the elements in another shape, in the same memory."""
        return self._shared(super().reshape(*shape, order=order))

    def _shared(self, made: Any) -> Any:
        if self.size and not np.may_share_memory(self, made):
            raise NotImplementedError("operation requires copying")
        return made

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

    stream = 0

    def bind(self, stream: Any = 0) -> "DeviceNDArray":
        """Return the array: no stream waits for another here."""
        return self

    def getitem(self, item: Any, stream: Any = 0) -> Any:
        """Return an element or a part."""
        return self[item]

    def setitem(self, key: Any, value: Any, stream: Any = 0) -> None:
        """Set an element or a part."""
        self[key] = value

    def as_cuda_array(self) -> "DeviceNDArray":
        """Return the array."""
        return self

    def __getattr__(self, name: str) -> Any:
        if name in OF_DRIVER:
            raise DeclinedAttribute(f"{name} of a device array is not simulated")
        raise AttributeError(f"a device array has no {name}")

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
    # A repeated dimension of a broadcast array counts as one element.
    given = np.asarray(obj)
    flags = given[tuple(slice(None if step else 1) for step in given.strides)].flags
    if given.size and not (flags.c_contiguous or flags.f_contiguous):
        raise ValueError(
            "obj: expected a contiguous array, as np.ascontiguousarray gives"
        )
    made = device_array_like(obj)
    if copy:
        made.copy_to_device(obj)
    return made


def device_array(
    shape: Any, dtype: Any = np.float64, strides: Any = None, order: str = "C",
    stream: Any = 0,
) -> DeviceNDArray:  # fmt: skip
    """Return an array whose elements have no value yet."""
    if strides is not None:
        return unset(np.ndarray(shape, dtype, strides=strides)).view(DeviceNDArray)
    return unset(np.empty(shape, dtype, order)).view(DeviceNDArray)


def device_array_like(ary: Any, stream: Any = 0) -> DeviceNDArray:
    """Return an array of the same shape and type, whose elements have no value yet."""
    return unset(np.empty_like(np.asarray(ary))).view(DeviceNDArray)


def unset(array: np.ndarray) -> np.ndarray:
    """Fill an array with what nobody takes for a result: memory of a GPU is not zero."""
    if array.dtype.kind in "fc":
        array.fill(np.nan)
    elif array.dtype.kind in "iu":
        array.fill(np.iinfo(array.dtype).max // 3)
    elif array.dtype.kind == "b":
        array.fill(True)
    return array


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
    """Return an array of another library as one of this device; they share memory."""
    if not is_cuda_array(obj):
        raise TypeError(
            f"obj: expected an array on the device, got {type(obj).__name__}"
        )
    if isinstance(obj, np.ndarray):
        return obj.view(DeviceNDArray)
    return from_cuda_array_interface(obj.__cuda_array_interface__, obj)


def from_cuda_array_interface(
    desc: dict[str, Any], owner: Any = None, sync: bool = True
) -> DeviceNDArray:
    """Return the array that a description names; Declined if it is on a real GPU."""
    shown = Interface(desc, owner)
    if not shown.readable():
        raise Declined("an array in the memory of a GPU is not simulated")
    return np.asarray(shown).view(DeviceNDArray)


class Interface:
    """What describes itself as an array on the device, described to NumPy."""

    def __init__(self, desc: dict[str, Any], owner: Any):
        names = ("shape", "typestr", "data", "strides", "descr")
        self.__array_interface__ = {n: desc[n] for n in names if n in desc}
        self.__array_interface__["version"] = 3
        self.owner = owner

    def readable(self) -> bool:
        """Say whether its address is one of this process, as the system knows."""
        address, _ = self.__array_interface__["data"]
        if not address or 0 in self.__array_interface__["shape"]:
            return True
        reading, writing = os.pipe()
        try:
            os.write(writing, (ctypes.c_char * 1).from_address(address))
        except OSError:
            return False
        else:
            return True
        finally:
            os.close(reading)
            os.close(writing)


class InOut:
    """An argument of a launch that the kernel reads and writes."""

    def __init__(self, value: Any):
        self.value = value

    def on_device(self) -> Any:
        """Return what the kernel gets."""
        return self.value

    def is_copied(self) -> bool:
        """Say whether the array is on the host, and so copied to the device."""
        return isinstance(self.value, np.ndarray) and not is_cuda_array(self.value)


class In(InOut):
    """An argument that the kernel reads: what it writes does not come back."""

    def on_device(self) -> Any:
        """Return a copy of an array on the host."""
        return self.value.copy(order="K") if self.is_copied() else self.value


class Out(InOut):
    """An argument that the kernel writes: it gets none of the numbers in it."""

    def on_device(self) -> Any:
        """Return the array; its elements have no value."""
        return unset(self.value) if self.is_copied() else self.value


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
        with np.errstate(over="ignore"):  # integers wrap
            for element in given[:size]:
                value = given.dtype.type(self.functor(value, element))
        if res is None:
            return value
        res[0] = value
        return None
