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
  /** The markets whose books live in a partition, as far as the catalog has been read. */
  inPartition(partition: number): readonly ListedMarket[];
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

export interface ListedMarket {
  readonly market: number;
  readonly facts: MarketFacts;
}

interface KnownMarket extends ListedMarket {
  readonly partition: number;
  /** -1 before the resolution. */
  readonly payout0: number;
}

/** Holds the markets of the catalog in memory; resolves when all that is in the topic has been read. */
export async function openCatalogSource(parts: CatalogParts): Promise<CatalogSource> {
  const markets = new KnownMarkets();
  const categories = new MarketCategories();
  const { client, codec, topic, log } = parts;
  // One unreadable entry must not take all books along: it is skipped loudly, and its market waits.
  const reader = await followTable(client, {
    topic,
    codec,
    log,
    take: (entry) => {
      categories.apply(entry);
      if (entry.kind === 'CatalogMarket') markets.take(knownMarket(entry));
    },
    onFault: (fault) => parts.fail(fault),
  });
  return {
    facts: (market) => until(market, () => markets.get(market)?.facts ?? null),
    inPartition: (partition) => markets.inPartition(partition),
    payout0: (market) =>
      until(market, () => {
        const payout0 = markets.get(market)?.payout0 ?? -1;
        return payout0 < 0 ? null : payout0;
      }),
    categories,
    close: () => reader.close(),
  };
}

/** Markets by number and by partition. */
class KnownMarkets {
  readonly #byNumber = new Map<number, KnownMarket>();
  readonly #byPartition = new Map<number, Map<number, KnownMarket>>();

  take(known: KnownMarket): void {
    const { market, partition } = known;
    const before = this.#byNumber.get(market);
    if (before !== undefined) this.#byPartition.get(before.partition)?.delete(market);
    this.#byNumber.set(market, known);
    const siblings = this.#byPartition.get(partition) ?? new Map<number, KnownMarket>();
    this.#byPartition.set(partition, siblings.set(market, known));
  }

  get(market: number): KnownMarket | undefined {
    return this.#byNumber.get(market);
  }

  inPartition(partition: number): readonly KnownMarket[] {
    return [...(this.#byPartition.get(partition)?.values() ?? [])];
  }
}

function knownMarket(entry: CatalogMarket): KnownMarket {
  const tokens = [tokenIdFromBytes(entry.token0), tokenIdFromBytes(entry.token1)] as const;
  const conditionId = conditionIdFromBytes(entry.conditionId);
  const { market, partition, negRisk, payout0 } = entry;
  return { market, partition, facts: { conditionId, tokens, negRisk }, payout0 };
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
