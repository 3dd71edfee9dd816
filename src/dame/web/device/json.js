// JSON that tells integers and doubles apart, and its canonical form.
//
// An integer literal becomes a BigInt and any other number a double, so that `1` and `1.0` stay different, integers
// beyond 2^53 stay exact, and the canonical text (and with it every identity) is that of the Python device.

import { InvalidInput } from "./errors.js";

const DEEPEST = 64;
const NUMBER = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const SPACE = /[ \t\n\r]*/y;
const WORDS = ["true", "false", "null"];

/** The value of a JSON text. Objects have no prototype: a key such as `__proto__` is a key like any other. */
export function parse(text) {
  const reader = new Reader(text);
  const value = reader.value(0);
  reader.space();
  if (reader.place !== text.length) throw reader.problem();
  return value;
}

class Reader {
  constructor(text) {
    this.text = text;
    this.place = 0;
  }

  problem() {
    return new InvalidInput("JSON", this.text.slice(this.place, this.place + 20), `valid at character ${this.place}`);
  }

  space() {
    this.match(SPACE);
  }

  match(pattern) {
    pattern.lastIndex = this.place;
    const found = pattern.exec(this.text);
    if (found) this.place = pattern.lastIndex;
    return found;
  }

  take(letter) {
    this.space();
    if (this.text[this.place] !== letter) return false;
    this.place += 1;
    return true;
  }

  need(letter) {
    if (!this.take(letter)) throw this.problem();
  }

  value(depth) {
    if (depth > DEEPEST) throw new InvalidInput("JSON", "deeper nesting", `at most ${DEEPEST} levels deep`);
    if (this.take("{")) return this.object(depth);
    if (this.take("[")) return this.list(depth);
    if (this.text[this.place] === '"') return this.string();
    const word = WORDS.find((text) => this.text.startsWith(text, this.place));
    return word ? this.word(word) : this.number();
  }

  object(depth) {
    const found = Object.create(null);
    if (this.take("}")) return found;
    do {
      this.space();
      const key = this.string();
      this.need(":");
      found[key] = this.value(depth + 1);
    } while (this.take(","));
    this.need("}");
    return found;
  }

  list(depth) {
    const found = [];
    if (this.take("]")) return found;
    do found.push(this.value(depth + 1));
    while (this.take(","));
    this.need("]");
    return found;
  }

  string() {
    const found = this.match(STRING);
    if (!found) throw this.problem();
    return JSON.parse(found[0]);
  }

  word(text) {
    this.place += text.length;
    return JSON.parse(text);
  }

  number() {
    const found = this.match(NUMBER);
    if (!found) throw this.problem();
    return found[1] || found[2] ? Number(found[0]) : BigInt(found[0]);
  }
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

function byCodePoint(one, other) {
  const [left, right] = [[...one], [...other]];
  const place = left.findIndex((letter, index) => letter !== right[index]);
  if (place < 0) return left.length - right.length;
  return place < right.length ? left[place].codePointAt(0) - right[place].codePointAt(0) : 1;
}

const SHORT = { '"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\f": "\\f", "\b": "\\b" };

function quoted(text) {
  // Without the flag `u`, the pattern sees UTF-16 units, which is what the escapes are made of.
  return `"${text.replace(/["\\]|[^ -~]/g, (unit) => SHORT[unit] ?? escape4(unit.charCodeAt(0)))}"`;
}

function escape4(unit) {
  return `\\u${unit.toString(16).padStart(4, "0")}`;
}

/** A double with the fewest digits that read back as the same double, set as docs/vectors.md says. */
export function decimal(value) {
  if (!Number.isFinite(value)) throw new InvalidInput("number", value, "finite");
  if (value === 0) return Object.is(value, -0) ? "-0.0" : "0.0";
  const [mantissa, power] = Math.abs(value).toExponential().split("e");
  const digits = mantissa.replace(".", "");
  return (value < 0 ? "-" : "") + placed(digits, Number(power));
}

function placed(digits, exponent) {
  if (exponent < -4 || exponent >= 16) return scientific(digits, exponent);
  if (exponent < 0) return `0.${"0".repeat(-exponent - 1)}${digits}`;
  const long = digits.padEnd(exponent + 1, "0");
  return `${long.slice(0, exponent + 1)}.${long.slice(exponent + 1) || "0"}`;
}

function scientific(digits, exponent) {
  const mantissa = digits.length > 1 ? `${digits[0]}.${digits.slice(1)}` : digits;
  return `${mantissa}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
}
