import { randomBytes, verify as verifyBytes } from 'node:crypto';
import { Fault } from '@pm/kit/fault';
import type {
  GroupOptions,
  IncomingRecord,
  LogClient,
  LogProducer,
  LogReader,
  OutgoingRecord,
  PartitionGroup,
  ReaderOptions,
  RecordBatch,
} from '@pm/kit/kafka';
import type { Log } from '@pm/kit/log';
import { type Schemas, topicName } from '@pm/kit/registry';
import type { SealRole } from '@pm/schemas/log/service-keys';
import { type Topic, topics } from '@pm/schemas/log/topics';
import type { OpenedPartitions } from '../signoff/first-envelope.io.ts';
import type { SignOffKey, Verifier } from '../signoff/keys.ts';
import { KeyFollower } from './key-follower.io.ts';
import { ReservedDeposits } from './reserved-deposits.io.ts';
import { sealHeader, sealRecord, signedBytes, writerIdBytes } from './seal.ts';
import { claimOf, type SealClaim, type UnprovenReason, WriterSequences } from './seal-check.ts';
import { type ListedServiceKey, ServiceKeys } from './service-keys.ts';
import type { UnprovenRecord } from './unproven-records.io.ts';

export interface SealedLogOptions {
  /** The log without seals. Closing the sealed log closes it. */
  readonly client: LogClient;
  /** Learns the schemas that the log lists. */
  readonly schemas: Schemas;
  readonly topicPrefix: string;
  /** Raw public key, 32 bytes. */
  readonly rootKey: Buffer;
  /** Keys that this process seals with; the first one that a topic allows seals its records. */
  readonly sealing: readonly SignOffKey[];
  readonly log: Log;
  onUnproven(record: UnprovenRecord): void;
  /** The keys of services cannot be followed any further: the process should stop. */
  onFault(fault: Fault): void;
}

/** Signatures that are checked at a time in one batch. */
const checksMax = 256;

/**
 * The log as services use it: seals every record of a topic with writers, and leaves out, of what it reads from them,
 * every record whose seal does not count. Other topics pass unchanged.
 *
 * Resolves when the listed keys and schemas are known. Rejects with the `Fault` `service_key_not_listed` (stop) when
 * one of `sealing` may not seal, and with the faults of the client.
 */
export async function openSealedLog(options: SealedLogOptions): Promise<SealedLog> {
  const sealed = new SealedLog(options);
  await sealed.followKeys();
  return sealed;
}

export class SealedLog implements LogClient, OpenedPartitions {
  readonly #options: SealedLogOptions;
  readonly #keys: ServiceKeys;
  readonly #writers: ReadonlyMap<string, readonly SealRole[]>;
  readonly #deposits: ReservedDeposits;
  #follower: KeyFollower | null = null;

  constructor(options: SealedLogOptions) {
    this.#options = options;
    this.#keys = new ServiceKeys(options.rootKey);
    this.#deposits = new ReservedDeposits(this.#keys, options);
    this.#writers = new Map(
      sealedTopics().map(({ topic, writers }) => [topicName(topic, options.topicPrefix), writers]),
    );
  }

  /** Whether the root key has listed no key and adopted nothing yet. */
  get isNew(): boolean {
    return this.#keys.isEmpty;
  }

  /** The offset before which records of a partition (`placeOf`) count without a seal. */
  adoptedEnd(place: string): number {
    return this.#keys.adoptedEnd(place);
  }

  /** Whether deposits count under the seal of an OPERATOR key alone. */
  get hasReservedDeposits(): boolean {
    return this.#keys.hasReservedDeposits;
  }

  /** The record that opens a partition of `orders`, as set-up has kept it under the root key; null when it has not. */
  openingOf(partition: number): Buffer | null {
    return this.#keys.openingOf(partition);
  }

  /**
   * Partitions of `orders` whose opening set-up has kept under the root key, in order. Set-up keeps the opening last,
   * so these partitions take records; more are added while this runs.
   */
  get openedPartitions(): readonly number[] {
    return this.#keys.openedPartitions;
  }

  /** The keys that are listed and not retired. */
  get listedKeys(): readonly ListedServiceKey[] {
    return this.#keys.listed;
  }

  /** Whether the key with this id (hex) was ever listed. */
  isKnown(keyId: string): boolean {
    return this.#keys.get(keyId) !== null;
  }

  /** Checks signatures of the key with this id, which has the role and may seal now; null for every other key. */
  verifierOf(role: SealRole, keyId: Buffer): Verifier | null {
    const key = this.#keys.get(keyId.toString('hex'));
    if (key === null || key.role !== role || key.retiredAt !== null) return null;
    return (bytes, signature) => verifyBytes(null, bytes, key.publicKey, signature);
  }

  /** Whether the key with this id (hex) may seal now. */
  isListed(keyId: string): boolean {
    const key = this.#keys.get(keyId);
    return key !== null && key.retiredAt === null;
  }

  /** See `openSealedLog`. */
  async followKeys(): Promise<void> {
    const { schemas, topicPrefix, log, onFault, sealing } = this.#options;
    this.#follower = await KeyFollower.open({
      client: this,
      keys: this.#keys,
      schemas,
      topicPrefix,
      log,
      onFault,
    });
    for (const { keyId } of sealing) {
      const facts = { keyId: keyId.toString('hex') };
      if (!this.isListed(facts.keyId)) throw new Fault('service_key_not_listed', 'stop', { facts });
    }
  }

  /**
   * Whether the seal of a record is that of a key with one of these roles, whatever topic it is of: null when it is,
   * otherwise why not. Sequences are not judged.
   */
  async whyUnproven(
    record: OutgoingRecord & { readonly offset: number },
    writers: readonly SealRole[],
  ): Promise<UnprovenReason | null> {
    const { topic, partition } = record;
    const claim = claimOf(record, { topic, partition, writers }, this.#keys);
    if (claim.kind !== 'sealed') return claim.kind === 'counts' ? null : claim.reason;
    return (await isSigned(record, claim)) ? null : 'bad_signature';
  }

  async producer(limits?: Parameters<LogClient['producer']>[0]): Promise<LogProducer> {
    const producer = await this.#options.client.producer(limits);
    const writer = randomBytes(writerIdBytes);
    let sequence = 0;
    const seal = (record: OutgoingRecord) => {
      const writers = this.#writers.get(record.topic);
      if (writers === undefined) return record;
      sequence += 1;
      const bytes = sealRecord(
        this.#sealingKey(record.topic, writers),
        { writer, sequence },
        record,
      );
      return { ...record, headers: { ...record.headers, [sealHeader]: bytes } };
    };
    return {
      // Sealed in the order of the calls, which is the order of the records of a partition on the log.
      send: (records) => producer.send(records.map(seal)),
      get queuedRecords() {
        return producer.queuedRecords;
      },
      close: () => producer.close(),
    };
  }

  reader(options: ReaderOptions): Promise<LogReader> {
    return this.#options.client.reader({ ...options, onBatch: this.#checked(options) });
  }

  group(options: GroupOptions): Promise<PartitionGroup> {
    return this.#options.client.group({ ...options, onBatch: this.#checked(options) });
  }

  admin(): ReturnType<LogClient['admin']> {
    return this.#options.client.admin();
  }

  async close(): Promise<void> {
    await this.#options.client.close();
  }

  #sealingKey(topic: string, writers: readonly SealRole[]): SignOffKey {
    for (const key of this.#options.sealing) {
      const listed = this.#keys.get(key.keyId.toString('hex'));
      if (listed !== null && writers.includes(listed.role)) return key;
    }
    throw new Fault('not_a_writer', 'stop', { facts: { topic } });
  }

  #checked({ topic, onBatch }: Pick<ReaderOptions, 'topic' | 'onBatch'>): ReaderOptions['onBatch'] {
    const writers = this.#writers.get(topic);
    if (writers === undefined) return onBatch;
    const sequences = new Map<number, WriterSequences>();
    return async (batch) => {
      const known = sequences.get(batch.partition) ?? new WriterSequences();
      sequences.set(batch.partition, known);
      await onBatch(await this.#proven(batch, writers, known));
    };
  }

  /** The batch without the records that are not proved. */
  async #proven(
    batch: RecordBatch,
    writers: readonly SealRole[],
    sequences: WriterSequences,
  ): Promise<RecordBatch> {
    const { topic, partition, records: all } = batch;
    const records: IncomingRecord[] = [];
    for (let from = 0; from < all.length; from += checksMax) {
      const some = all.slice(from, from + checksMax);
      const claims = await this.#claims(batch, some, writers);
      const signed = await Promise.all(
        some.map((record, index) => isSigned({ topic, partition, ...record }, claims[index])),
      );
      for (const [index, record] of some.entries()) {
        const sealed = verdictOf(record, claims[index], signed[index] === true, sequences);
        const isForeign =
          sealed === 'counts' && (await this.#deposits.isForeign(batch, record, claims[index]));
        const verdict = isForeign ? 'foreign_deposit' : sealed;
        if (verdict === 'counts') records.push(record);
        else if (verdict !== 'repeated')
          this.#options.onUnproven({ topic, partition, offset: record.offset, reason: verdict });
      }
    }
    const [first, last] = [all[0], all.at(-1)];
    if (records.length === all.length || first === undefined || last === undefined) return batch;
    return { ...batch, records, offsets: { from: first.offset, to: last.offset + 1 } };
  }

  async #claims(
    { topic, partition }: RecordBatch,
    records: readonly IncomingRecord[],
    writers: readonly SealRole[],
  ): Promise<readonly SealClaim[]> {
    const judged = () =>
      records.map((record) => claimOf(record, { topic, partition, writers }, this.#keys));
    const claims = judged();
    const lacksKey = claims.some((one) => one.kind === 'unproven' && one.reason === 'unknown_key');
    if (!lacksKey || this.#follower === null) return claims;
    await this.#follower.catchUp();
    return judged();
  }
}

/** Topics with writers. */
export function sealedTopics(): readonly {
  readonly topic: Topic;
  readonly writers: readonly SealRole[];
}[] {
  return Object.values<Topic>(topics).flatMap((topic) =>
    topic.writers === undefined ? [] : [{ topic, writers: topic.writers }],
  );
}

/** On a thread of its own: a start reads tens of thousands of records. */
function isSigned(record: OutgoingRecord, claim: SealClaim | undefined): Promise<boolean> {
  if (claim?.kind !== 'sealed') return Promise.resolve(false);
  const { seal, key } = claim;
  const bytes = signedBytes(seal.head, record);
  return new Promise((resolve) => {
    verifyBytes(null, bytes, key.publicKey, seal.signature, (error, isValid) =>
      resolve(error === null && isValid),
    );
  });
}

function verdictOf(
  { offset }: IncomingRecord,
  claim: SealClaim | undefined,
  signed: boolean,
  sequences: WriterSequences,
): 'counts' | 'repeated' | UnprovenReason {
  if (claim === undefined) return 'unsealed';
  if (claim.kind === 'counts') return 'counts';
  if (claim.kind === 'unproven') return claim.reason;
  return signed ? sequences.take(offset, claim.seal) : 'bad_signature';
}
