// Her records: typed, or out of a file with one or several columns, of which only that of her question is read.

import { byId, fill, h, hide, show } from "../page/dom.js";
import { columnNamed, columnOf, likelyColumn, tableOf, typedValues } from "./readings.js";
import { statisticView } from "./statistics.js";
import { showAbsent, showRead } from "./views.js";

const LARGEST_FILE = 200e6;
const INPUTS = ["file", "column", "typed", "leave", "none", "draw", "have-yes", "have-no", "weak"];
const NOTHING = { values: [], bad: [], empty: 0 };

/** Shows the form that a statistic needs; `draw` is given her records, when she has agreed. */
export function askForRecords(statistic, draw) {
  forget();
  const view = statisticView(statistic);
  const plain = view.direct !== null;
  byId("numbers-title").textContent = plain ? "Your answer" : `Your ${view.records}`;
  const others = view.column ? `; other columns than ${view.column} are not looked at` : "";
  byId("numbers-text").textContent = plain
    ? "Only whether you have any counts, not what they say. Your answer is read here, in this page, and nowhere else."
    : `Open a file or type them in. They are read here, in this page, and nowhere else${others}.`;
  show(byId("entry"), !plain);
  show(byId("have"), plain);
  byId("have-text").textContent = view.direct ?? "";
  byId("typed-label").textContent = view.hint;
  byId("none-text").textContent = `I have no ${view.records}`;
  let records = null; // null: nothing to draw from yet
  const update = () => {
    const weak = !byId("weak-field").hidden;
    byId("draw").disabled = records === null || (weak && !byId("weak").checked);
  };
  const offer = (found) => {
    records = found;
    update();
  };
  byId("weak").onchange = update;
  if (plain) askWhether(offer);
  else new Entry(statistic, view, offer);
  byId("draw").onclick = () => {
    const chosen = records;
    forget();
    hide("numbers");
    draw(chosen);
  };
  show(byId("numbers"));
}

/** Removes what she entered from the page, and all listeners with it. */
function forget() {
  for (const id of ["typed", "file"]) byId(id).value = "";
  for (const id of ["leave", "none", "have-yes", "have-no", "weak"]) byId(id).checked = false;
  for (const id of INPUTS) for (const event of ["onchange", "oninput", "onclick"]) byId(id)[event] = null;
  byId("draw").disabled = true;
  fill(byId("read"));
  hide("column-field", "leave-field");
}

function askWhether(offer) {
  byId("have-yes").onchange = () => offer(["yes"]);
  byId("have-no").onchange = () => offer([]);
}

/** The form for values: a file and its column, or typing, or none at all. */
class Entry {
  table = null;
  found = NOTHING;
  where = "";

  constructor(statistic, view, offer) {
    Object.assign(this, { statistic, view, offer });
    byId("file").onchange = ({ target }) => this.open(target.files[0]);
    byId("column").onchange = ({ target }) => this.choose(Number(target.value));
    byId("typed").oninput = ({ target }) => this.type(target.value);
    byId("leave").onchange = () => this.update();
    byId("none").onchange = () => this.update();
  }

  type(text) {
    byId("file").value = "";
    hide("column-field");
    this.set(typedValues(text, this.view.texts));
  }

  async open(file) {
    byId("typed").value = "";
    hide("column-field");
    if (!file) return this.set(NOTHING);
    if (file.size > LARGEST_FILE) return this.complain("This file is larger than 200 MB.");
    try {
      this.table = tableOf(await file.text());
    } catch (problem) {
      return this.complain(`This file cannot be used: ${problem.message}.`);
    }
    return this.takeColumn();
  }

  /** Takes the column that the study names; where there is none of that name, she chooses. */
  takeColumn() {
    const { column } = this.statistic;
    const { columns, headed } = this.table;
    const place = columnNamed(this.table, column);
    const others = columns.length > 1;
    if (place >= 0)
      return this.choose(place, others ? `Only the column “${columns[place]}” of ${columns.length} was read.` : "");
    if (columns.length === 1 && !(headed && column)) return this.choose(0);
    const missing = column && headed;
    const likely = missing ? -1 : likelyColumn(this.table);
    const option = (name, index) => h("option", { value: index, selected: index === likely }, name);
    const none = missing ? h("option", { value: -1, selected: true }, "none of them") : null;
    fill(byId("column"), none, columns.map(option));
    show(byId("column-field"));
    if (!missing) return this.choose(likely);
    return this.set(
      NOTHING,
      `This file has no column “${column}”. Choose the one that holds it, or say that you have none.`,
    );
  }

  choose(place, where = "") {
    return place < 0 ? this.set(NOTHING) : this.set(columnOf(this.table, place, this.view.texts), where);
  }

  set(found, where = "") {
    Object.assign(this, { found, where });
    if (found.values.length) byId("none").checked = false;
    this.update();
  }

  complain(sentence) {
    this.found = NOTHING;
    this.update();
    fill(byId("read"), h("p", { class: "error" }, sentence));
  }

  update() {
    const { values, bad } = this.found;
    const leaveOut = byId("leave").checked;
    show(byId("leave-field"), bad.length > 0 && values.length > 0);
    if (byId("none").checked) {
      showAbsent(this.statistic);
      return this.offer([]);
    }
    showRead(this.found, this.statistic, { leaveOut, where: this.where });
    return this.offer(values.length > 0 && (!bad.length || leaveOut) ? values : null);
  }
}
