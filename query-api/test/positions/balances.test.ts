import { BalanceAllowance } from '@pm/schemas/http/private-reading';
import { familyDomains } from '@pm/schemas/signing';
import { Value } from 'typebox/value';
import { testDomain } from '../../../kit/test/signing-domain.ts';
import { foldHoldings } from '../../src/positions/holdings.ts';
import {
  apiKey,
  condition,
  get,
  openListener,
  proxy,
  safe,
  token,
  World,
  wallet,
} from '../in-memory.ts';

const user = wallet(1);
const bound = wallet(7);
const known = () => {
  const world = new World();
  world.caller = { wallet: user, apiKey: apiKey(1) };
  world.bound.set(user, [bound]);
  world.money.set(user, { freeMicro: 5_000_000, heldMicro: 2_500_000, pendingMicro: 1_000_000 });
  world.money.set(safe, { freeMicro: 9_000_000, heldMicro: 0, pendingMicro: 0 });
  world.money.set(proxy, { freeMicro: 6_000_000, heldMicro: 0, pendingMicro: 0 });
  world.money.set(bound, { freeMicro: 40, heldMicro: 2, pendingMicro: 0 });
  world.holdings.push({ wallet: user, market: 1, outcome: 1, sizeMicro: 3_250_000 });
  return { world, app: openListener(world) };
};

/** For tests that change nothing in it. */
const unchanged = known();

describe('GET /balance-allowance', () => {
  it('is the balance of the wallet before its open orders, allowed to every contract', async () => {
    const { app, world } = known();
    for (const path of ['/balance-allowance', '/clob/balance-allowance/update']) {
      const answer = await get(app, `${path}?asset_type=COLLATERAL&signature_type=0`);
      expect([...Value.Errors(BalanceAllowance, answer.body)]).toEqual([]);
      const { balance, allowances } = answer.body as {
        balance: string;
        allowances: Record<string, string>;
      };
      expect(balance).toBe('7500000');
      const contracts = [testDomain.exchange, testDomain.negRiskExchange];
      expect(Object.keys(allowances).map((key) => key.toLowerCase())).toEqual(contracts);
      const demo = openListener(Object.assign(world, { family: familyDomains }));
      const { body } = await get(demo, `${path}?asset_type=COLLATERAL`);
      expect(Object.keys((body as { allowances: object }).allowances)).toHaveLength(8);
      world.family = [];
      expect(new Set(Object.values(allowances))).toEqual(new Set([(2n ** 256n - 1n).toString()]));
    }
  });

  it.each([
    ['asset_type=COLLATERAL', '7500000'],
    ['asset_type=COLLATERAL&signature_type=1', '6000000'],
    ['asset_type=COLLATERAL&signature_type=3', '42'],
    ['asset_type=COLLATERAL&signature_type=2', '9000000'],
    [`asset_type=COLLATERAL&signature_type=3&wallet=${safe}`, '9000000'],
    [`asset_type=CONDITIONAL&token_id=${token(1, 1)}`, '3250000'],
    [`asset_type=CONDITIONAL&token_id=${token(1, 0)}`, '0'],
    [`asset_type=CONDITIONAL&token_id=${token(1, 1)}&signature_type=3`, '0'],
    ['asset_type=CONDITIONAL&token_id=987654321', '0'],
  ])('of %s is %s', async (query, balance) => {
    expect((await get(unchanged.app, `/balance-allowance?${query}`)).body).toMatchObject({
      balance,
    });
  });

  it('of a signature type whose wallets have nothing is 0', async () => {
    const { world, app } = known();
    world.bound.clear();
    world.money.delete(proxy);
    const url = '/balance-allowance?asset_type=COLLATERAL&signature_type=1';
    expect((await get(app, url)).body).toMatchObject({ balance: '0' });
  });

  it('of a signer of type 3 without a bound wallet is that of its own address', async () => {
    const { world, app } = known();
    world.bound.clear();
    const url = '/balance-allowance?asset_type=COLLATERAL&signature_type=3';
    expect((await get(app, url)).body).toMatchObject({ balance: '7500000' });
  });

  it.each([
    ['', 'Invalid asset type'],
    ['asset_type=USDC', 'Invalid asset type'],
    ['asset_type=COLLATERAL&signature_type=4', 'Invalid signature_type'],
    ['asset_type=COLLATERAL&signature_type=x', 'Invalid signature_type'],
    ['asset_type=CONDITIONAL', 'Invalid token id'],
    [`asset_type=COLLATERAL&wallet=${wallet(99)}`, 'wallet is not one of the caller'],
  ])('refuses "%s"', async (query, error) => {
    expect(await get(unchanged.app, `/balance-allowance?${query}`)).toMatchObject({
      status: 400,
      body: { error },
    });
  });
});

describe('GET /balances', () => {
  it('shows every wallet that has something, and the own one', async () => {
    const { world, app } = known();
    world.money.delete(bound);
    world.money.delete(proxy);
    expect((await get(app, '/balances')).body).toEqual({
      wallets: [
        {
          wallet: '0x0000000000000000000000000000000000000001',
          usdc: { total: '7.5', free: '5', held: '2.5', pending: '1', available: '4' },
          tokens: [
            {
              asset_id: token(1, 1),
              market: condition(1),
              outcome: 'No',
              outcome_index: 1,
              size: '3.25',
            },
          ],
        },
        expect.objectContaining({ tokens: [] }),
      ],
    });
  });

  it('says so when Redis is away', async () => {
    const { world, app } = known();
    world.away = 'redis';
    expect((await get(app, '/balances')).status).toBe(503);
  });
});

test('recent changes count once beside stored sizes', () => {
  const own = { wallet: user, market: 1, outcome: 0 } as const;
  const stored = [{ ...own, sizeMicro: 5, version: 10 }];
  const change = (inOffset: number, changeMicro: number, outcome: 0 | 1 = 0) => ({
    ...own,
    outcome,
    partition: 0,
    inOffset,
    changeMicro,
    eventIndex: 0,
    timeMs: 0,
    cause: 'TAKER' as const,
    price: 5_000,
  });
  const changes = [change(9, 100), change(10, 100), change(11, 2), change(11, 1), change(3, 7, 1)];
  expect(foldHoldings(stored, changes)).toEqual([
    { ...own, sizeMicro: 8 },
    { ...own, outcome: 1, sizeMicro: 7 },
  ]);
  expect(foldHoldings(stored, [change(12, -5)])).toEqual([]);
});
