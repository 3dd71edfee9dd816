// The invitation and what it is checked against: the study, its plan, its key, and what this browser remembers.

import { toHex, utf8 } from "../device/bytes.js";
import { canonical, isSigned, participantName, questionOf, slotOf } from "../device/index.js";
import { sha256 } from "../device/sha256.js";

/** Something is not as the participant agreed to: nothing is answered. */
export class Refusal extends Error {}

/** {study, token, key} of a link; everything stands behind the `#`, which browsers send to nobody. */
export function invitationOf(fragment) {
  const fields = new URLSearchParams(fragment.replace(/^#/, ""));
  const [study, token, key] = ["study", "token", "key"].map((name) => fields.get(name));
  if (!study || !token) throw new Refusal("This address is no invitation: it must end with #study=…&token=…&key=…");
  if (!/^[0-9a-f]{32}$/.test(token))
    throw new Refusal("The token of this invitation is damaged: it must have 32 hexadecimal digits.");
  if (key !== null && !/^[0-9a-f]{64}$/.test(key)) {
    throw new Refusal("The key of this invitation is damaged: it must have 64 hexadecimal digits.");
  }
  return { study, token, key };
}

/** What the person is asked to agree to, from the public description of a study (as `parse` reads it). */
export function termsOf(document, invitation) {
  const { plan } = document;
  must(plan && typeof plan === "object", "The service sends no plan of this study.");
  must(document.study === invitation.study && plan.study === invitation.study, "The service describes another study.");
  must(
    toHex(sha256(utf8(canonical(plan)))) === document.plan_id,
    "The plan of this study does not have the identity that the service names.",
  );
  must(
    Array.isArray(plan.bounds) && plan.bounds.length === 2 && Array.isArray(plan.rounds),
    "The plan of this study has no bounds or rounds.",
  );
  const terms = {
    study: plan.study,
    target: plan.target,
    title: typeof document.title === "string" && document.title ? document.title : plan.study,
    key: document.public_key,
    planId: document.plan_id,
    alpha: Number(plan.alpha),
    low: Number(plan.bounds[0]),
    high: Number(plan.bounds[1]),
    shares: plan.rounds.map((round) => Number(round?.share)),
  };
  must(/^[0-9a-f]{64}$/.test(terms.key), "The service sends no valid key of this study.");
  must(
    invitation.key === null || invitation.key === terms.key,
    "The service presents another key than your invitation names.",
  );
  must(
    terms.shares.length > 0 && terms.shares.every((share) => share > 0 && share <= 1),
    "The plan of this study has no valid shares of its rounds.",
  );
  must(terms.alpha > 0 && terms.low < terms.high, "The plan of this study has no valid α or bounds.");
  return { ...terms, round: slotOf(terms.study, terms.shares, participantName(invitation.token)) };
}

/** What this browser keeps of the terms when it first sees them. */
export function pinOf({ study, key, planId, alpha, low, high }) {
  return { study, key, planId, alpha, low, high };
}

/** Refuses terms that are not those that were pinned. */
export function checkPinned(pin, terms) {
  must(pin.key === terms.key, "The key of this study has changed since you first opened your invitation.");
  must(terms.alpha <= pin.alpha, `The study now asks for a larger α (${terms.alpha} instead of ${pin.alpha}).`);
  must(
    pin.low === terms.low && pin.high === terms.high,
    "The bounds of this study have changed since you first opened your invitation.",
  );
  must(pin.planId === terms.planId, "The plan of this study has changed since you first opened your invitation.");
}

/** The question of an answer of the service, if it is the one of these terms and signed with their key. */
export async function checkedQuestion(document, terms) {
  const question = read(document.question);
  must(
    question.study === terms.study && question.target === terms.target && Number(question.round) === terms.round,
    "The service sends a question of another study, target or round.",
  );
  must(
    question.alpha <= terms.alpha,
    `The question would spend α = ${question.alpha}, the study promised ${terms.alpha}.`,
  );
  must(
    question.statistic.low === terms.low && question.statistic.high === terms.high,
    "The bounds of the question are not those of the study.",
  );
  must(question.id === document.question_id, "The question does not have the identity that the service names.");
  must(
    await isSigned(question, terms.planId, terms.key, document.signature),
    "The question is not signed with the key of this study.",
  );
  return question;
}

function read(document) {
  try {
    return questionOf(document);
  } catch (problem) {
    throw new Refusal(`The question is not one that this device answers: ${problem.message}.`);
  }
}

function must(condition, sentence) {
  if (!condition) throw new Refusal(sentence);
}
