import type { RateLimitReads } from '@pm/kit/ratelimit';
import type { KeyHolder, RawHeaders } from '@pm/kit/walletauth';
import type { ApiKeyId, OrderId, WalletAddress } from '@pm/schemas';
import type { Catalog, Listing, Market } from '../core/catalog.ts';
import type { Quotes } from '../core/displayed-price.ts';
import type { PriceFacts } from '../core/history.ts';
import type { HistoryPlan } from '../core/history-plan.ts';
import type { HolderRow } from '../core/holders.ts';
import type { Volumes } from '../core/list-events.ts';
import type { OrderEventRow } from '../core/order-read.ts';
import type { HeldRow } from '../core/positions.ts';
import type { FillRow, TradesQuery } from '../core/trades.ts';

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
  /** One entry per listing, in order. */
  prices(listings: readonly Listing[], plan: HistoryPlan): Promise<readonly PriceFacts[]>;
  orderEvents(id: OrderId): Promise<readonly OrderEventRow[]>;
  /** Newest first; one row more than a page says that there is another page. */
  trades(search: TradeSearch): Promise<readonly FillRow[]>;
  volumes(nowMs: number): Promise<Volumes>;
}

/** What trades are asked for, with ids resolved and the caller known. */
export interface TradeSearch {
  readonly wallet: WalletAddress;
  readonly keys: ReadonlySet<ApiKeyId>;
  readonly query: TradesQuery;
  /** Null: any market. */
  readonly market: number | null;
  /** Null: any outcome. */
  readonly outcome: number | null;
  readonly limit: number;
}

/** The facts of a request that prove an API key. */
export interface SignedFacts {
  readonly method: string;
  readonly url: string;
  readonly headers: RawHeaders;
  readonly body: Buffer;
}

/** Who calls: the wallet that a key belongs to. */
export interface CallerReads {
  /** Null when the headers prove nothing. */
  verify(request: SignedFacts): KeyHolder | null;
  /** All keys the wallet ever had. */
  keysOf(wallet: WalletAddress): ReadonlySet<ApiKeyId>;
}

/** What the routes read from. */
export interface ReadPorts {
  readonly catalog: Catalog;
  readonly books: BookReads;
  readonly tables: TableReads;
  readonly callers: CallerReads;
  readonly limits: RateLimitReads;
  nowMs(): number;
}
