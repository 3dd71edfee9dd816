// The one place where private records are read: `answer(question, records)`.

import { SystemCoins } from "./coins.js";
import { encode } from "./reports.js";

/** {window, value, bytes, person}: a report on the records, drawn with the browser's generator.
 *
 * Every call draws afresh, and fresh noise averages away: a device keeps its first report and sends that one again.
 * Privacy: for any two lists of records, of any lengths, the probabilities of any report differ by a factor of at most
 * e^α. */
export function answer(question, records) {
  return answerWithCoins(question, records, new SystemCoins());
}

/** What of a person's records a question is about; where one of them is drawn, by the operating system's generator. */
export function summarise(question, records) {
  return summaryWithCoins(question, records, new SystemCoins());
}

/** The same for a person whose records were summarised before: it takes as long whatever they were. */
export function respond(question, person) {
  return respondWithCoins(question, person, new SystemCoins());
}

/** The report that given coins lead to: for tests and test vectors, never for a person's report. */
export function answerWithCoins(question, records, coins) {
  return respondWithCoins(question, summaryWithCoins(question, records, coins), coins);
}

function summaryWithCoins({ statistic }, records, coins) {
  // Taken before the records are looked at, or not at all: which words are used tells nothing of them.
  return statistic.summarise(records, statistic.draws ? coins.words(1)[0] : 0n);
}

function respondWithCoins(question, person, coins) {
  const { lens, channel } = question;
  const window = lens.drawWindow(coins);
  const value = channel.draw(lens.reading(person, window), coins);
  return { window, value, bytes: encode(question, { window, value }) };
}
