import { createHash } from 'node:crypto';
import type { Catalog } from '@pm/domain/markets/catalog';
import type { Market, Outcome } from '@pm/domain/markets/market';
import { microText, priceText } from '@pm/schemas/decimal';
import { bookAnswerOf, bookJson, type PairBook } from '@pm/schemas/http/book-hash';
import type { Fill } from '@pm/schemas/log/executions';
import type { Side } from '@pm/schemas/log/types';
import { complementPrice, priceOne } from '@pm/schemas/money';
import type { FamilyMessage } from '@pm/schemas/streams/family-messages';
import { tradeHash, tradeId } from '@pm/schemas/trade-id';
import type { BestChange, Level, LogPosition, TradeChange } from '../feed/changes.ts';
import type { BookSnapshot } from '../feed/snapshots.ts';

/** A message as all its readers get it: one JSON object without its last brace, which the connection adds. */
export type SharedMessage = Buffer;

const sha1 = (text: string): string => createHash('sha1').update(text).digest('hex');

/** The message of these fields. */
export function sharedMessage(fields: FamilyMessage): SharedMessage {
  return Buffer.from(JSON.stringify(fields).slice(0, -1));
}

/** Best prices of a token, 1/10000 USDC: an empty side is 0 or 1, so that readers of numbers get one. */
export interface TokenBest {
  readonly bid: number;
  readonly ask: number;
}

/** The book of a market at one moment, as both of its tokens show it. */
export class ShownBook {
  readonly #market: Market;
  readonly #snapshot: BookSnapshot;
  readonly #texts: [string | null, string | null] = [null, null];

  constructor(market: Market, snapshot: BookSnapshot) {
    this.#market = market;
    this.#snapshot = snapshot;
  }

  /** The body of GET /book (conventions.md 5.1). */
  json(outcome: Outcome): string {
    const known = this.#texts[outcome] ?? this.#render(outcome);
    this.#texts[outcome] = known;
    return known;
  }

  hash(outcome: Outcome): string {
    return /"hash":"([0-9a-f]{40})"/.exec(this.json(outcome))?.[1] ?? '';
  }

  #render(outcome: Outcome): string {
    const { conditionId: market, tokens, negRisk } = this.#market;
    const { facts, levels } = this.#snapshot;
    const pair: PairBook = { market, tokens, negRisk, ...facts };
    const ascending = (wanted: Side) =>
      levels.filter(({ side }) => side === wanted).sort((left, right) => left.price - right.price);
    const sides = { bids: ascending('BUY'), asks: ascending('SELL') };
    return bookJson(bookAnswerOf(pair, outcome, sides), sha1);
  }
}

/** The body of GET /book as an event. */
export function bookMessage(book: ShownBook, outcome: Outcome): SharedMessage {
  return Buffer.from(`{"event_type":"book",${book.json(outcome).slice(1, -1)}`);
}

/** New totals of the levels that a record changed, each in terms of both tokens, with the best prices after it. */
export function priceChangeMessage(
  { market, book }: { readonly market: Market; readonly book: ShownBook },
  { levels, best, timeMs }: ChangedLevels,
): SharedMessage {
  const changes = levels.flatMap((level) => [
    levelFields(level, 0, { market, book, best }),
    levelFields(level, 1, { market, book, best }),
  ]);
  return sharedMessage({
    event_type: 'price_change',
    market: market.conditionId,
    timestamp: String(timeMs),
    price_changes: changes,
  });
}

interface ChangedLevels {
  readonly levels: readonly Level[];
  /** Best prices of token 0. */
  readonly best: TokenBest;
  readonly timeMs: number;
}

function levelFields(
  { side, price, sizeMicro }: Level,
  outcome: Outcome,
  shown: { readonly market: Market; readonly book: ShownBook; readonly best: TokenBest },
) {
  const best = bestOfToken(shown.best, outcome);
  return {
    asset_id: shown.market.tokens[outcome],
    price: priceText(outcome === 0 ? price : complementPrice(price)),
    size: microText(sizeMicro),
    side: outcome === 0 ? side : otherSide(side),
    hash: shown.book.hash(outcome),
    best_bid: priceText(best.bid),
    best_ask: priceText(best.ask),
  };
}

const otherSide = (side: Side): Side => (side === 'BUY' ? 'SELL' : 'BUY');

/** Best prices as sent, of the state of a book in terms of token 0, where 0 stands for none. */
export function shownBest({ bid, ask }: TokenBest): TokenBest {
  return { bid, ask: ask === 0 ? priceOne : ask };
}

function bestOfToken({ bid, ask }: TokenBest, outcome: Outcome): TokenBest {
  return outcome === 0 ? { bid, ask } : { bid: priceOne - ask, ask: priceOne - bid };
}

export function bestMessage(
  { bid, ask, at }: Pick<BestChange, 'bid' | 'ask' | 'at'>,
  market: Market,
  outcome: Outcome,
): SharedMessage {
  const best = bestOfToken(shownBest({ bid, ask }), outcome);
  return sharedMessage({
    event_type: 'best_bid_ask',
    market: market.conditionId,
    asset_id: market.tokens[outcome],
    best_bid: priceText(best.bid),
    best_ask: priceText(best.ask),
    spread: priceText(best.ask - best.bid),
    timestamp: String(at.timeMs),
  });
}

/** A trade of one token: a mint or merge is one of both, each at its own price (as GET /last-trade-price). */
export interface TokenTrade {
  readonly outcome: Outcome;
  readonly price: number;
  /** Side of the taker; for the other token of a mint or merge the side opposite to the maker's. */
  readonly side: Side;
}

export function tradesOfFill(fill: Fill): readonly TokenTrade[] {
  const { takerOutcome, takerPrice: price, takerSide: side, makerPrice } = fill;
  const outcome = takerOutcome === 0 ? 0 : 1;
  const taken = { outcome, price, side } as const;
  if (fill.match === 'COMPLEMENTARY') return [taken];
  const other = outcome === 0 ? 1 : 0;
  return [taken, { outcome: other, price: makerPrice, side: otherSide(fill.makerSide) }];
}

export function lastTradeMessage(
  { fill, at }: TradeChange,
  market: Market,
  { outcome, price, side }: TokenTrade,
): SharedMessage {
  return sharedMessage({
    event_type: 'last_trade_price',
    market: market.conditionId,
    asset_id: market.tokens[outcome],
    price: priceText(price),
    size: microText(fill.sizeMicro),
    side,
    fee_rate_bps: String(fill.feeRateBps),
    timestamp: String(at.timeMs),
    transaction_hash: tradeHash(tradeIdAt(at)),
  });
}

/** The id of the trade of a fill. */
export function tradeIdAt({ partition, offset, index }: LogPosition): string {
  return tradeId({ partition, inOffset: offset, eventIndex: index });
}

export function tickSizeMessage(
  { old, tick, timeMs }: { readonly old: number; readonly tick: number; readonly timeMs: number },
  market: Market,
  outcome: Outcome,
): SharedMessage {
  return sharedMessage({
    event_type: 'tick_size_change',
    market: market.conditionId,
    asset_id: market.tokens[outcome],
    old_tick_size: priceText(old),
    new_tick_size: priceText(tick),
    timestamp: String(timeMs),
  });
}

type Texts = Pick<Catalog, 'event'>;

function marketFields(market: Market, catalog: Texts) {
  const event = catalog.event(market.eventId);
  const { question, slug, description, outcomes } = market;
  return {
    id: String(market.market),
    question,
    market: market.conditionId,
    slug,
    description,
    assets_ids: market.tokens,
    outcomes,
    event_message: {
      id: market.eventId,
      ticker: event?.ticker ?? '',
      slug: event?.slug ?? '',
      title: event?.title ?? '',
      description: event?.description ?? '',
    },
  };
}

export function newMarketMessage(market: Market, catalog: Texts, timeMs: number): SharedMessage {
  return sharedMessage({
    event_type: 'new_market',
    ...marketFields(market, catalog),
    timestamp: String(timeMs),
  });
}

/** A market that pays both tokens has no winner. */
export function marketResolvedMessage(
  market: Market,
  catalog: Texts,
  { payout0, timeMs }: { readonly payout0: number; readonly timeMs: number },
): SharedMessage {
  const winner = payout0 === priceOne ? 0 : payout0 === 0 ? 1 : null;
  return sharedMessage({
    event_type: 'market_resolved',
    ...marketFields(market, catalog),
    winning_asset_id: winner === null ? null : market.tokens[winner],
    winning_outcome: winner === null ? null : market.outcomes[winner],
    timestamp: String(timeMs),
  });
}
