import { createHash } from 'node:crypto';
import { bookJson } from '@pm/schemas/http/book-hash';
import { sample as exampleValues } from '@pm/schemas/http/forms';
import { tokenIdBytes, type WalletAddress } from '@pm/schemas/ids';

import { type ConsoleFiles, consoleFile } from '../src/console/console-file.ts';
import { apiKey, eventEntry, marketEntry, tagEntry, World, wallet } from './in-memory.ts';
import { orderRow } from './order-rows.ts';

const { token, otherToken, condition, order } = exampleValues;
const ownWallet = exampleValues.wallet.toLowerCase() as WalletAddress;
const bytes = (hex: string) => Buffer.from(hex.slice(2), 'hex');
const market = 4;

/**
 * A world in which everything exists that the examples of the declarations name; its caller may read all that is
 * private.
 */
export function declaredWorld(): World {
  const world = new World();
  world.console = builtConsole();
  const entries = [
    eventEntry('1', { slug: 'rain-in-lisbon', tagIds: ['7', '9'] }),
    { ...tagEntry, id: '9', label: 'Weather', slug: 'weather' },
    marketEntry(market, {
      conditionId: bytes(condition),
      token0: tokenIdBytes(token as never),
      token1: tokenIdBytes(otherToken as never),
      slug: 'rain-monday',
      creator: ownWallet,
    }),
  ];
  for (const entry of entries) world.catalog.apply(entry as typeof tagEntry);
  world.caller = { wallet: wallet(1), apiKey: apiKey(1) };
  const quote = {
    bid: 5_200,
    ask: 5_300,
    last: 5_200,
    lastSide: 'BUY',
    marketLast: 5_200,
  } as const;
  world.quotes.set(token, quote);
  world.books.set(token, storedBook());
  world.pastBook = {
    timeMs: 1_780_311_600_000,
    tick: 100,
    minSizeMicro: 5_000_000,
    lasts: [5_200, 4_800],
    levels: { bids: [{ price: 5_200, sizeMicro: 10_000_000 }], asks: [] },
    orders: null,
  };
  world.orders.set(order, [orderRow({ orderId: order, market })]);
  world.threads.apply(0, {
    kind: 'CommentPosted',
    author: bytes(ownWallet),
    parentType: 'EVENT',
    parentId: '1',
    replyTo: '',
    replyAddress: null,
    body: 'It rained all night.',
    clientId: '',
    timeMs: 1_780_000_000_000,
  });
  return world;
}

function builtConsole(): ConsoleFiles {
  const file = (type: string, text: string) =>
    consoleFile(type, Buffer.from(text), Buffer.from(text));
  return new Map([
    ['index.html', file('text/html; charset=utf-8', '<!doctype html>')],
    ['assets/index-0a1b2c3d.js', file('text/javascript; charset=utf-8', 'export {};')],
    ['docs/index.html', file('text/html; charset=utf-8', '<!doctype html>')],
    ['docs/start.js', file('text/javascript; charset=utf-8', 'export {};')],
  ]);
}

function storedBook(): Buffer {
  const json = bookJson(
    {
      market: condition,
      assetId: token,
      timestamp: '1780315200000',
      bids: [{ price: '0.52', size: '10' }],
      asks: [{ price: '0.53', size: '12.5' }],
      minOrderSize: '5',
      tickSize: '0.01',
      negRisk: false,
      lastTradePrice: '',
    },
    sha1,
  );
  return Buffer.from(json);
}

const sha1 = (text: string) => createHash('sha1').update(text).digest('hex');
