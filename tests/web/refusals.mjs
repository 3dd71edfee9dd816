// What a device says of records that it refuses: node refusals.mjs DEVICE_FOLDER < [{statistic, records}] > [sentence, …]

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const folder = pathToFileURL(`${process.argv[2]}/`);
const load = (name) => import(new URL(name, folder));
const [{ parse }, { oneOf }, { STATISTICS }] = await Promise.all(["json.js", "parts.js", "statistics.js"].map(load));

const sentences = parse(readFileSync(0, "utf8")).map(({ statistic, records }) => {
  try {
    return oneOf(STATISTICS)("statistic", statistic).summarise(records);
  } catch (problem) {
    return problem.message;
  }
});
process.stdout.write(JSON.stringify(sentences));
