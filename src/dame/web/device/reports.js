// Reports: all that ever leaves a device, and the strict codec of their bytes.
//
// A report is 8 bytes that name the question, then one integer in as few bytes as hold it, the lowest first: the
// channel's value, counted from its smallest, and above it the window that the device drew.

import { fromHex, toHex, toInteger } from "./bytes.js";
import { RejectedReport } from "./errors.js";
import { bitLength } from "./exact.js";

export const TAG_BYTES = 8;

/** The first bytes of the identity as hexadecimal digits, by which a report says which question it answers. */
export function tagOf(question) {
  return question.id.slice(0, 2 * TAG_BYTES);
}

/** Size of a report: the window that was drawn, and the channel's value. */
export function reportBits({ lens, channel }) {
  return lens.windowBits + valueBits(channel);
}

/** How many bits hold any value of a channel, counted from the smallest. */
function valueBits({ values: [low, high] }) {
  return bitLength(high - low);
}

/** The length of every report of a question. */
export function reportBytes(question) {
  return TAG_BYTES + Math.ceil(reportBits(question) / 8);
}

/** The bytes of a report with a window and a value that the question's lens and channel have drawn. */
export function encode(question, { window, value }) {
  const { channel } = question;
  const code = (BigInt(window) << BigInt(valueBits(channel))) | (value - channel.values[0]);
  const digits = code.toString(16).padStart(2 * (reportBytes(question) - TAG_BYTES), "0");
  return Uint8Array.from([...fromHex("tag", tagOf(question)), ...fromHex("code", digits).reverse()]);
}

/** The {window, value} that bytes hold; RejectedReport for another length or question, or no valid value. */
export function decode(question, bytes) {
  const expected = reportBytes(question);
  if (bytes.length !== expected)
    throw new RejectedReport("length", `it has ${bytes.length} bytes, a report of this question has ${expected}`);
  if (toHex(bytes.slice(0, TAG_BYTES)) !== tagOf(question))
    throw new RejectedReport("question", "it answers another question");
  const { lens, channel } = question;
  const [low, high] = channel.values;
  const bits = valueBits(channel);
  const code = toInteger(bytes.slice(TAG_BYTES).reverse());
  const [window, value] = [Number(code >> BigInt(bits)), BigInt.asUintN(bits, code) + low];
  if (!(value <= high)) throw new RejectedReport("range", "its value is outside the range of this question");
  if (!(window < 2 ** lens.windowBits)) throw new RejectedReport("range", "its window is none of this question");
  return { window, value };
}
