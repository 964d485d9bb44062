"""``numba.cuda.random``: the numbers of xoroshiro128+, as Numba draws them.

On the host the states are Numba's records of two uint64. A kernel gets them as an array
with a column for each, so it may only hand them on to the functions here.
"""

import math
from types import FunctionType
from typing import Any

import numpy as np

from blocksim.functions import Unreadable, bare, definition, used
from blocksim.kernel import cuda
from blocksim.things import Type
from blocksim.tree import Node, nodes_in

from . import arrays
from .declined import Declined

__all__ = [
    "create_xoroshiro128p_states",
    "init_xoroshiro128p_states",
    "xoroshiro128p_dtype",
    "xoroshiro128p_next",
    "xoroshiro128p_normal_float32",
    "xoroshiro128p_normal_float64",
    "xoroshiro128p_uniform_float32",
    "xoroshiro128p_uniform_float64",
]

float32, float64 = Type("float32"), Type("float64")
int64, uint32, uint64 = Type("int64"), Type("uint32"), Type("uint64")
xoroshiro128p_dtype = np.dtype([("s0", np.uint64), ("s1", np.uint64)], align=True)
ALL = (1 << 64) - 1
JUMP = 0xBEAC0467EBA5FACB | 0xD86B048B86AA9922 << 64
UNIT, SPLIT = 1.0 / (1 << 53), float((1 << 29) + 1)
TWO_PI_FLOAT32, TWO_PI_FLOAT64 = np.float32(2 * math.pi), np.float64(2 * math.pi)


def create_xoroshiro128p_states(
    n: int, seed: int, subsequence_start: int = 0, stream: Any = 0
) -> arrays.DeviceNDArray:
    """Return the states of ``n`` generators, 2**64 numbers apart in one sequence."""
    states = arrays.device_array(n, xoroshiro128p_dtype)
    init_xoroshiro128p_states(states, seed, subsequence_start)
    return states


def init_xoroshiro128p_states(
    states: Any, seed: int, subsequence_start: int = 0, stream: Any = 0
) -> None:
    """Set the states of generators."""
    state = _first(int(seed) & ALL)
    for _ in range(subsequence_start):
        state = _jump(*state)
    for index in range(len(states)):
        states[index] = state
        state = _jump(*state) if index + 1 < len(states) else state


def _first(seed: int) -> tuple[int, int]:
    """Return the state for a seed, by SplitMix64."""
    z = (seed + 0x9E3779B97F4A7C15) & ALL
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & ALL
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & ALL
    z ^= z >> 31
    return z, z


def _jump(s0: int, s1: int) -> tuple[int, int]:
    """Return the state after 2**64 numbers."""
    a = b = 0
    for bit in range(128):
        if JUMP >> bit & 1:
            a, b = a ^ s0, b ^ s1
        s1 ^= s0
        s0 = (s0 << 55 & ALL | s0 >> 9) ^ s1 ^ (s1 << 14 & ALL)
        s1 = s1 << 36 & ALL | s1 >> 28
    return a, b


@cuda.jit(device=True)
def xoroshiro128p_next(states, index):  # type: ignore[no-untyped-def]
    """Return the next uint64, and advance a generator."""
    s0 = states[index, 0]
    s1 = states[index, 1]
    s2 = s1 ^ s0
    left = (s0 << uint32(55)) | (s0 >> uint32(9))
    states[index, 0] = left ^ s2 ^ (s2 << uint32(14))
    states[index, 1] = (s2 << uint32(36)) | (s2 >> uint32(28))
    return s0 + s1


@cuda.jit(device=True)
def xoroshiro128p_uniform_float64(states, index):  # type: ignore[no-untyped-def]
    """Return a float64 from 0 up to 1."""
    return (xoroshiro128p_next(states, int64(index)) >> uint32(11)) * UNIT


@cuda.jit(device=True)
def xoroshiro128p_uniform_float32(states, index):  # type: ignore[no-untyped-def]
    """Return a float32 from 0 to 1."""
    value = xoroshiro128p_uniform_float64(states, index)
    # Rounded to 24 bits also where the simulator computes with Python's floats.
    far = value * SPLIT
    return float32(far - (far - value))


@cuda.jit(device=True)
def xoroshiro128p_normal_float32(states, index):  # type: ignore[no-untyped-def]
    """Return a normally distributed float32, by the Box-Muller transform."""
    u1 = xoroshiro128p_uniform_float32(states, index)
    u2 = xoroshiro128p_uniform_float32(states, index)
    return math.sqrt(-float32(2.0) * math.log(u1)) * math.cos(TWO_PI_FLOAT32 * u2)


@cuda.jit(device=True)
def xoroshiro128p_normal_float64(states, index):  # type: ignore[no-untyped-def]
    """Return a normally distributed float64, by the Box-Muller transform."""
    u1 = xoroshiro128p_uniform_float32(states, index)
    u2 = xoroshiro128p_uniform_float32(states, index)
    return math.sqrt(-float64(2.0) * math.log(u1)) * math.cos(TWO_PI_FLOAT64 * u2)


def columns(function: FunctionType, position: int, states: np.ndarray) -> np.ndarray:
    """Return the states as a kernel gets them; Declined if it does more with them."""
    if not _only_handed_on(function, position, []):
        name = function.__code__.co_varnames[position]
        used_otherwise = "states of random numbers that are not only handed on"
        raise Declined(f"{name}: {used_otherwise} are not simulated")
    return states.view(np.uint64).reshape(*states.shape, 2)


def _only_handed_on(function: FunctionType, position: int, seen: list[Any]) -> bool:
    """Say whether a parameter is used for its length, or as an argument, and so inside."""
    if function.__module__ == __name__ or (function, position) in seen:
        return True
    seen.append((function, position))
    try:
        tree = definition(function)
    except Unreadable:  # the compiler declines it, and says why
        return True
    name, nodes, good = tree.parameters[position].name, nodes_in(tree), []
    for node in nodes:
        if node.kind == "Attribute" and node.attr == "shape":
            good.append(node.value)
        for number, part in enumerate(node.args if node.kind == "Call" else []):
            if getattr(part, "id", "") == name:
                callee = _value(node.func, used(function))
                inner = bare(callee)
                if inner and _only_handed_on(inner, number, seen) or _is_len(node.func):
                    good.append(part)
    uses = [node for node in nodes if getattr(node, "id", "") == name]
    return all(any(use is one for one in good) for use in uses)


def _is_len(node: Node) -> bool:
    return getattr(node, "id", "") == "len"


def _value(node: Node, around: dict[str, Any]) -> Any:
    """Return what a name, or an attribute of a module, stands for."""
    if node.kind == "Attribute":
        return getattr(_value(node.value, around), node.attr, None)
    return around.get(getattr(node, "id", ""))
