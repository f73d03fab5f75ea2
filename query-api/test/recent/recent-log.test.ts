import type { FillRow } from '@pm/domain/orders/trades';
import { mergePage, newestPlaceFirst, storedWindow } from '@pm/domain/reading/merge-page';
import { apiKeyFromBytes, orderIdFromBytes, walletFromBytes } from '@pm/schemas/ids';
import type { Execution } from '@pm/schemas/log/executions';
import { bytesOf, seeded } from '../../../kit/test/seeded.ts';
import { noCutover, RecentLog } from '../../src/recent/recent-log.ts';
import { rowsOfRecord } from '../../src/recent/record-rows.ts';
import { TinyLog } from './log.ts';
import { PacedLogs } from './paced-logs.ts';

const keys = [1, 2, 3, 4].map((trader) => apiKeyFromBytes(bytesOf(16, trader)));
const key = keys[0] as string;
const rowsMax = 120;

const placeOf = (row: { partition: number; inOffset: string; eventIndex: number; role?: string }) =>
  `${row.partition}-${row.inOffset}-${row.eventIndex}-${row.role ?? ''}`;

/** Logs in memory and tables, to compare the rows that are shown of one key with those that exist. */
class CutoverWorld {
  readonly #logs: PacedLogs;
  readonly #rows: readonly ReturnType<typeof rowsOf>[];
  readonly recent: RecentLog;
  gaps = 0;

  constructor(keepMs: number) {
    this.#logs = new PacedLogs(11, { rowsMax, keepMs });
    this.#rows = this.#logs.logs.map(rowsOf);
    this.recent = this.#logs.recent;
  }

  step(...taken: Parameters<PacedLogs['step']>): void {
    this.#logs.step(...taken);
  }

  /** Per partition what is shown of one key, and what has to be: all that memory or tables have. */
  comparisons(): readonly { readonly shown: readonly string[]; readonly due: readonly string[] }[] {
    const { cutover, rows } = this.recent.ordersOfKeys([key]);
    return this.#rows.map((whole, partition) => {
      const cutoverOffset = cutover[partition] ?? noCutover;
      const { read, stored } = this.#logs;
      const [readTo = 0, storedTo = 0] = [read[partition], stored[partition]];
      if (cutoverOffset === noCutover && readTo > storedTo) this.gaps += 1;
      const known = this.#logs.knownEnd(partition, cutoverOffset);
      const inTables = rowsOfKey(whole.slice(0, storedTo));
      const shown = [
        ...inTables.filter((row) => Number(row.inOffset) < cutoverOffset),
        ...rows.filter((row) => row.partition === partition),
      ];
      return { shown: shown.map(placeOf), due: rowsOfKey(whole.slice(0, known)).map(placeOf) };
    });
  }
}

function rowsOfKey(records: ReturnType<typeof rowsOf>) {
  return records.flatMap(({ orders }) => orders).filter((row) => row.apiKey === key);
}

describe('the newest records beside the tables', () => {
  it.each([0, 40])(
    'are the whole log with them, once, at every moment, kept for %i ms',
    (keepMs) => {
      const random = seeded(5);
      const world = new CutoverWorld(keepMs);
      for (let step = 0; step < 1_500; step += 1) {
        // At first the tables are behind, so that memory meets its bound; later they may be ahead.
        world.step(random, step < 400 ? 'behind' : undefined);
        expect(world.recent.rowCount).toBeLessThanOrEqual(rowsMax);
        if (step % 10 > 0) continue;
        for (const { shown, due } of world.comparisons()) expect(shown).toEqual(due);
      }
      // The bound was met on the way: tables answered alone until they had caught up.
      expect(world.gaps).toBeGreaterThan(0);
    },
  );

  it('returns each fill once when two own keys meet', () => {
    const recent = new RecentLog();
    recent.restart(new Map([[0, 0]]));
    recent.stored(0, 0, 0);
    const log = new TinyLog(3).records(100);
    log.forEach((execution, offset) => {
      recent.take(0, execution, offset);
    });
    const { rows } = recent.fillsOfKeys(keys);
    const due = rowsOf(log, 0).flatMap((one) => one.fills);
    expect(due.length).toBeGreaterThan(20);
    expect(rows.map(placeOf).sort()).toEqual(due.map(placeOf).sort());
  });

  it('drops repetitions and refuses gaps', () => {
    const recent = new RecentLog();
    recent.restart(new Map([[0, 7]]));
    const [first, second, third] = new TinyLog(4).records(3) as [Execution, Execution, Execution];
    expect(recent.take(0, first, 7)).toBe(true);
    const { rowCount } = recent;
    expect(recent.take(0, first, 8)).toBe(true);
    expect(recent.rowCount).toBe(rowCount);
    expect(recent.take(0, third, 9)).toBe(false);
    expect(recent.take(0, second, 9)).toBe(true);
    expect(recent.take(5, second, 9)).toBe(false);
  });

  it('answers nothing before it knows how far the tables are, and after a stop', () => {
    const recent = new RecentLog();
    recent.restart(new Map([[0, 3]]));
    const [execution] = new TinyLog(2).records(20).filter((one) => one.events.length > 0);
    recent.take(0, execution as Execution, 3);
    const order = execution?.events.find((event) => event.kind === 'OrderPlaced');
    const id = order?.kind === 'OrderPlaced' ? orderIdFromBytes(order.orderId) : '';
    expect(recent.orders([id])).toEqual({ cutover: [noCutover], rows: [], asOf: [] });
    recent.stored(0, 2, 0);
    expect(recent.orders([id]).rows).toEqual([]);
    recent.stored(0, 3, 0);
    const { rows, asOf } = recent.orders([id]);
    expect(rows).toHaveLength(1);
    expect(asOf).toEqual([{ partition: 0, offset: execution?.inOffset }]);
    expect(recent.progress()).toMatchObject([{ partition: 0, storedTo: 3, hasGap: false }]);
    recent.stop();
    expect(recent.orders([id])).toEqual({ cutover: [], rows: [], asOf: [] });
  });

  it('keeps the changes of holdings', () => {
    const recent = new RecentLog();
    recent.restart(new Map([[0, 0]]));
    recent.stored(0, 0, 0);
    const log = new TinyLog(6).records(80);
    log.forEach((execution, offset) => {
      recent.take(0, execution, offset);
    });
    const wallet = walletFromBytes(bytesOf(20, 2));
    const { rows } = recent.holdings([wallet]);
    const fills = rowsOf(log, 0).flatMap((one) => one.fills);
    const bought = (outcome: number) =>
      fills.reduce(
        (sum, fill) =>
          sum +
          (fill.taker === wallet && outcome === 0 ? fill.sizeMicro : 0) +
          (fill.maker === wallet && outcome === 1 ? fill.sizeMicro : 0),
        0,
      );
    for (const outcome of [0, 1]) {
      const own = rows.filter((row) => row.outcome === outcome);
      expect(own.reduce((sum, row) => sum + row.changeMicro, 0)).toBe(bought(outcome));
    }
  });
});

describe('a page of two lists', () => {
  it('is the same page of the one list they make, at every cutover and offset', () => {
    const random = seeded(9);
    const fills = rowsOf(new TinyLog(21).records(150), 0)
      .flatMap((one) => one.fills)
      .sort(newestPlaceFirst);
    for (let tries = 0; tries < 400; tries += 1) {
      const isRecent = new Set<FillRow>();
      // Mostly the newest, as it is; but any split has to give the same.
      for (const [index, fill] of fills.entries())
        if (random(tries % 2 === 0 ? 4 : 1 + index) === 0) isRecent.add(fill);
      const recent = fills.filter((fill) => isRecent.has(fill));
      const tables = fills.filter((fill) => !isRecent.has(fill));
      const page = { offset: random(fills.length + 5), limit: 1 + random(12) };
      const window = storedWindow(page, recent.length);
      const read = tables.slice(window.from, window.from + window.count);
      const found = mergePage(recent, read, { ...page, from: window.from }, newestPlaceFirst);
      expect(found).toEqual(fills.slice(page.offset, page.offset + page.limit));
    }
  });
});

function rowsOf(log: readonly Execution[], partition: number) {
  return log.map((execution) => rowsOfRecord(partition, execution));
}
