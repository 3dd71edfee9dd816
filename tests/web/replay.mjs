// Plays operations of the test vectors with a device: node replay.mjs DEVICE_FOLDER < files.json > outcomes.json
//
// Input: {"files": {name: file of vectors}}. Output: {name: [outcome or null (not for a device), …]}.

import { readFileSync } from "node:fs";
import { webcrypto } from "node:crypto";
import { pathToFileURL } from "node:url";

globalThis.crypto ??= webcrypto;

const folder = pathToFileURL(`${process.argv[2]}/`);
const load = (name) => import(new URL(name, folder));
const [{ canonical, parse }, { oneOf }, { STATISTICS }, { questionOf }, { answerWithCoins }, reports, slots, bytes] =
  await Promise.all(
    [
      "json.js",
      "parts.js",
      "statistics.js",
      "questions.js",
      "answer.js",
      "reports.js",
      "assignment.js",
      "bytes.js",
    ].map(load),
  );

/** Given words, in order, in the place of the browser's generator. */
class ReplayCoins {
  constructor(words) {
    this.left = [...words];
  }

  words(count) {
    if (count > this.left.length) throw new Error("the stored coins have ended");
    return this.left.splice(0, count);
  }
}

const PLAY = {
  question: ({ document }) => {
    const question = questionOf(document);
    return {
      id: question.id,
      tag: reports.tagOf(question),
      bits: BigInt(reports.reportBits(question)),
      bytes: BigInt(reports.reportBytes(question)),
    };
  },
  summarise: ({ statistic, records, word = "0" }) => {
    const { size, mean } = oneOf(STATISTICS)("statistic", statistic).summarise(records, BigInt(`0x${word}`));
    return { size: BigInt(size), mean };
  },
  answer: ({ question, records, coins: stored }, questions) => {
    const words = (stored.match(/.{16}/g) ?? []).map((digits) => BigInt(`0x${digits}`));
    const replayed = new ReplayCoins(words);
    const { window, value, bytes: report } = answerWithCoins(questionOf(questions[question]), records, replayed);
    if (replayed.left.length) return { error: { kind: "coins are left over" } };
    return { report: bytes.toHex(report), window: BigInt(window), value: value.toString() };
  },
  decode: ({ question, report }, questions) => {
    const { window, value } = reports.decode(questionOf(questions[question]), bytes.fromHex("report", report));
    return { window: BigInt(window), value: value.toString() };
  },
  slot: ({ study, shares, participant }) => ({ slot: BigInt(slots.slotOf(study, shares, participant)) }),
};

function outcome(operation, questions) {
  if (!(operation.op in PLAY)) return null;
  try {
    return PLAY[operation.op](operation, questions);
  } catch (error) {
    return {
      error: { kind: error.kind ?? `${error.name}: ${error.message}`, ...(error.reason && { reason: error.reason }) },
    };
  }
}

const { files } = parse(readFileSync(0, "utf8"));
const played = Object.fromEntries(
  Object.entries(files).map(([name, { operations, questions }]) => [
    name,
    operations.map((one) => outcome(one, questions)),
  ]),
);
process.stdout.write(canonical(played));
