// Reports: all that ever leaves a device, and the strict codec of their bytes.
//
// A report is 8 bytes that name the question, then the value in as few bytes as hold it: the bits of a vote, bin j as
// bit j mod 8 of byte ⌊j/8⌋ (of a vote for places, exactly one bit is 1); a single bit, where there are arms the
// arm in the bits above it; or a noisy grid point as a big-endian two's complement integer.

import { fromHex, fromInteger, toHex, toInteger } from "./bytes.js";
import { bitLength } from "./coins.js";
import { RejectedReport } from "./errors.js";
import { isVote } from "./questions.js";

export const TAG_BYTES = 8;

/** The first bytes of the identity, by which a report says which question it answers. */
export function tagOf(question) {
  return fromHex("identity", question.id).slice(0, TAG_BYTES);
}

/** The number of bits of a value. */
export function reportBits(question) {
  if (isVote(question)) return Number(question.bins);
  if (question.noise.kind === "one-bit") return 1 + Math.log2(question.arms);
  return bitLength(valueRange(question)[1]) + 1;
}

/** The length of every report of a question. */
export function reportBytes(question) {
  return TAG_BYTES + Math.ceil(reportBits(question) / 8);
}

/** The smallest and the largest value of a report. */
export function valueRange(question) {
  if (!isSigned(question)) return [0n, (1n << BigInt(reportBits(question))) - 1n];
  const { steps, scale } = question.noise;
  return [-45n * scale, steps + 45n * scale];
}

/** The bytes of a report. */
export function encode(question, value) {
  checkRange(question, value);
  const length = reportBytes(question) - TAG_BYTES;
  const payload = fromInteger(isSigned(question) ? BigInt.asUintN(8 * length, value) : value, length);
  return Uint8Array.from([...tagOf(question), ...(isSigned(question) ? payload : payload.reverse())]);
}

/** The value that the bytes of a report hold; RejectedReport for another length or question, or no valid value. */
export function decode(question, bytes) {
  const expected = reportBytes(question);
  if (bytes.length !== expected) {
    throw new RejectedReport("length", `it has ${bytes.length} bytes, a report of this question has ${expected}`);
  }
  if (toHex(bytes.slice(0, TAG_BYTES)) !== toHex(tagOf(question))) {
    throw new RejectedReport("question", "it answers another question");
  }
  const payload = bytes.slice(TAG_BYTES);
  const value = isSigned(question)
    ? BigInt.asIntN(8 * payload.length, toInteger(payload))
    : toInteger(payload.reverse());
  checkRange(question, value);
  return value;
}

function checkRange(question, value) {
  const [low, high] = valueRange(question);
  if (!(low <= value && value <= high))
    throw new RejectedReport("range", "its value is outside the range of this question");
  if (question.kind === "place-vote" && (value === 0n || (value & (value - 1n)) !== 0n))
    throw new RejectedReport("range", "it does not mark exactly one place");
}

function isSigned(question) {
  return question.kind === "measure" && question.noise.kind === "laplace";
}
