import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { at } from '../../src/core/book/order-pool.ts';
import { BatchBook, fillWords, packPrice } from '../../src/core/index.ts';

const folder = join(__dirname, '../../../../shared/data');
const [operations, referenceFills, referenceBook] = [
  'l3-aapl-ops.csv.gz',
  'l3-aapl-fills-reference.csv.gz',
  'l3-aapl-final-book-reference.csv.gz',
].map((name) => join(folder, name)) as [string, string, string];

function rowsOf(file: string): string[] {
  return gunzipSync(readFileSync(file)).toString('utf8').trim().split('\n').slice(1);
}

function isRecorded(): boolean {
  const missing = [operations, referenceFills, referenceBook].find((file) => !existsSync(file));
  if (missing === undefined) return true;
  process.stderr.write(`NOT RUN: the recorded order-by-order day, because ${missing} is absent\n`);
  return false;
}

/**
 * An hour of a stock, order by order, on the book as it is: the recording has its prices moved into 1 to 999
 * thousandths, which is a market on the 0.001 grid, and whole shares, which are lots here. What the product has no
 * command for, an amendment of a resting order, only ever lowers a size at the same price there, which is what a
 * partial fill does.
 */
class Day {
  readonly batch = new BatchBook();
  /** Rows as the reference has them: operation, taker, maker, price in thousandths, size. */
  readonly fills: string[] = [];
  private readonly prices = new Map<number, number>();

  constructor() {
    this.batch.book.addMarket(10);
  }

  run(row: string): void {
    const [sequence = '', , kind, id, side, price, size] = row.split(',');
    const [order, lots] = [Number(id), Number(size)];
    const packed = packPrice(Number(price) * 10, side === 'BUY', 0);
    if (kind === 'SNAP' || kind === 'ADD') this.apply(sequence, [0, order, packed, lots]);
    else if (kind === 'IOC') this.apply(sequence, [0, order, packed, -lots]);
    else if (kind === 'CANCEL') this.apply(sequence, [0, order, 0, 0]);
    else this.replace(sequence, order, packed, lots);
  }

  /** An order that is gone is not reduced; a new price or a larger size would make it a new order. */
  private replace(sequence: string, order: number, packed: number, lots: number): void {
    const rest = this.batch.restLots(order);
    if (rest === 0) return;
    if (this.prices.get(order) === packed && lots <= rest) {
      if (lots < rest) this.batch.reduce(order, rest - lots);
    } else {
      this.apply(sequence, [0, order, 0, 0]);
      this.apply(sequence, [0, order, packed, lots]);
    }
  }

  private apply(sequence: string, command: readonly number[]): void {
    const [, order = 0, packed = 0] = command;
    if (packed !== 0) this.prices.set(order, packed);
    this.batch.run(Int32Array.from(command), 0, 1);
    const { fills, fillCount } = this.batch;
    for (let fill = 0; fill < fillCount; fill += 1) {
      const [taker, maker, price = 0, lots] = fills.subarray(fill * fillWords);
      this.fills.push([sequence, taker, maker, price / 10, lots].join());
    }
  }

  /** Bids from the best down, then asks from the best up: side, price, size, orders. */
  book(): string[] {
    const { ladders, orders } = this.batch.book;
    const levels: string[] = [];
    for (let level = ladders.above(0, 0); level < ladders.top(0); level = ladders.above(0, level)) {
      let count = 0;
      let order = ladders.first(0, level);
      for (; order !== -1; order = orders.get(order, at.next)) count += 1;
      const side = level <= ladders.bid(0) ? 'BUY' : 'SELL';
      levels.push([side, level, ladders.totalLots(0, level), count].join());
    }
    return levels.sort();
  }
}

const given = isRecorded() ? it : it.skip;

describe('a recorded day', () => {
  given('is matched row for row, and leaves the book of the reference', () => {
    const day = new Day();
    const rows = rowsOf(operations);
    for (const row of rows) day.run(row);
    expect(rows).toHaveLength(89_051);
    expect(day.fills).toEqual(rowsOf(referenceFills));
    expect(day.book()).toEqual(rowsOf(referenceBook).sort());
  });
});
