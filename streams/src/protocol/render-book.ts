import { createHash } from 'node:crypto';
import { assert } from '@pm/kit/assert';
import { microText, priceText } from '@pm/schemas/decimal';
import { bookAnswerOf, bookJson, type PairBook } from '@pm/schemas/http/book-hash';
import type { Side } from '@pm/schemas/log/types';
import { complementPrice } from '@pm/schemas/money';
import type { BestChange, BookChange, Level, LogPosition } from '../feed/changes.ts';
import type { BestPrices, BestSnapshot, BookSnapshot } from '../feed/snapshots.ts';
import type { MergeContent, Message, StreamKey, TokenLevels } from './message.ts';

/** Position and numbers of a change as messages carry them. */
export interface ChangeHead {
  readonly seq: number;
  readonly prev: number;
  readonly at: LogPosition;
}

/** The fields that every change has behind its key. */
export function changeFields({ seq, prev, at }: ChangeHead): string {
  return `"seq":${seq},"prev":${prev},${positionFields(at)}`;
}

function positionFields({ partition, offset, index, timeMs }: LogPosition): string {
  return `"at":{"partition":${partition},"offset":${offset},"index":${index}},"time":${timeMs}`;
}

/** The state of a channel after the newest record of its partition. */
export function snapshotFields(
  { seq, partition, offset, timeMs }: Omit<LogPosition, 'index'> & { readonly seq: number },
  isGap: boolean,
): string {
  const position = positionFields({ partition, offset, index: -1, timeMs });
  return `"seq":${seq},${position}${isGap ? ',"gap":true' : ''}`;
}

function ofToken(type: string, channel: string, { condition, token }: StreamKey): string {
  return `{"type":"${type}","channel":"${channel}","market":"${condition}","token":"${token}"`;
}

/** Levels in terms of token 0 as the key's token shows them. */
function levelsOfToken(levels: readonly Level[], outcome: 0 | 1): TokenLevels {
  const shown = new Map<string, number>();
  for (const { side, price, sizeMicro } of levels) {
    const name =
      outcome === 0 ? levelName(side, price) : levelName(otherSide(side), complementPrice(price));
    shown.set(name, sizeMicro);
  }
  return shown;
}

function levelName(side: Side, price: number): string {
  return `{"side":"${side}","price":"${priceText(price)}"`;
}

function otherSide(side: Side): Side {
  return side === 'BUY' ? 'SELL' : 'BUY';
}

/** The message of one record that changed levels. */
export function bookDelta({ levels, seq, at }: BookChange, key: StreamKey): Message {
  const content = { channel: 'book', levels: levelsOfToken(levels, key.outcome) } as const;
  return deltaOf({ seq, prev: seq - 1, at }, key, content, false);
}

/** The message of new best prices; `prev` is another than the seq before where it stands for several. */
export function bestDelta(change: BestChange, key: StreamKey, prev = change.seq - 1): Message {
  const content = { channel: 'best', best: bestOfToken(change, key.outcome) } as const;
  const { seq, at } = change;
  return deltaOf({ seq, prev, at }, key, content, prev !== seq - 1);
}

/** A delta with this content. */
export function deltaOf(
  head: ChangeHead,
  key: StreamKey,
  content: MergeContent,
  isMerged: boolean,
): Message {
  const merged = isMerged ? ',"merged":true' : '';
  const payload =
    content.channel === 'book'
      ? `"levels":[${levelList(content.levels)}]`
      : bestFields(content.best);
  const text = `${ofToken('delta', content.channel, key)},${changeFields(head)}${merged},${payload}}`;
  return { ...head, key, content, bytes: Buffer.from(text), isChecksum: false };
}

function levelList(levels: TokenLevels): string {
  return [...levels].map(([name, size]) => `${name},"size":"${microText(size)}"}`).join(',');
}

/** The content of two deltas of one key, one after the other. */
export function mergedContent(earlier: MergeContent, later: MergeContent): MergeContent {
  if (later.channel === 'best') return later;
  assert(earlier.channel === 'book', 'deltas of one key are of one channel');
  return { channel: 'book', levels: new Map([...earlier.levels, ...later.levels]) };
}

function bestOfToken(best: BestPrices, outcome: 0 | 1): BestPrices {
  if (outcome === 0) return best;
  const { bid, ask, bidSizeMicro, askSizeMicro } = best;
  return {
    bid: ask === 0 ? 0 : complementPrice(ask),
    ask: bid === 0 ? 0 : complementPrice(bid),
    bidSizeMicro: askSizeMicro,
    askSizeMicro: bidSizeMicro,
  };
}

function bestFields({ bid, ask, bidSizeMicro, askSizeMicro }: BestPrices): string {
  return `"bid":${topOf(bid, bidSizeMicro)},"ask":${topOf(ask, askSizeMicro)}`;
}

const topOf = (price: number, sizeMicro: number): string =>
  price === 0 ? 'null' : `{"price":"${priceText(price)}","size":"${microText(sizeMicro)}"}`;

/** All levels of a token, in the order of GET /book: the best one last. */
export function bookSnapshot(snapshot: BookSnapshot, key: StreamKey, isGap: boolean): string {
  const { bids, asks } = sidesOf(snapshot);
  const shown = bookAnswerOf(bare(key), key.outcome, { bids, asks });
  const fields = snapshotFields(snapshot, isGap);
  const sides = `"bids":${JSON.stringify(shown.bids)},"asks":${JSON.stringify(shown.asks)}`;
  return `${ofToken('snapshot', 'book', key)},${fields},${sides}}`;
}

export function bestSnapshot(snapshot: BestSnapshot, key: StreamKey, isGap: boolean): string {
  const best = bestFields(bestOfToken(snapshot, key.outcome));
  return `${ofToken('snapshot', 'best', key)},${snapshotFields(snapshot, isGap)},${best}}`;
}

/** Both sides, each by price ascending. */
function sidesOf({ levels }: BookSnapshot) {
  const ascending = (wanted: Side) =>
    levels.filter(({ side }) => side === wanted).sort((left, right) => left.price - right.price);
  return { bids: ascending('BUY'), asks: ascending('SELL') };
}

/** Nothing but the levels is shown of it. */
function bare({ condition, token }: StreamKey): PairBook {
  const facts = { negRisk: false, timeMs: 0, tick: 0, minSizeMicro: 0 };
  return { market: condition, tokens: [token, token], lasts: [null, null], ...facts };
}

const sha1 = (text: string): string => createHash('sha1').update(text).digest('hex');

/** The hash of GET /book for the levels of the snapshot, with everything else that it covers. */
export function bookChecksum(snapshot: BookSnapshot, key: StreamKey, negRisk: boolean): string {
  const tokens = key.outcome === 0 ? ([key.token, ''] as const) : (['', key.token] as const);
  const pair = { market: key.condition, tokens, negRisk, ...snapshot.facts };
  const shown = bookAnswerOf(pair, key.outcome, sidesOf(snapshot));
  const json = bookJson(shown, sha1);
  const hash = /"hash":"([0-9a-f]{40})"/.exec(json)?.[1] ?? '';
  const { seq, partition, offset, timeMs } = snapshot;
  const at = positionFields({ partition, offset, index: -1, timeMs });
  const beside = {
    hash,
    timestamp: shown.timestamp,
    tick_size: shown.tickSize,
    min_order_size: shown.minOrderSize,
    neg_risk: shown.negRisk,
    last_trade_price: shown.lastTradePrice,
  };
  return `${ofToken('checksum', 'book', key)},"seq":${seq},${at},${JSON.stringify(beside).slice(1)}`;
}
