import type { FoldedPlace } from '@pm/domain/executions/execution-order';
import { boundsOf, ExecutionReader } from '@pm/domain/executions/execution-reader.io';
import type { Position } from '@pm/domain/positions/position';
import { Fault } from '@pm/kit/fault';
import { type IncomingRecord, readRange } from '@pm/kit/kafka';
import type { ViewDefinition, ViewGroup } from '../log/view-definition.io.ts';
import { minuteOf } from '../views/buckets.ts';
import { TableViews } from '../views/table-views.ts';
import { type BatchRange, pendingRange } from './batch-inserts.io.ts';
import { JoinedTables } from './joined-tables.io.ts';
import type { ProjectionTables } from './projection-tables.io.ts';
import { RowMemory } from './row-memory.ts';
import {
  type SharedParts,
  TablesProjection,
  type TablesViewOptions,
} from './tables-projection.io.ts';

/** The most frequent events of a log. A codec may reuse their memory: nothing of a record is kept once it is folded. */
export const reusedEvents: readonly string[] = [
  'Fill',
  'OrderPlaced',
  'OrderRefused',
  'OrderCanceled',
  'LevelChanged',
  'TopChanged',
];

interface TablesViewDefinition extends ViewDefinition {
  assign(partition: number, group: ViewGroup): Promise<TablesProjection>;
}

/** Executions into the tables. */
export function tablesView(options: TablesViewOptions): TablesViewDefinition {
  const { groupId, topic } = options;
  const shared = { memory: new RowMemory(), joined: new JoinedTables(options.tables) };
  return {
    view: 'tables',
    groupId,
    topic,
    assign: (partition, group) => openProjection(options, shared, { partition, group }),
  };
}

/** A partition in the hands of a group. */
interface Assignment {
  readonly partition: number;
  readonly group: ViewGroup;
}

/** Restores the state, sends an unfinished batch again, and continues after it. */
async function openProjection(
  options: TablesViewOptions,
  shared: SharedParts,
  { partition, group }: Assignment,
): Promise<TablesProjection> {
  // All that is read after this comes from these tables; otherwise the first batch finds another identity.
  const { identity } = await shared.joined.guard();
  const { place, pending } = await startOf(options, { partition, group });
  const { offset: from } = place;
  const { client, topic, checksChain, tables } = options;
  await requireLog({ client, topic }, partition, from);
  const codec = await options.openCodec();
  const reader = await ExecutionReader.open({ client, topic, checksChain, codec }, partition, from);
  reader.requireSameLog(place);
  const folded = { timeMs: reader.lastTimeMs, nextInOffset: reader.nextInOffset };
  const again = pending === null ? [] : await readAgain(options, partition, pending);
  let lastTimeMs = reader.lastTimeMs;
  for (const record of again) lastTimeMs = Math.max(lastTimeMs, await reader.clockOf(record));
  const [positions, candles] = await Promise.all([
    positionsIn(tables, partition),
    tables.candles(minuteOf(folded.timeMs), minuteOf(lastTimeMs)),
  ]);
  const views = new TableViews(partition, { positions, candles }, shared.memory);
  const start = { partition, from, group, identity, reader, views, folded, ...shared };
  const projection = new TablesProjection(options, start);
  if (pending !== null) await projection.repeat(pending, again);
  return projection;
}

async function positionsIn(
  tables: ProjectionTables,
  partition: number,
): Promise<readonly Position[]> {
  const positions: Position[] = [];
  for await (const position of tables.positions(partition)) positions.push(position);
  return positions;
}

/**
 * Rejects with `tables_history_removed` (stop) when the log does not have the next records of the tables any more: a
 * backup of the tables has to be restored (docs/operating/recovery.md).
 */
async function requireLog(
  log: Pick<TablesViewOptions, 'client' | 'topic'>,
  partition: number,
  completeTo: number,
): Promise<void> {
  const { low } = await boundsOf(log, partition);
  if (completeTo >= low) return;
  const facts = { topic: log.topic, partition, completeTo, low };
  throw new Fault('tables_history_removed', 'stop', { facts });
}

/**
 * The first offset: the one up to which the tables are complete, whatever was committed. Tables below the commit were
 * lost or restored from a backup; tables above it were rebuilt, or their last commit is missing. The commit is
 * corrected first, for its readers.
 */
async function startOf(
  { tables }: TablesViewOptions,
  { partition, group }: Assignment,
): Promise<{ readonly place: FoldedPlace; readonly pending: BatchRange | null }> {
  const committed = await group.committed(partition);
  const place = await tables.place(partition);
  if (place.offset === (committed?.offset ?? 0)) return { place, pending: pendingRange(committed) };
  await group.commit(partition, place.offset, '');
  return { place, pending: null };
}

async function readAgain(
  { client, topic }: TablesViewOptions,
  partition: number,
  { from, to }: BatchRange,
): Promise<readonly IncomingRecord[]> {
  const again: IncomingRecord[] = [];
  await readRange(client, {
    topic,
    partition,
    from,
    to,
    onBatch: async ({ records }) => {
      again.push(...records);
    },
  });
  return again;
}
