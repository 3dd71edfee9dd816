// The page of an administrator: studies, one study live, and what may be done with it.
//
// The administrator's key lives in this tab only (sessionStorage) and travels in a header, never in an address or a
// cookie: no other site can act in her name.

import { showStatus } from "./dashboard/views.js";
import { closeRound, create, invite, status, studies } from "./page/api.js";
import { byId, download, fill, guardSkipLink, h, show } from "./page/dom.js";
import { count, plural } from "./page/words.js";

const EVERY = 2000;
const SLOWEST = 30_000;

let watched = null; // {study, key, shown, timer, pause}

function route() {
  stop();
  byId("news").textContent = "";
  const study = new URLSearchParams(location.hash.slice(1)).get("study");
  show(byId("home"), !study);
  show(byId("study"), Boolean(study));
  return study ? openStudy(study) : showHome();
}

// --- all studies

async function showHome() {
  document.title = "Studies · DAME";
  await guarded(async () => {
    const found = await studies();
    fill(byId("list"), found.length ? found.map(studyItem) : h("li", { class: "quiet" }, "There is no study yet."));
  });
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

byId("create").addEventListener("submit", (event) => {
  event.preventDefault();
  guarded(async () => {
    const text = await byId("plan").files[0].text();
    checkPlan(text);
    const made = await create(text, byId("name").value.trim() || null, byId("operator").value.trim() || null);
    byId("create").reset();
    keyOf.keep(made.study, made.administrator_key);
    showCreated(made);
    await showHome();
  });
});

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

// --- one study

const keyOf = {
  name: (study) => `dame-administrator ${study}`,
  find: (study) => sessionStorage.getItem(keyOf.name(study)),
  keep: (study, key) => sessionStorage.setItem(keyOf.name(study), key),
  forget: (study) => sessionStorage.removeItem(keyOf.name(study)),
};

async function openStudy(study) {
  byId("title").textContent = study;
  document.title = `${study} · DAME`;
  byId("lead").textContent = "";
  const key = keyOf.find(study);
  show(byId("enter"), !key);
  show(byId("inside"), false);
  if (key) watch(study, key);
  else await guarded(async () => introduce(study));
}

async function introduce(study) {
  const found = (await studies()).find((one) => one.study === study);
  if (!found) throw new Error(`There is no study “${study}” on this server.`);
  byId("title").textContent = found.title || study;
  byId("lead").textContent = `This study is ${found.state}.`;
}

byId("enter").addEventListener("submit", (event) => {
  event.preventDefault();
  const study = new URLSearchParams(location.hash.slice(1)).get("study");
  keyOf.keep(study, byId("key").value.trim());
  byId("key").value = "";
  route();
});

byId("leave").addEventListener("click", () => {
  keyOf.forget(watched.study);
  route();
});

// --- watching

function watch(study, key) {
  watched = { study, key, shown: "", timer: null, pause: EVERY };
  look(watched);
}

function stop() {
  if (watched) clearTimeout(watched.timer);
  watched = null;
  live("", false);
}

function live(text, on) {
  byId("live").textContent = text;
  show(byId("live"), text !== "");
  byId("live").className = on ? "live" : "live paused";
}

async function look(mine) {
  clearTimeout(mine.timer);
  try {
    const found = await status(mine.study, mine.key);
    if (watched !== mine) return;
    present(mine, found);
    mine.pause = EVERY;
    byId("news").textContent = "";
    live("live", true);
  } catch (problem) {
    if (watched !== mine) return;
    if (problem.status === 401 || problem.status === 403 || problem.status === 404) return refuse(mine, problem);
    byId("news").textContent = problem.message;
    mine.pause = Math.min(2 * mine.pause, SLOWEST);
    live("waiting for the server", false);
  }
  if (!document.hidden) mine.timer = setTimeout(() => look(mine), mine.pause);
}

function refuse(mine, problem) {
  keyOf.forget(mine.study);
  stop();
  show(byId("inside"), false);
  show(byId("enter"), problem.status !== 404);
  byId("news").textContent =
    problem.status === 404
      ? `There is no study “${mine.study}” on this server.`
      : "This is not the administrator key of this study.";
}

function present(mine, found) {
  const text = JSON.stringify(found);
  byId("title").textContent = found.title || found.study;
  byId("lead").textContent = `${plural(totalOf(found), "report")} so far. This study is ${found.state}.`;
  show(byId("inside"));
  // Drawn again only when something has changed, so that nothing under a reader's hand moves.
  if (text === mine.shown) return;
  redraw(found);
  mine.shown = text;
  mine.found = found;
}

/** Draws a status anew; tables that were opened stay open. */
function redraw(found) {
  const tables = () => [...document.querySelectorAll("#histograms details")];
  const open = tables().map((one) => one.open);
  showStatus(found);
  tables().forEach((one, index) => {
    one.open = open[index] ?? false;
  });
}

function totalOf({ rounds }) {
  return rounds.reduce((sum, { reports }) => sum + reports, 0);
}

document.addEventListener("visibilitychange", () => {
  if (watched && !document.hidden) look(watched);
});
addEventListener("resize", () => {
  if (watched?.found) redraw(watched.found);
});

// --- acting

byId("invite").addEventListener("submit", (event) => {
  event.preventDefault();
  guarded(async () => {
    const { study, key } = watched;
    const made = await invite(study, Number(byId("number").value), key);
    const lines = made.map(({ token, link }) => `${token},${link}\n`).join("");
    download(`${fileName(study)}-invitations.csv`, `token,link\n${lines}`, "text/csv");
    byId("invited").textContent =
      `${plural(made.length, "invitation")} saved as a file. Give each person one link; nobody can read them again here.`;
    await look(watched);
  });
});

byId("close").addEventListener("click", () => {
  const open = watched.found.rounds.find((round) => round.state === "open");
  if (!open) return;
  const dialog = byId("confirm");
  byId("confirm-title").textContent = `Close round ${open.round + 1}?`;
  byId("confirm-text").textContent =
    `It has ${count(open.reports)} of ${count(Math.round(open.expected))} expected reports. A closed round cannot be opened again; who comes later is turned away.`;
  dialog.returnValue = "no";
  dialog.onclose = () => {
    if (dialog.returnValue === "yes")
      guarded(async () => present(watched, await closeRound(watched.study, open.round, watched.key)));
  };
  dialog.showModal();
});

/** Runs an action, and says in one sentence why it failed. */
async function guarded(action) {
  byId("news").textContent = "";
  try {
    await action();
  } catch (problem) {
    byId("news").textContent = problem.message;
    byId("news").scrollIntoView({ block: "nearest" });
  }
}

function fileName(study) {
  return study.replace(/[^\p{L}\p{N}._-]+/gu, "-");
}

guardSkipLink();
addEventListener("hashchange", route);
route();
