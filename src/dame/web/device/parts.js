// What a question, its statistic, its lens and its channel have in common: objects that are checked at birth.

import { InvalidInput } from "./errors.js";

/** An object with the fields of a document; the `fields` of its class are the check of each. Integers are BigInts. */
export class Part {
  constructor(what, document) {
    const { fields } = this.constructor;
    if (typeof document !== "object" || document === null || Array.isArray(document))
      throw new InvalidInput(what, document, "a JSON object");
    const missing = Object.keys(fields).find((name) => !Object.hasOwn(document, name));
    if (missing !== undefined) throw new InvalidInput(what, document, `an object with the key '${missing}'`);
    const unknown = Object.keys(document).find((name) => !Object.hasOwn(fields, name));
    if (unknown !== undefined) throw new InvalidInput(what, unknown, "an object without unknown keys");
    for (const [name, check] of Object.entries(fields)) this[name] = check(name, document[name]);
  }
}

/** The check of a field that is a part: it becomes an object of the class that its kind names in a registry. */
export function oneOf(classes) {
  return (what, document) => {
    const kind = typeof document === "object" ? document?.kind : document;
    const part = classes.get(kind);
    if (!part) throw new InvalidInput(`${what} kind`, kind, `one of ${[...classes.keys()].join(", ")}`);
    return Object.freeze(new part(what, document));
  };
}

/** The check of `kind` itself, by which the class was found. */
export const kind = (_, word) => word;
