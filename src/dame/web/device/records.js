// A person's records, and the two numbers of them that an answer depends on: how many, and a mean.
//
// A record is a number, or an object whose keys are names of columns. A record without a value in the column that a
// question is about does not count for it.

import { BadRecords } from "./errors.js";
import { clamp } from "./exact.js";

export const HALF_GRID = 2 ** 30; // steps from the middle of the bounds to either end
const FLUSH = 2 ** 20; // so many grid values sum exactly in a double

/** Somebody without any record that counts answers like somebody with one record in the middle of the bounds. */
const ABSENT = { size: 1, mean: 0 };

/** {size, mean} of records with these grid values, integers from -HALF_GRID to HALF_GRID. */
export function summaryOf(steps) {
  const size = steps.length;
  if (!size) return { ...ABSENT };
  let total = 0n;
  for (let start = 0; start < size; start += FLUSH)
    total += BigInt(steps.slice(start, start + FLUSH).reduce((sum, step) => sum + step, 0));
  return { size, mean: clamp(Number(total) / size / HALF_GRID, -1, 1) };
}

/** The values of a column in the records that have one, if all of them are finite numbers. */
export function numbers(records, column) {
  return valuesOf(records, column, number);
}

/** The values of a column in the records that have one, if all of them are texts or finite numbers. */
export function numbersOrTexts(records, column) {
  return valuesOf(records, column, numberOrText);
}

function valuesOf(records, column, read) {
  if (!Array.isArray(records)) throw new BadRecords(`records must be a list of records${single(records)}`);
  const values = [];
  for (let index = 0; index < records.length; index += 1) {
    const record = records[index];
    // Where no column is named, an object is a bad record.
    const value = column && isPlain(record) ? cell(record, column) : (record ?? Number.NaN);
    if (value !== null) values.push(read(value, index + 1));
  }
  return values;
}

function single(records) {
  return typeof records === "string" || isPlain(records) ? ", not a single one" : "";
}

function isPlain(record) {
  if (typeof record !== "object" || record === null) return false;
  return [null, Object.prototype].includes(Object.getPrototypeOf(record));
}

/** A record's own value of a column, null where it has none; a column may be called `toString`. */
function cell(record, column) {
  return Object.hasOwn(record, column) ? (record[column] ?? null) : null;
}

const NUMBERS = new Set(["number", "bigint", "boolean"]);

function number(item, place, allowed = "a finite number") {
  const value = NUMBERS.has(typeof item) ? Number(item) : Number.NaN;
  // The message must not contain the record.
  if (!Number.isFinite(value)) throw new BadRecords(`record number ${place} must be ${allowed}`);
  return value;
}

function numberOrText(item, place) {
  return typeof item === "string" ? item : number(item, place, "a text or a finite number");
}
