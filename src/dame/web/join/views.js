// What the participant sees of the question, of her numbers and of her report.

import { fromHex, toInteger } from "../device/bytes.js";
import { reportBits, reportBytes, TAG_BYTES } from "../device/reports.js";
import { clamp } from "../device/exact.js";
import { barChart, widthOf } from "../page/charts.js";
import { byId, fill, fillFacts, h, show } from "../page/dom.js";
import { count, percent, plural, short } from "../page/words.js";
import { viewsOf } from "./channels.js";
import { asked, meant, possibilities, said } from "./meaning.js";

const MOST_BITS = 256;
const MOST_BAD = 8;
const WEAK = 10; // a factor e^α beyond which the page says so

// --- step 1

/** What is asked, what it costs, and what was checked. */
export function showTerms(terms, question) {
  byId("title").textContent = terms.title;
  document.title = `${terms.title} · DAME`;
  byId("lead").textContent = "You are invited to help find an average without telling anybody your numbers.";
  byId("asked").textContent = question ? asked(question) : "Your question is not there yet.";
  fillFacts(byId("facts"), [
    ["Bounds", `${short(terms.low, 6)} to ${short(terms.high, 6)}`],
    ["Privacy budget α", short(terms.alpha, 4)],
    ["You send, once", question ? plural(reportBits(question), "bit") : "a few bits"],
    ["Your round", `${terms.round + 1} of ${terms.shares.length}`],
  ]);
  const factor = Math.exp(terms.alpha);
  byId("means").textContent =
    `Whoever sees your report can be at most ${short(factor, 3)} times more sure of anything about you than before, ` +
    `however many numbers you have, and whatever else she knows.${factor > WEAK ? " That is weak protection: think twice." : ""}`;
  fill(byId("odds"), odds(factor));
  byId("example").textContent =
    "So somebody who held a thing about you for as likely as not can never be surer of it than the second bar, even after " +
    "seeing all that you send.";
}

function odds(factor) {
  const after = factor / (1 + factor);
  const bar = (name, share) => [
    h("span", {}, name),
    h("progress", { max: 1, value: share, "aria-label": `${name}: ${percent(share)}` }),
    h("span", {}, percent(share, after > 0.995 ? 1 : 0)),
  ];
  return h("div", { class: "odds" }, bar("before", 0.5), bar("at most after", after));
}

/** The list of what the page has checked before it shows a question. */
export function showChecked(terms, question, invitation) {
  const key = invitation.key ? "that your invitation names" : "that the service presented at your first visit";
  show(byId("checks"));
  fill(
    byId("checked"),
    h("li", {}, `The question is signed with the key ${key}: `, h("code", {}, terms.key)),
    h("li", {}, "The plan of the study has the identity ", h("code", {}, terms.planId)),
    h("li", {}, "The question has the identity ", h("code", {}, question.id)),
    h("li", {}, `Its privacy loss, computed here in exact arithmetic, is at most α = ${question.alpha}.`),
    h("li", {}, "Your round follows from a public hash of the study and your token; nobody chose it."),
  );
}

// --- step 2

/** What was read: how many numbers, their average, which lines are no numbers, what is out of bounds. */
export function showRead({ numbers, bad }, terms, leaveOut) {
  fill(byId("read"), numbers.length ? summary(numbers, terms) : null, bad.length ? complaint(bad, leaveOut) : null);
}

function summary(numbers, { low, high }) {
  const mean = numbers.reduce((sum, number) => sum + clamp(number, low, high), 0) / numbers.length;
  const some = numbers.slice(0, 6).map((number) => short(number, 6));
  const first = `${some.join(" · ")}${numbers.length > 6 ? " …" : ""}`;
  const clipped = numbers.filter((number) => number < low || number > high).length;
  const outside = `${plural(clipped, "number lies", "numbers lie")} outside ${short(low, 6)} to ${short(high, 6)}`;
  return [
    h("p", {}, h("strong", {}, `${plural(numbers.length, "number")}, average ${short(mean, 5)}`), ` (${first})`),
    clipped ? h("p", {}, `${outside} and ${clipped === 1 ? "counts" : "count"} as the nearer bound.`) : null,
  ];
}

function complaint(bad, leaveOut) {
  const places = bad
    .slice(0, MOST_BAD)
    .map(({ line, text }) => `line ${count(line)} (${text === "" ? "empty" : `“${text.slice(0, 30)}”`})`);
  const more = bad.length > MOST_BAD ? ` and ${plural(bad.length - MOST_BAD, "more line")}` : "";
  const start = leaveOut ? "Left out" : `No ${bad.length === 1 ? "number" : "numbers"}`;
  return h("p", { class: leaveOut ? "quiet" : "error" }, `${start}: ${places.join(", ")}${more}.`);
}

// --- step 3

/** The report in bits, in bytes and in what it could mean. `person` is null after the page was opened again. */
export function showReport(question, report, hex, person) {
  const { lens, channel } = viewsOf(question);
  byId("report-text").textContent =
    `${said(question, report)} Nothing else leaves: not your numbers, not their average, not how many there are.`;
  fill(byId("bits"), channel.showsBits ? bitList(channel, hex, reportBits(question)) : null);
  const tag = 2 * TAG_BYTES;
  fill(byId("bytes"), pairs(hex.slice(0, tag)), " ", h("b", {}, pairs(hex.slice(tag))));
  byId("send").textContent = `Send these ${reportBytes(question)} bytes`;
  drawMeaning(question, report, person, lens);
  byId("once").textContent =
    "This report was drawn once and is kept in this browser; sending it again sends the same bytes. It cannot be drawn again, " +
    "because fresh coins would wash out the noise. Decide to send it or not for any reason but what the bits happen to be.";
}

function bitList(channel, hex, bits) {
  const code = toInteger(fromHex("report", hex).slice(TAG_BYTES).reverse());
  const shown = Array.from({ length: Math.min(bits, MOST_BITS) }, (_, bit) => {
    const one = (code >> BigInt(bit)) & 1n;
    return h("li", { class: one ? "one" : null, title: channel.bitName(bit) }, one ? "1" : "0");
  });
  const [first, second] = [0, 1].map((bit) => channel.bitName(bit));
  return [
    h("ol", { class: bits <= 8 ? "bits few" : "bits", "aria-label": "The bits of your report" }, shown),
    second && h("p", { class: "quiet" }, `From left to right: ${first}, ${second}, and so on.`),
    bits > MOST_BITS && h("p", { class: "quiet" }, `… and ${count(bits - MOST_BITS)} more, as the bytes below say.`),
  ];
}

function pairs(hex) {
  return fromHex("bytes", hex).length > 96 ? `${hex.slice(0, 192)}…` : hex.replace(/..(?=.)/g, "$& ");
}

/** The drawing of the people who might have sent the report, and the words beside it. */
function drawMeaning(question, report, person, lens) {
  const size = person?.size ?? 1;
  const found = possibilities(question, report, size);
  byId("meaning-text").textContent = meant(question, report, size, found);
  const [low, high] = lens.axis;
  const own = person && lens.own(person);
  const isOwn = ({ from, to }) => own !== null && from <= own && (own < to || to >= high);
  const bars = found.bars.map((bar) => ({ ...bar, height: bar.likelihood, chosen: isOwn(bar) }));
  const label = `How likely this report is for each possible ${lens.what}`;
  const yours = own === null ? "" : " The coloured bar is yours, which only this page knows.";
  const place = byId("meaning");
  const draw = () => {
    const chart = barChart({ width: widthOf(place), low, high, bars, guides: [0, 0.5, 1], label });
    fill(place, chart, h("figcaption", {}, `${lens.caption(person)}${yours}`));
  };
  draw();
  addEventListener("resize", draw);
}
