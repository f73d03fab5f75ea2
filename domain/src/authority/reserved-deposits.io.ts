import type { IncomingRecord, RecordBatch } from '@pm/kit/kafka';
import { type RecordReader, readValue, type Schemas, topicName } from '@pm/kit/registry';
import type { Transfer } from '@pm/schemas/log/accounts';
import { topics } from '@pm/schemas/log/topics';
import type { SealClaim } from './seal-check.ts';
import { placeOf, type ServiceKeys } from './service-keys.ts';

/**
 * Money comes in by operators alone: a service that pays withdrawals writes the same topic, and must not be able to
 * make money for an attacker who takes it over.
 */
export class ReservedDeposits {
  readonly #keys: Pick<ServiceKeys, 'isReservedDeposit'>;
  readonly #topic: string;
  readonly #readerFor: () => RecordReader<Transfer>;
  #reader: RecordReader<Transfer> | null = null;

  constructor(
    keys: Pick<ServiceKeys, 'isReservedDeposit'>,
    log: { readonly schemas: Pick<Schemas, 'readerFor'>; readonly topicPrefix: string },
  ) {
    this.#keys = keys;
    this.#topic = topicName(topics.transfers, log.topicPrefix);
    this.#readerFor = () => log.schemas.readerFor(topics.transfers);
  }

  /**
   * Whether the record of a partition brings money under another seal than that of an operator, where that counts no
   * more. False for one that cannot be read: its reader decides.
   */
  isForeign(
    at: Pick<RecordBatch, 'topic' | 'partition'>,
    record: IncomingRecord,
    claim: SealClaim | undefined,
  ): boolean | Promise<boolean> {
    if (at.topic !== this.#topic || claim?.kind !== 'sealed') return false;
    if (claim.key.role === 'OPERATOR') return false;
    if (!this.#keys.isReservedDeposit(placeOf(at), record.offset)) return false;
    this.#reader ??= this.#readerFor();
    const transfer = readValue(this.#reader, record.value, () => null);
    const isDeposit = (read: Transfer | null) => read !== null && read.amountMicro > 0;
    return transfer instanceof Promise ? transfer.then(isDeposit) : isDeposit(transfer);
  }
}
