// Reads texts as the page of a participant does: node readings.mjs WEB_FOLDER < [{"text", "typed"}, …]

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { columnOf, likelyColumn, tableOf, typedNumbers } = await import(
  new URL("join/readings.js", pathToFileURL(`${process.argv[2]}/`))
);

function read({ text, typed }) {
  if (typed) return typedNumbers(text);
  const table = tableOf(text);
  return {
    columns: table.columns,
    likely: likelyColumn(table),
    read: table.columns.map((_, index) => columnOf(table, index)),
  };
}

process.stdout.write(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(read)));
