// What a participant reads of each statistic: what she is asked for, and what of her records counts. A new statistic
// needs one entry here.
//
// An entry is made of a statistic. It has
// - `records`, what her records are called; `column`, its name in quotes, or ""; `only`, what she is asked, in words;
// - `bounds`, those of the numbers, or null;
// - `whole`, what is averaged over them, as part of a question; `what` and `whats`, one word for it, and for several;
// - `direct`, the question itself where one may be asked plainly to say yes or no, or null;
// - `texts`, whether values may be texts; `hint`, how to type them;
// - `read(values)`, sentences about what was read.

import { clamp } from "../device/exact.js";
import { percent, plural, short } from "../page/words.js";

class StatisticView {
  direct = null;
  texts = false;
  what = "average";
  whats = "averages";
  hint = "Or type them, with spaces or line breaks between";

  get bounds() {
    return null;
  }

  constructor(statistic) {
    this.statistic = statistic;
    this.column = statistic.column ? `“${statistic.column}”` : "";
    this.records = this.column ? `numbers of ${this.column}` : "numbers";
  }
}

/** What statistics of clipped numbers have in common. */
class OfNumbers extends StatisticView {
  get bounds() {
    return [this.statistic.low, this.statistic.high];
  }

  /** What many numbers come to, in a few words. */
  comes(numbers) {
    const { low, high } = this.statistic;
    const mean = numbers.reduce((sum, number) => sum + clamp(number, low, high), 0) / numbers.length;
    return `average ${short(mean, 5)}`;
  }

  read(numbers) {
    const { low, high } = this.statistic;
    const clipped = numbers.filter((number) => number < low || number > high).length;
    const outside = `${plural(clipped, "number lies", "numbers lie")} outside ${short(low, 6)} to ${short(high, 6)}`;
    return [
      `${plural(numbers.length, "number")}, ${this.comes(numbers)}`,
      clipped ? `${outside} and ${clipped === 1 ? "counts" : "count"} as the nearer bound.` : null,
    ];
  }
}

class Value extends OfNumbers {
  get only() {
    return `for your ${this.records}`;
  }

  get whole() {
    return `the average of your ${this.records}`;
  }
}

class Square extends OfNumbers {
  what = "average square";
  whats = "average squares";

  get middle() {
    return short((this.statistic.low + this.statistic.high) / 2, 6);
  }

  get only() {
    return `for your ${this.records}, from which your device takes how far they are from ${this.middle}, squared`;
  }

  get whole() {
    return `the average squared distance of your ${this.records} from ${this.middle}`;
  }
}

class Drawn extends OfNumbers {
  what = "number";
  whats = "numbers";

  get only() {
    return `for your ${this.records}, of which your device draws one by chance and forgets the others`;
  }

  get whole() {
    return `the one of your ${this.records} that your device draws`;
  }

  comes() {
    return "one of which your device will draw, each as likely";
  }
}

class Indicator extends StatisticView {
  what = "share";
  whats = "shares";

  constructor(statistic) {
    super(statistic);
    this.texts = statistic.relation === "is";
    if (this.texts) {
      this.records = this.column ? `records of ${this.column}` : "records";
      this.hint = "Or type them, one on each line";
    }
  }

  /** What is looked at in each record. */
  get condition() {
    const { relation, than } = this.statistic;
    return relation === "is" ? `“${than}”` : `${relation} ${than}`;
  }

  get only() {
    return `for your ${this.records}, of which your device takes how many are ${this.condition}`;
  }

  get whole() {
    return `the share of your ${this.records} that are ${this.condition}`;
  }

  read(values) {
    const share = (this.statistic.summarise(values).mean + 1) / 2;
    return [`${plural(values.length, "record")}, ${percent(share)} of them ${this.condition}`];
  }
}

class Present extends StatisticView {
  what = "answer";
  whats = "answers";

  constructor(statistic) {
    super(statistic);
    this.records = this.column ? `records of ${this.column}` : "records";
    this.direct = `Have you any ${this.records}? Yes counts as 1, no as 0.`;
  }

  get only() {
    return `whether you have any ${this.records}, not what they say`;
  }

  get whole() {
    return "your answer";
  }

  read() {
    return [];
  }
}

const VIEWS = new Map([
  ["value", Value],
  ["square", Square],
  ["drawn", Drawn],
  ["indicator", Indicator],
  ["present", Present],
]);

/** The entry of a statistic. */
export function statisticView(statistic) {
  return new (VIEWS.get(statistic.kind))(statistic);
}

/** Whether somebody with these records has a place of her own in the drawing: she has some, or was asked just that. */
export function hasPlace(statistic, records) {
  return records.length > 0 || statisticView(statistic).direct !== null;
}
