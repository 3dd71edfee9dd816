// Checks of values, in the positive form, so that NaN and the wrong type fail like anything else.
//
// `real`, `whole` and `printable` give the check of a field: a function of its name and value.

import { InvalidInput } from "./errors.js";

/** A value as a double in [low, high]; -0 becomes 0, or equal questions would have different identities. */
export function real(low, high) {
  return (field, value) => {
    const number = typeof value === "number" || typeof value === "bigint";
    if (!number || !(low <= value && value <= high))
      throw new InvalidInput(field, value, `a number from ${low} to ${high}`);
    return Number(value) + 0;
  };
}

/** A value as an integer (a BigInt) in [low, high]. */
export function whole(low, high) {
  return (field, value) => {
    if (typeof value !== "bigint" || !(low <= value && value <= high))
      throw new InvalidInput(field, value, `a whole number from ${low} to ${high}`);
    return value;
  };
}

/** A text of 1 to `longest` characters, none of a control, format, unassigned or separator kind but the space. */
export function printable(longest) {
  return (field, value) => {
    const length = typeof value === "string" ? [...value].length : 0;
    if (!(1 <= length && length <= longest) || /[\p{C}\p{Z}]/u.test(value.replaceAll(" ", "")))
      throw new InvalidInput(field, value, `a printable text of 1 to ${longest} characters`);
    return value;
  };
}

/** Refuses what is no object with exactly these keys. */
export function keys(what, document, names) {
  if (typeof document !== "object" || document === null || Array.isArray(document))
    throw new InvalidInput(what, document, "a JSON object");
  const missing = names.find((name) => !Object.hasOwn(document, name));
  if (missing !== undefined)
    throw new InvalidInput(what, Object.keys(document).join(" "), `an object with the key '${missing}'`);
  const unknown = Object.keys(document).find((name) => !names.includes(name));
  if (unknown !== undefined) throw new InvalidInput(what, unknown, "an object without unknown keys");
}
