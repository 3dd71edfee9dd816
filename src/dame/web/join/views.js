// What the participant sees of the question, of her numbers and of her report.

import { ownBin } from "../device/answer.js";
import { fromHex } from "../device/bytes.js";
import { WORD } from "../device/exact.js";
import { isVote } from "../device/questions.js";
import { reportBits, reportBytes, TAG_BYTES } from "../device/reports.js";
import { barChart, grouped, widthOf } from "../page/charts.js";
import { byId, fill, h, show } from "../page/dom.js";
import { count, percent, plural, short } from "../page/words.js";
import { bins, bitChance, bordersOf, outer, placeChance, placesOf, possibilities } from "./meaning.js";
import { outside } from "./readings.js";

const MOST_BITS = 256;
const MOST_BARS = 200;
const MOST_BAD = 8;
const WEAK = 10; // a factor e^α beyond which the page says so

// --- step 1

/** What is asked, what it costs, and what was checked. */
export function showTerms(terms, question) {
  byId("title").textContent = terms.title;
  document.title = `${terms.title} · DAME`;
  byId("lead").textContent = "You are invited to help find an average without telling anybody your numbers.";
  byId("asked").textContent = question ? inWords(question) : "Your question is not there yet.";
  fill(byId("facts"), facts(terms, question));
  const factor = Math.exp(terms.alpha);
  byId("means").textContent =
    `Whoever sees your report can be at most ${short(factor, 3)} times more sure of anything about you than before, ` +
    `however many numbers you have, and whatever else she knows.${factor > WEAK ? " That is weak protection: think twice." : ""}`;
  fill(byId("odds"), odds(factor));
  byId("example").textContent =
    "So somebody who held a thing about you for as likely as not can never be surer of it than the second bar, even after " +
    "seeing all that you send.";
}

function facts(terms, question) {
  const rounds = terms.shares.length;
  return [
    fact("Bounds", `${short(terms.low, 6)} to ${short(terms.high, 6)}`),
    fact("Privacy budget α", short(terms.alpha, 4)),
    fact("You send, once", question ? plural(reportBits(question), "bit") : "a few bits"),
    fact("Your round", `${terms.round + 1} of ${rounds}`),
  ];
}

function fact(name, value) {
  return h("div", {}, h("dt", {}, name), h("dd", {}, value));
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

/** The question as one would ask a person. */
export function inWords(question) {
  if (question.kind === "size-vote") {
    return (
      `How many numbers have you: 1, 2 – 3, 4 – 7, and so on? Your device marks one of ${plural(Number(question.bins), "class", "classes")}, and ` +
      "then flips a coin for every class, so that each mark may be true or false. What your numbers are plays no part."
    );
  }
  if (question.kind === "place-vote") return placesInWords(question);
  if (question.kind === "part-measure") return partsInWords(question);
  if (question.kind === "vote") {
    const few =
      question.min_size > 1n
        ? ` With fewer than ${plural(Number(question.min_size), "number")} your device votes for none of them.`
        : "";
    return (
      `In which of ${plural(Number(question.bins), "range")} does the average of your numbers lie? Your device marks it, and then ` +
      `flips a coin for every range, so that each mark may be true or false.${few}`
    );
  }
  if (question.noise.kind === "laplace") {
    return "Where between the bounds is the average of your numbers? Your device adds random noise before it answers.";
  }
  const centre = short(outer(question, question.centre), 4);
  const wrong = short((100 * Number(question.noise.low)) / Number(WORD), 2);
  return (
    `Is the average of your numbers rather above or rather below ${centre}? Your device answers with a coin that your average ` +
    `loads: even for the lowest averages, ${wrong} of 100 answers say “above”, on purpose.`
  );
}

function placesInWords(question) {
  const names = placeNames(question);
  const [own, other] = [question.code.yes, question.code.no].map((chance) => inHundred(Number(chance) / Number(WORD)));
  return (
    `Which of these ${names.length} places is the average of your numbers closest to: ${listed(names)}? Your device marks exactly ` +
    `one of them, drawn by chance: of 100 people whose average is at a place, about ${own} mark that place and about ${other} ` +
    `${names.length === 2 ? "the other one" : "each of the others"}, on purpose. An average between two places draws either, the nearer one more often.`
  );
}

function partsInWords(question) {
  const [low, high] = [question.noise.low, question.noise.high].map((chance) => inHundred(Number(chance) / Number(WORD)));
  return (
    `Where in one part of the range is the average of your numbers? Your device draws the part with fair coins: ${listed(partNames(question))}. ` +
    "Then it answers “high” or “low” with a coin that your average loads: of 100 people whose average is at the lower end of the part, " +
    `or below it, about ${low} say “high”, on purpose; at its upper end, or above it, about ${high}. How many numbers you have plays no part.`
  );
}

/** The parts in the study's units. */
function partNames(question) {
  const names = apart(bordersOf(question));
  return names.slice(1).map((name, index) => `${names[index]} to ${name}`);
}

function placeNames(question) {
  return apart(placesOf(question));
}

/** Places in the study's units, with as many digits as tell them apart. */
function apart(places) {
  const named = (digits) => places.map((place) => short(place, digits));
  const enough = [4, 6, 8, 10, 12, 14].find((digits) => new Set(named(digits)).size === places.length);
  return named(enough ?? 17);
}

function listed(names) {
  return `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
}

function inHundred(chance) {
  return short(100 * chance, chance < 0.1 ? 1 : 2);
}

/** The list of what the page has checked before it shows a question. */
export function showChecked(terms, question, invitation) {
  const key =
    invitation.key === null
      ? "the key that the service presented at your first visit"
      : "the key that your invitation names";
  show(byId("checks"));
  fill(
    byId("checked"),
    h("li", {}, `The question is signed with ${key}: `, h("code", {}, terms.key)),
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
  const clipped = outside(numbers, low, high);
  const inside = numbers.map((number) => Math.min(Math.max(number, low), high));
  const mean = inside.reduce((sum, number) => sum + number, 0) / numbers.length;
  const first = numbers
    .slice(0, 6)
    .map((number) => short(number, 6))
    .join(" · ");
  return [
    h(
      "p",
      {},
      h("strong", {}, `${plural(numbers.length, "number")}, average ${short(mean, 5)}`),
      ` (${first}${numbers.length > 6 ? " …" : ""})`,
    ),
    clipped
      ? h(
          "p",
          {},
          `${plural(clipped, "number lies", "numbers lie")} outside ${short(low, 6)} to ${short(high, 6)} and ${clipped === 1 ? "counts" : "count"} as the nearer bound.`,
        )
      : null,
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
export function showReport(question, value, hex, person) {
  const bits = reportBits(question);
  byId("report-text").textContent =
    `${sentence(question, value)} Nothing else leaves: not your numbers, not their average, not how many there are.`;
  fill(byId("bits"), question.noise?.kind === "laplace" ? null : bitList(question, value, bits));
  const tag = 2 * TAG_BYTES;
  fill(byId("bytes"), pairs(hex.slice(0, tag)), " ", h("b", {}, pairs(hex.slice(tag))));
  byId("send").textContent = `Send these ${reportBytes(question)} bytes`;
  drawMeaning(question, value, person);
  byId("once").textContent =
    "This report was drawn once and is kept in this browser; sending it again sends the same bytes. It cannot be drawn again, " +
    "because fresh coins would wash out the noise. Decide to send it or not for any reason but what the bits happen to be.";
}

function sentence(question, value) {
  if (question.kind === "place-vote")
    return `${plural(Number(question.bins), "bit")}, one for each place; exactly one of them is 1.`;
  if (isVote(question)) {
    const ones = value.toString(2).replaceAll("0", "").length;
    return `${plural(Number(question.bins), "bit")}, one for each range; ${count(ones)} of them ${ones === 1 ? "is" : "are"} 1.`;
  }
  if (question.noise.kind === "laplace")
    return `One noisy number: ${value} on a grid of ${count(question.noise.steps)} steps.`;
  if (question.kind === "part-measure") {
    const part = partNames(question)[Number(value >> 1n)];
    return `${plural(reportBits(question), "bit")}: the answer, and which of ${question.arms} parts fair coins chose for you (${part}).`;
  }
  return question.dither
    ? "Two bits: the answer, and which of two centres a fair coin chose for you."
    : "One single bit.";
}

function bitList(question, value, bits) {
  const names = bitNames(question);
  const shown = Array.from({ length: Math.min(bits, MOST_BITS) }, (_, index) => {
    const one = (value >> BigInt(index)) & 1n;
    return h("li", { class: one ? "one" : null, title: names[index] }, one ? "1" : "0");
  });
  const order = names.length > 1 ? h("p", { class: "quiet" }, `From left to right: ${inOrder(question, names)}.`) : null;
  const rest =
    bits > MOST_BITS
      ? h("p", { class: "quiet" }, `… and ${count(bits - MOST_BITS)} more, as the bytes below say.`)
      : null;
  return [
    h("ol", { class: bits <= 8 ? "bits few" : "bits", "aria-label": "The bits of your report" }, shown),
    order,
    rest,
  ];
}

/** What each bit of a vote stands for. */
function bitNames(question) {
  if (question.kind === "place-vote") return placeNames(question);
  return isVote(question) ? bins(question).map(inRange) : [];
}

function inOrder({ kind }, names) {
  return kind === "place-vote" ? names.join(", ") : `${names[0]}, ${names[1]}, and so on`;
}

function inRange({ from, to }) {
  return `${short(from)} to ${short(to)}`;
}

function pairs(hex) {
  return fromHex("bytes", hex).length > 96 ? `${hex.slice(0, 192)}…` : hex.replace(/..(?=.)/g, "$& ");
}

function drawMeaning(question, value, person) {
  const size = person?.size ?? 1;
  const { places, silent } = possibilities(question, value, size);
  const least = places.reduce((low, { likelihood }) => Math.min(low, likelihood), silent ?? 1);
  const what = question.kind === "size-vote" ? "class" : "average";
  byId("meaning-text").textContent =
    `${bitSentence(question, value, size)}Each bar is ${what === "class" ? "a class" : "an average"} that you might have; its height says how likely this very report would ` +
    `then be, compared with the ${what} that fits best. No ${what} is ruled out: the least likely has ${percent(least, 1)}, and ` +
    `α = ${short(question.alpha, 4)} allows none below ${percent(Math.exp(-question.alpha), 1)}.` +
    (silent === null ? "" : ` Somebody with too few numbers to vote has ${percent(silent, 1)}.`);
  const own = ownPlace(question, person);
  const place = byId("meaning");
  const draw = () =>
    fill(place, meaningChart(question, places, own, widthOf(place)), h("figcaption", {}, caption(question, person, own)));
  draw();
  addEventListener("resize", draw);
}

/** Where the person herself is on the chart; null where she is not on it. */
function ownPlace(question, person) {
  if (!person) return null;
  if (question.kind === "size-vote") return ownBin(question, person);
  return isVoter(question, person) ? outer(question, person.mean) : null;
}

function isVoter(question, { size }) {
  return question.kind !== "vote" || BigInt(size) >= question.min_size;
}

function meaningChart(question, places, own, width) {
  const sizes = question.kind === "size-vote";
  const [low, high] = sizes ? [0, places.length] : [question.low, question.high];
  const shown = sizes ? places.map((place, index) => ({ ...asBar(place), from: index, to: index + 1 })) : places.map(asBar);
  const bars = shown.map((place) => ({
    ...place,
    own: own !== null && place.from <= own && (own < place.to || place.to >= high),
  }));
  return barChart({
    width,
    low,
    high,
    bars: grouped(bars, MOST_BARS, (one, other) => Math.max(one, other)),
    guides: [0, 0.5, 1],
    label: `How likely this report is for each possible ${sizes ? "number of records" : "average"}`,
  });
}

function caption(question, person, own) {
  if (question.kind === "size-vote") {
    const yours = own === null ? "" : " The coloured bar is yours, which only this page knows.";
    return `Possible numbers of records: bar 0 is 1, and every further bar twice as many.${yours}`;
  }
  const yours = own === null ? "" : " The coloured bar is yours, which only this page knows.";
  if (question.kind === "place-vote" || question.kind === "part-measure")
    return `Possible averages; how many numbers there are plays no part.${yours}`;
  if (!person) return "Possible averages, for somebody with one number.";
  return `Possible averages, for somebody with as many numbers as you.${yours}`;
}

function asBar({ from, to, likelihood }) {
  return { from, to, height: likelihood, title: `${inRange({ from, to })}: ${percent(likelihood, 1)}` };
}

function bitSentence(question, value, size) {
  if (question.kind === "place-vote") return placeSentence(question, value);
  if (isVote(question) || question.noise.kind === "laplace") return "";
  const [lowest, highest] = [-1, 1].map((mean) => bitChance(question, value, { size, mean }));
  const bit = value & 1n;
  return (
    `Of 100 people with the lowest possible average, about ${Math.round(100 * lowest)} would send this same ${bit}; of 100 with the ` +
    `highest, about ${Math.round(100 * highest)}. `
  );
}

function placeSentence(question, value) {
  const names = placeNames(question);
  const marked = value.toString(2).length - 1;
  const at = (place) => inHundred(placeChance(question, value, { size: 1, mean: question.places[place] }));
  return (
    `Of 100 people with an average of ${names[marked]}, about ${at(marked)} would send this same report; of 100 at ` +
    `${names.length === 2 ? "the other place" : "any other of the places"}, about ${at(marked === 0 ? 1 : 0)}. `
  );
}
