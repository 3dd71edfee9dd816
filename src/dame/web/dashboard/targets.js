// A card for each target: what it comes to, by group too, how far its rounds are, and what attackers could do to it.

import { widthOf } from "../page/charts.js";
import { fill, h } from "../page/dom.js";
import { count, short } from "../page/words.js";
import { curveParts } from "./curves.js";
import { estimateParts, forest } from "./estimates.js";
import { histogram, roundItem } from "./rounds.js";

/** Fills a place with the cards of all targets. */
export function showTargets(place, status) {
  const cards = status.targets.map((target) => h("section", { class: "card", "data-target": target.name }));
  fill(place, cards); // first into the page: drawings are as wide as their place
  status.targets.forEach((target, index) => fillCard(cards[index], target, status));
}

function fillCard(card, target, status) {
  fill(card, h("h2", {}, target.name), h("p", { class: "quiet" }, `${capital(target.words)}.`));
  const width = innerWidthOf(card);
  const found = target.estimate;
  card.append(
    ...(found ? estimateParts(found, target.range, width).flat() : [waiting(target, status)]).filter((part) => part),
    ...(found ? curveParts(found, target, width) : []),
    ...byGroup(target, status, width),
    h(
      "details",
      { class: "progress", "data-target": target.name, open: status.state !== "finished" || status.targets.length === 1 },
      h("summary", {}, `Rounds: ${progress(target, status)}`),
      target.machines.map((machine) => machinePart(machine, target, status, width)),
    ),
    h("p", { class: "quiet shift" }, shift(target)),
  );
}

function innerWidthOf(card) {
  const { paddingLeft, paddingRight } = getComputedStyle(card);
  return widthOf(card) - Math.ceil(Number.parseFloat(paddingLeft) + Number.parseFloat(paddingRight));
}

function capital(text) {
  return `${text[0].toUpperCase()}${text.slice(1)}`;
}

function roundsOf(machine, { rounds }) {
  return machine.rounds.map((slot) => rounds[slot]);
}

function progress(target, status) {
  const all = target.machines.flatMap((machine) => roundsOf(machine, status));
  const closed = all.filter(({ state }) => state === "closed").length;
  return `${closed} of ${all.length} closed, ${count(target.reports)} reports`;
}

function waiting(target, status) {
  const open = target.machines.flatMap((machine) => roundsOf(machine, status)).filter(({ state }) => state === "open");
  const whose = (name) => (target.machines.length > 1 ? ` of ${name}` : "");
  const names = open.map(({ slot, target: name }) => `round ${slot + 1}${whose(name)}`);
  const collecting = open.length ? `Collecting: ${names.join(", ")}.` : "No round is open.";
  const planned = `an error of about ${short(target.predicted_rmse, 2)} was planned`;
  return h("p", { class: "waiting" }, `${collecting} The estimate follows when the last round is closed; ${planned}.`);
}

function byGroup(target, { group, result }, width) {
  const rows = (result?.groups ?? []).map((one) => ({
    name: one.group,
    found: one.targets.find(({ name }) => name === target.name),
  }));
  return rows.length ? [h("h3", {}, `By ${group}`), forest(rows, width)] : [];
}

function machinePart(machine, target, status, width) {
  const rounds = roundsOf(machine, status);
  const several = target.machines.length > 1;
  const voted = rounds.filter(({ histogram: votes }) => votes);
  return h(
    "div",
    { "data-machine": machine.name },
    several ? h("h3", {}, capital(machine.words)) : null,
    h(
      "ol",
      { class: "rounds" },
      rounds.map((round) => roundItem(round, machine.range, several ? "h4" : "h3")),
    ),
    voted.map((round) => histogram(round, machine.range, width)),
  );
}

function shift({ shift_by_1_percent: most }) {
  if (most === null) return "How far malicious people could move this is being worked out.";
  return `If 1\u202f% of the people were malicious, they could move this by up to ${short(most, 3)}.`;
}
