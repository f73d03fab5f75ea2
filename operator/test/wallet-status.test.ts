import { checksumAddress, type WalletAddress } from '@pm/schemas/ids';
import type { ExecutionEvent } from '@pm/schemas/log/executions';
import { refusalText } from '@pm/schemas/refusals';
import {
  answered,
  call,
  conditionId,
  type IngressUnderTest,
  nowSeconds,
  owner,
  placeOne,
  signedItem,
  testOrder,
} from '../../ingress/test/ingress-fixture.ts';
import { ask, attestation, join } from '../../ingress/test/keys-fixture.ts';
import { Processes } from '../../ingress/test/processes-fixture.ts';
import { walletOf } from '../../ingress/test/wallet-fixture.ts';
import { sweepBanned } from '../src/sweep.io.ts';

const processes = new Processes();
let ingress: IngressUnderTest;

beforeEach(async () => {
  ingress = await processes.first();
  await ingress.bindings.bind([{ wallet: proxy, owner: wallet }], 'ann');
});
afterAll(() => processes.close());

const wallet = owner.address as WalletAddress;
const address = checksumAddress(wallet);
const proxy = `0x${'44'.repeat(20)}` as WalletAddress;
const settled = () => new Promise((resolve) => setImmediate(resolve));

async function set(of: WalletAddress, status: 'NORMAL' | 'CLOSED_ONLY' | 'BANNED'): Promise<void> {
  await ingress.stores.statusWriter.set(of, { status, reason: 'a test' });
  await settled();
}

const buy = () => signedItem(testOrder()).item;
const sell = (maker: string = owner.address, signatureType = 0) =>
  signedItem(
    testOrder({
      maker,
      signatureType,
      side: 'SELL',
      makerAmount: '10000000',
      takerAmount: '5200000',
    }),
  ).item;

const closedOnly = { url: '/auth/ban-status/closed-only', method: 'GET' } as const;

test('a closed-only wallet sells and cancels, and buys nothing', async () => {
  await set(wallet, 'CLOSED_ONLY');
  for (const process of [ingress, await processes.next()]) {
    const refused = await placeOne(process, buy());
    expect([refused.status, refused.body.code, refused.body.error]).toEqual([
      400,
      'closed_only',
      refusalText('closed_only', { address }),
    ]);
    expect(refused.body).toMatchObject({ success: false, status: '', orderID: '' });
    expect((await placeOne(process, sell())).body).toMatchObject({ success: true });
    process.fakes.answer = () => answered([]);
    expect((await call(process, { method: 'DELETE', url: '/cancel-all' })).status).toBe(200);
    expect((await call(process, closedOnly)).body).toEqual({ closedOnly: true, closed_only: true });
  }
});

test('a wallet that the solvency check has closed sells and cancels, until an operator clears it', async () => {
  processes.accounts.closed.add(wallet);
  expect((await placeOne(ingress, buy())).body.code).toBe('closed_only');
  expect((await placeOne(ingress, sell())).body).toMatchObject({ success: true });
  expect(ingress.stores.walletStatus.of(wallet)).toBe('CLOSED_ONLY');
  await set(wallet, 'BANNED');
  expect(ingress.stores.walletStatus.of(wallet)).toBe('BANNED');
  await set(wallet, 'NORMAL');
  processes.accounts.closed.delete(wallet);
  expect((await placeOne(ingress, buy())).body).toMatchObject({ success: true });
});

test('a process that has just started does not leave it to the matcher', async () => {
  await set(wallet, 'CLOSED_ONLY');
  // The orders were signed after it had started, by a clock that may be ahead.
  const fresh = await processes.next(nowSeconds * 1_000 - 60_000);
  expect((await placeOne(fresh, buy())).body.code).toBe('closed_only');
  await set(proxy, 'BANNED');
  expect((await placeOne(fresh, sell(proxy, 1))).body.code).toBe('user_banned');
  expect(fresh.fakes.sent).toHaveLength(0);
  expect(fresh.fakes.givenBack).toEqual(fresh.fakes.reserved);
});

test('a banned wallet changes nothing, with any credentials, and reads what is its own', async () => {
  await set(wallet, 'BANNED');
  const refusal = [400, { error: refusalText('user_banned', { address }), code: 'user_banned' }];
  const writes = [
    ['POST', '/order'],
    ['POST', '/orders'],
    ['DELETE', '/order'],
    ['DELETE', '/orders'],
    ['DELETE', '/cancel-all'],
    ['DELETE', '/cancel-market-orders'],
    ['DELETE', '/auth/api-key'],
    ['POST', '/auth/api-key/settings'],
    ['POST', '/auth/readonly-api-key'],
    ['DELETE', '/auth/readonly-api-key'],
    ['POST', '/auth/builder-api-key'],
    ['DELETE', '/auth/builder-api-key'],
    ['POST', '/api/v1/agents'],
    ['POST', '/api/v1/agents/x/pause'],
    ['DELETE', '/api/v1/agents/x'],
  ] as const;
  for (const [method, url] of writes) {
    const answer = await call(ingress, { method, url, body: '{}' });
    expect([url, answer.status, answer.body]).toEqual([url, ...refusal]);
  }
  for (const method of ['POST', 'DELETE'] as const) {
    const bySignature = { method, url: '/auth/api-key', headers: attestation(owner) };
    const answer = await ask(ingress, bySignature);
    expect([answer.status, answer.body]).toEqual(refusal);
  }
  expect((await call(ingress, closedOnly)).body).toEqual({ closedOnly: true, closed_only: true });
  expect((await call(ingress, { method: 'GET', url: '/auth/api-keys' })).status).toBe(200);
  expect(ingress.fakes.sent).toHaveLength(0);
  const stranger = { service_passphrase: 'f'.repeat(64) };
  expect((await call(ingress, { method: 'POST', url: '/order', headers: stranger })).status).toBe(
    401,
  );
});

test('the wallet that pays is asked too', async () => {
  expect((await placeOne(ingress, sell(proxy, 1))).body).toMatchObject({ success: true });
  await set(proxy, 'BANNED');
  const refused = await placeOne(ingress, sell(proxy, 1));
  expect([refused.status, refused.body.error]).toEqual([
    400,
    refusalText('user_banned', { address: checksumAddress(proxy) }),
  ]);
  expect((await placeOne(ingress, buy())).body).toMatchObject({ success: true });
});

test('a status counts in every process and after a restart, and can be taken back', async () => {
  const peer = await processes.next();
  await set(wallet, 'BANNED');
  for (const process of [ingress, peer, await processes.next()]) {
    expect((await placeOne(process, buy())).body.code).toBe('user_banned');
  }
  await set(wallet, 'NORMAL');
  for (const process of [ingress, peer, await processes.next()]) {
    expect((await placeOne(process, buy())).body).toMatchObject({ success: true });
  }
});

describe('account actions', () => {
  const act = (action: string, of: string) =>
    call(ingress, {
      method: 'POST',
      url: `/account/${action}`,
      body: JSON.stringify({
        wallet: of,
        condition_id: conditionId,
        ...(action === 'redeem' ? {} : { amount: '5' }),
      }),
    });

  it('of a banned wallet are refused, also when its owner asks', async () => {
    await set(proxy, 'BANNED');
    for (const action of ['split', 'merge', 'redeem', 'withdrawals']) {
      const answer = await act(action, proxy);
      const error = refusalText('user_banned', { address: proxy });
      expect([action, answer.status, answer.body.error]).toEqual([action, 400, error]);
    }
    expect(ingress.fakes.sent).toHaveLength(0);
  });

  it('of a closed-only wallet are all but new positions', async () => {
    await set(wallet, 'CLOSED_ONLY');
    expect((await act('split', wallet)).body.code).toBe('closed_only');
    ingress.fakes.answer = () => answered([]);
    for (const action of ['merge', 'withdrawals']) {
      expect((await act(action, wallet)).body.code).not.toBe('closed_only');
    }
  });
});

test('orders of a banned wallet and of its owner are swept off every book, until ingress knows of the ban', async () => {
  await placeOne(ingress, sell(proxy, 1));
  ingress.fakes.sent.splice(0);
  const canceled = { orderId: Buffer.alloc(32, 3) } as unknown as ExecutionEvent;
  ingress.fakes.answer = () => answered([{ ...canceled, kind: 'OrderCanceled' } as ExecutionEvent]);
  const { cancels, money } = ingress.services;
  const pause = async (ms: number) => {
    ingress.fakes.nowMs += ms;
  };
  const owners = { ownerOf: () => wallet };
  const services = { ...cancels, clock: money.clock, owners, pause };
  const startMs = ingress.fakes.nowMs;
  expect(await sweepBanned(proxy, services)).toEqual({ canceled: 4, isUnconfirmed: false });
  const sweptAt = (acceptedAtMs: number) =>
    [proxy, wallet].flatMap((signer) =>
      [0, 1, 2].map((partition) => ({
        partition,
        command: {
          kind: 'CancelOrders',
          market: -1,
          outcome: -1,
          apiKey: null,
          signer: Buffer.from(signer.slice(2), 'hex'),
          acceptedAtMs,
        },
      })),
    );
  // Orders that an ingress took before it read the ban are behind the fence of the second one.
  expect(ingress.fakes.nowMs).toBeGreaterThan(startMs);
  expect(ingress.fakes.sent).toMatchObject([...sweptAt(startMs), ...sweptAt(ingress.fakes.nowMs)]);
  ingress.fakes.answer = () => ({ kind: 'pending' });
  expect(await sweepBanned(wallet, services)).toEqual({ canceled: 0, isUnconfirmed: true });
});

test('the others are not touched', async () => {
  await set(wallet, 'BANNED');
  const other = await join(ingress, walletOf(9));
  expect((await other.call({ ...closedOnly })).body.closed_only).toBe(false);
  expect((await other.call({ method: 'POST', url: '/auth/builder-api-key' })).status).toBe(200);
});
