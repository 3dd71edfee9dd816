// What an administrator sees of a study.

import { barChart, grouped, intervalChart, widthOf } from "../page/charts.js";
import { byId, fill, fillFacts, h, show } from "../page/dom.js";
import { asFineAs, count, moment, percent, plural, range, short } from "../page/words.js";

const REASONS = {
  "unknown-token": "unknown token",
  conflict: "another report for the same token",
  "wrong-round": "report of another round",
  "too-early": "before the round was open",
  "too-late": "after the round was closed",
  oversized: "too large",
  malformed: "not a report of the question",
};
const MOST_BARS = 200;
const STATES = { waiting: "waiting", open: "open", closed: "closed", running: "running", finished: "finished" };

/** Everything of a status; the forms beside it keep their place and focus. */
export function showStatus(status) {
  showEstimate(status);
  fill(
    byId("rounds"),
    status.rounds.map((round) => roundItem(round, status)),
  );
  showVotes(status);
  showRejected(status.rejected);
  showFacts(status);
  const open = status.rounds.find((round) => round.state === "open");
  byId("close").disabled = !open;
  byId("close").textContent = open ? `Close round ${open.round + 1}` : "No round is open";
}

// --- the estimate

function showEstimate(status) {
  const { estimate, bounds } = status;
  if (!estimate) return fill(byId("estimate"), h("p", { class: "quiet" }, waiting(status)));
  const [low, high] = estimate.interval;
  const fine = (value) => asFineAs(value, estimate.standard_error);
  const range = `${fine(low)} to ${fine(high)}`;
  const place = byId("estimate");
  return fill(
    place,
    h("p", { class: "big", id: "value", "data-value": estimate.estimate }, fine(estimate.estimate)),
    h("p", {}, `${percent(estimate.level)} interval: ${range}. Standard error ${short(estimate.standard_error, 3)}.`),
    h(
      "figure",
      {},
      intervalChart({
        width: widthOf(place),
        ...around(estimate, bounds),
        value: estimate.estimate,
        interval: estimate.interval,
        label: `The estimate ${fine(estimate.estimate)} with its interval ${range}`,
      }),
    ),
    estimate.failure_probability > 1e-6
      ? h(
          "p",
          { class: "quiet" },
          `Chance that the study looked in the wrong window, judged from the votes: ${percent(estimate.failure_probability, 4)}.`,
        )
      : null,
    estimate.notes.map((note) => h("p", { class: "quiet" }, note)),
  );
}

/** The part of the bounds that is drawn: a few times the interval, so that one can see it. */
function around({ estimate, interval: [low, high] }, bounds) {
  const reach = 2 * Math.max(high - estimate, estimate - low) || (bounds[1] - bounds[0]) / 2;
  return { low: Math.max(estimate - reach, bounds[0]), high: Math.min(estimate + reach, bounds[1]) };
}

function waiting({ rounds }) {
  const open = rounds.find((round) => round.state === "open");
  if (!open) return "No round is open.";
  const left = rounds.length - open.round - 1;
  return `Round ${open.round + 1} is collecting. The average follows when it ${left ? `and ${left === 1 ? "the last one" : `the ${count(left)} after it`} are` : "is"} closed.`;
}

// --- rounds

function roundItem(round, { bounds }) {
  const goal = round.close_at_count ?? Math.round(round.expected);
  const label = `${count(round.reports)} of ${count(goal)} reports${round.close_at_count ? ", then it closes by itself" : " expected"}`;
  const window = round.window;
  return h(
    "li",
    { "data-round": round.round, "data-reports": round.reports, "data-state": round.state },
    h(
      "div",
      { class: "head" },
      h("h3", {}, `${round.round + 1}. ${round.name}`),
      h("span", { class: `badge ${round.state}` }, STATES[round.state] ?? round.state),
    ),
    h("progress", {
      max: Math.max(goal, round.reports, 1),
      value: round.reports,
      "aria-label": `Round ${round.round + 1}: ${label}`,
    }),
    h("div", { class: "quiet" }, label),
    window
      ? h(
          "div",
          { class: "quiet" },
          `looks around ${short(window.centre)}, from ${range(Math.max(window.low, bounds[0]), Math.min(window.high, bounds[1]))}`,
        )
      : null,
    times(round).map((text) => h("div", { class: "quiet" }, text)),
  );
}

function times({ state, opened_at: opened, closed_at: closed, deadline }) {
  if (closed) return [`closed ${moment(closed)}`];
  const since = state === "open" && opened ? [`open since ${moment(opened)}`] : [];
  return deadline ? [...since, `closes by itself on ${moment(deadline)}`] : since;
}

// --- votes

function showVotes({ rounds, bounds }) {
  const voted = rounds.filter((round) => round.histogram);
  const place = byId("histograms");
  show(byId("votes"), voted.length > 0);
  fill(
    place,
    voted.map((round) => histogram(round, bounds, widthOf(place))),
  );
}

function histogram(round, [low, high], width) {
  const votes = round.histogram;
  const all = votes.shares.map((share, index) => bar(share, votes.edges[index], votes.edges[index + 1], votes.chosen));
  const bars = grouped(all, MOST_BARS, (some) => ({
    height: some.reduce((sum, { height }) => sum + height, 0),
    chosen: some.some(({ chosen }) => chosen),
  }));
  const whisker = votes.standard_error * Math.sqrt(Math.ceil(all.length / bars.length));
  return h(
    "figure",
    {},
    barChart({
      width,
      low,
      high,
      bars,
      whisker,
      guides: guidesFor(bars.map((one) => one.height)),
      label: `Votes of round ${round.round + 1}; chosen: ${range(...votes.chosen)}`,
    }),
    h("figcaption", {}, caption(round)),
    h("details", {}, h("summary", {}, "As a table"), table(bars)),
  );
}

function caption({ round, name, histogram: votes, reports }) {
  const people = plural(reports, "person", "people");
  return (
    `Round ${round + 1} (${name}): where the averages of ${people} lie, with the noise of the reports removed. ` +
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

function table(bars) {
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
    { class: "scroll", tabindex: 0, role: "region", "aria-label": "Votes as a table" },
    h("table", {}, h("thead", {}, head), h("tbody", {}, rows)),
  );
}

// --- beside

function showRejected(rejected) {
  const found = Object.entries(rejected).filter(([, number]) => number > 0);
  if (!found.length) return fill(byId("rejected"), h("p", { class: "quiet" }, "None so far."));
  const rows = found.map(([reason, number]) =>
    h(
      "tr",
      { "data-reason": reason },
      h("th", { scope: "row" }, REASONS[reason] ?? reason),
      h("td", { class: "number" }, count(number)),
    ),
  );
  return fill(byId("rejected"), h("table", {}, h("tbody", {}, rows)));
}

function showFacts(status) {
  fillFacts(byId("facts"), [
    ["State", STATES[status.state] ?? status.state],
    ["Protocol", status.protocol],
    ["Privacy budget α", short(status.alpha)],
    ["Bounds", `${short(status.bounds[0], 6)} to ${short(status.bounds[1], 6)}`],
    ["People planned", count(status.users_planned)],
    ["Invited", count(status.invited)],
  ]);
  byId("shift").textContent =
    `If 1 % of the people were malicious, they could move the average by up to ${short(status.shift_by_1_percent, 3)}.`;
}
