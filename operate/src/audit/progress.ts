import { setTimeout as sleep } from 'node:timers/promises';
import { readCompleteness } from '@pm/deploy/installation/completeness';
import type { Installation } from '@pm/deploy/installation/open';
import type { LogPiece } from './read-log.ts';

const pollMs = 250;

/** Next offset of a projection per partition; partitions that it has not begun are absent. */
export type Marks = ReadonlyMap<number, number>;

/** How far the tables are complete, and through which moment in all partitions (Unix seconds; 0 when not known). */
export async function tablesStanding({
  clickhouse,
  addresses,
}: Pick<Installation, 'clickhouse' | 'addresses'>): Promise<{
  readonly marks: Marks;
  readonly throughS: number;
}> {
  const rows = await readCompleteness(clickhouse, addresses.clickhouseDatabase);
  const marks = new Map(rows.map(({ partition, throughOffset }) => [partition, throughOffset]));
  const throughMs = rows.length === 0 ? 0 : Math.min(...rows.map((row) => row.throughMs));
  return { marks, throughS: Math.floor(throughMs / 1000) };
}

async function redisMarks(
  { redis }: Installation,
  key: string,
  fieldOf: (partition: number) => string,
): Promise<(partition: number) => Promise<number>> {
  const fields = await redis.hgetall(key);
  return async (partition) => Number(fields[fieldOf(partition)] ?? 0);
}

/** Waits until every projection has passed the end of every piece; says which has not in time. */
export async function waitForProjections(
  installation: Installation,
  pieces: readonly LogPiece[],
  waitMs: number,
): Promise<string[]> {
  const deadlineMs = performance.now() + waitMs;
  for (;;) {
    const behind = await behindOf(installation, pieces);
    if (behind.length === 0 || performance.now() > deadlineMs) return behind;
    await sleep(pollMs);
  }
}

async function behindOf(
  installation: Installation,
  pieces: readonly LogPiece[],
): Promise<string[]> {
  const { keys } = installation;
  const { marks } = await tablesStanding(installation);
  const projections = [
    { name: 'tables', markOf: async (partition: number) => marks.get(partition) ?? 0 },
    { name: 'books', markOf: await redisMarks(installation, keys.bookMarks, String) },
    {
      name: 'ledger',
      markOf: await redisMarks(installation, keys.ledgerMarks, keys.ledgerMarkOf),
    },
  ];
  const behind: string[] = [];
  for (const { name, markOf } of projections)
    for (const { partition, to } of pieces) {
      const mark = await markOf(partition);
      if (mark < to) behind.push(`${name} of partition ${partition} is at ${mark} of ${to}`);
    }
  return behind;
}
