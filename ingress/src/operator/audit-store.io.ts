import { followTable } from '@pm/kit/compacted';
import type { Fault } from '@pm/kit/fault';
import type { Log } from '@pm/kit/log';
import type { AuditRecord } from '@pm/schemas';
import type { LogOf } from '../log/topics.io.ts';
import { AuditTrail } from './audit-trail.ts';
import type { OperatorAudit } from './ports.io.ts';

/** Opens the topic `audit` for writing and reading; resolves when what was there has been read. */
export async function openAudit(
  { client, names, codecs, records }: LogOf<'audit'>,
  { log, onFault }: { readonly log: Log; onFault(fault: Fault): void },
): Promise<OperatorAudit> {
  const trail = new AuditTrail();
  const { audit: topic } = names;
  const { audit: codec } = codecs;
  await followTable(client, {
    ...{ topic, codec, log, onFault },
    take: (record: AuditRecord) => trail.take(record),
  });
  return {
    page: (asked) => trail.page(asked),
    async append(record) {
      const key = Buffer.from(record.id, 'utf8');
      await records.send([{ topic, partition: 0, key, value: codec.encode(record) }]);
    },
    onLost: (record, error) =>
      log.error({ err: error, ...record }, 'an outcome is not in the audit'),
  };
}
