// The browser's memory: one report for each study, ever, and the terms that were first agreed to.
//
// A retry must send the same bytes again, because fresh noise averages away. A report is therefore stored before
// anybody sees it, in one transaction with the check that there was none; two open tabs cannot both draw one.

import { Refusal } from "./invitation.js";

const NAME = "dame";
const STORE = "studies";
const LONGEST_ASKING = 2000;

/** Opens the memory; a Refusal where the browser remembers nothing. */
export async function openMemory() {
  try {
    const request = globalThis.indexedDB.open(NAME, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE, { keyPath: "study" });
    return new Memory(await finished(request));
  } catch {
    throw new Refusal(
      "This browser keeps no memory for this page, as in some private windows. Without one it could not make sure that " +
        "you answer only once: please use an everyday window.",
    );
  }
}

/** Asks the browser not to forget by itself; what it says is shown nowhere, as it may change its mind. */
export async function askToStay() {
  const asking = globalThis.navigator?.storage?.persist?.();
  // Some browsers ask her, and wait for ever if she does not answer.
  await Promise.race([asking, new Promise((resolve) => setTimeout(resolve, LONGEST_ASKING))]).catch(() => false);
}

class Memory {
  constructor(database) {
    this.database = database;
  }

  /** What is remembered of a study after `pin` was offered: the first pin stays. */
  enrol(pin) {
    return this.change(pin.study, (stored) => stored ?? pin);
  }

  /** Keeps a report; if there is one already, that one stays. What is returned is on the disk. */
  keepReport(study, report) {
    return this.change(study, (stored) => (stored.report ? stored : { ...stored, report }));
  }

  /** Keeps the value by which the service knows this browser when it asks for the right to draw; the first one stays. */
  keepClaim(study, claim) {
    return this.change(study, (stored) => ({ ...stored, claim: stored.claim ?? claim }));
  }

  /** Keeps how long the public log of the service was, and the hash of its last entry. */
  keepLog(study, log) {
    return this.change(study, (stored) => ({ ...stored, log }));
  }

  /** Notes that the report was accepted. */
  markSent(study, time) {
    return this.change(study, (stored) => ({ ...stored, sent: stored.sent ?? time }));
  }

  /** Everything that is remembered. */
  async all() {
    return finished(this.database.transaction(STORE).objectStore(STORE).getAll());
  }

  async change(study, update) {
    const transaction = this.database.transaction(STORE, "readwrite", { durability: "strict" });
    const store = transaction.objectStore(STORE);
    const reading = store.get(study);
    let kept;
    reading.onsuccess = () => store.put((kept = update(reading.result)));
    await new Promise((resolve, reject) => {
      transaction.oncomplete = resolve;
      transaction.onabort = () => reject(transaction.error);
    });
    return kept;
  }
}

function finished(request) {
  return new Promise((resolve, reject) => {
    request.addEventListener("success", () => resolve(request.result));
    request.addEventListener("error", () => reject(request.error));
  });
}
