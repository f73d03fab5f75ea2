import { usedProofLimits } from '@pm/schemas/redis/keys';
import { AccountTopics } from '../accounts-fixture.ts';
import { answered, call, nowSeconds, openIngress, type SentRequest } from '../ingress-fixture.ts';
import { OwnersTopic } from '../owners-fixture.ts';
import { ProofMemory } from '../proofs-fixture.ts';
import { RetryMemory } from '../retry-fixture.ts';
import { SessionsTopic } from '../sessions-fixture.ts';

const timestamp = String(nowSeconds);
const createReadKey: SentRequest = { method: 'POST', url: '/auth/readonly-api-key', timestamp };
const cancelAll: SentRequest = { method: 'DELETE', url: '/cancel-all', timestamp };

/** Two processes with the same topics and the same Redis. */
async function openTwo(proofs = new ProofMemory()) {
  const owners = new OwnersTopic();
  const [accounts, sessions] = [new AccountTopics(), new SessionsTopic()];
  const open = async () => {
    const ingress = await openIngress(owners, 0, new RetryMemory(), accounts, sessions, proofs);
    ingress.fakes.answer = () => answered([]);
    return ingress;
  };
  return { proofs, left: await open(), right: await open() };
}

test('a captured request that grants something is refused by every process', async () => {
  const { left, right, proofs } = await openTwo();
  expect(await call(left, createReadKey)).toMatchObject({ status: 200 });
  for (const ingress of [left, right]) {
    expect(await call(ingress, createReadKey)).toMatchObject({
      status: 409,
      body: { code: 'request_repeated' },
    });
  }
  expect(proofs.repeated).toBe(2);
  const keys = await call(left, { method: 'GET', url: '/auth/readonly-api-keys' });
  expect(keys.body).toHaveLength(1);
});

test('other text of the same proof is the same proof', async () => {
  const { left } = await openTwo();
  expect(await call(left, createReadKey)).toMatchObject({ status: 200 });
  const changed = { ...createReadKey, url: '/auth/readonly-api-key?x=1' };
  expect(await call(left, changed)).toMatchObject({ status: 409 });
});

test('a cancel of everything may come twice within its second, and not later', async () => {
  const { left, right, proofs } = await openTwo();
  expect((await call(left, cancelAll)).status).toBe(200);
  proofs.nowMs += usedProofLimits.graceMs;
  expect((await call(right, cancelAll)).status).toBe(200);
  proofs.nowMs += 1;
  expect(await call(right, cancelAll)).toMatchObject({ status: 409 });
  expect((await call(right, { ...cancelAll, timestamp: String(nowSeconds + 1) })).status).toBe(200);
});

test('requests that are known by an id are not looked up', async () => {
  const { left, proofs } = await openTwo();
  const made = await call(left, createReadKey);
  proofs.isAway = true;
  const body = JSON.stringify({ key: made.body.apiKey });
  const revoke = { method: 'DELETE', url: '/auth/readonly-api-key', body, timestamp } as const;
  expect(await call(left, revoke)).toMatchObject({ status: 200 });
  expect(proofs.unnoted).toBe(0);
});

test('without the memory, or with a full one, cancels work and nothing is granted', async () => {
  const away = new ProofMemory();
  const full = new ProofMemory(0);
  for (const proofs of [away, full]) {
    const { left } = await openTwo(proofs);
    away.isAway = true;
    expect((await call(left, cancelAll)).status).toBe(200);
    const refused = await call(left, createReadKey);
    expect(refused).toMatchObject({ status: 503, body: { code: 'proofs_unavailable' } });
    expect(refused.headers['retry-after']).toBe('1');
    expect(proofs.unnoted).toBe(1);
  }
});

test('a request that proves nothing is not noted', async () => {
  const { left } = await openTwo();
  const forged = { ...createReadKey, signedBody: 'x' };
  expect((await call(left, forged)).status).toBe(401);
  expect((await call(left, forged)).status).toBe(401);
  expect((await call(left, createReadKey)).status).toBe(200);
});

test('a timestamp in milliseconds is fresh for half a minute, one in seconds for five', async () => {
  const { left } = await openTwo();
  const at = (text: string) => call(left, { ...cancelAll, timestamp: text });
  left.fakes.nowMs = nowSeconds * 1_000 + 30_001;
  expect((await at(`${nowSeconds}000`)).body).toMatchObject({ code: 'timestamp_skew' });
  expect((await at(`${nowSeconds}001`)).status).toBe(200);
  expect((await at(timestamp)).status).toBe(200);
});
