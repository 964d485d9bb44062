"""Compares the library's CPU kernels with those of other packages, in one process.

A package that is not installed is left out. To install all of them:

    pip install torch --index-url https://download.pytorch.org/whl/cpu
    pip install jax onnx onnxruntime

PyTorch's matrix products leave AVX-512 unused on AMD's processors. There a second process,
in which they are told to use it, measures PyTorch once more (it takes a C compiler).
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

Task = Callable[[], object]
WHAT = (
    "The library's milliseconds, and its time in proportion to that of others: below 1 it"
    " is quicker. “Told”: PyTorch, told to use AVX-512. float32,"
    " one head, or 32 of queries and 8 of keys. Gradients are given the output and"
    " the logsumexp. “Of the machine”: of its peak in multiplying and adding, or, where one"
    " query or few meet many keys, of its speed in reading, both measured in these turns."
    " Medians of {repeats} turns; before each measurement the same work runs for"
    " {warm:.0f} ms or once. JAX takes all cores."
)
REPEATS, WARM = 9, 0.012
SPRINT = 768 * 200_000  # operations of the loop that shows the peak
# What MKL asks of itself to know whether a processor may use its AVX-512 code.
TOLD = "int mkl_serv_intel_cpu_true(void) { return 1; }"


@dataclass(frozen=True)
class Work:
    """A computation."""

    kind: str
    queries: int
    keys: int
    d: int
    threads: int
    causal: bool = False
    heads: tuple[int, ...] = ()  # of the queries, and of the keys

    def __str__(self) -> str:
        if self.kind == "softmax":
            return f"softmax, rows of {self.keys:,}"
        size = f"{self.keys:,} × {self.d}"
        if self.kind != "decode" and self.queries != self.keys:
            return f"{self.queries} queries, {size}"
        heads = ", {}/{}".format(*self.heads) if self.heads else ""
        return f"{self.kind}{', causal' if self.causal else ''}{heads}, {size}"

    @property
    def operations(self) -> float:
        """Multiplications and additions; 0 where reading is what takes the time."""
        if self.kind in ("softmax", "decode") or self.queries < self.keys:
            return 0
        products = {"attention": 2, "gradients": 5}[self.kind]
        return 2 * products * self.queries * self.keys * self.d / (1 + self.causal)

    @property
    def bytes_read(self) -> float:
        """The bytes of keys and values, or of scores."""
        if self.kind == "softmax":
            return 0
        return 8 * self.keys * self.d * (self.heads[1] if self.heads else 1)


def works(cores: int) -> list[Work]:
    """Return the computations to compare, on one thread and on all."""
    counts = dict.fromkeys((1, cores))
    square = [
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
    few = [Work("attention", 8, 2**16, 64, threads) for threads in counts]
    decode = [
        Work("decode", 1, n, 64, threads, heads=heads)
        for n, heads in ((2**16, ()), (2**20, ()), (2**13, (32, 8)))
        for threads in counts
    ]
    softmax = [
        Work("softmax", 2**22 // n, n, 1, threads)
        for n in (256, 4096, 2**16, 2**20, 2**22)
        for threads in counts
    ]
    return [*square, *gradients, *few, *decode, *softmax]


def compare(_: dict, interleaved: Callable[..., list[float]]) -> dict[str, Any]:
    """Return a table of each work by the library and by the installed packages."""
    peers = {name: make for name, (pkg, make) in PEERS.items() if find_spec(pkg)}
    measured = partial(interleaved, repeats=REPEATS, warm=WARM)
    rows = list(_measured(peers, measured))
    columns = ["", "threads", "ms", "of the machine", *peers]
    if find_spec("torch") and (told := _told()):
        columns.insert(5, "told")
        for row, ratio in zip(rows, told, strict=True):
            row.insert(5, ratio)
    what = WHAT.format(repeats=REPEATS, warm=1e3 * WARM)
    return {"what": what, "columns": columns, "rows": rows}


def _measured(
    peers: dict[str, Any], interleaved: Callable[..., list[float]]
) -> Iterator[list[Any]]:
    """Yield the row of each work."""
    import numpy as np

    rng, cores = np.random.default_rng(0), os.cpu_count() or 1
    for work in works(cores):
        heads = work.heads or (1, 1)
        q = rng.standard_normal((heads[0], work.queries, work.d), dtype="float32")
        k, v = rng.standard_normal((2, heads[1], work.keys, work.d), dtype="float32")
        if work.kind == "softmax":
            q = rng.standard_normal((1, work.queries, work.keys), dtype="float32")
        tasks = {name: make(work, q, k, v, cores) for name, make in peers.items()}
        able = {name: task for name, task in tasks.items() if task is not None}
        limit = _peak(work.threads) if work.operations else _reading(k, v, work.threads)
        own, least, *others = interleaved(
            [_library(work, q, k, v), limit, *able.values()]
        )
        share = "–"
        if work.operations:
            share = (
                f"{100 * work.operations / SPRINT / work.threads * least / own:.0f} %"
            )
        elif work.bytes_read:
            share = f"{100 * least / own:.0f} %"
        ratio = {name: f"{own / s:.2f}" for name, s in zip(able, others, strict=True)}
        ratios = [ratio.get(name, "–") for name in peers]
        yield [str(work), work.threads, f"{1e3 * own:.1f}", share, *ratios]


def _peak(threads: int) -> Task:
    """Multiply and add in registers, SPRINT operations on each thread."""
    import numpy as np
    from numba import njit

    from tiledattention.cpu.pool import share
    from tiledattention.cpu.steps import PANEL, ROWS, address, product_add

    turns = SPRINT // (2 * ROWS * PANEL)

    @njit(nogil=True)
    def sprint(a: Any, c: Any) -> None:
        product_add(address(a), 0, 0, address(a), 0, address(c), PANEL * 4, turns)

    tables = [np.ones((2, ROWS, PANEL), "f4") for _ in range(threads)]
    return lambda: share(lambda table: sprint(*table), tables, threads)


def _reading(k: Any, v: Any, threads: int) -> Task:
    """Read the keys and the values once, in parts that threads share."""
    import numpy as np
    from numba import njit

    from tiledattention.cpu import decoding
    from tiledattention.cpu.pool import share
    from tiledattention.cpu.steps import LANES, address, row_largest

    @njit(nogil=True)
    def read(x: Any, room: Any) -> None:
        row_largest(address(x), x.size, address(room))

    size = decoding.SMALLEST * k.shape[-1]
    k, v = k.reshape(-1), v.reshape(-1)

    def run(start: int) -> None:
        room = np.empty(LANES, "f4")
        for x in (k, v):
            read(x[start : start + size], room)

    return lambda: share(run, range(0, k.size, size), threads)


def _told() -> list[str] | None:
    """Return PyTorch's column where it is told to use AVX-512, if it needs to be told."""
    from tiledattention.cpu import machine

    compiler = shutil.which("cc")
    amd = "AuthenticAMD" in Path("/proc/cpuinfo").read_text("utf-8")
    if not (compiler and amd and machine().name == "AVX-512"):
        return None
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder, "told.c"), Path(folder, "told.so")
        source.write_text(TOLD, "utf-8")
        subprocess.run(
            [compiler, "-shared", "-fPIC", source, "-o", library], check=True
        )
        done = subprocess.run(
            [sys.executable, "-m", "tools.bench.peers"],
            env=os.environ | {"LD_PRELOAD": str(library)},
            stdout=subprocess.PIPE,
            check=True,
        )
    return json.loads(done.stdout)


def _library(work: Work, q: Any, k: Any, v: Any) -> Task:
    from onlinesoftmax.masks import causal
    from tiledattention import cpu

    options = {"mask": causal() if work.causal else None, "threads": work.threads}
    if work.kind == "softmax":
        return partial(cpu.softmax, q, out=q.copy(), threads=work.threads)
    if work.kind == "gradients":
        results = cpu.attention(q, k, v, return_lse=True, **options)
        return partial(cpu.attention_grad, q, k, v, *results, v, **options)
    function = cpu.decode if work.kind == "decode" else cpu.attention
    return partial(function, q, k, v, **options)


def _torch(work: Work, q: Any, k: Any, v: Any, cores: int) -> Task:
    """PyTorch; attention on four axes, because other shapes take a slower path."""
    import torch
    from torch.nn.functional import scaled_dot_product_attention

    inputs = [torch.from_numpy(x)[None] for x in (q, k, v)]
    out = torch.empty(q.shape)
    grouped = bool(work.heads)
    if work.kind == "gradients":
        inputs = [x.requires_grad_() for x in inputs]
        answer = scaled_dot_product_attention(*inputs, is_causal=work.causal)

    def run() -> None:
        torch.set_num_threads(work.threads)
        if work.kind == "softmax":
            torch.softmax(inputs[0][0], -1, out=out)
        elif work.kind == "gradients":
            torch.autograd.grad(answer, inputs, inputs[2].detach(), retain_graph=True)
        else:
            scaled_dot_product_attention(
                *inputs, is_causal=work.causal, enable_gqa=grouped
            )

    return run


def _flex(work: Work, q: Any, k: Any, v: Any, cores: int) -> Task | None:
    """PyTorch's flex attention, which compiles C++; on a CPU it has no gradients."""
    if work.kind != "attention" or work.queries != work.keys:
        return None
    import torch
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    inputs = [torch.from_numpy(x)[None] for x in (q, k, v)]
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
    if work.kind == "gradients" or work.heads:
        return None
    import onnxruntime
    from onnx import TensorProto, helper

    attention = work.kind != "softmax"
    inputs = dict(zip("qkv", (q, k, v))) if attention else {"q": q[0]}
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
        heads = (x.swapaxes(0, 1)[None] for x in (q, k, v))
        return jax.nn.dot_product_attention(*heads, is_causal=work.causal)[0]

    inputs = [jax.numpy.asarray(x) for x in (q, k, v)]
    if work.kind == "softmax":
        rows = jax.jit(partial(jax.nn.softmax, axis=-1))
        return lambda: rows(inputs[0]).block_until_ready()
    if work.kind == "gradients":
        back = jax.jit(jax.vjp(attend, *inputs)[1])
        cotangent = inputs[2].swapaxes(0, 1)
        return lambda: jax.block_until_ready(back(cotangent))
    compiled = jax.jit(attend)
    return lambda: compiled(*inputs).block_until_ready()


PEERS = {
    "PyTorch": ("torch", _torch),
    "flex": ("torch", _flex),
    "ONNX": ("onnxruntime", _onnx),
    "JAX": ("jax", _jax),
}


if __name__ == "__main__":  # PyTorch's column alone, for `_told`
    from statistics import median

    from tools.bench.measure import interleaved

    measured = partial(interleaved, repeats=REPEATS, of=median, warm=WARM)
    print(json.dumps([row[-1] for row in _measured({"PyTorch": _torch}, measured)]))
