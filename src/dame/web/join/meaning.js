// The question, the report and what it could mean, in whole sentences and in numbers: the words are those of the lens
// and of the channel.

import { grouped } from "../page/charts.js";
import { percent, plural, short } from "../page/words.js";
import { viewsOf } from "./channels.js";

const MOST_BARS = 200;

/** The question as one would ask a person. */
export function asked(question) {
  const { lens, channel } = viewsOf(question);
  return [lens.asked, channel.answered, lens.note].filter((text) => text).join(" ");
}

/** What a report says. */
export function said(question, { window, value }) {
  const { lens, channel } = viewsOf(question);
  const bits = question.lens.windowBits;
  if (!bits) return channel.said(value);
  const drawn = `which of ${2 ** bits} ${lens.windowNouns} fair coins drew for you: ${lens.windowName(window)}`;
  return `${channel.said(value)} ${plural(bits, "more bit says", "more bits say")} ${drawn}.`;
}

/** {bars, silent}: people who might have sent a report, each with her `likelihood`, relative to the largest one.
 *
 * Each is {from, to, name, person, likelihood}; `size` is the person's own number of records. `silent` is the likelihood
 * for somebody with too few records to mark anything; null where everybody's answer counts. */
export function possibilities(question, { window, value }, size) {
  const { lens, channel } = viewsOf(question);
  const log = channel.log(value);
  const logOf = (person) => log(question.lens.reading(person, window));
  // Of very many neighbours, the middle one stands for all.
  const people = grouped(lens.possible(window, size), MOST_BARS, (some) => some[some.length >> 1]);
  const logs = people.map(({ person }) => logOf(person));
  const nobody = lens.silent(window);
  const silent = nobody && logOf(nobody);
  const largest = Math.max(...logs, silent ?? Number.NEGATIVE_INFINITY);
  return {
    bars: people.map((bar, index) => ({ ...bar, likelihood: Math.exp(logs[index] - largest) })),
    silent: silent === null ? null : Math.exp(silent - largest),
  };
}

/** What the drawing of possibilities shows, for somebody with so many records. */
export function meant(question, report, size, { bars, silent }) {
  const { lens, channel } = viewsOf(question);
  const { alpha } = question;
  const least = Math.min(...bars.map(({ likelihood }) => likelihood), silent ?? 1);
  return (
    `${channel.compared(report, size)}Each bar is one possible ${lens.what}; its height says how likely this very report ` +
    `would then be, compared with the ${lens.what} that fits best. No ${lens.what} is ruled out: the least likely has ` +
    `${percent(least, 1)}, and α = ${short(alpha, 4)} allows none below ${percent(Math.exp(-alpha), 1)}.` +
    (silent === null ? "" : ` Somebody with too few numbers has ${percent(silent, 1)}.`)
  );
}
