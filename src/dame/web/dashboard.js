// The page of an administrator: studies, one study live, and what may be done with it.
//
// The administrator's key lives in this tab only (sessionStorage) and travels in a header, never in an address or a
// cookie: no other site can act in her name.

import { closeRounds, forgetActions, invitePeople, offerActions } from "./dashboard/actions.js";
import { createStudy, showHome } from "./dashboard/home.js";
import { keyOf } from "./dashboard/keys.js";
import { showStatus } from "./dashboard/views.js";
import { status, studies } from "./page/api.js";
import { byId, guardSkipLink, show } from "./page/dom.js";
import { plural } from "./page/words.js";

const EVERY = 2000;
const SLOWEST = 30_000;

let watched = null; // {study, key, shown, timer, pause}

function route() {
  stop();
  byId("news").textContent = "";
  const study = new URLSearchParams(location.hash.slice(1)).get("study");
  show(byId("home"), !study);
  show(byId("study"), Boolean(study));
  if (study) return openStudy(study);
  document.title = "Studies · DAME";
  return guarded(showHome);
}

byId("create").addEventListener("submit", (event) => {
  event.preventDefault();
  guarded(createStudy);
});

// --- one study

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
  forgetActions();
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
  offerActions(found, close);
  mine.shown = text;
  mine.found = found;
}

/** Draws a status anew; what was opened or shut by hand stays so. */
function redraw(found) {
  const nameOf = (one) => JSON.stringify(one.dataset);
  const parts = () => [...document.querySelectorAll("#inside details")];
  const before = new Map(parts().map((one) => [nameOf(one), one.open]));
  showStatus(found);
  for (const one of parts()) one.open = before.get(nameOf(one)) ?? one.open;
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
    await invitePeople(watched);
    await look(watched);
  });
});

function close(slots) {
  guarded(async () => {
    const mine = watched;
    const after = await closeRounds(slots, mine);
    if (after && watched === mine) present(mine, after);
  });
}

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

guardSkipLink();
addEventListener("hashchange", route);
route();
