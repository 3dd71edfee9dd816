// The one place where private records are read: `answer(question, records)`.

import { bitLength, discreteLaplace, SystemCoins } from "./coins.js";
import { isVote } from "./questions.js";
import { clamp, summarise } from "./records.js";
import { encode } from "./reports.js";

/** {value, bytes}: a report on the records, drawn with the browser's generator.
 *
 * Every call draws afresh, and fresh noise averages away: a device keeps its first report and sends that one again.
 * Privacy: for any two lists of records, of any lengths, the probabilities of any report differ by a factor of at most
 * e^α. */
export function answer(question, records) {
  return answerWithCoins(question, records, new SystemCoins());
}

/** The report that given coins lead to: for tests and test vectors, never for a person's report. */
export function answerWithCoins(question, records, coins) {
  const person = summarise(records, question.low, question.high);
  const value = drawn(question, person, coins);
  return { value, bytes: encode(question, value) };
}

function drawn(question, person, coins) {
  if (question.kind === "place-vote") return votedPlace(question, person, coins);
  if (isVote(question)) return votedBits(question, person, coins);
  if (question.noise.kind === "laplace") return noisyPoint(question, person, coins);
  const arm = question.arms > 1 ? armOf(question, coins.words(1)[0]) : 0n;
  const bit = coins.words(1)[0] < threshold(question, person, Number(arm)) ? 1n : 0n;
  return 2n * arm + bit;
}

// --- votes

/** The first and the last bin that a person votes for; [1, 0] when for none. */
export function marks(question, person) {
  const own = ownBin(question, person);
  if (question.kind !== "vote") return [own, own];
  const around = marksAround(question, own);
  return BigInt(person.size) >= question.min_size ? around : [1, 0];
}

/** The one bin that a person belongs to: by her mean, or by her number of records, in classes 1, 2 – 3, 4 – 7, …
 *
 * Of places, the last one that is not to the right of her mean, but never the last of all. */
export function ownBin(question, { size, mean }) {
  if (question.kind === "vote") return binOf(question, mean);
  if (question.kind === "place-vote") return question.places.slice(1, -1).filter((place) => mean >= place).length;
  return Math.min(bitLength(BigInt(size)), Number(question.bins)) - 1;
}

/** The one bin that a mean belongs to. */
export function binOf(question, mean) {
  return clamp(Math.floor((mean - question.origin) / question.width), 0, Number(question.bins) - 1);
}

/** The first and the last bin that go with a bin. */
export function marksAround(question, bin) {
  const reach = Number(question.neighbours);
  return [Math.max(bin - reach, 0), Math.min(bin + reach, Number(question.bins) - 1)];
}

function votedBits(question, person, coins) {
  const [first, last] = marks(question, person);
  // Everybody takes all words, voters or not.
  const bits = coins.words(Number(question.bins)).map((word, bin) => {
    const limit = first <= bin && bin <= last ? question.code.yes : question.code.no;
    return word < limit ? "1" : "0";
  });
  return BigInt(`0b${bits.reverse().join("")}`);
}

// --- places

/** How far a person is on the way from her place to the next, in steps of 2^-32. */
export function part(question, person) {
  const first = ownBin(question, person);
  const [left, right] = question.places.slice(first, first + 2);
  return gridPoint(clamp((person.mean - left) / (right - left), 0, 1), 2 ** 32);
}

/** Where the words end that lead to each place, for this person; the last end is 2^64. */
export function ends(question, person) {
  const { yes, no } = question.code;
  const first = ownBin(question, person);
  const moved = ((yes - no) * part(question, person)) >> 32n;
  return question.places.map((_, place) => {
    const before = BigInt(place + 1) * no;
    if (place < first) return before;
    return place === first ? before + (yes - no) - moved : before + (yes - no);
  });
}

function votedPlace(question, person, coins) {
  const [word] = coins.words(1);
  // Everybody takes the same steps, wherever she is.
  const passed = ends(question, person).filter((end) => word >= end);
  return 1n << BigInt(passed.length);
}

// --- measurements

/** The weight sqrt(size ∧ cap) of a person with so many records, but at least the least weight. */
export function weight(question, size) {
  if (question.kind === "part-measure") return 1; // everybody counts the same
  const spread = question.between_sd;
  const effective = spread > 0 ? size / (1 + size * (spread * spread)) : size;
  const root = Math.sqrt(question.cap === null ? effective : Math.min(effective, question.cap));
  return Math.max(root, question.least_weight);
}

/** The arm that a word chooses: its first bits. */
export function armOf(question, word) {
  return word >> BigInt(64 - Math.log2(question.arms));
}

/** [centre, left, right]: the window that goes with an arm. */
function windowOf(question, arm) {
  if (question.kind === "measure") {
    return [question.centre + (2 * arm - 1) * question.dither, question.left, question.right];
  }
  const [left, right] = question.borders.slice(arm, arm + 2);
  return [left, 0, right - left];
}

/** The place of a person in the window of an arm, 0 at its left and 1 at its right end. */
export function position(question, person, arm = 0) {
  const [centre, left, right] = windowOf(question, arm);
  const z = weight(question, person.size) * (person.mean - centre);
  return clamp((z - left) / (right - left), 0, 1);
}

/** The nearest of the grid points 0 … steps. */
function gridPoint(place, steps) {
  return BigInt(Math.floor(place * steps + 0.5));
}

/** The integer threshold of a person's bit; never outside the two thresholds of the question. */
export function threshold(question, person, arm = 0) {
  const { low, high } = question.noise;
  return low + (((high - low) * gridPoint(position(question, person, arm), 2 ** 32)) >> 32n);
}

/** A person's grid point before the noise. */
export function pointOf(question, person) {
  return gridPoint(position(question, person), Number(question.noise.steps));
}

function noisyPoint(question, person, coins) {
  const { steps, scale } = question.noise;
  const reach = 45n * scale;
  return clamp(pointOf(question, person) + discreteLaplace(coins, scale), -reach, steps + reach);
}
