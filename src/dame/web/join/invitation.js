// The invitation and what it is checked against: the study, its plan, its key, and what this browser remembers.

import { toHex, utf8 } from "../device/bytes.js";
import { canonical, isSigned, participantName, questionOf, slotOf } from "../device/index.js";
import { oneOf } from "../device/parts.js";
import { sha256 } from "../device/sha256.js";
import { STATISTICS } from "../device/statistics.js";

const TOKEN = /^[0-9a-f]{32}$/;
const HASH = /^[0-9a-f]{64}$/;
const ALPHA = /^[0-9.]+(e-?[0-9]+)?$/;

/** Something is not as the participant agreed to: nothing is answered. */
export class Refusal extends Error {}

/** {study, token, key, plan, alpha, group} of a link; all of it stands behind the `#`, which browsers send to nobody.
 *
 * It says which plan she is invited to, so that a service cannot show different people different studies of one name. */
export function invitationOf(fragment) {
  const fields = new URLSearchParams(fragment.replace(/^#/, ""));
  const [study, token, key, plan, alpha, group] = NAMES.map((name) => fields.get(name));
  const whole = study && token && key !== null && plan !== null && alpha !== null;
  must(whole, "This address is no invitation: it must end with #study=…&token=…&key=…&plan=…&alpha=…");
  must(TOKEN.test(token), "The token of this invitation is damaged: it must have 32 hexadecimal digits.");
  must(HASH.test(key), "The key of this invitation is damaged: it must have 64 hexadecimal digits.");
  must(HASH.test(plan), "The plan of this invitation is damaged: it must have 64 hexadecimal digits.");
  must(ALPHA.test(alpha) && Number(alpha) > 0, "The α of this invitation is damaged: it must be a number above 0.");
  return { study, token, key, plan, alpha: Number(alpha), group };
}

const NAMES = ["study", "token", "key", "plan", "alpha", "group"];

/** What the person is asked to agree to, from the public description of a study (as `parse` reads it).
 *
 * `slot` is the place of her round in addresses, `target` and `round` are those of the question, and `statistic` is what
 * is averaged; `wanted` are the targets of the study, `own` is the one of them that she is asked about. */
export function termsOf(document, invitation) {
  const { plan } = document;
  must(plan && typeof plan === "object", "The service sends no plan of this study.");
  must(document.study === invitation.study && plan.study === invitation.study, "The service describes another study.");
  const { study, group } = plan;
  const { plan_id: planId, public_key: key } = document;
  const identity = toHex(sha256(utf8(canonical(plan))));
  must(identity === planId, "The plan of this study does not have the identity that the service names.");
  must(HASH.test(key), "The service sends no valid key of this study.");
  must(key === invitation.key, "The service presents another key than your invitation names.");
  must(group || !invitation.group, "Your invitation names a group, and the plan of this study has none.");
  const title = typeof document.title === "string" && document.title ? document.title : study;
  const alpha = Number(plan.alpha);
  const said = `α = ${invitation.alpha}`;
  must(alpha === invitation.alpha, `The plan of this study has α = ${plan.alpha}, your invitation says ${said}.`);
  must(planId === invitation.plan, "The plan of this study is not the one that your invitation names.");
  const slots = slotsOf(plan);
  const shares = slots.map(({ share }) => share);
  const slot = slotOf(study, shares, participantName(invitation.token));
  const asked = { slot, ...slots[slot], wanted: plan.targets, groups: group, group: invitation.group };
  asked.least = Number(document.minimum_reports);
  return { study, title, key, planId, alpha, about: aboutOf(document.about), ...asked };
}

/** Who asks, why, whom to write to, and the text to agree to, as far as whoever made the study said so. */
function aboutOf(said) {
  const text = (name) => (typeof said?.[name] === "string" ? said[name] : "");
  return Object.fromEntries(["asker", "purpose", "contact", "consent"].map((name) => [name, text(name)]));
}

/** The slots of a plan: the rounds of all machines of all targets, one after the other, with the share of each. */
function slotsOf({ targets }) {
  const each = (list) => (Array.isArray(list) ? list : []);
  const machines = each(targets).flatMap((own) => each(own?.machines).map((machine) => ({ own, machine })));
  const users = machines.reduce((sum, { machine }) => sum + Number(machine.users), 0);
  const slots = machines.flatMap(({ own, machine }) => {
    const rounds = each(machine.rounds).length;
    const statistic = statisticOf(machine.statistic);
    return each(machine.rounds).map(({ share: part }, round) => {
      const share = machines.length > 1 ? (Number(machine.users) * Number(part)) / users : Number(part);
      return { share, target: machine.name, round, rounds, statistic, own };
    });
  });
  const valid = slots.length > 0 && slots.every(({ share }) => share > 0 && share <= 1);
  must(valid, "The plan of this study has no valid shares of its rounds.");
  return slots;
}

function statisticOf(document) {
  try {
    return oneOf(STATISTICS)("statistic", document);
  } catch (problem) {
    throw new Refusal(`The plan of this study asks for something that this device does not know: ${problem.message}.`);
  }
}

/** What this browser keeps of the terms when it first sees them. */
export function pinOf({ study, key, planId, alpha }) {
  return { study, key, planId, alpha };
}

/** Refuses terms that are not those that were pinned. */
export function checkPinned(pin, terms) {
  must(pin.key === terms.key, "The key of this study has changed since you first opened your invitation.");
  must(terms.alpha <= pin.alpha, `The study now asks for a larger α (${terms.alpha} instead of ${pin.alpha}).`);
  must(pin.planId === terms.planId, "The plan of this study has changed since you first opened your invitation.");
}

/** The question of an answer of the service, if it is the one of these terms and signed with their key. */
export async function checkedQuestion(document, terms) {
  const question = read(document.question);
  const { study, target, round, alpha, statistic } = question;
  const sameSlot = study === terms.study && target === terms.target && Number(round) === terms.round;
  must(sameSlot, "The service sends a question of another study, target or round.");
  must(alpha <= terms.alpha, `The question would spend α = ${alpha}, the study promised ${terms.alpha}.`);
  const same = canonical(statistic) === canonical(terms.statistic);
  must(same, "The question asks for another column, or within other bounds, than the plan of the study.");
  must(question.id === document.question_id, "The question does not have the identity that the service names.");
  const signed = await isSigned(question, terms.planId, terms.key, document.signature);
  must(signed, "The question is not signed with the key of this study.");
  return question;
}

function read(document) {
  try {
    return questionOf(document);
  } catch (problem) {
    throw new Refusal(`The question is not one that this device answers: ${problem.message}.`);
  }
}

/** Refuses what does not hold. */
export function must(condition, sentence) {
  if (!condition) throw new Refusal(sentence);
}
