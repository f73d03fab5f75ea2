import type { Ledger } from '@pm/domain/ledger/ledger.io';
import { openLedger } from '@pm/domain/ledger/redis-ledger.io';
import type { RedisClient } from '@pm/kit/redis';
import type { OrderId, WalletAddress } from '@pm/schemas/ids';
import { redisKeys } from '@pm/schemas/redis/keys';
import { type BySync, openBySync, setSync, syncsOf } from './sync.ts';

/** The calls of the ledger for orders, as ingress and projectors make them, each over one connection. */
export interface CallRates {
  readonly what: string;
  /** Orders a second. */
  readonly rates: BySync;
  /** Median time of a call, or of all calls of a batch, milliseconds. */
  readonly medianMs: BySync;
}

interface Shape {
  readonly what: string;
  /** Loops at a time; each is a partition where results are applied. */
  readonly loops: number;
  /** Orders that a loop reserves at once. */
  readonly orders: number;
  readonly applies: boolean;
}

const shapes: readonly Shape[] = [
  { what: 'reserve, one at a time', loops: 1, orders: 1, applies: false },
  { what: 'reserve, 16 at a time', loops: 16, orders: 1, applies: false },
  { what: 'reserve, 64 at a time', loops: 64, orders: 1, applies: false },
  { what: 'reserve, then apply the result; 8 partitions', loops: 8, orders: 1, applies: true },
  {
    what: '50 reserved at once, then applied in one call; 8 partitions',
    loops: 8,
    orders: 50,
    applies: true,
  },
];

const walletCount = 16;
const freeMicro = 1_000_000_000_000_000;
const prefix = 'bench-ledger';

/** All shapes under both settings in turn, after a round that is not counted. */
export async function measureCalls(
  [ingress, projectors]: readonly [RedisClient, RedisClient],
  { rounds, seconds }: { readonly rounds: number; readonly seconds: number },
): Promise<readonly CallRates[]> {
  const run = new CallRun(ingress, projectors);
  await run.open();
  const all = shapes.map((shape) => ({ shape, rates: openBySync(), medianMs: openBySync() }));
  for (let round = -1; round < rounds; round += 1) {
    for (const { shape, rates, medianMs } of all) {
      for (const sync of syncsOf(round)) {
        await setSync(ingress, sync);
        const taken = await run.measure(shape, seconds);
        if (round < 0) continue;
        rates[sync].push(taken.perSecond);
        medianMs[sync].push(taken.medianMs);
      }
    }
  }
  return all.map(({ shape: { what }, rates, medianMs }) => ({ what, rates, medianMs }));
}

class CallRun {
  readonly #redis: RedisClient;
  readonly #reserving: Ledger;
  readonly #applying: Ledger;
  readonly #offsets = new Map<number, number>();
  #orders = 0;

  constructor(ingress: RedisClient, projectors: RedisClient) {
    this.#redis = ingress;
    this.#reserving = openLedger(ingress, redisKeys(prefix));
    this.#applying = openLedger(projectors, redisKeys(prefix));
  }

  /** A ledger that is open, with money; nothing of the exchange on this server is touched. */
  async open(): Promise<void> {
    const keys = redisKeys(prefix);
    const plan = { id: 'measured', generation: 1 };
    await this.#redis.hset(keys.ledgerMarks, { 'transfers:0:generation': plan.generation });
    await this.#applying.planRebuild(plan);
    await this.#applying.open(plan, []);
    for (let index = 0; index < walletCount; index += 1)
      await this.#redis.hset(keys.wallet(walletOf(index)), { free: freeMicro });
  }

  async measure(shape: Shape, seconds: number) {
    const started = performance.now();
    const timesMs: number[] = [];
    let orders = 0;
    const loop = async (partition: number): Promise<void> => {
      while (performance.now() - started < seconds * 1000) {
        const from = performance.now();
        await this.#cycle(shape, partition);
        timesMs.push(performance.now() - from);
        orders += shape.orders;
      }
    };
    await Promise.all(Array.from({ length: shape.loops }, (_, index) => loop(index)));
    const perSecond = (orders * 1000) / (performance.now() - started);
    const medianMs = timesMs.sort((one, other) => one - other)[timesMs.length >> 1] ?? Number.NaN;
    return { perSecond, medianMs };
  }

  async #cycle({ orders, applies }: Shape, partition: number): Promise<void> {
    const ids = await Promise.all(
      Array.from({ length: orders }, () => this.#reserve(applies ? partition : 0)),
    );
    if (applies) await this.#apply(partition, ids);
  }

  async #reserve(partition: number): Promise<OrderId> {
    this.#orders += 1;
    const orderId = `0x${this.#orders.toString(16).padStart(64, '0')}` as OrderId;
    const wallet = walletOf(this.#orders % walletCount);
    const facts = { partition, kind: 'order', market: 1, acceptedAtMs: Date.now() } as const;
    const { outcome } = await this.#reserving.reserve({
      orderId,
      wallet,
      amountMicro: 1,
      ...facts,
    });
    if (outcome !== 'reserved') throw new Error(`the benchmark's ledger answers ${outcome}`);
    return orderId;
  }

  async #apply(partition: number, answered: readonly OrderId[]): Promise<void> {
    const fromOffset = this.#offsets.get(partition) ?? 0;
    const toOffset = fromOffset + answered.length;
    this.#offsets.set(partition, toOffset);
    const moves = answered.map((_, index) => ({
      wallet: walletOf(index % walletCount),
      freeMicro: -1,
      heldMicro: 1,
    }));
    const clocks = { clockMs: Date.now(), bookAgeLimitMs: 10_000, generation: 0 };
    const piece = { partition, fromOffset, toOffset, answered, moves, markets: [], ...clocks };
    await this.#applying.applyExecutions(piece);
  }
}

function walletOf(index: number): WalletAddress {
  return `0x${String(index).padStart(40, '0')}` as WalletAddress;
}
