import { setTimeout as wait } from 'node:timers/promises';
import { followTable } from '@pm/kit/compacted';
import { Fault } from '@pm/kit/fault';
import type { LogClient } from '@pm/kit/kafka';
import type { Log } from '@pm/kit/log';
import type { RecordCodec } from '@pm/kit/registry';
import {
  type CatalogEntry,
  type CatalogMarket,
  conditionIdFromBytes,
  tokenIdFromBytes,
} from '@pm/schemas';
import type { MarketFacts } from '../core/books/render.ts';
import { MarketCategories } from '../core/leaderboard/categories.ts';

/** A catalog record follows its `MarketSet` at once; how long a partition waits for it, and how often it looks. */
const waitMs = 10_000;
const pollMs = 25;

/** What views need to know of markets beyond the executions. */
export interface CatalogSource {
  /** Waits for the market to appear; `market_facts_missing` (retry) when it does not in time. */
  facts(market: number): Promise<MarketFacts>;
  /** Waits for the resolution to appear; the same fault. */
  payout0(market: number): Promise<number>;
  /** Categories of the leaderboards. */
  readonly categories: MarketCategories;
  close(): Promise<void>;
}

export interface CatalogParts {
  readonly client: LogClient;
  readonly codec: RecordCodec<CatalogEntry>;
  readonly topic: string;
  readonly log: Log;
  fail(error: unknown): void;
}

interface KnownMarket {
  readonly facts: MarketFacts;
  /** -1 before the resolution. */
  readonly payout0: number;
}

/** Holds the markets of the catalog in memory; resolves when all that is in the topic has been read. */
export async function openCatalogSource(parts: CatalogParts): Promise<CatalogSource> {
  const markets = new Map<number, KnownMarket>();
  const categories = new MarketCategories();
  const { client, codec, topic, log } = parts;
  // One unreadable entry must not take all books along: it is skipped loudly, and its market waits.
  const reader = await followTable(client, {
    topic,
    codec,
    log,
    take: (entry) => {
      categories.apply(entry);
      if (entry.kind === 'CatalogMarket') markets.set(entry.market, knownMarket(entry));
    },
    onFault: (fault) => parts.fail(fault),
  });
  return {
    facts: (market) => until(market, () => markets.get(market)?.facts ?? null),
    payout0: (market) =>
      until(market, () => {
        const payout0 = markets.get(market)?.payout0 ?? -1;
        return payout0 < 0 ? null : payout0;
      }),
    categories,
    close: () => reader.close(),
  };
}

function knownMarket(entry: CatalogMarket): KnownMarket {
  const tokens = [tokenIdFromBytes(entry.token0), tokenIdFromBytes(entry.token1)] as const;
  const conditionId = conditionIdFromBytes(entry.conditionId);
  return { facts: { conditionId, tokens, negRisk: entry.negRisk }, payout0: entry.payout0 };
}

async function until<T>(market: number, look: () => T | null): Promise<T> {
  const deadlineMs = performance.now() + waitMs;
  for (;;) {
    const found = look();
    if (found !== null) return found;
    if (performance.now() > deadlineMs)
      throw new Fault('market_facts_missing', 'retry', { facts: { market } });
    await wait(pollMs);
  }
}
