# The types of the names that a user imports. They are in a stub because the code also
# runs in MicroPython, which has no typing. Private names are left out.

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, SupportsFloat, SupportsIndex, TypeVar, overload

__all__ = [
    "Fault",
    "Kernel",
    "Report",
    "cuda",
    "float16",
    "float32",
    "float64",
    "int32",
    "int64",
    "load",
    "run",
    "uint32",
]

__version__: str

_Function = TypeVar("_Function", bound=Callable[..., Any])
_Extents = SupportsIndex | tuple[SupportsIndex, ...]  # of a grid, a block or an array
_Index = SupportsIndex | tuple[SupportsIndex, ...]

# ---- launches and what they find

class Kernel:
    def __getitem__(
        self,
        configuration: tuple[_Extents, _Extents]
        | tuple[_Extents, _Extents, object]
        | tuple[_Extents, _Extents, object, int],
        /,
    ) -> Callable[..., None]: ...

class Fault(ValueError):
    kind: Literal[
        "compile",
        "race",
        "uninitialised",
        "index",
        "barrier",
        "barriers",
        "shared",
        "block",
        "launch",
        "endless",
        "float64",
        "error",
        "activemask",
    ]
    severity: Literal["fault", "benign", "unmodelled"]
    text: str
    line: int | None
    fields: dict[str, Any]
    # A fault has the following attributes only where they apply.
    block: list[int]
    threads: list[int]
    array: str
    index: list[int]
    earlier: int
    how: Literal["read", "too early", "ahead", "overwrite", "both write"]
    values: list[str]
    alias: str
    other_block: list[int]
    reason: str
    instead: str
    bytes: int
    def __init__(
        self, kind: str, text: str, line: int | None = None, **fields: Any
    ) -> None: ...

class Report:
    kernel: str
    grid: list[int]
    block: list[int]
    faults: list[Fault]
    notes: list[Fault]
    loads: dict[str, list[int]]
    stores: dict[str, list[int]]
    shared_bytes: int
    printed: list[str]
    barriers: int
    exits: list[dict[str, Any]]
    @property
    def transactions(self) -> dict[str, int]: ...
    @property
    def conflicts(self) -> dict[str, int]: ...
    @property
    def bytes(self) -> dict[str, int]: ...
    @property
    def log(self) -> dict[str, Any]: ...
    def __bool__(self) -> bool: ...

def load(
    source: str,
    name: str,
    names: Mapping[str, object] | None = None,
    file: str = "kernel.py",
    whole: bool = True,
) -> Kernel: ...
def run(
    kernel: Kernel | Callable[..., Any],
    grid: _Extents,
    block: _Extents,
    *arguments: Any,
    mode: Literal["race", "rounded", "full", "plain"] = "race",
    log: bool = False,
    beat: Callable[[], object] | None = None,
    shared: int = 0,
    turns: int = 1_000_000,
    trace: Callable[..., object] | None = None,
) -> Report: ...

# ---- types of numbers

class Type:
    name: str
    # With types in the parentheses this is a signature for a decorator.
    @overload
    def __call__(self, *takes: Type | _ArrayType) -> _Signature: ...
    @overload
    def __call__(self, value: SupportsFloat, /) -> Any: ...
    def __getitem__(self, key: slice | tuple[slice, ...], /) -> _ArrayType: ...

class _ArrayType: ...
class _Signature: ...

_Declared = str | _Signature | Sequence[str | _Signature | Type | _ArrayType]

float16: Type
float32: Type
float64: Type
int32: Type
int64: Type
uint32: Type

# ---- cuda, as a kernel sees it

class _Triple:
    x: int
    y: int
    z: int

# An element is Any, because Python has no type for each of the GPU's numbers.
class _Array:
    shape: tuple[int, ...]
    size: int
    ndim: int
    dtype: Type
    def __getitem__(self, index: _Index, /) -> Any: ...
    def __setitem__(self, index: _Index, value: Any, /) -> None: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __len__(self) -> int: ...

class _Space:
    # The dtype is one of blocksim's, Numba's or NumPy's types.
    def array(
        self, shape: _Extents, dtype: Any, alignment: int | None = None
    ) -> _Array: ...

class _Constants:
    def array_like(self, array: Any, /) -> _Array: ...

class _Atomics:
    def add(self, array: Any, index: _Index, value: Any, /) -> Any: ...
    def sub(self, array: Any, index: _Index, value: Any, /) -> Any: ...
    def max(self, array: Any, index: _Index, value: Any, /) -> Any: ...
    def min(self, array: Any, index: _Index, value: Any, /) -> Any: ...
    def nanmax(self, array: Any, index: _Index, value: Any, /) -> Any: ...
    def nanmin(self, array: Any, index: _Index, value: Any, /) -> Any: ...
    def and_(self, array: Any, index: _Index, value: int, /) -> int: ...
    def or_(self, array: Any, index: _Index, value: int, /) -> int: ...
    def xor(self, array: Any, index: _Index, value: int, /) -> int: ...
    def exch(self, array: Any, index: _Index, value: int, /) -> int: ...
    def inc(self, array: Any, index: _Index, value: int, /) -> int: ...
    def dec(self, array: Any, index: _Index, value: int, /) -> int: ...
    def cas(self, array: Any, index: _Index, old: int, value: int, /) -> int: ...
    def compare_and_swap(self, array: Any, old: int, value: int, /) -> int: ...

class _Cuda:
    # A device function keeps its own type, because kernels call it.
    @overload
    def jit(
        self, function: _Function, /, *, device: Literal[True], **options: Any
    ) -> _Function: ...
    @overload
    def jit(
        self,
        signature: _Declared | None = None,
        /,
        *,
        device: Literal[True],
        **options: Any,
    ) -> Callable[[_Function], _Function]: ...
    @overload
    def jit(
        self,
        signature: _Declared | None = None,
        /,
        *,
        device: bool = False,
        **options: Any,
    ) -> Callable[[Callable[..., Any]], Kernel]: ...
    @overload
    def jit(
        self,
        function: Callable[..., Any],
        /,
        *,
        device: bool = False,
        **options: Any,
    ) -> Kernel: ...

    threadIdx: _Triple
    blockIdx: _Triple
    blockDim: _Triple
    gridDim: _Triple
    laneid: int
    warpsize: int
    @overload
    def grid(self, ndim: Literal[1]) -> int: ...
    @overload
    def grid(self, ndim: Literal[2]) -> tuple[int, int]: ...
    @overload
    def grid(self, ndim: Literal[3]) -> tuple[int, int, int]: ...
    @overload
    def gridsize(self, ndim: Literal[1]) -> int: ...
    @overload
    def gridsize(self, ndim: Literal[2]) -> tuple[int, int]: ...
    @overload
    def gridsize(self, ndim: Literal[3]) -> tuple[int, int, int]: ...

    shared: _Space
    local: _Space
    const: _Constants
    atomic: _Atomics

    def syncthreads(self) -> None: ...
    def syncthreads_count(self, predicate: int) -> int: ...
    def syncthreads_and(self, predicate: int) -> int: ...
    def syncthreads_or(self, predicate: int) -> int: ...
    def syncwarp(self, mask: int = 0xFFFFFFFF, /) -> None: ...
    def shfl_sync(self, mask: int, value: Any, src_lane: int) -> Any: ...
    def shfl_xor_sync(self, mask: int, value: Any, lane_mask: int) -> Any: ...
    def shfl_up_sync(self, mask: int, value: Any, delta: int) -> Any: ...
    def shfl_down_sync(self, mask: int, value: Any, delta: int) -> Any: ...
    def all_sync(self, mask: int, predicate: int) -> bool: ...
    def any_sync(self, mask: int, predicate: int) -> bool: ...
    def eq_sync(self, mask: int, predicate: int) -> bool: ...
    def ballot_sync(self, mask: int, predicate: int) -> int: ...
    def match_any_sync(self, mask: int, value: Any, /) -> int: ...
    def match_all_sync(self, mask: int, value: Any, /) -> tuple[int, bool]: ...
    def activemask(self) -> int: ...
    def lanemask_lt(self) -> int: ...
    def threadfence(self) -> None: ...
    def threadfence_block(self) -> None: ...
    def threadfence_system(self) -> None: ...
    def nanosleep(self, ns: int, /) -> None: ...
    def popc(self, x: int, /) -> int: ...
    def clz(self, x: int, /) -> int: ...
    def ffs(self, x: int, /) -> int: ...
    def brev(self, x: int, /) -> int: ...
    def fma(self, a: Any, b: Any, c: Any, /) -> Any: ...
    def cbrt(self, x: Any, /) -> Any: ...
    def selp(self, test: bool, a: Any, b: Any, /) -> Any: ...

cuda: _Cuda
