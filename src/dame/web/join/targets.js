// The targets of a study in words, as its plan has them.

import { short } from "../page/words.js";

const WORDS = new Map([
  ["mean", ({ column, bounds }) => `the average of ${named(column)}${within(bounds)}`],
  ["sd", ({ column, bounds }) => `how much ${named(column)} varies${within(bounds)}`],
  ["share", (target) => `the share of records whose ${named(target.column)} ${relation(target)}`],
]);
const RELATIONS = [
  ["above", "is above"],
  ["below", "is below"],
  ["is", "is"],
];

function named(column) {
  return column ? `“${column}”` : "the numbers";
}

function within(bounds) {
  const [low, high] = Array.isArray(bounds) ? bounds.map(Number) : [];
  return low < high ? `, between ${short(low, 6)} and ${short(high, 6)}` : "";
}

function relation(target) {
  const [key, words] = RELATIONS.find(([name]) => typeof target[name] === "string") ?? [];
  return key ? `${words} ${target[key]}` : "is so";
}

/** What is told of a target, in a few words. */
export function targetWords(target) {
  return WORDS.get(target.kind)?.(target) ?? `“${target.name}”`;
}
