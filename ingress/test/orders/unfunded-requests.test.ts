import { Buffer } from 'node:buffer';
import { FundedWallets } from '@pm/domain/orders/funded-wallets';
import type { Caller } from '@pm/domain/ratelimit/callers';
import type { ExecutionEvent } from '@pm/schemas/log/executions';
import type { PlaceOrder } from '@pm/schemas/log/orders';
import type { RateRule } from '@pm/schemas/rate-limits';
import type { RefusalCode } from '@pm/schemas/refusals';
import { openLimiter, TestClock } from '../../../domain/test/ratelimit/fixture.ts';
import { PlainStore } from '../../../domain/test/ratelimit/plain-store.ts';
import { UnfundedRequests } from '../../src/orders/unfunded-requests.io.ts';
import {
  answered,
  type IngressUnderTest,
  openIngress,
  placeOne,
  signedItem,
  testOrder,
} from '../ingress-fixture.ts';

const ofWallet = 100;
const ofAddress = 200;

function openProcesses(count: number) {
  const clock = new TestClock();
  const store = new PlainStore(clock.nowMs);
  return {
    clock,
    processes: Array.from({ length: count }, () => {
      const funded = new FundedWallets();
      return { funded, unfunded: new UnfundedRequests(openLimiter(store, clock, count), funded) };
    }),
  };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

const noTokens: RefusalCode = 'insufficient_balance_or_allowance';

async function refuse(
  unfunded: UnfundedRequests,
  waiter: { wallet: string; client: string },
  times: number,
  code = noTokens,
): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    unfunded.refused(waiter, code);
    await settled();
  }
}

test('a wallet whose sells find no tokens has to wait, at every process, until the window ends', async () => {
  const { clock, processes } = openProcesses(2);
  const [one, other] = processes;
  const waiter = { wallet: 'w', client: 'a' };
  await refuse(one?.unfunded as UnfundedRequests, waiter, ofWallet / 2);
  await refuse(other?.unfunded as UnfundedRequests, waiter, ofWallet / 2);
  expect(one?.unfunded.waitSeconds(waiter)).toBeNull();
  await refuse(one?.unfunded as UnfundedRequests, waiter, 1);
  await refuse(other?.unfunded as UnfundedRequests, waiter, 1);
  for (const { unfunded } of processes) expect(unfunded.waitSeconds(waiter)).toBeGreaterThan(0);
  clock.pass(10_000);
  for (const { unfunded } of processes) expect(unfunded.waitSeconds(waiter)).toBeNull();
});

test('an address is used up for wallets that were counted, not for its other clients', async () => {
  const { processes } = openProcesses(1);
  const [{ unfunded, funded }] = processes as [(typeof processes)[0]];
  for (let wallet = 0; wallet <= ofAddress; wallet += 1) {
    await refuse(unfunded, { wallet: `w${wallet}`, client: 'a' }, 1);
  }
  expect(unfunded.waitSeconds({ wallet: 'w1', client: 'a' })).toBeGreaterThan(0);
  expect(unfunded.waitSeconds({ wallet: 'w1', client: 'b' })).toBeNull();
  expect(unfunded.waitSeconds({ wallet: 'new', client: 'a' })).toBeNull();
  const signer = Buffer.alloc(20, 1);
  const trader = { wallet: `0x${'01'.repeat(20)}`, client: 'a' };
  await refuse(unfunded, trader, 1);
  expect(unfunded.waitSeconds(trader)).toBeGreaterThan(0);
  funded.take([{ kind: 'OrderPlaced', signer } as ExecutionEvent]);
  expect(unfunded.waitSeconds(trader)).toBeNull();
});

test('refusals that say nothing of tokens count against strangers, not against known traders', async () => {
  const { processes } = openProcesses(1);
  const [{ unfunded, funded }] = processes as [(typeof processes)[0]];
  funded.take([{ kind: 'OrderPlaced', signer: Buffer.alloc(20, 1) } as ExecutionEvent]);
  const trader = { wallet: `0x${'01'.repeat(20)}`, client: 'a' };
  await refuse(unfunded, trader, 2 * ofWallet, 'too_late');
  expect(unfunded.waitSeconds(trader)).toBeNull();
  await refuse(unfunded, trader, ofWallet + 1);
  expect(unfunded.waitSeconds(trader)).toBeGreaterThan(0);
  const stranger = { wallet: 's', client: 'b' };
  await refuse(unfunded, stranger, ofWallet + 1, 'too_late');
  expect(unfunded.waitSeconds(stranger)).toBeGreaterThan(0);
});

test('refusals after the tokens were found count for nobody', async () => {
  const { processes } = openProcesses(1);
  const [{ unfunded }] = processes as [(typeof processes)[0]];
  const waiter = { wallet: 'w', client: 'a' };
  for (const code of [
    'too_many_open_orders',
    'post_only_would_cross',
    'fok_not_filled',
    'fak_not_filled',
    'self_trade',
    'fill_limit',
    'internal_error',
  ] as const) {
    await refuse(unfunded, waiter, ofWallet + 1, code);
    expect(unfunded.waitSeconds(waiter)).toBeNull();
  }
});

test('rules of one kind count for the wallet and the address', () => {
  const taken: [Caller['kind'], readonly RateRule[]][] = [];
  const limiter = {
    take: (caller: Caller, rules: readonly RateRule[]) => {
      taken.push([caller.kind, rules]);
      return {
        isAllowed: true,
        rule: rules[0] as RateRule,
        limit: 1,
        remaining: 1,
        resetSeconds: 1,
      };
    },
    isSpent: () => null,
    giveBack: () => {},
    nowMs: () => 0,
  };
  const unfunded = new UnfundedRequests(limiter, new FundedWallets());
  unfunded.refused({ wallet: 'w', client: 'a' }, noTokens);
  expect(taken.map(([kind]) => kind)).toEqual(['wallet', 'network']);
  expect(taken[0]?.[1].map(({ field }) => field)).toEqual([
    'unfunded-requests.10',
    'unfunded-requests.600',
  ]);
});

describe('a placement', () => {
  let ingress: IngressUnderTest;
  beforeEach(async () => {
    ingress = await openIngress();
  });
  afterEach(() => ingress.app.close());

  const sell = { side: 'SELL', makerAmount: '10000000', takerAmount: '5200000' } as const;

  function refusedAs(code: RefusalCode): void {
    ingress.fakes.answer = (command) => {
      const { orderId, maker } = command as PlaceOrder;
      return answered([
        { kind: 'OrderRefused', command: 0, orderId, maker, code } as ExecutionEvent,
      ]);
    };
  }

  test('counts a sell that the matcher refused, and no buy whose money was reserved', async () => {
    refusedAs(noTokens);
    await placeOne(ingress, signedItem(testOrder(sell)).item);
    await placeOne(ingress, signedItem(testOrder()).item);
    expect(ingress.fakes.unfunded.counted).toEqual([noTokens]);
  });

  test('refuses sells of a wallet that has to wait before their signatures, and takes its buys', async () => {
    ingress.fakes.unfunded.wait = 7;
    ingress.fakes.signaturesFull = true;
    const { status, headers, body } = await placeOne(ingress, signedItem(testOrder(sell)).item);
    expect(status).toBe(429);
    expect(headers['retry-after']).toBe('7');
    expect(body).toMatchObject({ success: false, code: 'rate_limited', retry_after_seconds: 7 });
    ingress.fakes.signaturesFull = false;
    expect(ingress.fakes.sent).toEqual([]);
    expect((await placeOne(ingress, signedItem(testOrder()).item)).status).toBe(200);
    expect(ingress.fakes.sent).toHaveLength(1);
  });
});
