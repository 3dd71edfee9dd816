// What the pages ask of the service. No cookies: a secret travels in a header, and only where one is given.

const BASE = "api/v1/studies"; // relative, so that the service may live below any path

const AT_ONCE = 10_000;

/** A refusal of the service: its reason in one word, its detail in one sentence. */
export class Problem extends Error {
  constructor(status, body) {
    super(body.detail ?? body.title ?? `the service answered with status ${status}`);
    this.status = status;
    this.reason = body.reason ?? "failed";
    this.body = body;
  }
}

/** The service did not answer. */
export class Unreachable extends Error {
  constructor() {
    super("The service does not answer. Are you connected?");
    this.reason = "unreachable";
  }
}

export function pathOf(study, ...rest) {
  return [BASE, study, ...rest].map((part, index) => (index ? encodeURIComponent(part) : part)).join("/");
}

/** The text of an answer. `secret` goes into the Authorization header; `body` is JSON text or bytes. */
export async function ask(path, { method = "GET", secret = null, body = null } = {}) {
  const headers = { Accept: "application/json" };
  if (secret) headers.Authorization = `Bearer ${secret}`;
  if (body !== null)
    headers["Content-Type"] = typeof body === "string" ? "application/json" : "application/octet-stream";
  const answer = await reached(path, {
    method,
    headers,
    body,
    credentials: "omit",
    cache: "no-store",
    referrerPolicy: "no-referrer",
  });
  const text = await answer.text();
  if (!answer.ok) throw new Problem(answer.status, problemOf(text));
  return text;
}

async function reached(path, options) {
  try {
    return await fetch(path, options);
  } catch {
    throw new Unreachable();
  }
}

function problemOf(text) {
  try {
    const body = JSON.parse(text);
    return typeof body === "object" && body !== null ? body : {};
  } catch {
    return {};
  }
}

/** The public list of studies. */
export async function studies() {
  return JSON.parse(await ask(BASE)).studies;
}

/** Everything that an administrator sees of a study. */
export async function status(study, secret) {
  return JSON.parse(await ask(pathOf(study, "status"), { secret }));
}

/** Closes a round, also one with fewer reports than the study waits for: whoever calls this has asked. */
export async function closeRound(study, round, secret) {
  const body = JSON.stringify({ anyway: true });
  return JSON.parse(await ask(pathOf(study, "rounds", round, "close"), { method: "POST", secret, body }));
}

/** So many invitations, {token, link} each, for people of a group; null where the study has no groups. */
export async function invite(study, number, group, secret) {
  const made = [];
  while (made.length < number) {
    const body = JSON.stringify({ count: Math.min(number - made.length, AT_ONCE), group });
    made.push(...JSON.parse(await ask(pathOf(study, "invitations"), { method: "POST", secret, body })).invitations);
  }
  return made;
}

/** A new study: `told` is its title, and who asks and why. The text of the plan travels as it is: a plan read and written again here could lose digits. */
export async function create(planText, told, secret) {
  const body = `{"plan": ${planText}, ${JSON.stringify(told).slice(1)}`;
  return JSON.parse(await ask(BASE, { method: "POST", secret, body }));
}
