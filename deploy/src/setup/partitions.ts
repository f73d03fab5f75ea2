import { readFirstEnvelope } from '@pm/domain/signoff/first-envelope.io';
import { openSignOffKey } from '@pm/domain/signoff/keys';
import { sealEnvelope } from '@pm/domain/signoff/records';
import type { LogAdmin, LogClient, LogProducer } from '@pm/kit/kafka';
import type { RecordCodec } from '@pm/kit/registry';
import {
  type Command,
  type CommandOf,
  type Envelope,
  hexBytes,
  type KeyRole,
  type WalletAddress,
} from '@pm/schemas';
import { type ExchangeKeys, publicKeyOf } from './keys.ts';

/** An order older than this when it reaches the book is refused (architecture.md). */
const bookAgeLimitMs = 2_000;

/** An order signed longer ago is stale, and ids are remembered for as long. */
const orderAgeLimitMs = 3_600_000;

export interface PartitionOpening {
  readonly client: LogClient;
  readonly admin: LogAdmin;
  readonly producer: LogProducer;
  readonly codec: RecordCodec<Envelope>;
  readonly ordersTopic: string;
  readonly keys: ExchangeKeys;
  /** The wallet that fees are paid to. */
  readonly feeWallet: WalletAddress;
  readonly nowMs: number;
}

/**
 * Writes the first record of every partition that has none: its opening and the keys that may sign, signed by the
 * operator. A partition opened before there were ledger keys gets its key behind. Others are left alone, so this can be
 * run again. Gives how many were opened.
 */
export async function openPartitions(opening: PartitionOpening): Promise<number> {
  const { admin, producer, ordersTopic: topic } = opening;
  let opened = 0;
  const records: { topic: string; partition: number; key: null; value: Buffer }[] = [];
  const add = (partition: number, commands: readonly Command[]) =>
    records.push({ topic, partition, key: null, value: sealed(opening, partition, commands) });
  for (const [partition, { high }] of await admin.bounds(topic)) {
    if (high === 0) {
      opened += 1;
      add(partition, openingCommands(opening, partition));
    } else if (!(await beginsWithLedgerKey(opening, partition))) {
      add(partition, [ledgerKeyOf(opening)]);
    }
  }
  if (records.length > 0) await producer.send(records);
  return opened;
}

/** Whether the first record of the partition sets the ledger key. */
async function beginsWithLedgerKey(opening: PartitionOpening, partition: number): Promise<boolean> {
  const { client, codec, ordersTopic: topic } = opening;
  const { publicKey } = ledgerKeyOf(opening);
  const first = await readFirstEnvelope(client, { topic, partition, reader: codec });
  const commands = first?.commands ?? [];
  return commands.some((one) => one.kind === 'SetKey' && one.publicKey.equals(publicKey));
}

function ledgerKeyOf({ keys }: PartitionOpening): CommandOf<'SetKey'> {
  return keyOf(keys.ledgerSeed, 'LEDGER');
}

function keyOf(seed: string, role: KeyRole): CommandOf<'SetKey'> {
  return { kind: 'SetKey', publicKey: publicKeyBytes(seed), role, active: true };
}

function publicKeyBytes(seed: string): Buffer {
  return Buffer.from(publicKeyOf(seed), 'hex');
}

function sealed(
  { codec, keys }: PartitionOpening,
  partition: number,
  commands: readonly Command[],
): Buffer {
  const key = openSignOffKey(Buffer.from(keys.operatorSeed, 'hex'));
  return sealEnvelope(codec, key, { partition, sequence: 0, commands });
}

function openingCommands(opening: PartitionOpening, partition: number): readonly Command[] {
  const { keys, feeWallet } = opening;
  return [
    {
      kind: 'OpenPartition',
      partition,
      operatorKey: publicKeyBytes(keys.operatorSeed),
      feeWallet: hexBytes(feeWallet),
      bookAgeLimitMs,
      orderAgeLimitMs,
      timeMs: opening.nowMs,
    },
    keyOf(keys.ingressSeed, 'INGRESS'),
    keyOf(keys.ownerSeed, 'OWNER'),
    ledgerKeyOf(opening),
  ];
}
