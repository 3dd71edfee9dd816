// Plays operations of the test vectors with a device: node replay.mjs DEVICE_FOLDER < files.json > outcomes.json
//
// Input: {"files": {name: file of vectors}}. Output: {name: [outcome or null (not for a device), …]}.

import { readFileSync } from "node:fs";
import { webcrypto } from "node:crypto";
import { pathToFileURL } from "node:url";

globalThis.crypto ??= webcrypto;

const folder = pathToFileURL(`${process.argv[2]}/`);
const load = (name) => import(new URL(name, folder));
const [{ canonical, parse }, { questionOf, hex16 }, { summarise }, steps, reports, assignment, coins, bytes] =
  await Promise.all(
    ["json.js", "questions.js", "records.js", "answer.js", "reports.js", "assignment.js", "coins.js", "bytes.js"].map(
      load,
    ),
  );

const PLAY = {
  question: ({ document }) => {
    const question = questionOf(document);
    return {
      canonical: question.canonical,
      id: question.id,
      tag: bytes.toHex(reports.tagOf(question)),
      report_bytes: BigInt(reports.reportBytes(question)),
    };
  },
  summarise: ({ records, low, high }) => {
    const { size, total, mean } = summarise(records, Number(low), Number(high));
    return { size: BigInt(size), total, mean };
  },
  answer: ({ question: name, records, coins: stored }, questions) => {
    const question = questionOf(questions[name]);
    const replayed = new coins.ReplayCoins(wordsOf(stored));
    const { value, bytes: report } = steps.answerWithCoins(question, records, replayed);
    if (replayed.left.length) return { error: { kind: "coins are left over" } };
    const person = summarise(records, question.low, question.high);
    return { ...onTheWay(question, person, stored), value, report: bytes.toHex(report) };
  },
  decode: ({ question, report }, questions) => ({
    value: reports.decode(questionOf(questions[question]), bytes.fromHex("report", report)),
  }),
  round: ({ study, shares, participant }) => ({
    hash: hex16(assignment.participantHash(study, participant)),
    borders: assignment.roundBorders(shares).map(hex16),
    round: BigInt(assignment.roundOf(study, shares, participant)),
  }),
};

function wordsOf(stored) {
  return (stored.match(/.{16}/g) ?? []).map((digits) => BigInt(`0x${digits}`));
}

function onTheWay(question, person, stored) {
  const common = { size: BigInt(person.size), mean: person.mean, words: BigInt(stored.length / 16) };
  if (question.kind === "place-vote") {
    const ends = steps.ends(question, person).slice(0, -1).map(hex16);
    return { ...common, bin: BigInt(steps.ownBin(question, person)), part: steps.part(question, person), ends };
  }
  if (question.code) {
    return {
      ...common,
      bin: BigInt(steps.ownBin(question, person)),
      marks: steps.marks(question, person).map(BigInt),
    };
  }
  const weighed = { ...common, weight: steps.weight(question, person.size) };
  if (question.noise.kind === "laplace") {
    return { ...weighed, position: steps.position(question, person), grid_point: steps.pointOf(question, person) };
  }
  const arm = question.arms > 1 ? Number(steps.armOf(question, wordsOf(stored)[0])) : 0;
  const [place, limit] = [steps.position(question, person, arm), steps.threshold(question, person, arm)];
  return { ...weighed, position: place, arm: BigInt(arm), threshold: hex16(limit) };
}

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
