import { type LogClient, readRange } from '@pm/kit/kafka';
import { silentLog } from '@pm/kit/log';
import { openRegistry, topicName } from '@pm/kit/registry';
import { checkChain, firstChain } from '@pm/kit/signoff';
import { topics, walletFromBytes } from '@pm/schemas';
import { add } from './accounts.ts';
import { LogAudit } from './log-audit.ts';

export interface ReadLogOptions {
  readonly client: LogClient;
  readonly registryUrl: string;
  readonly topicPrefix: string;
  readonly feeWallet: string;
}

/** Reads `executions` from its first record to its present end, and audits it. */
export async function auditLog(options: ReadLogOptions): Promise<LogAudit> {
  const { client, registryUrl: url, topicPrefix } = options;
  const registry = openRegistry({ url, topicPrefix, log: silentLog });
  const codec = await registry.codecFor(topics.executions);
  const topic = topicName(topics.executions, topicPrefix);
  const admin = await client.admin();
  const audit = new LogAudit(options.feeWallet);
  for (const [partition, bounds] of await admin.bounds(topic)) {
    let chain: Buffer = firstChain;
    await readRange(client, {
      topic,
      partition,
      from: bounds.low,
      to: bounds.high,
      onBatch: async (batch) => {
        for (const { value } of batch.records) {
          if (value === null) continue;
          const execution = codec.decode(value);
          const isNew = audit.record(execution, {
            partition,
            chainHolds: checkChain(value, chain),
          });
          if (isNew) chain = execution.chain;
        }
      },
    });
  }
  audit.finish();
  return audit;
}

/** Sum of `transfers` by wallet, each transfer id once, void withdrawals left out, micro-USDC. */
export async function sumTransfers(options: ReadLogOptions): Promise<Map<string, number>> {
  const { client, registryUrl: url, topicPrefix } = options;
  const registry = openRegistry({ url, topicPrefix, log: silentLog });
  const codec = await registry.codecFor(topics.transfers);
  const topic = topicName(topics.transfers, topicPrefix);
  const bounds = (await (await client.admin()).bounds(topic)).get(0);
  const sums = new Map<string, number>();
  const seen = new Set<string>();
  let generation = 0;
  await readRange(client, {
    topic,
    partition: 0,
    from: bounds?.low ?? 0,
    to: bounds?.high ?? 0,
    onBatch: async (batch) => {
      for (const { value } of batch.records) {
        if (value === null) continue;
        const transfer = codec.decode(value);
        const id = transfer.transferId.toString('hex');
        if (transfer.amountMicro === 0) generation = Math.max(generation, transfer.generation);
        if (transfer.amountMicro < 0 && transfer.generation < generation) continue;
        if (!seen.has(id)) add(sums, walletFromBytes(transfer.wallet), transfer.amountMicro);
        seen.add(id);
      }
    },
  });
  return sums;
}
