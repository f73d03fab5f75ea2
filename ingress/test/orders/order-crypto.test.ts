import { secp256k1 } from '@noble/curves/secp256k1.js';
import { openOrderCrypto, openWithoutBinaries } from '@pm/domain/orders/order-crypto.io';
import type { Recovery } from '@pm/domain/orders/signature';
import { Random } from '@pm/kit/random';
import { walletOf, withHighS } from '../wallet-fixture.ts';

const binary = openOrderCrypto();
const without = openWithoutBinaries();
const order = secp256k1.Point.Fn.ORDER;
const prime = secp256k1.Point.Fp.ORDER;

const word = (value: bigint) => Buffer.from(value.toString(16).padStart(64, '0'), 'hex');
const zero = word(0n);

function randomBytes(random: Random, bytes: number): Buffer {
  return Buffer.from(Array.from({ length: bytes }, () => random.below(256)));
}

/** The key or null, which both must give. */
function recover(rs: Buffer, hash: Buffer, recovery: Recovery): string | null {
  const [one, other] = [binary, without].map(({ curve }) => curve.recoverKey(rs, recovery, hash));
  const found = one?.toString('hex') ?? null;
  expect([rs.toString('hex'), recovery, other?.toString('hex') ?? null]).toEqual([
    rs.toString('hex'),
    recovery,
    found,
  ]);
  return found;
}

const both = (rs: Buffer, hash: Buffer) => ([0, 1] as const).map((one) => recover(rs, hash, one));

test('Linux on x64 has the binaries, with which the others are compared', () => {
  const isCompared = process.platform === 'linux' && process.arch === 'x64';
  const replaced = isCompared ? [] : binary.replaced;
  expect([binary.replaced, without.replaced]).toEqual([replaced, ['keccak', 'secp256k1']]);
});

test('without binaries hashes are the same, of every length up to three blocks and one by one', () => {
  const random = new Random(7);
  for (let bytes = 0; bytes <= 3 * 136; bytes += 1) {
    const data = randomBytes(random, bytes);
    expect(without.keccak(data)).toEqual(binary.keccak(data));
  }
});

test('without binaries the same key is recovered of signatures, of their high s, and of the other parity', () => {
  const random = new Random(8);
  for (let number = 1; number <= 60; number += 1) {
    const hash = number === 1 ? zero : randomBytes(random, 32);
    const signature = walletOf(number).sign(hash);
    const [low, high] = [signature, withHighS(signature)].map((text) =>
      Buffer.from(text.slice(2), 'hex').subarray(0, 64),
    );
    for (const rs of [low, high]) expect(both(rs ?? zero, hash)).not.toContain(null);
  }
});

test('without binaries the same r and s belong to no key, or to the same one', () => {
  const random = new Random(9);
  const edges = [
    0n,
    1n,
    2n,
    order / 2n,
    order / 2n + 1n,
    order - 1n,
    order,
    order + 1n,
    prime - 1n,
  ];
  const words = [...edges, prime, prime + 1n, 2n ** 256n - 1n].map(word);
  const pairs = words.flatMap((r) => words.map((s) => Buffer.concat([r, s])));
  const made = Array.from({ length: 200 }, () => randomBytes(random, 64));
  const hashes = [zero, word(1n), word(order), word(2n ** 256n - 1n), randomBytes(random, 32)];
  const found = [...pairs, ...made].flatMap((rs) => hashes.flatMap((hash) => both(rs, hash)));
  expect(found.filter((key) => key === null).length).toBeGreaterThan(1_000);
  expect(found.filter((key) => key !== null).length).toBeGreaterThan(500);
});

test('without binaries a signature whose key is the point at infinity belongs to no key', () => {
  // With R = k·G and s·k = hash the recovered key is the zero point.
  const k = 12345n;
  const r = secp256k1.Point.BASE.multiply(k).toAffine().x;
  const s = 777n;
  const hash = word((s * k) % order);
  expect(both(Buffer.concat([word(r), word(s)]), hash)).toContain(null);
});

test('without binaries bytes of another length belong to no key', () => {
  const hash = Buffer.alloc(32, 1);
  for (const bytes of [0, 63, 65]) expect(both(Buffer.alloc(bytes, 1), hash)).toEqual([null, null]);
  for (const bytes of [0, 31, 33])
    expect(both(Buffer.alloc(64, 1), Buffer.alloc(bytes, 1))).toEqual([null, null]);
});

test('both give the same address of a key', () => {
  const random = new Random(10);
  const key = Buffer.concat([Buffer.of(4), randomBytes(random, 64)]);
  expect(without.curve.addressOf(key)).toEqual(binary.curve.addressOf(key));
});
