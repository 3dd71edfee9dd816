// Records as a page may have them, which JSON cannot hold: node page_records.mjs DEVICE_FOLDER > summaries

import { pathToFileURL } from "node:url";

const folder = pathToFileURL(`${process.argv[2]}/`);
const load = (name) => import(new URL(name, folder));
const [{ oneOf }, { STATISTICS }] = await Promise.all(["parts.js", "statistics.js"].map(load));

function summary(column, records) {
  return oneOf(STATISTICS)("statistic", { kind: "value", column, low: -1, high: 1 }).summarise(records);
}

function sentence(records) {
  try {
    return summary("size", records);
  } catch (problem) {
    return problem.message;
  }
}

class Row {
  size = 0.5;
}
const found = {
  toString: summary("toString", [{ other: 1 }]),
  ["__proto__"]: summary("__proto__", [{ other: 1 }]),
  constructor: summary("constructor", [{ other: 1 }]),
  undefined: summary("size", [{ size: undefined }]),
  "own toString": summary("toString", [{ toString: 0.5 }]),
  "own __proto__": summary("__proto__", [JSON.parse('{"__proto__": 0.5}')]),
  hasOwnProperty: summary("size", [{ hasOwnProperty: () => false, size: 0.5 }]),
  refused: [
    ...[new Map([["size", 0.5]]), new Set([1]), new Date(0), new Float64Array(1), new Row(), () => 1].map((one) => [one]),
    new Array(1),
  ].map(sentence),
};
process.stdout.write(JSON.stringify(found));
