import type { Installation } from '@pm/deploy/installation/open';
import { sealedTopics } from '@pm/domain/authority/sealed-log.io';
import type { UnprovenRecord } from '@pm/domain/authority/unproven-records.io';
import { type LogClient, readRange } from '@pm/kit/kafka';
import { topicName } from '@pm/kit/registry';

export interface SealResult {
  readonly records: number;
  /** Records that change nothing, as `topic:partition:offset reason`. */
  readonly unproven: readonly string[];
}

/** Unproven records that are named; the others are counted. */
const namedMax = 100;

/** Reads every sealed topic from its first record to its present end. */
export async function checkSeals({
  addresses: { topicPrefix },
  sealedLog,
}: Pick<Installation, 'addresses' | 'sealedLog'>): Promise<SealResult> {
  const unproven: string[] = [];
  let more = 0;
  const log = await sealedLog((record) => {
    if (unproven.length < namedMax) unproven.push(nameOf(record));
    else more += 1;
  });
  let records = 0;
  for (const { topic } of sealedTopics())
    records += await readAll(log, topicName(topic, topicPrefix));
  return { records, unproven: more === 0 ? unproven : [...unproven, `and ${more} more`] };
}

function nameOf({ topic, partition, offset, reason }: UnprovenRecord): string {
  return `${topic}:${partition}:${offset} ${reason}`;
}

/** Offsets that were read. */
async function readAll(log: LogClient, topic: string): Promise<number> {
  const admin = await log.admin();
  const bounds = await admin.bounds(topic).finally(() => admin.close());
  let records = 0;
  for (const [partition, { low, high }] of bounds) {
    records += high - low;
    await readRange(log, {
      topic,
      partition,
      from: low,
      to: high,
      dense: false,
      onBatch: async () => {},
    });
  }
  return records;
}
