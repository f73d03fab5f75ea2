import { silentLog } from '@pm/kit/log';
import { openRedis, type RedisClient } from '@pm/kit/redis';
import { redisKeys } from '@pm/schemas/redis/keys';
import { engineUrl } from '../../../kit/test/engines.ts';
import type { Ledger } from '../../src/ledger/ledger.io.ts';
import { LedgerFold } from '../../src/ledger/ledger-fold.ts';
import {
  encodeLedgerImage,
  type LedgerImage,
  LedgerImageReader,
} from '../../src/ledger/ledger-image.ts';
import { openLedger } from '../../src/ledger/redis-ledger.io.ts';
import { LedgerRestore } from '../../src/ledger/restore-ledger.io.ts';
import { History, orderOf, walletOf } from './history.ts';

let redis: RedisClient;
const whole = 'restore-whole';
const part = 'restore-part';
const anyMark = { topic: 'executions', partition: 0, mark: 0 } as const;

beforeAll(() => {
  redis = openRedis({ url: engineUrl('REDIS'), log: silentLog });
});
beforeEach(clear);
afterAll(async () => {
  await clear();
  await redis?.quit();
});

async function clear(): Promise<void> {
  for (const prefix of [whole, part]) {
    const left = await redis.keys(`${prefix}:*`);
    if (left.length > 0) await redis.del(...left);
  }
}

const ledgerAt = (prefix: string): Ledger => openLedger(redis, redisKeys(prefix));
const restoreAt = (prefix: string) => new LedgerRestore(redis, redisKeys(prefix));

/** Moves the last step of the restore that is under way: as if the clock of Redis had been set. */
async function moveStep(byMs: number): Promise<void> {
  await redis.hincrby(redisKeys(part).ledgerState, 'restoreMs', byMs);
}

/** Longer than a restore without a step is waited for, milliseconds. */
const leaseOverMs = 11_000;

/** All that the ledger keeps under a prefix, but its state; what is 0 counts as missing. */
async function contentOf(prefix: string): Promise<ReadonlyMap<string, unknown>> {
  const found = new Map<string, unknown>();
  for (const key of (await redis.keys(`${prefix}:ledger3:*`)).sort()) {
    if (key.endsWith(':state')) continue;
    const isSet = (await redis.type(key)) === 'set';
    const content = isSet
      ? (await redis.smembers(key)).sort()
      : Object.entries(await redis.hgetall(key))
          .filter(([, value]) => value !== '0')
          .sort();
    if (content.length > 0) found.set(key.slice(prefix.length), content);
  }
  return found;
}

/** The next step that the log of a ledger may have: it begins at the mark. */
async function nextOf(history: History, ledger: Ledger) {
  for (;;) {
    const step = history.step();
    if (step.kind !== 'executions' && step.kind !== 'transfers') continue;
    const partition = step.kind === 'executions' ? step.piece.partition : 0;
    if ((await ledger.mark(step.kind, partition)) === step.piece.fromOffset) return step;
  }
}

/** Applies what follows in the log to a closed ledger, and to others the same. */
async function apply(
  history: History,
  steps: number,
  [first, ...others]: readonly [Ledger, ...(Ledger | LedgerFold)[]],
): Promise<void> {
  for (let done = 0; done < steps; done += 1) {
    const step = await nextOf(history, first);
    for (const one of [first, ...others])
      if (step.kind === 'executions') await one.applyExecutions(step.piece);
      else await one.applyTransfers(step.piece);
  }
}

function readBack(image: LedgerImage): LedgerImage {
  const reader = new LedgerImageReader();
  for (const _ of reader.read(Buffer.concat([...encodeLedgerImage(image)])));
  return reader.image;
}

describe('an image of the ledger', () => {
  test.each([1, 2, 3, 4, 5, 6])(
    'and the log after it give what the whole log gives (seed %i)',
    async (seed) => {
      const history = new History(seed);
      const fold = new LedgerFold();
      await apply(history, 200, [ledgerAt(whole), fold]);
      expect(await restoreAt(part).run(readBack(fold), anyMark)).toBe('restored');
      expect(await contentOf(part)).toEqual(await contentOf(whole));
      const later = new LedgerFold(readBack(fold));
      await apply(history, 200, [ledgerAt(whole), ledgerAt(part), later]);
      expect(await contentOf(part)).toEqual(await contentOf(whole));
      expect(later.markets).toEqual(
        new Map(Object.entries(await redis.hgetall(redisKeys(whole).ledgerMarkets))),
      );
    },
  );

  test('takes the place of an older ledger with its reservations, which is closed', async () => {
    const history = new History(7);
    const fold = new LedgerFold();
    await apply(history, 60, [ledgerAt(whole), fold]);
    const older = ledgerAt(part);
    const first = { ...clockOf(), partition: 0, fromOffset: 0, toOffset: 1 };
    const money = { wallet: walletOf(90), freeMicro: 500, heldMicro: 0 };
    await older.applyExecutions({
      ...first,
      answered: [],
      moves: [money],
      markets: [],
      generation: 1,
    });
    const fence = {
      transferId: '0x00',
      wallet: walletOf(0),
      amountMicro: 0,
      timeMs: 0,
      generation: 1,
    };
    await older.applyTransfers({ fromOffset: 0, toOffset: 1, transfers: [fence] });
    const plan = { id: 'plan', generation: 1 };
    await older.planRebuild(plan);
    expect(await older.open(plan, [0])).toBe(true);
    const reservation = { orderId: orderOf(1), wallet: walletOf(90), amountMicro: 100 };
    const order = {
      ...reservation,
      partition: 0,
      kind: 'order',
      market: 1,
      acceptedAtMs: 1,
    } as const;
    expect(await older.reserve(order)).toMatchObject({ outcome: 'reserved' });
    expect(await restoreAt(part).run(fold, { ...anyMark, mark: 1 })).toBe('restored');
    expect(await contentOf(part)).toEqual(await contentOf(whole));
    expect(await older.reserve(order)).toMatchObject({ outcome: 'not_ready' });
    expect(await older.state()).toEqual({ generation: 1, ready: false });
  });

  test('is not written where the mark has moved since the loss was found', async () => {
    const history = new History(8);
    await apply(history, 40, [ledgerAt(part)]);
    const before = await contentOf(part);
    expect(await restoreAt(part).run(new LedgerFold(), { ...anyMark, mark: -1 })).toBe('moved');
    expect(await contentOf(part)).toEqual(before);
  });

  test('lets nothing be applied before its end, and ends a restore that was overtaken', async () => {
    const fold = new LedgerFold();
    await apply(new History(9), 60, [ledgerAt(whole), fold]);
    let overtaking: Promise<unknown> | null = null;
    const refused: unknown[] = [];
    const wallets = new Map(fold.wallets);
    const slow: LedgerImage = {
      ...imageOf(fold),
      wallets: {
        *[Symbol.iterator]() {
          const piece = { ...clockOf(), partition: 0, fromOffset: 0, toOffset: 1 };
          const nothing = { answered: [], moves: [], markets: [], generation: 0 };
          ledgerAt(part)
            .applyExecutions({ ...piece, ...nothing })
            .catch((error: unknown) => refused.push(error));
          // Both are sent before the next step of the one that is overtaken.
          void moveStep(-leaseOverMs);
          overtaking = restoreAt(part).run(fold, anyMark);
          yield* wallets;
        },
      } as unknown as LedgerImage['wallets'],
    };
    const overtaken = restoreAt(part).run(slow, anyMark);
    await expect(overtaken).rejects.toMatchObject({
      code: 'ledger_restore_lost',
      reaction: 'release',
    });
    expect(await overtaking).toBe('restored');
    expect(refused).toMatchObject([{ code: 'ledger_restoring', reaction: 'release' }]);
    expect(await contentOf(part)).toEqual(await contentOf(whole));
  });

  test('goes on when the clock of Redis was set back by an hour since the step of one that died', async () => {
    const [seconds] = await redis.time();
    const stepMs = String(Number(seconds) * 1_000 + 3_600_000);
    await redis.hset(redisKeys(part).ledgerState, 'restore', 'dead', 'restoreMs', stepMs);
    expect(await restoreAt(part).run(new LedgerFold(), anyMark)).toBe('restored');
  });

  test('is busy while another one lives', async () => {
    const [seconds] = await redis.time();
    const stepMs = String(Number(seconds) * 1_000);
    await redis.hset(redisKeys(part).ledgerState, 'restore', 'other', 'restoreMs', stepMs);
    const restore = restoreAt(part);
    expect([await restore.isUnderWay(), await restore.isBusy()]).toEqual([true, true]);
    expect(await restore.run(new LedgerFold(), anyMark)).toBe('busy');
    await moveStep(-leaseOverMs);
    expect(await restore.isBusy()).toBe(false);
    expect(await restore.run(new LedgerFold(), anyMark)).toBe('restored');
    expect(await restore.isUnderWay()).toBe(false);
  });
});

const clockOf = () => ({ clockMs: 0, bookAgeLimitMs: 2_000 });

const imageOf = ({ places, wallets, transfers, markets, breaches }: LedgerImage): LedgerImage => {
  return { places, wallets, transfers, markets, breaches };
};
