import { noNotice } from '@pm/domain/catalog/facts';
import type { PartitionLiveness } from '@pm/domain/commands/partition-liveness';
import type { Clock } from '@pm/kit/clock';
import { reactionTo } from '@pm/kit/fault';
import type { Log } from '@pm/kit/log';
import type { CatalogMarket } from '@pm/schemas/log/catalog';
import { type CatalogServices, changeMarket } from './matcher-market.io.ts';

/** Time between two attempts to change one fee, milliseconds. */
const retryMs = 10_000;

interface FeeNoticesOptions {
  readonly catalog: CatalogServices;
  readonly partitions: Pick<PartitionLiveness, 'at' | 'isReady'>;
  readonly clock: Pick<Clock, 'nowMs' | 'monotonicMs'>;
  readonly log: Pick<Log, 'warn' | 'info'>;
}

/**
 * Higher fees of traded markets at the end of their notice period. The catalog has the notice, so a restart changes
 * nothing, and several processes may change one fee together.
 */
export class FeeNotices {
  readonly #options: FeeNoticesOptions;
  /** Monotonic milliseconds; bounded by the markets there are. */
  readonly #triedAt = new Map<number, number>();

  constructor(options: FeeNoticesOptions) {
    this.#options = options;
  }

  /**
   * Changes what is due. A partition without an owner is not waited for; a fault that passes is tried again later.
   * Rejects with one that does not pass.
   */
  async tick(): Promise<void> {
    const { catalog, log } = this.#options;
    for (const number of catalog.catalog.noticedMarkets()) {
      await this.#change(number).catch((error: unknown) => {
        if (reactionTo(error) === 'stop') throw error;
        log.warn({ err: error, market: number }, 'a fee waits for its change');
      });
    }
  }

  async #change(number: number): Promise<void> {
    const { catalog, partitions, clock, log } = this.#options;
    const market = catalog.catalog.findMarket(number);
    const triedAtMs = this.#triedAt.get(number) ?? Number.NEGATIVE_INFINITY;
    if (market === undefined || !this.#isDue(market)) return;
    if (!partitions.isReady(market.partition)) return;
    if (clock.monotonicMs() < triedAtMs + retryMs) return;
    this.#triedAt.set(number, clock.monotonicMs());
    const done = await changeMarket(number, catalog, (latest) =>
      this.#isDue(latest) ? withNoticedFee(latest) : latest,
    );
    if ('status' in done) {
      log.warn({ market: number, problem: done.text }, 'a fee waits for its change');
      return;
    }
    this.#triedAt.delete(number);
    log.info({ market: number, feeRateBps: done.market.feeRateBps }, 'a noticed fee began');
  }

  /** By the clocks of this process and of the partition: one that is ahead begins none early. */
  #isDue({ feeChangesAtMs, partition, payout0 }: CatalogMarket): boolean {
    const { clock, partitions } = this.#options;
    const nowMs = Math.min(clock.nowMs(), partitions.at(partition).clockMs);
    return feeChangesAtMs > 0 && payout0 < 0 && nowMs >= feeChangesAtMs;
  }
}

function withNoticedFee(market: CatalogMarket): CatalogMarket {
  return { ...market, feeRateBps: market.nextFeeRateBps, ...noNotice };
}
