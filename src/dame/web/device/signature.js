// Is this the question that the study's key has signed? Ed25519 by the browser's own cryptography.

import { fromHex, utf8 } from "./bytes.js";
import { CannotCheck } from "./errors.js";

const PREFIX = "dame-question-v1\n";

/** Whether `signature` (hex) is the one of the key `publicKey` (hex) on a question of a plan. */
export async function isSigned(question, planId, publicKey, signature) {
  const subtle = globalThis.crypto?.subtle;
  if (!subtle)
    throw new CannotCheck("this page cannot check signatures here: open it over https (or on the same computer)");
  const raw = fromHex("public key", publicKey);
  const key = await subtle.importKey("raw", raw, "Ed25519", false, ["verify"]).catch((problem) => {
    if (problem.name !== "NotSupportedError") throw problem;
    throw new CannotCheck("this browser cannot check Ed25519 signatures: please use a current version");
  });
  const message = utf8(`${PREFIX}${planId}\n${question.canonical}`);
  return subtle.verify("Ed25519", key, fromHex("signature", signature), message);
}
