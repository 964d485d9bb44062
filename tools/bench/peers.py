"""Compares the library's CPU kernels with those of other packages, in one process.

A package that is not installed is left out. To install all of them:

    pip install torch --index-url https://download.pytorch.org/whl/cpu
    pip install jax onnx onnxruntime
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any

Task = Callable[[], object]
WHAT = (
    "The library's time in proportion to that of others: below 1 it is quicker. float32,"
    " single heads. Gradients are given the output and the logsumexp. Medians of"
    " {repeats} turns, each with a first run that is not timed. JAX takes all cores."
)


@dataclass(frozen=True)
class Work:
    """A computation."""

    kind: str
    queries: int
    keys: int
    d: int
    threads: int
    causal: bool = False

    def __str__(self) -> str:
        if self.kind == "softmax":
            return f"softmax, rows of {self.keys:,}"
        size = f"{self.keys:,} × {self.d}"
        return f"{self.kind}{', causal' if self.causal else ''}, {size}"


def works(cores: int) -> list[Work]:
    """Return the computations to compare, on one thread and on all."""
    counts = dict.fromkeys((1, cores))
    attention = [
        Work("attention", n, n, d, threads, causal)
        for n, d, causal in (
            (4096, 64, False),
            (4096, 64, True),
            (16384, 64, False),
            (4096, 128, False),
            (4097, 50, False),
        )
        for threads in counts
    ]
    gradients = [Work("gradients", 2048, 2048, 64, threads) for threads in counts]
    decode = [Work("decode", 1, 2**20, 64, threads) for threads in counts]
    widths = (256, 4096, 2**16, 2**20, 2**22)
    softmax = [Work("softmax", max(1, 2**22 // n), n, 1, 1) for n in widths]
    return [*attention, *gradients, *decode, *softmax]


def compare(_: dict, interleaved: Callable[..., list[float]]) -> dict[str, Any]:
    """Return a table of each work by the library and by the installed packages."""
    import numpy as np

    repeats, rng, cores = 9, np.random.default_rng(0), os.cpu_count() or 1
    peers = {name: make for name, (pkg, make) in PEERS.items() if find_spec(pkg)}
    rows = []
    for work in works(cores):
        rows_of_scores = (work.queries, work.keys)
        shape = rows_of_scores if work.kind == "softmax" else (work.keys, work.d)
        arrays = rng.standard_normal((3, *shape), dtype="float32")
        q, k, v = arrays[0][: work.queries], arrays[1], arrays[2]
        tasks = {name: make(work, q, k, v, cores) for name, make in peers.items()}
        able = {name: task for name, task in tasks.items() if task is not None}
        ours = _library(work, q, k, v)
        own, *others = interleaved([ours, *able.values()], repeats, after=1)
        ratio = {name: f"{own / s:.2f}" for name, s in zip(able, others, strict=True)}
        ratios = [ratio.get(name, "–") for name in peers]
        rows.append([str(work), work.threads, f"{1e3 * own:.1f}", *ratios])
    columns = ["", "threads", "the library, milliseconds", *peers]
    return {"what": WHAT.format(repeats=repeats), "columns": columns, "rows": rows}


def _library(work: Work, q: Any, k: Any, v: Any) -> Task:
    from onlinesoftmax.masks import causal
    from tiledattention import cpu

    options = {"mask": causal() if work.causal else None, "threads": work.threads}
    if work.kind == "softmax":
        return partial(cpu.softmax, q, out=q.copy(), threads=1)
    if work.kind == "gradients":
        results = cpu.attention(q, k, v, return_lse=True, **options)
        return partial(cpu.attention_grad, q, k, v, *results, v, **options)
    function = cpu.decode if work.kind == "decode" else cpu.attention
    return partial(function, q, k, v, **options)


def _torch(work: Work, q: Any, k: Any, v: Any, cores: int) -> Task:
    """PyTorch; attention on four axes, because other shapes take a slower path."""
    import torch
    from torch.nn.functional import scaled_dot_product_attention

    inputs = [torch.from_numpy(x)[None, None] for x in (q, k, v)]
    out = torch.empty(q.shape)
    if work.kind == "gradients":
        inputs = [x.requires_grad_() for x in inputs]
        answer = scaled_dot_product_attention(*inputs, is_causal=work.causal)

    def run() -> None:
        torch.set_num_threads(work.threads)
        if work.kind == "softmax":
            torch.softmax(inputs[0][0, 0], 1, out=out)
        elif work.kind == "gradients":
            torch.autograd.grad(answer, inputs, inputs[2].detach(), retain_graph=True)
        else:
            scaled_dot_product_attention(*inputs, is_causal=work.causal)

    return run


def _flex(work: Work, q: Any, k: Any, v: Any, cores: int) -> Task | None:
    """PyTorch's flex attention, which compiles C++; on a CPU it has no gradients."""
    if work.kind != "attention":
        return None
    import torch
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    inputs = [torch.from_numpy(x)[None, None] for x in (q, k, v)]
    mask = None
    if work.causal:
        n = work.keys
        mask = create_block_mask(
            lambda b, h, i, j: i >= j, None, None, n, n, device="cpu"
        )
    torch._dynamo.reset()  # after a few sizes it would stop compiling
    compiled = torch.compile(flex_attention, dynamic=False)

    def run() -> None:
        torch.set_num_threads(work.threads)
        with torch.no_grad():
            compiled(*inputs, block_mask=mask)

    return run


def _onnx(work: Work, q: Any, k: Any, v: Any, cores: int) -> Task | None:
    """ONNX Runtime: its fused attention of several heads, and its softmax."""
    if work.kind == "gradients":
        return None
    import onnxruntime
    from onnx import TensorProto, helper

    attention = work.kind != "softmax"
    inputs = dict(zip("qkv", (x[None] for x in (q, k, v)))) if attention else {"q": q}
    node = (
        helper.make_node("MultiHeadAttention", ["q", "k", "v"], ["o"], num_heads=1,
                         unidirectional=int(work.causal), domain="com.microsoft")
        if attention
        else helper.make_node("Softmax", ["q"], ["o"], axis=1)
    )  # fmt: skip
    infos = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, x.shape)
        for name, x in (inputs | {"o": inputs["q"]}).items()
    ]
    graph = helper.make_graph([node], "work", infos[:-1], infos[-1:])
    sets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=sets, ir_version=10)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = work.threads
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return lambda: session.run(None, inputs)


def _jax(work: Work, q: Any, k: Any, v: Any, cores: int) -> Task | None:
    """JAX, whose number of threads cannot be set in a running process."""
    if work.threads != cores:
        return None
    import jax

    def attend(q: Any, k: Any, v: Any) -> Any:
        heads = (x[None, :, None] for x in (q, k, v))
        return jax.nn.dot_product_attention(*heads, is_causal=work.causal)[0, :, 0]

    inputs = [jax.numpy.asarray(x) for x in (q, k, v)]
    if work.kind == "gradients":
        back = jax.jit(jax.vjp(attend, *inputs)[1])
        return lambda: jax.block_until_ready(back(inputs[2]))
    compiled = jax.jit(attend)
    return lambda: compiled(*inputs).block_until_ready()


PEERS = {
    "PyTorch": ("torch", _torch),
    "flex attention": ("torch", _flex),
    "ONNX Runtime": ("onnxruntime", _onnx),
    "JAX": ("jax", _jax),
}
