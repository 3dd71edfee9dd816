// Types of the device. Documents are what `parse` makes of JSON: integers are bigint, other numbers are numbers.

/** What `parse` makes of a JSON text. */
export type Json = null | boolean | string | number | bigint | Json[] | { [key: string]: Json };

/** A record: a bare value, or an object with one for each column; what is missing is absent, null or undefined. */
export type Cell = number | string | boolean | null | undefined;
export type PersonalRecord = Cell | { [column: string]: Cell };

/** All that a question is answered with: how many records count, and the mean of the statistic over them. */
export interface Summary {
  readonly size: number;
  readonly mean: number;
}

export interface Statistic {
  readonly kind: string;
  readonly column: string;
  summarise(records: Iterable<PersonalRecord>): Summary;
}

/** The public, frozen parameters of one slot; its privacy loss was checked when it was built. */
export interface Question {
  readonly study: string;
  readonly target: string;
  readonly round: number | bigint;
  readonly alpha: number;
  readonly statistic: Statistic;
  /** The one text that its identity is taken from. */
  readonly canonical: string;
  /** SHA-256 of that text, in hexadecimal digits. */
  readonly id: string;
}

export interface Report {
  /** Which of the lens's windows a coin drew. */
  readonly window: number;
  /** What the channel drew. */
  readonly value: number | bigint;
}

export interface DrawnReport extends Report {
  /** All that ever leaves the device. */
  readonly bytes: Uint8Array;
}

/** A report on the records, drawn with the machine's secure generator; every call draws anew. */
export function answer(question: Question, records: Iterable<PersonalRecord>): DrawnReport;

/** What of a person's records a question is about; where one of them is drawn, by the machine's secure generator. */
export function summarise(question: Question, records: Iterable<PersonalRecord>): Summary;

/** The same for records that were summarised before. */
export function respond(question: Question, person: Summary): DrawnReport;

/** The value of a JSON text, in which integers and doubles stay different. */
export function parse(text: string): Json;

/** The one text of a value that its identity is taken from. */
export function canonical(value: Json): string;

/** The question that a document describes; one that would spend more than its α is refused. */
export function questionOf(document: Json): Question;

/** The report in some bytes, if they are an answer to the question. */
export function decode(question: Question, bytes: Uint8Array): Report;

/** Whether a study's key signed the question, for a plan. Identity, key and signature are hexadecimal digits. */
export function isSigned(question: Question, planId: string, publicKey: string, signature: string): Promise<boolean>;

/** The public name of a participant: SHA-256 of her token. */
export function participantName(token: string): string;

/** The place, in the list of a study's slots with these shares, of the one in which a participant answers. */
export function slotOf(study: string, shares: readonly number[], participant: string): number;
