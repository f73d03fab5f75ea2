import type { RawHeaders } from '@pm/domain/accounts/auth-headers';
import type { Reader } from '@pm/domain/accounts/reader-verifier';
import type { CommentThreads } from '@pm/domain/comments/threads';
import type { RateLimitReads } from '@pm/domain/ratelimit/wire.io';
import type { ApiKeyId, WalletAddress } from '@pm/schemas';
import type { Moment, PastBook } from '../books/past-book.ts';
import type { Quotes } from '../books/quote.ts';
import type { CandlePlan, CandleRow } from '../history/candles.ts';
import type { PriceFacts } from '../history/history.ts';
import type { HistoryPlan } from '../history/history-plan.ts';
import type { Catalog } from '../markets/catalog.ts';
import type { Listing, Market } from '../markets/market.ts';
import type { CancelRow, CancelSearch } from '../orders/cancel-search.ts';
import type { OpenOrderRow, OpenOrderSearch } from '../orders/open-orders.ts';
import type { OrderEventRow } from '../orders/order-read.ts';
import type { TradeSearch } from '../orders/trade-search.ts';
import type { FillRow } from '../orders/trades.ts';
import type { Money } from '../positions/balances.ts';
import type { HolderRow } from '../positions/holders.ts';
import type { Holding } from '../positions/holdings.ts';
import type { MarketPositionsSearch } from '../positions/market-positions.ts';
import type { HeldRow } from '../positions/positions.ts';
import type { ActivitySearch } from '../reports/activity.ts';
import type { BuilderSearch } from '../reports/builder-trades.ts';
import type { BuilderVolumeSearch } from '../reports/builder-volumes.ts';
import type { LeaderboardPage, LeaderboardSearch } from '../reports/leaderboard.ts';
import type {
  ActivityRow,
  BuilderRow,
  BuilderVolumeRow,
  MakerFeesRow,
  MarketPositionRow,
  SupplyRow,
  TradeRow,
} from '../reports/rows.ts';
import type { LedgerSearch } from '../reports/trade-ledger.ts';
import type { SearchMatch } from '../search/search-index.ts';
import type { SearchWords } from '../search/search-words.ts';
import type { HoldingsAsked } from '../social/author-holdings.ts';
import type { CreatorSites } from '../social/creators.ts';
import type { Profiles } from '../social/profiles.ts';
import type { Standing } from '../status/progress.ts';
import type { WalletSet } from './caller-wallets.ts';

/** Books as stored, and what is read off them. Methods throw a `Fault` (retry) when Redis is away. */
export interface BookReads {
  /** The body of GET /book if it is at hand and known to be current. */
  cached(token: string): Buffer | undefined;
  /** Stored bodies in the order asked; null where nothing ever happened on a token. */
  books(listings: readonly Listing[]): Promise<readonly (Buffer | null)[]>;
  /** A quote for every token asked for. */
  quotes(listings: readonly Listing[]): Promise<Quotes>;
}

/** The tables. Methods throw the faults of ClickHouse (`retry` when it is away). */
export interface TableReads {
  /** Null for `markets`: all. */
  positions(wallet: WalletAddress, markets: readonly number[] | null): Promise<readonly HeldRow[]>;
  holders(
    markets: readonly Market[],
    bounds: { readonly limit: number; readonly minBalanceMicro: number },
  ): Promise<readonly HolderRow[]>;
  /** What some wallets hold in some markets. */
  authorHoldings(asked: HoldingsAsked): Promise<readonly Holding[]>;
  /** One entry per listing, in order. */
  prices(listings: readonly Listing[], plan: HistoryPlan): Promise<readonly PriceFacts[]>;
  /** Oldest first. */
  candles(listing: Listing, plan: CandlePlan): Promise<readonly CandleRow[]>;
  /** Null when the market was not listed yet; throws a `Fault` (retry) while the moment is not wholly stored. */
  pastBook(listing: Listing, moment: Moment, withOrders: boolean): Promise<PastBook | null>;
}

/** What was read at some earlier time, Unix milliseconds, and answers for a while. */
export interface Kept<T> {
  readonly atMs: number;
  readonly value: T;
}

/** What everybody may know of trades and positions, from the tables: as of some seconds ago. Faults as above. */
export interface ReportReads {
  /** Positions without tokens left. Null for `markets`: all. */
  closedPositions(
    wallet: WalletAddress,
    markets: readonly number[] | null,
  ): Promise<readonly HeldRow[]>;
  /** Number of markets the wallet traded in. */
  traded(wallet: WalletAddress): Promise<number>;
  activity(search: ActivitySearch): Promise<readonly ActivityRow[]>;
  /** Newest first. */
  ledger(search: LedgerSearch): Promise<readonly TradeRow[]>;
  supply(markets: readonly number[]): Promise<readonly SupplyRow[]>;
  /** Of all markets; up to a minute old. */
  wholeSupply(): Promise<Kept<readonly SupplyRow[]>>;
  marketPositions(search: MarketPositionsSearch): Promise<readonly MarketPositionRow[]>;
  /** As computed last; throws a `Fault` (retry) before the first time. */
  leaderboard(search: LeaderboardSearch): Promise<LeaderboardPage>;
  /** `dayS` is the start of the day in Unix seconds. */
  makerFees(wallet: WalletAddress, dayS: number): Promise<readonly MakerFeesRow[]>;
  /** Newest first; one row more than a page says that there is another page. */
  builderTrades(search: BuilderSearch): Promise<readonly BuilderRow[]>;
  /** Up to a minute old. */
  builderVolumes(search: BuilderVolumeSearch): Promise<Kept<readonly BuilderVolumeRow[]>>;
}

/**
 * What belongs to somebody, as of the call: all that the log held then. Methods throw the faults of ClickHouse (`retry` when it
 * is away) as far as the newest records do not answer alone.
 */
export interface PrivateReads {
  /** Rows of these orders; of each order in any order, see `foldOrder`. */
  orderEvents(ids: readonly string[]): Promise<readonly OrderEventRow[]>;
  /** Newest first; one row more than a page says that there is another page. */
  trades(search: TradeSearch): Promise<readonly FillRow[]>;
  /** Newest first, the same. */
  openOrders(search: OpenOrderSearch): Promise<readonly OpenOrderRow[]>;
  /** Newest first. */
  cancels(search: CancelSearch): Promise<readonly CancelRow[]>;
  /** Markets in which one of the wallets holds or held tokens. */
  marketsOf(wallets: readonly WalletAddress[]): Promise<readonly number[]>;
  /** What these wallets hold, in all markets or in one. */
  holdings(asked: {
    readonly wallets: readonly WalletAddress[];
    readonly market: number | null;
  }): Promise<readonly Holding[]>;
}

/** Collateral. Methods throw a `Fault` (retry) when Redis is away or the ledger is being rebuilt. */
export interface MoneyReads {
  balance(wallet: WalletAddress): Promise<Money>;
}

/** The facts of a request that prove an API key or a read-only one. */
export interface SignedFacts {
  readonly method: string;
  readonly url: string;
  readonly headers: RawHeaders;
  readonly body: Buffer;
}

/** Who calls: the wallet that a key belongs to. */
export interface CallerReads {
  /** Null when the headers prove nothing. */
  verify(request: SignedFacts): Reader | null;
  /** All keys the wallet ever had. */
  keysOf(wallet: WalletAddress): ReadonlySet<ApiKeyId>;
  /** How far the clock of a private request is off when it is too far, milliseconds; else null. */
  skewMs(headers: RawHeaders): number | null;
  /** The wallets its owner trades from. */
  walletsOf(wallet: WalletAddress): WalletSet;
  /** Ids of the notifications it has deleted. */
  deletedBy(wallet: WalletAddress): ReadonlySet<number>;
}

/** The index of events. */
export interface SearchReads {
  /** False while it is being built. */
  readonly isReady: boolean;
  /** Events that have all words somewhere, in no order; with words that are nearly so when there are none. */
  find(words: SearchWords): readonly SearchMatch[];
}

/** What the lists of the catalog need besides the catalog. */
export interface CatalogReads {
  readonly search: SearchReads;
  /** Sites that stand for wallets in the parameter `creator`. */
  readonly sites: CreatorSites;
  /** When volume and liquidity were read last, Unix milliseconds; null until they were read once. */
  figuresAtMs(): number | null;
}

/** Comments and how wallets are shown. */
export interface SocialReads {
  readonly threads: Pick<CommentThreads, 'find' | 'topsOf' | 'repliesOf' | 'byAuthor'>;
  readonly profiles: Profiles;
}

/** How far projections are complete: what was known at most a second ago, so never too much. */
export interface StandingReads {
  standing(): Standing;
  /** Unix milliseconds; null while it is not known. */
  completeThroughMs(): number | null;
  /** The same of what was read then; null when that is not remembered. */
  completeThroughAtMs(readAtMs: number): number | null;
}

/** What only the log itself can tell. Methods throw a `Fault` (retry) while the broker is away. */
export interface LogReads {
  /** Whether the input of a partition has a record of that offset, as of the call. */
  hasCome(partition: number, inOffset: number): Promise<boolean>;
}

/** What the routes read from. */
export interface ReadPorts {
  readonly catalog: Catalog;
  readonly books: BookReads;
  readonly tables: TableReads;
  readonly reports: ReportReads;
  readonly own: PrivateReads;
  readonly money: MoneyReads;
  readonly lists: CatalogReads;
  readonly callers: CallerReads;
  readonly social: SocialReads;
  readonly limits: RateLimitReads;
  readonly standing: StandingReads;
  readonly log: LogReads;
  nowMs(): number;
}
