// A card for each public group, and one for the differences between them.

import { widthOf } from "../page/charts.js";
import { fill, fillFacts, h, show } from "../page/dom.js";
import { count, plural } from "../page/words.js";
import { forest, intervalText, valueText } from "./estimates.js";

/** Fills a place with the cards of all groups. */
export function showGroups(place, { group, groups, result }) {
  const told = new Map((result?.groups ?? []).map((one) => [one.group, one]));
  fill(
    place,
    groups.map((one) => groupCard(one, group, told.get(one.group))),
  );
}

function groupCard({ group: name, invited, counted }, kind, told) {
  const facts = h("dl", { class: "facts" });
  const estimates = (told?.targets ?? []).map((found) => [
    found.name,
    h("span", { class: "value", "data-value": found.estimate }, valueText(found), h("small", {}, intervalText(found))),
  ]);
  fillFacts(facts, [...estimates, ["Invited", count(invited)], ["Reports", count(counted)]]);
  return h("section", { class: "card", "data-group": name }, h("h2", {}, `${name} `, h("small", {}, kind)), facts);
}

/** Fills a card with the differences: of two groups, as of the arms of an experiment, the effect. */
export function showDifferences(card, { result }) {
  const differences = result?.differences ?? [];
  show(card, differences.length > 0);
  if (!differences.length) return fill(card);
  const effect = result.groups.length === 2;
  const [{ group, than }] = differences;
  const title = effect ? `Effect: ${group} against ${than}` : "Differences between groups";
  const most = 8;
  fill(card, h("h2", { id: "differences-title" }, title), h("p", { class: "quiet" }, meaning(effect, result.groups)));
  const { paddingLeft, paddingRight } = getComputedStyle(card);
  const width = widthOf(card) - Math.ceil(Number.parseFloat(paddingLeft) + Number.parseFloat(paddingRight));
  for (const { name } of result.targets) {
    const own = differences.filter((one) => one.name === name);
    const rows = own.map((found) => ({ name: effect ? name : `${found.group} less ${found.than}`, found }));
    if (!effect) card.append(h("h3", {}, name));
    card.append(forest(rows.slice(0, most), width, true));
    if (rows.length > most) card.append(table(rows, name));
  }
  return card;
}

function meaning(effect, groups) {
  const what = effect ? "How much larger each estimate is in the first group" : plural(groups.length, "group");
  return `${what}; where a bar crosses the line at 0, chance may explain it.`;
}

function table(rows, name) {
  const line = ({ name: pair, found }) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, pair),
      h("td", { class: "number" }, valueText(found)),
      h("td", { class: "number" }, intervalText(found)),
    );
  return h(
    "details",
    { "data-differences": name },
    h("summary", {}, `All ${rows.length} as a table`),
    h(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": `Differences of ${name} as a table` },
      h("table", {}, h("tbody", {}, rows.map(line))),
    ),
  );
}
