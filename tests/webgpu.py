"""Runs kernels in WGSL on the GPU of a page, and decodes the results."""

import base64
import math
from typing import Any, NamedTuple

import numpy as np

from blocksim.wgsl import FAR, STAND_IN, explained, kinds_of, translate, words

TYPES = {"f32": np.float32, "i32": np.int32, "u32": np.uint32}


class Launch(NamedTuple):
    """One launch of a kernel."""

    kernel: Any
    grid: Any
    block: Any
    arguments: list
    options: dict = {}


class Answer(NamedTuple):
    """The result of a launch: arrays by name, or the compiler's errors."""

    arrays: dict
    faults: list
    trouble: int
    made: dict


def job(launch: Launch) -> tuple[dict, dict]:
    """Return a launch as a page runs it, and its translation."""
    kinds = kinds_of(launch.kernel, launch.arguments)
    made = translate(launch.kernel, launch.block, kinds, **launch.options)
    arrays = [np.asarray(x) for x in launch.arguments if np.ndim(x)]
    shapes = [np.shape(x) or x for x in launch.arguments]
    data = [packed(x, bound) for x, bound in zip(arrays, made["bindings"])]
    return {
        "wgsl": made["wgsl"],
        "bindings": made["bindings"],
        "words": words(made, launch.grid, shapes),
        "blocks": math.prod(np.ravel(launch.grid).tolist()),
        "data": data,
    }, made


def packed(array: np.ndarray, bound: dict) -> str:
    """Return the bytes of an array for the GPU, in base64."""
    if bound["halves"]:
        numbers = np.zeros(-(-array.size // 2) * 2, np.float16)
        numbers[: array.size] = array.ravel()
    else:
        numbers = np.ascontiguousarray(array, TYPES[bound["type"]]).ravel()
        if bound["type"] == "f32":
            numbers = numbers.clip(-STAND_IN, STAND_IN)  # leaves NaN as it is
    return base64.b64encode(numbers.tobytes()).decode()


def answer(launch: Launch, made: dict, reply: dict) -> Answer:
    """Decode the reply of a page to arrays in the shapes of the arguments."""
    faults = explained(made, reply["said"])
    if faults or "data" not in reply:
        return Answer({}, faults, 0, made)
    arrays = [x for x in launch.arguments if np.ndim(x)]
    written = [pair for pair in zip(arrays, made["bindings"]) if pair[1]["written"]]
    back = {}
    for (array, bound), data in zip(written, reply["data"]):
        numbers = np.frombuffer(base64.b64decode(data), TYPES[bound["type"]])
        numbers = numbers[: np.size(array)].reshape(np.shape(array))
        if bound["type"] == "f32":
            far = np.abs(numbers) >= FAR
            numbers = np.where(far, np.copysign(np.inf, numbers), numbers)
        back[bound["name"]] = numbers
    return Answer(back, [], reply["trouble"], made)


def run(page: Any, launches: list[Launch]) -> list[Answer]:
    """Launch kernels on the GPU of a page.

    If a value in shared memory decides which threads reach a barrier, the compiler asks
    for a uniform read there, and the kernel is translated again.
    """
    jobs = [job(launch) for launch in launches]
    replies = page.evaluate("jobs => gpu.launchAll(jobs)", [one for one, _ in jobs])
    answers = [answer(*each) for each in zip(launches, [m for _, m in jobs], replies)]
    for place, (launch, one) in enumerate(zip(launches, answers)):
        lines = {fault["shared"] for fault in one.faults} - {None}
        known = set(launch.options.get("uniform", ()))
        if lines - known:
            options = launch.options | {"uniform": sorted(lines | known)}
            (again,) = run(page, [launch._replace(options=options)])
            answers[place] = one if again.faults else again
    return answers
