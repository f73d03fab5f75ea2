import { setTimeout as sleep } from 'node:timers/promises';
import { completeOffsets } from '@pm/deploy/installation/completeness';
import type { Installation } from '@pm/deploy/installation/open';
import type { LogPiece } from './read-log.ts';

const pollMs = 250;

async function redisOffsets(
  { redis }: Installation,
  key: string,
  fieldOf: (partition: number) => string,
): Promise<(partition: number) => Promise<number>> {
  const fields = await redis.hgetall(key);
  return async (partition) => Number(fields[fieldOf(partition)] ?? 0);
}

/** A projection of a partition that has not reached the end of the log. */
export interface LateProjection {
  readonly name: 'tables' | 'books' | 'ledger';
  readonly text: string;
}

/** Waits until every projection has passed the end of every piece; returns one line for each that has not in time. */
export async function waitForProjections(
  installation: Installation,
  pieces: readonly LogPiece[],
  waitMs: number,
): Promise<readonly LateProjection[]> {
  const deadlineMs = performance.now() + waitMs;
  for (;;) {
    const late = await lateOf(installation, pieces);
    if (late.length === 0 || performance.now() > deadlineMs) return late;
    await sleep(pollMs);
  }
}

async function lateOf(
  installation: Installation,
  pieces: readonly LogPiece[],
): Promise<readonly LateProjection[]> {
  const { keys, clickhouse, addresses } = installation;
  const tables = await completeOffsets(clickhouse, addresses.clickhouseDatabase);
  const projections: readonly {
    readonly name: LateProjection['name'];
    offsetOf(partition: number): Promise<number>;
  }[] = [
    { name: 'tables', offsetOf: async (partition: number) => tables.get(partition) ?? 0 },
    { name: 'books', offsetOf: await redisOffsets(installation, keys.bookMarks, String) },
    {
      name: 'ledger',
      offsetOf: await redisOffsets(installation, keys.ledgerMarks, keys.ledgerMarkOf),
    },
  ];
  const late: LateProjection[] = [];
  for (const { name, offsetOf } of projections)
    for (const { partition, to } of pieces) {
      const offset = await offsetOf(partition);
      if (offset >= to) continue;
      late.push({ name, text: `${name} of partition ${partition} is at ${offset} of ${to}` });
    }
  return late;
}
