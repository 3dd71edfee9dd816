// What can go wrong on the device. The `kind` is the one of docs/vectors.md.

export class DameError extends Error {
  constructor(kind, message) {
    super(message);
    this.name = kind;
    this.kind = kind;
  }
}

/** A document that must be refused: which field, what it held, what is allowed. */
export class InvalidInput extends DameError {
  constructor(field, value, allowed) {
    super("InvalidInput", `${field} must be ${allowed}: got ${shown(value)}`);
    this.field = field;
  }
}

/** Records that no report can be made of. The message never contains a record. */
export class BadRecords extends DameError {
  constructor(message) {
    super("BadRecords", message);
  }
}

/** Bytes that are no report of a question; the reason is `length`, `question` or `range`. */
export class RejectedReport extends DameError {
  constructor(reason, message) {
    super("RejectedReport", message);
    this.reason = reason;
  }
}

/** Parts that do not belong together. */
export class Mismatch extends DameError {
  constructor(message) {
    super("Mismatch", message);
  }
}

function shown(value) {
  const text = typeof value === "string" ? `'${value}'` : typeof value === "object" ? kindOf(value) : String(value);
  return text.length <= 60 ? text : `${text.slice(0, 59)}…`;
}

function kindOf(value) {
  if (value === null) return "null";
  return Array.isArray(value) ? "a list" : "an object";
}
