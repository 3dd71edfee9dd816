// Bytes, hexadecimal text and integers, one from the other.

import { InvalidInput } from "./errors.js";

export function utf8(text) {
  return new TextEncoder().encode(text);
}

export function toHex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The bytes of a text of lower-case hexadecimal digits, two for each byte. */
export function fromHex(field, text) {
  if (typeof text !== "string" || !/^(?:[0-9a-f]{2})*$/.test(text)) {
    throw new InvalidInput(field, text, "lower-case hexadecimal digits, two for each byte");
  }
  return Uint8Array.from({ length: text.length / 2 }, (_, index) =>
    Number.parseInt(text.slice(2 * index, 2 * index + 2), 16),
  );
}

/** The integer whose big-endian bytes these are. */
export function toInteger(bytes) {
  return BigInt(`0x0${toHex(bytes)}`);
}

/** The big-endian bytes of a non-negative integer that is below 256^length. */
export function fromInteger(value, length) {
  return fromHex("integer", value.toString(16).padStart(2 * length, "0"));
}
