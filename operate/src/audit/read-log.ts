import { feeWalletOf, type LogPlace } from '@pm/deploy/installation/fee-wallet';
import { checkChain, firstChain } from '@pm/domain/signoff/records';
import { type IncomingRecord, readRange } from '@pm/kit/kafka';
import { topicName } from '@pm/kit/registry';
import type { Execution } from '@pm/schemas/log/executions';
import { topics } from '@pm/schemas/log/topics';
import type { AppendedRecord } from './fact-rows.ts';
import { LogAudit } from './log-audit.ts';
import type { OwnerSeals } from './owner-seals.ts';
import { TransferSums } from './transfer-sums.ts';

/** Reads `executions` from its first record to its present end, and audits it. */
export async function auditLog(options: LogPlace): Promise<LogAudit> {
  const audit = new LogAudit(await feeWalletOf(options));
  await auditPieces(options, { audit, pieces: await piecesOf(options) });
  audit.finish();
  return audit;
}

/** Offsets [from, to) of one partition of `executions`. */
export interface LogPiece {
  readonly partition: number;
  readonly from: number;
  readonly to: number;
}

/** The present bounds of `executions`, all partitions. */
export async function piecesOf({
  client,
  topicPrefix,
}: Pick<LogPlace, 'client' | 'topicPrefix'>): Promise<readonly LogPiece[]> {
  const admin = await client.admin();
  const bounds = await admin
    .bounds(topicName(topics.executions, topicPrefix))
    .finally(() => admin.close());
  return [...bounds].map(([partition, { low, high }]) => ({ partition, from: low, to: high }));
}

/**
 * Audits pieces that begin with the first record of their partition, or where an earlier call with the same `chains`
 * ended. `onRecord` receives each new record once, with its offset in `executions`.
 */
export async function auditPieces(
  options: LogPlace,
  { audit, pieces, chains = new Map(), seals, onRecord = () => {} }: AuditedPieces,
): Promise<void> {
  for (const piece of pieces) {
    const { partition } = piece;
    await eachRecord(options, piece, (execution, record) => {
      const { value, offset, timestampMs: appendedAtMs } = record;
      seals?.note(partition, record);
      const chainHolds = checkChain(value, chains.get(partition) ?? firstChain);
      if (!audit.record(execution, { partition, chainHolds })) return;
      chains.set(partition, Buffer.from(execution.chain));
      onRecord(partition, { execution, appendedAtMs }, offset);
    });
  }
}

interface AuditedPieces {
  readonly audit: LogAudit;
  readonly pieces: readonly LogPiece[];
  /** By partition the chain after the last record. */
  readonly chains?: Map<number, Buffer>;
  /** Is given every record. */
  readonly seals?: Pick<OwnerSeals, 'note'>;
  onRecord?(partition: number, record: AppendedRecord, offset: number): void;
}

/** The records of a piece in order, decoded. */
export async function eachRecord(
  place: LogPlace,
  { partition, from, to }: LogPiece,
  take: (execution: Execution, record: IncomingRecord & { readonly value: Buffer }) => void,
): Promise<void> {
  const { client, topicPrefix } = place;
  const codec = await place.schemas.codecFor(topics.executions);
  await readRange(client, {
    partition,
    from,
    to,
    topic: topicName(topics.executions, topicPrefix),
    onBatch: async (batch) => {
      for (const record of batch.records) {
        const { value } = record;
        if (value === null) continue;
        if (!codec.knows(value)) await codec.prepare(value);
        take(codec.decode(value), { ...record, value });
      }
    },
  });
}

/** Sum of `transfers` by wallet, each transfer id once, void withdrawals left out, micro-USDC. */
export async function sumTransfers(options: LogPlace): Promise<Map<string, number>> {
  const { client, topicPrefix } = options;
  const codec = await options.schemas.codecFor(topics.transfers);
  const topic = topicName(topics.transfers, topicPrefix);
  const bounds = (await (await client.admin()).bounds(topic)).get(0);
  const sums = new TransferSums();
  await readRange(client, {
    topic,
    partition: 0,
    from: bounds?.low ?? 0,
    to: bounds?.high ?? 0,
    onBatch: async (batch) => {
      for (const { value } of batch.records) {
        if (value === null) continue;
        if (!codec.knows(value)) await codec.prepare(value);
        sums.take(codec.decode(value));
      }
    },
  });
  return sums.byWallet;
}
