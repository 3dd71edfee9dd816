// What an administrator does with a study: invite people, and close rounds.

import { closeRound, invite } from "../page/api.js";
import { byId, download, fill, h, show } from "../page/dom.js";
import { count, plural } from "../page/words.js";
import { fileName } from "./home.js";

const ADDED = ["token", "link", "round", "expected"];

let offered = null;

/** Fits the forms to a status. They are left alone while they fit, so that nobody's focus is lost. */
export function offerActions(status, close) {
  show(byId("group-field"), status.group !== "");
  byId("group-name").textContent = `Their ${status.group || "group"}`;
  byId("group").required = status.group !== "";
  const known = status.groups.map(({ group }) => group);
  if (byId("known-groups").children.length !== known.length)
    fill(
      byId("known-groups"),
      known.map((group) => h("option", { value: group })),
    );
  const key = JSON.stringify([status.study, status.open_rounds]);
  if (key === offered) return;
  offered = key;
  const open = status.open_rounds.map((slot) => status.rounds[slot]);
  const single = status.rounds.every(({ target }) => target === status.rounds[0].target);
  const button = (rounds, text, id = null) =>
    h("button", { type: "button", class: "danger", id, click: () => close(rounds.map(({ slot }) => slot)) }, text);
  fill(
    byId("closing"),
    open.length ? null : h("p", { class: "quiet" }, "No round is open."),
    open.length === 1 ? button(open, `Close ${named(open[0], single)}`, "close") : null,
    open.length > 1 ? button(open, `Close all ${open.length} open rounds`, "close") : null,
    open.length > 1 ? h("h3", {}, "Or only one of them") : null,
    open.length > 1 ? open.map((round) => button([round], `Close ${named(round, single)}`)) : null,
  );
}

/** Offers everything anew next time: for another study, or another page. */
export function forgetActions() {
  offered = null;
}

function named({ slot, target }, single) {
  return single ? `round ${slot + 1}` : `round ${slot + 1} of ${target}`;
}

/** Asks whether these rounds shall be closed, and closes them: the status after it, or null. */
export async function closeRounds(slots, { study, key, found }) {
  const rounds = slots.map((slot) => found.rounds[slot]);
  const single = found.rounds.every(({ target }) => target === rounds[0].target);
  const sum = (field) => count(Math.round(rounds.reduce((total, round) => total + round[field], 0)));
  byId("confirm-title").textContent =
    rounds.length > 1 ? `Close ${rounds.length} rounds?` : `Close ${named(rounds[0], single)}?`;
  byId("confirm-text").textContent =
    `${rounds.length > 1 ? "They have" : "It has"} ${sum("reports")} of ${sum("expected")} expected reports. A closed ` +
    `round cannot be opened again; who comes later is turned away.${fewer(rounds, found.minimum_reports)}`;
  if (!(await confirmed())) return null;
  let status = null;
  for (const slot of slots) status = await closeRound(study, slot, key);
  return status;
}

function fewer(rounds, least) {
  const wanted = Math.max(least, 1);
  if (rounds.every(({ reports }) => reports >= wanted)) return "";
  return ` This study waits for ${plural(wanted, "report")} in each round: with fewer, its result may be nearly empty.`;
}

function confirmed() {
  const dialog = byId("confirm");
  dialog.returnValue = "no";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.onclose = () => resolve(dialog.returnValue === "yes");
  });
}

/** Invites as many people as the form says, and saves their links. */
export async function invitePeople({ study, key, found }) {
  const group = found.group ? byId("group").value.trim() : null;
  const made = await invite(study, Number(byId("number").value), group, key);
  const cell = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const line = (one) => [...(group === null ? [] : [cell(group)]), ...ADDED.map((name) => one[name])].join(",");
  const lines = made.map((one) => `${line(one)}\n`).join("");
  const head = `${group === null ? "" : "group,"}${ADDED.join(",")}\n`;
  download(`${fileName(study)}-invitations${group === null ? "" : `-${fileName(group)}`}.csv`, head + lines, "text/csv");
  byId("invited").textContent =
    `${plural(made.length, "invitation")} saved as a file. Give each person one link; nobody can read them again here.`;
}
