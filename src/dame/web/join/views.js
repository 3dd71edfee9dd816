// What the participant sees of the question, of her numbers and of her report.

import { fromHex, toInteger } from "../device/bytes.js";
import { reportBits, reportBytes, TAG_BYTES } from "../device/reports.js";
import { barChart, widthOf } from "../page/charts.js";
import { byId, fill, fillFacts, h, show } from "../page/dom.js";
import { count, percent, plural, short } from "../page/words.js";
import { viewsOf } from "./channels.js";
import { asked, meant, possibilities, said } from "./meaning.js";
import { statisticView } from "./statistics.js";
import { targetWords } from "./targets.js";

const MOST_BITS = 256;
const MOST_BAD = 8;
const WEAK = 3; // an α beyond which she has to say that she accepts it

// --- step 1

/** What is asked, what it costs, and what was checked. */
export function showTerms(terms, question) {
  byId("title").textContent = terms.title;
  document.title = `${terms.title} · DAME`;
  byId("lead").textContent = "You are invited to help find something out without telling anybody your records.";
  byId("asked").textContent = question ? asked(question) : "Your question is not there yet.";
  fill(byId("why"), reasons(terms));
  const { bounds } = statisticView(terms.statistic);
  showAbout(terms.about);
  fillFacts(byId("facts"), [
    ...(terms.statistic.column ? [["Your column", terms.statistic.column]] : []),
    ...(bounds ? [["Bounds", bounds.map((bound) => short(bound, 6)).join(" to ")]] : []),
    ["Privacy budget α", short(terms.alpha, 4)],
    ["You send, once", question ? plural(reportBits(question), "bit") : "a few bits"],
    ["Your round", `${terms.round + 1} of ${terms.rounds}`],
    ...(terms.least > 0 ? [["It waits for", `at least ${plural(terms.least, "report")}`]] : []),
    ...(terms.groups ? [[`Your ${terms.groups}`, terms.group ?? "as invited"]] : []),
  ]);
  const factor = Math.exp(terms.alpha);
  byId("means").textContent =
    `Whoever sees your report can be at most ${short(factor, 3)} times (e^α) more sure of anything about you than before, ` +
    "however many records you have, and whatever else she knows. A suspicion of 50\u202f% becomes at most " +
    `${percentAfter(factor)}.${terms.alpha > WEAK ? " That is weak protection: think twice." : ""}`;
  fill(byId("odds"), odds(factor));
  byId("example").textContent =
    "So somebody who held a thing about you for as likely as not can never be surer of it than the second bar, even after " +
    "seeing all that you send.";
}

/** Who asks, why, and whom to write to. */
function showAbout({ asker, purpose, contact }) {
  const said = [
    ["Who asks", asker],
    ["Why", purpose],
    ["Questions to", contact],
  ].filter(([, value]) => value);
  fillFacts(byId("about"), said);
  show(byId("about"), said.length > 0);
  show(byId("about-nobody"), !asker);
}

/** What she agrees to before anything is drawn. */
export function showAgreement({ alpha, about }, question) {
  byId("consent").textContent = about.consent;
  show(byId("consent"), about.consent !== "");
  byId("agreement-text").textContent =
    `If you agree, your device draws your report with random coins, once, and sends it at once: ` +
    `${plural(reportBits(question), "bit")}. You see afterwards what left. You are not shown it first, because whoever ` +
    "looks at the report and then decides whether to send it tells more than the report does.";
  show(byId("weak-field"), alpha > WEAK);
  byId("weak-text").textContent =
    `I accept a budget of α = ${short(alpha, 4)}, although a suspicion of 50\u202f% about me can become ` +
    `${percentAfter(Math.exp(alpha))}.`;
  byId("drawing").textContent = "";
}

function percentAfter(factor) {
  const after = factor / (1 + factor);
  return percent(after, after > 0.995 ? 2 : after > 0.9 ? 1 : 0);
}

/** Why she is asked for this and for nothing else, and for which group she is counted. */
function reasons({ wanted, own, statistic, groups, group }) {
  const only = `You are asked only ${statisticView(statistic).only}.`;
  const kinds = own.machines.length;
  const parts = kinds > 1 ? `It takes ${kinds} kinds of answers from different people to tell; yours is one of them.` : "";
  return [
    ...(wanted.length > 1 ? oneOfMany(wanted, own, only, parts) : [aloneWords(own, parts && `${parts} ${only}`)]),
    groups ? h("p", { id: "counted" }, counted(groups, group)) : null,
  ];
}

function aloneWords(own, more) {
  return h("p", {}, `This study wants to know ${targetWords(own)}. ${more}`.trim());
}

function oneOfMany(wanted, own, only, parts) {
  const item = (target) => (target === own ? h("strong", {}, targetWords(target), ": this is yours") : targetWords(target));
  return [
    h("p", {}, `This study wants to know ${wanted.length} things:`),
    h(
      "ul",
      {},
      wanted.map((target) => h("li", {}, item(target))),
    ),
    h(
      "p",
      {},
      `Each person is asked for one of them, so that her whole privacy budget serves one answer. ${only} ${parts} Which ` +
        "one it is follows from a public hash of the study and of your invitation’s token. Whoever made the invitation drew " +
        "the token, and could have chosen with it; your records had no part in it.",
    ),
  ];
}

function counted(groups, group) {
  const whose = group === null ? `the ${groups} that your invitation was made for` : `your ${groups}: “${group}”`;
  return (
    `Your answer is counted for ${whose}. Whoever invited you knows this; it is no part of your report, and the result is ` +
    "told for each group."
  );
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
export function showChecked(terms, question, log) {
  show(byId("checks"));
  fill(
    byId("checked"),
    h("li", {}, "The question is signed with the key that your invitation names: ", h("code", {}, terms.key)),
    h("li", {}, "The plan of the study is the one that your invitation names: ", h("code", {}, terms.planId)),
    h("li", {}, "The question has the identity ", h("code", {}, question.id)),
    h(
      "li",
      {},
      "Plan and question stand in the public log of the service, and nothing else in their place. The log has " +
        `${plural(log.size, "entry", "entries")}, whoever else is asked sees the same ones if hers has this hash at its end: `,
      h("code", { id: "log-head" }, log.head),
    ),
    h("li", {}, `Its privacy loss, computed here in exact arithmetic, is at most α = ${question.alpha}.`),
    h(
      "li",
      {},
      "Your round follows from a public hash of the study and your token. Whoever made your invitation drew the token, and " +
        "could have chosen your round with it; your report is as private in any round.",
    ),
  );
}

// --- step 2

/** What was read: how many values, what they come to, which lines are no numbers, what is out of bounds. */
export function showRead({ values, bad, empty }, statistic, { leaveOut, where }) {
  const [first, ...rest] = values.length ? statisticView(statistic).read(values) : [];
  const some = values.slice(0, 6).map((value) => (typeof value === "number" ? short(value, 6) : value.slice(0, 20)));
  fill(
    byId("read"),
    where ? h("p", { class: "quiet" }, where) : null,
    first ? h("p", {}, h("strong", {}, first), ` (${some.join(" · ")}${values.length > 6 ? " …" : ""})`) : null,
    rest.filter((text) => text).map((text) => h("p", {}, text)),
    empty ? h("p", { class: "quiet" }, emptyWords(empty)) : null,
    bad.length ? complaint(bad, leaveOut) : null,
  );
}

function emptyWords(empty) {
  return `${plural(empty, "line has", "lines have")} nothing there and ${empty === 1 ? "does" : "do"} not count.`;
}

/** What it means to have no such records: said before anything is drawn or sent. */
export function showAbsent(statistic) {
  const { records } = statisticView(statistic);
  fill(
    byId("read"),
    h(
      "p",
      {},
      h("strong", {}, `You have no ${records}. `),
      "You send a report all the same. Your device draws it with the same coins as everybody’s, as for somebody with one " +
        "record in the middle of the bounds: whoever sees it cannot tell that you have none.",
    ),
  );
}

function complaint(bad, leaveOut) {
  const places = bad.slice(0, MOST_BAD).map(({ line, text }) => `line ${count(line)} (“${text.slice(0, 30)}”)`);
  const more = bad.length > MOST_BAD ? ` and ${plural(bad.length - MOST_BAD, "more line")}` : "";
  const start = leaveOut ? "Left out" : `No ${bad.length === 1 ? "number" : "numbers"}`;
  return h("p", { class: leaveOut ? "quiet" : "error" }, `${start}: ${places.join(", ")}${more}.`);
}

// --- step 3

/** The report in bits, in bytes and in what it could mean. `person` is null after the page was opened again. */
export function showReport(question, report, hex, person) {
  const { lens, channel } = viewsOf(question);
  byId("report-text").textContent =
    `${said(question, report)} Nothing else leaves: not your records, not their average, not how many there are.`;
  fill(byId("bits"), channel.showsBits ? bitList(channel, hex, reportBits(question), question.lens.windowBits) : null);
  const tag = 2 * TAG_BYTES;
  fill(byId("bytes"), pairs(hex.slice(0, tag)), " ", h("b", {}, pairs(hex.slice(tag))));
  byId("send").textContent = `Send these ${reportBytes(question)} bytes again`;
  drawMeaning(question, report, person, lens);
  byId("once").textContent =
    "This report was drawn once and is kept in this browser; sending it again sends the same bytes. It cannot be drawn again, " +
    "because fresh coins would wash out the noise.";
}

function bitList(channel, hex, bits, windowBits) {
  const code = toInteger(fromHex("report", hex).slice(TAG_BYTES).reverse());
  const own = bits - windowBits; // the bits of the answer come first
  const shown = Array.from({ length: Math.min(bits, MOST_BITS) }, (_, bit) => {
    const one = (code >> BigInt(bit)) & 1n;
    const kind = [one ? "one" : "", bit < own ? "" : "window"].filter((name) => name).join(" ");
    return h("li", { class: kind || null, title: bit < own ? channel.bitName(bit) : "the window" }, one ? "1" : "0");
  });
  const [first, second] = [0, 1].map((bit) => (bit < own ? channel.bitName(bit) : null));
  return [
    h("ol", { class: bits <= 8 ? "bits few" : "bits", "aria-label": "The bits of your report" }, shown),
    second && h("p", { class: "quiet" }, `From left to right: ${first}, ${second}, and so on.`),
    windowBits > 0 && h("p", { class: "quiet", id: "parts" }, parts(own, windowBits)),
    bits > MOST_BITS && h("p", { class: "quiet" }, `… and ${count(bits - MOST_BITS)} more, as the bytes below say.`),
  ];
}

/** Which bits are the answer, and which the window. */
function parts(own, windowBits) {
  const answer = own === 1 ? "The first bit is your answer" : `The first ${count(own)} bits are your answer`;
  const window = windowBits === 1 ? "the last one, dashed, names" : `the last ${count(windowBits)}, dashed, name`;
  return `${answer}; ${window} the window, which fair coins drew before your records were looked at.`;
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
  const own = person && lens.own(person, report.window);
  const isOwn = ({ from, to }) => own !== null && from <= own && (own < to || to >= high);
  const bars = found.bars.map((bar) => ({ ...bar, height: bar.likelihood, chosen: isOwn(bar) }));
  const label = `How likely this report is for each possible ${lens.what}`;
  const yours = own === null ? "" : " The coloured bar is yours, which only this page knows.";
  const place = byId("meaning");
  const draw = () => {
    const chart = barChart({ width: widthOf(place), low, high, bars, guides: [0, 0.5, 1], label });
    fill(place, chart, h("figcaption", {}, `${lens.caption(person, report.window)}${yours}`));
  };
  draw();
  addEventListener("resize", draw);
}
