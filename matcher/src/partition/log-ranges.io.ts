import { Fault } from '@pm/kit/fault';
import { type LogAdmin, type LogClient, readRange } from '@pm/kit/kafka';
import type { LogRanges } from './stored-executions.io.ts';

/** Pieces of the log through the kit's client. */
export function openLogRanges(client: LogClient, admin: Pick<LogAdmin, 'bounds'>): LogRanges {
  return {
    async bounds(topic, partition) {
      const found = (await admin.bounds(topic)).get(partition);
      if (found !== undefined) return found;
      throw new Fault('partition_unknown', 'release', { facts: { topic, partition } });
    },
    read: (range) => readRange(client, range),
  };
}
