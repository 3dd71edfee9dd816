// Statistics: public, bounded functions of a record, which a device averages over its records.
//
// Each maps a record to an integer grid, so that sums are exact and every device arrives at the same mean, bit for bit.

import { real } from "./checks.js";
import { BadRecords, InvalidInput } from "./errors.js";
import { clamp } from "./exact.js";
import { kind, Part } from "./parts.js";

const HALF_GRID = 2 ** 30; // steps from the middle of the bounds to either end
const FLUSH = 2 ** 20; // so many grid values sum exactly in a double

/** The record itself, a number, clipped to [low, high]. */
class Value extends Part {
  static fields = { kind, low: real(-1e100, 1e100), high: real(-1e100, 1e100) };

  constructor(what, document) {
    super(what, document);
    const { low, high } = this;
    if (!(low < high) || !(high - low >= 1e-100))
      throw new InvalidInput("bounds", `${low}, ${high}`, "two different numbers, the smaller one first");
  }

  /** {size, mean} of the clipped records, rescaled to [-1, 1]. */
  summarise(records) {
    const { low, high } = this;
    const scale = (2 * HALF_GRID) / (high - low);
    return summary(records, (record) => Math.floor((clamp(record, low, high) - low) * scale + 0.5) - HALF_GRID);
  }
}

/** {size, mean} of the records, each of which `onGrid` maps to an integer from -HALF_GRID to HALF_GRID. */
function summary(records, onGrid) {
  if (!Array.isArray(records)) throw new BadRecords("records must be a list of numbers");
  const size = records.length;
  if (!size) throw new BadRecords("records must be a non-empty list of numbers: there is none");
  let total = 0n;
  for (let start = 0; start < size; start += FLUSH) {
    const some = records.slice(start, start + FLUSH);
    total += BigInt(some.reduce((sum, record, index) => sum + onGrid(number(record, start + index)), 0));
  }
  return { size, mean: clamp(Number(total) / size / HALF_GRID, -1, 1) };
}

function number(record, index) {
  const value = typeof record === "number" || typeof record === "bigint" ? Number(record) : Number.NaN;
  // The message must not contain the record.
  if (!Number.isFinite(value)) throw new BadRecords(`record number ${index + 1} must be a finite number`);
  return value;
}

export const STATISTICS = new Map([["value", Value]]);
