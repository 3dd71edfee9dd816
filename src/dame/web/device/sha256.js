// SHA-256 (FIPS 180-4). Written here because the browser's own is only offered asynchronously.

const PRIMES = firstPrimes(64);
const START = PRIMES.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)));
const ROUND = Int32Array.from(PRIMES, (prime) => fraction(Math.cbrt(prime)));

function firstPrimes(count) {
  const found = [];
  for (let number = 2; found.length < count; number += 1) {
    if (found.every((prime) => number % prime)) found.push(number);
  }
  return found;
}

/** The first 32 bits after the point. */
function fraction(root) {
  return ((root - Math.floor(root)) * 2 ** 32) | 0;
}

/** The 32 bytes of SHA-256 of some bytes. */
export function sha256(bytes) {
  const message = padded(bytes);
  const state = Int32Array.from(START);
  const schedule = new Int32Array(64);
  for (let start = 0; start < message.byteLength; start += 64) {
    fill(schedule, message, start);
    compress(state, schedule);
  }
  const digest = new DataView(new ArrayBuffer(32));
  state.forEach((word, index) => digest.setInt32(4 * index, word));
  return new Uint8Array(digest.buffer);
}

function padded(bytes) {
  const length = Math.ceil((bytes.length + 9) / 64) * 64;
  const message = new Uint8Array(length);
  message.set(bytes);
  message[bytes.length] = 0x80;
  const view = new DataView(message.buffer);
  view.setBigUint64(length - 8, 8n * BigInt(bytes.length));
  return view;
}

function turned(word, by) {
  return (word >>> by) | (word << (32 - by));
}

function fill(schedule, message, start) {
  for (let i = 0; i < 16; i += 1) schedule[i] = message.getInt32(start + 4 * i);
  for (let i = 16; i < 64; i += 1) {
    const [far, near] = [schedule[i - 15], schedule[i - 2]];
    const s0 = turned(far, 7) ^ turned(far, 18) ^ (far >>> 3);
    const s1 = turned(near, 17) ^ turned(near, 19) ^ (near >>> 10);
    schedule[i] = schedule[i - 16] + s0 + schedule[i - 7] + s1;
  }
}

function compress(state, schedule) {
  let [a, b, c, d, e, f, g, h] = state;
  for (let i = 0; i < 64; i += 1) {
    const choice = (e & f) ^ (~e & g);
    const t1 = (h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + choice + ROUND[i] + schedule[i]) | 0;
    const majority = (a & b) ^ (a & c) ^ (b & c);
    const t2 = ((turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + majority) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + t1) | 0, c, b, a, (t1 + t2) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((word, index) => {
    state[index] += word;
  });
}
