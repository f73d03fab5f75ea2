import type { Listing, Market } from '@pm/domain/markets/market';
import type { ClickHouse } from '@pm/kit/clickhouse';
import { KeptMarkets } from '../tables/kept-markets.io.ts';
import type { TablesState } from '../tables/tables-state.ts';
import type { PriceFacts } from './history.ts';
import type { HistoryPlan } from './history-plan.ts';
import { readPrices } from './read-prices.io.ts';

/** Most memory of all kept prices with the histories made of them, estimated bytes. */
const keptBytesMax = 32 << 20;
/** A bucket with a price, and a point of a history as text. */
const bucketBytes = 64;
const pointBytes = 26;
const entryBytes = 500;

/** Prices of markets in a range, read once for each state of the tables. */
export class KeptPrices {
  readonly #clickhouse: Pick<ClickHouse, 'selectRows'>;
  readonly #kept: KeptMarkets<PriceFacts>;

  constructor(clickhouse: Pick<ClickHouse, 'selectRows'>, state: TablesState) {
    this.#clickhouse = clickhouse;
    this.#kept = new KeptMarkets(state, keptBytesMax);
  }

  /** One entry per listing, in order; a value, not a promise, when all of them are at hand. */
  of(
    listings: readonly Listing[],
    plan: HistoryPlan,
  ): readonly PriceFacts[] | Promise<readonly PriceFacts[]> {
    const wanted = listings.map(({ market }) => {
      return { name: nameOf(market, plan), partition: market.partition };
    });
    return this.#kept.of(wanted, {
      kind: 'prices',
      isEnough: () => true,
      read: async (places) => {
        const missing = places.map((place) => listings[place] as Listing);
        const read = await readPrices(this.#clickhouse, missing, plan);
        return read.map((value) => ({ value, bytes: bytesOf(value, plan) }));
      },
    });
  }
}

/** Both tokens of a market have the same facts, which change when the catalog knows its payout. */
function nameOf({ market, payout0 }: Market, { fromS, toS, stepS }: HistoryPlan): string {
  return `${market}:${payout0}:${fromS}:${toS}:${stepS}`;
}

/** With the histories of both tokens. */
function bytesOf({ midpoints, trades }: PriceFacts, { fromS, toS, stepS }: HistoryPlan): number {
  const points = (toS - fromS) / stepS;
  return entryBytes + bucketBytes * (midpoints.length + trades.length) + 2 * pointBytes * points;
}
