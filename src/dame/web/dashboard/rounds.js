// The rounds of a machine, how far they are, where they look, and what was voted in them.

import { barChart, grouped } from "../page/charts.js";
import { h } from "../page/dom.js";
import { count, moment, percent, plural, range, short } from "../page/words.js";

const MOST_BARS = 200;

/** An item for a round of a machine whose statistic lies within `ends`; `heading` is that of its name. */
export function roundItem(round, ends, heading) {
  const goal = round.close_at_count ?? Math.round(round.expected);
  const label = `${count(round.reports)} of ${count(goal)} reports${round.close_at_count ? ", then it closes by itself" : " expected"}`;
  return h(
    "li",
    { "data-slot": round.slot, "data-reports": round.reports, "data-state": round.state },
    h(
      "div",
      { class: "head" },
      h(heading, {}, `${round.slot + 1}. ${round.name}`),
      h("span", { class: `badge ${round.state}` }, round.state),
    ),
    h("progress", {
      max: Math.max(goal, round.reports, 1),
      value: round.reports,
      "aria-label": `Round ${round.slot + 1} of ${round.target}: ${label}`,
    }),
    h("div", { class: "quiet" }, label),
    round.window ? h("div", { class: "quiet" }, looks(round.window, ends)) : null,
    times(round).map((text) => h("div", { class: "quiet" }, text)),
  );
}

function looks({ centre, low, high }, ends) {
  return `looks around ${short(centre)}, from ${range(Math.max(low, ends[0]), Math.min(high, ends[1]))}`;
}

function times({ state, opened_at: opened, closed_at: closed, deadline }) {
  if (closed) return [`closed ${moment(closed)}`];
  const since = state === "open" && opened ? [`open since ${moment(opened)}`] : [];
  return deadline ? [...since, `closes by itself on ${moment(deadline)}`] : since;
}

/** The drawing of a round's votes, so wide, with a table beside it. */
export function histogram(round, [low, high], width) {
  const votes = round.histogram;
  const all = votes.shares.map((share, index) => bar(share, votes.edges[index], votes.edges[index + 1], votes.chosen));
  const bars = grouped(all, MOST_BARS, (some) => ({
    height: some.reduce((sum, { height }) => sum + height, 0),
    chosen: some.some(({ chosen }) => chosen),
  }));
  const whisker = votes.standard_error * Math.sqrt(Math.ceil(all.length / bars.length));
  const guides = guidesFor(bars.map((one) => one.height));
  const label = `Votes of round ${round.slot + 1}, ${round.target}; chosen: ${range(...votes.chosen)}`;
  return h(
    "figure",
    { class: "votes" },
    barChart({ width, low, high, bars, whisker, guides, label }),
    h("figcaption", {}, caption(round)),
    h(
      "details",
      { "data-slot": round.slot },
      h("summary", {}, "As a table"),
      table(bars, `Votes of round ${round.slot + 1}, ${round.target} as a table`),
    ),
  );
}

function caption({ slot, name, histogram: votes, reports }) {
  const people = plural(reports, "person", "people");
  return (
    `Round ${slot + 1} (${name}): where the averages of ${people} lie, with the noise of the reports removed. ` +
    `Thin lines are standard errors. Chosen: ${range(...votes.chosen)}.`
  );
}

function bar(share, from, to, [first, last]) {
  const middle = (from + to) / 2;
  const chosen = first <= middle && middle <= last;
  return { from, to, height: share, chosen };
}

function guidesFor(shares) {
  const top = Math.max(...shares, 0.1);
  return top > 0.5 ? [0, 0.5, 1].filter((at) => at <= Math.max(top * 1.2, 0.5)) : [0, top > 0.2 ? 0.2 : 0.1];
}

function table(bars, label) {
  const rows = bars.map((one) =>
    h(
      "tr",
      {},
      h("td", {}, range(one.from, one.to)),
      h("td", { class: "number" }, percent(one.height, 1)),
      h("td", {}, one.chosen ? "yes" : ""),
    ),
  );
  const head = h(
    "tr",
    {},
    h("th", { scope: "col" }, "Average"),
    h("th", { scope: "col", class: "number" }, "People"),
    h("th", { scope: "col" }, "Chosen"),
  );
  return h(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": label },
    h("table", {}, h("thead", {}, head), h("tbody", {}, rows)),
  );
}
