import { type SealedRecord, sealHeader, sealRecord } from '@pm/domain/authority/seal';
import type { SignOffKey } from '@pm/domain/signoff/keys';
import { sealedOutputEvery } from '@pm/schemas/log/executions';

export interface OutputSealsOptions {
  /** The OWNER key. */
  readonly key: SignOffKey;
  /** Id of this writer, 8 random bytes. */
  readonly writer: Buffer;
  monotonicMs(): number;
}

/** Longest time between two sealed outputs of a partition that has outputs, milliseconds. */
const everyMs = 1_000;

/**
 * Seals outputs of one partition: the first one, then one of `sealedOutputEvery` or one a second. The chain in a sealed
 * output covers every output before it. The seal is a header, so that outputs of two owners have the same values.
 */
export class OutputSeals {
  readonly #options: OutputSealsOptions;
  #sequence = 0;
  #since = 0;
  #sealedMs = Number.NEGATIVE_INFINITY;

  constructor(options: OutputSealsOptions) {
    this.#options = options;
  }

  /** The next output, with a seal when one is due. */
  seal<R extends SealedRecord>(record: R): R {
    this.#since += 1;
    const nowMs = this.#options.monotonicMs();
    if (this.#since < sealedOutputEvery && nowMs - this.#sealedMs < everyMs) return record;
    [this.#since, this.#sealedMs] = [0, nowMs];
    this.#sequence += 1;
    const { key, writer } = this.#options;
    const bytes = sealRecord(key, { writer, sequence: this.#sequence }, record);
    return { ...record, headers: { [sealHeader]: bytes } };
  }
}
