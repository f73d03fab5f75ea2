import { createHash } from 'node:crypto';
import { runLength } from '../../../kit/test/long-runs.ts';
import { tightLimits } from '../../../matcher/test/core/random-log.ts';
import { MarketBook } from '../../../projectors/src/books/book.ts';
import { foldBooks, marketsOf } from '../../../projectors/src/books/fold.ts';
import { renderBook } from '../../../projectors/src/books/render.ts';
import { condition, token } from '../../../query-api/test/in-memory.ts';
import { PartitionFeed } from '../../src/feed/partition-feed.ts';
import { decodeState, encodeState } from '../../src/feed/state-image.ts';
import { bookChecksum } from '../../src/protocol/render-book.ts';
import { engineLog, logPartition } from './engine-log.ts';

const records = runLength({ test: 400, deep: 10_000 });
/** Records between two restarts. */
const recordsPerLife = Math.min(400, Math.ceil(records / 4));
const sha1 = (text: string): string => createHash('sha1').update(text).digest('hex');

/** A fold restored from the written state of the given one. */
function restored(feed: PartitionFeed): PartitionFeed {
  const parts = encodeState(feed.freeze());
  const body = Buffer.concat(parts);
  feed.thaw();
  const file = Buffer.concat([body, createHash('sha256').update(body).digest()]);
  const nextInOffset = feed.progress.inOffset + 1;
  const state = decodeState(file, { partition: feed.partition, nextInOffset });
  if (typeof state === 'string') throw new Error(state);
  return new PartitionFeed(feed.partition, state);
}

function hashOf(json: string): string {
  return (JSON.parse(json) as { readonly hash: string }).hash;
}

function comparesMarket(feed: PartitionFeed, book: MarketBook): void {
  const { market } = book;
  const tokens = [token(market, 0), token(market, 1)] as const;
  const conditionId = condition(market);
  const negRisk = market % 2 === 0;
  const hashes = renderBook(book, { conditionId, tokens, negRisk }, sha1);
  const snapshot = feed.snapshot('book', market);
  if (snapshot?.channel !== 'book') throw new Error('no book of a listed market');
  for (const outcome of [0, 1] as const) {
    const key = { id: '', condition: conditionId, token: tokens[outcome], outcome };
    const text = bookChecksum(snapshot, key, negRisk);
    expect(hashOf(text)).toBe(hashOf(hashes[outcome].json));
    expect(JSON.parse(text) as object).toMatchObject({
      timestamp: hashes[outcome].timeMs,
      last_trade_price: hashes[outcome].last,
    });
  }
}

test.each([
  [1, undefined],
  [2, tightLimits],
])(
  'a checksum is the hash of GET /book after every record, across restarts: seed %d',
  (seed, limits) => {
    let feed = new PartitionFeed(logPartition);
    const books = new Map<number, MarketBook>();
    let compared = 0;
    for (const execution of engineLog(seed, records, limits)) {
      for (const market of marketsOf(execution))
        if (!books.has(market)) books.set(market, new MarketBook(market));
      feed.take(execution, execution.inOffset);
      for (const book of foldBooks(books, execution)) {
        comparesMarket(feed, book);
        compared += 1;
      }
      if (execution.inOffset % recordsPerLife === recordsPerLife - 1) feed = restored(feed);
    }
    for (const book of books.values()) comparesMarket(feed, book);
    expect(compared).toBeGreaterThan(records / 4);
    expect([...books.values()].some(({ lasts }) => lasts[0] !== null && lasts[1] !== null)).toBe(
      true,
    );
  },
);
