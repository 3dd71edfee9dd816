// Lenses: what of a person a channel may see.
//
// A lens turns a person's size and mean into a reading {first, last, mark}: marks on the bins first … last, each as
// strong as `mark` in [0, 1]; on none of them where first > last. It says on how many `bins`, and how two people's
// readings can differ: `differences` are pairs of marks only in the first and marks only in the second.

import { real, whole } from "./checks.js";
import { InvalidInput } from "./errors.js";
import { bitLength, clamp } from "./exact.js";
import { kind, Part } from "./parts.js";

export const MOST_BINS = 1n << 20n;
const MOST_RECORDS = 1n << 62n;
const MOST_WINDOWS = 128;
const NARROWEST = 1e-12;
const NOTHING = Object.freeze({ first: 1, last: 0, mark: 0 });

class Lens extends Part {
  /** How many fair coins of the device draw one of the windows. */
  get windowBits() {
    return 0;
  }

  /** The window that fair coins draw: the first bits of a word, which is not taken where there is no choice. */
  drawWindow(coins) {
    return this.windowBits ? Number(coins.words(1)[0] >> BigInt(64 - this.windowBits)) : 0;
  }
}

/** Which bin holds your mean? The bins are [origin + j·width, origin + (j+1)·width), the outer ones open-ended. */
class Bins extends Lens {
  static fields = {
    kind,
    bins: whole(1n, MOST_BINS),
    width: real(1e-12, 1e12),
    origin: real(-1, 1),
    neighbours: whole(0n, 16n),
    min_size: whole(1n, MOST_RECORDS),
  };

  /** Marks on the bin of a person's mean and its neighbours; none if she has too few records. */
  reading({ size, mean }) {
    // Everybody takes the same steps: neither the number of words nor the time may tell who votes.
    const own = clamp(Math.floor((mean - this.origin) / this.width), 0, Number(this.bins) - 1);
    const around = run(own, Number(this.neighbours), Number(this.bins));
    return BigInt(size) >= this.min_size ? around : NOTHING;
  }

  get differences() {
    return differences(Number(this.bins), Number(this.neighbours), this.min_size > 1n);
  }
}

/** How many records have you? The class [2^j, 2^(j+1)) of sizes that holds yours; the last is open-ended. */
class SizeClasses extends Lens {
  static fields = { kind, classes: whole(1n, MOST_BINS) };

  get bins() {
    return this.classes;
  }

  /** A mark on the class of a person's number of records. */
  reading({ size }) {
    return run(Math.min(bitLength(BigInt(size)), Number(this.classes)) - 1, 0, Number(this.classes));
  }

  get differences() {
    return differences(Number(this.classes), 0, false);
  }
}

/** Marks on a bin and its neighbours. */
function run(bin, neighbours, bins) {
  return { first: Math.max(bin - neighbours, 0), last: Math.min(bin + neighbours, bins - 1), mark: 1 };
}

function differences(bins, neighbours, someSilent) {
  // Two full runs fit apart in 4·neighbours + 2 bins; more bins add no new difference.
  const few = Math.min(bins, 4 * neighbours + 2);
  const runs = Array.from({ length: few }, (_, bin) => run(bin, neighbours, few));
  if (someSilent) runs.push(NOTHING);
  const pairs = runs.flatMap((one) => runs.map((other) => [only(one, other), only(other, one)]));
  return [...new Map(pairs.map((pair) => [pair.join(), pair.map(BigInt)])).values()];
}

/** How many bins are marked in the first reading only. */
function only(one, other) {
  const shared = Math.min(one.last, other.last) - Math.max(one.first, other.first) + 1;
  return one.last - one.first + 1 - Math.max(shared, 0);
}

/** Where in this window is your mean? The position of z = weight·(mean - centre) between left and right. */
class Windows extends Lens {
  static fields = {
    kind,
    windows: windowsOf,
    cap: (name, value) => (value === null ? null : real(1e-12, Number(MOST_RECORDS))(name, value)),
    between_sd: real(0, 1),
    least_weight: real(0, 1e12),
  };

  get bins() {
    return 1n;
  }

  get windowBits() {
    return Math.log2(this.windows.length);
  }

  /** The weight sqrt(size ∧ cap) of a person with so many records, but at least the least weight. */
  weight(size) {
    const effective = size / (1 + size * (this.between_sd * this.between_sd));
    const root = Math.sqrt(this.cap === null ? effective : Math.min(effective, this.cap));
    return Math.max(root, this.least_weight);
  }

  /** One bin, marked as strongly as the person is far through the window. */
  reading({ size, mean }, window) {
    const [centre, left, right] = this.windows[window];
    const z = this.weight(size) * (mean - centre);
    return { first: 0, last: 0, mark: clamp((z - left) / (right - left), 0, 1) };
  }

  /** A whole mark more or less: from one end of the window to the other. */
  get differences() {
    return [[0n, 0n], [0n, 1n], [1n, 0n]];
  }
}

/** A list of windows, each a list of centre, left and right. */
function windowsOf(name, list) {
  const count = Array.isArray(list) ? list.length : 0;
  if (!(1 <= count && count <= MOST_WINDOWS && Number.isInteger(Math.log2(count))))
    throw new InvalidInput(name, list, `1, 2, 4 … or ${MOST_WINDOWS} windows: fair coins draw one`);
  return Object.freeze(list.map(windowOf));
}

function windowOf(ends) {
  if (!Array.isArray(ends) || ends.length !== 3)
    throw new InvalidInput("window", ends, "a centre, a left and a right end");
  const [centre, left, right] = ends.map((end, index) => real(...(index ? [-1e12, 1e12] : [-3, 3]))("window", end));
  if (!(right - left >= NARROWEST))
    throw new InvalidInput("window", `${left}, ${right}`, "two different numbers, the smaller one first");
  return Object.freeze([centre, left, right]);
}

const SHIFT = 0.37; // of a step between two phases
const UNDECIDED = 0.5; // the mark of somebody with too few records

/** Is your mean on a dark stripe or on a light one? Dark are [o + k·wavelength, o + (k + 1/2)·wavelength). */
class Stripes extends Lens {
  static fields = { kind, levels: levelsOf };

  get bins() {
    return 1n;
  }

  get windowBits() {
    return Math.log2(patterns(this.levels));
  }

  /** The pattern that a window stands for: the phases of the first level come first. */
  pattern(window) {
    let phase = window;
    for (const [wavelength, phases, fewest] of this.levels) {
      // Where a dark stripe begins, and how long it is to the next.
      if (phase < phases) return { wavelength, offset: ((phase + SHIFT) * wavelength) / Number(phases), fewest };
      phase -= Number(phases);
    }
    throw new InvalidInput("window", window, `a whole number below ${patterns(this.levels)}`);
  }

  /** One bin, marked by whoever is on a dark stripe; half of it by whoever has too few records. */
  reading({ size, mean }, window) {
    const { wavelength, offset, fewest } = this.pattern(window);
    // Everybody takes the same steps: the time must not tell who has enough records.
    const place = (mean - offset) / wavelength;
    const mark = place - Math.floor(place) < 0.5 ? 1 : 0;
    return { first: 0, last: 0, mark: BigInt(size) >= fewest ? mark : UNDECIDED };
  }

  /** A whole mark more or less: from a light stripe to a dark one. */
  get differences() {
    return [[0n, 0n], [0n, 1n], [1n, 0n]];
  }
}

/** A list of levels, each a list of a wavelength, a number of phases and a least size. */
function levelsOf(name, list) {
  if (!Array.isArray(list) || !(1 <= list.length && list.length <= MOST_WINDOWS))
    throw new InvalidInput(name, list, `a list of 1 to ${MOST_WINDOWS} levels`);
  const levels = Object.freeze(list.map(levelOf));
  const count = patterns(levels);
  if (!(count <= MOST_WINDOWS && Number.isInteger(Math.log2(count))))
    throw new InvalidInput("phases", count, `1, 2, 4 … or ${MOST_WINDOWS} in all: fair coins draw one`);
  return levels;
}

function levelOf(level) {
  if (!Array.isArray(level) || level.length !== 3)
    throw new InvalidInput("level", level, "a wavelength, a number of phases and a least size");
  const [wavelength, phases, fewest] = level;
  return Object.freeze([
    real(1e-6, 8)("wavelength", wavelength),
    whole(1n, BigInt(MOST_WINDOWS))("phases", phases),
    whole(1n, MOST_RECORDS)("min_size", fewest),
  ]);
}

/** How many patterns levels have together. */
function patterns(levels) {
  return levels.reduce((sum, [, phases]) => sum + Number(phases), 0);
}

export const LENSES = new Map([
  ["bins", Bins],
  ["size-classes", SizeClasses],
  ["windows", Windows],
  ["stripes", Stripes],
]);
