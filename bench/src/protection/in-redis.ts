import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureEngineJars } from '@pm/deploy/local/engines/download-engines';
import { findRedis, redisServer } from '@pm/deploy/local/engines/redis-server';
import { defaultCacheDir } from '@pm/deploy/local/paths';
import { freePorts, loopback } from '@pm/deploy/local/ports';
import { startProcesses } from '@pm/deploy/local/supervisor';
import { openLedger } from '@pm/domain/ledger/redis-ledger.io';
import { UsedProofs } from '@pm/ingress/http/used-proofs.io';
import { silentLog } from '@pm/kit/log';
import { openRedis, type RedisClient } from '@pm/kit/redis';
import { redisKeys } from '@pm/schemas/redis/keys';
import { AppliedPieces, type Batch, openForBoth } from './solvency.ts';
import type { Rounds, Step } from './steps.ts';

/** A step whose cost is the time until Redis has answered. */
export interface RedisStep extends Pick<Step, 'name' | 'bare' | 'records'> {
  /** Sent together; the time of one is that of all divided by their number. */
  readonly atOnce: number;
  work(index: number): Promise<unknown>;
}

/** Microseconds of one call, a sample per round, by the name of the step. */
export interface RedisSamples {
  /** Until the answer. */
  readonly waited: ReadonlyMap<string, readonly number[]>;
  /** Processor time of Redis. */
  readonly processor: ReadonlyMap<string, readonly number[]>;
}

/** The steps in turn, each with as many calls as fit; the first round warms up. */
export async function measureInRedis(
  redis: RedisClient,
  steps: readonly RedisStep[],
  { rounds, seconds }: Rounds,
): Promise<RedisSamples> {
  const waited = new Map(steps.map(({ name }) => [name, [] as number[]]));
  const processor = new Map(steps.map(({ name }) => [name, [] as number[]]));
  const next = new Map(steps.map(({ name }) => [name, 0]));
  for (let round = -1; round < rounds; round += 1) {
    for (const { name, atOnce, work } of steps) {
      const from = next.get(name) ?? 0;
      const before = await processorMicro(redis);
      const { calls, perCallMicro } = await timeOf(work, { from, atOnce, seconds });
      const used = (await processorMicro(redis)) - before;
      next.set(name, from + calls);
      if (round < 0) continue;
      waited.get(name)?.push(perCallMicro);
      processor.get(name)?.push(used / calls);
    }
  }
  return { waited, processor };
}

/** Processor time that Redis has used so far, microseconds. */
async function processorMicro(redis: RedisClient): Promise<number> {
  const text = await redis.info('cpu');
  const seconds = ['user', 'sys'].map((kind) => {
    return Number(new RegExp(`used_cpu_${kind}:([0-9.]+)`).exec(text)?.[1]);
  });
  return seconds.reduce((sum, value) => sum + value, 0) * 1e6;
}

async function timeOf(
  work: RedisStep['work'],
  { from, atOnce, seconds }: { from: number; atOnce: number; seconds: number },
): Promise<{ readonly calls: number; readonly perCallMicro: number }> {
  const started = performance.now();
  let calls = 0;
  while (performance.now() - started < seconds * 1_000) {
    const base = from + calls;
    await Promise.all(Array.from({ length: atOnce }, (_, at) => work(base + at)));
    calls += atOnce;
  }
  return { calls, perCallMicro: ((performance.now() - started) * 1_000) / calls };
}

/** Proofs that are noted before the measured ones: those of 30 s at 1,000 requests a second. */
const knownProofs = 30_000;
const windowMs = 30_000;

/** The note of a proof beside the cheapest command and the cheapest shared memory of a text. */
export async function proofSteps(redis: RedisClient): Promise<readonly RedisStep[]> {
  const proofs = new UsedProofs(redis, redisKeys('bench'));
  const digests = Array.from({ length: 4_096 }, () => randomBytes(32));
  const digestOf = (index: number) => {
    const digest = Buffer.from(digests[index % digests.length] ?? randomBytes(32));
    digest.writeUInt32LE(index >>> 0, 0);
    return digest;
  };
  const note = (index: number) =>
    proofs.note({ repetition: 'refused', digest: digestOf(index), windowMs });
  for (let from = 0; from < knownProofs; from += 500) {
    await Promise.all(Array.from({ length: 500 }, (_, at) => note(from + at)));
  }
  return [1, 64].flatMap((atOnce): RedisStep[] => {
    const name = atOnce === 1 ? 'one at a time' : `${atOnce} at once`;
    const offset = knownProofs + atOnce * 100_000_000;
    return [
      { name: `bare PING, ${name}`, atOnce, work: () => redis.ping() },
      {
        name: `bare SET with NX and PX, ${name}`,
        bare: `bare PING, ${name}`,
        atOnce,
        work: (index) =>
          redis.set(
            `bench:bare:${digestOf(offset + index).toString('base64')}`,
            '1',
            'PX',
            2 * windowMs,
            'NX',
          ),
      },
      {
        name: `note of a used proof, ${name}`,
        bare: `bare PING, ${name}`,
        atOnce,
        work: (index) => note(offset + index),
      },
    ];
  });
}

/** One call of the ledger's script for a batch, with the sums of markets and without. */
export async function ledgerSteps(
  redis: RedisClient,
  batchesOf: readonly (readonly Batch[])[],
): Promise<readonly RedisStep[]> {
  const ledger = openLedger(redis, redisKeys('bench'));
  await openForBoth(ledger);
  // The partitions of all sizes are the same two: each piece begins where the one before ended.
  const ends = [1, 1];
  return batchesOf.flatMap((some): RedisStep[] => {
    const name = some[0]?.name ?? '';
    const stepOf = (partition: 0 | 1): RedisStep['work'] => {
      const applied = new AppliedPieces(ledger, partition, some);
      return async (index) => {
        applied.startAt(ends[partition] ?? 1);
        await applied.apply(index);
        ends[partition] = applied.end;
      };
    };
    return [
      { name: `${name}: applied without the sums`, atOnce: 1, work: stepOf(1) },
      {
        name: `${name}: applied`,
        bare: `${name}: applied without the sums`,
        records: some[0]?.records.length ?? 1,
        atOnce: 1,
        work: stepOf(0),
      },
    ];
  });
}

/** A Redis of its own in a temporary folder. */
export async function openBareRedis(): Promise<{
  readonly redis: RedisClient;
  close(): Promise<void>;
}> {
  const dataDir = mkdtempSync(join(tmpdir(), 'pm-bench-'));
  const logDir = join(dataDir, 'logs');
  mkdirSync(logDir);
  const progress = (line: string) => console.error(line);
  const command = await findRedis(
    await ensureEngineJars(defaultCacheDir, progress),
    process.env['PM_REDIS'],
  );
  const { redis: port } = await freePorts();
  const supervisor = await startProcesses({ dataDir, progress }, [
    redisServer({ dataDir, logDir, command, port }),
  ]);
  const redis = openRedis({ url: `redis://${loopback}:${port}`, log: silentLog });
  const close = async () => {
    redis.disconnect();
    await supervisor.stop();
    rmSync(dataDir, { recursive: true, force: true });
  };
  return { redis, close };
}
