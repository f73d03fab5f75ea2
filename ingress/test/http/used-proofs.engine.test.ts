import { createHash } from 'node:crypto';
import { silentLog } from '@pm/kit/log';
import { openRedis, type RedisClient } from '@pm/kit/redis';
import { redisKeys, usedProofLimits } from '@pm/schemas/redis/keys';
import { engineUrl } from '../../../kit/test/engines.ts';
import { UsedProofs } from '../../src/http/used-proofs.io.ts';

const keys = redisKeys(`proofs-test-${process.pid}`);
const clients: RedisClient[] = [];
const windowMs = 30_000;
const used = [`refused:${windowMs}`, 'refused:1', `brief:${windowMs}`].map(keys.usedProofs);

function open(): RedisClient {
  const client = openRedis({ url: engineUrl('REDIS'), log: silentLog });
  clients.push(client);
  return client;
}

const digestOf = (text: string) => createHash('sha256').update(text).digest();
const proofOf = (text: string) =>
  ({ repetition: 'refused', digest: digestOf(text), windowMs }) as const;

afterAll(async () => {
  await clients[0]?.del(...used);
  for (const client of clients) client.disconnect();
});

test('of one request sent to two processes at once, one is the first', async () => {
  const [left, right] = [new UsedProofs(open(), keys), new UsedProofs(open(), keys)];
  for (let count = 0; count < 50; count += 1) {
    const proof = proofOf(`race ${count}`);
    const verdicts = await Promise.all([left, right, left, right].map((one) => one.note(proof)));
    expect(verdicts.filter(({ kind }) => kind === 'first')).toHaveLength(1);
    expect(verdicts.filter(({ kind }) => kind === 'again')).toHaveLength(3);
  }
  expect(await right.note({ ...proofOf('race 0'), repetition: 'brief' })).toEqual({
    kind: 'first',
  });
});

test('a proof is forgotten when its timestamp is stale for every clock', async () => {
  const proofs = new UsedProofs(open(), keys);
  const short = { ...proofOf('short'), windowMs: 1 };
  expect(await proofs.note(short)).toEqual({ kind: 'first' });
  const name = keys.usedProofs('refused:1');
  const firstMs = await clients[0]?.zscore(name, digestOf('short').subarray(0, 16));
  expect(await proofs.note(short)).toMatchObject({ kind: 'again' });
  const { clockMarginMs, graceMs } = usedProofLimits;
  const staleMs = Number(firstMs) - 2 - clockMarginMs - graceMs - 1;
  await clients[0]?.zadd(name, staleMs, digestOf('short').subarray(0, 16));
  expect(await proofs.note(short)).toEqual({ kind: 'first' });
});

test('a spent proof is no repetition of the last seconds, noted before or not', async () => {
  const proofs = new UsedProofs(open(), keys);
  const isOld = async (text: string) => {
    const verdict = await proofs.note(proofOf(text));
    return verdict.kind === 'again' && verdict.ageMs > usedProofLimits.graceMs;
  };
  await proofs.note({ ...proofOf('spent'), isSpent: true });
  expect(await isOld('spent')).toBe(true);
  await proofs.note(proofOf('noted'));
  await proofs.note({ ...proofOf('noted'), isSpent: true });
  expect(await isOld('noted')).toBe(true);
});

test('a proof that was first seen long after now is no repetition of the last seconds', async () => {
  const proofs = new UsedProofs(open(), keys);
  await proofs.note(proofOf('before the step'));
  // The clock of Redis is an hour further back than when the proof was noted.
  const name = keys.usedProofs(`refused:${windowMs}`);
  const member = digestOf('before the step').subarray(0, 16);
  const firstMs = Number(await clients[0]?.zscore(name, member));
  await clients[0]?.zadd(name, firstMs + 3_600_000, member);
  const verdict = await proofs.note(proofOf('before the step'));
  expect(verdict.kind === 'again' && verdict.ageMs > usedProofLimits.graceMs).toBe(true);
});

test('a proof takes no more bytes than are counted for it, and no more are noted than fit', async () => {
  const redis = open();
  await redis.del(...used);
  const count = 20_000;
  const proofs = new UsedProofs(redis, keys, count * usedProofLimits.proofBytes);
  const all = Array.from({ length: count }, (_, index) => proofOf(`many ${index}`));
  const atOnce = 500;
  for (let from = 0; from < count; from += atOnce) {
    const some = all.slice(from, from + atOnce);
    const verdicts = await Promise.all(some.map((proof) => proofs.note(proof)));
    expect(verdicts.every(({ kind }) => kind === 'first')).toBe(true);
  }
  expect(await proofs.note(proofOf('one more'))).toEqual({ kind: 'full' });
  expect(await proofs.note(proofOf('many 7'))).toMatchObject({ kind: 'again' });
  const bytes = Number(
    await redis.memory('USAGE', keys.usedProofs(`refused:${windowMs}`), 'SAMPLES', 0),
  );
  process.stdout.write(`a used proof takes ${(bytes / count).toFixed(0)} bytes of Redis\n`);
  expect(bytes / count).toBeLessThanOrEqual(usedProofLimits.proofBytes);
}, 60_000);
