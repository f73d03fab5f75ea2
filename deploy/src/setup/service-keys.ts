import {
  adoptUnsealed,
  keepOpening,
  publishServiceKey,
  reserveDeposits,
} from '@pm/domain/authority/publish-service-key.io';
import { openSealedLog, type SealedLog } from '@pm/domain/authority/sealed-log.io';
import {
  type KeptOpenings,
  noKeptOpenings,
  type OpenedPartitions,
} from '@pm/domain/signoff/first-envelope.io';
import { openSignOffKey } from '@pm/domain/signoff/keys';
import type { LogClient } from '@pm/kit/kafka';
import { silentLog } from '@pm/kit/log';
import { Schemas, topicName } from '@pm/kit/registry';
import { topics } from '@pm/schemas/log/topics';
import type { KeyRole } from '@pm/schemas/log/types';
import { StackError } from '../local/stack-error.ts';
import { type ExchangeKeys, readAuthority } from './keys.ts';
import { findOpening } from './openings.ts';

export interface ServiceKeySetup {
  readonly client: LogClient;
  readonly schemas: Schemas;
  readonly topicPrefix: string;
  readonly keys: ExchangeKeys;
}

const rolesOf = (keys: ExchangeKeys): readonly (readonly [KeyRole, string])[] => [
  ['INGRESS', keys.ingressSeed],
  ['OPERATOR', keys.operatorSeed],
  ['LEDGER', keys.ledgerSeed],
  ['OWNER', keys.ownerSeed],
];

/** The keys that the root key has listed. Throws a `StackError` when another root key has listed keys. */
export async function readServiceKeys(options: ServiceKeySetup): Promise<SealedLog> {
  const sealed = await openSealed(options);
  if (sealed.isNew && options.schemas.all().length === 0)
    await refuseOtherRoot(options.client, options.topicPrefix);
  return sealed;
}

/** The openings that the root key has kept; none of a log that is absent or has another root key. Changes nothing. */
export async function readKept(
  options: Omit<ServiceKeySetup, 'schemas'>,
): Promise<KeptOpenings & OpenedPartitions> {
  const admin = await options.client.admin();
  const topic = topicName(topics.serviceKeys, options.topicPrefix);
  const isThere = await admin.hasTopic(topic).finally(() => admin.close());
  return isThere ? await openSealed({ ...options, schemas: new Schemas() }) : noKeptOpenings;
}

function openSealed(options: ServiceKeySetup): Promise<SealedLog> {
  return openSealedLog({
    ...options,
    rootKey: Buffer.from(options.keys.rootKey, 'hex'),
    sealing: [],
    log: silentLog,
    onUnproven: () => {},
    onFault: () => {},
  });
}

/**
 * Lists the keys of services that the root key has never listed (`sealed`). On a log of an earlier version, whose
 * records have no seals, it first adopts those that are there. From then on only OPERATOR keys deposit. A repetition
 * changes nothing. Returns the number of listed keys and of adopted records.
 */
export async function setUpServiceKeys(
  options: ServiceKeySetup,
  sealed: SealedLog,
): Promise<{ readonly listed: number; readonly adopted: number }> {
  const missing = rolesOf(options.keys)
    .map(([role, seed]) => ({ role, ...openSignOffKey(Buffer.from(seed, 'hex')) }))
    .filter(({ keyId }) => !sealed.isKnown(keyId.toString('hex')));
  if (!sealed.isNew && missing.length === 0 && sealed.hasReservedDeposits)
    return { listed: 0, adopted: 0 };
  const place = placeOf(options);
  let adopted = 0;
  if (sealed.isNew) adopted = (await adoptUnsealed(place)).reduce((sum, { end }) => sum + end, 0);
  for (const { publicKey, role } of missing)
    await publishServiceKey(place, { publicKey, role, active: true });
  if (!sealed.hasReservedDeposits) await reserveDeposits(place);
  return { listed: missing.length, adopted };
}

/**
 * Keeps the opening of the first `partitions` partitions of `orders` under the root key: readers take the partition as
 * opened from here on, and retention may remove its first records. A repetition changes nothing.
 */
export async function keepOpenings(
  options: ServiceKeySetup,
  sealed: SealedLog,
  partitions: number,
): Promise<void> {
  const { client, topicPrefix, schemas, keys } = options;
  const ordersTopic = topicName(topics.orders, topicPrefix);
  const admin = await client.admin();
  const bounds = await admin.bounds(ordersTopic).finally(() => admin.close());
  const codec = await schemas.codecFor(topics.orders);
  const place = { client, codec, ordersTopic, openingKey: keys.openingKey };
  for (const [partition, ends] of bounds) {
    if (partition >= partitions || sealed.openingOf(partition) !== null) continue;
    const envelope = await findOpening(place, partition, ends);
    if (envelope !== null) await keepOpening(placeOf(options), { partition, envelope });
  }
}

/** The log with the right to list keys and schemas on it. */
export function placeOf(options: ServiceKeySetup) {
  const { rootSeed } = readAuthority(options.keys, 'set-up of the keys of services');
  return { ...options, root: openSignOffKey(Buffer.from(rootSeed, 'hex')), log: silentLog };
}

async function refuseOtherRoot(client: LogClient, topicPrefix: string): Promise<void> {
  const topic = topicName(topics.serviceKeys, topicPrefix);
  const admin = await client.admin();
  const bounds = await admin.bounds(topic).finally(() => admin.close());
  if ((bounds.get(0)?.high ?? 0) === 0) return;
  throw new StackError(
    'BAD_DESCRIPTION',
    `${topic} has records, and none is of the root key of keys.json: start with the keys.json that this log was set up with`,
  );
}
