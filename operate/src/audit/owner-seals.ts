import type { Installation } from '@pm/deploy/installation/open';
import { sealHeader } from '@pm/domain/authority/seal';
import { placeOf } from '@pm/domain/authority/service-keys';
import type { IncomingRecord } from '@pm/kit/kafka';
import { topicName } from '@pm/kit/registry';
import { sealedOutputEvery } from '@pm/schemas/log/executions';
import { topics } from '@pm/schemas/log/topics';

/** An owner that is replaced and the one after it may each leave so many outputs without a seal. */
const unsealedMax = 2 * sealedOutputEvery;

/**
 * The newest sealed record of each partition of `executions`. The chain in it covers every record before, so a log that
 * was written by someone without the key of an owner has no seal near its end, or one that is not of its record.
 */
export class OwnerSeals {
  readonly #newest = new Map<number, IncomingRecord>();
  readonly #last = new Map<number, number>();

  note(partition: number, record: IncomingRecord): void {
    this.#last.set(partition, record.offset);
    const seal = record.headers?.[sealHeader];
    if (seal === undefined) return;
    // Copies: they are views of everything that was fetched with them.
    const value = record.value === null ? null : Buffer.from(record.value);
    this.#newest.set(partition, { ...record, value, headers: { [sealHeader]: Buffer.from(seal) } });
  }

  /** Partitions whose records are not those that their owners wrote, in words. */
  async wrong({
    addresses: { topicPrefix },
    sealedLog,
  }: Pick<Installation, 'addresses' | 'sealedLog'>): Promise<readonly string[]> {
    const log = await sealedLog(() => {});
    const topic = topicName(topics.executions, topicPrefix);
    const wrong: string[] = [];
    for (const [partition, last] of [...this.#last].sort(([one], [other]) => one - other)) {
      const newest = this.#newest.get(partition);
      const reason =
        newest === undefined
          ? null
          : await log.whyUnproven({ ...newest, topic, partition }, ['OWNER']);
      if (reason !== null) wrong.push(`${topic}:${partition}:${newest?.offset} ${reason}`);
      const proven = Math.max(
        newest?.offset ?? -1,
        log.adoptedEnd(placeOf({ topic, partition })) - 1,
      );
      if (last - proven > unsealedMax)
        wrong.push(
          `${topic}:${partition} has no seal of an owner after offset ${proven}, and ends with ${last}`,
        );
    }
    return wrong;
  }
}
