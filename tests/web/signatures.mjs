// Checks signatures as the page does: node signatures.mjs WEB_FOLDER < {"cases": [{question, plan_id, key, signature}]}

import { readFileSync } from "node:fs";
import { webcrypto } from "node:crypto";
import { pathToFileURL } from "node:url";

globalThis.crypto ??= webcrypto;
const folder = pathToFileURL(`${process.argv[2]}/`);
const [{ parse }, { questionOf }, { isSigned }] = await Promise.all(
  ["json.js", "questions.js", "signature.js"].map((name) => import(new URL(`device/${name}`, folder))),
);

const { cases } = parse(readFileSync(0, "utf8"));
const found = [];
for (const { question, plan_id: plan, key, signature } of cases)
  found.push(await isSigned(questionOf(question), plan, key, signature));
process.stdout.write(JSON.stringify(found));
