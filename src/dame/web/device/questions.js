// Questions: the public, frozen parameters of one round. Five kinds: `vote`, `size-vote`, `place-vote`, `measure` and
// `part-measure`.
//
// A question is checked when it is read, its privacy loss included: whoever wrote the document, a question that would
// spend more than its α cannot be built. Its fields have the names of the document; integers are BigInts.

import { toHex, utf8 } from "./bytes.js";
import { keys, printable, real, whole } from "./checks.js";
import { InvalidInput } from "./errors.js";
import { fractionOf, withinBudget, WORD } from "./exact.js";
import { canonical } from "./json.js";
import { sha256 } from "./sha256.js";

const SHARED = ["kind", "version", "study", "round", "alpha", "low", "high"];
const OWN = {
  vote: ["bins", "width", "origin", "neighbours", "min_size", "code"],
  "size-vote": ["bins", "code"],
  "place-vote": ["places", "code"],
  measure: ["centre", "left", "right", "cap", "between_sd", "least_weight", "dither", "noise"],
  "part-measure": ["borders", "noise"],
};
const INTEGERS = {
  version: [1n, 1n],
  round: [0n, 63n],
  bins: [1n, 1n << 20n],
  neighbours: [0n, 16n],
  min_size: [1n, 1n << 62n],
  steps: [1n, 1n << 24n],
  scale: [1n, 1n << 45n],
};
const DOUBLES = {
  alpha: [1e-6, 32],
  low: [-1e100, 1e100],
  high: [-1e100, 1e100],
  width: [1e-12, 1e12],
  origin: [-1, 1],
  centre: [-1, 1],
  left: [-1e12, 1e12],
  right: [-1e12, 1e12],
  cap: [1e-12, 2 ** 62],
  between_sd: [0, 1],
  least_weight: [0, 1e12],
  dither: [0, 2],
};
const MOST_PLACES = 8;
const PARTS = [2, 4, 8]; // their number is drawn with whole coins
const READ = {
  study: (text) => printable("study", text, 128),
  places: placesOf,
  borders: bordersOf,
  code: codeOf,
  noise: noiseOf,
};

/** Whether a question asks for marks: in the bin of a mean, in the class of a number of records, or at a place. */
export function isVote({ kind }) {
  return kind !== "measure" && kind !== "part-measure";
}

/** The question that a document (of `parse`) describes; InvalidInput for anything missing, unknown or out of range. */
export function questionOf(document) {
  const kind = document !== null && typeof document === "object" ? document.kind : document;
  if (typeof kind !== "string" || !Object.hasOwn(OWN, kind)) {
    throw new InvalidInput("question kind", kind, "'vote', 'size-vote', 'place-vote', 'measure' or 'part-measure'");
  }
  const names = [...SHARED, ...OWN[kind]];
  keys("question", document, names);
  const question = Object.fromEntries(names.map((name) => [name, field(name, document[name])]));
  checkPairs(question);
  checkBudget(question);
  const text = canonical(written(question));
  // Every vote has `bins`, but the document of a place vote does not say them: they are its places.
  const bins = kind === "place-vote" ? { bins: BigInt(question.places.length) } : {};
  const arms = isVote(question) ? {} : { arms: armsOf(question) };
  return Object.freeze({ ...question, ...bins, ...arms, canonical: text, id: toHex(sha256(utf8(text))) });
}

/** How many windows there are, one of which the device draws: the parts, or two with a dither. */
function armsOf({ borders, dither }) {
  if (borders) return borders.length - 1;
  return dither ? 2 : 1;
}

function field(name, value) {
  if (name === "kind" || (name === "cap" && value === null)) return value;
  if (name in INTEGERS) return whole(name, value, ...INTEGERS[name]);
  if (name in DOUBLES) return real(name, value, ...DOUBLES[name]);
  return READ[name](value);
}

function placesOf(list) {
  if (!Array.isArray(list) || !(2 <= list.length && list.length <= MOST_PLACES)) {
    throw new InvalidInput("places", list, `a list of 2 to ${MOST_PLACES} numbers`);
  }
  return rising("places", list);
}

function bordersOf(list) {
  if (!Array.isArray(list) || !PARTS.includes(list.length - 1)) {
    throw new InvalidInput("borders", list, "a list of 3, 5 or 9 numbers");
  }
  return rising("borders", list);
}

function rising(name, list) {
  const places = list.map((place) => real(name, place, -1, 1));
  if (!places.every((place, index) => index === 0 || place - places[index - 1] >= 1e-12)) {
    throw new InvalidInput(name, places, "different numbers, the smaller ones first");
  }
  return Object.freeze(places);
}

function thresholds(what, document, names) {
  keys(what, document, names);
  return Object.fromEntries(
    names.map((name) => [name, name === "kind" ? document.kind : threshold(what, name, document[name])]),
  );
}

function threshold(what, name, text) {
  if (typeof text !== "string" || !/^[0-9a-f]{16}$/.test(text))
    throw new InvalidInput("threshold", text, "16 hexadecimal digits");
  return whole(`${name} threshold of the ${what}`, BigInt(`0x${text}`), 1n, WORD - 1n);
}

function codeOf(document) {
  const code = thresholds("code", document, ["yes", "no"]);
  if (!(code.no < code.yes)) throw new InvalidInput("no threshold", code.no, "below the yes threshold");
  return Object.freeze(code);
}

function noiseOf(document) {
  const kind = document !== null && typeof document === "object" ? document.kind : document;
  if (kind === "one-bit") {
    const noise = thresholds("noise", document, ["kind", "low", "high"]);
    if (!(noise.low < noise.high)) throw new InvalidInput("low threshold", noise.low, "below the high threshold");
    return Object.freeze(noise);
  }
  if (kind !== "laplace") throw new InvalidInput("noise kind", kind, "'one-bit' or 'laplace'");
  keys("noise", document, ["kind", "steps", "scale"]);
  return Object.freeze({ kind, steps: field("steps", document.steps), scale: field("scale", document.scale) });
}

function checkPairs(question) {
  if (!(question.low < question.high) || !(question.high - question.low >= 1e-100)) {
    throw new InvalidInput(
      "bounds",
      `${question.low}, ${question.high}`,
      "two different numbers, the smaller one first",
    );
  }
  if (question.kind === "place-vote") checkSum(question);
  if (question.kind === "part-measure" && question.noise.kind !== "one-bit") {
    throw new InvalidInput("noise", question.noise.kind, "one bit");
  }
  if (question.kind === "measure") checkWindow(question);
}

function checkWindow(question) {
  if (!(question.right - question.left >= 1e-12)) {
    throw new InvalidInput(
      "window",
      `${question.left}, ${question.right}`,
      "two different numbers, the smaller one first",
    );
  }
  if (question.dither && question.noise.kind !== "one-bit") {
    throw new InvalidInput("dither", question.dither, "0 unless the noise is one bit");
  }
}

function checkSum({ places, code }) {
  if (code.yes + BigInt(places.length - 1) * code.no !== WORD) {
    throw new InvalidInput("thresholds", code.yes, `chances of ${places.length} places that sum to 1`);
  }
}

// --- what a question spends

function checkBudget(question) {
  if (!honest(question)) {
    const what = isVote(question) ? "thresholds" : "noise";
    throw new InvalidInput(what, "a larger loss", `such that the privacy loss is at most alpha = ${question.alpha}`);
  }
}

function honest(question) {
  const { kind, code, noise, alpha } = question;
  // The chance of any place lies between `no` and `yes`, wherever a person is.
  if (kind === "place-vote") return withinBudget(code.yes, code.no, alpha);
  if (isVote(question)) return voteRatios(question).every(([up, down]) => withinBudget(up, down, alpha));
  if (noise.kind === "laplace") {
    const [numerator, denominator] = fractionOf(alpha);
    return noise.steps * denominator <= numerator * noise.scale;
  }
  return withinBudget(noise.high, noise.low, alpha) && withinBudget(WORD - noise.low, WORD - noise.high, alpha);
}

/** The likelihood ratios of every pair of votes, as [numerator, denominator]. */
function voteRatios({ bins, neighbours = 0n, code }) {
  return differences(Number(bins), Number(neighbours)).map(([gained, lost]) => [
    code.yes ** gained * (WORD - code.no) ** lost,
    code.no ** gained * (WORD - code.yes) ** lost,
  ]);
}

/** How two votes can differ: (marks only in the first, marks only in the second), the empty vote included. */
function differences(bins, neighbours) {
  // Two full windows fit apart in 4·neighbours + 2 bins; more bins add no new difference.
  const few = Math.min(bins, 4 * neighbours + 2);
  const votes = [
    [1, 0],
    ...Array.from({ length: few }, (_, j) => [Math.max(j - neighbours, 0), Math.min(j + neighbours, few - 1)]),
  ];
  const found = new Map();
  for (const one of votes) {
    for (const other of votes) {
      const pair = [only(one, other), only(other, one)];
      found.set(pair.join(), pair.map(BigInt));
    }
  }
  return [...found.values()];
}

function only([first, last], [start, end]) {
  const shared = Math.max(Math.min(last, end) - Math.max(first, start) + 1, 0);
  return last - first + 1 - (end < start ? 0 : shared);
}

// --- identity

function written(question) {
  const hexed = (part, names) => ({ ...part, ...Object.fromEntries(names.map((name) => [name, hex16(part[name])])) });
  if (isVote(question)) return { ...question, code: hexed(question.code, ["yes", "no"]) };
  return question.noise.kind === "one-bit" ? { ...question, noise: hexed(question.noise, ["low", "high"]) } : question;
}

/** A threshold as 16 hexadecimal digits: a JSON number is too short. */
export function hex16(value) {
  return value.toString(16).padStart(16, "0");
}
