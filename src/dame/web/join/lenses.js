// What a participant reads and sees of each lens, in the study's units. A new lens needs one entry here.
//
// An entry is made of a question. It has
// - `asked`, the question in words, and `note`, what else she should know;
// - `noun` and `nouns`, what a bin is called, and `binName(bin)`; where bins have no names, `noun` is null and `sides` are
//   the words for people without a mark and with a whole one;
// - `windowName(window)` and `windowNouns`, where there are several windows; `compared(window, size)`, where bins have no
//   names: two kinds of people, in words, with their readings;
// - `what` people differ in, and `whats`; `possible(window, size)`, people of whom each might be her, with the `from` and `to` of their
//   bars; `silent(window)`, somebody who marks nothing, or null; `axis`, the drawing's ends;
// - `own(person, window)`, where she herself is on it, or null; `caption(person, window)`, the words below it.

import { clamp } from "../device/exact.js";
import { apart, count, listed, plural, range, short } from "../page/words.js";
import { statisticView } from "./statistics.js";

const AVERAGES = 41;
const MOST_STRIPES = 80;
const FINE = 2 ** 42;
const MOST_CLASSES = 63; // nobody has more than 2^62 numbers

/** What lenses on averages, or on other means of a statistic, have in common. */
class OfAverages {
  windowNouns = "windows";

  constructor({ lens, statistic }) {
    this.lens = lens;
    this.axis = statistic.range;
    this.asks = statisticView(statistic);
    this.what = this.asks.what;
    this.whats = this.asks.whats;
  }

  silent() {
    return null;
  }

  get possibly() {
    return `Possible ${this.whats}`;
  }

  /** From the inner scale, on which the bounds are -1 and 1, to the study's units. */
  units(mean) {
    const [low, high] = this.axis;
    return low + ((mean + 1) / 2) * (high - low);
  }

  /** Averages on the inner scale as texts that tell them apart. */
  apart(means) {
    // Where one segment or stripe ends and another one begins, doubles may differ by their last digits.
    return apart(means.map((mean) => this.units(Math.round(mean * FINE) / FINE)));
  }

  own({ mean }) {
    return this.units(mean);
  }

  /** The bar of a possible person, between two averages on the inner scale. */
  bar(left, right, person) {
    return { from: this.units(left), to: this.units(right), person };
  }

  /** The two people there are where one may say yes or no. */
  yesAndNo(size = 1) {
    return [
      { ...this.bar(-1, 0, { size, mean: -1 }), name: "no" },
      { ...this.bar(0, 1, { size, mean: 1 }), name: "yes" },
    ];
  }

  compared(window, size) {
    const reading = (mean) => this.lens.reading({ size, mean }, window);
    return [
      { who: `with the lowest possible ${this.what}`, reading: reading(-1) },
      { who: "with the highest", reading: reading(1) },
    ];
  }
}

class Bins extends OfAverages {
  noun = "range";
  nouns = "ranges";

  constructor(question) {
    super(question);
    this.fewest = Number(this.lens.min_size);
  }

  silent() {
    return tooFew(this.fewest);
  }

  get asked() {
    if (this.asks.direct) return this.asks.direct;
    return `In which of ${plural(Number(this.lens.bins), "range")} does ${this.asks.whole} lie?`;
  }

  get note() {
    return this.fewest > 1 ? `With fewer than ${plural(this.fewest, "number")} your device marks none of them.` : "";
  }

  binName(bin) {
    return range(...this.edges(bin).map((edge) => this.units(edge)));
  }

  /** The borders of a bin on the inner scale; the outer bins reach to the bounds. */
  edges(bin) {
    const { origin, width, bins } = this.lens;
    const border = (index) => clamp(origin + index * width, -1, 1);
    return [bin ? border(bin) : -1, bin < Number(bins) - 1 ? border(bin + 1) : 1];
  }

  possible() {
    const all = Array.from({ length: Number(this.lens.bins) }, (_, bin) => this.edges(bin));
    const inside = all.filter(([left, right]) => left < right);
    return inside.map(([left, right]) => this.bar(left, right, { size: this.fewest, mean: (left + right) / 2 }));
  }

  own(person) {
    return person.size >= this.fewest ? super.own(person) : null;
  }

  caption() {
    if (this.fewest > 1) return `${this.possibly}, for somebody with at least ${plural(this.fewest, "number")}.`;
    return `${this.possibly}; how many numbers there are plays no part.`;
  }
}

class SizeClasses {
  what = "class";
  whats = "classes";
  noun = "class";
  nouns = "classes";
  note = "What your numbers are plays no part.";

  constructor({ lens, statistic }) {
    this.lens = lens;
    this.records = statisticView(statistic).records;
    this.count = Number(lens.classes);
    this.axis = [0, Math.min(this.count, MOST_CLASSES)];
  }

  silent() {
    return null;
  }

  get asked() {
    const first = Array.from({ length: Math.min(this.count, 3) }, (_, bin) => this.binName(bin)).join(", ");
    const rest = this.count > 3 ? ", and so on" : "";
    return `How many ${this.records} have you? Your class is one of ${count(this.count)}: ${first}${rest}.`;
  }

  binName(bin) {
    const [first, last] = [2 ** bin, 2 ** (bin + 1) - 1].map((size) => short(size, 7));
    if (bin === this.count - 1) return `${first} or more`;
    return first === last ? first : `${first} – ${last}`;
  }

  possible() {
    const bar = (bin) => ({ from: bin, to: bin + 1, name: this.binName(bin), person: { size: 2 ** bin, mean: 0 } });
    return Array.from({ length: this.axis[1] }, (_, bin) => bar(bin));
  }

  own(person) {
    return this.lens.reading(person).first;
  }

  caption() {
    return "Possible numbers of records: bar 0 is 1, and every further bar twice as many.";
  }
}

class Windows extends OfAverages {
  noun = null;

  constructor(question) {
    super(question);
    this.alike = this.lens.weight(1) === this.lens.weight(2 ** 62); // then its ends are the same for everybody
    const plain = this.asks.direct !== null;
    this.note = this.alike && !plain ? `How many ${this.asks.records} you have plays no part.` : "";
    if (plain) this.sides = ["who have none", "who have some"];
    else this.sides = this.alike
      ? ["at the lower end of the window, or below it", "at its upper end, or above it"]
      : ["far below", "far above"];
  }

  get asked() {
    const where = this.alike ? "Where in the window" : "How far below or above";
    const coins = this.lens.windowBits ? " Your device draws which of them with fair coins." : "";
    if (this.asks.direct) return `${this.asks.direct}${coins}`;
    return `${where} ${listed(this.windowNames)} is ${this.asks.whole}?${coins}`;
  }

  windowName(window) {
    return `${this.alike ? "" : "around "}${this.windowNames[window]}`;
  }

  /** Each window by its ends, or, where these depend on how many numbers somebody has, by its centre. */
  get windowNames() {
    const { windows } = this.lens;
    const ends = windows.map(([centre], window) => (this.alike ? this.ends(window, 1) : [centre]));
    const names = this.apart(ends.flat());
    return ends.map(({ length }, window) => names.slice(length * window, length * (window + 1)).join(" to "));
  }

  /** The averages at which people with so many numbers are at the ends of a window. */
  ends(window, size) {
    const [centre, ...sides] = this.lens.windows[window];
    return sides.map((side) => centre + side / this.lens.weight(size));
  }

  /** Averages across the bounds, the ends of the window among them: there a report is most or least likely. */
  possible(window, size) {
    if (this.asks.direct) return this.yesAndNo();
    const even = Array.from({ length: AVERAGES }, (_, index) => -1 + (2 * index) / (AVERAGES - 1));
    const inside = this.ends(window, size).filter((end) => -1 < end && end < 1);
    const means = [...new Set([...even, ...inside])].sort((one, other) => one - other);
    const borders = [-1, ...means.slice(1).map((mean, index) => (means[index] + mean) / 2), 1];
    return means.map((mean, index) => this.bar(borders[index], borders[index + 1], { size, mean }));
  }

  caption(person) {
    if (this.asks.direct) return `${this.possibly}: no on the left, yes on the right.`;
    if (this.alike) return `${this.possibly}; how many numbers there are plays no part.`;
    return `${this.possibly}, for somebody with ${person ? "as many numbers as you" : "one number"}.`;
  }
}

class Stripes extends OfAverages {
  noun = null;
  windowNouns = "patterns";
  sides = ["on a light stripe", "on a dark one"];

  constructor(question) {
    super(question);
    const { levels } = this.lens;
    this.widths = sorted(levels.map(([wavelength]) => wavelength / 2));
    this.fewest = sorted(levels.map(([, , fewest]) => Number(fewest)));
  }

  get asked() {
    const [low, high] = this.axis;
    const widths = this.widths.map((width) => short(((high - low) * width) / 2));
    const wide = widths.length > 1 ? `between ${widths[0]} and ${widths.at(-1)}` : `each ${widths[0]}`;
    const patterns = `one of ${2 ** this.lens.windowBits} such patterns`;
    const coins = this.lens.windowBits ? ` Your device draws ${patterns} with fair coins.` : "";
    const direct = this.asks.direct ? `${this.asks.direct} ` : "";
    return (
      `${direct}The range from ${range(low, high)} is painted in dark and light stripes, ${wide} wide. Is ` +
      `${this.asks.whole} on a dark one or on a light one?${coins}`
    );
  }

  get note() {
    const [least, most] = [this.fewest[0], this.fewest.at(-1)];
    if (most <= 1) return "";
    if (least === most) return `With fewer than ${plural(most, "number")} it tosses a fair coin instead.`;
    return (
      `With too few numbers for the pattern it tosses a fair coin instead: with fewer than ${count(most)} for the most ` +
      "demanding one."
    );
  }

  silent(window) {
    return tooFew(Number(this.lens.pattern(window).fewest));
  }

  /** The first dark stripe of a pattern, with as many digits as tell it from the others of its width. */
  windowName(window) {
    const { wavelength } = this.lens.pattern(window);
    const all = Array.from({ length: 2 ** this.lens.windowBits }, (_, each) => each);
    const alike = all.filter((each) => this.lens.pattern(each).wavelength === wavelength);
    const darks = alike.map((each) => this.firstDark(each));
    const names = this.apart(darks.flat());
    const place = alike.indexOf(window);
    const before = darks.slice(0, place).flat().length;
    const [left] = darks[place];
    if (left === undefined) return "light all over";
    const more = left + wavelength < 1 ? ", and so on" : "";
    return `dark from ${names[before]} to ${names[before + 1]}${more}`;
  }

  /** The ends of the first dark stripe within the bounds, as far as it is within them; none if all is light. */
  firstDark(window) {
    const { wavelength, offset } = this.lens.pattern(window);
    const half = wavelength / 2;
    const left = offset + wavelength * Math.floor((half - 1 - offset) / wavelength);
    return left < 1 ? [Math.max(left, -1), Math.min(left + half, 1)] : [];
  }

  possible(window) {
    const { wavelength, offset, fewest } = this.lens.pattern(window);
    const size = Number(fewest);
    if (this.asks.direct) return this.yesAndNo(size);
    const stripes = narrow(wavelength) ? inTurn(wavelength / 2, offset) : everyStripe(wavelength / 2, offset);
    return stripes.map(([left, right, mean]) => this.bar(left, right, { size, mean }));
  }

  own(person, window) {
    return person.size >= Number(this.lens.pattern(window).fewest) ? super.own(person) : null;
  }

  compared() {
    return this.sides.map((who, mark) => ({ who, reading: { first: 0, last: 0, mark } }));
  }

  caption(_, window) {
    const { wavelength, fewest } = this.lens.pattern(window);
    const who = fewest > 1n ? `, for somebody with at least ${plural(Number(fewest), "number")}` : "";
    if (this.asks.direct) return `${this.possibly}: no on the left, yes on the right.`;
    if (!narrow(wavelength)) return `${this.possibly}${who}, with a bar for each stripe.`;
    return `${this.possibly}${who}. The stripes are too narrow to draw: bars show some of them, dark and light in turn.`;
  }
}

/** All stripes within the bounds, of a width and from an offset on: their ends and their middle. */
function everyStripe(width, offset) {
  const first = Math.ceil((-1 - offset) / width);
  const borders = Array.from({ length: Math.ceil(2 / width) + 1 }, (_, index) => offset + (first + index) * width);
  const ends = [-1, ...borders.filter((border) => -1 < border && border < 1), 1];
  return ends.slice(1).map((right, index) => [ends[index], right, (ends[index] + right) / 2]);
}

/** Where stripes are too narrow to be seen: people in the middle of a light one and of a dark one, in turn. */
function inTurn(width, offset) {
  return Array.from({ length: AVERAGES }, (_, index) => {
    const [left, right] = [index, index + 1].map((end) => (2 * end) / AVERAGES - 1);
    const stripe = 2 * Math.floor(((left + right) / 2 - offset) / (2 * width)) + (index % 2);
    return [left, right, offset + (stripe + 1 / 2) * width];
  });
}

function narrow(wavelength) {
  return 4 / wavelength > MOST_STRIPES;
}

/** Somebody with a single number, where so many are needed; nobody where one is enough. */
function tooFew(fewest) {
  return fewest > 1 ? { size: 1, mean: 0 } : null;
}

function sorted(numbers) {
  return [...new Set(numbers)].sort((one, other) => one - other);
}

const VIEWS = new Map([
  ["bins", Bins],
  ["size-classes", SizeClasses],
  ["windows", Windows],
  ["stripes", Stripes],
]);

/** The entry of a question's lens. */
export function lensView(question) {
  return new (VIEWS.get(question.lens.kind))(question);
}
