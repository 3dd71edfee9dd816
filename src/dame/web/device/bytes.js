// Bytes, hexadecimal text and integers, one from the other.

import { check } from "./checks.js";

export function utf8(text) {
  return new TextEncoder().encode(text);
}

export function toHex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The bytes of a text of lower-case hexadecimal digits, two for each byte; a function of the text's name and itself. */
export const fromHex = check(
  "lower-case hexadecimal digits, two for each byte",
  (text) => typeof text === "string" && /^(?:[0-9a-f]{2})*$/.test(text),
  (text) => Uint8Array.from(text.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16)),
);

/** The integer whose big-endian bytes these are. */
export function toInteger(bytes) {
  return BigInt(`0x0${toHex(bytes)}`);
}
