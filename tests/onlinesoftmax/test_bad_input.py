"""Bad input to every public function: an error that names the argument and what came.

Each argument of each function gets each of the odd values. A function may take one of
them, where it means something; or it refuses it by a ValueError of the form "name:
expected …, got …". No other error, and no name of something that the reader never gave.
"""

import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import product
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from kernellab import banks, devices, limits
from onlinesoftmax import (
    backward,
    costs,
    dense,
    masks,
    precision,
    state,
    streaming,
)
from onlinesoftmax.state import State
from tiledattention import cluster, cpu, gpu
from tiledattention.cluster import network

HUGE = 10**5000  # no float holds it, and Python does not write its digits
ODD: dict[str, Any] = {
    "None": None,
    "text": "a",
    "bytes": b"a",
    "NaN": float("nan"),
    "infinite": float("inf"),
    "huge": HUGE,
    "huge below 0": -HUGE,
    "past int64": 2**63,
    "below 0": -1,
    "zero": 0,
    "half": 0.5,
    "true": True,
    "complex": 1j,
    "ragged": [[1.0], [1.0, 2.0]],
    "list of texts": ["a", "b"],
    "list with None": [1.0, None],
    "list with a huge number": [HUGE, 1.0],
    "empty list": [],
    "set": {1.0},
    "dict": {"a": 1.0},
    "object": object(),
    "function": len,
    "objects": np.array([None, 1.0], object),
    "texts": np.array([["a", "b"], ["c", "d"]]),
    "complex array": np.ones((2, 2), complex),
    "booleans": np.ones((2, 2), bool),
    "dates": np.array(["2026-01-01"], "M8[D]"),
    "record": np.zeros(2, [("a", "f4")]),
    "masked": np.ma.masked_array(np.ones((2, 2), np.float32), [[0, 1], [0, 0]]),
    "no axis": np.float32(1),
    "five axes": np.ones((1, 1, 1, 2, 2), np.float32),
    "empty": np.ones((0, 0), np.float32),
    "longdouble": np.ones((2, 2), np.longdouble),
}

ONE = np.ones((2, 2), np.float32)
ROW = np.ones(2, np.float32)
ATTENTION = {"q": ONE, "k": ONE, "v": ONE, "mask": None, "scale": 1.0}
MORE = {"softcap": 2.0, "sinks": 0.0}
TILES = {"block_q": 2, "block_k": 2}
GRADIENTS = {"o": ONE, "lse": ROW, "do": ONE}
LSE = {"return_lse": False}
STATE = State.of(ROW, ONE)
JOB = network.Job(4, 64, 4, 8)
NUMBERS = {"latency": 1.0, "bandwidth": 1.0, "handling": 1.0}
SM = devices.multiprocessor(devices.capabilities()[0])


CALLS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "masks.window": (masks.window, {"left": 1, "right": 1}),
    "masks.padding": (masks.padding, {"lengths": 1}),
    "masks.documents": (masks.documents, {"ids": [0, 1]}),
    "masks.bias": (masks.bias, {"array": ONE}),
    "masks.alibi": (masks.alibi, {"slopes": 1.0}),
    "masks.walk": (masks.walk, {"mask": None, "queries": 2, "keys": 2, **TILES}),
    "masks.Mask": (
        masks.Mask,
        {"left": 1, "right": 1, "lengths": None, "ids": None, "slopes": None,
         "biases": ()},
    ),
    "masks.Mask &": (lambda mask: masks.causal() & mask, {"mask": masks.causal()}),
    "dense.softmax": (dense.softmax, {"x": ONE, "axis": -1, "compute": None}),
    "dense.log_softmax": (dense.log_softmax, {"x": ONE, "axis": -1, "compute": None}),
    "dense.logsumexp": (dense.logsumexp, {"x": ONE, "axis": -1, "compute": None}),
    "dense.softmax_dot": (
        dense.softmax_dot, {"scores": ROW, "values": ONE, "compute": None}
    ),
    "dense.attention": (
        dense.attention, {**ATTENTION, **MORE, "compute": None, **LSE}
    ),
    "dense.attention_grad": (
        dense.attention_grad,
        {**ATTENTION, "do": ONE, **MORE, "compute": None},
    ),
    "State.of": (State.of, {"scores": ROW, "values": ONE}),
    "State.empty": (State.empty, {"batch": (2,), "width": 2}),
    "merge": (state.merge, {"a": STATE, "b": STATE}),
    "rescale": (state.rescale, {"state": STATE, "m": STATE.m}),
    "streaming.update": (
        streaming.update, {"state": STATE, "scores": ROW, "values": ONE}
    ),
    "streaming.update_two_term": (
        streaming.update_two_term, {"state": STATE, "scores": ROW, "values": ONE}
    ),
    "streaming.normalise": (streaming.normalise, {"state": STATE}),
    "streaming.unnormalise": (
        streaming.unnormalise, {"state": streaming.normalise(STATE)}
    ),
    "streaming.update_normalised": (
        streaming.update_normalised,
        {"state": streaming.normalise(STATE), "scores": ROW, "values": ONE},
    ),
    "streaming.sum_exp": (streaming.sum_exp, {"blocks": [ROW, ROW]}),
    "streaming.softmax": (streaming.softmax, {"x": ROW, "block": 2}),
    "streaming.softmax_dot": (
        streaming.softmax_dot, {"scores": ROW, "values": ONE, "block": 2}
    ),
    "streaming.attention": (
        streaming.attention,
        {**ATTENTION, **MORE, **TILES, **LSE, "exact_blocks": False},
    ),
    "streaming.trace": (
        lambda **given: list(streaming.trace(**given)),
        {"scores": ROW, "block": 2, "values": ONE, "forget": ""},
    ),
    "streaming.trace_attention": (
        lambda **given: list(streaming.trace_attention(**given)),
        {**ATTENTION, **MORE, **TILES, "row": 1},
    ),
    "backward.attention_grad": (
        backward.attention_grad, {**ATTENTION, **GRADIENTS, **MORE, **TILES}
    ),
    "precision.find": (precision.find, {"name": "float16"}),
    "precision.exp_limits": (precision.exp_limits, {"name": "float16"}),
    "precision.exp_inputs": (precision.exp_inputs, {"name": "float16"}),
    "precision.ulp": (precision.ulp, {"x": 1.0, "name": "float16"}),
    "precision.round_to": (precision.round_to, {"x": 1.0, "name": "float16"}),
    "precision.add_up": (
        precision.add_up, {"term": 1.0, "count": 2, "name": "float16"}
    ),
    "precision.running_sum": (precision.running_sum, {"x": ROW, "name": "float16"}),
    "precision.sum_in": (
        precision.sum_in,
        {"x": ROW, "name": "float16", "order": "serial", "block": 2},
    ),
    "devices.gpu": (devices.gpu, {"name": devices.names()[0]}),
    "devices.multiprocessor": (
        devices.multiprocessor, {"capability": devices.capabilities()[0]}
    ),
    "cpu.attention": (
        cpu.attention, {**ATTENTION, **MORE, "out": None, **LSE, "threads": 1}
    ),
    "cpu.decode": (
        cpu.decode, {**ATTENTION, **MORE, "out": None, **LSE, "threads": 1}
    ),
    "cpu.attention_grad": (
        cpu.attention_grad, {**ATTENTION, **GRADIENTS, **MORE, "threads": 1}
    ),
    "cpu.softmax": (cpu.softmax, {"x": ROW, "out": None, "threads": 1}),
    "cluster.attention": (
        cluster.attention,
        {"q": ONE, "keys": ONE, "values": ONE, "mask": None, "scale": 1.0, "chunk": 2,
         "client": None, **LSE, "progress": False, "patience": 1.0},
    ),
    "cluster.softmax_dot": (
        cluster.softmax_dot,
        {"scores": ROW, "values": ONE, "chunk": 2, "client": None, "progress": False,
         "patience": 1.0},
    ),
    "gpu.attention": (
        gpu.attention,
        {**ATTENTION, "kernel": "naive", "device": "simulator", **LSE},
    ),
    "gpu.plan": (
        gpu.plan,
        {"q": ONE, "k": ONE, "v": ONE, "mask": None, "kernel": "naive",
         "device": "simulator"},
    ),
    "network.depth": (network.depth, {"states": 4, "fan": 2}),
    "network.merges": (network.merges, {"states": 4, "fan": 2}),
    "network.levels": (network.levels, {"states": 4, "workers": 2, "fan": 2}),
    "network.state_bytes": (
        network.state_bytes, {"rows": 2, "columns": 2, "itemsize": 8}
    ),
    "network.fold_time": (network.fold_time, {"job": JOB, "keys": 4}),
    "network.seconds": (
        network.seconds, {"job": JOB, "workers": 2, "fan": 2, "scheduler": 0.0}
    ),
    "network.worth": (network.worth, {"job": JOB, "workers": 2, "fan": 2}),
    "network.reaching": (
        network.reaching,
        {"share": 0.5, "job": JOB, "most": 4, "fan": 2, "scheduler": 0.0},
    ),
    "network.simulated": (
        network.simulated, {"job": JOB, "workers": 2, "fan": 2, "scheduler": 0.0}
    ),
    "costs.matmul_flops": (
        costs.matmul_flops, {"rows": 2, "inner": 2, "columns": 2}
    ),
    "costs.flops": (costs.flops, {"n": 2, "d": 2, "keys": 2}),
    "costs.backward_flops": (costs.backward_flops, {"n": 2, "d": 2, "keys": 2}),
    "costs.rescale_flops": (
        costs.rescale_flops, {"n": 2, "d": 2, "block_k": 2, "keys": 2}
    ),
    "costs.dense_footprint": (
        costs.dense_footprint, {"n": 2, "keys": 2, "itemsize": 2}
    ),
    "costs.state_footprint": (
        costs.state_footprint, {"rows": 2, "d": 2, "itemsize": 2}
    ),
    "costs.tiled_footprint": (
        costs.tiled_footprint, {**TILES, "d": 2, "itemsize": 2}
    ),
    "costs.kept_footprint": (costs.kept_footprint, {"n": 2, "itemsize": 2}),
    "costs.dense_traffic": (
        costs.dense_traffic, {"n": 2, "d": 2, "keys": 2, "itemsize": 2}
    ),
    "costs.dense_steps": (
        costs.dense_steps, {"n": 2, "d": 2, "keys": 2, "itemsize": 2}
    ),
    "costs.tiled_traffic": (
        costs.tiled_traffic, {"n": 2, "d": 2, "block_q": 2, "keys": 2, "itemsize": 2}
    ),
    "costs.key_reads": (costs.key_reads, {"n": 2, "block_q": 2}),
    "costs.tiles_along": (costs.tiles_along, {"length": 2, "block": 2}),
    "costs.causal_tiles": (costs.causal_tiles, {"n": 2, **TILES, "keys": 2}),
    "costs.intensity": (costs.intensity, {"operations": 2, "moved": 2}),
    "costs.ridge": (costs.ridge, {"peak": 2.0, "bandwidth": 2.0}),
    "costs.roofline": (
        costs.roofline, {"per_byte": 2.0, "peak": 2.0, "bandwidth": 2.0}
    ),
    "costs.least_time": (
        costs.least_time,
        {"operations": 2, "moved": 2, "peak": 2.0, "bandwidth": 2.0},
    ),
    "limits.shared_memory": (limits.shared_memory, {**TILES, "d": 2, "itemsize": 4}),
    "limits.occupancy": (
        limits.occupancy, {"threads": 32, "registers": 32, "shared": 0, "on": SM}
    ),
    "limits.bound": (
        limits.bound,
        {"issued": 2, "products": 2, "wavefronts": 2, "special": 2, "on": SM},
    ),
    "banks.strided_transactions": (
        banks.strided_transactions, {"stride": 1, "width": 4, "start": 0, "sector": 32}
    ),
    "banks.wavefronts": (banks.wavefronts, {"addresses": [0, 4], "width": 4}),
}  # fmt: skip
# Not asked for: as many turns of a loop as the number says.
ENDLESS = {("costs.causal_tiles", "n")}
# What no argument of any function can mean.
SENSELESS = """
text bytes complex ragged set dict object function objects texts dates record masked
""".split() + ["complex array", "list of texts", "list with None"]  # fmt: skip
SEVERAL = {"blocks", "addresses"}  # which anything may be that can be gone through
# Functions that take what others have checked, and those without arguments.
WITHIN = {
    masks: "causal checked head_of",
    dense: "cap_slopes capped",
    state: "across add add_outputs divisor factor larger largest measure shift total",
    streaming: "answer fold split update_tile weigh",
    backward: "check_forward fold recompute_sums tiles",
    precision: "",
    devices: "capabilities names",
    costs: "",
    limits: "",
    banks: "least_wavefronts",
    network: "merge_time",
}


def odd_calls(name: str, kinds: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    """What each odd value gives in place of each argument: its name, kind, and answer."""
    function, given = CALLS[name]
    for argument, kind in product(given, kinds):
        if (name, argument) in ENDLESS and kind in ("huge", "past int64"):
            continue
        try:
            function(**{**given, argument: ODD[kind]})
        except ValueError as error:
            yield argument, kind, str(error)
        except Exception as error:
            yield argument, kind, f"{type(error).__name__}! {error}"
        else:
            yield argument, kind, ""


def well_said(message: str, argument: str, given: dict[str, Any]) -> bool:
    """Whether an error names an argument first, and the odd one, and what came."""
    form = re.match(r"([\w, ]+): expected .+ got .+", message, re.S)
    return (
        form is not None
        and set(form[1].split(", ")) <= set(given)
        and re.search(rf"\b{argument}\b", message) is not None
        and len(message) < 400
    )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLS)
def test_an_error_names_the_argument_and_what_came(name: str) -> None:
    function, given = CALLS[name]
    function(**given)
    for argument, kind, message in odd_calls(name, ODD):
        assert not message or well_said(message, argument, given), (kind, message)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLS)
def test_what_means_nothing_is_refused(name: str) -> None:
    for argument, kind, message in odd_calls(name, SENSELESS):
        assert message or argument in SEVERAL, (argument, kind)


@pytest.mark.parametrize("module", WITHIN, ids=lambda module: module.__name__)
def test_no_public_function_is_left_out(module: ModuleType) -> None:
    own = {
        name
        for name, value in vars(module).items()
        if inspect.isfunction(value) and value.__module__ == module.__name__
    }
    own = {name for name in own if not name.startswith("_")}
    asked = {name.rpartition(".")[2] for name in CALLS}
    assert own - asked == set(WITHIN[module].split())


def test_a_function_that_forgets_to_look_is_seen(monkeypatch) -> None:
    """The two tests above, on functions that are wrong."""

    def raw(x: object) -> object:
        return len(x)

    def nameless(x: object) -> None:
        raise ValueError(f"expected a number, got {x!r:.20}")

    for function in (raw, nameless):
        monkeypatch.setitem(CALLS, "wrong", (function, {"x": ROW}))
        said = [message for *_, message in odd_calls("wrong", ["text", "complex"])]
        assert [m for m in said if not well_said(m, "x", {"x": ROW})]
