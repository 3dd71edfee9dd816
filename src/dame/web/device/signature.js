// Is this the question that the study's key has signed? Ed25519 by the browser's own cryptography.

import { fromHex, utf8 } from "./bytes.js";
import { DameError } from "./errors.js";

const PREFIX = "dame-question-v1\n";

/** The browser lacks what the check needs: nothing may be answered. */
export class CannotCheck extends DameError {
  constructor(message) {
    super("CannotCheck", message);
  }
}

/** Whether `signature` (hex) is the one of the key `publicKey` (hex) on a question of a plan. */
export async function isSigned(question, planId, publicKey, signature) {
  const subtle = globalThis.crypto?.subtle;
  if (!subtle) {
    throw new CannotCheck("this page cannot check signatures here: open it over https (or on the same computer)");
  }
  const key = await imported(subtle, fromHex("public key", publicKey));
  const message = utf8(`${PREFIX}${planId}\n${question.canonical}`);
  return subtle.verify("Ed25519", key, fromHex("signature", signature), message);
}

async function imported(subtle, raw) {
  try {
    return await subtle.importKey("raw", raw, "Ed25519", false, ["verify"]);
  } catch (problem) {
    if (problem.name !== "NotSupportedError") return Promise.reject(problem);
    throw new CannotCheck("this browser cannot check Ed25519 signatures: please use a current version");
  }
}
