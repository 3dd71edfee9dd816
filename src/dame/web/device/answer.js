// The one place where private records are read: `answer(question, records)`.

import { SystemCoins } from "./coins.js";
import { encode } from "./reports.js";

/** {window, value, bytes}: a report on the records, drawn with the browser's generator.
 *
 * Every call draws afresh, and fresh noise averages away: a device keeps its first report and sends that one again.
 * Privacy: for any two lists of records, of any lengths, the probabilities of any report differ by a factor of at most
 * e^α. */
export function answer(question, records) {
  return answerWithCoins(question, records, new SystemCoins());
}

/** The report that given coins lead to: for tests and test vectors, never for a person's report. */
export function answerWithCoins(question, records, coins) {
  const { statistic, lens, channel } = question;
  const person = statistic.summarise(records);
  const window = lens.drawWindow(coins);
  const value = channel.draw(lens.reading(person, window), coins);
  return { window, value, bytes: encode(question, { window, value }) };
}
