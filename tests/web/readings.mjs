// Reads texts as the page of a participant does: node readings.mjs WEB_FOLDER < [{"text", "typed", "texts", "name"}, …]

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { columnNamed, columnOf, likelyColumn, tableOf, typedValues } = await import(
  new URL("join/readings.js", pathToFileURL(`${process.argv[2]}/`))
);

function read({ text, typed, texts = false, name = "" }) {
  if (typed) return typedValues(text, texts);
  try {
    const table = tableOf(text);
    return {
      columns: table.columns,
      likely: likelyColumn(table),
      named: columnNamed(table, name),
      read: table.columns.map((_, index) => columnOf(table, index, texts)),
    };
  } catch (problem) {
    return { problem: problem.message };
  }
}

process.stdout.write(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(read)));
