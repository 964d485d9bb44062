"""What Triton makes of kernels, executed by ptxsim: right numbers and no fault.

References are float64. Each bound follows from the formats: every rounding is off by at
most one unit of its format, ``ex2.approx`` and ``div.full`` by two units in the last place
(PTX ISA), and a sum of n products in float32, whichever its order, by n of them. Tensor
cores may truncate where others round, which doubles the unit.
"""

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ptxsim
from triton_ptx import TEXTS, run, types_of

Array = np.ndarray
Edit = Callable[[str], str]
F32 = 2.0**-24  # the unit of float32
SUM = 2.0**-23  # of its sums
UNITS = {"*fp32": F32, "*fp16": 2.0**-11, "*bf16": 2.0**-8}
TINY = 2.0**-25  # half the distance of subnormal numbers in float16
LN2, LOG2E = math.log(2), math.log2(math.e)
TESTED: set[str] = set()  # kernels


def names_of(kernel: str) -> list[str]:
    """Return the names of a kernel's texts."""
    TESTED.add(kernel)
    return [name for name, text in TEXTS.items() if text["kernel"] == kernel]


def texts(kernel: str) -> Any:
    """Return a decorator: run a test with each text of a kernel."""
    return pytest.mark.parametrize("name", names_of(kernel))


def draw(kind: str, *shape: int, seed: int = 0) -> Array:
    """Return normal numbers in the format of a pointer; bfloat16 as its bits."""
    x = np.random.default_rng(seed).standard_normal(shape).astype("f4")
    if kind == "*bf16":
        return (x.view("u4") >> 16).astype("u2")
    return x.astype({"*fp32": "f4", "*fp16": "f2"}[kind])


def numbers(x: Array) -> Array:
    """Return an array of a kernel as float64."""
    if x.dtype == np.uint16:
        x = (x.astype("u4") << 16).view("f4")
    return x.astype("f8")


def blank(kind: str, *shape: int) -> Array:
    return np.empty_like(draw(kind, *shape))


def assert_close(name: str, result: Array, expected: Array, allowed: Array) -> None:
    """Compare each element with its own bound."""
    off = np.abs(numbers(result) - expected)
    wrong = np.argwhere(~(off <= allowed))
    assert not len(wrong), (
        f"{name}: {len(wrong)} numbers are off, the first at {wrong[0]}"
    )


def programs(name: str, n: int) -> int:
    return -(-n // TEXTS[name]["constexprs"]["BLOCK"])


# ---- elements and rows ----


@texts("add")
def test_add(name: str) -> None:
    kind = types_of(name)[0]
    n = 2512 if kind == "*fp16" else 2501
    x, y, out = draw(kind, n), draw(kind, n, seed=1), blank(kind, n)
    run(name, programs(name, n), x, y, out, n, outputs=[2])
    assert np.array_equal(out, x + y)


def philox(seed: int, counters: Array) -> Array:
    """Return the first word of Philox-4x32-10, by its definition (Salmon et al., 2011)."""
    mask, words = 2**32 - 1, []
    for counter in counters.tolist():
        c, k = [counter, 0, 0, 0], [seed & mask, seed >> 32]
        for _ in range(10):
            high, low = divmod(0xD2511F53 * c[0], 2**32)
            high2, low2 = divmod(0xCD9E8D57 * c[2], 2**32)
            c = [high2 ^ c[1] ^ k[0], low2, high ^ c[3] ^ k[1], low]
            k = [(k[0] + 0x9E3779B9) & mask, (k[1] + 0xBB67AE85) & mask]
        words.append(c[0])
    return np.array(words, "u4")


@texts("dropout")
def test_dropout(name: str) -> None:
    n, p, seed = 1500, 0.25, 20_000_003
    x, out = draw("*fp32", n), blank("*fp32", n)
    run(name, programs(name, n), x, out, n, p, seed, outputs=[1])
    kept = numbers(x) / (1 - p)
    signed = philox(seed, np.arange(n)).view("i4")
    # Triton folds negative numbers onto the others, and scales all of them to below 1.
    uniform = np.where(signed < 0, ~signed, signed) / 2**31
    assert np.abs(uniform - p).min() > 2 * SUM  # none is near the threshold
    assert_close(name, out, np.where(uniform >= p, kept, 0.0), 4 * F32 * abs(kept))


def softmax(scores: Array) -> Array:
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


def check_softmax(name: str, edit: Edit | None = None) -> None:
    rows, columns = 37, 784 if "i32:16" in TEXTS[name]["signature"] else 781
    x, out = draw("*fp32", rows, columns), blank("*fp32", rows, columns)
    if TEXTS[name]["kernel"] == "softmax":
        run(name, rows, x, out, columns, edit=edit, outputs=[1])
    else:
        run(name, 8, x, out, rows, columns, edit=edit, outputs=[1])
    scores = numbers(x)
    # The argument of exp is rounded twice: a difference, and its product with log2(e).
    gaps = scores.max(1, keepdims=True) - scores
    units = 2 * gaps.max() + columns + 8
    assert_close(name, out, softmax(scores), units * F32 * softmax(scores))


@texts("softmax")
def test_softmax(name: str) -> None:
    check_softmax(name)


@texts("softmax_persistent")
def test_softmax_persistent(name: str) -> None:
    check_softmax(name)


@texts("layer_norm")
def test_layer_norm(name: str) -> None:
    rows, columns = 5, 781
    x, weight = draw("*fp16", rows, columns), draw("*fp16", columns)
    bias, out = draw("*fp16", columns, seed=1), blank("*fp16", rows, columns)
    mean, rstd = blank("*fp32", rows), blank("*fp32", rows)
    arguments = (x, weight, bias, out, mean, rstd, columns, 1e-5)
    run(name, rows, *arguments, outputs=[3, 4, 5])
    x, w, b = map(numbers, arguments[:3])
    average, scale = moments(x)
    units = (columns + 8) * SUM
    size = (abs(x) + abs(x).mean(1, keepdims=True)) * scale
    squares = (size**2).mean(1, keepdims=True)
    assert_close(name, mean, average[:, 0], units * abs(x).mean(1))
    assert_close(name, rstd, scale[:, 0], units * (scale * squares)[:, 0])
    y = (x - average) * scale * w + b
    single = units * (size * squares * abs(w) + abs(b))
    assert_close(name, out, y, UNITS["*fp16"] * abs(y) + TINY + single)


class Normed:
    """Some rows: arguments of the kernels of a layer norm's gradients, and references."""

    def __init__(self, name: str, rows: int, columns: int) -> None:
        self.name = name
        mean, rstd = moments(numbers(draw("*fp16", rows, columns)))
        self.arguments = (
            draw("*fp16", rows, columns),
            draw("*fp16", columns),
            draw("*fp16", rows, columns, seed=1),
            mean[:, 0].astype("f4"),
            rstd[:, 0].astype("f4"),
            blank("*fp16", rows, columns),  # dx
        )
        x, w, dy = map(numbers, self.arguments[:3])
        normed, size = (x - mean) * rstd, (abs(x) + abs(mean)) * rstd
        self.dx = (
            w * dy - normed * row_mean(normed * w * dy) - row_mean(w * dy)
        ) * rstd
        parts = (
            abs(w * dy) + size * row_mean(size * abs(w * dy)) + row_mean(abs(w * dy))
        )
        self.allowed = UNITS["*fp16"] * abs(self.dx) + TINY
        self.allowed += (columns + 8) * SUM * parts * rstd
        self.dw, self.db = (dy * normed).sum(0), dy.sum(0)
        self.dw_allowed = (rows + 8) * SUM * (abs(dy) * size).sum(0)
        self.db_allowed = rows * SUM * abs(dy).sum(0)

    def check(self, dw: Array, db: Array) -> None:
        assert_close(self.name, self.arguments[-1], self.dx, self.allowed)
        assert_close(self.name, dw, self.dw, self.dw_allowed)
        assert_close(self.name, db, self.db, self.db_allowed)


def moments(x: Array) -> tuple[Array, Array]:
    """Return the mean and the reciprocal of the standard deviation of each row."""
    return row_mean(x), 1 / np.sqrt(x.var(1, keepdims=True) + 1e-5)


def row_mean(x: Array) -> Array:
    return x.mean(1, keepdims=True)


@texts("layer_norm_backward")
def test_layer_norm_backward(name: str) -> None:
    case, programs = Normed(name, 11, 200), 3
    dw, db = blank("*fp32", programs, 200), blank("*fp32", programs, 200)
    run(name, programs, *case.arguments, dw, db, 11, 200, outputs=[5, 6, 7])
    case.check(dw.sum(0), db.sum(0))


@texts("layer_norm_backward_locked")
def test_layer_norm_backward_under_locks(name: str) -> None:
    case, groups = Normed(name, 11, 200), TEXTS[name]["constexprs"]["GROUPS"]
    dw, db = blank("*fp32", groups, 200), blank("*fp32", groups, 200)
    locks = np.zeros(2 * groups, "i4")
    arguments = (*case.arguments, dw, db, locks, 200)
    run(name, 11, *arguments, outputs=[5, 6, 7], changed=[8])
    case.check(dw.sum(0), db.sum(0))


@texts("layer_norm_backward_atomic")
def test_layer_norm_backward_by_atomics(name: str) -> None:
    case, dw, db = Normed(name, 11, 200), np.zeros(200, "f4"), np.zeros(200, "f4")
    run(name, 11, *case.arguments, dw, db, 200, outputs=[5], changed=[6, 7])
    case.check(dw, db)


@texts("column_sums")
def test_column_sums(name: str) -> None:
    x, out = draw("*fp32", 75, 100), blank("*fp32", 100)
    run(name, programs(name, 100), x, out, 75, 100, outputs=[1])
    assert_close(name, out, numbers(x).sum(0), 75 * F32 * abs(x).sum(0))


# ---- reductions, scans and sorting ----


@texts("total")
def test_total(name: str) -> None:
    x, out = draw("*fp32", 2501), np.zeros(1, "f4")
    run(name, programs(name, 2501), x, out, 2501, changed=[1])
    assert_close(name, out, numbers(x).sum(), 2501 * F32 * abs(x).sum())


@texts("maximum")
@pytest.mark.parametrize("shift", [0, -9])
def test_maximum(name: str, shift: int) -> None:
    x, out = draw("*fp32", 2501) + np.float32(shift), np.full(1, -np.inf, "f4")
    run(name, programs(name, 2501), x, out, 2501, changed=[1])
    assert out == x.max()


@texts("argmax")
def test_argmax(name: str) -> None:
    """Rounded numbers are equal: the first of the largest counts."""
    x, out = np.round(draw("*fp32", 7, 781)), np.empty(7, "i4")
    run(name, 7, x, out, 781, outputs=[1])
    assert np.array_equal(out, x.argmax(1))


@texts("running_sums")
def test_running_sums(name: str) -> None:
    x, out = draw("*fp32", 5, 781), blank("*fp32", 5, 781)
    run(name, 5, x, out, 781, outputs=[1])
    assert_close(name, out, numbers(x).cumsum(1), 781 * F32 * abs(x).cumsum(1))


def recurrence(a: Array, b: Array) -> Array:
    states = np.zeros_like(b)
    for j in range(b.shape[1]):
        states[:, j] = a[:, j] * states[:, j - 1] + b[:, j]
    return states


@texts("recurrence")
def test_recurrence(name: str) -> None:
    a, b, out = (
        draw("*fp32", 8, 100),
        draw("*fp32", 8, 100, seed=1),
        blank("*fp32", 8, 100),
    )
    run(name, 2, a, b, out, 100, outputs=[2])
    size = recurrence(abs(numbers(a)), abs(numbers(b)))
    assert_close(name, out, recurrence(numbers(a), numbers(b)), 2 * 100 * F32 * size)


@texts("sort")
def test_sort(name: str) -> None:
    x, out = draw("*fp32", 5, 200), blank("*fp32", 5, 200)
    run(name, 5, x, out, 200, outputs=[1])
    assert np.array_equal(out, np.sort(x, 1))


@texts("histogram")
def test_histogram(name: str) -> None:
    x, out = np.arange(2501, dtype="i4") ** 2 % 64, np.zeros(64, "i4")
    run(name, programs(name, 2501), x, out, 2501, changed=[1])
    assert np.array_equal(out, np.bincount(x, minlength=64))


# ---- matrix products ----


class Product:
    """Factors for a text, the space for their product, and how many tiles that has."""

    def __init__(self, name: str) -> None:
        self.name, (kind, _, self.kind) = name, types_of(name)[:3]
        ragged, sizes = (
            "i32:16" not in TEXTS[name]["signature"],
            TEXTS[name]["constexprs"],
        )
        m, n, k = (100, 72, 88) if ragged else (112, 80, 96)
        self.tiles = -(-m // sizes["M"]) * -(-n // sizes["N"])
        self.a, self.b = draw(kind, m, k), draw(kind, k, n, seed=1)
        self.c = np.zeros((m, n), blank(self.kind, 1).dtype)
        self.arguments = self.a, self.b, self.c, m, n, k
        # Of float32, tensor cores read the ten upper bits of the significand.
        self.unit = 2 * 2.0**-10 if kind == "*fp32" else 0.0
        self.unit += (k + 8) * SUM

    def check(self) -> None:
        a, b = numbers(self.a), numbers(self.b)
        allowed = UNITS[self.kind] * abs(a @ b) + TINY + self.unit * (abs(a) @ abs(b))
        assert_close(self.name, self.c, a @ b, allowed)


def check_matmul(name: str, edit: Edit | None = None) -> None:
    case = Product(name)
    run(name, case.tiles, *case.arguments, edit=edit, outputs=[2])
    case.check()


MATMUL = names_of("matmul")
FORMATS = ["matmul-fp16", "matmul-bf16-ragged", "matmul-tf32"]


@pytest.mark.parametrize("name", FORMATS)
def test_matmul(name: str) -> None:
    check_matmul(name)


def test_matmul_by_other_texts() -> None:
    for name in MATMUL:
        if name not in (*FORMATS, "matmul-int8"):
            check_matmul(name)


def test_matmul_of_integers() -> None:
    a, b = (np.arange(-n, n, dtype="i8").astype("i1") for n in (112 * 48, 80 * 48))
    a, b, c = a.reshape(112, 96), b.reshape(96, 80), np.empty((112, 80), "i4")
    run("matmul-int8", 4, a, b, c, 112, 80, 96, outputs=[2])
    assert np.array_equal(c, a.astype("i4") @ b.astype("i4"))


@texts("matmul_split")
def test_matmul_split(name: str) -> None:
    case = Product(name)
    run(name, (case.tiles, 2), *case.arguments, changed=[2])
    case.check()


@texts("matmul_persistent")
def test_matmul_persistent(name: str) -> None:
    case = Product(name)
    run(name, 3, *case.arguments, outputs=[2])
    case.check()


# ---- attention ----

ATTENTION = names_of("attention")
SHORT = ["attention-64-fp16", "attention-causal-64-fp16", "attention-causal-32-bf16"]
BACKWARD = [*zip(names_of("attention_backward_kv"), names_of("attention_backward_q"))]


class Attention:
    """Queries, keys and values of two heads, and the reference of what kernels make."""

    def __init__(self, name: str, n: int) -> None:
        sizes, self.kind = TEXTS[name]["constexprs"], types_of(name)[0]
        self.name, self.n = name, n
        d, self.blocks = sizes["D"], n // min(sizes["M"], sizes.get("N", n)) + 1
        self.given = [draw(self.kind, 2, n, d, seed=seed) for seed in range(4)]
        self.q, self.k, self.v, self.grad = map(numbers, self.given)
        self.natural = d**-0.5
        scores = self.q @ turned(self.k) * self.natural
        if sizes.get("CAUSAL"):
            scores = np.where(np.tri(n, dtype=bool), scores, -np.inf)
        self.p = softmax(scores)
        self.lse = np.log2(np.exp(scores).sum(-1))
        self.out = self.p @ self.v
        self.unit = UNITS[self.kind]
        # What float32 adds to a weight, relative: twice the error of a score, which is
        # a sum of d products, and two units of exp2 for each rescale and each weight.
        largest = (abs(self.q) @ turned(abs(self.k))).max() * self.natural
        self.single = (
            2 * (d + 4) * SUM * largest + (self.blocks + 2) * 4 * SUM + n * SUM
        )

    def grid(self, rows: int) -> tuple[int, int]:
        return -(-self.n // rows), 2


def turned(x: Array) -> Array:
    return x.swapaxes(-1, -2)


def check_attention(name: str, n: int) -> None:
    case = Attention(name, n)
    out, lse = np.empty_like(case.given[0]), blank("*fp32", 2, n)
    arguments = (*case.given[:3], out, lse, n, case.natural * LOG2E)
    run(name, case.grid(TEXTS[name]["constexprs"]["M"]), *arguments, outputs=[3, 4])
    # Weights are rounded to the format of the values, and so is the result.
    relative = (2 * case.unit + 2 * case.single) * (case.p @ abs(case.v))
    assert_close(name, out, case.out, relative + TINY * (1 + n * abs(case.v).max()))
    assert_close(name, lse, case.lse, 2 * case.single / LN2 + 4 * SUM * abs(case.lse))


@pytest.mark.parametrize("name", SHORT)
def test_attention(name: str) -> None:
    check_attention(name, 200)


@pytest.mark.parametrize("width", [16, 32, 64, 128])
def test_attention_by_other_texts(width: int) -> None:
    for name in ATTENTION:
        if TEXTS[name]["constexprs"]["D"] == width and name not in SHORT:
            check_attention(name, 200 if width < 128 else 100)


@pytest.mark.parametrize("name", SHORT[:2])
def test_long_attention(name: str) -> None:
    check_attention(name, 1024)


@texts("attention_equal")
def test_attention_that_masks_some_tiles_only(name: str) -> None:
    """No full tile, full tiles only, and both."""
    for n in (10, 64, 200 if "64" in name else 100):
        check_attention(name, n)


@texts("attention_delta")
def test_attention_delta(name: str) -> None:
    case, delta = Attention(name, 200), blank("*fp32", 2, 200)
    out, grad = case.given[2:]
    run(name, case.grid(64), out, grad, delta, 200, outputs=[2])
    out, grad = numbers(out), numbers(grad)
    assert_close(name, delta, (out * grad).sum(-1), 64 * F32 * abs(out * grad).sum(-1))


class Gradients(Attention):
    """The gradients of attention, and how far off a kernel's may be."""

    def __init__(self, name: str, n: int) -> None:
        super().__init__(name, n)
        self.delta = (self.out * self.grad).sum(-1)
        rows, d = self.delta[..., None], self.q.shape[-1]
        self.arguments = (*self.given, self.lse.astype("f4"), self.delta.astype("f4"))
        self.scales = (n, self.natural * LOG2E, self.natural)
        self.ds = self.p * (self.grad @ turned(self.v) - rows)
        parts = abs(self.grad) @ turned(abs(self.v)) + abs(rows)
        # A gradient of a score is rounded to the format of the keys.
        self.ds_off = (self.unit + 2 * self.single) * abs(self.ds) + TINY
        self.ds_off += (d + 4) * SUM * self.p * parts

    def check_product(
        self, result: Array, ds: Array, off: Array, factor: Array
    ) -> None:
        """Compare with the product of gradients of scores and q or k."""
        expected = self.natural * (ds @ factor)
        sums = self.n * SUM * (abs(ds) @ abs(factor))
        off = self.natural * (off @ abs(factor) + sums)
        assert_close(
            self.name, result, expected, self.unit * abs(expected) + TINY + off
        )


def check_backward_of_keys_and_values(name: str) -> None:
    case = Gradients(name, 100)
    dk, dv = np.empty_like(case.given[0]), np.empty_like(case.given[0])
    arguments = (*case.arguments, dk, dv, *case.scales)
    run(name, case.grid(32), *arguments, outputs=[6, 7])
    case.check_product(dk, turned(case.ds), turned(case.ds_off), case.q)
    p = turned(case.p)
    relative = (2 * case.unit + 2 * case.single) * (p @ abs(case.grad))
    assert_close(
        name, dv, p @ case.grad, relative + TINY * (1 + 100 * abs(case.grad).max())
    )


def check_backward_of_queries(name: str) -> None:
    case = Gradients(name, 100)
    dq = np.empty_like(case.given[0])
    run(name, case.grid(32), *case.arguments, dq, *case.scales, outputs=[6])
    case.check_product(dq, case.ds, case.ds_off, case.k)


@pytest.mark.parametrize("names", BACKWARD, ids=["plain", "causal"])
def test_attention_backward(names: tuple[str, str]) -> None:
    check_backward_of_keys_and_values(names[0])
    check_backward_of_queries(names[1])


# ---- what these tests stand on ----

BARRIER, WAIT = r"bar\.sync\s+0;", r"cp\.async\.wait_group[^;]*;"
# What is removed from a text, which occurrence of it, and what is noticed.
PLANTED = [
    ("softmax", BARRIER, 0, r"^race: .*standard.py:"),
    ("matmul-fp16", BARRIER, 0, r"^race: .*kernels.py:"),
    ("matmul-fp16", BARRIER, 3, r"^race: .*kernels.py:"),
    ("matmul-fp16", WAIT, 0, r"^copy under way: .*kernels.py:"),
    ("matmul-fp16", r"mma\.sync[^;]*;", 5, "^matmul-fp16: "),
]


@pytest.mark.parametrize("name, pattern, which, noticed", PLANTED)
def test_what_is_removed_is_missed(
    name: str, pattern: str, which: int, noticed: str
) -> None:
    def edit(text: str) -> str:
        found = [*re.finditer(pattern, text)][which]
        return text[: found.start()] + text[found.end() :]

    check = {"softmax": check_softmax, "matmul-fp16": check_matmul}[name]
    with pytest.raises((ptxsim.Fault, AssertionError), match=noticed):
        check(name, edit)


def test_every_kernel_is_run() -> None:
    assert {text["kernel"] for text in TEXTS.values()} == TESTED
