import { setTimeout as wait } from 'node:timers/promises';
import type { LogPlace } from '@pm/deploy/installation/fee-wallet';
import { StackError } from '@pm/deploy/local/stack-error';
import type { AuthoritySeeds } from '@pm/deploy/setup/keys';
import { publishServiceKey } from '@pm/domain/authority/publish-service-key.io';
import { openSealedLog, type SealedLog } from '@pm/domain/authority/sealed-log.io';
import { eachExecution } from '@pm/domain/executions/each-execution.io';
import {
  openSignOffKey,
  type SignOffKey,
  type Verifier,
  verifierFor,
} from '@pm/domain/signoff/keys';
import { sealEnvelope, verifySealed } from '@pm/domain/signoff/records';
import { Sequences } from '@pm/domain/signoff/sequences';
import {
  type IncomingRecord,
  type LogAdmin,
  type LogClient,
  type LogProducer,
  readRange,
} from '@pm/kit/kafka';
import { silentLog } from '@pm/kit/log';
import { type RecordCodec, topicName } from '@pm/kit/registry';
import { AvroError } from '@pm/schemas/avro/bytes';
import type { Execution } from '@pm/schemas/log/executions';
import { rules } from '@pm/schemas/log/log-rules';
import { type Envelope, envelopeSignatureBytes } from '@pm/schemas/log/orders';
import { registryHeaderBytes, topics } from '@pm/schemas/log/topics';
import {
  idOf,
  type KeyLists,
  type KeysById,
  PartitionKeys,
  ServiceKeyList,
  withoutUnopened,
} from './key-lists.ts';
import type { KeyChange, KeyLog } from './rotation.ts';

/** Longest wait for a matcher, milliseconds: longer than a partition takes to get another owner. */
const appliedWaitMs = 60_000;
const appliedCheckMs = 100;
/** Attempts of one change: a set-up that sends with the same key at the same moment may be first. */
const attemptsMax = 5;
const keyIdFrom = registryHeaderBytes + envelopeSignatureBytes;

interface Parts {
  readonly place: LogPlace;
  readonly admin: LogAdmin;
  readonly producer: LogProducer;
  readonly orders: RecordCodec<Envelope>;
  readonly executions: RecordCodec<Execution>;
  readonly root: SignOffKey;
  readonly opening: SignOffKey;
}

/** The lists of keys of an installation, with the rights of its root key and its opening key. */
export class InstallationKeys implements KeyLog {
  readonly #parts: Parts;
  readonly #names: { readonly orders: string; readonly executions: string };
  readonly #verifier: Verifier;
  readonly #sequences = new Sequences();

  private constructor(parts: Parts) {
    const { topicPrefix } = parts.place;
    this.#parts = parts;
    this.#names = {
      orders: topicName(topics.orders, topicPrefix),
      executions: topicName(topics.executions, topicPrefix),
    };
    this.#verifier = verifierFor(parts.opening.publicKey);
  }

  /** `place` has a client that leaves out nothing. Close the keys before it. */
  static async open(
    place: LogPlace,
    { rootSeed, openingSeed }: AuthoritySeeds,
  ): Promise<InstallationKeys> {
    const { schemas } = place;
    return new InstallationKeys({
      place,
      admin: await place.client.admin(),
      producer: await place.client.producer(),
      orders: await schemas.codecFor(topics.orders),
      executions: await schemas.codecFor(topics.executions),
      root: openSignOffKey(Buffer.from(rootSeed, 'hex')),
      opening: openSignOffKey(Buffer.from(openingSeed, 'hex')),
    });
  }

  async close(): Promise<void> {
    await this.#parts.producer.close();
    await this.#parts.admin.close();
  }

  async read(): Promise<KeyLists> {
    const { admin } = this.#parts;
    const found = new Map<number, KeysById>();
    for (const [partition, { low, high }] of await admin.bounds(this.#names.orders))
      found.set(partition, await this.#keysOf(partition, low, high));
    const sealed = await this.#sealedLog();
    const partitions = withoutUnopened(found, sealed.openedPartitions);
    return { partitions, services: await this.#listed(sealed) };
  }

  async setKey(partition: number, change: KeyChange): Promise<void> {
    const { orders: codec, opening, producer } = this.#parts;
    const { publicKey, role, active } = change;
    const commands = [{ kind: 'SetKey', publicKey, role, active } as const];
    for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
      const sequence = this.#sequences.next(Date.now());
      const value = sealEnvelope(codec, opening, { partition, sequence, commands });
      const [sent] = await producer.send([
        { topic: this.#names.orders, partition, key: null, value },
      ]);
      if (sent === undefined) break;
      const execution = await this.#executionOf(partition, sent.offset);
      const wasSet = execution.events.some((event) => event.kind === 'KeySet');
      if (wasSet) return;
      if (!isOldSequence(execution)) break;
      this.#sequences.leaveRunOf(sequence, Date.now());
    }
    throw refused(partition, `the matcher does not take the key ${idOf(publicKey)}`);
  }

  async awaitApplied(partition: number, offset: number): Promise<void> {
    await this.#executionOf(partition, offset);
  }

  async publish({ publicKey, role, active }: KeyChange): Promise<void> {
    const { place, root } = this.#parts;
    const listing = { ...place, root, log: silentLog };
    await publishServiceKey(listing, { publicKey, role, active });
  }

  async #keysOf(partition: number, from: number, to: number): Promise<KeysById> {
    const { place, opening } = this.#parts;
    const keys = new PartitionKeys(partition, opening.publicKey);
    await readRange(place.client, {
      topic: this.#names.orders,
      partition,
      from,
      to,
      onBatch: async ({ records }) => {
        for (const record of records) await this.#take(keys, record);
      },
    });
    return keys.byId;
  }

  /** Only records that name the opening key are decoded. */
  async #take(keys: PartitionKeys, { value, offset, timestampMs }: IncomingRecord): Promise<void> {
    const { orders: codec, opening } = this.#parts;
    const { keyId } = opening;
    if (value === null || !value.subarray(keyIdFrom, keyIdFrom + keyId.length).equals(keyId))
      return;
    if (!codec.knows(value)) await codec.prepare(value);
    const fingerprint = codec.fingerprintOf(value);
    const isSigned = (version: number) =>
      (fingerprint !== null && verifySealed(value, this.#verifier, fingerprint)) ||
      (version < rules.signedSchema && verifySealed(value, this.#verifier, null));
    const envelope = decoded(codec, value);
    if (envelope !== null) keys.take({ envelope, offset, timestampMs, isSigned });
  }

  async #sealedLog(): Promise<SealedLog> {
    const { place, root } = this.#parts;
    const rootKey = root.publicKey;
    const ignored = { onUnproven: () => {}, onFault: () => {} };
    const checked = { ...place, rootKey, sealing: [], log: silentLog };
    return await openSealedLog({ ...checked, ...ignored });
  }

  async #listed(sealed: LogClient): Promise<KeysById> {
    const { admin, place } = this.#parts;
    const topic = topicName(topics.serviceKeys, place.topicPrefix);
    const { low = 0, high = 0 } = (await admin.bounds(topic)).get(0) ?? {};
    const codec = place.schemas.readerFor(topics.serviceKeys);
    const list = new ServiceKeyList();
    await readRange(sealed, {
      topic,
      partition: 0,
      from: low,
      to: high,
      dense: false,
      onBatch: async ({ records }) => {
        for (const record of records) {
          if (record.value === null) continue;
          if (!codec.knows(record.value)) await codec.prepare(record.value);
          list.take(codec.decode(record.value), record);
        }
      },
    });
    return list.byId;
  }

  /** The output of an input; outputs are dense, so it is never before the offset of its input. */
  async #executionOf(partition: number, inOffset: number): Promise<Execution> {
    const { place, admin, executions: codec } = this.#parts;
    const { executions: topic } = this.#names;
    const deadlineMs = performance.now() + appliedWaitMs;
    for (let from = inOffset; performance.now() < deadlineMs; await wait(appliedCheckMs)) {
      const high = (await admin.bounds(topic)).get(partition)?.high ?? 0;
      if (high <= from) continue;
      let found: Execution | null = null;
      const take = (execution: Execution) => {
        if (execution.inOffset === inOffset) found ??= execution;
      };
      const onBatch = (batch: Parameters<typeof eachExecution>[0]) =>
        eachExecution(batch, codec, take);
      await readRange(place.client, { topic, partition, from, to: high, onBatch });
      if (found !== null) return found;
      from = high;
    }
    const how = 'does a matcher run? The same command again continues';
    throw refused(partition, `it was not applied within ${appliedWaitMs / 1_000} s: ${how}`);
  }
}

function decoded(codec: RecordCodec<Envelope>, value: Buffer): Envelope | null {
  try {
    return codec.decode(value);
  } catch (error) {
    if (error instanceof AvroError) return null;
    throw error;
  }
}

function isOldSequence({ events }: Execution): boolean {
  return events.some((one) => one.kind === 'RecordRejected' && one.reason === 'OLD_SEQUENCE');
}

function refused(partition: number, text: string): StackError {
  return new StackError('START_FAILED', `partition ${partition}: ${text}`);
}
