// Channels: the randomisers. Each turns a reading into an integer between its `values`, by `draw(reading, coins)`, and
// knows its exact privacy loss: `loss(differences)` is the largest between people whose readings differ in such ways.

import { whole } from "./checks.js";
import { discreteLaplace } from "./coins.js";
import { InvalidInput } from "./errors.js";
import { clamp, WORD } from "./exact.js";
import { MOST_BINS } from "./lenses.js";
import { kind, Part } from "./parts.js";

/** What `Bits` and `Choice` share: they compare random words with thresholds, of marked and of blank bins.
 *
 * For each word that a draw takes, `ends(reading)` has the rising numbers at which the word's outcome goes up by one,
 * from 0; `valueFrom(outcomes)` is the value that the outcomes of all words make. */
class Comparing extends Part {
  static fields = { kind, bins: whole(1n, MOST_BINS), yes: threshold, no: threshold };

  constructor(what, document) {
    super(what, document);
    if (!(this.no < this.yes)) throw new InvalidInput("no", this.no, "below the yes threshold");
  }

  draw(reading, coins) {
    const ends = this.ends(reading);
    // Everybody takes as many words, and the same steps.
    const outcomeOf = (word, index) => ends[index].filter((end) => end <= word).length;
    return this.valueFrom(coins.words(ends.length).map(outcomeOf));
  }

  /** The channel as documents have it; thresholds as 16 hexadecimal digits: a JSON number is too short. */
  toJSON() {
    const [yes, no] = [this.yes, this.no].map((value) => value.toString(16).padStart(16, "0"));
    return { ...this, yes, no };
  }
}

/** A bit for each bin: 1 with probability yes/2^64 where it is marked, no/2^64 elsewhere, between them where partly. */
class Bits extends Comparing {
  loss(differences) {
    const ratios = differences.map(([gained, lost]) => [
      this.yes ** gained * (WORD - this.no) ** lost,
      this.no ** gained * (WORD - this.yes) ** lost,
    ]);
    return { ratio: ratios.reduce((most, one) => (one[0] * most[1] > most[0] * one[1] ? one : most)) };
  }

  /** One word for each bin, with its threshold; that of a mark is never outside [no, yes], whatever the mark. */
  ends({ first, last, mark }) {
    const marked = this.no + (((this.yes - this.no) * gridPoint(mark, 2 ** 32)) >> 32n);
    return new Array(Number(this.bins)).fill([this.no]).fill([marked], first, last + 1);
  }

  /** The bits as an integer, bin j as bit j: 1 where the word was below the threshold. */
  valueFrom(outcomes) {
    return BigInt(`0b${outcomes.map((outcome) => 1 - outcome).reverse().join("")}`);
  }

  get values() {
    return [0n, (1n << this.bins) - 1n];
  }
}

/** One of all bins: the one that is marked with probability yes/2^64, each of the others with no/2^64. */
class Choice extends Comparing {
  constructor(what, document) {
    super(what, document);
    if (this.yes + (this.bins - 1n) * this.no !== WORD)
      throw new InvalidInput("thresholds", this.yes, `chances of ${this.bins} bins that sum to 1`);
  }

  loss(differences) {
    if (!differences.every(([gained, lost]) => gained === lost && gained <= 1n))
      throw new InvalidInput("channel", this.kind, "one for this lens: a choice needs exactly one mark of everybody");
    return { ratio: differences.some(([gained]) => gained) ? [this.yes, this.no] : [1n, 1n] };
  }

  /** One word, in stretches as long as the chances of the bins. */
  ends({ first }) {
    const extra = (bin) => (bin >= first ? this.yes - this.no : 0n);
    return [Array.from({ length: Number(this.bins) - 1 }, (_, bin) => BigInt(bin + 1) * this.no + extra(bin))];
  }

  /** The bin that was drawn. */
  valueFrom([outcome]) {
    return BigInt(outcome);
  }

  get values() {
    return [0n, this.bins - 1n];
  }
}

/** A partial mark, rounded to one of the grid points 0 … steps, plus an integer k of weight exp(-|k|/scale). */
class Laplace extends Part {
  static fields = { kind, steps: whole(1n, 1n << 24n), scale: whole(1n, 1n << 45n) };

  get bins() {
    return 1n;
  }

  /** From one end of the grid to the other. */
  loss(differences) {
    const farthest = differences.flat().reduce((most, one) => (one > most ? one : most));
    return { exponent: [this.steps * farthest, this.scale] };
  }

  /** The grid point of a mark, before the noise. */
  point(mark) {
    return gridPoint(mark, Number(this.steps));
  }

  draw({ mark }, coins) {
    return clamp(this.point(mark) + discreteLaplace(coins, this.scale), ...this.values);
  }

  /** The grid, and as far beyond it as the noise may reach. */
  get values() {
    return [-45n * this.scale, this.steps + 45n * this.scale];
  }
}

/** The nearest of the grid points 0 … steps to a mark in [0, 1]; a mark outside counts as the nearer end. */
function gridPoint(mark, steps) {
  return BigInt(Math.floor(clamp(mark, 0, 1) * steps + 0.5));
}

function threshold(name, text) {
  if (typeof text !== "string" || !/^[0-9a-f]{16}$/.test(text))
    throw new InvalidInput(name, text, "16 hexadecimal digits");
  return whole(1n, WORD - 1n)(name, BigInt(`0x${text}`));
}

export const CHANNELS = new Map([
  ["bits", Bits],
  ["choice", Choice],
  ["laplace", Laplace],
]);
