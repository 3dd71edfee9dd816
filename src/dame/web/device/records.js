// From a person's records to the two numbers that an answer depends on: how many, and their mean.
//
// Records are clipped to the study's bounds and rounded to a fine integer grid first, so that their sum is exact and
// every device arrives at the same mean, bit for bit.

import { BadRecords } from "./errors.js";

const HALF_GRID = 2 ** 30;
const FLUSH = 2 ** 20; // so many grid values sum exactly in a double

/** A number within [low, high]. */
export function clamp(value, low, high) {
  return value < low ? low : value > high ? high : value;
}

/** {size, total, mean} of the records, clipped to [low, high] and rescaled to [-1, 1]. */
export function summarise(records, low, high) {
  if (!Array.isArray(records)) throw new BadRecords("records must be a list of numbers");
  if (!records.length) throw new BadRecords("records must be a non-empty list of numbers: there is none");
  const scale = (2 * HALF_GRID) / (high - low);
  let total = 0n;
  let part = 0;
  records.forEach((record, index) => {
    part += Math.floor((clamp(number(record, index), low, high) - low) * scale + 0.5) - HALF_GRID;
    if (index % FLUSH === FLUSH - 1) {
      total += BigInt(part);
      part = 0;
    }
  });
  total += BigInt(part);
  const size = records.length;
  return { size, total, mean: clamp(Number(total) / size / HALF_GRID, -1, 1) };
}

function number(record, index) {
  const value = typeof record === "number" || typeof record === "bigint" ? Number(record) : Number.NaN;
  // The message must not contain the record.
  if (!Number.isFinite(value)) throw new BadRecords(`record number ${index + 1} must be a finite number`);
  return value;
}
