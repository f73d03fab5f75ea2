import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { testDomain } from '../../../kit/test/signing-domain.ts';
import {
  checkLimits,
  explanationLimits,
  SignaturePool,
} from '../../src/orders/signature-pool.io.ts';
import { accepted, crypto, jobFor, openRule, structOf } from '../signing-fixture.ts';
import { signedBy, type TestOrder, walletOf, zero32 } from '../wallet-fixture.ts';

/** A thread needs compiled JavaScript; `npm run test:unit` builds before it tests. */
const file = join(__dirname, '../../dist/orders/signature-worker.io.js');
const built = existsSync(file);
if (!built) process.stderr.write(`NOT RUN: checks in threads, because ${file} is not built\n`);
const given = built ? test : test.skip;

const owner = walletOf(7);
const { hasher, rule } = openRule();

function jobOf(salt: number) {
  const order: TestOrder = {
    salt,
    maker: owner.address,
    signer: owner.address,
    tokenId: '1',
    makerAmount: '1',
    takerAmount: '2',
    side: 'BUY',
    signatureType: 0,
    timestamp: '1',
    metadata: zero32,
    builder: zero32,
  };
  const { signature } = signedBy(owner, order, testDomain);
  return {
    ...jobFor(order, signature, owner.address),
    structHash: hasher.structHash(structOf(order)),
  };
}

const opened: SignaturePool[] = [];
afterEach(async () => {
  for (const pool of opened.splice(0)) await pool.close();
});

function open(workers: number) {
  const faults: unknown[] = [];
  const runner = new SignaturePool({
    workers,
    workerFile: pathToFileURL(file),
    domains: accepted,
    rule,
    hasher,
    curve: crypto.curve,
    onFault: (fault) => faults.push(fault),
  });
  opened.push(runner);
  return { runner, faults };
}

const caller = { client: '192.0.2.1', wallet: owner.address };
const jobs = Array.from({ length: 12 }, (_, index) => jobOf(index));

given('threads give the verdicts of the calling thread, each to its own request', async () => {
  const inline = open(0);
  const pool = open(2);
  const sets = [
    jobs.slice(0, 1),
    jobs.slice(1, 5),
    jobs.slice(5),
    [{ ...(jobs[0] as (typeof jobs)[0]), negRisk: true }],
  ];
  const wanted = await Promise.all(sets.map((set) => inline.runner.check(set, caller)));
  expect(await Promise.all(sets.map((set) => pool.runner.check(set, caller)))).toEqual(wanted);
  expect(wanted[3]).toEqual([null]);
  expect(wanted[1]?.every((verdict) => verdict?.length === 32)).toBe(true);
  expect(pool.runner.queued).toBe(0);
  await pool.runner.close();
  expect(pool.faults).toEqual([]);
});

const job = jobOf(0);
const many = (count: number) => Array.from({ length: count }, () => job);
const flood = { client: '192.0.2.9', wallet: 'flood' };

given('a full queue refuses at once, and what was queued is still answered', async () => {
  const { runner } = open(1);
  const { total, perWallet, perClient } = checkLimits;
  const full = Array.from({ length: total / perWallet }, (_, index) => {
    const client = `client ${Math.floor((index * perWallet) / perClient)}`;
    return runner.check(many(perWallet), { client, wallet: `wallet ${index}` });
  });
  expect(runner.queued).toBe(total);
  expect(await runner.check([job], caller)).toBeNull();
  for (const verdicts of await Promise.all(full)) expect(verdicts?.length).toBe(perWallet);
  expect((await runner.check([job], caller))?.length).toBe(1);
  expect(runner.queued).toBe(0);
});

given('a caller fills its own part of the queue, and an order of another is next', async () => {
  const { runner } = open(1);
  const ended: string[] = [];
  const batches = Array.from({ length: checkLimits.perWallet / 16 }, async () => {
    expect(await runner.check(many(16), flood)).toHaveLength(16);
    ended.push('flood');
  });
  expect(await runner.check([job], flood)).toBeNull();
  const good = runner.check([job], caller).then(() => ended.push('good'));
  await Promise.all([...batches, good]);
  expect(ended.indexOf('good')).toBeLessThan(4);
});

given('a thread explains a signature as the calling thread does', async () => {
  const inline = open(0);
  const pool = open(1);
  const readings = await pool.runner.explain(job, caller);
  expect(readings).toEqual(await inline.runner.explain(job, caller));
  expect(readings?.filter(({ matches }) => matches)).toHaveLength(1);
  expect(pool.runner.queued).toBe(0);
});

given('explanations have a queue of their own, which takes no place of a check', async () => {
  const { runner } = open(1);
  const { total, perWallet, perClient } = explanationLimits;
  const explained = Array.from({ length: total }, (_, index) => {
    const client = `client ${Math.floor(index / perClient)}`;
    return runner.explain(job, { client, wallet: `wallet ${Math.floor(index / perWallet)}` });
  });
  expect(await runner.explain(job, caller)).toBeNull();
  expect(await runner.check([job], { client: 'client 0', wallet: 'wallet 0' })).toHaveLength(1);
  expect(runner.queued).toBeGreaterThan(total / 2);
  expect((await Promise.all(explained)).every((readings) => readings !== null)).toBe(true);
});

given('an explanation is done while the checks of a flood still wait', async () => {
  const { runner } = open(1);
  const checks = runner.check(many(checkLimits.perWallet), flood);
  expect(await runner.explain(job, caller)).not.toBeNull();
  expect(runner.queued).toBe(checkLimits.perWallet);
  await checks;
});

given('a thread that dies is a fault that stops', async () => {
  const faults: unknown[] = [];
  const workerFile = pathToFileURL(join(__dirname, 'no-such-file.js'));
  new SignaturePool({
    workers: 1,
    workerFile,
    domains: accepted,
    rule,
    hasher,
    curve: crypto.curve,
    onFault: (fault) => faults.push(fault),
  });
  for (let tries = 0; tries < 100 && faults.length === 0; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect(faults[0]).toMatchObject({ code: 'signature_worker_died', reaction: 'stop' });
});

given('a single order is checked at once, the next of the same iteration in a thread', async () => {
  const { runner, faults } = open(1);
  const jobs = [1, 2, 3].map(jobOf);
  const [first, second, third] = jobs.map((job) => runner.check([job], caller));
  expect(runner.queued).toBe(2);
  const verdicts = [await first, await second, await third];
  expect(verdicts).toEqual(jobs.map((job) => [rule.check(job)]));
  await new Promise((resolve) => setImmediate(resolve));
  const later = runner.check([jobs[0] as ReturnType<typeof jobOf>], caller);
  expect(runner.queued).toBe(0);
  expect(await later).toEqual(verdicts[0]);
  expect(faults).toEqual([]);
});
