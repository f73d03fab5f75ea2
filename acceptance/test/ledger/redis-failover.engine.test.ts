import { openLedger } from '@pm/domain/ledger/redis-ledger.io';
import { Fault } from '@pm/kit/fault';
import { defineScript, type RedisClient, resultsOf } from '@pm/kit/redis';
import { orderIdFromBytes, walletFromBytes } from '@pm/schemas/ids';
import { redisKeys } from '@pm/schemas/redis/keys';
import { until } from '../exchange-under-test.ts';
import { RedisPair } from './redis-pair.ts';

const addLua = "return redis.call('INCRBY', KEYS[1], ARGV[1])";
const writersPerClient = 20;

/** Writers that never stop; a write that was refused is to be tried again, and they do so. */
class Load {
  failed = 0;
  readonly wrong: unknown[] = [];
  /** Acknowledged writes of each writer. */
  readonly #written: number[] = [];
  #isOver = false;
  readonly #writers: readonly Promise<void>[];

  constructor(clients: readonly RedisClient[]) {
    const all = clients.flatMap((client) => Array.from({ length: writersPerClient }, () => client));
    this.#writers = all.map((client, index) => this.#write(client, index));
  }

  get acknowledged(): number {
    return this.#written.reduce((sum, count) => sum + count, 0);
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#writers);
  }

  /** Resolves once each writer has written more. */
  async more(): Promise<void> {
    const before = [...this.#written];
    await until(async () => this.#written.every((count, index) => count > (before[index] ?? 0)));
  }

  async #write(client: RedisClient, index: number): Promise<void> {
    const script = defineScript<number>(client, 'add', addLua, 1);
    const ways = [
      () => client.incr('counter'),
      () => script.run(['counter'], [1]),
      async () => resultsOf(await client.pipeline().incr('counter').exec()),
    ];
    this.#written[index] = 0;
    while (!this.#isOver) {
      try {
        await ways[index % ways.length]?.();
        this.#written[index] += 1;
      } catch (error) {
        this.failed += 1;
        if (!(error instanceof Fault) || error.reaction !== 'retry') this.wrong.push(error);
      }
    }
  }
}

async function runOf(client: RedisClient): Promise<string | undefined> {
  return /run_id:(\w+)/.exec(await client.info('server'))?.[1];
}

let pair: RedisPair;

beforeEach(async () => {
  pair = await RedisPair.start();
});

afterEach(() => pair.stop());

test('writes go on after the primary was demoted, each acknowledged one once', async () => {
  const load = new Load([pair.open(), pair.open(), pair.open({ commandTimeoutMs: 250 })]);
  await load.more();
  await pair.failOver();
  await load.more();
  await pair.failOver();
  await load.more();
  await load.stop();
  const written = Number((await pair.ask('GET counter')).split('\r\n')[1]);
  expect(load.wrong).toEqual([]);
  expect(written).toBeGreaterThanOrEqual(load.acknowledged);
  expect(written).toBeLessThanOrEqual(load.acknowledged + load.failed);
});

test('a client that only reads leaves a server that was demoted', async () => {
  const reader = pair.open();
  const before = await runOf(reader);
  await pair.failOver();
  await until(async () => (await runOf(reader)) !== before);
  expect(await reader.info('replication')).toContain('role:master');
});

test('a ledger is not open on a server that was promoted again, since it lacks what another one had', async () => {
  const ledger = openLedger(pair.open(), redisKeys('pm'));
  const reserve = (order: number) =>
    ledger.reserve({
      orderId: orderIdFromBytes(Buffer.alloc(32, order)),
      wallet: walletFromBytes(Buffer.alloc(20, 1)),
      amountMicro: 0,
      partition: 0,
      kind: 'order',
      market: 1,
      acceptedAtMs: 1_000,
    });
  const plan = { id: 'plan', generation: 1 };
  await pair.ask(`HSET ${redisKeys('pm').ledgerMarks} transfers:0:generation 1`);
  await ledger.planRebuild(plan);
  expect(await ledger.open(plan, [])).toBe(true);
  await pair.follow();
  expect(await ledger.isOfEarlierLife()).toBe(false);
  await pair.promote();
  // On the former primary, which does not know yet: it is lost with its demotion.
  expect((await reserve(1)).outcome).toBe('reserved');
  await pair.follow();
  await pair.promote();
  expect(await pair.ask(`HLEN ${redisKeys('pm').pending}`)).toBe(':0\r\n');
  await until(async () => (await ledger.isOfEarlierLife()) === true);
  expect(await reserve(2)).toMatchObject({ outcome: 'not_ready', generation: 0 });
});

test('with a Sentinel writes go on after its failover', async () => {
  const load = new Load([pair.open({ url: await pair.startSentinel() })]);
  await load.more();
  await pair.failOverBySentinel();
  await load.more();
  await load.stop();
  expect(load.wrong).toEqual([]);
});
