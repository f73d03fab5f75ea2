import { readFirstEnvelope } from '@pm/domain/signoff/first-envelope.io';
import { openSignOffKey } from '@pm/domain/signoff/keys';
import { sealEnvelope } from '@pm/domain/signoff/records';
import { Sequences } from '@pm/domain/signoff/sequences';
import type { LogAdmin, LogClient, LogProducer } from '@pm/kit/kafka';
import type { RecordCodec } from '@pm/kit/registry';
import {
  type Command,
  type CommandOf,
  type Envelope,
  hexBytes,
  type KeyRole,
  newestRules,
  type WalletAddress,
} from '@pm/schemas';
import { type ExchangeKeys, publicKeyOf } from './keys.ts';

/** An order older than this when it reaches the book is refused (architecture.md). */
const bookAgeLimitMs = 2_000;

/** An order signed longer ago is stale; its id is remembered as long. */
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
 * Writes the first record of every partition that has none: its opening, the rules and the keys that may sign, signed
 * by the operator. A partition opened by an older version gets what its first record lacks, the ledger key or newer
 * rules, as a later record at each start; a repetition changes nothing. Returns the number of opened partitions.
 */
export async function openPartitions(opening: PartitionOpening): Promise<number> {
  const { admin, producer, ordersTopic: topic } = opening;
  let opened = 0;
  const records: { topic: string; partition: number; key: null; value: Buffer }[] = [];
  const sequence = new Sequences().next(opening.nowMs);
  const add = (partition: number, commands: readonly Command[]) => {
    const value = sealed(opening, { partition, sequence, commands });
    records.push({ topic, partition, key: null, value });
  };
  for (const [partition, { high }] of await admin.bounds(topic)) {
    if (high === 0) {
      opened += 1;
      add(partition, openingCommands(opening, partition));
      continue;
    }
    const missing = await missingCommands(opening, partition);
    if (missing.length > 0) add(partition, missing);
  }
  if (records.length > 0) await producer.send(records);
  return opened;
}

/** What the first record of the partition lacks, because an older version wrote it. */
async function missingCommands(
  opening: PartitionOpening,
  partition: number,
): Promise<readonly Command[]> {
  const { client, codec, ordersTopic: topic } = opening;
  const ledgerKey = ledgerKeyOf(opening);
  const first = await readFirstEnvelope(client, { topic, partition, reader: codec });
  const commands = first?.commands ?? [];
  const hasKey = commands.some(
    (one) => one.kind === 'SetKey' && one.publicKey.equals(ledgerKey.publicKey),
  );
  const hasRules = commands.some((one) => one.kind === 'SetRules' && one.version >= newestRules);
  return [...(hasRules ? [] : [newRules]), ...(hasKey ? [] : [ledgerKey])];
}

const newRules: CommandOf<'SetRules'> = { kind: 'SetRules', version: newestRules };

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
  content: Parameters<typeof sealEnvelope>[2],
): Buffer {
  const key = openSignOffKey(Buffer.from(keys.operatorSeed, 'hex'));
  return sealEnvelope(codec, key, content);
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
    newRules,
    keyOf(keys.ingressSeed, 'INGRESS'),
    keyOf(keys.ownerSeed, 'OWNER'),
    ledgerKeyOf(opening),
  ];
}
