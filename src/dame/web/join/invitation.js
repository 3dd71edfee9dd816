// The invitation and what it is checked against: the study, its plan, its key, and what this browser remembers.

import { toHex, utf8 } from "../device/bytes.js";
import { canonical, isSigned, participantName, questionOf, slotOf } from "../device/index.js";
import { sha256 } from "../device/sha256.js";

const TOKEN = /^[0-9a-f]{32}$/;
const KEY = /^[0-9a-f]{64}$/;

/** Something is not as the participant agreed to: nothing is answered. */
export class Refusal extends Error {}

/** {study, token, key} of a link; everything stands behind the `#`, which browsers send to nobody. */
export function invitationOf(fragment) {
  const fields = new URLSearchParams(fragment.replace(/^#/, ""));
  const [study, token, key] = ["study", "token", "key"].map((name) => fields.get(name));
  must(study && token, "This address is no invitation: it must end with #study=…&token=…&key=…");
  must(TOKEN.test(token), "The token of this invitation is damaged: it must have 32 hexadecimal digits.");
  must(key === null || KEY.test(key), "The key of this invitation is damaged: it must have 64 hexadecimal digits.");
  return { study, token, key };
}

/** What the person is asked to agree to, from the public description of a study (as `parse` reads it). */
export function termsOf(document, invitation) {
  const { plan } = document;
  must(plan && typeof plan === "object", "The service sends no plan of this study.");
  must(document.study === invitation.study && plan.study === invitation.study, "The service describes another study.");
  const { study, target, bounds, rounds } = plan;
  const { plan_id: planId, public_key: key } = document;
  const identity = toHex(sha256(utf8(canonical(plan))));
  must(identity === planId, "The plan of this study does not have the identity that the service names.");
  must(Array.isArray(bounds) && Array.isArray(rounds), "The plan of this study has no bounds or rounds.");
  must(KEY.test(key), "The service sends no valid key of this study.");
  must([null, key].includes(invitation.key), "The service presents another key than your invitation names.");
  const title = typeof document.title === "string" && document.title ? document.title : study;
  const [alpha, low, high] = [plan.alpha, ...bounds].map(Number);
  const shares = rounds.map((round) => Number(round?.share));
  const valid = shares.length > 0 && shares.every((share) => share > 0 && share <= 1);
  must(valid, "The plan of this study has no valid shares of its rounds.");
  must(alpha > 0 && low < high && bounds.length === 2, "The plan of this study has no valid α or bounds.");
  const round = slotOf(study, shares, participantName(invitation.token));
  return { study, target, title, key, planId, alpha, low, high, shares, round };
}

/** What this browser keeps of the terms when it first sees them. */
export function pinOf({ study, key, planId, alpha, low, high }) {
  return { study, key, planId, alpha, low, high };
}

/** Refuses terms that are not those that were pinned. */
export function checkPinned(pin, terms) {
  must(pin.key === terms.key, "The key of this study has changed since you first opened your invitation.");
  must(terms.alpha <= pin.alpha, `The study now asks for a larger α (${terms.alpha} instead of ${pin.alpha}).`);
  const sameBounds = pin.low === terms.low && pin.high === terms.high;
  must(sameBounds, "The bounds of this study have changed since you first opened your invitation.");
  must(pin.planId === terms.planId, "The plan of this study has changed since you first opened your invitation.");
}

/** The question of an answer of the service, if it is the one of these terms and signed with their key. */
export async function checkedQuestion(document, terms) {
  const question = read(document.question);
  const { study, target, round, alpha, statistic } = question;
  const sameSlot = study === terms.study && target === terms.target && Number(round) === terms.round;
  must(sameSlot, "The service sends a question of another study, target or round.");
  must(alpha <= terms.alpha, `The question would spend α = ${alpha}, the study promised ${terms.alpha}.`);
  const sameBounds = statistic.low === terms.low && statistic.high === terms.high;
  must(sameBounds, "The bounds of the question are not those of the study.");
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
