// The page of a participant: check the invitation, read her records; when she agrees, draw one report and send it.

import { fromHex, toHex } from "./device/bytes.js";
import { decode, parse, participantName, questionOf, respond, summarise } from "./device/index.js";
import { checkedQuestion, checkPinned, invitationOf, must, pinOf, Refusal, termsOf } from "./join/invitation.js";
import { checkLog, fetchedLog } from "./join/log.js";
import { askToStay, openMemory } from "./join/memory.js";
import { hearing, paced } from "./join/pace.js";
import { askForRecords } from "./join/records.js";
import { hasPlace } from "./join/statistics.js";
import { showAgreement, showChecked, showReport, showTerms } from "./join/views.js";
import { ask, pathOf } from "./page/api.js";
import { byId, guardSkipLink, hide, show } from "./page/dom.js";
import { moment, plural, short } from "./page/words.js";

const PAUSES = [1000, 2000, 4000];

let memory;
let invitation;
let terms;

async function begin() {
  hide("refusal", "terms", "numbers", "agreement", "report", "done");
  try {
    invitation = invitationOf(location.hash);
    memory ??= await openMemory();
    await meet();
  } catch (problem) {
    refuse(problem);
  }
}

async function meet() {
  terms = termsOf(parse(await ask(pathOf(invitation.study))), invitation);
  const stored = await memory.enrol(pinOf(terms));
  checkPinned(stored, terms);
  showTerms(terms, null);
  must(
    !stored.report || stored.report.participant === participantName(invitation.token),
    "Somebody has already taken part in this study with this browser, by another invitation. Each person answers once: " +
      "please use your own device.",
  );
  if (stored.sent) {
    present(stored.report, null);
    return finish(stored);
  }
  show(byId("terms"));
  if (!stored.report) await checkUnused();
  const question = await askedNow(stored.report);
  if (!stored.report) return offer(question, await comparedLog(question));
  const same = stored.report.id === question.id;
  must(same, "The study asks you a second question. You have answered one, and one is all that you agreed to.");
  return deliver(stored.report, null); // she agreed before it was drawn: it only has to arrive
}

/** Her question. A round that is over has none any more; a report that was drawn in time may still be on its way. */
async function askedNow(report) {
  try {
    const sent = parse(await hearing(ask(pathOf(terms.study, "rounds", terms.slot, "question"))));
    const question = await checkedQuestion(sent, terms);
    showTerms(terms, question);
    return question;
  } catch (problem) {
    if (!report || problem.reason !== "too-late") throw problem;
    return questionOf(parse(report.question));
  }
}

/** Refuses an invitation that somebody has answered with: in another browser, or in a window that forgot it. */
async function checkUnused() {
  mustBeUnused(JSON.parse(await hearing(ask(pathOf(terms.study, "invitation"), { secret: invitation.token }))));
}

function mustBeUnused(state) {
  must(
    state.answered === false,
    "A report has already been sent with this invitation: from another browser or device, or from a private window that " +
      "was closed since. A second one would tell more about you than you agreed to, so none is drawn.",
  );
}

/** The public log, which has to hold what she is asked; its last hash is kept, to see next time that it only grew. */
async function comparedLog(question) {
  const log = await hearing(fetchedLog());
  const seen = (await memory.all()).flatMap((stored) => stored.log ?? []);
  checkLog(log, terms, question, seen);
  await memory.keepLog(terms.study, { size: log.size, head: log.head });
  return log;
}

/** Refuses to draw where another browser has begun to: the service gives the right to one, whichever asks first. */
async function claimDraw() {
  const { claim } = await memory.keepClaim(terms.study, newClaim());
  const put = { method: "PUT", secret: invitation.token, body: JSON.stringify({ claim }) };
  const state = JSON.parse(await ask(pathOf(terms.study, "invitation"), put));
  mustBeUnused(state);
  must(
    state.granted === true,
    "Another browser or device has begun to answer with this invitation, so none is drawn here. If that was a private " +
      "window or a device that is lost, ask for a new invitation.",
  );
}

/** 256 random bits in hexadecimal digits: by them the service knows this browser again. */
function newClaim() {
  return toHex(crypto.getRandomValues(new Uint8Array(32)));
}

function offer(question, log) {
  showChecked(terms, question, log);
  showAgreement(terms, question);
  askForRecords(question.statistic, (records) => draw(question, records).catch(refuse));
  show(byId("agreement"));
}

// --- her report

/** She agreed. Her records are averaged, then comes the moment at which anybody's page would go on. */
async function draw(question, records) {
  byId("drawing").textContent = "Your report is being drawn. This takes a few seconds, the same for everybody.";
  const person = summarise(question, records);
  await Promise.all([paced(), askToStay()]);
  const before = await memory.enrol(pinOf(terms));
  if (before.report) return deliver(before.report, null); // another tab was first: its report is the one that counts
  await claimDraw();
  const hex = toHex(respond(question, person).bytes);
  const report = { participant: participantName(invitation.token), id: question.id, question: question.canonical, hex };
  const kept = (await memory.keepReport(terms.study, report)).report;
  return deliver(kept, kept.hex === hex && hasPlace(question.statistic, records) ? person : null);
}

async function deliver(report, person) {
  hide("agreement");
  present(report, person);
  byId("report").focus();
  await send(report);
}

function present(report, person) {
  const question = questionOf(parse(report.question));
  show(byId("report"));
  showReport(question, decode(question, fromHex("report", report.hex)), report.hex, person);
  byId("send").onclick = () => send(report);
}

async function send(report) {
  hide("send");
  byId("send-error").textContent = "";
  const post = { method: "POST", secret: invitation.token, body: fromHex("report", report.hex) };
  try {
    await withRetries(() => ask(pathOf(terms.study, "reports"), post));
    await finish(await memory.markSent(terms.study, new Date().toISOString()));
    byId("done").focus();
  } catch (problem) {
    byId("send-error").textContent = `${sentenceOf(problem)} Your report is kept: the same bytes will be sent next time.`;
    show(byId("send"));
  }
}

/** Tries again where the service may only be busy; always the same bytes. */
async function withRetries(action) {
  for (const pause of PAUSES) {
    try {
      return await action();
    } catch (problem) {
      if (!mayPass(problem)) throw problem;
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
  return action();
}

/** Whether a problem may be over when one tries again. */
function mayPass({ reason, status }) {
  return reason === "unreachable" || status >= 500 || status === 429;
}

async function finish(stored) {
  hide("refusal", "terms", "numbers", "agreement", "send");
  byId("report-title").textContent = "What left this device";
  byId("done-text").textContent =
    `It was sent on ${moment(stored.sent)}. There is nothing more to do; opening this invitation again sends nothing new.`;
  const answered = (await memory.all()).filter(({ report }) => report);
  const total = answered.reduce((sum, { alpha }) => sum + alpha, 0);
  byId("spent").textContent =
    `Answered with this browser, at this service: ${plural(answered.length, "study", "studies")}, α = ${short(total)} in all.`;
  show(byId("done"));
}

// --- refusals

const SENTENCES = {
  "unknown-study": "There is no such study at this service.",
  "unknown-token": "This invitation is not known to the study.",
  "too-late": "Your round of this study is over.",
  conflict: "The study has already received another report for this invitation.",
  "rate-limited": "The service is busy.",
  unavailable: "The service is not ready.",
};

function sentenceOf(problem) {
  const sentence = SENTENCES[problem.reason] ?? problem.message;
  return `${sentence[0].toUpperCase()}${sentence.slice(1)}${/[.?!…]$/.test(sentence) ? "" : "."}`;
}

function refuse(problem) {
  const early = problem.reason === "too-early";
  const later = early || mayPass(problem);
  hide("numbers", "agreement", "report");
  byId("refusal").className = early ? "card" : "card stop";
  byId("refusal-title").textContent = early ? "It is not your turn yet" : "Nothing was sent";
  byId("refusal-text").textContent = early ? earlySentence(problem.body) : sentenceOf(problem);
  byId("refusal-help").textContent = later
    ? "Keep your invitation and open it again later."
    : "Your records have not left this device. Ask whoever invited you.";
  if (!terms) byId("lead").textContent = "This invitation cannot be used now.";
  show(byId("again"), later);
  show(byId("refusal"));
  if (!(problem instanceof Refusal || problem.kind || problem.reason)) console.error(problem);
}

function earlySentence({ opens_after: time }) {
  const when = time ? `after ${moment(time)}` : "when the one before it is closed";
  return `You answer in round ${terms.round + 1} of ${terms.rounds}. It opens ${when}.`;
}

guardSkipLink();
byId("again").addEventListener("click", begin);
addEventListener("hashchange", begin);
begin();
