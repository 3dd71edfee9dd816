// From a file or a typed text to numbers, each with the line it came from.

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const DECIMAL_COMMA = /^[+-]?\d+,\d+$/;

/** {columns, rows} of a file with one or several columns; rows are {line, cells}. */
export function tableOf(text) {
  const lines = text.replace(/^\uFEFF/, "").replace(/\r\n?/g, "\n");
  const delimiter = delimiterOf(lines);
  const rows = split(lines, delimiter).filter(({ cells }) => cells.some((cell) => cell !== ""));
  const width = rows.reduce((widest, { cells }) => Math.max(widest, cells.length), 0);
  const headed = rows.length > 0 && rows[0].cells.some((cell) => cell !== "" && !isNumber(cell, delimiter));
  const names = headed ? rows[0].cells : [];
  const columns = Array.from({ length: width }, (_, index) => names[index] || `column ${index + 1}`);
  return { delimiter, columns, rows: headed ? rows.slice(1) : rows };
}

/** {numbers, bad} of one column; `bad` are the {line, text} that are no numbers. */
export function columnOf({ rows, delimiter }, index) {
  const items = rows.map(({ line, cells }) => ({ line, text: cells[index] ?? "" }));
  return sorted(items, delimiter);
}

/** The column that holds most numbers. */
export function likelyColumn(table) {
  const found = table.columns.map((_, index) => columnOf(table, index).numbers.length);
  return found.indexOf(Math.max(...found));
}

/** {numbers, bad} of numbers typed one after the other, with spaces, commas, semicolons or line breaks between. */
export function typedNumbers(text) {
  const wordsOf = (line) => line.split(/[\s,;]+/).filter((word) => word !== "");
  const items = text.split("\n").flatMap((line, index) => wordsOf(line).map((word) => ({ line: index + 1, text: word })));
  return sorted(items, ",");
}

function sorted(items, delimiter) {
  const good = items.filter(({ text }) => isNumber(text, delimiter));
  const bad = items.filter(({ text }) => !isNumber(text, delimiter));
  return { numbers: good.map(({ text }) => numberOf(text)), bad };
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
