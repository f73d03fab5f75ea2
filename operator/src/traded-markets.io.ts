import { setTimeout as wait } from 'node:timers/promises';
import type { ReadOffsets } from '@pm/domain/commands/read-offsets.io';
import { unlessUnavailable } from '@pm/domain/requests/requests.io';
import type { RedisClient } from '@pm/kit/redis';
import type { CatalogMarket } from '@pm/schemas/log/catalog';
import type { RedisKeys } from '@pm/schemas/redis/keys';

/** Pauses before each look at a ledger that is behind, milliseconds. */
const pausesMs = [0, 50, 100, 200, 400, 800] as const;

/** Facts about a market in the ledger. */
export interface MarketHistory {
  /** Next offset of `executions` in the partition of the market that the ledger applies; 0 where it knows none. */
  readonly mark: number;
  /** Whether tokens of the market were ever made before that offset. */
  readonly hasTokens: boolean;
}

interface TradedMarketsOptions {
  readonly history: (market: TradedMarket) => Promise<MarketHistory>;
  /** How far this process has read `executions`. */
  readonly readOffsets: Pick<ReadOffsets, 'place'>;
  /** A timer unless given. */
  readonly pause?: (ms: number) => Promise<unknown>;
}

type TradedMarket = Pick<CatalogMarket, 'market' | 'partition'>;

/**
 * Whether markets are traded: tokens of them were made, by a fill or by a split. The ledger keeps the tokens of each
 * market from the first ones on. It is believed that there were none only once it has applied all that this process has
 * read of the partition; while it is away, behind or folded anew every market counts as traded.
 */
export class TradedMarkets {
  readonly #options: TradedMarketsOptions;

  constructor(options: TradedMarketsOptions) {
    this.#options = options;
  }

  async isTraded(market: TradedMarket): Promise<boolean> {
    const { history, readOffsets, pause = wait } = this.#options;
    const read = readOffsets.place(market.partition);
    for (const pauseMs of pausesMs) {
      if (pauseMs > 0) await pause(pauseMs);
      const known = await unlessUnavailable(() => history(market));
      if (known?.hasTokens === true) return true;
      if (known !== null && known.mark >= read) return false;
    }
    return true;
  }
}

/** Reads the history of markets from the Redis of the ledger. Rejects with the faults of `openRedis`. */
export function marketHistories(
  redis: Pick<RedisClient, 'hget'>,
  keys: RedisKeys,
): TradedMarketsOptions['history'] {
  return async ({ market, partition }) => {
    // The mark comes first: what the ledger applies in between has the later mark.
    const mark = await redis.hget(keys.ledgerMarks, keys.ledgerMarkOf(partition));
    const entry = await redis.hget(keys.ledgerMarkets, String(market));
    return { mark: Number(mark ?? 0), hasTokens: entry !== null };
  };
}
