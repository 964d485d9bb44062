"""Arithmetic that NumPy has no name for, over arrays with an element a thread.

A function with `out` writes its result there; the others return it.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ptxsim.rounding import odd, two_sum

Array = NDArray[Any]
HALFWAY = -(2**63)  # between two numbers of single precision: 1, and 28 times 0
TINY = 2.0**-126  # the smallest number that is not subnormal in single precision
ROUNDINGS = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}


def bits_of(x: Array) -> int:
    """Return the bits of a number of an array."""
    return x.dtype.itemsize * 8


# ---- whole numbers ----


def multiply_high(a: Array, b: Array, kind: str) -> Array:
    """Return the upper half of products."""
    bits = int(kind[1:])
    if bits < 64:
        wide = f"{'i' if kind[0] == 's' else 'u'}{bits // 4}"
        return np.multiply(a, b, dtype=wide) >> np.array(bits, wide)
    a, b = np.atleast_1d(a), np.atleast_1d(b)
    product = _high_64(a.view("u8"), b.view("u8"))
    if kind == "s64":  # a negative number was read as one of 2⁶⁴ more
        product = product - np.where(a < 0, b.view("u8"), 0).astype("u8")
        product = product - np.where(b < 0, a.view("u8"), 0).astype("u8")
        product = product.view("i8")
    return product


def _high_64(a: Array, b: Array) -> Array:
    """Return the upper 64 bits of products of 64-bit numbers, by halves."""
    half, low = np.uint64(32), np.uint64(2**32 - 1)
    a1, a0, b1, b0 = a >> half, a & low, b >> half, b & low
    middle = a1 * b0 + (a0 * b0 >> half)
    other = a0 * b1 + (middle & low)
    return a1 * b1 + (middle >> half) + (other >> half)


def quotient(a: Array, b: Array) -> Array:
    """Divide, rounding toward zero."""
    result = np.floor_divide(a, b)
    if result.dtype.kind == "i":
        result = result + ((result * b != a) & ((a < 0) != (b < 0)))
    return result


def remainder(a: Array, b: Array) -> Array:
    """Return what `quotient` leaves, with the sign of `a`."""
    return np.fmod(a, b)


def shift_left(a: Array, by: Array) -> Array:
    bits = bits_of(a)
    shifted = a << np.minimum(by, bits - 1).astype(a.dtype)
    return np.where(by < bits, shifted, a.dtype.type(0))


def shift_right(a: Array, by: Array) -> Array:
    """Shift; signed numbers are filled up with their sign."""
    bits = bits_of(a)
    shifted = a >> np.minimum(by, bits - 1).astype(a.dtype)
    if a.dtype.kind == "i":
        return shifted
    return np.where(by < bits, shifted, a.dtype.type(0))


def funnel_shift(a: Array, b: Array, by: Array, left: bool, wrap: bool) -> Array:
    """Shift the 64 bits b:a; return the upper word if `left`, else the lower one."""
    both = (np.asarray(b).astype("u8") << np.uint64(32)) | a
    by = (by & np.uint32(31) if wrap else np.minimum(by, np.uint32(32))).astype("u8")
    if left:
        return ((both << by) >> np.uint64(32)).astype("u4")
    return (both >> by).astype("u4")


def leading_zeros(x: Array) -> Array:
    return bits_of(x) - 1 - _highest(x)


def _highest(x: Array) -> Array:
    """Return the place of the highest 1 in unsigned numbers; −1 if there is none."""
    x, found = np.array(x), np.full(np.shape(x), -1, "i4")
    step = bits_of(x) // 2
    found += (x != 0).astype("i4")
    while step:
        above = x >> x.dtype.type(step)
        found += np.where(above != 0, step, 0).astype("i4")
        x = np.where(above != 0, above, x)
        step //= 2
    return found


def highest_bit(x: Array, amount: bool) -> Array:
    """bfind: the highest bit that is not the sign, or how far it is from the top."""
    bits = bits_of(x)
    if x.dtype.kind == "i":
        x = np.where(x < 0, ~x, x).view(f"u{bits // 8}")
    found = _highest(x)
    if amount:
        found = np.where(found < 0, found, bits - 1 - found)
    return found.astype("i4").view("u4")


def reverse(x: Array) -> Array:
    """Return the bits in the opposite order."""
    result = np.zeros_like(x)
    for i in range(bits_of(x)):
        bit = (x >> x.dtype.type(i)) & x.dtype.type(1)
        result = result | (bit << x.dtype.type(bits_of(x) - 1 - i))
    return result


def extract_field(a: Array, at: Array, count: Array) -> Array:
    """bfe: `count` bits from the place `at`, and their sign if numbers have one."""
    bits = bits_of(a)
    at, count = (np.minimum(x & np.uint32(255), 128) for x in (at, count))
    unsigned = np.dtype(f"u{bits // 8}")
    there = np.minimum(count, np.maximum(bits - at.astype("i8"), 0)).astype("u4")
    mask = shift_left(np.ones(np.shape(there), unsigned), there) - unsigned.type(1)
    low = shift_right(np.asarray(a).view(unsigned), at) & mask
    if a.dtype.kind == "u":
        return low
    top = np.minimum(at.astype("i8") + count - 1, bits - 1).astype("u4")
    sign = (shift_right(np.asarray(a), top) & 1).astype(bool) & (count > 0)
    return np.where(sign, low | ~mask, low).view(a.dtype)


def insert_field(a: Array, b: Array, at: Array, count: Array) -> Array:
    """bfi: `b` with the lowest `count` bits of `a` at the place `at`."""
    at, count = (np.minimum(x & np.uint32(255), 128) for x in (at, count))
    ones = np.ones(np.shape(count), b.dtype)
    mask = shift_left((shift_left(ones, count) - 1).astype(b.dtype), at)
    return (shift_left(np.asarray(a), at) & mask) | (b & ~mask)


def permute_bytes(a: Array, b: Array, how: Array) -> Array:
    """prmt: four of eight bytes, by the lowest hexadecimal digits of `how`."""
    both = np.asarray(a).astype("u8") | (np.asarray(b).astype("u8") << np.uint64(32))
    result = np.zeros(np.broadcast(a, b, how).shape, "u4")
    for i in range(4):
        pick = (how >> np.uint32(4 * i)) & np.uint32(15)
        byte = both >> (np.uint64(8) * (pick & np.uint32(7)).astype("u8"))
        byte = (byte & np.uint64(255)).astype("u4")
        sign = np.where(byte > 127, np.uint32(255), np.uint32(0))
        byte = np.where(pick & np.uint32(8), sign, byte)
        result |= byte << np.uint32(8 * i)
    return result


def logic(a: Array, b: Array, c: Array, table: int) -> Array:
    """lop3: bit `4a + 2b + c` of the table, for each place."""
    result = np.zeros(np.broadcast(a, b, c).shape, "u4")
    for i in range(8):
        if table >> i & 1:
            picked = [
                x if i >> place & 1 else ~x for x, place in ((a, 2), (b, 1), (c, 0))
            ]
            result |= picked[0] & picked[1] & picked[2]
    return result


def product_24(a: Array, b: Array, high: bool) -> Array:
    """mul24: the lower or the upper 32 of the 48 bits of a product of 24-bit numbers."""
    wide = [(np.asarray(x) << x.dtype.type(8)).astype("i8") >> 8 for x in (a, b)]
    return (wide[0] * wide[1] >> (16 if high else 0)).astype(a.dtype)


def distance(a: Array, b: Array) -> Array:
    """Return |a − b|, wrapped."""
    return np.where(a < b, b - a, a - b)


def dot(a: Array, b: Array, c: Array, kinds: tuple[str, str], first: int) -> Array:
    """dp4a, dp2a: add products of neighbouring numbers to `c`.

    `kinds` are NumPy's types of the numbers in a register of `a` and of `b`, and `first`
    is the first number of `b`.
    """
    left, right = (
        np.ascontiguousarray(np.atleast_1d(x)).view(kind).reshape(-1, 4 // int(kind[1]))
        for x, kind in zip((a, b), kinds)
    )
    right = right[:, first : first + left.shape[1]]
    total = (left.astype("i8") * right).sum(1)
    return (total + c).astype("u4")


def bits_below(count: Array) -> Array:
    """Return words whose lowest bits are 1, as many as `count`; 32 at most."""
    return ((np.uint64(1) << np.minimum(count, 32).astype("u8")) - 1).astype("u4")


def extend(a: Array, count: Array, clamp: bool) -> Array:
    """szext: the lowest bits, with their sign if numbers have one."""
    a, count = np.atleast_1d(a), np.atleast_1d(count)
    whole = (count >= 32) & clamp
    count = count & np.uint32(31)
    keep = np.where(whole, np.uint32(0xFFFFFFFF), bits_below(count))
    bits = a.view("u4")
    top = bits >> (np.maximum(count, np.uint32(1)) - np.uint32(1)) & np.uint32(1)
    negative = (top != 0) & (count != 0) & ~whole & (a.dtype.kind == "i")
    return np.where(negative, bits | ~keep, bits & keep)


def bit_mask(at: Array, count: Array, clamp: bool) -> Array:
    """bmsk: as many bits as `count`, from the place `at`."""
    at, count = np.atleast_1d(at), np.atleast_1d(count)
    start, end = at & np.uint32(31), (at & np.uint32(31)) + (count & np.uint32(31))
    if clamp:
        start = np.where(at >= 32, np.uint32(32), start)
        end = np.where(count >= 32, np.uint32(32), end)
    return bits_below(end) & ~bits_below(start)


def nth_bit(mask: Array, base: Array, offset: Array) -> Array:
    """fns: the place of the nth 1 from a place on, upwards or downwards."""
    mask, at, offset = np.broadcast_arrays(*map(np.atleast_1d, (mask, base, offset)))
    at, offset = at.astype("i8"), offset.view("i4").astype("i8")
    left = np.abs(offset) - (offset != 0)
    found = np.full(at.shape, 0xFFFFFFFF, "u4")
    for _ in range(32):
        inside = (at >= 0) & (at < 32)
        one = inside & (mask >> np.clip(at, 0, 31).astype("u4") & np.uint32(1) != 0)
        here = one & (left == 0)
        found[here] = at[here]
        left = left - one
        at = np.where(inside & (offset != 0), at + np.sign(offset), 32)
    return found


def join(*parts: Array) -> Array:
    """Return numbers that are made of these, the lowest first."""
    together = np.stack(np.broadcast_arrays(*(np.atleast_1d(x) for x in parts)), -1)
    return together.view(f"u{together.itemsize * len(parts)}")[:, 0]


def split(x: Array, dtype: str) -> Array:
    """Return the parts of numbers, one after the other."""
    return np.ascontiguousarray(np.atleast_1d(x)).view(dtype)


# ---- conversions ----


def wrapped(x: Array, dtype: str) -> Array:
    """Keep the lowest bits."""
    return np.asarray(x).astype(dtype)


def clamped(x: Array, dtype: str) -> Array:
    """Return the nearest number that a type holds."""
    into, source = np.iinfo(dtype), np.iinfo(x.dtype)
    low, high = max(into.min, source.min), min(into.max, source.max)
    return np.clip(x, x.dtype.type(low), x.dtype.type(high)).astype(dtype)


def to_whole(x: Array, mode: str, dtype: str) -> Array:
    """Round to whole numbers; what is too large is the largest.

    NaN is 0, or only the highest bit is set where one of the types has 64 bits.
    """
    into = np.iinfo(dtype)
    wide = np.asarray(x).itemsize == 8 or into.bits == 64
    nan = np.array(1 << (into.bits - 1) if wide else 0, f"u{into.bits // 8}").view(
        dtype
    )
    exact = ROUNDINGS[mode](np.asarray(x).astype("f8"))
    above = exact >= float(into.max)  # in 64 bits this may be one more than the largest
    inside = np.where(np.isnan(exact) | above, 0, np.maximum(exact, float(into.min)))
    whole = np.where(above, np.array(into.max, dtype), inside.astype(dtype))
    return np.where(np.isnan(exact), nan, whole)


def rounded(x: Array, mode: str) -> Array:
    return ROUNDINGS[mode](x)


def half_bits(x: Array) -> Array:
    return np.asarray(x).astype("f2").view("u2")


def bfloat_bits(x: Array) -> Array:
    """Round single precision to bfloat16, to even."""
    bits = np.asarray(x).view("u4")
    near = bits + np.uint32(0x7FFF) + (bits >> np.uint32(16) & np.uint32(1))
    near = np.where(np.isnan(x), np.uint32(0x7FFF0000), near)
    return (near >> np.uint32(16)).astype("u2")


# ---- floats ----


class Fma32:
    """a · b + c in single precision, rounded once.

    The product is exact in double precision. The sum is rounded there, and then once
    more. That makes a difference only if the first rounding ends halfway between two
    numbers of single precision, or in its subnormals; then the sum is made odd, away
    from the halfway. Of its subnormals NumPy tells, by noting an underflow. Without a
    list for that, they are zero anyway.
    """

    def __init__(self, lanes: int, underflow: list[int] | None) -> None:
        self.product, self.other, self.total = (np.empty(lanes) for _ in range(3))
        self.low_bits, self.underflow = np.empty(lanes, "i8"), underflow

    def __call__(self, a: Array, b: Array, c: Array, out: Array) -> None:
        product, other, total = self.product, self.other, self.total
        product[...], other[...] = a, b
        np.multiply(product, other, out=product)
        other[...] = c
        np.add(product, other, out=total)
        np.left_shift(total.view("i8"), 35, out=self.low_bits)
        if self.low_bits.min() == HALFWAY:
            _make_odd(total, product, other, np.flatnonzero(self.low_bits == HALFWAY))
        if self.underflow is None:
            np.copyto(out, total, casting="unsafe")
            return
        self.underflow.clear()
        np.copyto(out, total, casting="unsafe")
        if self.underflow:
            _make_odd(total, product, other, np.flatnonzero(np.abs(total) < TINY))
            np.copyto(out, total, casting="unsafe")


def _make_odd(total: Array, a: Array, b: Array, which: Array) -> None:
    """Move some sums a + b that are not exact to the neighbour whose last bit is 1."""
    total[which] = odd(*two_sum(a[which], b[which]))


def add_with_carry(a: Array, b: Array, carry: Array, dtype: str) -> tuple[Array, Array]:
    """Return a + b + carry, and the carry that goes out."""
    a, b = (np.asarray(x).astype(dtype) for x in (a, b))
    some = a + b
    total = some + carry.astype(dtype)
    return total, ((some < a) | (total < some)).astype("u1")


def subtract_with_borrow(
    a: Array, b: Array, borrow: Array, dtype: str
) -> tuple[Array, Array]:
    """Return a − b − borrow, and the borrow that goes out."""
    a, b = (np.asarray(x).astype(dtype) for x in (a, b))
    some = a - b
    total = some - borrow.astype(dtype)
    return total, ((a < b) | (some < borrow)).astype("u1")


def reciprocal(a: Array, out: Array) -> None:
    np.divide(out.dtype.type(1), a, out=out)


def inverse_root(a: Array, out: Array) -> None:
    np.divide(out.dtype.type(1), np.sqrt(a), out=out)


def divide_approximately(a: Array, b: Array, out: Array) -> None:
    """div.approx: 0 where the divisor is above 2¹²⁶, as the manual says."""
    huge = (np.abs(b) > np.float32(2.0**126)) & np.isfinite(b)
    zero = np.where(np.isinf(a), np.float32(np.nan), np.copysign(np.float32(0), a))
    zero = np.where(np.signbit(b), -zero, zero)
    np.divide(a, b, out=out)
    np.copyto(out, zero, where=huge)


def extreme(a: Array, b: Array, out: Array, largest: bool) -> None:
    """The larger or the smaller one; a NaN loses, and −0 is below +0."""
    (np.fmax if largest else np.fmin)(a, b, out=out)
    if not out.all():
        _mend_zeros(a, b, out, largest)


def extreme_or_nan(a: Array, b: Array, out: Array, largest: bool) -> None:
    """The larger or the smaller one; a NaN wins, and −0 is below +0."""
    (np.maximum if largest else np.minimum)(a, b, out=out)
    if not out.all():
        _mend_zeros(a, b, out, largest)


def _mend_zeros(a: Array, b: Array, out: Array, largest: bool) -> None:
    both = (a == 0) & (b == 0)
    signs = [np.signbit(a), np.signbit(b)]
    negative = signs[0] & signs[1] if largest else signs[0] | signs[1]
    zero = np.where(negative, -out.dtype.type(0), out.dtype.type(0))
    np.copyto(out, zero, where=both)


def subnormal_to_zero(x: Array) -> Array:
    """Return zeros with the same sign for subnormal numbers, as .ftz asks."""
    x = np.asarray(x)
    return np.where(np.abs(x) < np.float32(TINY), np.copysign(np.float32(0), x), x)


def flush(out: Array) -> None:
    """Make subnormal results zero, with their sign."""
    np.copyto(out, subnormal_to_zero(out))


def saturate(out: Array) -> None:
    """Bring results to between 0 and 1; NaN becomes 0."""
    np.copyto(out, within_0_and_1(out))


def within_0_and_1(x: Array) -> Array:
    x = np.asarray(x)
    return np.where(np.isnan(x), x.dtype.type(0), np.clip(x, 0, 1)) + x.dtype.type(0)


# What translated code calls by name; `Fma32` and `flush` belong to a machine.
FUNCTIONS = {
    function.__name__: function
    for function in (
        add_with_carry, bfloat_bits, bit_mask, clamped, distance, divide_approximately,
        dot, extend, extract_field, extreme, extreme_or_nan, funnel_shift, half_bits,
        highest_bit, insert_field, inverse_root, join, leading_zeros, logic,
        multiply_high, nth_bit, permute_bytes, product_24, quotient, reciprocal,
        remainder, reverse, rounded, saturate, shift_left, shift_right, split,
        subnormal_to_zero, subtract_with_borrow, to_whole, within_0_and_1, wrapped,
    )
}  # fmt: skip
