// Exact arithmetic for privacy: doubles as fractions, and losses compared with α on the safe side.

/** How many values a random word can take. */
export const WORD = 1n << 64n;

const UNIT_BITS = 256n;

/** A finite double as a fraction of integers: [numerator, denominator]; doubling a double is exact. */
export function fractionOf(value) {
  let [numerator, denominator] = [value, 1n];
  for (; numerator % 1; numerator *= 2) denominator *= 2n;
  return [BigInt(numerator), denominator];
}

/** A number (or BigInt) within [low, high]. */
export function clamp(value, low, high) {
  return value < low ? low : value > high ? high : value;
}

/** How many binary digits a non-negative integer has; 0 has none. */
export function bitLength(value) {
  return value === 0n ? 0 : value.toString(2).length;
}

/** An integer T with T / 2^256 ≤ e^(numerator/denominator): partial sums of the series, every term rounded down. */
function expBelow(numerator, denominator) {
  let total = 0n;
  let order = 0n;
  for (let term = 1n << UNIT_BITS; term > 0n; term = (term * numerator) / (denominator * order)) {
    total += term;
    order += 1n;
  }
  return total;
}

/** Whether a privacy loss, ln(ratio) + exponent, is certainly at most α; one too close to tell counts as above.
 *
 * Both are fractions: the ratio of likelihoods, and what noise that falls exponentially adds. */
export function within({ ratio = [1n, 1n], exponent = [0n, 1n] }, alpha) {
  const [numerator, denominator] = fractionOf(alpha);
  const left = numerator * exponent[1] - denominator * exponent[0];
  return left >= 0n && ratio[0] << UNIT_BITS <= expBelow(left, denominator * exponent[1]) * ratio[1];
}
