// Statistics: public, bounded functions of a record, which a device averages over its records.
//
// Each maps a record to an integer grid, so that sums are exact and every device arrives at the same mean, bit for bit.
// `column` names the value in records that have several; where it is empty, records are bare numbers. `range` is what -1
// and 1 stand for, in the units of the statistic's mean. Where `draws` is true, 64 random bits choose one of a person's
// records, which stands for all of them.

import { check, printable, real } from "./checks.js";
import { InvalidInput } from "./errors.js";
import { clamp } from "./exact.js";
import { kind, Part } from "./parts.js";
import { HALF_GRID, numbers, numbersOrTexts, summaryOf } from "./records.js";

const LONGEST_NAME = 128;
const RELATIONS = ["above", "below", "is"];
const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/; // numbers that every language reads alike

const name = printable(LONGEST_NAME);
const column = (field, value) => (value === "" ? value : name(field, value));

/** A function of a number that is clipped to [low, high]. */
class Bounded extends Part {
  static fields = { kind, column, low: real(-1e100, 1e100), high: real(-1e100, 1e100) };

  constructor(what, document) {
    super(what, document);
    const { low, high } = this;
    if (!(low < high) || !(high - low >= 1e-100))
      throw new InvalidInput("bounds", `${low}, ${high}`, "two different numbers, the smaller one first");
  }

  /** The grid values of the records. */
  steps(records) {
    const { low, high } = this;
    const scale = (2 * HALF_GRID) / (high - low);
    const onGrid = (value) => Math.floor((clamp(value, low, high) - low) * scale + 0.5) - HALF_GRID;
    return numbers(records, this.column).map(onGrid);
  }
}

/** The value itself, a number, clipped to [low, high]. */
class Value extends Bounded {
  /** {size, mean} of the clipped values, rescaled to [-1, 1]. */
  summarise(records) {
    return summaryOf(this.steps(records));
  }

  get range() {
    return [this.low, this.high];
  }
}

/** The squared distance of the value, a number clipped to [low, high], from the middle of these bounds. */
class Square extends Bounded {
  /** {size, mean} of the squares, -1 for no distance and 1 for that of a bound. */
  summarise(records) {
    const squared = (step) => 2 * Math.floor((step * step) / HALF_GRID + 0.5) - HALF_GRID;
    return summaryOf(this.steps(records).map(squared));
  }

  get range() {
    return [0, ((this.high - this.low) / 2) ** 2];
  }
}

/** One of a person's values, which her device draws, each as likely; a number, clipped to [low, high]. */
class Drawn extends Bounded {
  get draws() {
    return true;
  }

  /** {size, mean} of one record: in ascending order, the one that the word falls on. */
  summarise(records, word = 0n) {
    // All are read and sorted before one is chosen: neither time nor errors may tell which.
    const steps = this.steps(records).sort((one, other) => one - other);
    const place = Number((word * BigInt(steps.length)) >> 64n);
    return summaryOf(steps.slice(place, place + 1));
  }

  get range() {
    return [this.low, this.high];
  }
}

/** What statistics that say yes or no have in common. */
class Share extends Part {
  get range() {
    return [0, 1];
  }
}

/** Whether the value is above or below a number, or is a given text or number.
 *
 * `than` is a text as people type it: a number after `above` and `below`; after `is`, text values are compared with the
 * text, and numbers with the number that it stands for, if it stands for one. */
class Indicator extends Share {
  static fields = {
    kind,
    column,
    relation: check(`one of ${RELATIONS.join(", ")}`, (value) => RELATIONS.includes(value)),
    than: printable(LONGEST_NAME),
  };

  constructor(what, document) {
    super(what, document);
    if (this.relation !== "is" && this.number === null)
      throw new InvalidInput(this.relation, this.than, "a finite number");
  }

  /** The number that `than` stands for, or null. */
  get number() {
    const number = NUMBER.test(this.than) ? Number(this.than) : Number.NaN;
    return Number.isFinite(number) ? number : null;
  }

  /** {size, mean} of 1 where the value is so and -1 where it is not. */
  summarise(records) {
    const { than, number } = this;
    const read = this.relation === "is" ? numbersOrTexts : numbers;
    const holds = {
      above: (value) => value > number,
      below: (value) => value < number,
      is: (value) => value === than || value === number,
    }[this.relation];
    return summaryOf(read(records, this.column).map((value) => (holds(value) ? HALF_GRID : -HALF_GRID)));
  }
}

/** Whether a person has any record with the column, whatever it holds: everybody counts as one record. */
class Present extends Share {
  static fields = { kind, column };

  /** One record: 1 for somebody who has such records, -1 for anybody else. */
  summarise(records) {
    return { size: 1, mean: numbersOrTexts(records, this.column).length ? 1 : -1 };
  }
}

export const STATISTICS = new Map([
  ["value", Value],
  ["square", Square],
  ["drawn", Drawn],
  ["indicator", Indicator],
  ["present", Present],
]);
