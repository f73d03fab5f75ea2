/**
 * SHA-256 (FIPS 180-4) of short inputs, for key ids only: the core stays free of Node's modules, and keys change
 * rarely.
 */
export function sha256(message: Buffer): Buffer {
  const blocks = Math.floor((message.length + 8) / 64) + 1;
  const padded = Buffer.alloc(blocks * 64);
  padded.set(message);
  padded[message.length] = 0x80;
  padded.writeUInt32BE(Math.floor(message.length / 0x20000000), padded.length - 8);
  padded.writeUInt32BE((message.length * 8) >>> 0, padded.length - 4);
  const state = Int32Array.from(initial);
  for (let start = 0; start < padded.length; start += 64) digestBlock(state, padded, start);
  const digest = Buffer.alloc(32);
  for (const [index, word] of state.entries()) digest.writeInt32BE(word, index * 4);
  return digest;
}

function firstPrimes(count: number): readonly number[] {
  const found: number[] = [];
  for (let candidate = 2; found.length < count; candidate += 1) {
    if (found.every((prime) => candidate % prime !== 0)) found.push(candidate);
  }
  return found;
}

const primes = firstPrimes(64);

/** The first 32 bits after the binary point of the root of a prime, by whole numbers only. */
function rootBits(prime: number, degree: bigint): number {
  const target = BigInt(prime) << (32n * degree);
  let low = 0n;
  let high = 1n << 40n;
  while (high - low > 1n) {
    const middle = (low + high) / 2n;
    if (middle ** degree <= target) low = middle;
    else high = middle;
  }
  return Number(BigInt.asIntN(32, low));
}

const initial = primes.slice(0, 8).map((prime) => rootBits(prime, 2n));
const rounds = primes.map((prime) => rootBits(prime, 3n));

function rotate(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}

function scheduleOf(bytes: Buffer, start: number): Int32Array {
  const schedule = new Int32Array(64);
  for (let index = 0; index < 16; index += 1) {
    schedule[index] = bytes.readInt32BE(start + index * 4);
  }
  for (let index = 16; index < 64; index += 1) {
    const far = schedule[index - 15] as number;
    const near = schedule[index - 2] as number;
    const low = rotate(far, 7) ^ rotate(far, 18) ^ (far >>> 3);
    const high = rotate(near, 17) ^ rotate(near, 19) ^ (near >>> 10);
    schedule[index] =
      (schedule[index - 16] as number) + low + (schedule[index - 7] as number) + high;
  }
  return schedule;
}

function digestBlock(state: Int32Array, bytes: Buffer, start: number): void {
  const schedule = scheduleOf(bytes, start);
  const words = Int32Array.from(state);
  for (let index = 0; index < 64; index += 1) {
    const [a, b, c, d, e, f, g, h] = words as unknown as Octet;
    const mixE = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const choice = (e & f) ^ (~e & g);
    const first = h + mixE + choice + (rounds[index] as number) + (schedule[index] as number);
    const mixA = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const majority = (a & b) ^ (a & c) ^ (b & c);
    words.set([first + mixA + majority, a, b, c, d + first, e, f, g]);
  }
  words.forEach((word, index) => {
    state[index] = (state[index] as number) + word;
  });
}

type Octet = readonly [number, number, number, number, number, number, number, number];
