// The question, the report and what it could mean, in whole sentences: those of the lens and those of the channel.

import { percent, plural, short } from "../page/words.js";
import { channelView } from "./channels.js";
import { lensView } from "./lenses.js";

/** The question as one would ask a person. */
export function asked(question) {
  const lens = lensView(question);
  return [lens.asked, channelView(question, lens).answered, lens.note].filter((text) => text).join(" ");
}

/** What a report says. */
export function said(question, { window, value }) {
  const lens = lensView(question);
  const own = channelView(question, lens).said(value);
  const bits = question.lens.windowBits;
  if (!bits) return own;
  const drawn = `which of ${2 ** bits} windows fair coins drew for you: ${lens.windowName(window)}`;
  return `${own} ${plural(bits, "more bit says", "more bits say")} ${drawn}.`;
}

/** What the drawing of possibilities shows, for somebody with so many records. */
export function meant(question, report, size, { bars, silent }) {
  const lens = lensView(question);
  const { what, each } = lens;
  const least = bars.reduce((low, { likelihood }) => Math.min(low, likelihood), silent ?? 1);
  return (
    `${channelView(question, lens).compared(report, size)}Each bar is ${each}; its height says how likely ` +
    `this very report would then be, compared with the ${what} that fits best. No ${what} is ruled out: the least likely has ` +
    `${percent(least, 1)}, and α = ${short(question.alpha, 4)} allows none below ${percent(Math.exp(-question.alpha), 1)}.` +
    (silent === null ? "" : ` Somebody with too few numbers to mark any has ${percent(silent, 1)}.`)
  );
}
