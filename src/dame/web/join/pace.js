// When the page speaks next: at moments that do not depend on how long her records took to read.

const PACE = 3000;

let heardAt = 0;

/** What a request comes to; the paces are counted from its end. */
export async function hearing(request) {
  try {
    return await request;
  } finally {
    heardAt = performance.now();
  }
}

/** Waits until a whole number of paces, at least one, has gone by since the service was heard. */
export function paced() {
  const paces = Math.max(Math.ceil((performance.now() - heardAt) / PACE), 1);
  return new Promise((resolve) => setTimeout(resolve, heardAt + paces * PACE - performance.now()));
}
