import { commandAt, commandWords, packPrice } from '@pm/matcher/core';
import { collectGarbage } from '../report/garbage.ts';
import type { Table } from '../report/report.ts';
import { openEngine } from '../stream/engines.ts';
import { decodeEnvelope, encodeEnvelopes } from '../stream/envelopes.ts';
import { NpmBooks, type NpmEngine, npmCommand } from '../stream/npm-books.ts';
import { plainCommands, type Stream } from '../stream/plain.ts';
import { booksOf, shapes } from '../stream/shape.ts';
import { openBatch, perBatch } from './book-runs.ts';
import { rulesFor } from './engine-rates.ts';

const orders = 200_000;

/** Memory of a resting order: orders that never match are added, and memory is read before and after. */
export function measureMemory(npmEngine: NpmEngine) {
  const stream = restingOrders();
  const rules = rulesFor(stream.shape, 'direct');
  const engine = openEngine(rules);
  const encoded = encodeEnvelopes(plainCommands(stream), rules);
  const imageBefore = engine.encodeState().length;
  const own = bytesOf(() => {
    for (const bytes of encoded) engine.apply(decodeEnvelope(bytes), 0);
  });
  const image = engine.encodeState().length - imageBefore;
  const batch = openBatch(stream);
  const bare = bytesOf(() => {
    for (let at = 0; at < orders; at += perBatch) {
      batch.run(stream.words, at, Math.min(orders, at + perBatch));
    }
  });
  const npmBooks = new NpmBooks(npmEngine, booksOf(stream.shape));
  const npm = bytesOf(() => {
    for (const plain of plainCommands(stream)) npmBooks.run(npmCommand(plain));
  });
  const perOrder = (bytes: number) => String(Math.round(bytes / orders));
  const table: Table = {
    title: `Memory of a resting order (${orders.toLocaleString('en')} orders on ${booksOf(stream.shape)} books)`,
    head: ['what', 'bytes per resting order'],
    rows: [
      [`${npmEngine.name}, in memory`, perOrder(npm)],
      ['our book, in memory: its record of 32 bytes, and its place by number', perOrder(bare)],
      ['our engine, in memory, with id memory, wallets and positions', perOrder(own)],
      ['our engine, in a snapshot', perOrder(image)],
    ],
  };
  const notes = [
    `The engine keeps of each order also its id (32 bytes), signer, API key, wallet and answer for repetitions; tables grow by doubling, so a figure is within a factor of two of what it would be at another count. The levels of a book on a 0.001 grid are 16 kB, whatever rests there. ${engine.openOrderCount} orders rest.`,
  ];
  const figures = {
    orders,
    npm: npm / orders,
    book: bare / orders,
    own: own / orders,
    snapshot: image / orders,
  };
  return { table, notes, figures };
}

function restingOrders(): Stream {
  const shape = shapes.small;
  const words = new Int32Array(orders * commandWords);
  for (let id = 0; id < orders; id += 1) {
    const isBid = id % 2 === 0;
    const away = (1 + (id % 97)) * shape.tick;
    const at = id * commandWords;
    words[at + commandAt.market] = id % booksOf(shape);
    words[at + commandAt.order] = id;
    words[at + commandAt.priceAndFlags] = packPrice(isBid ? 5_000 - away : 5_000 + away, isBid, 0);
    words[at + commandAt.lots] = 500;
  }
  return { shape, words, count: orders };
}

/** Growth of heap and array buffers by `work`, with a collection before and after it. */
function bytesOf(work: () => void): number {
  const used = () => {
    collectGarbage();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };
  const before = used();
  work();
  return used() - before;
}
