import type { SealRole } from '@pm/schemas/log/service-keys';
import { readSeal, type Seal, type WithHeaders } from './seal.ts';
import { placeOf, type ServiceKey, type ServiceKeys } from './service-keys.ts';

/**
 * Why a record of a sealed topic does not count. `old`: its writer has sealed a later one before it on the log.
 * `foreign_deposit`: it brings money, and no operator sealed it.
 */
export const unprovenReasons = [
  'unsealed',
  'malformed',
  'unknown_key',
  'wrong_role',
  'retired_key',
  'bad_signature',
  'foreign_deposit',
  'old',
] as const;

export type UnprovenReason = (typeof unprovenReasons)[number];

/** A partition of a sealed topic, and who may write it. */
export interface SealedPartition {
  /** Name on the broker. */
  readonly topic: string;
  readonly partition: number;
  readonly writers: readonly SealRole[];
}

/** Result of the checks of a record that come before the check of its signature. */
export type SealClaim =
  | { readonly kind: 'counts' }
  | { readonly kind: 'unproven'; readonly reason: UnprovenReason }
  | { readonly kind: 'sealed'; readonly seal: Seal; readonly key: ServiceKey };

/** Judges everything but the signature and the sequence. */
export function claimOf(
  record: WithHeaders & { readonly offset: number },
  { topic, partition, writers }: SealedPartition,
  keys: Pick<ServiceKeys, 'get' | 'adoptedEnd'>,
): SealClaim {
  const place = placeOf({ topic, partition });
  const seal = readSeal(record);
  if (seal === null)
    return record.offset < keys.adoptedEnd(place) ? { kind: 'counts' } : unproven('unsealed');
  if (seal === 'malformed') return unproven('malformed');
  const key = keys.get(seal.keyId);
  if (key === null) return unproven('unknown_key');
  if (!writers.includes(key.role)) return unproven('wrong_role');
  // A place that did not exist when the key was retired has no record that it may have sealed before.
  const isRetired = key.retiredAt !== null && record.offset >= (key.retiredAt.get(place) ?? 0);
  return isRetired ? unproven('retired_key') : { kind: 'sealed', seal, key };
}

function unproven(reason: UnprovenReason): SealClaim {
  return { kind: 'unproven', reason };
}

/**
 * The newest sequence of each writer in one partition, in the order of the log. It holds an entry for each process that
 * has written there: only proven seals come in.
 */
export class WriterSequences {
  readonly #newest = new Map<string, Pick<Seal, 'sequence' | 'signature'>>();
  #next = 0;

  /** Whether a proven seal counts: `repeated` is the newest record of its writer once more, `old` an earlier one. */
  take(offset: number, seal: Seal): 'counts' | 'repeated' | 'old' {
    // The partition is read again from an earlier place.
    if (offset < this.#next) this.#newest.clear();
    this.#next = offset + 1;
    const newest = this.#newest.get(seal.writer);
    if (newest !== undefined && seal.sequence <= newest.sequence)
      return seal.signature.equals(newest.signature) ? 'repeated' : 'old';
    // A copy: the signature is a view of everything that was fetched with it.
    const { sequence, signature } = seal;
    this.#newest.set(seal.writer, { sequence, signature: Buffer.from(signature) });
    return 'counts';
  }
}
