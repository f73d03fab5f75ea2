import type { Reader } from '@pm/domain/accounts/reader-verifier';
import { noQuote, type Quote } from '@pm/domain/books/quote';
import { CommentThreads } from '@pm/domain/comments/threads';
import { Catalog } from '@pm/domain/markets/catalog';
import type { Listing } from '@pm/domain/markets/market';
import type { CancelRow } from '@pm/domain/orders/cancel-search';
import type { OrderEventRow } from '@pm/domain/orders/order-read';
import type { FillRow } from '@pm/domain/orders/trades';
import type { HeldRow } from '@pm/domain/positions/positions';
import { rateLimitReads } from '@pm/domain/ratelimit/wire.io';
import { followsPlace } from '@pm/domain/reading/merge-page';
import type {
  ActivityRow,
  BuilderRow,
  BuilderVolumeRow,
  MakerFeesRow,
  MarketPositionRow,
  SupplyRow,
  TradeRow,
} from '@pm/domain/reports/rows';
import { Profiles } from '@pm/domain/social/profiles';
import type { Progress } from '@pm/domain/status/progress';
import { SolvencyFacts } from '@pm/domain/status/solvency';
import { Fault } from '@pm/kit/fault';
import { type HttpApp, hasReached, type LogPlaces, openHttp } from '@pm/kit/http';
import { silentLog } from '@pm/kit/log';
import {
  type ApiKeyId,
  parseApiKeyId,
  parseConditionId,
  parseTokenId,
  parseWalletAddress,
  type TokenId,
  tokenIdBytes,
  type WalletAddress,
} from '@pm/schemas/ids';
import type { CatalogEntry, CatalogEvent, CatalogMarket } from '@pm/schemas/log/catalog';
import type { SigningDomain } from '@pm/schemas/signing';
import { checkResponses } from '../../kit/test/http/declared-responses.ts';
import { testDomain } from '../../kit/test/signing-domain.ts';
import type { Moment, PastBook } from '../src/books/past-book.ts';
import type { ConsoleFiles } from '../src/console/console-file.ts';
import type { CandlePlan, CandleRow } from '../src/history/candles.ts';
import { noPrices, type PriceFacts } from '../src/history/history.ts';
import type { ReadParts } from '../src/http/app.route.ts';
import { addReadRoutes } from '../src/http/app.route.ts';
import type { SignedFacts } from '../src/http/read-route.io.ts';
import {
  follows,
  newestFirst,
  type OpenOrderRow,
  type OpenOrderSearch,
} from '../src/orders/open-orders.ts';
import type { TradeSearch } from '../src/orders/trade-search.ts';
import type { Money } from '../src/positions/balances.ts';
import type { HolderRow } from '../src/positions/holders.ts';
import type { Holding } from '../src/positions/holdings.ts';
import type { LeaderboardRow } from '../src/reports/leaderboard-query.ts';
import { EventSearch } from '../src/search/event-search.io.ts';
import { PartitionCounts, type PartitionFacts } from '../src/status/partition-states.ts';
import type { StreamInstance } from '../src/status/stream-instances.ts';

/** Where own lists end. */
export const asOf = [{ partition: 3, offset: 9_000 }];

/** A catalog, books and tables in memory, and an HTTP app over them. */
export const nowMs = Date.UTC(2026, 5, 1, 12, 0, 0);

export const wallet = (index: number): WalletAddress =>
  parsed(parseWalletAddress(`0x${index.toString(16).padStart(40, '0')}`));
export const apiKey = (index: number): ApiKeyId =>
  parsed(parseApiKeyId(`00000000-0000-4000-8000-${index.toString(16).padStart(12, '0')}`));
export const condition = (market: number) =>
  parsed(parseConditionId(`0x${market.toString(16).padStart(64, 'c')}`));
export const token = (market: number, outcome: 0 | 1): TokenId =>
  parsed(parseTokenId(String(1000 + market * 10 + outcome)));

function parsed<T>(value: T | null): T {
  if (value === null) throw new Error('a fixture is ill-formed');
  return value;
}

/** The Safe of every caller. */
export const safe = wallet(0x5afe);
export const proxy = wallet(0x9609);

const bytes = (hex: string) => Buffer.from(hex.slice(2), 'hex');

export function marketEntry(market: number, changes: Partial<CatalogMarket> = {}): CatalogEntry {
  return {
    kind: 'CatalogMarket',
    market,
    eventId: '1',
    conditionId: bytes(condition(market)),
    questionId: bytes(condition(market)),
    token0: tokenIdBytes(token(market, 0)),
    token1: tokenIdBytes(token(market, 1)),
    outcome0: 'Yes',
    outcome1: 'No',
    question: `Question ${market}?`,
    slug: `market-${market}`,
    description: 'Resolves to Yes if it happens.',
    resolutionSource: '',
    image: 'https://example.test/image.png',
    icon: 'https://example.test/icon.png',
    category: 'crypto',
    creator: wallet(0xcc),
    startDateMs: Date.UTC(2026, 0, 1),
    endDateMs: Date.UTC(2026, 11, market),
    createdAtMs: Date.UTC(2026, 0, 1),
    updatedAtMs: Date.UTC(2026, 0, 2),
    active: true,
    closed: false,
    archived: false,
    negRisk: false,
    negRiskMarketId: null,
    tick: 100,
    minSizeMicro: 5_000_000,
    feeRateBps: 441,
    rebateBps: 2_000,
    feeVersion: 1,
    askedPayout0: -1,
    nextFeeRateBps: -1,
    feeChangesAtMs: 0,
    proposedPayout0: -1,
    paysAtMs: 0,
    challengedAtMs: 0,
    challenges: 0,
    metadata: '{}',
    closedAtMs: 0,
    groupItemTitle: '',
    rewardsDailyMicro: 12_500_000,
    rewardsMinSizeMicro: 50_000_000,
    rewardsMaxSpread: 350,
    mode: 'OPEN',
    takerDelayMs: 0,
    payout0: -1,
    partition: 0,
    epoch: 0,
    listed: true,
    ...changes,
  };
}

export function eventEntry(id: string, changes: Partial<CatalogEvent> = {}): CatalogEntry {
  return {
    kind: 'CatalogEvent',
    id,
    ticker: `event-${id}`,
    slug: `event-${id}`,
    title: `Event ${id}`,
    description: 'What happens.',
    resolutionSource: '',
    image: '',
    icon: '',
    startDateMs: Date.UTC(2026, 0, 1),
    creationDateMs: Date.UTC(2025, 11, 30),
    closedAtMs: 0,
    endDateMs: Date.UTC(2026, 11, 31),
    createdAtMs: Date.UTC(2026, 0, Number(id)),
    updatedAtMs: Date.UTC(2026, 0, Number(id)),
    active: true,
    closed: false,
    archived: false,
    tagIds: ['7'],
    seriesIds: ['3'],
    metadata: '{"context":"x"}',
    ...changes,
  };
}

const times = { createdAtMs: Date.UTC(2026, 0, 1), updatedAtMs: Date.UTC(2026, 0, 1) };
export const tagEntry: CatalogEntry = {
  kind: 'CatalogTag',
  id: '7',
  label: 'Crypto',
  slug: 'crypto',
  requiresTranslation: false,
  ...times,
};
export const seriesEntry: CatalogEntry = {
  kind: 'CatalogSeries',
  id: '3',
  ticker: 'daily',
  slug: 'daily',
  title: 'Daily',
  seriesType: 'single',
  recurrence: 'daily',
  image: '',
  icon: '',
  active: true,
  closed: false,
  archived: false,
  ...times,
};

/** Data that the tests put in; everything may be changed between requests. */
export class World {
  /** Files of the console; none unless a test builds them. */
  console: ConsoleFiles = new Map();
  readonly catalog = new Catalog();
  readonly books = new Map<string, Buffer>();
  readonly kept = new Map<string, Buffer>();
  readonly quotes = new Map<string, Quote>();
  readonly positions: HeldRow[] = [];
  readonly holders: HolderRow[] = [];
  readonly authorHoldings: Holding[] = [];
  readonly threads = new CommentThreads();
  readonly profiles = new Profiles();
  readonly closed: HeldRow[] = [];
  readonly tape: TradeRow[] = [];
  readonly activity: ActivityRow[] = [];
  readonly supply: SupplyRow[] = [];
  readonly marketPositions: MarketPositionRow[] = [];
  readonly leaderboard: LeaderboardRow[] = [];
  readonly makerFees: MakerFeesRow[] = [];
  readonly builderTrades: BuilderRow[] = [];
  readonly builderVolumes: BuilderVolumeRow[] = [];
  /** Searches of reports, newest last. */
  readonly reportSearches: unknown[] = [];
  readonly prices = new Map<string, PriceFacts>();
  readonly candles = new Map<string, readonly CandleRow[]>();
  readonly candlePlans: CandlePlan[] = [];
  pastBook: PastBook | null = null;
  readonly moments: Moment[] = [];
  /** Records that the input of each partition has. */
  inputEnd = 1_000_000;
  readonly orders = new Map<string, OrderEventRow[]>();
  readonly trades: FillRow[] = [];
  readonly open: OpenOrderRow[] = [];
  readonly openSearches: OpenOrderSearch[] = [];
  readonly holdings: Holding[] = [];
  readonly cancels: CancelRow[] = [];
  readonly held = new Set<number>();
  readonly deleted = new Set<number>();
  readonly money = new Map<string, Money>();
  readonly bound = new Map<string, readonly WalletAddress[]>();
  readonly sites = new Map<string, readonly string[]>();
  /** False: volume and liquidity were never read. */
  hasFigures = true;
  readonly search = new EventSearch(this.catalog);
  caller: Reader | null = null;
  /** How far the clocks of callers are off. */
  skewMs: number | null = null;
  /** A store that is away. */
  away: 'redis' | 'clickhouse' | null = null;
  readonly searches: TradeSearch[] = [];
  readonly verified: SignedFacts[] = [];

  constructor() {
    for (const entry of [tagEntry, seriesEntry, eventEntry('1')]) this.catalog.apply(entry);
    for (const market of [1, 2, 3]) this.catalog.apply(marketEntry(market));
    this.search.close();
    void this.search.catchUp();
  }

  partitionFacts: PartitionFacts = {
    inputs: new Map(),
    owners: new Map(),
    counts: new PartitionCounts(() => 0),
  };
  streamInstances: readonly StreamInstance[] = [];
  /** Domains of other exchanges whose orders are accepted. */
  family: readonly SigningDomain[] = [];
  progress: Progress = { ends: new Map(), projections: [] };
  completeThroughMs: number | null = null;
  completeThroughAtMs: (readAtMs: number) => number | null = () => null;

  /** Log positions that every client was answered; null for none. */
  answered: LogPlaces | null = null;
  /** How far books and newest executions are; a read moves nothing. */
  reached: LogPlaces = new Map();

  #awaited() {
    return {
      isReached: (places: LogPlaces) => hasReached(this.reached, places),
      reach: async (places: LogPlaces) => hasReached(this.reached, places),
    };
  }

  parts(): ReadParts {
    return {
      answered: { of: () => this.answered, books: this.#awaited(), newest: this.#awaited() },
      domains: { own: testDomain, family: this.family },
      console: this.console,
      catalog: this.catalog,
      books: {
        cached: (id) => this.kept.get(id),
        books: async (listings) => {
          this.#assertUp('redis');
          return listings.map((listing: Listing) => this.books.get(listing.token) ?? null);
        },
        quotesInOrder: async (listings) => {
          this.#assertUp('redis');
          return listings.map((one) => this.quotes.get(one.token) ?? noQuote);
        },
        quotes: async (listings) => {
          this.#assertUp('redis');
          return new Map(listings.map((one) => [one.token, this.quotes.get(one.token) ?? noQuote]));
        },
      },
      tables: {
        holders: async () => {
          this.#assertUp('clickhouse');
          return this.holders;
        },
        authorHoldings: async ({ wallets, markets }) => {
          this.#assertUp('clickhouse');
          return this.authorHoldings
            .filter((row) => markets.includes(row.market))
            .filter((row) => (wallets as readonly string[]).includes(row.wallet));
        },
        prices: async (listings) => {
          this.#assertUp('clickhouse');
          return listings.map((listing) => this.prices.get(listing.token) ?? noPrices);
        },
        candles: async ({ token: id }, plan) => {
          this.#assertUp('clickhouse');
          this.candlePlans.push(plan);
          return this.candles.get(id) ?? [];
        },
        pastBook: async (_listing, moment, withOrders) => {
          this.#assertUp('clickhouse');
          this.moments.push(moment);
          return this.pastBook === null || withOrders
            ? this.pastBook
            : { ...this.pastBook, orders: null };
        },
      },
      positions: {
        open: async (_wallet, markets) => {
          this.#assertUp('clickhouse');
          return this.positions.filter((row) => markets?.includes(row.market) ?? true);
        },
        closed: async (_wallet, markets) => {
          this.#assertUp('clickhouse');
          this.reportSearches.push(markets);
          return this.closed.filter((row) => markets?.includes(row.market) ?? true);
        },
      },
      reports: this.#reports(),
      leaderboards: {
        read: async (search) => {
          this.#assertUp('clickhouse');
          this.reportSearches.push(search);
          return { atMs: nowMs - 7_500, rows: this.leaderboard };
        },
      },
      own: {
        orderEvents: async (ids) => {
          this.#assertUp('clickhouse');
          return ids.flatMap((id) => this.orders.get(id) ?? []);
        },
        trades: async (search) => {
          this.#assertUp('clickhouse');
          this.searches.push(search);
          const rows = this.trades.filter((row) => followsPlace(row, search.after));
          return { rows: rows.slice(0, search.limit), asOf };
        },
        openOrders: async (search) => {
          this.#assertUp('clickhouse');
          this.openSearches.push(search);
          const listed = this.open.filter((row) => follows(row, search.after));
          const rows = listed.toSorted(newestFirst).slice(0, search.limit);
          const events = rows.flatMap(({ orderId }) => this.orders.get(orderId) ?? []);
          return { rows, events, asOf };
        },
        cancels: async (search) => {
          this.#assertUp('clickhouse');
          return this.cancels.slice(0, search.limit);
        },
        marketsOf: async () => {
          this.#assertUp('clickhouse');
          return [...this.held];
        },
        holdings: async ({ wallets, market }) => {
          this.#assertUp('clickhouse');
          const own = this.holdings.filter((one) => wallets.some((each) => each === one.wallet));
          return own.filter((one) => market === null || one.market === market);
        },
      },
      collateral: {
        balance: async (owner) => {
          this.#assertUp('redis');
          return this.money.get(owner) ?? { freeMicro: 0, heldMicro: 0, pendingMicro: 0 };
        },
      },
      search: this.search,
      sites: this.sites,
      figures: { readAtMs: () => (this.hasFigures ? nowMs - 21_000 : null) },
      callers: {
        verify: (request) => {
          this.verified.push(request);
          return this.caller;
        },
        skewMs: () => this.skewMs,
        keysOf: (owner) => new Set(owner === wallet(1) ? [apiKey(1)] : []),
        walletsOf: (own) => ({
          own,
          proxies: [proxy],
          safes: [safe],
          bound: this.bound.get(own) ?? [],
        }),
      },
      deleted: { of: () => this.deleted },
      threads: this.threads,
      profiles: this.profiles,
      rateLimits: rateLimitReads(null),
      partitions: { facts: async () => this.partitionFacts },
      streams: { instances: () => this.streamInstances },
      solvency: new SolvencyFacts(),
      progress: {
        progress: () => this.progress,
        completeThroughMs: () => this.completeThroughMs,
        completeThroughAtMs: (readAtMs) => this.completeThroughAtMs(readAtMs),
      },
      bookSecret: Buffer.alloc(32, 1),
      inputEnds: { hasCome: async (_partition, inOffset) => inOffset < this.inputEnd },
      nowMs: () => nowMs,
    };
  }

  #reports(): ReadParts['reports'] {
    const answer = async <T>(rows: T, search: unknown): Promise<T> => {
      this.#assertUp('clickhouse');
      this.reportSearches.push(search);
      return rows;
    };
    return {
      traded: (owner) => answer(this.held.size, owner),
      activity: (search) => answer(this.activity, search),
      tape: (search) => answer(this.tape, search),
      supply: (markets) =>
        answer(
          this.supply.filter(({ market }) => markets.includes(market)),
          markets,
        ),
      wholeSupply: () => answer({ atMs: nowMs - 42_000, value: this.supply }, null),
      marketPositions: (search) => answer(this.marketPositions, search),
      makerFees: (owner, dayS) => answer(this.makerFees, { owner, dayS }),
      builderTrades: (search) =>
        answer(
          this.builderTrades
            .filter((row) => followsPlace(row, search.after))
            .slice(0, search.limit),
          search,
        ),
      builderVolumes: (search) =>
        answer({ atMs: nowMs - 33_000, value: this.builderVolumes }, search),
    };
  }

  #assertUp(store: 'redis' | 'clickhouse'): void {
    if (this.away === store) throw new Fault(`${store}_unavailable`, 'retry');
  }
}

export function openListener(world: World): HttpApp {
  const app = openHttp({ log: silentLog, bodyLimitBytes: 128 * 1024 });
  checkResponses(app, ['/book', '/books']);
  addReadRoutes(app, world.parts());
  return app;
}

const apps = new WeakMap<World, HttpApp>();

/** The app over this world, built once: for suites that ask one world several times. */
export function appOf(world: World): HttpApp {
  const app = apps.get(world) ?? openListener(world);
  apps.set(world, app);
  return app;
}

/** An answer as the tests look at it. */
export interface Seen {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

export async function get(
  app: HttpApp,
  url: string,
  headers: Record<string, string> = {},
): Promise<Seen> {
  return seen(await app.inject({ method: 'GET', url, headers }));
}

export async function post(app: HttpApp, url: string, payload: unknown): Promise<Seen> {
  return seen(
    await app.inject({
      method: 'POST',
      url,
      headers: { 'content-type': 'application/json' },
      payload: typeof payload === 'string' ? payload : JSON.stringify(payload),
    }),
  );
}

function seen(answer: {
  statusCode: number;
  payload: string;
  headers: Record<string, unknown>;
}): Seen {
  return {
    status: answer.statusCode,
    body: isJson(answer.headers) ? JSON.parse(answer.payload) : answer.payload,
    headers: answer.headers,
    text: answer.payload,
  };
}

function isJson(headers: Record<string, unknown>): boolean {
  return String(headers['content-type']).startsWith('application/json');
}
