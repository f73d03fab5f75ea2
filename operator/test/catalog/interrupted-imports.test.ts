import { createHash } from 'node:crypto';
import { CatalogIndex } from '@pm/domain/catalog/catalog-index';
import { KeyedMutex } from '@pm/domain/commands/keyed-mutex.io';
import type { CommandResult } from '@pm/domain/commands/result-waiters';
import type { ImportCatalog } from '@pm/schemas/http/operator';
import { type CatalogEntry, type CatalogMarket, catalogKey } from '@pm/schemas/log/catalog';
import type { ExecutionEvent } from '@pm/schemas/log/executions';
import type { CommandOf } from '@pm/schemas/log/orders';
import { CatalogLocks } from '../../src/catalog/catalog-locks.io.ts';
import { CatalogImporter } from '../../src/catalog/importer.io.ts';
import { event, market } from '../operator-fixture.ts';

const partitions = 3;

class Killed extends Error {}

/**
 * Data that remain when an operator's process ends: the topic `catalog`, `routing`, and the books of the partitions.
 */
class Exchange {
  readonly entries = new Map<string, CatalogEntry>();
  readonly routes = new Set<number>();
  /** By number, in each partition. */
  readonly books = Array.from({ length: partitions }, () => new Map<number, string>());
  /** Writes and commands that are still carried out; the process is killed at the next one. */
  stepsLeft = Number.POSITIVE_INFINITY;
  /** Partitions whose results do not come in time; they carry out all the same. */
  readonly silent = new Set<number>();
  steps = 0;
  /** Partitions that are opened. */
  opened: readonly number[] = Array.from({ length: partitions }, (_, number) => number);
  /** Where new markets may be placed. */
  placeable = this.opened;

  marketsMax = 1_000;

  /** A process that has read the topic. */
  start(): CatalogImporter {
    const catalog = new CatalogIndex();
    for (const entry of this.entries.values()) catalog.take(entry);
    return new CatalogImporter({
      catalog,
      partitions: { numbers: this.opened, placeable: this.placeable },
      traded: { isTraded: async () => false },
      feeNoticeMs: 0,
      marketsMax: this.marketsMax,
      clock: { nowMs: () => 1_700_000_000_000 },
      keccak: (bytes) => createHash('sha256').update(bytes).digest(),
      commands: {
        run: async (partition, command) => {
          this.#step();
          return this.#carryOut(partition, command as CommandOf<'SetMarket'>);
        },
      },
      writer: {
        writeRoutes: async (markets) => {
          this.#step();
          for (const one of markets) this.routes.add(one.market);
        },
        writeEntries: async (entries) => {
          for (const entry of entries) {
            this.#step();
            this.entries.set(catalogKey(entry), entry);
            catalog.take(entry);
          }
        },
        deleteMarket: async (number) => {
          this.#step();
          const key = catalogKey({ kind: 'CatalogMarket', market: number });
          this.entries.delete(key);
          catalog.forget(key);
        },
      },
      locks: new CatalogLocks(new KeyedMutex()),
    });
  }

  async import(body: ImportCatalog): Promise<string> {
    const result = await this.start().run(() => body);
    return result?.kind ?? 'nothing';
  }

  markets(): readonly CatalogMarket[] {
    return [...this.entries.values()].filter((entry) => entry.kind === 'CatalogMarket');
  }

  /** Numbers in the books whose facts the catalog lacks, or has of another market. */
  withoutFacts(): readonly number[] {
    const known = this.markets();
    return this.books.flatMap((book, partition) =>
      [...book]
        .filter(
          ([number, condition]) =>
            !known.some(
              (one) =>
                one.market === number &&
                one.partition === partition &&
                one.conditionId.toString('hex') === condition,
            ),
        )
        .map(([number]) => number),
    );
  }

  #step(): void {
    if (this.stepsLeft <= 0) throw new Killed();
    this.stepsLeft -= 1;
    this.steps += 1;
  }

  #carryOut(partition: number, command: CommandOf<'SetMarket'>): CommandResult {
    const { market: number, conditionId } = command;
    const condition = conditionId.toString('hex');
    const book = this.books[partition] ?? new Map<number, string>();
    const isRefused = book.has(number) && book.get(number) !== condition;
    if (!isRefused) book.set(number, condition);
    if (this.silent.has(partition)) return { kind: 'pending' };
    const done = isRefused
      ? { kind: 'CommandRefused', command: 0, code: 'invalid_payload', requestId: null }
      : { ...command, kind: 'MarketSet', command: 0 };
    return {
      kind: 'executed',
      place: { partition, inOffset: 1 },
      events: [{ index: 0, event: done as unknown as ExecutionEvent }],
    } as unknown as CommandResult;
  }
}

const body = {
  events: [
    event('a', [market('a-1'), market('a-2', { negRisk: true }), market('a-3')], { tags: ['T'] }),
    event('b', [market('b-1'), market('b-2')]),
  ],
} as unknown as ImportCatalog;
const slugs = ['a-1', 'a-2', 'a-3', 'b-1', 'b-2'];
const other = {
  events: [event('c', [market('c-1'), market('c-2')])],
} as unknown as ImportCatalog;

/** The import, until the process is killed. */
async function brokenOff(steps: number): Promise<Exchange> {
  const exchange = new Exchange();
  exchange.stepsLeft = steps;
  await exchange.import(body).catch((error: unknown) => {
    if (!(error instanceof Killed)) throw error;
  });
  exchange.stepsLeft = Number.POSITIVE_INFINITY;
  return exchange;
}

/** Every market is listed under one number, and the books have just these. */
function expectListed(exchange: Exchange, all: readonly string[]): void {
  const markets = exchange.markets();
  expect(markets.map(({ slug }) => slug).sort()).toEqual([...all].sort());
  expect(markets.every(({ listed }) => listed)).toBe(true);
  expect(exchange.withoutFacts()).toEqual([]);
  expect(exchange.books.reduce((sum, { size }) => sum + size, 0)).toBe(all.length);
  for (const { market: number } of markets) expect(exchange.routes.has(number)).toBe(true);
  const events = [...exchange.entries.values()].filter(({ kind }) => kind === 'CatalogEvent');
  const eventIds = events.map((entry) => (entry.kind === 'CatalogEvent' ? entry.id : ''));
  for (const { eventId } of markets) expect(eventIds).toContain(eventId);
}

async function stepsOfImport(): Promise<number> {
  const whole = new Exchange();
  await whole.import(body);
  expectListed(whole, slugs);
  return whole.steps;
}

test('an import that is killed at any step leaves no number in the books without its facts', async () => {
  const steps = await stepsOfImport();
  for (let at = 0; at <= steps; at += 1) {
    const exchange = await brokenOff(at);
    expect(exchange.withoutFacts()).toEqual([]);
    expect(await exchange.import(body)).toBe('done');
    expectListed(exchange, slugs);
  }
});

test('another import that comes first takes no number of one that was killed', async () => {
  const steps = await stepsOfImport();
  for (let at = 0; at <= steps; at += 1) {
    const exchange = await brokenOff(at);
    expect(await exchange.import(other)).toBe('done');
    expect(exchange.withoutFacts()).toEqual([]);
    expect(await exchange.import(body)).toBe('done');
    expectListed(exchange, [...slugs, 'c-1', 'c-2']);
  }
});

test('a partition that does not answer leaves nothing listed and no book without facts', async () => {
  const exchange = new Exchange();
  exchange.silent.add(1);
  expect(await exchange.import(body)).toBe('failed');
  expect(exchange.withoutFacts()).toEqual([]);
  expect(exchange.markets().filter(({ listed }) => listed)).toEqual([]);
  exchange.silent.clear();
  expect(await exchange.import(body)).toBe('done');
  expectListed(exchange, slugs);
});

test('a number that a book gives to another market is left to it', async () => {
  const exchange = new Exchange();
  exchange.books[0]?.set(1, 'another condition');
  expect(await exchange.import(other)).toBe('failed');
  expect(exchange.markets().map(({ market: number }) => number)).not.toContain(1);
  expect(await exchange.import(other)).toBe('done');
  expect(exchange.withoutFacts()).toEqual([1]);
});

test('a listing that began in a partition which is not opened begins again in one that is', async () => {
  const exchange = await brokenOff(6);
  const begun = exchange.markets().map(({ partition }) => partition);
  expect(begun).toContain(2);
  exchange.opened = [0, 1];
  exchange.placeable = [0, 1];
  exchange.stepsLeft = Number.POSITIVE_INFINITY;
  expect(await exchange.import(body)).toBe('done');
  expect(exchange.markets()).toHaveLength(slugs.length);
  expect(exchange.markets().filter(({ partition }) => partition === 2)).toEqual([]);
});

test('a listing that began in a partition which is not heard for now goes on there', async () => {
  const exchange = await brokenOff(6);
  const placesOf = () => exchange.markets().map(({ market, partition }) => [market, partition]);
  const begun = placesOf();
  expect(begun.map(([, partition]) => partition)).toContain(2);
  exchange.placeable = [0, 1];
  exchange.stepsLeft = Number.POSITIVE_INFINITY;
  expect(await exchange.import(body)).toBe('done');
  expect(placesOf()).toEqual(expect.arrayContaining(begun));
});

test('nothing is listed before a partition is opened', async () => {
  const exchange = new Exchange();
  exchange.placeable = [];
  expect([await exchange.import(body), exchange.steps]).toEqual(['failed', 0]);
});

test('an import that was killed is completed where its markets are the last that have room', async () => {
  const steps = await stepsOfImport();
  for (let at = 0; at <= steps; at += 1) {
    const exchange = await brokenOff(at);
    exchange.marketsMax = slugs.length;
    expect(await exchange.import(body)).toBe('done');
    expectListed(exchange, slugs);
    expect(await exchange.import(other)).toBe('failed');
    expectListed(exchange, slugs);
  }
});
