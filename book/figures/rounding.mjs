// Rounding to a floating-point format, defined as in the library: compute in float64, then
// round. A format is { bits, low, largest, infinity }: its digits in bits, 2^low the smallest
// number that has them all, the largest number, and whether there is an infinity above.

const held = new Float64Array(1);
const words = new Uint32Array(held.buffer); // the second has the exponent

/** A function to the nearest number of a format, ties to even. */
export function rounder({ bits, low, largest, infinity }) {
  if (bits === 53) return (x) => x;
  const beyond = infinity ? Infinity : NaN;
  return (x) => {
    if (!Number.isFinite(x))
      return Math.abs(x) === Infinity ? Math.sign(x) * beyond : x;
    held[0] = x;
    // Beside a number this large, float64 itself has no digit below the format's last.
    const power = Math.max((words[1] >>> 20) & 0x7ff, low + 1023) + 53 - bits;
    held[0] = 0;
    words[1] = (power << 20) | 0x80000;
    const rounded = x + held[0] - held[0];
    return Math.abs(rounded) > largest ? Math.sign(x) * beyond : rounded;
  };
}

/** The largest e with 2^e ≤ x. */
export function exponent(x) {
  const e = Math.floor(Math.log2(x));
  return 2 ** e > x ? e - 1 : 2 ** (e + 1) <= x ? e + 1 : e;
}

/** How far apart the numbers of a format lie, from x to the next larger one. */
export const gap = (x, { bits, low }) =>
  2 ** (Math.max(x > 0 ? exponent(x) : low, low) + 1 - bits);

/**
 * A function that adds up term + term + …, rounded each time. Up to the next power of two
 * every addition moves the sum by the same step (after a tie, from the second on), so it
 * is reached in one jump.
 */
export function adder(format) {
  const round = rounder(format);
  return (term, count) => {
    let [total, missing] = [term, count - 1];
    while (missing > 0 && Number.isFinite(total)) {
      const next = round(total + term);
      const step = next - total;
      if (step === 0) break;
      const top = Math.min(2 ** (exponent(total) + 1), format.largest);
      const room = top - term - total;
      const steady = round(next + term) - next === step;
      const jumps = steady && room > 0 ? Math.min(missing, Math.ceil(room / step)) : 1;
      total += jumps * step;
      missing -= jumps;
    }
    return total;
  };
}
