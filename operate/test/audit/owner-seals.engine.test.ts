import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findInstallation } from '@pm/deploy/installation/addresses';
import { type Installation, openInstallation } from '@pm/deploy/installation/open';
import { loadOrMakeKeys } from '@pm/deploy/setup/keys';
import { openSignOffKey, type SignOffKey } from '@pm/domain/signoff/keys';
import { firstChain, sealExecution } from '@pm/domain/signoff/records';
import { type LogClient, type OutgoingRecord, openLogClient } from '@pm/kit/kafka';
import { silentLog } from '@pm/kit/log';
import type { WalletAddress } from '@pm/schemas/ids';
import { sealedOutputEvery } from '@pm/schemas/log/executions';
import { topics } from '@pm/schemas/log/topics';
import { setUpNamed, variablesOf } from '../../../acceptance/test/services-under-test.ts';
import { engineUrl } from '../../../kit/test/engines.ts';
import { OutputSeals } from '../../../matcher/src/partition/output-seals.ts';
import { LogAudit } from '../../src/audit/log-audit.ts';
import { OwnerSeals } from '../../src/audit/owner-seals.ts';
import { auditPieces, piecesOf } from '../../src/audit/read-log.ts';

/** A log of executions whose chain holds, with and without the key of an owner. */
const name = `owner_seals_${process.pid}`;
const folder = mkdtempSync(join(tmpdir(), 'owner-seals-'));
const keys = loadOrMakeKeys(join(folder, 'keys.json'));
const topic = `${name}-executions`;
const outputs = 3 * sealedOutputEvery;
let client: LogClient;
let installation: Installation;

beforeAll(async () => {
  await setUpNamed(name, { keys, partitions: 4 });
  client = openLogClient({ brokers: [engineUrl('KAFKA')], clientId: name, log: silentLog });
  installation = openInstallation(await findInstallation(variablesOf(name), ''), 'audit');
}, 120_000);

afterAll(async () => {
  await installation?.clickhouse.command(`DROP DATABASE IF EXISTS ${name}`);
  await installation?.close();
  await client?.close();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

/** Outputs of a partition without orders, each chained to the one before. */
async function outputsOf(partition: number, timeMs: number): Promise<OutgoingRecord[]> {
  const codec = await installation.schemas.codecFor(topics.executions);
  let chain = firstChain;
  return Array.from({ length: outputs }, (_, inOffset) => {
    const sealed = sealExecution(codec, chain, {
      inOffset,
      timeMs,
      keyId: Buffer.alloc(8),
      sequence: inOffset,
      events: [],
    });
    chain = sealed.chain;
    return { topic, partition, key: null, value: sealed.value };
  });
}

function sealedBy(key: SignOffKey, records: readonly OutgoingRecord[]): OutgoingRecord[] {
  const seals = new OutputSeals({ key, writer: Buffer.alloc(8, 1), monotonicMs: () => 0 });
  return records.map((record) => seals.seal(record));
}

test('a log that was rewritten with a whole chain but without the key of an owner is found', async () => {
  const owner = openSignOffKey(Buffer.from(keys.ownerSeed, 'hex'));
  const stranger = openSignOffKey(Buffer.alloc(32, 5));
  const theirs = sealedBy(owner, await outputsOf(0, 1));
  const rewritten = await outputsOf(2, 2);
  const moved = rewritten.map((record, index) => {
    const headers = theirs[index]?.headers;
    return headers === undefined ? record : { ...record, headers };
  });
  const producer = await client.producer();
  for (const records of [
    theirs,
    await outputsOf(1, 1),
    moved,
    sealedBy(stranger, await outputsOf(3, 1)),
  ])
    for (let from = 0; from < records.length; from += 200)
      await producer.send(records.slice(from, from + 200));
  const place = { client, schemas: installation.schemas, topicPrefix: `${name}-` };
  const seals = new OwnerSeals();
  const audit = new LogAudit(`0x${'fe'.repeat(20)}` as WalletAddress);
  await auditPieces(place, { audit, pieces: await piecesOf(place), seals });
  expect(audit.violations).toEqual([]);
  const newest = 2 * sealedOutputEvery;
  expect(await seals.wrong(installation)).toEqual([
    `${topic}:1 has no seal of an owner after offset -1, and ends with ${outputs - 1}`,
    `${topic}:2:${newest} bad_signature`,
    `${topic}:3:${newest} unknown_key`,
  ]);
}, 120_000);
