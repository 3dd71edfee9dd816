// The list of all studies, and the form for a new one.

import { create, studies } from "../page/api.js";
import { byId, download, fill, h, show } from "../page/dom.js";
import { keyOf } from "./keys.js";

const ABOUT = ["asker", "purpose", "contact", "consent"];

/** Shows the list. */
export async function showHome() {
  const found = await studies();
  fill(byId("list"), found.length ? found.map(studyItem) : h("li", { class: "quiet" }, "There is no study yet."));
}

function studyItem({ study, title, state }) {
  const name =
    title && title !== study ? [h("strong", {}, title), h("span", { class: "quiet" }, study)] : h("strong", {}, study);
  return h(
    "li",
    {},
    h("a", { href: addressOf(study) }, h("span", {}, name), h("span", { class: `badge ${state}` }, state)),
  );
}

function addressOf(study) {
  return `#${new URLSearchParams({ study })}`;
}

/** Creates the study that the form describes, and shows its key, once. */
export async function createStudy() {
  const text = await byId("plan").files[0].text();
  checkPlan(text);
  const about = Object.fromEntries(ABOUT.map((name) => [name, byId(name).value.trim()]));
  const told = { title: byId("name").value.trim() || null, about };
  const made = await create(text, told, byId("operator").value.trim() || null);
  byId("create").reset();
  keyOf.keep(made.study, made.administrator_key);
  showCreated(made);
  await showHome();
}

function checkPlan(text) {
  try {
    if (typeof JSON.parse(text).study === "string") return;
  } catch {
    // said below
  }
  throw new Error("This file is no plan: it must be JSON as `dame plan --out plan.json` writes it.");
}

function showCreated({ study, administrator_key: key }) {
  fill(
    byId("created"),
    h("h3", {}, `The study “${study}” is there`),
    h("p", {}, "This is its administrator key. It is shown now and never again: keep it."),
    h("p", { class: "secret", id: "administrator-key" }, key),
    h(
      "div",
      { class: "row" },
      h("button", { type: "button", click: () => saveAccess(study, key) }, "Save it as a file"),
      h("a", { href: addressOf(study) }, "Open the study"),
    ),
  );
  show(byId("created"));
  byId("created").focus();
}

/** The file that `dame study … --access FILE` reads. */
function saveAccess(study, key) {
  const server = new URL(".", location.href).href.replace(/\/$/, "");
  const access = JSON.stringify({ server, study, administrator_key: key }, null, 1);
  download(`${fileName(study)}-access.json`, `${access}\n`, "application/json");
}

/** A name for a file about a study. */
export function fileName(study) {
  return study.replace(/[^\p{L}\p{N}._-]+/gu, "-");
}
