import {
  type KeptOpenings,
  noKeptOpenings,
  type OpenedPartitions,
  readFirstEnvelope,
} from '@pm/domain/signoff/first-envelope.io';
import type { LogClient } from '@pm/kit/kafka';
import { ownReader, type RecordReader, type Schemas, topicName } from '@pm/kit/registry';
import { AvroError } from '@pm/schemas/avro/bytes';
import { type WalletAddress, walletFromBytes } from '@pm/schemas/ids';
import type { CommandOf, Envelope } from '@pm/schemas/log/orders';
import { topics } from '@pm/schemas/log/topics';
import { StackError } from '../local/stack-error.ts';

/** The log of an installation: its client, the prefix of its topics, and the schemas that it lists. */
export interface LogPlace {
  readonly client: LogClient;
  readonly topicPrefix: string;
  readonly schemas: Schemas;
}

type Opening = CommandOf<'OpenPartition'>;

/** The opening of each partition that was opened; null when it is known no more. */
export type Openings = ReadonlyMap<number, Opening | null>;

/** The openings that are known. */
export function* knownOpenings(openings: Openings): Iterable<readonly [number, Opening]> {
  for (const [partition, opening] of openings)
    if (opening !== null) yield [partition, opening] as const;
}

/** How the first records of partitions are read. */
interface OpeningReads {
  /** By the schemas that the log lists. */
  readonly reader?: RecordReader<Envelope>;
  readonly kept?: KeptOpenings & OpenedPartitions;
}

/**
 * How each partition was opened, by its first record; null where that is neither there nor kept. Without a reader, as
 * this version would have written it: null where it cannot be read so. Partitions that never had a record are absent,
 * and once some openings are kept, all others: a first record that anyone may have written says nothing of the log.
 * Creates no topic.
 */
export async function readOpenings(
  { client, topicPrefix }: Pick<LogPlace, 'client' | 'topicPrefix'>,
  { reader, kept = noKeptOpenings }: OpeningReads = {},
): Promise<Openings> {
  const topic = topicName(topics.orders, topicPrefix);
  const reads = { topic, reader: reader ?? ownReader(topics.orders), kept };
  const admin = await client.admin();
  const bounds = await boundsOf(topic, admin).finally(() => admin.close());
  const found = new Map<number, Opening | null>();
  for (const [partition, { low, high }] of bounds) {
    const isKept = kept.openingOf(partition) !== null;
    if (high === 0 || (!isKept && kept.openedPartitions.length > 0)) continue;
    if (low > 0 && !isKept) {
      found.set(partition, null);
      continue;
    }
    const first = await readFirstEnvelope(client, { ...reads, partition }).catch(
      (error: unknown) => {
        if (!(error instanceof AvroError)) throw error;
        // By all schemas that the log lists it is no opening: a record of another program.
        return reader === undefined ? unreadable : null;
      },
    );
    const opening = first?.commands.find((one) => one.kind === 'OpenPartition');
    if (opening !== undefined) found.set(partition, opening);
    else if (first === unreadable) found.set(partition, null);
  }
  return found;
}

const unreadable = { commands: [] as Envelope['commands'] };

async function boundsOf(topic: string, admin: Awaited<ReturnType<LogClient['admin']>>) {
  return (await admin.hasTopic(topic)) ? await admin.bounds(topic) : new Map<number, never>();
}

/**
 * The fee wallet of an installation. Throws a `StackError` when no partition was opened, or two with different wallets.
 */
export async function feeWalletOf(place: LogPlace): Promise<WalletAddress> {
  const reader = place.schemas.readerFor(topics.orders);
  const openings = [...knownOpenings(await readOpenings(place, { reader }))];
  const wallets = new Set(openings.map(([, { feeWallet }]) => walletFromBytes(feeWallet)));
  const [wallet] = wallets;
  if (wallet !== undefined && wallets.size === 1) return wallet;
  const found = wallets.size === 0 ? 'no partition has its first record' : [...wallets].join(', ');
  throw new StackError('BAD_DESCRIPTION', `the installation has no one fee wallet: ${found}`);
}

/** Throws a `StackError` when a partition was opened with another fee wallet than this one: it can never change. */
export function refuseOtherFeeWallet(openings: Openings, feeWallet: WalletAddress): void {
  for (const [partition, opening] of knownOpenings(openings)) {
    const opened = walletFromBytes(opening.feeWallet);
    if (opened === feeWallet) continue;
    throw new StackError(
      'BAD_DESCRIPTION',
      `partition ${partition} was opened with the fee wallet ${opened}, and the configured one is ${feeWallet}. ` +
        `The fee wallet of a log cannot change: set PM_FEE_WALLET=${opened} (--fee-wallet). Nothing was changed.`,
    );
  }
}
