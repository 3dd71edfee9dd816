// SHA-256 (FIPS 180-4). Written here because the browser's own is only offered asynchronously.

// The first 32 bits after the point of square roots and of cube roots of the first primes, written out: what a machine's
// Math.cbrt gives is left to it, and one wrong bit would change every identity.
const START = [
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
];
const ROUND = Int32Array.of(
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
);

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
