import { ExecutionReader } from '@pm/domain/executions/execution-reader.io';
import { LedgerFold } from '@pm/domain/ledger/ledger-fold';
import type { LedgerImage } from '@pm/domain/ledger/ledger-image';
import { sealed } from '../../../domain/test/executions/fake-log.ts';
import { MarketBook } from '../../src/books/book.ts';
import { foldBooks } from '../../src/books/fold.ts';
import { checkpointsKept } from '../../src/checkpoints/checkpoint-objects.io.ts';
import { moneyPieces } from '../../src/ledger/pieces.ts';
import { TinyExchange } from '../log.ts';
import { count, executions, partitions, transferRecords, World } from './checkpoint-world.ts';

/** Ledger folded from all records at once. */
function wholeLedger(): LedgerFold {
  const fold = new LedgerFold();
  for (const partition of partitions) {
    const all = (executions[partition] ?? []).map((execution, offset) => ({ offset, execution }));
    for (const piece of moneyPieces(all, 2_000))
      fold.applyExecutions({ ...piece, partition, clockMs: piece.clockMs ?? 0 });
  }
  return fold;
}

function wholeBooks(partition: number): ReadonlyMap<number, MarketBook> {
  const markets = [1, 2, 3].map((market) => market + 10 * partition);
  const books = new Map(markets.map((market) => [market, new MarketBook(market)]));
  for (const execution of executions[partition] ?? []) foldBooks(books, execution);
  return books;
}

const shown = ({ market, bids, asks, lasts, marketLast, tick, timeMs, version }: MarketBook) => ({
  market,
  bids: bids.ascending(),
  asks: asks.ascending(),
  lasts,
  marketLast,
  tick,
  timeMs,
  version,
});

const sorted = <K, V>(map: ReadonlyMap<K, V> | undefined) =>
  [...(map ?? [])].sort(([a], [b]) => String(a).localeCompare(String(b)));

async function taken(world: World, parts: number): Promise<World> {
  for (let part = 0; part < parts; part += 1) {
    world.grow();
    expect(await world.checkpointer().take()).toBe(true);
  }
  return world;
}

describe('checkpoints', () => {
  test('taken one after the other have what the whole log says', async () => {
    const world = await taken(new World(), 4);
    const ledger = await world.parts.checkpoints.ledger();
    const whole = wholeLedger();
    expect(sorted(ledger?.image.markets)).toEqual(sorted(whole.markets));
    const free = (image: LedgerImage | undefined) =>
      [...(image?.wallets.values() ?? [])].reduce((sum, { freeMicro }) => sum + freeMicro, 0);
    const deposited = [...(ledger?.image.transfers.values() ?? [])];
    const paid = deposited.reduce((sum, { movedMicro }) => sum + movedMicro, 0);
    expect(free(ledger?.image)).toBe(free(whole) + paid);
    expect(deposited).toHaveLength(27);
    for (const partition of partitions) {
      const found = await world.parts.checkpoints.books(partition);
      expect(found?.place).toMatchObject({ partition, offset: count, nextInOffset: count });
      expect([...(found?.books.values() ?? [])].map(shown)).toEqual(
        [...wholeBooks(partition).values()].map(shown),
      );
    }
    expect(world.notUsed).toBe(0);
  });

  test('are the same whether the log was folded in one round or in four', async () => {
    const once = new World();
    for (let part = 0; part < 4; part += 1) once.grow();
    await once.checkpointer().take();
    const often = await taken(new World(), 4);
    const contents = async ({ parts }: World) => {
      const ledger = await parts.checkpoints.ledger();
      const { wallets, transfers, markets, breaches, places } = ledger?.image ?? new LedgerFold();
      const maps = [sorted(wallets), sorted(transfers), sorted(markets), sorted(breaches)];
      return {
        maps,
        places: [...places].sort((a, b) => a.partition - b.partition),
        at: ledger?.places,
      };
    };
    expect(await contents(often)).toEqual(await contents(once));
  });

  test('are kept three of each kind, and the older ones are removed', async () => {
    const world = await taken(new World(), 4);
    for (const kind of ['ledger', 'books/p0', 'books/p1'])
      expect(world.names(`checkpoints/${kind}/`)).toHaveLength(checkpointsKept);
  });

  test.each<[string, (bytes: Buffer) => Buffer]>([
    ['cut', (bytes) => bytes.subarray(0, bytes.length - 1)],
    ['half', (bytes) => bytes.subarray(0, bytes.length >> 1)],
    ['changed', (bytes) => bytes.fill((bytes[300] ?? 0) ^ 1, 300, 301)],
    ['empty', () => Buffer.alloc(0)],
  ])('that are %s are not used: the ones before are', async (_, change) => {
    const world = await taken(new World(), 3);
    for (const kind of ['ledger', 'books/p0']) {
      const newest = world.names(`checkpoints/${kind}/`).at(-1) ?? '';
      world.spoil(newest, change);
    }
    const ledger = await world.parts.checkpoints.ledger();
    expect(ledger?.places.map(({ offset }) => offset)).toEqual([60, 60]);
    expect((await world.parts.checkpoints.books(0))?.place.offset).toBe(60);
    expect(world.notUsed).toBe(2);
  });

  test('of another history than the log are not used', async () => {
    const world = await taken(new World(), 3);
    const other = new World();
    const otherRecords = sealed(new TinyExchange(99).records(count));
    for (const partition of partitions) other.log.add('executions', partition, otherRecords);
    other.log.add('transfers', 0, transferRecords);
    for (const [name, bytes] of world.store.contents) other.store.contents.set(name, bytes);
    expect(await other.parts.checkpoints.ledger()).toBeNull();
    expect(await other.parts.checkpoints.books(0)).toBeNull();
    expect(other.notUsed).toBe(2 * checkpointsKept);
  });

  test('go on when retention has removed the log before them, and say what is missing without them', async () => {
    const world = await taken(new World(), 2);
    for (const partition of partitions) world.log.removeBefore('executions', partition, 40);
    world.grow();
    await world.checkpointer().take();
    const ledger = await world.parts.checkpoints.ledger();
    expect(ledger?.places.map(({ offset }) => offset)).toEqual([90, 90]);
    world.store.contents.clear();
    await expect(world.checkpointer().take()).rejects.toMatchObject({
      code: 'history_removed',
      facts: { topic: 'executions', partition: 0, from: 0, low: 40 },
    });
  });

  test('older than the log are not used', async () => {
    const world = await taken(new World(), 2);
    for (const partition of partitions) world.log.removeBefore('executions', partition, 60);
    expect(await world.parts.checkpoints.ledger()).toBeNull();
    expect(world.notUsed).toBe(2);
  });

  test('are not taken beyond the memory there is for them', async () => {
    const world = new World();
    world.grow();
    await expect(world.checkpointer(5).take()).rejects.toMatchObject({
      code: 'checkpoint_too_large',
      reaction: 'skip',
    });
    expect(world.names('checkpoints/ledger/')).toEqual([]);
  });

  test('have the place of a reader that continues after them', async () => {
    const world = await taken(new World(), 2);
    world.grow();
    const { checkpoints, executions: log } = world.parts;
    const place = (await checkpoints.books(1))?.place;
    const reader = await ExecutionReader.open(log, 1, place?.offset ?? 0);
    expect(reader.nextInOffset).toBe(place?.nextInOffset);
    expect(reader.chain?.toString('hex')).toBe(place?.chain);
  });
});
