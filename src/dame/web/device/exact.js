// Exact arithmetic for privacy: doubles as fractions, and e^α bounded from below.

/** How many values a random word can take. */
export const WORD = 1n << 64n;

const UNIT_BITS = 256n;

/** A finite double as a fraction of integers: [numerator, denominator]. */
export function fractionOf(value) {
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, value);
  const word = bits.getBigUint64(0);
  const biased = (word >> 52n) & 0x7ffn;
  const digits = (word & 0xfffffffffffffn) | (biased ? 1n << 52n : 0n);
  const exponent = (biased || 1n) - 1075n;
  const size = word >> 63n ? -digits : digits;
  return exponent >= 0n ? [size << exponent, 1n] : [size, 1n << -exponent];
}

/** An integer T with T / 2^256 ≤ e^α: partial sums of the series, every term rounded down. */
function expBelow(alpha) {
  const [numerator, denominator] = fractionOf(alpha);
  let total = 0n;
  let order = 0n;
  for (let term = 1n << UNIT_BITS; term > 0n; term = (term * numerator) / (denominator * order)) {
    total += term;
    order += 1n;
  }
  return total;
}

/** Whether numerator / denominator is certainly at most e^α; a ratio too close to tell counts as above. */
export function withinBudget(numerator, denominator, alpha) {
  return numerator << UNIT_BITS <= expBelow(alpha) * denominator;
}
