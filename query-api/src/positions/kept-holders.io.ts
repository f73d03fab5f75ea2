import type { ClickHouse } from '@pm/kit/clickhouse';
import type { Market, Outcome } from '../markets/market.ts';
import { KeptReads } from '../tables/kept-reads.ts';
import { SharedReads } from '../tables/shared-reads.io.ts';
import type { TablesState } from '../tables/tables-state.ts';
import { type HolderRow, holdersMax } from './holders.ts';
import { readHolders } from './read-holders.io.ts';

/** Of all kept holders with the texts made of them, by estimate. */
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
  readonly #state: TablesState;
  readonly #kept: KeptReads<Largest>;
  readonly #shared = new SharedReads<readonly Largest[]>();

  constructor(clickhouse: Pick<ClickHouse, 'selectRows'>, state: TablesState) {
    this.#clickhouse = clickhouse;
    this.#state = state;
    this.#kept = new KeptReads(keptBytesMax, () => state.nowMs());
  }

  /** By market and token, the largest first; a value, not a promise, when all of them are at hand. */
  of(
    markets: readonly Market[],
    bounds: HolderBounds,
  ): readonly HolderRow[] | Promise<readonly HolderRow[]> {
    const kept = this.#keptOf(markets, bounds.limit);
    if (isWhole(kept)) return shownOf(kept, bounds);
    const limit = readSizes.find((size) => size >= bounds.limit) ?? holdersMax;
    const name = [limit, ...markets.map(({ market }) => market)].join();
    return this.#shared
      .read(name, () => this.#load(markets, limit))
      .then((largest) => shownOf(largest, bounds));
  }

  /** What is kept is looked up again: the read before this one may have read the same. */
  async #load(markets: readonly Market[], limit: number): Promise<readonly Largest[]> {
    const kept = this.#keptOf(markets, limit);
    const missing = markets.filter((_, place) => kept[place] === undefined);
    const versions = missing.map(({ partition }) => this.#state.storedOffset(partition));
    const bounds = { limit, minBalanceMicro: leastMicro };
    const rows = missing.length === 0 ? [] : await readHolders(this.#clickhouse, missing, bounds);
    const read = missing.map((market): Largest => ({ limit, rows: tokensOf(market, rows) }));
    for (const [place, { market }] of missing.entries()) {
      const value = read[place] ?? noHolders;
      const bytes = entryBytes + rowBytes * (value.rows[0].length + value.rows[1].length);
      this.#kept.keep(String(market), versions[place] ?? null, { value, bytes });
    }
    let next = 0;
    return kept.map((largest) => largest ?? read[next++] ?? noHolders);
  }

  #keptOf(markets: readonly Market[], limit: number): readonly (Largest | undefined)[] {
    return markets.map(({ market, partition }) => {
      const kept = this.#kept.get(String(market), this.#state.storedOffset(partition));
      return kept !== undefined && kept.limit >= limit ? kept : undefined;
    });
  }
}

const noHolders: Largest = { limit: holdersMax, rows: [[], []] };

function tokensOf({ market }: Market, rows: readonly HolderRow[]): Largest['rows'] {
  const of = (outcome: Outcome) =>
    rows.filter((row) => row.market === market && row.outcome === outcome);
  return [of(0), of(1)];
}

function isWhole(kept: readonly (Largest | undefined)[]): kept is readonly Largest[] {
  return !kept.includes(undefined);
}

/** Of each token the first rows that are large enough. */
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
