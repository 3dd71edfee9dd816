// Where people are: the cumulative curve with its band and quantiles, and the histogram, drawn and as a table.

import { curveChart, rangeBars } from "../page/charts.js";
import { h } from "../page/dom.js";
import { percent, range, short } from "../page/words.js";

const BARS = 16;

/** The drawings of an estimate that tells a distribution; nothing for any other. `counted` says whose it is. */
export function curveParts(found, { counted, scale, name }, width) {
  if (!found.edges) return [];
  const bars = histogramOf(found, scale);
  const values = found.values ?? [];
  const told = values.map((one) => `${percent(one.at)} below ${short(one.estimate)} (${range(...one.interval)})`);
  const level = percent(found.level);
  return [
    h(
      "figure",
      { class: "curve" },
      curveChart({ width, scale, ...found, values, label: `Distribution of ${counted}: ${told.join("; ")}` }),
      h(
        "figcaption",
        {},
        `The share of ${counted} at or below each point. The band holds the whole true curve with a chance of ${level}` +
          `${values.length ? "; diamonds are quantiles, their lines intervals" : ""}.`,
      ),
    ),
    h(
      "figure",
      { class: "shares" },
      rangeBars({ width, scale, bars, label: `Histogram of ${counted}` }),
      h("figcaption", {}, `Histogram of ${counted}; thin lines are what the band allows each bar.`),
      h("details", { "data-curve": name }, h("summary", {}, "As a table"), table(bars, counted)),
    ),
  ];
}

/** Bars of one width on the scale, from the curve between its edges. */
function histogramOf({ edges, cdf, low, high }, scale) {
  const [first, last] = [edges[0], edges.at(-1)];
  const place = (part) => (scale === "log" ? first * (last / first) ** part : first + (last - first) * part);
  const at = (shares, index) => (index === 0 ? 0 : between(edges, shares, place(index / BARS)));
  return Array.from({ length: BARS }, (_, index) => ({
    from: place(index / BARS),
    to: place((index + 1) / BARS),
    height: at(cdf, index + 1) - at(cdf, index),
    least: Math.max(at(low, index + 1) - at(high, index), 0),
    most: Math.min(at(high, index + 1) - at(low, index), 1),
  }));
}

function between(edges, shares, point) {
  const next = edges.findIndex((edge) => edge >= point);
  if (next <= 0) return next === 0 ? shares[0] : shares.at(-1);
  const part = (point - edges[next - 1]) / (edges[next] - edges[next - 1]);
  return shares[next - 1] + part * (shares[next] - shares[next - 1]);
}

function table(bars, counted) {
  const rows = bars.map((one) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, range(one.from, one.to)),
      h("td", { class: "number" }, percent(one.height, 1)),
      h("td", { class: "number" }, `${percent(one.least, 1)} to ${percent(one.most, 1)}`),
    ),
  );
  const head = h(
    "tr",
    {},
    h("th", { scope: "col" }, "From, to"),
    h("th", { scope: "col", class: "number" }, "Share"),
    h("th", { scope: "col", class: "number" }, "Within the band"),
  );
  return h(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": `Histogram of ${counted} as a table` },
    h("table", {}, h("thead", {}, head), h("tbody", {}, rows)),
  );
}
