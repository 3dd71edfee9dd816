// How likely reports are, as the page shows it: node chances.mjs WEB_FOLDER < {"cases": [{question, value, size, mean}]}

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const folder = pathToFileURL(`${process.argv[2]}/`);
const load = (name) => import(new URL(name, folder));
const [{ parse }, { questionOf }, { logLikelihood, possibilities }] = await Promise.all(
  ["device/json.js", "device/questions.js", "join/meaning.js"].map(load),
);

const { cases } = parse(readFileSync(0, "utf8"));
const found = cases.map(({ question: document, value, size, mean }) => {
  const question = questionOf(document);
  const { places, silent } = possibilities(question, value, Number(size));
  const log = logLikelihood(question, value)({ size: Number(size), mean: Number(mean) });
  return { log, likelihoods: places.map(({ likelihood }) => likelihood), silent };
});
process.stdout.write(JSON.stringify(found));
