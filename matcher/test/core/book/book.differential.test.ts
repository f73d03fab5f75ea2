import { createHash } from 'node:crypto';
import { runLength } from '../../../../kit/test/long-runs.ts';
import { seeded } from '../../../../kit/test/seeded.ts';
import { at } from '../../../src/core/book/order-pool.ts';
import { BatchBook, commandWords, fillWords, packPrice } from '../../../src/core/index.ts';
import { NaiveBook } from '../naive/naive-book.ts';

const commandsTotal = runLength({ test: 50_000, deep: 1_000_000 });
const timeoutMs = 60_000 + commandsTotal / 8;
const perComparison = 10_000;
const perBatch = 100;
const markets = 4;
const seeds = [1, 2, 3, 4];

/** Sends equal commands to both books: flat ones to the book, objects to the twin. */
class Comparison {
  readonly batch = new BatchBook();
  readonly twin = new NaiveBook();
  /** Fills of both books so far. */
  readonly fills = createHash('sha256');
  readonly expected = createHash('sha256');
  fillCount = 0;
  private readonly roll: (below: number) => number;
  private readonly ticks = [1_000, 100, 100, 25];
  private readonly commands = new Int32Array(perBatch * commandWords);
  private readonly live: [market: number, order: number][] = [];
  private nextOrder = 0;

  constructor(seed: number) {
    this.roll = seeded(seed);
    for (const tick of this.ticks) {
      this.batch.book.addMarket(tick);
      this.twin.addMarket();
    }
  }

  runBatch(): void {
    for (let index = 0; index < perBatch; index += 1) this.draw(index * commandWords);
    this.batch.run(this.commands, 0, perBatch);
    const { fills, fillCount } = this.batch;
    this.fills.update(fills.slice(0, fillCount * fillWords));
    this.fillCount += fillCount;
    if (this.roll(50) === 0) this.refine();
  }

  /** Text of the book in the form of the twin's text, read from levels and queues. */
  text(): string {
    const { ladders, orders } = this.batch.book;
    const texts = this.ticks.map((_, market) => {
      const rows: string[] = [];
      for (let level = ladders.above(market, 0); level < ladders.top(market); ) {
        let lots = 0;
        let order = ladders.first(market, level);
        for (; order !== -1; order = orders.get(order, at.next)) {
          const side = orders.isBid(order) ? 'bid' : 'ask';
          const rest = orders.get(order, at.restLots);
          rows.push(`${orders.get(order, at.memory)} ${side} ${orders.price0(order)} ${rest}`);
          lots += rest;
        }
        if (ladders.totalLots(market, level) !== lots) rows.push('a level is not its orders');
        level = ladders.above(market, level);
      }
      return rows.join();
    });
    return texts.join('\n');
  }

  private draw(word: number): void {
    if (this.roll(100) < 45 && this.live.length > 0) this.cancel(word);
    else this.place(word);
  }

  /** Cancels an order that rests or is gone. */
  private cancel(word: number): void {
    const place = this.roll(this.live.length);
    const [market, order] = this.live[place] as [number, number];
    this.live[place] = this.live[this.live.length - 1] as [number, number];
    this.live.pop();
    this.commands.set([market, order, 0, 0], word);
    this.twin.cancel(market, order);
  }

  private place(word: number): void {
    const market = this.roll(markets);
    const tick = this.ticks[market] as number;
    const steps = 10_000 / tick;
    const near = Math.round(steps / 2) + this.roll(13) - 6;
    const price = tick * Math.min(steps - 1, Math.max(1, near));
    const [isBuy, outcome] = [this.roll(2) === 1, this.roll(2)];
    const lots = 1 + this.roll(this.roll(20) === 0 ? 5_000 : 100);
    const rests = this.roll(10) > 0;
    const order = this.nextOrder++;
    const packed = packPrice(price, isBuy, outcome);
    this.commands.set([market, order, packed, rests ? lots : -lots], word);
    this.live.push([market, order]);
    const isBid = isBuy === (outcome === 0);
    const price0 = outcome === 0 ? price : 10_000 - price;
    const fills = this.twin.place(market, { order, isBid, price0, lots }, rests);
    this.expected.update(Int32Array.from(fills));
  }

  private refine(): void {
    const market = this.roll(markets);
    const tick = [100, 50, 25, 10, 1][this.roll(5)] as number;
    const now = this.ticks[market] as number;
    if (tick >= now || now % tick !== 0) return;
    this.ticks[market] = tick;
    this.batch.book.refine(market, tick);
  }
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

describe('the bare book and its naive twin', () => {
  it.each(seeds)(
    'make the same fills and leave the same book, seed %d',
    (seed) => {
      const both = new Comparison(seed);
      const commands = commandsTotal / seeds.length;
      for (let done = perBatch; done <= commands; done += perBatch) {
        both.runBatch();
        if (done % perComparison !== 0 && done < commands) continue;
        const state = [both.fills.copy().digest('hex'), hashOf(both.text())];
        const expected = [both.expected.copy().digest('hex'), hashOf(both.twin.text())];
        if (state.join() !== expected.join()) {
          expect({ done, state, text: both.text() }).toEqual({
            done,
            state: expected,
            text: both.twin.text(),
          });
        }
      }
      expect(both.fillCount).toBeGreaterThan(commands / 10);
      expect(both.twin.orders().length).toBe(both.batch.book.orders.count);
    },
    timeoutMs,
  );
});
