// Checks of the fields of a document: each a function of a field's name and value, which returns the value to keep.
//
// They are in the positive form, so that NaN and the wrong type fail like anything else.

import { InvalidInput } from "./errors.js";

/** The check that a value passes a test; `keep` makes of it what is kept. */
export function check(allowed, test, keep = (value) => value) {
  return (field, value) => {
    if (!test(value)) throw new InvalidInput(field, value, allowed);
    return keep(value);
  };
}

/** A value as a double in [low, high]; -0 becomes 0, or equal questions would have different identities. */
export function real(low, high) {
  const isNumber = (value) => typeof value === "number" || typeof value === "bigint";
  const inside = (value) => isNumber(value) && low <= value && value <= high;
  return check(`a number from ${low} to ${high}`, inside, (value) => Number(value) + 0);
}

/** A value as an integer (a BigInt) in [low, high]. */
export function whole(low, high) {
  const inside = (value) => typeof value === "bigint" && low <= value && value <= high;
  return check(`a whole number from ${low} to ${high}`, inside);
}

/** A text of 1 to `longest` characters, none of a control, format, unassigned or separator kind but the space. */
export function printable(longest) {
  const isText = (value) => typeof value === "string" && value !== "" && [...value].length <= longest;
  const plain = (value) => isText(value) && !/[\p{C}\p{Z}]/u.test(value.replaceAll(" ", ""));
  return check(`a printable text of 1 to ${longest} characters`, plain);
}
