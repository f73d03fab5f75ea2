import type { KeyObject } from 'node:crypto';
import { publicKeyObject } from '@pm/domain/signoff/keys';
import type { CheckedSeal } from './envelope-reader.ts';
import type { InputRecord, RecordProcessor } from './record-processor.ts';
import type { SignaturePool } from './signature-pool.io.ts';

/** Records whose sign-offs are in the thread pool at once: enough for its four threads, little for its other users. */
const aheadMax = 8;

/**
 * Checks the sign-offs of a batch in the thread pool while the records before are processed: a check takes longer than
 * the matching of a small envelope. The first one is left to the reader, which would wait for it.
 */
export class SealsAhead {
  readonly #processor: Pick<RecordProcessor, 'sealAhead'>;
  readonly #records: readonly InputRecord[];
  readonly #pool: Pick<SignaturePool, 'check'>;
  readonly #pending = new Map<number, Promise<CheckedSeal | null>>();
  readonly #keys = new Map<string, KeyObject>();
  #next = 1;

  constructor(
    processor: Pick<RecordProcessor, 'sealAhead'>,
    records: readonly InputRecord[],
    pool: Pick<SignaturePool, 'check'>,
  ) {
    this.#processor = processor;
    this.#records = records;
    this.#pool = pool;
  }

  /** The check of the record at this index of the batch, which is asked for once and in order; null without one. */
  of(index: number): Promise<CheckedSeal | null> | null {
    const end = Math.min(this.#records.length, index + 1 + aheadMax);
    for (; this.#next < end; this.#next += 1) this.#begin(this.#next);
    const pending = this.#pending.get(index) ?? null;
    this.#pending.delete(index);
    return pending;
  }

  #begin(index: number): void {
    const seal = this.#processor.sealAhead(this.#records[index] as InputRecord);
    if (seal === null) return;
    const { publicKey, fingerprint, signed, signature } = seal;
    const checking = this.#pool.check({ key: this.#key(publicKey), bytes: signed, signature });
    if (checking === null) return;
    const checked = checking.then((holds) =>
      holds === null ? null : { publicKey, fingerprint, holds },
    );
    this.#pending.set(index, checked);
  }

  /** One object per key and batch. */
  #key(publicKey: Buffer): KeyObject {
    const name = publicKey.toString('latin1');
    const known = this.#keys.get(name) ?? publicKeyObject(publicKey);
    this.#keys.set(name, known);
    return known;
  }
}
