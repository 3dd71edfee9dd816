// What a report could mean: how likely the very same report would be, had the person's average been another one, or,
// where the question is for it, her number of records.
//
// These are doubles for people to look at. What protects the person is exact: see device/questions.js.

import { ends, marks, pointOf, threshold } from "../device/answer.js";
import { WORD } from "../device/exact.js";
import { isVote } from "../device/questions.js";

const PLACES = 41;

/** {places, silent}: for averages (or classes of sizes) across the bounds {mean, from, to, likelihood}, relative to the largest likelihood.
 *
 * `silent` is the likelihood for somebody with too few records to vote; null where everybody's answer counts. */
export function possibilities(question, value, size) {
  if (question.kind === "size-vote") return { places: classesOf(question, value), silent: null };
  const vote = question.kind === "vote";
  const counted = vote && BigInt(size) < question.min_size ? Number(question.min_size) : size;
  const places = vote ? bins(question).filter(({ from, to }) => from < to) : averages(question, value);
  const log = logLikelihood(question, value);
  const logs = places.map(({ mean }) => log({ size: counted, mean: inner(question, mean) }));
  const silent = vote && question.min_size > 1n ? 0 : null;
  const largest = logs.reduce((most, one) => Math.max(most, one), silent ?? Number.NEGATIVE_INFINITY);
  return {
    places: places.map((place, index) => ({ ...place, likelihood: Math.exp(logs[index] - largest) })),
    silent: silent === null ? null : Math.exp(silent - largest),
  };
}

function classesOf(question, value) {
  const log = logLikelihood(question, value);
  const places = bins(question).map((place) => ({ ...place, log: log({ size: place.from, mean: 0 }) }));
  const largest = Math.max(...places.map((place) => place.log));
  return places.map((place) => ({ ...place, likelihood: Math.exp(place.log - largest) }));
}

/** For a report, a function of the person: the logarithm of its probability, up to a number that is the same for all. */
export function logLikelihood(question, value) {
  if (question.kind === "place-vote") return (person) => Math.log(placeChance(question, value, person));
  if (isVote(question)) return voteLog(question, value);
  if (question.noise.kind === "laplace") {
    return (person) => -Math.abs(Number(value - pointOf(question, person))) / Number(question.noise.scale);
  }
  return (person) => Math.log(bitChance(question, value, person));
}

/** The probability of this very bit, given the arm. */
export function bitChance(question, value, person) {
  const ones = threshold(question, person, Number(value >> 1n));
  // Subtracted before they become doubles, which are too coarse beside 1 where α is large.
  return Number(value & 1n ? ones : WORD - ones) / Number(WORD);
}

/** The probability that a person marks this very place: the words between its end and the one before it. */
export function placeChance(question, value, person) {
  const place = value.toString(2).length - 1;
  const until = ends(question, person);
  return Number(until[place] - (until[place - 1] ?? 0n)) / Number(WORD);
}

function voteLog(question, value) {
  const { yes, no } = question.code;
  const marked = Math.log(Number(yes) / Number(no));
  const blank = Math.log(Number(WORD - yes) / Number(WORD - no));
  const bits = value.toString(2); // the last letter is bin 0
  return (person) => {
    const [first, last] = marks(question, person);
    let sum = 0; // that of the empty vote, which all others are compared with
    for (let bin = first; bin <= last; bin += 1) sum += bits[bits.length - 1 - bin] === "1" ? marked : blank;
    return sum;
  };
}

/** The bins of a vote in the study's units, or the classes of numbers of records. */
export function bins(question) {
  if (question.kind === "size-vote") {
    return Array.from({ length: Number(question.bins) }, (_, index) => ({ from: 2 ** index, to: 2 ** (index + 1) - 1 }));
  }
  const edge = (index) => Math.min(Math.max(question.origin + index * question.width, -1), 1);
  return Array.from({ length: Number(question.bins) }, (_, index) => {
    const [from, to] = [outer(question, edge(index)), outer(question, edge(index + 1))];
    return { from, to, mean: (from + to) / 2 };
  });
}

function averages(question, value) {
  if (question.kind === "place-vote") return around(question, placesOf(question));
  return question.kind === "part-measure" ? around(question, partOf(question, value)) : evenly(question);
}

function evenly({ low, high }) {
  const step = (high - low) / PLACES;
  return Array.from({ length: PLACES }, (_, index) => ({
    from: low + index * step,
    to: low + (index + 1) * step,
    mean: low + (index * (high - low)) / (PLACES - 1),
  }));
}

/** Averages across the bounds, some places among them: there a report is most or least likely. */
function around(question, places) {
  const even = evenly(question).map(({ mean }) => mean);
  const means = [...new Set([...even, ...places])].sort((one, other) => one - other);
  const middle = (index) => (means[index] + means[index + 1]) / 2;
  return means.map((mean, index) => ({
    from: index === 0 ? question.low : middle(index - 1),
    to: index === means.length - 1 ? question.high : middle(index),
    mean,
  }));
}

/** The places of a vote for places, in the study's units. */
export function placesOf(question) {
  return question.places.map((place) => outer(question, place));
}

/** The borders of all parts, in the study's units. */
export function bordersOf(question) {
  return question.borders.map((border) => outer(question, border));
}

/** The two borders of the part that a report is about, in the study's units. */
export function partOf(question, value) {
  const part = Number(value >> 1n);
  return bordersOf(question).slice(part, part + 2);
}

/** From the inner scale, on which the bounds are -1 and 1, to the study's units. */
export function outer({ low, high }, place) {
  return low + ((place + 1) / 2) * (high - low);
}

function inner({ low, high }, value) {
  return (2 * (value - low)) / (high - low) - 1;
}
