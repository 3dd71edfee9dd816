// What an administrator sees of a study.

import { byId, fill, fillFacts, h } from "../page/dom.js";
import { count, short } from "../page/words.js";
import { showDifferences, showGroups } from "./groups.js";
import { showTargets } from "./targets.js";

const REASONS = {
  "unknown-token": "unknown token",
  conflict: "another report for the same token",
  "wrong-round": "report of another round",
  "too-early": "before the round was open",
  "too-late": "after the round was closed",
  expired: "invitation withdrawn or over",
  oversized: "too large",
  malformed: "not a report of the question",
};

/** Everything of a status; the forms beside it keep their place and focus. */
export function showStatus(status) {
  showDifferences(byId("differences"), status);
  showTargets(byId("targets"), status);
  showGroups(byId("groups"), status);
  showRejected(status.rejected);
  showFacts(status);
}

function showRejected(rejected) {
  const found = Object.entries(rejected).filter(([, number]) => number > 0);
  if (!found.length) return fill(byId("rejected"), h("p", { class: "quiet" }, "None so far."));
  const rows = found.map(([reason, number]) =>
    h(
      "tr",
      { "data-reason": reason },
      h("th", { scope: "row" }, REASONS[reason] ?? reason),
      h("td", { class: "number" }, count(number)),
    ),
  );
  return fill(byId("rejected"), h("table", {}, h("tbody", {}, rows)));
}

function showFacts(status) {
  const machines = status.targets.flatMap((target) => target.machines);
  fillFacts(byId("facts"), [
    ["State", status.state],
    ["Protocol", [...new Set(machines.map(({ protocol }) => protocol))].join(", ")],
    ["Privacy budget α", short(status.alpha)],
    ["Targets", count(status.targets.length)],
    ...(status.group ? [["Groups by", status.group]] : []),
    ["People planned", count(status.users_planned)],
    ["Invited", count(status.invited)],
  ]);
}
