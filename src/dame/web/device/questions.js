// Questions: the public, frozen parameters of one slot: a header, a statistic, a lens and a channel.
//
// A question is checked when it is read, its privacy loss included: whoever wrote the document, a question that would
// spend more than its α cannot be built.

import { toHex, utf8 } from "./bytes.js";
import { CHANNELS } from "./channels.js";
import { printable, real, whole } from "./checks.js";
import { InvalidInput } from "./errors.js";
import { within } from "./exact.js";
import { canonical } from "./json.js";
import { LENSES } from "./lenses.js";
import { oneOf, Part } from "./parts.js";
import { sha256 } from "./sha256.js";
import { STATISTICS } from "./statistics.js";

class Question extends Part {
  static fields = {
    version: whole(1n, 1n),
    study: printable(128),
    target: printable(64),
    round: whole(0n, 63n),
    alpha: real(1e-6, 32),
    statistic: oneOf(STATISTICS),
    lens: oneOf(LENSES),
    channel: oneOf(CHANNELS),
  };

  constructor(document) {
    super("question", document);
    const { alpha, lens, channel } = this;
    if (lens.bins !== channel.bins)
      throw new InvalidInput("bins of the channel", channel.bins, `those of the lens, ${lens.bins}`);
    if (!within(channel.loss(lens.differences), alpha))
      throw new InvalidInput("channel", "a larger loss", `such that the privacy loss is at most alpha = ${alpha}`);
  }

  /** The one text that the identity is taken from, and the key of the study signs. */
  get canonical() {
    return canonical(this);
  }

  get id() {
    return toHex(sha256(utf8(this.canonical)));
  }
}

/** The question that a document (of `parse`) describes; InvalidInput for anything missing, unknown or out of range. */
export function questionOf(document) {
  return Object.freeze(new Question(document));
}
