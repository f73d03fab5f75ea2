import type { ClickHouse } from '@pm/kit/clickhouse';
import type { Listing } from '../markets/market.ts';
import { KeptReads } from '../tables/kept-reads.ts';
import { SharedReads } from '../tables/shared-reads.io.ts';
import type { TablesState } from '../tables/tables-state.ts';
import { noPrices, type PriceFacts } from './history.ts';
import type { HistoryPlan } from './history-plan.ts';
import { readPrices } from './read-prices.io.ts';

/** Of all kept prices with the histories made of them, by estimate. */
const keptBytesMax = 32 << 20;
/** A bucket with a price, and a point of a history as text. */
const bucketBytes = 64;
const pointBytes = 26;
const entryBytes = 500;

/** Prices of markets in a range, read once for each state of the tables. */
export class KeptPrices {
  readonly #clickhouse: Pick<ClickHouse, 'selectRows'>;
  readonly #state: TablesState;
  readonly #kept: KeptReads<PriceFacts>;
  readonly #shared = new SharedReads<readonly PriceFacts[]>();

  constructor(clickhouse: Pick<ClickHouse, 'selectRows'>, state: TablesState) {
    this.#clickhouse = clickhouse;
    this.#state = state;
    this.#kept = new KeptReads(keptBytesMax, () => state.nowMs());
  }

  /** One entry per listing, in order; a value, not a promise, when all of them are at hand. */
  of(
    listings: readonly Listing[],
    plan: HistoryPlan,
  ): readonly PriceFacts[] | Promise<readonly PriceFacts[]> {
    const kept = this.#keptOf(listings, plan);
    if (isWhole(kept)) return kept;
    const name = listings.map(({ market }) => nameOf(market.market, plan)).join();
    return this.#shared.read(name, () => this.#load(listings, plan));
  }

  /** What is kept is looked up again: the read before this one may have read the same. */
  async #load(listings: readonly Listing[], plan: HistoryPlan): Promise<readonly PriceFacts[]> {
    const kept = this.#keptOf(listings, plan);
    const missing = listings.filter((_, place) => kept[place] === undefined);
    if (missing.length === 0) return kept.map((facts) => facts ?? noPrices);
    const versions = missing.map(({ market }) => this.#state.storedOffset(market.partition));
    const read = await readPrices(this.#clickhouse, missing, plan);
    for (const [place, { market }] of missing.entries()) {
      const value = read[place] ?? noPrices;
      const sized = { value, bytes: bytesOf(value, plan) };
      this.#kept.keep(nameOf(market.market, plan), versions[place] ?? null, sized);
    }
    let next = 0;
    return kept.map((facts) => facts ?? read[next++] ?? noPrices);
  }

  #keptOf(listings: readonly Listing[], plan: HistoryPlan): readonly (PriceFacts | undefined)[] {
    return listings.map(({ market: { market, partition } }) =>
      this.#kept.get(nameOf(market, plan), this.#state.storedOffset(partition)),
    );
  }
}

function isWhole(kept: readonly (PriceFacts | undefined)[]): kept is readonly PriceFacts[] {
  return !kept.includes(undefined);
}

/** Both tokens of a market have the same facts. */
function nameOf(market: number, { fromS, toS, stepS }: HistoryPlan): string {
  return `${market}:${fromS}:${toS}:${stepS}`;
}

/** With the histories of both tokens. */
function bytesOf({ midpoints, trades }: PriceFacts, { fromS, toS, stepS }: HistoryPlan): number {
  const points = (toS - fromS) / stepS;
  return entryBytes + bucketBytes * (midpoints.length + trades.length) + 2 * pointBytes * points;
}
