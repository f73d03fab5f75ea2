import type { LogAdmin, LogClient } from '@pm/kit/kafka';
import type { Log } from '@pm/kit/log';
import { type Schemas, topicName } from '@pm/kit/registry';
import type { ListedSchema, PartitionEnd, ServiceKeyEntry } from '@pm/schemas/log/service-keys';
import { topics } from '@pm/schemas/log/topics';
import type { SignOffKey } from '../signoff/keys.ts';
import { SealedLog, sealedTopics } from './sealed-log.io.ts';

export interface ServiceKeyPlace {
  /** The log without seals. */
  readonly client: LogClient;
  readonly schemas: Schemas;
  readonly topicPrefix: string;
  readonly root: SignOffKey;
  readonly log: Log;
}

export interface PublishedServiceKey {
  /** Raw Ed25519 public key, 32 bytes. */
  readonly publicKey: Buffer;
  readonly role: Extract<ServiceKeyEntry, { kind: 'ServiceKeyListed' }>['role'];
  /** False retires it: what it has sealed up to now counts, what it seals from now on does not. */
  readonly active: boolean;
}

/**
 * Lists a key of a service, or retires it, under the root key; resolves when the record is durable. A key that was
 * retired is never listed again. Rejects with the faults of the client, and with
 * `schema_not_listed` before `listSchemas`.
 */
export async function publishServiceKey(
  place: ServiceKeyPlace,
  { publicKey, role, active }: PublishedServiceKey,
): Promise<void> {
  if (active) await append(place, { kind: 'ServiceKeyListed', publicKey, role });
  else await append(place, { kind: 'ServiceKeyRetired', publicKey, ends: await endsOf(place) });
}

/** Lets the records count that are there without a seal; only the first call for a log changes something. */
export async function adoptUnsealed(place: ServiceKeyPlace): Promise<readonly PartitionEnd[]> {
  const ends = (await endsOf(place)).filter(({ end }) => end > 0);
  if (ends.length > 0) await append(place, { kind: 'UnsealedAdopted', ends: [...ends] });
  return ends;
}

/** Reserves deposits for OPERATOR keys from here on; only the first call for a log changes something. */
export async function reserveDeposits(place: ServiceKeyPlace): Promise<void> {
  const admin = await place.client.admin();
  const topic = topicName(topics.transfers, place.topicPrefix);
  const ends = await endsIn(admin, topic).finally(() => admin.close());
  await append(place, { kind: 'DepositsReserved', ends });
}

/** Keeps the first record of a partition of `orders` for readers; only the first call for it changes something. */
export async function keepOpening(
  place: ServiceKeyPlace,
  opening: { readonly partition: number; readonly envelope: Buffer },
): Promise<void> {
  await append(place, { kind: 'PartitionOpened', ...opening });
}

/**
 * Lists schemas under their ids. That of `service-keys` itself is written first, when it is among them: readers learn
 * the topic's own schema from the first record under its id.
 */
export async function listSchemas(
  place: ServiceKeyPlace,
  listed: readonly ListedSchema[],
): Promise<void> {
  for (const one of listed) place.schemas.learn(one);
  const isOwn = ({ topic }: ListedSchema) => topic === topics.serviceKeys.name;
  const ordered = [...listed.filter(isOwn), ...listed.filter((one) => !isOwn(one))];
  await append(place, ...ordered.map((one) => ({ kind: 'SchemaListed', ...one }) as const));
}

async function append(
  place: ServiceKeyPlace,
  ...entries: readonly ServiceKeyEntry[]
): Promise<void> {
  const { root, schemas, topicPrefix } = place;
  const codec = await schemas.codecFor(topics.serviceKeys);
  const sealed = new SealedLog({
    ...place,
    rootKey: root.publicKey,
    sealing: [root],
    onUnproven: () => {},
    onFault: () => {},
  });
  const producer = await sealed.producer();
  const topic = topicName(topics.serviceKeys, topicPrefix);
  const recordOf = (entry: ServiceKeyEntry) => {
    const key = Buffer.from(entry.kind, 'utf8');
    return { topic, partition: 0, key, value: codec.encode(entry) };
  };
  try {
    await producer.send(entries.map(recordOf));
  } finally {
    await producer.close();
  }
}

/** Ends of all partitions of the topics that services seal, and of `executions`, which owners seal here and there. */
async function endsOf({
  client,
  topicPrefix,
}: Pick<ServiceKeyPlace, 'client' | 'topicPrefix'>): Promise<PartitionEnd[]> {
  const admin = await client.admin();
  try {
    const ends: PartitionEnd[] = [];
    for (const { topic } of sealedTopics())
      if (topic !== topics.serviceKeys)
        ends.push(...(await endsIn(admin, topicName(topic, topicPrefix))));
    ends.push(...(await endsIn(admin, topicName(topics.executions, topicPrefix))));
    return ends;
  } finally {
    await admin.close();
  }
}

async function endsIn(admin: LogAdmin, topic: string): Promise<PartitionEnd[]> {
  const bounds = await admin.bounds(topic);
  return [...bounds].map(([partition, { high }]) => ({ topic, partition, end: high }));
}
