// The public log of the service: every plan and every question, each entry with the hash of the one before it.
//
// Two people who see the same last hash were shown the same studies. A service that asks this person something else than
// others must leave it out of the log, or show her another log.

import { toHex, utf8 } from "../device/bytes.js";
import { canonical, parse } from "../device/index.js";
import { sha256 } from "../device/sha256.js";
import { ask } from "../page/api.js";
import { must } from "./invitation.js";

const START = "0".repeat(64);
const MOST_ENTRIES = 1_000_000;

/** The whole log, {entries, hashes, size, head}; a Refusal if it is no chain. */
export async function fetchedLog() {
  const log = { entries: [], hashes: [], size: 0, head: START };
  for (;;) {
    const { entries: more, size, head } = parse(await ask(`api/v1/log?start=${log.size}`));
    const readable = Array.isArray(more) && log.size + more.length <= MOST_ENTRIES;
    must(readable, "The public log of the service cannot be read.");
    more.forEach((entry) => append(log, entry));
    if (log.size < Number(size) && more.length) continue;
    const whole = log.size > Number(size) || head === log.head;
    must(whole, "The service names another last entry of its public log than the one that it shows.");
    return log;
  }
}

function append(log, entry) {
  const follows = Number(entry?.place) === log.size && entry.previous === log.head;
  must(follows, `Entry ${log.size} of the service’s public log does not follow the one before it.`);
  log.head = toHex(sha256(utf8(`dame-log-v1\n${canonical(entry)}`)));
  log.entries.push(entry);
  log.hashes.push(log.head);
  log.size += 1;
}

/** Refuses a log without this plan and this question, or with others in their place, or one that was changed since.
 *
 * `seen` are the logs, {size, head}, that this browser saw before. */
export function checkLog({ entries, hashes }, terms, question, seen) {
  const same = seen.every(({ size, head }) => size === 0 || hashes[size - 1] === head);
  must(same, "The public log of the service is not the one that this browser saw before: it was changed.");
  const own = entries.filter(({ study }) => study === terms.study);
  const plans = own.filter(({ kind }) => kind === "plan");
  const known = plans.length === 1 && plans[0].plan_id === terms.planId && plans[0].public_key === terms.key;
  must(known, "The plan of this study is not in the public log of the service, or not the only one.");
  const asked = own.filter(
    ({ kind, target, round }) => kind === "question" && target === terms.target && Number(round) === terms.round,
  );
  const one = asked.length === 1 && asked[0].question_id === question.id;
  must(one, "Your question is not in the public log of the service, or not the only one of your round.");
}
