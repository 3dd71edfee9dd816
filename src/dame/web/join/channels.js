// What a participant reads of each channel, and how likely its values are. A new channel needs one entry here.
//
// An entry is made of a question and the entry of its lens. It has
// - `answered`, how her device answers, in words;
// - `said(value)`, what a report says, and `compared(report)`, how many others would send the same; both in words;
// - `bitName(bit)`, what a bit of a report stands for, or null; `showsBits`, whether bits tell a person anything;
// - `log(value)`, a function of a reading: the logarithm of the probability of a value, up to a number that is the same
//   for all readings. These are doubles for people to look at; what protects her is exact: see device/channels.js.

import { WORD } from "../device/exact.js";
import { count, plural, short } from "../page/words.js";
import { lensView } from "./lenses.js";

class ChannelView {
  showsBits = true;

  constructor({ channel }, view) {
    this.channel = channel;
    this.view = view;
  }

  bitName() {
    return null;
  }

  compared() {
    return "";
  }
}

/** What channels that compare words with thresholds have in common: `outcomes(value)` are those of the words. */
class OfComparing extends ChannelView {
  /** How many of 100 people have a blank bin marked by chance, and how many a marked one. */
  ofHundred = [this.channel.no, this.channel.yes].map((threshold) => inHundred(chance(threshold)));

  /** The product, over all words, of the chances of their outcomes. */
  log(value) {
    const outcomes = this.outcomes(value);
    return (reading) => {
      const logsOf = new Map(); // most words have the same ends as their neighbours
      const logs = (ends) => logsOf.get(ends) ?? logsOf.set(ends, chances(ends).map(Math.log)).get(ends);
      return this.channel.ends(reading).reduce((sum, ends, word) => sum + logs(ends)[outcomes[word]], 0);
    };
  }
}

/** The chance of each outcome of a word. */
function chances(ends) {
  // Subtracted before they become doubles, which are too coarse beside 1 where α is large.
  return [...ends, WORD].map((end, outcome) => chance(end - (ends[outcome - 1] ?? 0n)));
}

function chance(threshold) {
  return Number(threshold) / Number(WORD);
}

function inHundred(share) {
  return short(100 * share, share < 0.1 ? 1 : 2);
}

class Bits extends OfComparing {
  get answered() {
    const { noun, sides } = this.view;
    if (noun)
      return `Your device marks it, and then flips a coin for every ${noun}, so that each mark may be true or false.`;
    const [low, high] = this.ofHundred;
    return (
      `Your device answers “high” or “low” with a coin that your ${this.view.what} loads: of 100 people ${sides[0]}, about ${low} say ` +
      `“high”, on purpose; of 100 ${sides[1]}, about ${high}.`
    );
  }

  said(value) {
    if (!this.view.noun) return "One single bit.";
    const ones = value.toString(2).replaceAll("0", "").length;
    const bits = plural(Number(this.channel.bins), "bit");
    return `${bits}, one for each ${this.view.noun}; ${count(ones)} of them ${ones === 1 ? "is" : "are"} 1.`;
  }

  compared({ window, value }, size) {
    if (this.view.noun) return "";
    const log = this.log(value);
    const [some, others] = this.view.compared(window, size);
    const many = ({ reading }) => inHundred(Math.exp(log(reading)));
    return (
      `Of 100 people ${some.who}, about ${many(some)} would send this same ${value}; of 100 ${others.who}, about ` +
      `${many(others)}. `
    );
  }

  bitName(bit) {
    return this.view.noun && bit < this.channel.bins ? this.view.binName(bit) : null;
  }

  outcomes(value) {
    const bits = value.toString(2).padStart(Number(this.channel.bins), "0");
    return Array.from(bits, (bit) => 1 - Number(bit)).reverse();
  }
}

class Choice extends OfComparing {
  get answered() {
    const { noun, nouns } = this.view;
    const [other, own] = this.ofHundred;
    return (
      `Your device names one of the ${nouns}, drawn by chance: of 100 people in a ${noun}, about ${own} name that ` +
      `${noun} and about ${other} ${this.channel.bins === 2n ? "the other one" : "each of the others"}, on purpose.`
    );
  }

  said(value) {
    return `One of ${count(this.channel.bins)} ${this.view.nouns}: ${this.view.binName(Number(value))}.`;
  }

  compared({ value }) {
    const [other, own] = this.ofHundred;
    return (
      `Of 100 people in the ${this.view.noun} ${this.view.binName(Number(value))}, about ${own} would send this same ` +
      `report; of 100 in ${this.channel.bins === 2n ? "the other one" : "any other one"}, about ${other}. `
    );
  }

  outcomes(value) {
    return [Number(value)];
  }
}

class Laplace extends ChannelView {
  answered = "Your device adds random noise before it answers.";
  showsBits = false;

  said(value) {
    return `One noisy number: ${value} on a grid of ${count(this.channel.steps)} steps.`;
  }

  log(value) {
    const { channel } = this;
    return ({ mark }) => -Math.abs(Number(value - channel.point(mark))) / Number(channel.scale);
  }
}

const VIEWS = new Map([
  ["bits", Bits],
  ["choice", Choice],
  ["laplace", Laplace],
]);

/** {lens, channel}: the entries of a question's lens and channel. */
export function viewsOf(question) {
  const lens = lensView(question);
  return { lens, channel: new (VIEWS.get(question.channel.kind))(question, lens) };
}
