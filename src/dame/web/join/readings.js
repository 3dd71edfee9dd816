// From a file or a typed text to values, each with the line it came from.

import { InvalidInput } from "../device/errors.js";

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const DECIMAL_COMMA = /^[+-]?\d+,\d+$/;

/** {columns, rows} of a file with one or several columns; rows are {line, cells}.
 *
 * A text that begins like a JSON list is read as one, of numbers or of objects: its cells are `typed`, and lines are
 * its records. Without a header, columns have no names of their own: `headed` is false. */
export function tableOf(text) {
  const plain = text.replace(/^\uFEFF/, "");
  if (/^\s*\[/.test(plain)) return jsonTable(plain);
  const lines = plain.replace(/\r\n?/g, "\n");
  const delimiter = delimiterOf(lines);
  const rows = split(lines, delimiter).filter(({ cells }) => cells.some((cell) => cell !== ""));
  const width = rows.reduce((widest, { cells }) => Math.max(widest, cells.length), 0);
  const headed = rows.length > 0 && rows[0].cells.some((cell) => cell !== "" && !isNumber(cell, delimiter));
  const names = headed ? rows[0].cells : [];
  const columns = Array.from({ length: width }, (_, index) => names[index] || `column ${index + 1}`);
  return { delimiter, headed, typed: false, columns, rows: headed ? rows.slice(1) : rows };
}

function jsonTable(text) {
  const items = listIn(text);
  const isRecord = (item) => typeof item === "object" && item !== null && !Array.isArray(item);
  const headed = items.length > 0 && items.every(isRecord);
  if (!headed && items.some((item) => typeof item === "object" && item !== null)) throw notAList();
  const columns = headed ? [...new Set(items.flatMap(Object.keys))] : ["column 1"];
  const cellsOf = (item) => (headed ? columns.map((name) => (Object.hasOwn(item, name) ? item[name] : null)) : [item]);
  const rows = items.map((item, index) => ({ line: index + 1, cells: cellsOf(item).map((cell) => cell ?? "") }));
  if (rows.some(({ cells }) => cells.some((cell) => typeof cell === "object"))) throw notAList();
  return { delimiter: "", headed, typed: true, columns, rows };
}

function listIn(text) {
  try {
    return JSON.parse(text);
  } catch {
    throw notAList();
  }
}

function notAList() {
  return new InvalidInput("file", "another one", "a JSON list of numbers, or of objects with texts and numbers");
}

/** The place of a column by its name, whatever its letters' case; -1 where there is none. */
export function columnNamed({ columns, headed }, name) {
  const plain = (text) => text.trim().toLowerCase();
  if (!headed || !name) return -1;
  const exact = columns.indexOf(name);
  return exact >= 0 ? exact : columns.findIndex((one) => plain(one) === plain(name));
}

/** {values, bad, empty} of one column: `bad` are the {line, text} that are no numbers, where texts are not asked for.
 *
 * `empty` counts the rows that have nothing there. */
export function columnOf({ rows, delimiter, typed }, index, texts = false) {
  const items = rows.map(({ line, cells }) => ({ line, cell: cells[index] ?? "" }));
  return sorted(items, texts, typed ? typedReader : (cell) => (isNumber(cell, delimiter) ? numberOf(cell) : null));
}

/** The column that holds most numbers. */
export function likelyColumn(table) {
  const found = table.columns.map((_, index) => columnOf(table, index).values.length);
  return found.indexOf(Math.max(...found));
}

/** The same of what was typed: numbers with spaces, commas, semicolons or line breaks between; texts, one on a line. */
export function typedValues(text, texts = false) {
  const words = (line) => (texts ? [line.trim()] : line.split(/[\s,;]+/)).filter((word) => word !== "");
  const items = text.split("\n").flatMap((line, index) => words(line).map((cell) => ({ line: index + 1, cell })));
  return sorted(items, texts, (cell) => (isNumber(cell, ",") ? numberOf(cell) : null));
}

function typedReader(cell) {
  if (typeof cell === "boolean") return Number(cell);
  return typeof cell === "number" && Number.isFinite(cell) ? cell : null;
}

/** Items {line, cell} in three parts; `numberIn` is the number that a cell stands for, or null. */
function sorted(items, texts, numberIn) {
  const some = items.filter(({ cell }) => cell !== "");
  const read = some.map((item) => ({ ...item, value: numberIn(item.cell) ?? (texts ? String(item.cell) : null) }));
  return {
    values: read.filter(({ value }) => value !== null).map(({ value }) => value),
    bad: read.filter(({ value }) => value === null).map(({ line, cell }) => ({ line, text: String(cell) })),
    empty: items.length - some.length,
  };
}

function isNumber(text, delimiter) {
  // Where commas do not separate cells, 3,5 is a number of half the world.
  return (NUMBER.test(text) || (delimiter !== "," && DECIMAL_COMMA.test(text))) && Number.isFinite(numberOf(text));
}

function numberOf(text) {
  return Number(text.replace(",", "."));
}

function delimiterOf(text) {
  const first = text.split("\n", 1)[0];
  return ["\t", ";", ","].find((mark) => first.includes(mark)) ?? ",";
}

/** Lines of cells, quoted ones with doubled quotes and line breaks inside. */
function split(text, delimiter) {
  const rows = [];
  let [row, cell, quoted, line] = [{ line: 1, cells: [] }, "", false, 1];
  const endCell = () => {
    row.cells.push(cell.trim());
    cell = "";
  };
  for (let place = 0; place < text.length; place += 1) {
    const letter = text[place];
    if (letter === "\n") line += 1;
    if (letter === '"' && quoted && text[place + 1] === '"') {
      cell += letter;
      place += 1;
    } else if (letter === '"' && (quoted || cell.trim() === "")) quoted = !quoted;
    else if (quoted || (letter !== delimiter && letter !== "\n")) cell += letter;
    else {
      endCell();
      if (letter === "\n") {
        rows.push(row);
        row = { line, cells: [] };
      }
    }
  }
  endCell();
  return [...rows, row];
}
