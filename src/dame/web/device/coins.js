// Exact draws from random words: the only source of randomness on a device.

import { bitLength } from "./exact.js";

const MOST_AT_ONCE = 8192; // getRandomValues gives at most 65,536 bytes

/** Words from the browser's cryptographic generator. */
export class SystemCoins {
  words(count) {
    const found = [];
    while (found.length < count) {
      const some = new BigUint64Array(Math.min(count - found.length, MOST_AT_ONCE));
      for (const word of globalThis.crypto.getRandomValues(some)) found.push(word);
    }
    return found;
  }
}

/** A uniform integer in [0, limit), 1 ≤ limit ≤ 2^64, by rejection: no modulo, no bias. */
export function uniformBelow(coins, limit) {
  const shift = 64n - BigInt(bitLength(limit - 1n));
  for (;;) {
    const number = coins.words(1)[0] >> shift;
    if (number < limit) return number;
  }
}

/** True with probability exp(-p/q), for p/q in [0, 1] (Canonne, Kamath, Steinke 2020, algorithm 1). */
function bernoulliExp(coins, p, q) {
  let flips = 1n;
  while (uniformBelow(coins, q * flips) < p) flips += 1n;
  return flips % 2n === 1n;
}

/** An integer k with probability proportional to exp(-|k|/scale) (the same paper, algorithm 2). */
export function discreteLaplace(coins, scale) {
  for (;;) {
    const fraction = uniformBelow(coins, scale);
    if (!bernoulliExp(coins, fraction, scale)) continue;
    let wholes = 0n;
    while (bernoulliExp(coins, 1n, 1n)) wholes += 1n;
    const magnitude = fraction + scale * wholes;
    const negative = uniformBelow(coins, 2n) === 1n;
    // Else zero would be drawn twice as often.
    if (!(negative && magnitude === 0n)) return negative ? -magnitude : magnitude;
  }
}
