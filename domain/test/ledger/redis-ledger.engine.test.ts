import { Fault } from '@pm/kit/fault';
import { silentLog } from '@pm/kit/log';
import { defineScript, openRedis, type RedisClient } from '@pm/kit/redis';
import { redisKeys } from '@pm/schemas/redis/keys';
import { engineUrl } from '../../../kit/test/engines.ts';
import type { Ledger } from '../../src/ledger/ledger.io.ts';
import {
  ledgerCallItemsMax,
  type MarketBreach,
  type Send,
  sendersMax,
  withdrawalsLane,
} from '../../src/ledger/ledger.ts';
import { reserveLua } from '../../src/ledger/ledger-lua.ts';
import { openLedger } from '../../src/ledger/redis-ledger.io.ts';
import { LedgerModel } from '../../src/testing/ledger-model.ts';
import { History, orderOf, type Step, transferOf, walletOf } from './history.ts';

const keys = redisKeys('ledger-test');
let redis: RedisClient;
let ledger: Ledger;

beforeAll(() => {
  redis = openRedis({ url: engineUrl('REDIS'), log: silentLog });
});

/** Other suites share this Redis: only our own keys go. */
async function clear(): Promise<void> {
  const left = await redis.keys('ledger-test:*');
  if (left.length > 0) await redis.del(...left);
}

beforeEach(async () => {
  await clear();
  ledger = openLedger(redis, keys);
});

afterAll(() => redis?.quit());

/** Result of a step, or the code of its fault. */
async function answer(run: () => unknown): Promise<unknown> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof Fault) return error.code;
    throw error;
  }
}

/** Every send that a ledger has given a name, in order; the same number is the same send on both sides. */
class Taken {
  readonly #on: Ledger | LedgerModel;
  readonly #sends: Send[] = [];

  constructor(on: Ledger | LedgerModel) {
    this.#on = on;
  }

  async step(step: Step): Promise<unknown> {
    const on = this.#on;
    switch (step.kind) {
      case 'reserve': {
        const { orderId: id, partition } = step.reservation;
        return this.#named(await on.reserve(step.reservation), { id, partition });
      }
      case 'withdraw': {
        const send = { id: step.withdrawal.transferId, partition: withdrawalsLane };
        return this.#named(await on.reserveWithdrawal(step.withdrawal), send);
      }
      case 'cancel': {
        const send = this.#sends[step.reservation];
        return send === undefined ? null : on.cancelReservation(send);
      }
      case 'release':
        return on.releaseWithdrawals(step.beforeMs);
      case 'executions':
        return on.applyExecutions(step.piece);
      case 'transfers':
        return on.applyTransfers(step.piece);
      case 'close':
        return on.close();
      case 'plan':
        return on.planRebuild(step.plan);
      case 'open':
        return on.open(step.plan, [0, 1]);
    }
  }

  /** The answer without the name, which each side gives by its own rule. */
  #named<T extends { readonly sender: string }>(answer: T, send: Omit<Send, 'sender'>) {
    const { sender, ...rest } = answer;
    this.#sends.push({ ...send, sender: sender === '' ? 'none' : sender });
    return rest;
  }
}

const sorted = (breaches: readonly MarketBreach[]) =>
  [...breaches].sort((one, other) => one.market.localeCompare(other.market));

async function expectSame(fold: LedgerModel): Promise<void> {
  for (let wallet = 0; wallet < 4; wallet += 1)
    expect(await ledger.balance(walletOf(wallet))).toEqual(fold.balance(walletOf(wallet)));
  for (const partition of [0, 1])
    expect(await ledger.place(partition)).toEqual(fold.place(partition));
  for (const partition of [0, 1])
    for (const topic of ['executions', 'transfers'] as const) {
      expect(await ledger.mark(topic, partition)).toBe(fold.mark(topic, partition));
      expect(await ledger.generation(topic, partition)).toBe(fold.generation(topic, partition));
    }
  expect(await ledger.state()).toEqual(fold.state());
  expect([...(await ledger.insolventWallets())].sort()).toEqual(
    [...fold.insolventWallets()].sort(),
  );
  expect(sorted(await ledger.marketBreaches())).toEqual(sorted(fold.marketBreaches()));
  const before = Number.MAX_SAFE_INTEGER;
  expect(await ledger.newestWithdrawal(before)).toBe(fold.newestWithdrawal(before));
  for (let id = 0; id < 40; id += 1)
    expect(await ledger.appliedTransfer(transferOf(id))).toEqual(
      fold.appliedTransfer(transferOf(id)),
    );
}

/** Result of a step, in one word. */
function outcomeOf(answer: unknown): string {
  if (typeof answer !== 'object' || answer === null) return String(answer);
  const { outcome, unpaid, voided } = answer as {
    outcome?: string;
    unpaid?: readonly unknown[];
    voided?: readonly unknown[];
  };
  if (unpaid !== undefined && unpaid.length > 0) return 'unpaid';
  return voided !== undefined && voided.length > 0 ? 'void' : (outcome ?? '');
}

/** The ledger, open, with so much free money of wallet 1. */
async function openWith(freeMicro: number): Promise<void> {
  const wallet = walletOf(1);
  const deposit = {
    transferId: transferOf(1),
    wallet,
    amountMicro: freeMicro,
    generation: 0,
    timeMs: 1_000,
  };
  const fence = { transferId: transferOf(2), wallet, amountMicro: 0, generation: 1, timeMs: 1_000 };
  await ledger.applyTransfers({ fromOffset: 0, toOffset: 2, transfers: [deposit, fence] });
  const plan = { id: 'first', generation: 1 };
  await ledger.planRebuild(plan);
  expect(await ledger.open(plan, [])).toBe(true);
}

describe('the ledger in Redis', () => {
  test('agrees with the fold in random histories of holds, answers, repetitions, gaps and orphans', async () => {
    let opened = 0;
    const seen = new Set<string>();
    for (let seed = 1; seed <= 8; seed += 1) {
      await clear();
      const fold = new LedgerModel();
      const history = new History(seed);
      const [real, naive] = [new Taken(ledger), new Taken(fold)];
      for (let count = 0; count < 600; count += 1) {
        const step = history.step();
        const came = await answer(() => real.step(step));
        expect(came).toEqual(await answer(() => naive.step(step)));
        seen.add(outcomeOf(came));
        if (count % 40 === 39) await expectSame(fold);
      }
      await expectSame(fold);
      opened += fold.state().generation > 0 ? 1 : 0;
    }
    expect(opened).toBeGreaterThan(4);
    for (const outcome of [
      'reserved',
      'already',
      'conflict',
      'insufficient',
      'frozen',
      'applied',
      'unpaid',
      'void',
    ])
      expect(seen).toContain(outcome);
  }, 60_000);

  test('takes the same command twice as one sender', async () => {
    await openWith(100);
    const reserve = defineScript(redis, 'ledgerReserveTwice', reserveLua, 4);
    const scriptKeys = [keys.ledgerState, keys.pending, keys.waiting(0), keys.wallet(walletOf(1))];
    const asked = [orderOf(1), 60, 1_000, `${walletOf(1)} 0 order 7`, 'sender', sendersMax];
    const args = [...asked, keys.ledgerMarks, keys.ledgerMarkOf(0)];
    expect(await reserve.run(scriptKeys, args)).toEqual(['reserved', '1', '0']);
    expect(await reserve.run(scriptKeys, args)).toEqual(['already', '1', '0']);
    const send = { id: orderOf(1), partition: 0, sender: 'sender' };
    expect(await ledger.cancelReservation(send)).toBe(true);
    expect(await ledger.cancelReservation(send)).toBe(false);
    expect((await ledger.balance(walletOf(1))).pendingMicro).toBe(0);
  });

  test('of another run of Redis holds for no withdrawal and pays those on the log as they are', async () => {
    await openWith(100);
    const withdrawal = { wallet: walletOf(1), amountMicro: 60, acceptedAtMs: 1_000 };
    const reserved = await ledger.reserveWithdrawal({ ...withdrawal, transferId: transferOf(5) });
    expect(reserved.outcome).toBe('reserved');
    // As after a failover to a replica that did not get the reservation.
    await redis.hset(keys.ledgerState, 'life', 'another');
    await redis.del(keys.pending, keys.waiting(withdrawalsLane));
    const next = await ledger.reserveWithdrawal({ ...withdrawal, transferId: transferOf(6) });
    expect(next.outcome).toBe('not_ready');
    const written = { transferId: transferOf(5), wallet: walletOf(1), amountMicro: -60 };
    const transfers = [{ ...written, timeMs: 1_000, generation: 1 }];
    expect(await ledger.applyTransfers({ fromOffset: 2, toOffset: 3, transfers })).toEqual({
      outcome: 'applied',
      unpaid: [],
      voided: [],
    });
    expect((await ledger.balance(walletOf(1))).freeMicro).toBe(40);
  });

  test('refuses a new withdrawal while a market has a gap, and not one that is pending, which is paid', async () => {
    await openWith(100);
    const transferId = transferOf(5);
    const withdrawal = { transferId, wallet: walletOf(1), amountMicro: 60, acceptedAtMs: 1_000 };
    expect((await ledger.reserveWithdrawal(withdrawal)).outcome).toBe('reserved');
    const gap = { market: '7', token0Micro: 1, token1Micro: 0, lockedMicro: 0, payout0: null };
    await ledger.applyExecutions({
      partition: 0,
      fromOffset: 0,
      toOffset: 1,
      clockMs: 1_000,
      bookAgeLimitMs: 2_000,
      answered: [],
      moves: [],
      markets: [{ ...gap, suspects: [] }],
      generation: 0,
    });
    const other = { ...withdrawal, transferId: transferOf(6), amountMicro: 10 };
    expect((await ledger.reserveWithdrawal(other)).outcome).toBe('frozen');
    expect((await ledger.reserveWithdrawal(withdrawal)).outcome).toBe('already');
    expect((await ledger.balance(walletOf(1))).pendingMicro).toBe(60);
    const written = { transferId, wallet: walletOf(1), amountMicro: -60 };
    const transfers = [{ ...written, timeMs: 1_000, generation: 1 }];
    await ledger.applyTransfers({ fromOffset: 2, toOffset: 3, transfers });
    expect(await ledger.reserveWithdrawal(withdrawal)).toMatchObject({
      outcome: 'applied',
      paidMicro: 60,
    });
  });

  test('takes no more senders under one id than the limit, and another one when one is taken back', async () => {
    await openWith(100);
    const reservation = {
      orderId: orderOf(1),
      wallet: walletOf(1),
      amountMicro: 60,
      partition: 0,
      kind: 'order',
      market: 7,
      acceptedAtMs: 1_000,
    } as const;
    const first = await ledger.reserve(reservation);
    for (let count = 1; count < sendersMax; count += 1) await ledger.reserve(reservation);
    expect((await ledger.reserve(reservation)).outcome).toBe('busy');
    const send = { id: orderOf(1), partition: 0, sender: first.sender };
    expect(await ledger.cancelReservation(send)).toBe(true);
    expect((await ledger.reserve(reservation)).outcome).toBe('already');
  });

  test('applies a record beyond the limit of one call in parts, each part once', async () => {
    const count = ledgerCallItemsMax + 500;
    const moves = Array.from({ length: count }, (_, index) => ({
      wallet: walletOf(index),
      freeMicro: index,
      heldMicro: -index,
    }));
    const answered = Array.from({ length: count }, (_, index) => orderOf(index));
    const piece = {
      partition: 3,
      fromOffset: 0,
      toOffset: 1,
      clockMs: 1_700_000_000_500,
      bookAgeLimitMs: 0,
      answered,
      moves,
      markets: [],
      generation: 0,
    };
    await expect(ledger.applyExecutions({ ...piece, toOffset: 2 })).rejects.toThrow(
      'ledger_batch_too_large',
    );
    // As if the process had died after the first part.
    await ledger.applyExecutions(piece);
    await redis.hset(keys.ledgerMarks, 'executions:3', 0, 'executions:3:part', '2/3');
    expect(await ledger.applyExecutions(piece)).toBe('applied');
    expect(await ledger.applyExecutions(piece)).toBe('repeated');
    expect((await ledger.balance(walletOf(count - 1))).freeMicro).toBe(count - 1);
    expect(await ledger.mark('executions', 3)).toBe(1);
    const clock = await redis.hget(keys.ledgerMarks, keys.ledgerClockOf(3));
    expect(clock).toBe('1700000000500');
  });

  test('takes nothing else while a record is applied in parts', async () => {
    await redis.hset(keys.ledgerMarks, 'executions:3:part', '1/3');
    const piece = {
      partition: 3,
      fromOffset: 0,
      toOffset: 1,
      clockMs: 0,
      bookAgeLimitMs: 0,
      answered: [],
      moves: [],
      markets: [],
      generation: 0,
    };
    await expect(ledger.applyExecutions(piece)).rejects.toThrow('ledger_gap');
  });

  test('applies many transfers in bounded calls', async () => {
    const count = ledgerCallItemsMax * 2 + 10;
    const transfers = Array.from({ length: count }, (_, index) => ({
      transferId: transferOf(index),
      wallet: walletOf(index % 4),
      amountMicro: 1_000_000_000_000_000,
      generation: 0,
      timeMs: 1_000,
    }));
    const few = transfers.slice(0, 20);
    expect(await ledger.applyTransfers({ fromOffset: 0, toOffset: 20, transfers: few })).toEqual({
      outcome: 'applied',
      unpaid: [],
      voided: [],
    });
    expect((await ledger.balance(walletOf(0))).freeMicro).toBe(5_000_000_000_000_000);
    const small = transfers.map((one) => ({ ...one, amountMicro: 1 }));
    await ledger.applyTransfers({ fromOffset: 20, toOffset: 20 + count, transfers: small });
    expect(await ledger.mark('transfers', 0)).toBe(20 + count);
  });

  test('refuses a balance beyond 2^53 before it writes anything', async () => {
    const max = Number.MAX_SAFE_INTEGER;
    const transfers = [
      {
        transferId: transferOf(1),
        wallet: walletOf(1),
        amountMicro: max,
        generation: 0,
        timeMs: 1_000,
      },
    ];
    await ledger.applyTransfers({ fromOffset: 0, toOffset: 1, transfers });
    const moves = [
      { wallet: walletOf(2), freeMicro: 1, heldMicro: 0 },
      { wallet: walletOf(1), freeMicro: 1, heldMicro: 0 },
    ];
    const piece = {
      partition: 0,
      fromOffset: 0,
      toOffset: 1,
      clockMs: 0,
      bookAgeLimitMs: 0,
      answered: [],
      moves,
      markets: [],
      generation: 0,
    };
    await expect(ledger.applyExecutions(piece)).rejects.toThrow('ledger_overflow');
    expect((await ledger.balance(walletOf(2))).freeMicro).toBe(0);
    expect((await ledger.balance(walletOf(1))).freeMicro).toBe(max);
  });
});
