import type { Ledger } from '@pm/domain/ledger/ledger.io';
import { openSignOffKey } from '@pm/domain/signoff/keys';
import { LedgerModel } from '@pm/domain/testing/ledger-model';
import { silentLog } from '@pm/kit/log';
import { walletFromBytes } from '@pm/schemas/ids';
import type { Transfer } from '@pm/schemas/log/accounts';
import type { Envelope } from '@pm/schemas/log/orders';
import { LedgerGenerations } from '../../src/ledger/generations.io.ts';

const partitions = 2;
const topics = { executions: 'executions', transfers: 'transfers', orders: 'orders' };
const clock = { clockMs: 0, bookAgeLimitMs: 2_000 };

/** A log that begins written generations on request, and the ledger that is folded from it. */
class World {
  fold = new LedgerModel();
  life = 'first';
  private openedIn = '';
  /** The written records in short: `orders:0 1` is generation 1 in partition 0. */
  readonly written: string[] = [];
  private readonly ends = new Map([
    ['executions:0', 1],
    ['executions:1', 1],
    ['transfers:0', 1],
  ]);
  private readonly begun: [place: string, offset: number, generation: number][] = [];
  nowMs = 0;
  monotonicMs = 0;
  foldedAgain = 0;

  generations(): LedgerGenerations {
    return new LedgerGenerations({
      ledger: this.ledger(),
      admin: { bounds: async (topic) => this.bounds(topic) },
      producer: {
        send: async (records) => {
          for (const { topic, partition, value } of records) {
            this.written.push(`${topic}:${partition} ${value?.toString()}`);
          }
          return [];
        },
      },
      codecs: {
        orders: {
          fingerprint: Buffer.alloc(32),
          encode: (envelope: Envelope) => Buffer.from(numberOf(envelope)),
        },
        transfers: { encode: ({ generation }: Transfer) => Buffer.from(String(generation)) },
      },
      key: { ...openSignOffKey(Buffer.alloc(32, 1)), sign: () => Buffer.alloc(0) },
      topics,
      log: silentLog,
      nowMs: () => this.nowMs,
      monotonicMs: () => this.monotonicMs,
      foldAgain: async () => {
        this.foldedAgain += 1;
      },
      onState: () => {},
    });
  }

  /** The matchers and the topic `transfers` begin these generations. */
  begin(...places: readonly string[]): void {
    for (const place of places) {
      const [topic = ''] = place.split(' ');
      const of = topic.replace('orders', 'executions');
      const offset = this.ends.get(of) ?? 0;
      this.ends.set(of, offset + 1);
      this.begun.push([of, offset, Number(place.split(' ')[1])]);
    }
  }

  /** The views apply the log up to its ends. */
  foldAll(): void {
    for (const [place, end] of this.ends) {
      const [topic = '', partition = ''] = place.split(':');
      const isTransfers = topic === 'transfers';
      const from = this.fold.mark(isTransfers ? 'transfers' : 'executions', Number(partition));
      for (let offset = from; offset < end; offset += 1) this.apply(place, offset);
    }
  }

  lose(): void {
    this.fold = new LedgerModel();
  }

  private apply(place: string, offset: number): void {
    const generation = this.begun.find(([of, at]) => of === place && at === offset)?.[2] ?? 0;
    const span = { fromOffset: offset, toOffset: offset + 1 };
    if (place === 'transfers:0') {
      const nothing = { wallet: walletFromBytes(Buffer.alloc(20)), amountMicro: 0 };
      const transfers = [{ ...nothing, transferId: '0x00', timeMs: 0, generation }];
      this.fold.applyTransfers({ ...span, transfers });
      return;
    }
    const partition = Number(place.split(':')[1]);
    const piece = {
      ...clock,
      ...span,
      partition,
      answered: [],
      moves: [],
      markets: [],
      generation,
    };
    this.fold.applyExecutions(piece);
  }

  private bounds(topic: string): Map<number, { low: number; high: number }> {
    const count = topic === 'transfers' ? 1 : partitions;
    const bound = (partition: number) => ({
      low: 0,
      high: this.ends.get(`${topic}:${partition}`) ?? 0,
    });
    return new Map(Array.from({ length: count }, (_, partition) => [partition, bound(partition)]));
  }

  private ledger(): Ledger {
    const world = this;
    const target = {
      isOfEarlierLife: async () => world.openedIn !== world.life,
      open: async (...args: Parameters<LedgerModel['open']>) => {
        const isOpen = world.fold.open(...args);
        if (isOpen) world.openedIn = world.life;
        return isOpen;
      },
    };
    return new Proxy(target, {
      get(own, name) {
        if (name in own) return own[name as keyof typeof own];
        const method = world.fold[name as keyof LedgerModel] as (...args: unknown[]) => unknown;
        return async (...args: unknown[]) => method.apply(world.fold, args);
      },
    }) as unknown as Ledger;
  }
}

function numberOf({ commands }: Envelope): string {
  const [command] = commands;
  return command?.kind === 'StartGeneration' ? String(command.generation) : '?';
}

const all = (generation: number) =>
  ['orders:0', 'orders:1', 'transfers:0'].map((place) => `${place} ${generation}`);

/** A world whose ledger is open under generation 1. */
async function openWorld(): Promise<{ world: World; generations: LedgerGenerations }> {
  const world = new World();
  const generations = world.generations();
  world.foldAll();
  await generations.check();
  world.begin(...world.written);
  world.foldAll();
  expect(await generations.check()).toBe(true);
  world.written.length = 0;
  return { world, generations };
}

describe('a ledger generation', () => {
  test('is written once the fold has reached the ends, and opens once the fold has passed it everywhere', async () => {
    const world = new World();
    const generations = world.generations();
    expect(await generations.check()).toBe(false);
    expect([world.written, world.foldedAgain]).toEqual([[], 1]);
    world.foldAll();
    expect(await generations.check()).toBe(false);
    expect(world.written).toEqual(all(1));
    world.begin('orders:0 1', 'transfers:0 1');
    world.foldAll();
    expect(await generations.check()).toBe(false);
    world.begin('orders:1 1');
    world.foldAll();
    expect(await generations.check()).toBe(true);
    expect(world.fold.state()).toEqual({ generation: 1, ready: true });
    expect(await generations.check()).toBe(true);
    expect(world.written).toHaveLength(3);
  });

  test('is written again, after a while, where the log has not begun it', async () => {
    const world = new World();
    const generations = world.generations();
    world.foldAll();
    await generations.check();
    world.begin('orders:0 1', 'transfers:0 1');
    world.foldAll();
    await generations.check();
    expect(world.written).toHaveLength(3);
    // The wall clock is set back meanwhile.
    world.nowMs = -3_600_000;
    world.monotonicMs = 5_000;
    await generations.check();
    expect(world.written.slice(3)).toEqual(['orders:1 1']);
  });

  test('is the same for all processes that check', async () => {
    const world = new World();
    const [one, two] = [world.generations(), world.generations()];
    world.foldAll();
    await Promise.all([one.check(), two.check()]);
    expect(new Set(world.written)).toEqual(new Set(all(1)));
    world.begin(...all(1));
    world.foldAll();
    expect(await one.check()).toBe(true);
    expect(await two.check()).toBe(true);
    expect(world.fold.state().generation).toBe(1);
  });

  test('is a newer one after a loss, and after a loss in the middle of the rebuild', async () => {
    const { world, generations } = await openWorld();
    world.lose();
    expect(await generations.check()).toBe(false);
    world.foldAll();
    await generations.check();
    expect(world.written).toEqual(all(2));
    world.begin(...all(2));
    world.lose();
    world.foldAll();
    expect(await generations.check()).toBe(false);
    world.monotonicMs = 5_000;
    await generations.check();
    world.begin(...world.written.slice(3));
    world.foldAll();
    expect(await generations.check()).toBe(true);
    expect(world.fold.state().generation).toBeGreaterThan(1);
  });

  test('is a newer one when Redis has restarted, or the log has begun another generation', async () => {
    const { world, generations } = await openWorld();
    world.life = 'second';
    expect(await generations.check()).toBe(false);
    expect(world.written).toEqual(all(2));
    world.begin(...all(2));
    world.foldAll();
    expect(await generations.check()).toBe(true);
    world.begin('orders:1 7');
    world.foldAll();
    expect(await generations.check()).toBe(false);
    expect(world.written.slice(3)).toEqual(all(8));
  });

  test('is never one that was open before, even if Redis returns to an earlier state', async () => {
    const { world, generations } = await openWorld();
    world.fold.close();
    world.fold.planRebuild({ id: 'kept', generation: 1 });
    expect(await generations.check()).toBe(false);
    await generations.check();
    expect(world.written).toEqual(all(2));
  });
});
