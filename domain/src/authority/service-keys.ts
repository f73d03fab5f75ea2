import type { KeyObject } from 'node:crypto';
import type {
  ListedSchema,
  PartitionEnd,
  SealRole,
  ServiceKeyEntry,
} from '@pm/schemas/log/service-keys';
import type { KeyRole } from '@pm/schemas/log/types';
import { keyIdOf, publicKeyObject, rawPublicKey } from '../signoff/keys.ts';

/** A key whose seals count, or counted up to some places. */
export interface ServiceKey {
  readonly role: SealRole;
  readonly publicKey: KeyObject;
  /** From these offsets on they do not, by `placeOf`; null while it is not retired. */
  retiredAt: Ends | null;
}

/** A key that the root key has listed. */
export interface ListedServiceKey {
  readonly role: KeyRole;
  /** Raw, 32 bytes. */
  readonly publicKey: Buffer;
}

/** Ends of partitions, by `placeOf`. */
export type Ends = ReadonlyMap<string, number>;

/** The name of a partition of a topic. */
export function placeOf({ topic, partition }: Pick<PartitionEnd, 'topic' | 'partition'>): string {
  return `${topic} ${partition}`;
}

/** Entries of the root key about keys: all kinds of entries but those that list schemas. */
type KeyEntry = Exclude<ServiceKeyEntry, ListedSchema & { readonly kind: 'SchemaListed' }>;

/** The keys of services by their ids, folded from the topic `service-keys`. Only the root key never changes. */
export class ServiceKeys {
  readonly #keys = new Map<string, ServiceKey>();
  #adopted: Ends = new Map();
  #depositsFrom: Ends | null = null;
  readonly #openings = new Map<number, Buffer>();
  #isEmpty = true;

  /** `rootKey`: raw public key, 32 bytes. */
  constructor(rootKey: Buffer) {
    const publicKey = publicKeyObject(rootKey);
    this.#keys.set(idOf(rootKey), { role: 'ROOT', publicKey, retiredAt: null });
  }

  /** Whether the root key has listed no key and adopted nothing yet. */
  get isEmpty(): boolean {
    return this.#isEmpty;
  }

  get(keyId: string): ServiceKey | null {
    return this.#keys.get(keyId) ?? null;
  }

  /** The keys that are listed and not retired; raw public keys, 32 bytes. */
  get listed(): readonly ListedServiceKey[] {
    return [...this.#keys.values()].flatMap(({ role, publicKey, retiredAt }) =>
      role === 'ROOT' || retiredAt !== null ? [] : [{ role, publicKey: rawPublicKey(publicKey) }],
    );
  }

  /** The offset before which records without a seal count. */
  adoptedEnd(place: string): number {
    return this.#adopted.get(place) ?? 0;
  }

  /** Whether deposits count under the seal of an OPERATOR key alone, from some place on. */
  get hasReservedDeposits(): boolean {
    return this.#depositsFrom !== null;
  }

  /** Whether a deposit at this offset counts under the seal of an OPERATOR key alone. */
  isReservedDeposit(place: string, offset: number): boolean {
    return this.#depositsFrom !== null && offset >= (this.#depositsFrom.get(place) ?? 0);
  }

  /** The record that opens a partition of `orders`, as it was kept; null when it was not. */
  openingOf(partition: number): Buffer | null {
    return this.#openings.get(partition) ?? null;
  }

  /** Partitions of `orders` whose opening was kept, in order. */
  get openedPartitions(): readonly number[] {
    return [...this.#openings.keys()].sort((a, b) => a - b);
  }

  apply(entry: KeyEntry): void {
    this.#isEmpty = false;
    if (entry.kind === 'PartitionOpened') {
      const { partition, envelope } = entry;
      // A copy, so that it does not keep the whole fetch in memory. The first one counts, as on the log.
      if (!this.#openings.has(partition)) this.#openings.set(partition, Buffer.from(envelope));
      return;
    }
    if (entry.kind === 'DepositsReserved') {
      this.#depositsFrom ??= endsOf(entry.ends);
      return;
    }
    if (entry.kind === 'UnsealedAdopted') {
      // The first one counts: what came later was written when every writer sealed.
      if (this.#adopted.size === 0) this.#adopted = endsOf(entry.ends);
      return;
    }
    const keyId = idOf(entry.publicKey);
    const known = this.#keys.get(keyId);
    if (entry.kind === 'ServiceKeyListed') {
      if (known !== undefined) return;
      const publicKey = publicKeyObject(entry.publicKey);
      this.#keys.set(keyId, { role: entry.role, publicKey, retiredAt: null });
    } else if (known !== undefined && known.role !== 'ROOT') {
      known.retiredAt ??= endsOf(entry.ends);
    }
  }
}

function idOf(publicKey: Buffer): string {
  return keyIdOf(publicKey).toString('hex');
}

function endsOf(ends: readonly PartitionEnd[]): Ends {
  return new Map(ends.map((one) => [placeOf(one), one.end]));
}
