/** A book answer in texts; bids ascending and asks descending, so that the best level is the last one. */
export interface BookAnswer {
  readonly market: string;
  readonly assetId: string;
  readonly timestamp: string;
  readonly bids: readonly BookLevelText[];
  readonly asks: readonly BookLevelText[];
  readonly minOrderSize: string;
  readonly tickSize: string;
  readonly negRisk: boolean;
  /** Empty when the token was never traded. */
  readonly lastTradePrice: string;
}

export interface BookLevelText {
  readonly price: string;
  readonly size: string;
}

/** SHA-1 of a text as 40 lower-case hex digits; given by the caller, so that contracts stay free of crypto. */
export type Sha1 = (text: string) => string;

/**
 * The body of GET /book, byte for byte: keys in this order, without spaces, its own SHA-1 taken with an empty `hash`
 * (docs/conventions.md 1.3).
 */
export function bookJson(answer: BookAnswer, sha1: Sha1): string {
  const head = `{"market":"${answer.market}","asset_id":"${answer.assetId}","timestamp":"${answer.timestamp}","hash":"`;
  const bids = `","bids":[${answer.bids.map(levelJson).join(',')}]`;
  const asks = `,"asks":[${answer.asks.map(levelJson).join(',')}]`;
  const rules = `,"min_order_size":"${answer.minOrderSize}","tick_size":"${answer.tickSize}"`;
  const tail = `,"neg_risk":${answer.negRisk},"last_trade_price":"${answer.lastTradePrice}"}`;
  const rest = `${bids}${asks}${rules}${tail}`;
  return `${head}${sha1(`${head}${rest}`)}${rest}`;
}

function levelJson({ price, size }: BookLevelText): string {
  return `{"price":"${price}","size":"${size}"}`;
}
