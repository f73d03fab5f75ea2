import { type KeptOpenings, readFirstEnvelope } from '@pm/domain/signoff/first-envelope.io';
import { keyIdOf, openSignOffKey } from '@pm/domain/signoff/keys';
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
import { type ExchangeKeys, publicKeyOf, readAuthority } from './keys.ts';

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
  readonly kept: KeptOpenings;
  /**
   * Whether set-up or a rotation has listed the key with this id (hex) before, in all partitions that were there; it
   * may be retired by now.
   */
  wasListed(keyId: string): boolean;
}

/**
 * Writes the first record of every partition that has none: its opening, the rules and the keys that may sign, signed
 * by the opening key. A partition opened by an older version gets newer rules, and keys of the ledger and the operator
 * that were never listed, as a later record; a repetition changes nothing. Returns the number of opened partitions.
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

/** What an older version has not written; the first record says what rules it began with. */
async function missingCommands(
  opening: PartitionOpening,
  partition: number,
): Promise<readonly Command[]> {
  const { client, codec, ordersTopic: topic, kept } = opening;
  const first = await readFirstEnvelope(client, { topic, partition, reader: codec, kept });
  const commands = first?.commands ?? [];
  const hasRules = commands.some((one) => one.kind === 'SetRules' && one.version >= newestRules);
  const missing = laterKeys(opening).filter(
    ({ publicKey }) => !opening.wasListed(keyIdOf(publicKey).toString('hex')),
  );
  return [...(hasRules ? [] : [newRules]), ...missing];
}

const newRules: CommandOf<'SetRules'> = { kind: 'SetRules', version: newestRules };

/** The keys that partitions of older versions were opened without. */
function laterKeys({ keys }: PartitionOpening): readonly CommandOf<'SetKey'>[] {
  return [keyOf(keys.ledgerSeed, 'LEDGER'), keyOf(keys.operatorSeed, 'OPERATOR')];
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
  const { openingSeed } = readAuthority(keys, 'set-up of partitions');
  const key = openSignOffKey(Buffer.from(openingSeed, 'hex'));
  return sealEnvelope(codec, key, content);
}

function openingCommands(opening: PartitionOpening, partition: number): readonly Command[] {
  const { keys, feeWallet } = opening;
  return [
    {
      kind: 'OpenPartition',
      partition,
      operatorKey: Buffer.from(keys.openingKey, 'hex'),
      feeWallet: hexBytes(feeWallet),
      bookAgeLimitMs,
      orderAgeLimitMs,
      timeMs: opening.nowMs,
    },
    newRules,
    keyOf(keys.ingressSeed, 'INGRESS'),
    keyOf(keys.ownerSeed, 'OWNER'),
    ...laterKeys(opening),
  ];
}
