// Who answers in which slot: a public hash of the study and the participant, never the order of arrival.

import { toHex, toInteger, utf8 } from "./bytes.js";
import { InvalidInput } from "./errors.js";
import { fractionOf, WORD } from "./exact.js";
import { sha256 } from "./sha256.js";

/** For each slot but the last, the 64-bit hash value at which the next slot begins. */
function slotBorders(shares) {
  const exact = shares.map((share) => fractionOf(Number(share)));
  // Denominators are powers of two: over the largest of them, all shares are integers.
  const common = exact.reduce((largest, [, denominator]) => (denominator > largest ? denominator : largest), 1n);
  let total = 0n;
  const sums = exact.map(([numerator, denominator]) => (total += numerator * (common / denominator)));
  return sums.slice(0, -1).map((sum) => (WORD * sum) / total);
}

/** The index, in the list of a study's slots with these shares, of the one in which a participant answers.
 *
 * Anybody can compute it: the first 8 bytes of SHA-256 of study, line feed and participant decide. */
export function slotOf(study, shares, participant) {
  const text = `${study}\n${participant}`;
  if (/\p{Cs}/u.test(text))
    throw new InvalidInput("participant", "half of a surrogate pair", "a text of whole characters");
  const hash = toInteger(sha256(utf8(text)).slice(0, 8));
  return slotBorders(shares).filter((border) => border <= hash).length;
}

/** The name under which a token is hashed to a slot; the collector stores this, and never the token. */
export function participantName(token) {
  return toHex(sha256(utf8(token)));
}
