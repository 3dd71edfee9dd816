// Checks of single values, in the positive form, so that NaN and the wrong type fail like anything else.

import { InvalidInput } from "./errors.js";

/** A value as a double in [low, high]; -0 becomes 0, or equal questions would have different identities. */
export function real(field, value, low, high) {
  const number = typeof value === "number" || typeof value === "bigint";
  if (!number || !(low <= value && value <= high))
    throw new InvalidInput(field, value, `a number from ${low} to ${high}`);
  return Number(value) + 0;
}

/** A value as an integer (a BigInt) in [low, high]. */
export function whole(field, value, low, high) {
  if (typeof value !== "bigint" || !(low <= value && value <= high)) {
    throw new InvalidInput(field, value, `a whole number from ${low} to ${high}`);
  }
  return value;
}

/** A text of 1 to `longest` characters, none of a control, format, unassigned or separator kind but the space. */
export function printable(field, value, longest) {
  const length = typeof value === "string" ? [...value].length : 0;
  if (!(1 <= length && length <= longest) || /[\p{C}\p{Z}]/u.test(value.replaceAll(" ", ""))) {
    throw new InvalidInput(field, value, `a printable text of 1 to ${longest} characters`);
  }
  return value;
}

/** An object that has exactly these keys. */
export function keys(what, document, names) {
  if (typeof document !== "object" || document === null || Array.isArray(document)) {
    throw new InvalidInput(what, document, "a JSON object");
  }
  const missing = names.find((name) => !Object.hasOwn(document, name));
  if (missing !== undefined)
    throw new InvalidInput(what, Object.keys(document).join(" "), `an object with the key '${missing}'`);
  const unknown = Object.keys(document).find((name) => !names.includes(name));
  if (unknown !== undefined) throw new InvalidInput(what, unknown, "an object without unknown keys");
  return document;
}
