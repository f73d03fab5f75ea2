import {
  adoptUnsealed,
  keepOpening,
  publishServiceKey,
  reserveDeposits,
} from '@pm/domain/authority/publish-service-key.io';
import { openSealedLog, type SealedLog } from '@pm/domain/authority/sealed-log.io';
import { readFirstValue } from '@pm/domain/signoff/first-envelope.io';
import { openSignOffKey, type SignOffKey } from '@pm/domain/signoff/keys';
import type { LogClient } from '@pm/kit/kafka';
import { silentLog } from '@pm/kit/log';
import { type Registry, topicName } from '@pm/kit/registry';
import { type KeyRole, topics } from '@pm/schemas';
import { StackError } from '../local/stack-error.ts';
import type { ExchangeKeys } from './keys.ts';

export interface ServiceKeySetup {
  readonly client: LogClient;
  readonly registry: Registry;
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
  const sealed = await openSealedLog({
    ...options,
    rootKey: rootOf(options).publicKey,
    sealing: [],
    log: silentLog,
    onUnproven: () => {},
    onFault: () => {},
  });
  if (sealed.isNew) await refuseOtherRoot(options.client, options.topicPrefix);
  return sealed;
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
  const { keys } = options;
  const place = { ...options, root: rootOf(options), log: silentLog };
  let adopted = 0;
  if (sealed.isNew) adopted = (await adoptUnsealed(place)).reduce((sum, { end }) => sum + end, 0);
  let listed = 0;
  for (const [role, seed] of rolesOf(keys)) {
    const { publicKey, keyId } = openSignOffKey(Buffer.from(seed, 'hex'));
    if (sealed.isKnown(keyId.toString('hex'))) continue;
    await publishServiceKey(place, { publicKey, role, active: true });
    listed += 1;
  }
  if (!sealed.hasReservedDeposits) await reserveDeposits(place);
  return { listed, adopted };
}

/**
 * Keeps the first record of every partition of `orders` under the root key, so that retention may remove it there. A
 * repetition changes nothing. Throws a `StackError` when one is gone and was never kept.
 */
export async function keepOpenings(options: ServiceKeySetup, sealed: SealedLog): Promise<void> {
  const { client, topicPrefix } = options;
  const topic = topicName(topics.orders, topicPrefix);
  const admin = await client.admin();
  const bounds = await admin.bounds(topic).finally(() => admin.close());
  const place = { ...options, root: rootOf(options), log: silentLog };
  for (const [partition, { low, high }] of bounds) {
    if (high === 0 || sealed.openingOf(partition) !== null) continue;
    const envelope = low === 0 ? await readFirstValue(client, { topic, partition }) : null;
    if (envelope === null)
      throw new StackError(
        'BAD_DESCRIPTION',
        `the first record of ${topic}/${partition}, which opens it, is gone and was never kept`,
      );
    await keepOpening(place, { partition, envelope });
  }
}

function rootOf({ keys }: ServiceKeySetup): SignOffKey {
  return openSignOffKey(Buffer.from(keys.rootSeed, 'hex'));
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
