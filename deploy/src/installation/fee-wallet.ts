import {
  type KeptOpenings,
  noKeptOpenings,
  readFirstEnvelope,
} from '@pm/domain/signoff/first-envelope.io';
import { registryConnection } from '@pm/kit/config';
import type { LogClient } from '@pm/kit/kafka';
import { silentLog } from '@pm/kit/log';
import { openRegistry, type Registry, type RegistryAccess, topicName } from '@pm/kit/registry';
import { type CommandOf, topics, type WalletAddress, walletFromBytes } from '@pm/schemas';
import { StackError } from '../local/stack-error.ts';
import type { Addresses } from './read-addresses.ts';

/** Addresses of the log of an installation, and the prefix of its topics. */
export interface LogPlace {
  readonly client: LogClient;
  readonly registryUrl: string;
  readonly registryAccess?: RegistryAccess;
  readonly topicPrefix: string;
}

/** The log of an installation, with the sign-in at its registry. */
export function logPlaceOf(client: LogClient, addresses: Addresses): LogPlace {
  const { url: registryUrl, access: registryAccess } = registryConnection(addresses);
  return { client, registryUrl, registryAccess, topicPrefix: addresses.topicPrefix };
}

/** The registry of a log; opens nothing yet. */
export function registryAt({ registryUrl: url, registryAccess, topicPrefix }: LogPlace): Registry {
  const access = registryAccess ?? {};
  return openRegistry({ url, access, topicPrefix, log: silentLog });
}

type Opening = CommandOf<'OpenPartition'>;

/** The opening of each partition that was opened; null when it is known no more. */
export type Openings = ReadonlyMap<number, Opening | null>;

/** The openings that are known. */
export function* knownOpenings(openings: Openings): Iterable<readonly [number, Opening]> {
  for (const [partition, opening] of openings)
    if (opening !== null) yield [partition, opening] as const;
}

/**
 * How each partition was opened, by its first record; null where that is neither there nor kept. Partitions that never
 * had a record are absent. Creates no topic and registers no schema.
 */
export async function readOpenings(
  place: LogPlace,
  kept: KeptOpenings = noKeptOpenings,
): Promise<Openings> {
  const { client, topicPrefix } = place;
  const topic = topicName(topics.orders, topicPrefix);
  const admin = await client.admin();
  const bounds = await boundsOf(topic, admin).finally(() => admin.close());
  const reader = registryAt(place).readerFor(topics.orders);
  const found = new Map<number, Opening | null>();
  for (const [partition, { low, high }] of bounds) {
    if (high === 0) continue;
    if (low > 0 && kept.openingOf(partition) === null) {
      found.set(partition, null);
      continue;
    }
    const first = await readFirstEnvelope(client, { topic, partition, reader, kept });
    const opening = first?.commands.find((one) => one.kind === 'OpenPartition');
    if (opening !== undefined) found.set(partition, opening);
  }
  return found;
}

async function boundsOf(topic: string, admin: Awaited<ReturnType<LogClient['admin']>>) {
  return (await admin.hasTopic(topic)) ? await admin.bounds(topic) : new Map<number, never>();
}

/**
 * The fee wallet of an installation. Throws a `StackError` when no partition was opened, or two with different wallets.
 */
export async function feeWalletOf(place: LogPlace): Promise<WalletAddress> {
  const openings = [...knownOpenings(await readOpenings(place))];
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
