import type { Market, Outcome } from '@pm/domain/markets/market';
import type { ClickHouse } from '@pm/kit/clickhouse';
import { andThen } from '../http/read-route.io.ts';
import { KeptMarkets } from '../tables/kept-markets.io.ts';
import type { Sized } from '../tables/kept-reads.ts';
import type { TablesState } from '../tables/tables-state.ts';
import { type HolderRow, holdersMax } from './holders.ts';
import { readHolders } from './read-holders.io.ts';

/** Most memory of all kept holders with the texts made of them, estimated bytes. */
const keptBytesMax = 32 << 20;
/** A holder, and its text in both forms of token ids. */
const rowBytes = 1_000;
const entryBytes = 500;
/** Holders of a token that are read for a request: the next of these, so that later ones find enough. */
const readSizes = [20, 100, holdersMax] as const;
/** Anything larger than nothing; the least of a request is a matter of how many of the largest are shown. */
const leastMicro = 1;

/** The largest balances of both tokens of a market: up to `limit` of each. */
interface Largest {
  readonly limit: number;
  readonly rows: readonly [readonly HolderRow[], readonly HolderRow[]];
}

interface HolderBounds {
  readonly limit: number;
  readonly minBalanceMicro: number;
}

/**
 * The largest holders of markets, read once for each state of the tables: a statement reads all holders of its markets,
 * however few are requested.
 */
export class KeptHolders {
  readonly #clickhouse: Pick<ClickHouse, 'selectRows'>;
  readonly #kept: KeptMarkets<Largest>;

  constructor(clickhouse: Pick<ClickHouse, 'selectRows'>, state: TablesState) {
    this.#clickhouse = clickhouse;
    this.#kept = new KeptMarkets(state, keptBytesMax);
  }

  /** By market and token, the largest first; a value, not a promise, when all of them are at hand. */
  of(
    markets: readonly Market[],
    bounds: HolderBounds,
  ): readonly HolderRow[] | Promise<readonly HolderRow[]> {
    const limit = readSizes.find((size) => size >= bounds.limit) ?? holdersMax;
    const wanted = markets.map(({ market, partition }) => ({ name: String(market), partition }));
    const largest = this.#kept.of(wanted, {
      kind: String(limit),
      isEnough: (kept) => kept.limit >= limit,
      read: (places) => {
        const missing = places.map((place) => markets[place] as Market);
        return this.#read(missing, limit);
      },
    });
    return andThen(largest, (known) => shownOf(known, bounds));
  }

  async #read(markets: readonly Market[], limit: number): Promise<readonly Sized<Largest>[]> {
    const bounds = { limit, minBalanceMicro: leastMicro };
    const rows = await readHolders(this.#clickhouse, markets, bounds);
    return markets.map((market) => {
      const value: Largest = { limit, rows: tokensOf(market, rows) };
      const [first, second] = value.rows;
      return { value, bytes: entryBytes + rowBytes * (first.length + second.length) };
    });
  }
}

function tokensOf({ market }: Market, rows: readonly HolderRow[]): Largest['rows'] {
  const of = (outcome: Outcome) =>
    rows.filter((row) => row.market === market && row.outcome === outcome);
  return [of(0), of(1)];
}

/** First holders of each token, at most the requested number, with at least the requested balance. */
function shownOf(largest: readonly Largest[], bounds: HolderBounds): readonly HolderRow[] {
  return largest.flatMap(({ rows }) => rows.flatMap((token) => shown(token, bounds)));
}

function shown(
  rows: readonly HolderRow[],
  { limit, minBalanceMicro }: HolderBounds,
): readonly HolderRow[] {
  const tooSmall = rows.findIndex(({ sizeMicro }) => sizeMicro < minBalanceMicro);
  return rows.slice(0, tooSmall === -1 ? limit : Math.min(limit, tooSmall));
}
