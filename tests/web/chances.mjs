// What the page says of reports: node chances.mjs WEB_FOLDER < {"cases": [{question, report, size, mean}]}

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const folder = pathToFileURL(`${process.argv[2]}/`);
const load = (name) => import(new URL(name, folder));
const [{ fromHex }, { parse }, { questionOf }, { decode }, { viewsOf }, meaning] = await Promise.all(
  [
    "device/bytes.js",
    "device/json.js",
    "device/questions.js",
    "device/reports.js",
    "join/channels.js",
    "join/meaning.js",
  ].map(load),
);

const { cases } = parse(readFileSync(0, "utf8"));
const found = cases.map(({ question: document, report: hex, size, mean }) => {
  const question = questionOf(document);
  const report = decode(question, fromHex("report", hex));
  const person = { size: Number(size), mean: Number(mean) };
  const { lens, channel } = viewsOf(question);
  const shown = meaning.possibilities(question, report, person.size);
  return {
    log: channel.log(report.value)(question.lens.reading(person, report.window)),
    likelihoods: shown.bars.map(({ likelihood }) => likelihood),
    silent: shown.silent,
    ends: [shown.bars[0].from, shown.bars.at(-1).to],
    axis: lens.axis,
    own: lens.own(person, report.window),
    caption: lens.caption(person, report.window),
    asked: meaning.asked(question),
    said: meaning.said(question, report),
    meant: meaning.meant(question, report, person.size, shown),
  };
});
process.stdout.write(JSON.stringify(found));
