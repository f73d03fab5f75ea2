import type { Catalog } from '@pm/domain/markets/catalog';
import type { Market } from '@pm/domain/markets/market';
import { isoTime } from '@pm/domain/markets/wire-market';
import { type PageStart, readPageStart } from '@pm/domain/reading/list-cursor';
import { keyOfPlace, type PlacedRow, placeOfKey } from '@pm/domain/reading/merge-page';
import { QueryReader, type RawQuery } from '@pm/domain/reading/query-reader';
import { type ReadRefusal, refusals } from '@pm/domain/reading/refusal';
import type { BuilderRow, BuilderSide } from '@pm/domain/reports/rows';
import { secondsMax } from '@pm/domain/reports/tape-query';
import { microText, priceText } from '@pm/schemas/decimal';
import type { BuilderTrade } from '@pm/schemas/http/reports';
import {
  type AskedAsset,
  type ConditionId,
  checksumAddress,
  parseAsset,
  parseConditionId,
  parseWalletAddress,
  type WalletAddress,
} from '@pm/schemas/ids';
import { notionalMicro } from '@pm/schemas/money';
import { type FillPlace, parseTradeId, tradeHash, tradeId } from '@pm/schemas/trade-id';

/** Trades of a page. */
export const builderPageSize = 100;

/** A side of a fill. */
interface SidePlace extends FillPlace {
  readonly role: 'TAKER' | 'MAKER';
}

/** The end of the id of a maker's row: both sides of a fill may name a builder. */
const makerMark = '-maker';

export interface BuilderQuery {
  readonly place: SidePlace | null;
  readonly wallet: WalletAddress | null;
  readonly condition: ConditionId | null;
  readonly asset: AskedAsset | null;
  readonly builder: ConditionId | null;
  /** Unix seconds, exclusive. */
  readonly beforeS: number | null;
  readonly afterS: number | null;
}

/** The filters and the place of a page. */
export interface BuilderPageQuery extends BuilderQuery {
  readonly start: PageStart<SideRow>;
}

/** The place of a row in the list: both sides of a fill may have one. */
export interface SideRow extends PlacedRow {
  readonly role: 'TAKER' | 'MAKER';
}

export function keyOfSide(row: SideRow): readonly (string | number)[] {
  return [...keyOfPlace(row), row.role];
}

function sideOfKey(key: readonly unknown[]): SideRow | null {
  const place = placeOfKey(key);
  const role = key[4];
  return place !== null && (role === 'TAKER' || role === 'MAKER') ? { ...place, role } : null;
}

/** A builder query with its ids resolved. */
export interface BuilderSearch {
  readonly query: BuilderQuery;
  readonly market: number | null;
  readonly outcome: number | null;
  /** Only what follows this one in the list; null: from the newest on. */
  readonly after: SideRow | null;
  readonly limit: number;
}

/** The parameters of GET /builder/trades, or why not (conventions.md 6.5). */
export function readBuilderQuery(query: RawQuery): BuilderPageQuery | ReadRefusal {
  const read = new QueryReader(query, 'clob');
  const parsed = <T>(name: string, parse: (text: string) => T | null): T | null => {
    const text = read.text(name);
    return text === null ? null : (parse(text) ?? read.invalid(name));
  };
  const bounds = { min: 0, max: secondsMax };
  const builder = parsed('builder_code', parseBuilder) ?? parsed('builder', parseBuilder);
  const id = read.text('id');
  const place = id === null ? null : parseSide(id);
  const found = {
    place,
    wallet: parsed('maker_address', parseWalletAddress),
    condition: parsed('market', parseConditionId),
    asset: parsed('asset_id', parseAsset),
    builder,
    beforeS: read.optionalInteger('before', bounds),
    afterS: read.optionalInteger('after', bounds),
  };
  if (read.refusal !== null) return refusals.invalidBuilderParams;
  const start = readPageStart(read, 'builder-trades', sideOfKey);
  if (start === null) return refusals.invalidCursor;
  // An id of any other form is of no trade, so there is no page either.
  return { ...found, start: { ...start, isOver: start.isOver || (id !== null && place === null) } };
}

function parseSide(text: string): SidePlace | null {
  const isMaker = text.endsWith(makerMark);
  const place = parseTradeId(isMaker ? text.slice(0, -makerMark.length) : text);
  return place === null ? null : { ...place, role: isMaker ? 'MAKER' : 'TAKER' };
}

/** A builder code is 32 bytes. */
export function parseBuilder(text: string): ConditionId | null {
  return parseConditionId(text);
}

/** Keys of traders are not shown. */
const hiddenOwner = '00000000-0000-0000-0000-000000000000';

/**
 * An attributed fill in both published shapes at once: seen from the taker where its order names the builder, else from
 * the maker. Fills of markets the catalog does not know are not shown.
 */
export function builderTrade(catalog: Catalog, row: BuilderRow): readonly BuilderTrade[] {
  const market = catalog.market(row.market);
  if (market === undefined) return [];
  const own = row.role === 'TAKER' ? row.taker : row.maker;
  const fee = row.role === 'TAKER' ? row.feeMicro : 0;
  const trade = tradeId(row);
  const seconds = String(Math.floor(row.timeMs / 1000));
  const time = isoTime(row.timeMs);
  const shown = {
    ...ownWords(market, own),
    size: microText(row.sizeMicro),
    fee_rate_bps: row.role === 'TAKER' ? String(row.feeRateBps) : '0',
    status: 'MATCHED',
    owner: hiddenOwner,
    transaction_hash: tradeHash(trade),
    bucket_index: 0,
  };
  return [
    {
      id: row.role === 'TAKER' ? trade : `${trade}${makerMark}`,
      taker_order_id: row.taker.order,
      market: market.conditionId,
      ...shown,
      maker_address: shownWallet(own.wallet),
      match_time: time,
      last_update: time,
      type: row.role,
      maker_orders: [makerOrder(market, row)],
      tradeType: row.role,
      takerOrderHash: row.taker.order,
      builder: row.builder,
      assetId: shown.asset_id,
      sizeUsdc: microText(notionalMicro(own.price, row.sizeMicro)),
      outcomeIndex: own.outcome,
      maker: shownWallet(row.maker.wallet),
      transactionHash: shown.transaction_hash,
      matchTime: seconds,
      bucketIndex: 0,
      fee: microText(fee),
      feeUsdc: microText(fee),
      createdAt: time,
      updatedAt: time,
    },
  ];
}

function ownWords(market: Market, { outcome, side, price }: BuilderSide) {
  return {
    asset_id: market.tokens[outcome],
    outcome: market.outcomes[outcome],
    side,
    price: priceText(price),
  };
}

function makerOrder(market: Market, { maker, sizeMicro }: BuilderRow) {
  return {
    order_id: maker.order,
    maker_address: shownWallet(maker.wallet),
    owner: hiddenOwner,
    matched_amount: microText(sizeMicro),
    fee_rate_bps: '0',
    ...ownWords(market, maker),
  };
}

function shownWallet(text: string): string {
  const wallet = parseWalletAddress(text);
  return wallet === null ? text : checksumAddress(wallet);
}
