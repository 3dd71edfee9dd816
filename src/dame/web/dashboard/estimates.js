// Estimates and their intervals, in words and drawn.

import { forestChart, intervalChart } from "../page/charts.js";
import { h } from "../page/dom.js";
import { asFineAs, percent, short } from "../page/words.js";

/** An estimate as a text, with as many digits as its error makes sensible. */
export function valueText({ estimate, standard_error: error }) {
  return asFineAs(estimate, error);
}

export function intervalText({ interval: [low, high], standard_error: error }) {
  return `${asFineAs(low, error)} to ${asFineAs(high, error)}`;
}

/** A large estimate with its interval and all that is to be said about it; `ends` are what the target lies within. */
export function estimateParts(found, ends, width) {
  const [low, high] = around(found, ends);
  const label = `The estimate ${valueText(found)} with its interval ${intervalText(found)}`;
  const wrong = found.failure_probability;
  return [
    h("p", { class: "big value", "data-value": found.estimate }, valueText(found)),
    h(
      "p",
      {},
      `${percent(found.level)} interval: ${intervalText(found)}. Standard error ${short(found.standard_error, 3)}.`,
    ),
    h("figure", {}, intervalChart({ width, low, high, value: found.estimate, interval: found.interval, label })),
    wrong > 1e-6
      ? h(
          "p",
          { class: "quiet" },
          `Chance that the study looked in the wrong window, judged from the votes: ${percent(wrong, 4)}.`,
        )
      : null,
    found.notes.map((note) => h("p", { class: "quiet" }, sentence(note))),
  ];
}

function sentence(note) {
  return `${note[0].toUpperCase()}${note.slice(1)}${/[.?!]$/.test(note) ? "" : "."}`;
}

/** The part of the range that is drawn: a few times the interval, so that one can see it. */
function around({ estimate, interval: [low, high] }, [least, most]) {
  const reach = 2 * Math.max(high - estimate, estimate - low) || (most - least) / 2;
  return [Math.max(estimate - reach, least), Math.min(estimate + reach, most)];
}

/** Estimates, {name, found} each, below each other on one axis; `zero` marks the place of no difference. */
export function forest(rows, width, zero = false) {
  const ends = rows.flatMap(({ found }) => found.interval).concat(zero ? [0] : []);
  const [least, most] = [Math.min(...ends), Math.max(...ends)];
  const room = (most - least) / 16 || 1;
  const drawn = rows.map(({ name, found }) => ({
    name,
    value: found.estimate,
    interval: found.interval,
    text: `${valueText(found)} (${intervalText(found)})`,
  }));
  const label = drawn.map(({ name, text }) => `${name}: ${text}`).join("; ");
  return h("figure", {}, forestChart({ width, low: least - room, high: most + room, rows: drawn, zero, label }));
}
