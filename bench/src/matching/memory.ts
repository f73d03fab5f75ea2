import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Table } from '../report/report.ts';
import { openEngine } from '../stream/engines.ts';
import { decodeEnvelope, encodeEnvelopes } from '../stream/envelopes.ts';
import { NpmBooks, npmCommand } from '../stream/npm-books.ts';
import { booksOf, type PlainCommand, shapes } from '../stream/plain.ts';
import { rulesFor } from './rates.ts';

const orders = 200_000;

/** What a resting order costs: orders that never meet are added, and memory is read before and after. */
export function measureMemory() {
  const shape = shapes.small;
  const books = booksOf(shape);
  const stream: PlainCommand[] = Array.from({ length: orders }, (_, id) => {
    const isBid = id % 2 === 0;
    const away = (1 + (id % 97)) * shape.tick;
    return {
      kind: 'add',
      book: id % books,
      id,
      isBid,
      price: isBid ? 5_000 - away : 5_000 + away,
      lots: 500,
    };
  });
  const rules = rulesFor(shape, 'direct');
  const engine = openEngine(rules);
  const encoded = encodeEnvelopes(stream, rules);
  const imageBefore = engine.encodeState().length;
  const own = bytesOf(() => {
    for (const bytes of encoded) engine.apply(decodeEnvelope(bytes), 0);
  });
  const image = engine.encodeState().length - imageBefore;
  const npmBooks = new NpmBooks(books);
  const npm = bytesOf(() => {
    for (const plain of stream) npmBooks.run(npmCommand(plain));
  });
  const perOrder = (bytes: number) => Math.round(bytes / orders);
  const table: Table = {
    title: `Memory of a resting order (${orders.toLocaleString('en')} orders on ${books} books)`,
    head: ['what', 'bytes per resting order'],
    rows: [
      ['nodejs-order-book, in memory', String(perOrder(npm))],
      ['ours, in memory, with id memory, wallets and positions', String(perOrder(own))],
      ['ours, in a snapshot', String(perOrder(image))],
    ],
  };
  const notes = [
    `Ours keeps of each order also its id (32 bytes), signer, API key, wallet and answer for repetitions; tables grow by doubling, so a figure is within a factor of two of what it would be at another count. ${engine.openOrderCount} orders rest.`,
  ];
  const figures = { orders, npm: npm / orders, own: own / orders, snapshot: image / orders };
  return { table, notes, figures };
}

/** Growth of heap and array buffers by `work`, after collections before and behind. */
function bytesOf(work: () => void): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const used = () => {
    collect();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };
  const before = used();
  work();
  return used() - before;
}
