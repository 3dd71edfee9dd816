// What a report could mean: how likely the very same report would be, had the person been another one.

import { channelView } from "./channels.js";
import { lensView } from "./lenses.js";

const MOST_BARS = 200;

/** {bars, silent}: people who might have sent a report, each with her `likelihood`, relative to the largest one.
 *
 * Each is {from, to, name, person, likelihood}; `size` is the person's own number of records. `silent` is the likelihood
 * for somebody with too few records to mark anything; null where everybody's answer counts. */
export function possibilities(question, { window, value }, size) {
  const view = lensView(question);
  const log = channelView(question, view).log(value);
  const logOf = (person) => log(question.lens.reading(person, window));
  const bars = thinned(view.possible(window, size)).map((bar) => ({ ...bar, log: logOf(bar.person) }));
  const silent = view.silent && logOf(view.silent);
  const largest = bars.reduce((most, bar) => Math.max(most, bar.log), silent ?? Number.NEGATIVE_INFINITY);
  return {
    bars: bars.map((bar) => ({ ...bar, likelihood: Math.exp(bar.log - largest) })),
    silent: silent === null ? null : Math.exp(silent - largest),
  };
}

/** At most so many bars: of neighbours, the middle one stands for all. */
function thinned(bars) {
  const size = Math.ceil(bars.length / MOST_BARS);
  if (size <= 1) return bars;
  return Array.from({ length: Math.ceil(bars.length / size) }, (_, index) => {
    const some = bars.slice(index * size, (index + 1) * size);
    return { ...some[some.length >> 1], from: some[0].from, to: some.at(-1).to };
  });
}
