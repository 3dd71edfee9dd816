// Numbers, dates and times in words.

const MINUS = "−";

/** A number with so many significant digits, without an exponent where people would not write one. */
export function short(value, digits = 4) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  const text = size >= 1e7 || size < 1e-4 ? value.toExponential(digits - 1) : String(Number(value.toPrecision(digits)));
  return text.replace("-", MINUS);
}

/** A number with as many decimals as an error of this size makes sensible. */
export function asFineAs(value, error) {
  if (!(error > 0)) return short(value);
  const decimals = Math.min(Math.max(1 - Math.floor(Math.log10(error)), 0), 12);
  return value.toFixed(decimals).replace("-", MINUS);
}

/** A count with thin spaces between thousands; no line breaks there. */
export function count(number) {
  return String(number).replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");
}

export function plural(number, one, many = `${one}s`) {
  return `${count(number)} ${number === 1 ? one : many}`;
}

/** From one number to another. */
export function range(from, to) {
  return `${short(from)} to ${short(to)}`;
}

/** Numbers as texts, with as many digits as tell different ones apart. */
export function apart(values) {
  const named = (digits) => values.map((value) => short(value, digits));
  const different = new Set(values).size;
  return named([4, 6, 8, 10, 12, 14].find((digits) => new Set(named(digits)).size === different) ?? 17);
}

/** One, another or a third. */
export function listed(names) {
  return names.length > 1 ? `${names.slice(0, -1).join(", ")} or ${names.at(-1)}` : names[0];
}

export function percent(share, digits = 0) {
  return `${(100 * share).toFixed(digits).replace("-", MINUS)}\u202f%`;
}

/** A time as people write it, from what the service sends. */
export function moment(text) {
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? text : date.toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
}
