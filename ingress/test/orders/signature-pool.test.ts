import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { testDomain } from '../../../kit/test/signing-domain.ts';
import { SignaturePool, signatureQueueMax } from '../../src/orders/signature-pool.io.ts';
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
  return { runner, faults };
}

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
  const wanted = await Promise.all(sets.map((set) => inline.runner.check(set)));
  expect(await Promise.all(sets.map((set) => pool.runner.check(set)))).toEqual(wanted);
  expect(wanted[3]).toEqual([null]);
  expect(wanted[1]?.every((verdict) => verdict?.length === 32)).toBe(true);
  expect(pool.runner.queued).toBe(0);
  await pool.runner.close();
  expect(pool.faults).toEqual([]);
});

given('a full queue refuses at once, and what was queued is still answered', async () => {
  const { runner } = open(1);
  const [job] = jobs;
  if (job === undefined) throw new Error('a job');
  const full = runner.check(Array.from({ length: signatureQueueMax }, () => job));
  expect(await runner.check([job])).toBeNull();
  expect((await full)?.length).toBe(signatureQueueMax);
  expect((await runner.check([job]))?.length).toBe(1);
  await runner.close();
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
