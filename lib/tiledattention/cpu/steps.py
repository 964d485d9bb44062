"""The inner loops of the kernels, written for a machine's vectors.

Numba lets a function emit its own instructions: an *intrinsic*. Those here take
addresses, as integers, and distances in bytes, which the kernels work out. They process
six rows at a time, a *strip*, and the numbers of a row a vector at a time, so a row has
to hold whole vectors.

    product_set, product_add    a strip of a product of two matrices
    dots                        the products of one row with several others
    absorb                      takes a strip of scores into the states of its rows
    differ                      weights and dS of a row, from its scores and dP
    row_largest, row_write, row_scale      what a softmax does to a row
    fetch                       prefetches a cache line
"""

from collections.abc import Callable
from math import e, log2
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from tiledattention.cpu import lanes
from tiledattention.cpu.lanes import BYTES, LANES, MACHINE, Builder, Value, number

ROWS = 6  # of a strip
# Vectors of each row of a product that stay in registers: as many as fit beside one row of
# the second matrix and one number of the first.
VECTORS = 4 if MACHINE.registers == 32 else 2
PANEL = VECTORS * LANES  # columns that a strip of a product has
ABREAST = 4  # independent vectors of a row, so that none waits for another
STEP = ABREAST * LANES  # numbers of a row in one step
LOG2_E = log2(e)
ADDRESS, NUMBER = types.intp, types.float32


def product(vectors: int, onto: bool, height: int = ROWS) -> Callable[..., None]:
    """Return an intrinsic for a strip of a product of two matrices.

    It is `c[r, j] = Σ a[r, k] · b[k, j]`, or `c[r, j] += …` with `onto`, for a few rows
    and a few vectors of columns. All of c stays in registers while k runs: one row of b
    is loaded, and each number of a column of a multiplies all of it.

    The arguments of the intrinsic are a and its strides in bytes, by row and by k; b
    and its stride; c and its stride; and the length of k.
    """

    @intrinsic
    def strip(typing: Any, a: Any, a_row: Any, a_k: Any, b: Any, b_row: Any, c: Any,
              c_row: Any, count: Any) -> Any:  # fmt: skip
        return types.void(*[ADDRESS] * 8), emit

    def emit(
        context: Any, at: Builder, signature: Any, arguments: list[Value]
    ) -> Value:
        a, a_row, a_k, b, b_row, c, c_row, count = arguments
        places = [(r, v) for r in range(height) for v in range(vectors)]
        rows = [at.add(c, at.mul(c_row, number(r))) for r in range(height)]
        sums = {
            (r, v): cgutils.alloca_once_value(
                at, lanes.load(at, rows[r], v * BYTES) if onto else lanes.constant(0)
            )
            for r, v in places
        }
        with cgutils.for_range(at, count) as loop:
            column = at.add(a, at.mul(loop.index, a_k))
            row = at.add(b, at.mul(loop.index, b_row))
            loaded = [lanes.load(at, row, v * BYTES) for v in range(vectors)]
            for r in range(height):
                place = at.add(column, at.mul(a_row, number(r)))
                one = at.load(lanes.pointer(at, place, lanes.FLOAT))
                factor = lanes.splat(at, one)
                for v, own in enumerate(loaded):
                    sum_ = at.load(sums[r, v])
                    at.store(lanes.fma(at, factor, own, sum_), sums[r, v])
        for r, v in places:
            lanes.store(at, at.load(sums[r, v]), rows[r], v * BYTES)
        return context.get_dummy_value()

    return strip


product_set = product(VECTORS, onto=False)
product_add = product(VECTORS, onto=True)
# Columns that fill no panel, a vector at a time.
product_add_one = product(1, onto=True)
# One row alone.
row_add = product(VECTORS, onto=True, height=1)
row_add_one = product(1, onto=True, height=1)


@intrinsic
def dots(typing: Any, q: Any, k: Any, k_row: Any, vectors: Any, out: Any) -> Any:
    """Write the products of one row with LANES others, `k_row` bytes from each other."""
    return types.void(*[ADDRESS] * 5), _dots


def _dots(context: Any, at: Builder, signature: Any, arguments: list[Value]) -> Value:
    q, k, k_row, vectors, out = arguments
    sums = []
    for r in range(LANES):  # one after another, as they lie in memory
        row = at.add(k, at.mul(k_row, number(r)))
        sums.append(cgutils.alloca_once_value(at, lanes.constant(0)))
        with cgutils.for_range(at, vectors) as loop:
            offset = at.mul(loop.index, number(BYTES))
            own, other = (lanes.load(at, at.add(x, offset)) for x in (q, row))
            at.store(lanes.fma(at, own, other, at.load(sums[r])), sums[r])
    products = lanes.across(at, [at.load(sum_) for sum_ in sums], lanes.add)
    lanes.store(at, products, out)
    return context.get_dummy_value()


@intrinsic
def absorb(typing: Any, scores: Any, row: Any, vectors: Any, m: Any, l: Any, o: Any,
           columns: Any) -> Any:  # fmt: skip
    """Take a strip of scores into the states of its rows; the scores become weights.

    Where the largest score of a row is above its m, l and o are rescaled to it. Each
    score is replaced by 2 to the power of (score − m), and these are added to l.

    `row` is the bytes from row to row of the scores, `vectors` the length of each; m
    has a number for each row, l a vector, o so many vectors as `columns` says.
    """
    return types.void(*[ADDRESS] * 7), _absorb


def _absorb(context: Any, at: Builder, signature: Any, arguments: list[Value]) -> Value:
    scores, row, vectors, m, l, o, columns = arguments
    starts = [at.add(scores, at.mul(row, number(r))) for r in range(ROWS)]
    maxima = _largest(at, starts, vectors)
    for group, new in enumerate(maxima):
        old = lanes.load(at, m, group * BYTES)
        own = [group * LANES + lane < ROWS for lane in range(LANES)]
        mask = ir.Constant(ir.VectorType(ir.IntType(1), LANES), own)
        rises = at.and_(at.fcmp_ordered(">", new, old), mask)
        bits = at.bitcast(rises, ir.IntType(LANES))
        with at.if_then(at.icmp_unsigned("!=", bits, ir.Constant(bits.type, 0))):
            alphas = lanes.exp2(at, at.fsub(old, new))
            for r in range(group * LANES, min(group * LANES + LANES, ROWS)):
                lane = ir.Constant(lanes.INT32, r % LANES)
                with at.if_then(at.extract_element(rises, lane)):
                    place = lanes.pointer(at, m, lanes.FLOAT, 4 * r)
                    at.store(at.extract_element(new, lane), place)
                    alpha = lanes.splat(at, at.extract_element(alphas, lane))
                    _scale(at, at.add(l, number(r * BYTES)), number(1), alpha)
                    o_row = at.mul(columns, number(r * BYTES))
                    _scale(at, at.add(o, o_row), columns, alpha)
    totals = [
        cgutils.alloca_once_value(at, lanes.load(at, l, r * BYTES)) for r in range(ROWS)
    ]
    stored = [at.load(lanes.pointer(at, m, lanes.FLOAT, 4 * r)) for r in range(ROWS)]
    shifts = [_guarded(at, own) for own in stored]
    with cgutils.for_range(at, vectors) as loop:
        offset = at.mul(loop.index, number(BYTES))
        for start, shift, total in zip(starts, shifts, totals):
            place = at.add(start, offset)
            weight = lanes.exp2(at, at.fsub(lanes.load(at, place), shift))
            lanes.store(at, weight, place)
            at.store(at.fadd(at.load(total), weight), total)
    for r, total in enumerate(totals):
        lanes.store(at, at.load(total), l, r * BYTES)
    return context.get_dummy_value()


def _largest(at: Builder, starts: list[Value], vectors: Value) -> list[Value]:
    """Return the largest number of each row, a row in a lane; NaN is ignored."""
    lowest = lanes.constant(float("-inf"))
    maxima = [cgutils.alloca_once_value(at, lowest) for _ in starts]
    with cgutils.for_range(at, vectors) as loop:
        offset = at.mul(loop.index, number(BYTES))
        for start, so_far in zip(starts, maxima):
            own = lanes.load(at, at.add(start, offset))
            at.store(lanes.larger(at, at.load(so_far), own), so_far)
    each, size = [at.load(x) for x in maxima], min(LANES, 8)
    each += [lowest] * (-len(each) % size)
    return [
        lanes.across(at, each[first : first + size], lanes.larger)
        for first in range(0, len(each), size)
    ]


def _guarded(at: Builder, m: Value) -> Value:
    """Return what to subtract from scores: m in every lane, but 0 where it is −∞.

    Such a row has seen no key, and −∞ − (−∞) would be NaN.
    """
    nothing = at.fcmp_ordered("==", m, ir.Constant(lanes.FLOAT, float("-inf")))
    return lanes.splat(at, at.select(nothing, ir.Constant(lanes.FLOAT, 0.0), m))


def _scale(at: Builder, row: Value, vectors: Value, factor: Value) -> None:
    """Multiply a row by a number that every lane of `factor` holds."""
    with cgutils.for_range(at, vectors) as loop:
        place = at.add(row, at.mul(loop.index, number(BYTES)))
        lanes.store(at, at.fmul(lanes.load(at, place), factor), place)


@intrinsic
def address(typing: Any, x: Any) -> Any:
    """Return the address of an array's first number."""
    if isinstance(x, types.Array):
        return ADDRESS(x), _address


def _address(
    context: Any, at: Builder, signature: Any, arguments: list[Value]
) -> Value:
    array = context.make_array(signature.args[0])(context, at, arguments[0])
    return at.ptrtoint(array.data, lanes.INT64)


@intrinsic
def differ(
    typing: Any, scores: Any, dp: Any, vectors: Any, lse: Any, delta: Any
) -> Any:
    """Overwrite the scores of a row with its weights, and dP with dS.

    A weight p is 2 to the power of (score − lse), and dS is p · (dP − delta).
    """
    return types.void(ADDRESS, ADDRESS, ADDRESS, NUMBER, NUMBER), _differ


def _differ(context: Any, at: Builder, signature: Any, arguments: list[Value]) -> Value:
    scores, dp, vectors, lse, delta = arguments
    shift, mean = lanes.splat(at, lse), lanes.splat(at, delta)
    with cgutils.for_range(at, vectors) as loop:
        offset = at.mul(loop.index, number(BYTES))
        here, there = at.add(scores, offset), at.add(dp, offset)
        p = lanes.exp2(at, at.fsub(lanes.load(at, here), shift))
        lanes.store(at, p, here)
        gap = at.fsub(lanes.load(at, there), mean)
        lanes.store(at, at.fmul(p, gap), there)
    return context.get_dummy_value()


@intrinsic
def row_largest(typing: Any, row: Any, steps: Any) -> Any:
    """Return the largest number of a row of so many steps; NaN is ignored."""
    return NUMBER(ADDRESS, ADDRESS), _row_largest


def _row_largest(
    context: Any, at: Builder, signature: Any, arguments: list[Value]
) -> Value:
    row, steps = arguments
    lowest = lanes.constant(float("-inf"))
    maxima = [cgutils.alloca_once_value(at, lowest) for _ in range(ABREAST)]
    with cgutils.for_range(at, steps) as loop:
        place = at.add(row, at.mul(loop.index, number(4 * STEP)))
        for v, so_far in enumerate(maxima):
            own = lanes.load(at, place, v * BYTES)
            at.store(lanes.larger(at, at.load(so_far), own), so_far)
    return _combined(at, maxima, lanes.larger)


@intrinsic
def row_write(typing: Any, row: Any, steps: Any, m: Any, to: Any) -> Any:
    """Write e to the power of (score − m) for a row of so many steps; return the sum."""
    return NUMBER(ADDRESS, ADDRESS, NUMBER, ADDRESS), _row_write


def _row_write(
    context: Any, at: Builder, signature: Any, arguments: list[Value]
) -> Value:
    row, steps, m, to = arguments
    shift, nothing = _guarded(at, m), lanes.constant(0)
    totals = [cgutils.alloca_once_value(at, nothing) for _ in range(ABREAST)]
    with cgutils.for_range(at, steps) as loop:
        offset = at.mul(loop.index, number(4 * STEP))
        for v, total in enumerate(totals):
            score = lanes.load(at, at.add(row, offset), v * BYTES)
            power = at.fmul(at.fsub(score, shift), lanes.constant(LOG2_E))
            weight = lanes.exp2(at, power)
            at.store(at.fadd(at.load(total), weight), total)
            lanes.store(at, weight, at.add(to, offset), v * BYTES)
    return _combined(at, totals, lanes.add)


def _combined(at: Builder, places: list[Value], combine: Any) -> Value:
    """Return all lanes of the vectors in several places, combined to one number."""
    first, *others = (at.load(place) for place in places)
    for other in others:
        first = combine(at, first, other)
    combined = lanes.across(at, [first], combine)
    return at.extract_element(combined, ir.Constant(lanes.INT32, 0))


@intrinsic
def row_scale(typing: Any, row: Any, steps: Any, factor: Any) -> Any:
    """Multiply a row of so many steps by a number."""
    return types.void(ADDRESS, ADDRESS, NUMBER), _row_scale


def _row_scale(
    context: Any, at: Builder, signature: Any, arguments: list[Value]
) -> Value:
    row, steps, factor = arguments
    vectors = at.mul(steps, number(ABREAST))
    _scale(at, row, vectors, lanes.splat(at, factor))
    return context.get_dummy_value()


@intrinsic
def fetch(typing: Any, at: Any) -> Any:
    """Prefetch the cache line at an address."""
    return types.void(ADDRESS), _fetch


def _fetch(context: Any, at: Builder, signature: Any, arguments: list[Value]) -> Value:
    byte = ir.IntType(8).as_pointer()
    kind = ir.FunctionType(ir.VoidType(), [byte, *[lanes.INT32] * 3])
    ask = cgutils.get_or_insert_function(at.module, kind, "llvm.prefetch.p0")
    to_read, to_second_cache, data = (ir.Constant(lanes.INT32, n) for n in (0, 2, 1))
    place = at.inttoptr(arguments[0], byte)
    at.call(ask, [place, to_read, to_second_cache, data])
    return context.get_dummy_value()
