// Drawings by script. They are drawn as wide as their place is, so that their letters keep their size on a phone.

import { s } from "./dom.js";
import { percent, range, short } from "./words.js";

const MARGIN = { left: 44, right: 12, top: 14, bottom: 30 };

/** How wide a drawing in this place may be. */
export function widthOf(place) {
  return Math.max(Math.round(place.clientWidth), 240);
}

/** Bars over an axis in the study's units; each is {from, to, height, chosen, name}, by default named by its ends.
 *
 * `whisker` is a standard error that is drawn on every bar, `guides` are heights that get a line and their name. */
export function barChart({ width, height = 230, low, high, bars, whisker = 0, guides, label }) {
  const tallest = Math.max(...bars.map((bar) => bar.height + whisker), ...guides);
  const lowest = Math.min(0, ...bars.map((bar) => bar.height - whisker));
  const x = scale(low, high, MARGIN.left, width - MARGIN.right);
  const y = scale(lowest, tallest, height - MARGIN.bottom, MARGIN.top);
  return s(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label },
    guides.map((at) => guide(at, y(at), width)),
    bars.map((bar) => drawnBar(bar, x, y)),
    whisker ? bars.map((bar) => error(bar, whisker, x, y)) : [],
    s("line", { class: "axis", x1: MARGIN.left, x2: width - MARGIN.right, y1: y(0), y2: y(0) }),
    ticks(low, high, width).map((at) => tick(at, x(at), height)),
  );
}

/** At most so many bars: neighbours become one, with what `joined` makes of them. */
export function grouped(bars, most, joined) {
  const size = Math.ceil(bars.length / most);
  if (size <= 1) return bars;
  return Array.from({ length: Math.ceil(bars.length / size) }, (_, index) => {
    const some = bars.slice(index * size, (index + 1) * size);
    return { ...joined(some), from: some[0].from, to: some.at(-1).to };
  });
}

function drawnBar(bar, x, y) {
  const [left, right] = [x(bar.from), x(bar.to)];
  const gap = right - left > 6 ? 1.5 : right - left > 2 ? 0.5 : 0;
  const [top, bottom] = [y(Math.max(bar.height, 0)), y(Math.min(bar.height, 0))];
  const shape = {
    class: bar.chosen ? "bar chosen" : "bar",
    x: left + gap,
    y: top,
    width: Math.max(right - left - 2 * gap, 0.5),
    height: Math.max(bottom - top, 0.5),
    rx: gap,
  };
  return s("rect", shape, s("title", {}, `${bar.name ?? range(bar.from, bar.to)}: ${percent(bar.height, 1)}`));
}

function error(bar, whisker, x, y) {
  const middle = (x(bar.from) + x(bar.to)) / 2;
  return s("line", {
    class: "whisker",
    x1: middle,
    x2: middle,
    y1: y(bar.height - whisker),
    y2: y(bar.height + whisker),
  });
}

function guide(at, height, width) {
  return s(
    "g",
    {},
    s("line", { class: "guide", x1: MARGIN.left, x2: width - MARGIN.right, y1: height, y2: height }),
    s("text", { x: MARGIN.left - 8, y: height + 4, "text-anchor": "end" }, percent(at)),
  );
}

/** Bars on a scale, each {from, to, height, least, most}: a thin line spans what its height may be. */
export function rangeBars({ width, height = 200, scale: kind, bars, label }) {
  const [low, high] = [bars[0].from, bars.at(-1).to];
  const tallest = 2 * Math.max(...bars.map((bar) => bar.height)) || 1; // the lines may be far longer
  const x = spread(kind, low, high, MARGIN.left, width - MARGIN.right);
  const y = scale(0, tallest, height - MARGIN.bottom, MARGIN.top);
  const line = ({ from, to, least, most }) => {
    const middle = (x(from) + x(to)) / 2;
    const [bottom, top] = [least, most].map((end) => y(Math.min(end, tallest)));
    return s("line", { class: "whisker", x1: middle, x2: middle, y1: bottom, y2: top });
  };
  return s(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label },
    [0, tallest / 2].map((at) => guide(at, y(at), width)),
    bars.map((bar) => drawnBar(bar, x, y)),
    bars.map(line),
    ticksOn(kind, low, high, width).map((at) => tick(at, x(at), height)),
  );
}

/** A cumulative curve with its band, over `edges`; `values` are quantiles, {at, estimate, interval} each. */
export function curveChart({ width, height = 240, scale: kind, edges, cdf, low, high, values, label }) {
  const [first, last] = [edges[0], edges.at(-1)];
  const x = spread(kind, first, last, MARGIN.left, width - MARGIN.right);
  const y = scale(0, 1, height - MARGIN.bottom, MARGIN.top);
  const points = (shares) => edges.map((edge, index) => `${x(edge).toFixed(1)},${y(shares[index]).toFixed(1)}`);
  const diamond = ({ at, estimate, interval: [from, to] }) => [
    s("line", { class: "quantile", x1: x(from), x2: x(to), y1: y(at), y2: y(at) }),
    s(
      "path",
      { class: "quantile", d: `M${x(estimate)} ${y(at) - 5}l5 5l-5 5l-5 -5z` },
      s("title", {}, `${percent(at)}: ${short(estimate)} (${range(from, to)})`),
    ),
  ];
  return s(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label },
    [0, 0.25, 0.5, 0.75, 1].map((at) => guide(at, y(at), width)),
    s("polygon", { class: "band", points: [...points(low), ...points(high).reverse()].join(" ") }),
    s("polyline", { class: "cdf", points: points(cdf).join(" ") }),
    values.flatMap(diamond),
    ticksOn(kind, first, last, width).map((at) => tick(at, x(at), height)),
  );
}

/** An estimate with its interval, on an axis from bound to bound. */
export function intervalChart({ width, low, high, value, interval, label }) {
  const height = 74;
  const x = scale(low, high, MARGIN.right, width - MARGIN.right);
  const [from, to] = interval.map((end) => x(Math.min(Math.max(end, low), high)));
  return s(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label },
    s("line", { class: "axis", x1: x(low), x2: x(high), y1: 30, y2: 30 }),
    s("line", { class: "span", x1: from, x2: to, y1: 30, y2: 30 }),
    s("circle", { class: "own", cx: x(value), cy: 30, r: 6 }),
    ticks(low, high, width).map((at) => tick(at, x(at), height - 8)),
  );
}

/** Several estimates with their intervals below each other, on one axis; a line stands at 0 where `zero` is true.
 *
 * `rows` are {name, value, interval, text}; names and texts stand above the lines, as wide as the drawing. */
export function forestChart({ width, low, high, rows, zero = false, label }) {
  const step = 46;
  const height = rows.length * step + 28;
  const x = scale(low, high, MARGIN.right, width - MARGIN.right);
  const bottom = rows.length * step + 4;
  const marked = zero && low < 0 && high > 0;
  const row = ({ name, value, interval, text }, index) => {
    const y = index * step + 34;
    const [from, to] = interval.map((end) => x(Math.min(Math.max(end, low), high)));
    return s(
      "g",
      {},
      marked ? s("line", { class: "zero", x1: x(0), x2: x(0), y1: y - 11, y2: y + 11 }) : null,
      s("text", { class: "strong", x: 0, y: y - 16 }, name),
      s("text", { x: width, y: y - 16, "text-anchor": "end" }, text),
      s("line", { class: "span", x1: from, x2: to, y1: y, y2: y }),
      s("circle", { class: "own", cx: x(value), cy: y, r: 5 }),
    );
  };
  return s(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label },
    s("line", { class: "axis", x1: x(low), x2: x(high), y1: bottom, y2: bottom }),
    rows.map(row),
    ticks(low, high, width).map((at) => tick(at, x(at), height + 4)),
  );
}

function tick(at, place, height) {
  return s("text", { x: place, y: height - 8, "text-anchor": "middle" }, short(at, 6));
}

/** A few round numbers between two ends, and no more than a drawing has room for. */
export function ticks(low, high, width) {
  const wanted = Math.min(Math.max(Math.floor(width / 90), 2), 8);
  const rough = (high - low) / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((times) => times * power).find((one) => one >= rough * 0.999);
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, index) => Number(((first + index) * step).toPrecision(12)));
}

/** Ticks of a scale: of "log", powers of ten, and where these are few, 2 and 5 times them. */
function ticksOn(kind, low, high, width) {
  if (kind !== "log") return ticks(low, high, width);
  const powers = (times) => {
    const all = Array.from({ length: 41 }, (_, index) => 10 ** (index - 20));
    return all.flatMap((power) => times.map((one) => one * power)).filter((at) => at >= low && at <= high);
  };
  const found = powers([1]);
  return found.length > 2 ? found : powers([1, 2, 5]);
}

/** A scale by its kind: "linear" or "log". */
function spread(kind, low, high, start, end) {
  if (kind !== "log") return scale(low, high, start, end);
  const inner = scale(Math.log(low), Math.log(high), start, end);
  return (value) => inner(Math.log(value));
}

function scale(low, high, start, end) {
  return (value) => start + ((value - low) / (high - low)) * (end - start);
}
