import { localAnalyst } from '../local/engines/clickhouse-password.ts';
import type { ProcessStatus } from '../local/supervised-process.ts';
import { withoutAccounts } from '../local/without-account.ts';
import type { StackStatus } from '../stack/control.ts';
import { textTable } from './text-table.ts';

/** Why services are not ready, by name; services that are ready, or do not answer, are absent. */
export type UnreadyServices = ReadonlyMap<string, readonly string[]>;

/** Name, state, memory and CPU of every process. */
export function processTable(
  processes: readonly ProcessStatus[],
  unready: UnreadyServices = new Map(),
): string {
  const rows = processes.map((one) => [
    one.name,
    stateText(one, unready.get(one.name) ?? []),
    String(one.pid ?? ''),
    String(one.restarts),
    `${Math.round((one.rssBytes ?? 0) / (1 << 20))} MiB`,
    `${(one.cpuSeconds ?? 0).toFixed(1)} s`,
  ]);
  return textTable([['process', 'state', 'pid', 'restarts', 'memory', 'cpu'], ...rows]);
}

/** Why processes have ended, failed or are late, one a line, with the command that shows more; '' for none. */
export function failuresText(processes: readonly ProcessStatus[]): string {
  return processes
    .filter(({ reason }) => reason !== '')
    .map(({ name, reason }) => `${name} ${reason}; npm run stack -- logs ${name}`)
    .join('\n');
}

/** The text with each line cut to a number of characters. */
export function cutLines(text: string, characters: number): string {
  const lines = text.split('\n').map((line) => line.slice(0, characters));
  return lines.join('\n');
}

/** Reasons that are shown of a service; a dozen partitions may be one each. */
const reasonsMax = 3;

function stateText({ state, waitsFor }: ProcessStatus, reasons: readonly string[]): string {
  if (state === 'waiting') return `waiting for ${waitsFor.join(', ')}`;
  if ((state !== 'ready' && state !== 'starting') || reasons.length === 0) return state;
  const shown = reasons.slice(0, reasonsMax).join(', ');
  return `${state === 'ready' ? 'not ready' : state}: ${shown}${reasons.length > reasonsMax ? ' ...' : ''}`;
}

/**
 * Addresses of the engines and names there, to read tables, topics and keys directly. Of passwords only that with which
 * people read the tables of a local stack.
 */
export function engineTable(
  { urls, names }: Pick<StackStatus, 'urls' | 'names'>,
  readersPassword: string | null,
): string {
  const { kafka, registry, clickhouse, redis } = withoutAccounts(urls);
  const { clickhouseDatabase, topicPrefix, redisPrefix } = names;
  return textTable([
    ['ClickHouse', clickhouse, `database ${clickhouseDatabase} (docs/data/queries.md)`],
    ...(readersPassword === null
      ? []
      : [['', '', `user ${localAnalyst}, password ${readersPassword}`]]),
    ['Kafka', kafka, topicPrefix === '' ? '' : `topics ${topicPrefix}*`],
    ['schema registry', registry, ''],
    ['Redis', redis, `keys ${redisPrefix}:*`],
  ]);
}

/** A part of the response of GET /status. */
export interface ProjectionLine {
  readonly projection: string;
  /** False while its store does not respond. */
  readonly known: boolean;
  /** Records that the projection has not folded. */
  readonly partitions: readonly { readonly lag: number }[];
}

/** Lag of each projection in records; `?` where it is not known. */
export function lagText(projections: readonly ProjectionLine[]): string {
  const texts = projections.map(({ projection, known, partitions }) => {
    const records = partitions.reduce((sum, { lag }) => sum + lag, 0);
    return `${projection} ${known ? records : '?'}`;
  });
  return `projections lag by records: ${texts.length === 0 ? '?' : texts.join(', ')}`;
}
