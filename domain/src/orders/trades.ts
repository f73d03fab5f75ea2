import { microText, priceText } from '@pm/schemas/decimal';
import type { Trade } from '@pm/schemas/http/reading';
import {
  type AskedAsset,
  checksumAddress,
  parseAsset,
  parseConditionId,
  parseWalletAddress,
  type WalletAddress,
} from '@pm/schemas/ids';
import { type FillPlace, parseTradeId, tradeHash, tradeId } from '@pm/schemas/trade-id';
import type { Catalog } from '../markets/catalog.ts';
import type { Outcome } from '../markets/market.ts';
import { type PageStart, readPageStart } from '../reading/list-cursor.ts';
import { type PlacedRow, placeOfKey } from '../reading/merge-page.ts';
import { QueryReader, type RawQuery } from '../reading/query-reader.ts';
import { type ReadRefusal, refusals } from '../reading/refusal.ts';

/** Trades of a page. */
export const tradesPageSize = 100;

type Side = 'BUY' | 'SELL';

/** One row of `fills`; money and times as integers, wallets in lower case. */
export interface FillRow {
  readonly partition: number;
  readonly inOffset: string;
  readonly eventIndex: number;
  readonly timeMs: number;
  readonly market: number;
  readonly sizeMicro: number;
  readonly takerOrder: string;
  readonly taker: string;
  readonly takerKey: string;
  readonly takerOutcome: Outcome;
  readonly takerSide: Side;
  readonly takerPrice: number;
  readonly makerOrder: string;
  readonly maker: string;
  readonly makerKey: string;
  readonly makerOutcome: Outcome;
  readonly makerSide: Side;
  readonly makerPrice: number;
  readonly feeRateBps: number;
}

export interface TradesQuery {
  /** Null: any; a text that is no trade id finds nothing. */
  readonly place: FillPlace | null;
  /** The wallet whose trades these are when it is not the key's own address. */
  readonly makerAddress: WalletAddress | null;
  readonly taker: WalletAddress | null;
  readonly maker: WalletAddress | null;
  readonly condition: string | null;
  readonly asset: AskedAsset | null;
  /** Unix seconds, exclusive. */
  readonly beforeS: number | null;
  readonly afterS: number | null;
}

/** Filters of a request for a page of trades, and where the page begins. */
export interface TradesPageQuery extends TradesQuery {
  readonly start: PageStart<PlacedRow>;
}

/** No filter. */
export const anyTrade: TradesQuery = {
  place: null,
  makerAddress: null,
  taker: null,
  maker: null,
  condition: null,
  asset: null,
  beforeS: null,
  afterS: null,
};

/** Unix seconds up to the year 2105, what the tables hold. */
const secondsMax = 4_200_000_000;
const textMaxChars = 80;

/** The parameters of GET /data/trades, or why not. Nothing of an unknown parameter (conventions.md 1.2). */
export function readTradesQuery(query: RawQuery): TradesPageQuery | ReadRefusal {
  const read = new QueryReader(query, 'clob');
  const parsed = <T>(name: string, parse: (text: string) => T | null): T | null => {
    const text = read.text(name, textMaxChars);
    return text === null ? null : (parse(text) ?? read.fail(refusals.invalidTradeParams.text));
  };
  const bounds = { min: 0, max: secondsMax };
  const found = {
    place: parsed('id', parseTradeId),
    makerAddress: parsed('maker_address', parseWalletAddress),
    taker: parsed('taker', parseWalletAddress),
    maker: parsed('maker', parseWalletAddress),
    condition: parsed('market', parseConditionId),
    asset: parsed('asset_id', parseAsset),
    beforeS: read.optionalInteger('before', bounds),
    afterS: read.optionalInteger('after', bounds),
  };
  if (read.refusal !== null) return refusals.invalidTradeParams;
  const start = readPageStart(read, 'trades', placeOfKey);
  return start === null ? refusals.invalidCursor : { ...found, start };
}

/** Stands for the API keys of others, where published readers insist on a UUID. */
const hiddenOwner = '00000000-0000-0000-0000-000000000000';

/** The side that a trade is reported for. */
export interface TradeViewer {
  readonly keys: ReadonlySet<string>;
  /** The requested wallets. */
  readonly wallets: ReadonlySet<string>;
}

/** Whether the viewer was the taker; of a trade between two of its own orders, in the requested wallet. */
function isTaker(row: FillRow, { keys, wallets }: TradeViewer): boolean {
  return keys.has(row.takerKey) && wallets.has(row.taker);
}

/**
 * A fill as its participant sees it: always the taker's trade, with the maker's order inside (conventions.md 3.12). API
 * keys of the other side are not shown.
 */
export function tradeAnswer(catalog: Catalog, row: FillRow, caller: TradeViewer): Trade {
  const market = catalog.market(row.market);
  const ownerOf = (key: string) => (caller.keys.has(key) ? key : hiddenOwner);
  const id = tradeId(row);
  const time = String(Math.floor(row.timeMs / 1000));
  const perspective = isTaker(row, caller) ? 'TAKER' : 'MAKER';
  return {
    id,
    taker_order_id: row.takerOrder,
    market: market?.conditionId ?? '',
    asset_id: market?.tokens[row.takerOutcome] ?? '',
    side: row.takerSide,
    size: microText(row.sizeMicro),
    fee_rate_bps: String(row.feeRateBps),
    price: priceText(row.takerPrice),
    status: 'CONFIRMED',
    match_time: time,
    last_update: time,
    outcome: market?.outcomes[row.takerOutcome] ?? '',
    bucket_index: 0,
    owner: ownerOf(row.takerKey),
    maker_address: shownWallet(row.taker),
    maker_orders: [
      {
        order_id: row.makerOrder,
        owner: ownerOf(row.makerKey),
        maker_address: shownWallet(row.maker),
        matched_amount: microText(row.sizeMicro),
        price: priceText(row.makerPrice),
        fee_rate_bps: '0',
        asset_id: market?.tokens[row.makerOutcome] ?? '',
        outcome: market?.outcomes[row.makerOutcome] ?? '',
        side: row.makerSide,
      },
    ],
    transaction_hash: tradeHash(id),
    trader_side: perspective,
    type: perspective,
  };
}

function shownWallet(text: string): string {
  const wallet = parseWalletAddress(text);
  return wallet === null ? text : checksumAddress(wallet);
}
