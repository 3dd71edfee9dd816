// What can go wrong on the device. The `kind` of an error is its class, as docs/vectors.md names it.

export class DameError extends Error {
  name = this.constructor.name;
  kind = this.constructor.name;
}

/** A document that must be refused: which field, what it held, what is allowed. */
export class InvalidInput extends DameError {
  constructor(field, value, allowed) {
    super(`${field} must be ${allowed}: got ${shown(value)}`);
    this.field = field;
  }
}

/** Records that no report can be made of. The message never contains a record. */
export class BadRecords extends DameError {}

/** Bytes that are no report of a question; the reason is `length`, `question` or `range`. */
export class RejectedReport extends DameError {
  constructor(reason, message) {
    super(message);
    this.reason = reason;
  }
}

/** The browser lacks what the check of a signature needs: nothing may be answered. */
export class CannotCheck extends DameError {}

function shown(value) {
  if (typeof value === "object" && value !== null) return Array.isArray(value) ? "a list" : "an object";
  const text = typeof value === "string" ? `'${value}'` : String(value);
  return text.length <= 60 ? text : `${text.slice(0, 59)}…`;
}
