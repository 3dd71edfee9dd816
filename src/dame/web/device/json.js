// JSON that tells integers and doubles apart, and its canonical form.
//
// An integer literal becomes a BigInt and any other number a double, so that `1` and `1.0` stay different, integers
// beyond 2^53 stay exact, and the canonical text (and with it every identity) is that of the Python device.

import { InvalidInput } from "./errors.js";

const DEEPEST = 64;
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*/g;

/** The value of a JSON text. Objects have no prototype: a key such as `__proto__` is a key like any other. */
export function parse(text) {
  try {
    JSON.parse(text);
  } catch (problem) {
    throw new InvalidInput("JSON", problem.message, "valid");
  }
  // In a valid text, numbers can be put between quotes; a first letter then tells them from strings.
  const marked = (token) => (token[0] === '"' ? `"s${token.slice(1)}` : `"n${token}"`);
  return unmarked(JSON.parse(text.replace(STRING_OR_NUMBER, marked)), 0);
}

function unmarked(value, depth) {
  if (depth > DEEPEST) throw new InvalidInput("JSON", "deeper nesting", `at most ${DEEPEST} levels deep`);
  if (typeof value === "string") return value[0] === "s" ? value.slice(1) : numberOf(value.slice(1));
  if (Array.isArray(value)) return value.map((entry) => unmarked(entry, depth + 1));
  if (typeof value !== "object" || value === null) return value;
  const found = Object.create(null);
  for (const [key, entry] of Object.entries(value)) found[key.slice(1)] = unmarked(entry, depth + 1);
  return found;
}

function numberOf(literal) {
  return /[.eE]/.test(literal) ? Number(literal) : BigInt(literal);
}

/** The one text of a value that its identity is taken from: sorted keys, no spaces, ASCII. */
export function canonical(value) {
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "string") return quoted(value);
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "number") return decimal(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value.toJSON === "function") return canonical(value.toJSON());
  const keys = Object.keys(value).sort(byCodePoint);
  return `{${keys.map((key) => `${quoted(key)}:${canonical(value[key])}`).join(",")}}`;
}

/** The order of Python's texts; JavaScript itself compares UTF-16 units. */
function byCodePoint(one, other) {
  const [left, right] = [one, other].map((text) => Array.from(text, (letter) => letter.codePointAt(0)));
  const place = left.findIndex((point, index) => point !== right[index]);
  return place < 0 || place >= right.length ? left.length - right.length : left[place] - right[place];
}

function quoted(text) {
  // Without the flag `u`, the pattern sees UTF-16 units, which is what the escapes are made of.
  const escaped = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(text).replace(/[^ -~]/g, escaped);
}

/** A double with the fewest digits that read back as the same double, set as docs/vectors.md says. */
export function decimal(value) {
  if (!Number.isFinite(value)) throw new InvalidInput("number", value, "finite");
  if (Object.is(value, -0)) return "-0.0";
  const size = Math.abs(value);
  if (size >= 1e16 || (size < 1e-4 && size > 0)) return value.toExponential().replace(/(?<=e[+-])\d$/, "0$&");
  const text = String(value);
  return text.includes(".") ? text : `${text}.0`;
}
