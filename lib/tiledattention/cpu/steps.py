"""The inner loops of the kernels, written for a machine's vectors.

Numba lets a function emit its own instructions: an *intrinsic*. Those here take
addresses, as integers, and distances in bytes, which the kernels work out. They process
six rows at a time, a *strip*, and the numbers of a row a vector at a time, so a row has
to hold whole vectors.

    product_set, product_add    a strip of a product of two matrices
    turn                        lays rows side by side, as the second matrix of a product
    absorb                      takes a strip of scores into the states of its rows
    differ                      weights and dS of a row, from its scores and dP
    row_largest, row_write, row_scale      what a softmax does to a row
    few_largest, few_sums       combine the lanes of what these leave
    fetch                       prefetches a cache line

Those called few_… and row_… take FEW rows, or one, for the sake of short calculations;
`few_dots` and `row_dots` are products with rows that are not laid side by side.
"""

from collections.abc import Callable
from functools import wraps
from math import e, log2
from typing import Any, TypeAlias

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from tiledattention.cpu import lanes
from tiledattention.cpu.lanes import BYTES, LANES, MACHINE, Builder, Value, number

ROWS = 6  # of a strip
FEW = 4  # rows of a strip where there are not so many
# How far a score may lie above its row's m, in base 2, before the state is rescaled. Any
# m will do that is not too far from the largest score, and with some slack it seldom moves.
SLACK = 8
# Vectors of each row of a product that stay in registers: as many as fit beside one row of
# the second matrix and one number of the first.
VECTORS = 4 if MACHINE.registers == 32 else 2
PANEL = VECTORS * LANES  # columns that a strip of a product has
ABREAST = 4  # independent vectors of a row, so that none waits for another
STEP = ABREAST * LANES  # numbers of a row in one step
LOG2_E, LOWEST = log2(e), float("-inf")
ADDRESS, NUMBER = types.intp, types.float32


def emits(*kinds: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make an intrinsic of a function that emits instructions at a builder.

    Its arguments in the compiled code are of these kinds, and it returns nothing there.
    """

    def made(write: Callable[..., None]) -> Callable[..., None]:
        @wraps(write)  # whose parameters Numba reads
        def call(typing: Any, *given: Any) -> Any:
            return types.void(*kinds), emit

        def emit(
            context: Any, at: Builder, signature: Any, arguments: list[Value]
        ) -> Value:
            write(at, *arguments)
            return context.get_dummy_value()

        return intrinsic(call)

    return made


def product(vectors: int, onto: bool, height: int = ROWS) -> Callable[..., None]:
    """Return an intrinsic for a strip of a product of two matrices.

    It is `c[r, j] = Σ a[r, k] · b[k, j]`, or `c[r, j] += …` with `onto`, for a few rows
    and a few vectors of columns. All of c stays in registers while k runs: one row of b
    is loaded, and each number of a column of a multiplies all of it.

    The arguments of the intrinsic are a and its strides in bytes, by row and by k; b
    and its stride; c and its stride; and the length of k.
    """

    @emits(*[ADDRESS] * 8)
    def strip(at: Builder, a: Value, a_row: Value, a_k: Value, b: Value, b_row: Value,
              c: Value, c_row: Value, count: Value) -> None:  # fmt: skip
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

    return strip


# The strips that the kernels are built of: onto what is there or not, a panel wide or,
# for columns that fill no panel, a vector; FEW rows or one where there are not ROWS.
product_set = product(VECTORS, onto=False)
product_add, product_add_one = (product(n, onto=True) for n in (VECTORS, 1))
few_add, few_add_one = (product(n, onto=True, height=FEW) for n in (VECTORS, 1))
row_add, row_add_one = (product(n, onto=True, height=1) for n in (VECTORS, 1))


def products(height: int) -> Callable[..., None]:
    """Return an intrinsic for the products of a few rows with FEW others.

    Unlike a strip's, the rows of the second matrix are read as they lie. The arguments
    are q and its stride, k and its stride, all in bytes, how many vectors a row has,
    and where the products go: LANES numbers are written for each row of q, `to_row`
    bytes from row to row, of which the first FEW count.
    """

    @emits(*[ADDRESS] * 7)
    def dots(at: Builder, q: Value, q_row: Value, k: Value, k_row: Value, vectors: Value,
             to: Value, to_row: Value) -> None:  # fmt: skip
        rows = [at.add(q, at.mul(q_row, number(r))) for r in range(height)]
        others = [at.add(k, at.mul(k_row, number(r))) for r in range(FEW)]
        sums = [
            [cgutils.alloca_once_value(at, lanes.constant(0)) for _ in others]
            for _ in rows
        ]
        # One after another, as they lie in memory: the processor then fetches them ahead.
        for other, of_other in zip(others, zip(*sums)):
            with cgutils.for_range(at, vectors) as loop:
                offset = at.mul(loop.index, number(BYTES))
                loaded = lanes.load(at, at.add(other, offset))
                for row, sum_ in zip(rows, of_other):
                    own = lanes.load(at, at.add(row, offset))
                    at.store(lanes.fma(at, own, loaded, at.load(sum_)), sum_)
        for r, of_row in enumerate(sums):
            found = lanes.across(at, [at.load(sum_) for sum_ in of_row], lanes.add)
            lanes.store(at, found, at.add(to, at.mul(to_row, number(r))))

    return dots


few_dots, row_dots = products(FEW), products(1)


@emits(*[ADDRESS] * 4)
def turn(at: Builder, rows: Value, row: Value, to: Value, to_row: Value) -> None:
    """Write LANES rows of LANES numbers as columns: a square, turned about its diagonal.

    `row` and `to_row` are the bytes from row to row.
    """
    square = [
        lanes.load(at, at.add(rows, at.mul(row, number(r)))) for r in range(LANES)
    ]
    for r, column in enumerate(lanes.turned(at, square)):
        lanes.store(at, column, at.add(to, at.mul(to_row, number(r))))


def absorbing(height: int) -> Callable[..., None]:
    """Return an intrinsic that takes a strip of scores into the states of its rows.

    Where the largest score of a row is far above its m, by SLACK, m becomes that score,
    and l and o are rescaled to it. Each score is replaced by its weight, 2 to the power
    of (score − m), and the weights are added to l.

    The arguments are the scores and the bytes from row to row of them; how many vectors
    a row has; m, a number for each row; l, a vector for each; o, and how many vectors a
    row of it has.
    """

    @emits(*[ADDRESS] * 7)
    def absorb(at: Builder, scores: Value, row: Value, vectors: Value, m: Value, l: Value,
               o: Value, columns: Value) -> None:  # fmt: skip
        starts = [at.add(scores, at.mul(row, number(r))) for r in range(height)]
        for group, new in enumerate(_largest(at, starts, vectors)):
            old = lanes.load(at, m, group * BYTES)
            own = [group * LANES + lane < height for lane in range(LANES)]
            mask = ir.Constant(ir.VectorType(ir.IntType(1), LANES), own)
            most = at.fadd(old, lanes.constant(SLACK))
            rises = at.and_(at.fcmp_ordered(">", new, most), mask)
            bits = at.bitcast(rises, ir.IntType(LANES))
            with at.if_then(at.icmp_unsigned("!=", bits, ir.Constant(bits.type, 0))):
                alphas = lanes.exp2(at, at.fsub(old, new))
                for r in range(group * LANES, min(group * LANES + LANES, height)):
                    lane = ir.Constant(lanes.INT32, r % LANES)
                    with at.if_then(at.extract_element(rises, lane)):
                        place = lanes.pointer(at, m, lanes.FLOAT, 4 * r)
                        at.store(at.extract_element(new, lane), place)
                        alpha = lanes.splat(at, at.extract_element(alphas, lane))
                        _scale(at, at.add(l, number(r * BYTES)), number(1), alpha)
                        o_row = at.mul(columns, number(r * BYTES))
                        _scale(at, at.add(o, o_row), columns, alpha)
        _weigh(at, starts, vectors, m, l)

    return absorb


absorb, few_absorb, row_absorb = (absorbing(n) for n in (ROWS, FEW, 1))


def _weigh(
    at: Builder, starts: list[Value], vectors: Value, m: Value, l: Value
) -> None:
    """Replace the scores of a strip by their weights, and add these to l."""
    totals = [
        cgutils.alloca_once_value(at, lanes.load(at, l, r * BYTES))
        for r in range(len(starts))
    ]
    shifts = [
        _guarded(at, at.load(lanes.pointer(at, m, lanes.FLOAT, 4 * r)))
        for r in range(len(starts))
    ]
    with cgutils.for_range(at, vectors) as loop:
        offset = at.mul(loop.index, number(BYTES))
        for start, shift, total in zip(starts, shifts, totals):
            place = at.add(start, offset)
            weight = lanes.exp2(at, at.fsub(lanes.load(at, place), shift))
            lanes.store(at, weight, place)
            at.store(at.fadd(at.load(total), weight), total)
    for r, total in enumerate(totals):
        lanes.store(at, at.load(total), l, r * BYTES)


def _largest(at: Builder, starts: list[Value], vectors: Value) -> list[Value]:
    """Return the largest number of each row, a row in a lane; NaN is ignored."""
    lowest = lanes.constant(LOWEST)
    maxima = [cgutils.alloca_once_value(at, lowest) for _ in starts]
    with cgutils.for_range(at, vectors) as loop:
        offset = at.mul(loop.index, number(BYTES))
        for start, so_far in zip(starts, maxima):
            own = lanes.load(at, at.add(start, offset))
            at.store(lanes.larger(at, at.load(so_far), own), so_far)
    each = [at.load(x) for x in maxima]
    size = min(LANES, 1 << (len(each) - 1).bit_length())  # a power of two
    each += [lowest] * (-len(each) % size)
    return [
        lanes.across(at, each[first : first + size], lanes.larger)
        for first in range(0, len(each), size)
    ]


def _guarded(at: Builder, m: Value) -> Value:
    """Return what to subtract from scores: m in every lane, but 0 where it is −∞.

    Such a row has seen no key, and −∞ − (−∞) would be NaN.
    """
    nothing = at.fcmp_ordered("==", m, ir.Constant(lanes.FLOAT, LOWEST))
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


@emits(ADDRESS, ADDRESS, ADDRESS, NUMBER, NUMBER)
def differ(
    at: Builder, scores: Value, dp: Value, vectors: Value, lse: Value, delta: Value
) -> None:
    """Overwrite the scores of a row with its weights, and dP with dS.

    A weight p is 2 to the power of (score − lse), and dS is p · (dP − delta).
    """
    shift, mean = lanes.splat(at, lse), lanes.splat(at, delta)
    with cgutils.for_range(at, vectors) as loop:
        offset = at.mul(loop.index, number(BYTES))
        here, there = at.add(scores, offset), at.add(dp, offset)
        p = lanes.exp2(at, at.fsub(lanes.load(at, here), shift))
        lanes.store(at, p, here)
        gap = at.fsub(lanes.load(at, there), mean)
        lanes.store(at, at.fmul(p, gap), there)


@emits(*[ADDRESS] * 3)
def row_largest(at: Builder, row: Value, n: Value, to: Value) -> None:
    """Write the largest of a row's numbers, for each lane; NaN is ignored."""
    maxima = _sums(at, LOWEST)

    def compare(load: Load, store: Store, v: int) -> None:
        at.store(lanes.larger(at, at.load(maxima[v]), load(row)), maxima[v])

    _along(at, n, compare)
    lanes.store(at, _combined(at, maxima, lanes.larger), to)


@emits(ADDRESS, ADDRESS, NUMBER, ADDRESS, ADDRESS)
def row_write(
    at: Builder, row: Value, n: Value, m: Value, out: Value, to: Value
) -> None:
    """Write e to the power of (score − m) for a row; write the sum of each lane."""
    shift, totals = _guarded(at, m), _sums(at, 0)

    def weigh(load: Load, store: Store, v: int) -> None:
        power = at.fmul(at.fsub(load(row), shift), lanes.constant(LOG2_E))
        weight = lanes.exp2(at, power)
        at.store(at.fadd(at.load(totals[v]), weight), totals[v])
        store(weight, out)

    _along(at, n, weigh)
    lanes.store(at, _combined(at, totals, lanes.add), to)


@emits(ADDRESS, ADDRESS, NUMBER)
def row_scale(at: Builder, row: Value, n: Value, factor: Value) -> None:
    """Multiply a row by a number."""
    each = lanes.splat(at, factor)

    def scale(load: Load, store: Store, v: int) -> None:
        store(at.fmul(load(row), each), row)

    _along(at, n, scale)


def combining(combine: Callable[[Builder, Value, Value], Value]) -> Callable[..., None]:
    """Return an intrinsic that combines the lanes of FEW vectors, each to one number.

    The numbers are written over the first of the vectors.
    """

    @emits(ADDRESS)
    def few(at: Builder, vectors: Value) -> None:
        own = [lanes.load(at, vectors, r * BYTES) for r in range(FEW)]
        lanes.store(at, lanes.across(at, own, combine), vectors)

    return few


few_largest, few_sums = combining(lanes.larger), combining(lanes.add)
Load: TypeAlias = Callable[[Value], Value]
Store: TypeAlias = Callable[[Value, Value], None]


def _access(at: Builder, offset: Value) -> tuple[Load, Store]:
    """Return what loads and stores the vector so many bytes after an address."""
    return (
        lambda place: lanes.load(at, at.add(place, offset)),
        lambda x, place: lanes.store(at, x, at.add(place, offset)),
    )


def _along(at: Builder, n: Value, step: Callable[[Load, Store, int], None]) -> None:
    """Do a step for each vector of a row of n numbers; and for what fills no vector.

    There a load gives −∞ beyond the end of the row, and a store writes nothing. The
    step is told which of ABREAST independent vectors it works on.
    """

    def several(start: Value, count: Value, abreast: int) -> None:
        with cgutils.for_range(at, count) as loop:
            first = at.add(start, at.mul(loop.index, number(abreast * BYTES)))
            for v in range(abreast):
                offset = at.add(first, number(v * BYTES))
                step(*_access(at, offset), v)

    steps, whole = at.udiv(n, number(STEP)), at.udiv(n, number(LANES))
    done = at.mul(steps, number(ABREAST))
    several(number(0), steps, ABREAST)
    several(at.mul(done, number(BYTES)), at.sub(whole, done), 1)
    rest, end = at.urem(n, number(LANES)), at.mul(whole, number(BYTES))
    with at.if_then(at.icmp_unsigned("!=", rest, number(0))):
        mask = lanes.first(at, rest)
        step(
            lambda place: lanes.load_some(at, at.add(place, end), mask, LOWEST),
            lambda x, place: lanes.store_some(at, x, at.add(place, end), mask),
            0,
        )


def _sums(at: Builder, start: float) -> list[Value]:
    """Return places for ABREAST vectors that hold a number in every lane."""
    return [
        cgutils.alloca_once_value(at, lanes.constant(start)) for _ in range(ABREAST)
    ]


def _combined(at: Builder, places: list[Value], combine: Any) -> Value:
    """Return the vectors in several places, combined to one."""
    first, *others = (at.load(place) for place in places)
    for other in others:
        first = combine(at, first, other)
    return first


@emits(ADDRESS)
def fetch(at: Builder, start: Value) -> None:
    """Prefetch the cache line at an address."""
    byte = ir.IntType(8).as_pointer()
    kind = ir.FunctionType(ir.VoidType(), [byte, *[lanes.INT32] * 3])
    ask = cgutils.get_or_insert_function(at.module, kind, "llvm.prefetch.p0")
    to_read, to_second_cache, data = (ir.Constant(lanes.INT32, n) for n in (0, 2, 1))
    at.call(ask, [at.inttoptr(start, byte), to_read, to_second_cache, data])
