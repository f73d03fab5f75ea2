import { Fault } from '@pm/kit/fault';
import { silentLog } from '@pm/kit/log';
import type { WalletAddress } from '@pm/schemas/ids';
import { feeRateCeilingBps } from '@pm/schemas/money';
import type { GuardedAction } from '@pm/schemas/routes/routes';
import type { SecondPersonRule } from '../src/approvals.io.ts';
import { FeeNotices } from '../src/catalog/fee-notices.io.ts';
import { event, market, openOperator, token, tokenNamed } from './operator-fixture.ts';

const rule: SecondPersonRule = {
  isOn: true,
  limitsMicro: { deposit: 100_000_000, withdrawal: 100_000_000 },
  windowMs: 60_000,
  challengeMs: 0,
};
const feeNoticeMs = 3_600_000;
type Operator = Awaited<ReturnType<typeof openOperator>>;
let operator: Operator;
/** Market 1 is traded, market 2 of the same event and market 3 of another one are not. */
const open = async (secondPerson: SecondPersonRule) => {
  const opened = await openOperator(undefined, { secondPerson, feeNoticeMs });
  const events = [event('a', [market('a-1'), market('a-2')]), event('b', [market('b-1')])];
  await opened.post('/operator/catalog', { events });
  opened.fakes.traded.add(1);
  return opened;
};
beforeEach(async () => {
  operator = await open(rule);
});
afterEach(() => operator.app.close());

const wallet = `0x${'02'.repeat(20)}` as WalletAddress;
const everyWallet = `0x${'00'.repeat(20)}` as WalletAddress;
const owner = '0x2B5AD5c4795c026514f8317c7a215E218DcCD6cF';
const transferId = `0x${'7e'.repeat(32)}`;
const alice = { authorization: `Bearer ${tokenNamed('alice')}` };
const send = async (method: 'POST' | 'PUT' | 'PATCH', path: string, payload: object) => {
  const headers = { authorization: `Bearer ${token}` };
  const url = `/operator/${path}`;
  const answer = await operator.app.inject({ method, url, payload, headers });
  return { status: answer.statusCode, body: answer.json() };
};
const approve = (id: string) =>
  operator.post(`/operator/approvals/${id}`, { decision: 'approve' }, alice);
const known = (number = 1) => operator.catalog.findMarket(number);
const freezes = () => operator.services.wallets.freezes;
const statuses = () => operator.services.wallets.walletStatus;

type Row = readonly [
  way: string,
  action: GuardedAction,
  request: Parameters<typeof send>,
  /** Reads what the request changes. */
  read: () => unknown,
  /** Puts the exchange into the state that the request is about. */
  before?: (() => unknown) | undefined,
];
const ways: readonly Row[] = [
  [
    'deposits beyond the limit of a day',
    'deposit',
    ['POST', 'deposits', { deposits: [{ transferId, wallet, amount: '100.000001' }] }],
    () => operator.transfers.length,
  ],
  [
    'a deposit of next to nothing that binds its wallet',
    'deposit',
    ['POST', 'deposits', { deposits: [{ transferId, wallet, owner, amount: '0.000001' }] }],
    () => operator.owners.find(wallet)?.owner,
  ],
  [
    'withdrawals beyond the limit of a day',
    'payOut',
    ['POST', 'withdrawals', { withdrawals: [{ transferId, wallet, amount: '100.000001' }] }],
    () => operator.transfers.length,
    () => {
      operator.fakes.withdrawn = 'reserved';
    },
  ],
  [
    'the owner of a wallet, for ever',
    'bindWallets',
    ['POST', 'wallet-owners', { wallets: [{ wallet, owner }] }],
    () => operator.owners.find(wallet)?.owner,
  ],
  [
    'the freeze of a wallet lifted',
    'setWithdrawalFreeze',
    ['POST', `wallets/${wallet}/withdrawal-freeze`, { frozen: false, reason: 'x' }],
    () => freezes().find(wallet)?.frozen,
    () => send('POST', `wallets/${wallet}/withdrawal-freeze`, { frozen: true, reason: 'x' }),
  ],
  [
    'the freeze of all wallets lifted',
    'setWithdrawalFreeze',
    ['POST', `wallets/${everyWallet}/withdrawal-freeze`, { frozen: false, reason: 'x' }],
    () => freezes().find(everyWallet)?.frozen,
    () => send('POST', `wallets/${everyWallet}/withdrawal-freeze`, { frozen: true, reason: 'x' }),
  ],
  [
    'a ban lifted',
    'setWalletStatus',
    ['POST', `wallets/${wallet}/status`, { status: 'normal', reason: 'x' }],
    () => statuses().find(wallet)?.status,
    () => send('POST', `wallets/${wallet}/status`, { status: 'banned', reason: 'x' }),
  ],
  [
    'a ban made milder',
    'setWalletStatus',
    ['POST', `wallets/${wallet}/status`, { status: 'closed_only', reason: 'x' }],
    () => statuses().find(wallet)?.status,
    () => send('POST', `wallets/${wallet}/status`, { status: 'banned', reason: 'x' }),
  ],
  [
    'what a market pays',
    'resolveMarket',
    ['POST', 'markets/1/resolve', { payout0: '1' }],
    () => known()?.payout0,
  ],
  ...(
    [
      ['tickSize', '0.001'],
      ['minOrderSize', '100000'],
      ['feeRateBps', 500],
      ['rebateBps', 10],
      ['takerDelayMs', 250],
      ['rewardsDailyRate', 10],
      ['rewardsMinSize', '1'],
      ['rewardsMaxSpread', '0.01'],
    ] as const
  ).map(
    ([name, value]): Row => [
      `${name} of a traded market`,
      'setMarketRules',
      ['PUT', 'markets/1/rules', { [name]: value }],
      () => known(),
    ],
  ),
  ...(
    [
      ['description', 'Otherwise.'],
      ['resolutionSource', 'https://example.com'],
      ['endDate', '2099-01-01'],
    ] as const
  ).flatMap(([name, value]): Row[] => [
    [
      `${name} of a traded market`,
      'changeMarket',
      ['PATCH', 'markets/1', { [name]: value }],
      () => known(),
    ],
    [
      `${name} of an event with a traded market`,
      'changeEvent',
      ['PATCH', 'events/1', { [name]: value }],
      () => operator.catalog.findEvent('1'),
    ],
  ]),
];

test.each(ways.map((row) => ({ row, way: row[0] })))(
  'one operator alone does not change $way',
  async ({ row: [, action, request, read, before] }) => {
    await before?.();
    const was = read();
    const asked = await send(...request);
    expect(asked).toMatchObject({ status: 202, body: { action, state: 'pending' } });
    expect(read()).toEqual(was);
    const own = await send('POST', `approvals/${asked.body.id}`, { decision: 'approve' });
    expect(own.status).toBe(403);
    expect(read()).toEqual(was);
    expect((await approve(asked.body.id)).status).toBe(200);
    expect(read()).not.toEqual(was);
  },
);

test('one operator alone stops money and trading, and repeats what is done', async () => {
  const stops: readonly Parameters<typeof send>[] = [
    ['POST', `wallets/${wallet}/withdrawal-freeze`, { frozen: true, reason: 'x' }],
    ['POST', `wallets/${wallet}/status`, { status: 'closed_only', reason: 'x' }],
    ['POST', `wallets/${wallet}/status`, { status: 'banned', reason: 'x' }],
    ['POST', 'markets/1/mode', { mode: 'HALTED' }],
    ['POST', 'withdrawals', { withdrawals: [{ transferId, wallet, amount: '100' }] }],
    ['PUT', 'markets/1/rules', { feeRateBps: 0 }],
    ['PATCH', 'markets/1', { image: 'https://example.com/x.png', description: '' }],
    ['PUT', 'markets/3/rules', { feeRateBps: 500 }],
    ['PATCH', 'markets/2', { question: 'Else?', outcomes: ['No', 'Yes'] }],
    ['PATCH', 'events/2', { title: 'Else' }],
  ];
  for (const request of stops)
    expect([request, (await send(...request)).status]).toEqual([request, 200]);
});

test('what two persons have lifted once one of them cannot lift again', async () => {
  const path = `wallets/${wallet}/withdrawal-freeze`;
  await send('POST', path, { frozen: true, reason: 'x' });
  const { body } = await send('POST', path, { frozen: false, reason: 'x' });
  expect((await approve(body.id)).body.result).toMatchObject({ frozen: false });
  await send('POST', path, { frozen: true, reason: 'again' });
  expect(await approve(body.id)).toMatchObject({
    status: 200,
    body: { approval: { state: 'carried_out' }, result: null },
  });
  expect(freezes().find(wallet)?.frozen).toBe(true);
});

test('an approval that broke off is completed within its time and not later', async () => {
  const path = `wallets/${wallet}/withdrawal-freeze`;
  await send('POST', path, { frozen: true, reason: 'x' });
  const { body } = await send('POST', path, { frozen: false, reason: 'x' });
  const { finish } = operator.services.approvals;
  operator.services.approvals.finish = async () => {
    throw new Fault('broker_unreachable', 'retry');
  };
  expect((await approve(body.id)).status).toBe(503);
  expect((await approve(body.id)).status).toBe(503);
  operator.services.approvals.finish = finish;
  operator.fakes.nowMs += rule.windowMs;
  await send('POST', path, { frozen: true, reason: 'again' });
  expect((await approve(body.id)).status).toBe(409);
  expect(freezes().find(wallet)?.frozen).toBe(true);
});

test('one approval that two send at a time is carried out once', async () => {
  const deposits = [{ transferId, wallet, amount: '100.000001' }];
  const { body } = await send('POST', 'deposits', { deposits });
  const [one, other] = await Promise.all([approve(body.id), approve(body.id)]);
  expect([one.body.result, other.body.result]).toEqual([{ accepted: 1 }, null]);
  expect(operator.transfers).toHaveLength(1);
});

describe.each([true, false])('with a second person: %s', (isOn) => {
  beforeEach(async () => {
    await operator.app.close();
    operator = await open({ ...rule, isOn });
  });

  it.each([
    ['its question', { question: 'Else?' }, { question: 'Else?' }],
    ['the names of its outcomes', { outcomes: ['No', 'Yes'] }, { outcomes: ['No', 'Yes'] }],
  ])('a traded market keeps %s', async (_what, change, sent) => {
    const was = known();
    expect((await send('PATCH', 'markets/1', change)).status).toBe(409);
    const events = [event('a', [market('a-1', sent)])];
    expect((await operator.post('/operator/catalog', { events })).status).toBe(409);
    expect((await operator.post('/operator/events/1/markets', market('a-1', sent))).status).toBe(
      409,
    );
    expect(known()).toBe(was);
    expect((await send('PATCH', 'markets/2', change)).status).toBe(200);
  });

  it.each([
    ['a fee', market('a-1', { feeRateBps: 7 })],
    ['a description', market('a-1', { description: 'Else.' })],
  ])('an import gives %s to no traded market', async (_what, sent) => {
    const was = known();
    const events = [event('a', [sent])];
    const { status, body } = await operator.post('/operator/catalog', { events });
    expect([status, body.error]).toEqual([409, expect.stringContaining('a-1: is traded')]);
    expect(known()).toBe(was);
    const words = event('a', [market('a-1')], { description: 'Else.' });
    expect((await operator.post('/operator/catalog', { events: [words] })).status).toBe(409);
    const other = [event('b', [{ ...sent, slug: 'b-1', question: 'b-1?' }])];
    expect((await operator.post('/operator/catalog', { events: other })).status).toBe(200);
  });

  it('no fee is above the ceiling', async () => {
    const above = { feeRateBps: feeRateCeilingBps + 1 };
    expect((await send('PUT', 'markets/3/rules', above)).status).toBe(400);
    const events = [event('c', [market('c-1', above)])];
    expect((await operator.post('/operator/catalog', { events })).status).toBe(400);
    const highest = { feeRateBps: feeRateCeilingBps };
    expect((await send('PUT', 'markets/3/rules', highest)).status).toBe(200);
  });
});

describe('a higher fee of a traded market', () => {
  beforeEach(async () => {
    await operator.app.close();
    operator = await open({ ...rule, isOn: false });
  });
  const notices = (partitionBehindMs = 0) =>
    new FeeNotices({
      catalog: operator.services.catalog,
      partitions: {
        at: () => ({ inOffset: 1, clockMs: operator.fakes.nowMs - partitionBehindMs, seenAtMs: 0 }),
        isReady: () => operator.fakes.areReady,
      },
      clock: operator.services.clock,
      log: silentLog,
    });
  const raise = (feeRateBps: number) => send('PUT', 'markets/1/rules', { feeRateBps });
  const bookFees = () =>
    operator.sent.flatMap(({ command }) =>
      command.kind === 'SetMarket' ? [command.feeRateBps] : [],
    );

  it('begins at the end of its notice, by the clocks of process and partition', async () => {
    const feeChangesAt = new Date(operator.fakes.nowMs + feeNoticeMs).toISOString();
    const notice = { feeRateBps: 0, nextFeeRateBps: 500, feeChangesAt };
    expect((await raise(500)).body).toMatchObject({ ...notice, changed: true });
    operator.fakes.nowMs += feeNoticeMs - 1;
    expect((await raise(500)).body).toMatchObject({ ...notice, changed: false });
    await notices().tick();
    expect(known()?.feeRateBps).toBe(0);
    operator.fakes.nowMs += 1;
    await notices(1).tick();
    expect(known()?.feeRateBps).toBe(0);
    expect(new Set(bookFees())).toEqual(new Set([0]));
    await notices().tick();
    expect(known()).toMatchObject({ feeRateBps: 500, nextFeeRateBps: -1, feeChangesAtMs: 0 });
    expect(bookFees().at(-1)).toBe(500);
    expect(known()?.feeVersion).toBe(2);
  });

  it('is given up by a lower one, which begins at once', async () => {
    await raise(500);
    expect((await raise(0)).body).not.toHaveProperty('nextFeeRateBps');
    operator.fakes.nowMs += feeNoticeMs;
    await notices().tick();
    expect(known()).toMatchObject({ feeRateBps: 0, feeChangesAtMs: 0 });
  });

  it('keeps its notice through changes of other rules, and an import', async () => {
    await raise(500);
    await send('PUT', 'markets/1/rules', { takerDelayMs: 250 });
    const events = [event('a', [market('a-1', { image: 'https://example.com/x.png' })])];
    expect((await operator.post('/operator/catalog', { events })).status).toBe(200);
    expect(known()).toMatchObject({ nextFeeRateBps: 500, takerDelayMs: 250 });
  });

  it('waits for no partition that has no owner', async () => {
    await raise(500);
    operator.fakes.nowMs += feeNoticeMs;
    const sent = operator.sent.length;
    operator.fakes.areReady = false;
    await notices().tick();
    expect([operator.sent.length, known()?.feeRateBps]).toEqual([sent, 0]);
    operator.fakes.areReady = true;
    await notices().tick();
    expect(known()?.feeRateBps).toBe(500);
  });

  it('is tried again when its book does not answer', async () => {
    await raise(500);
    operator.fakes.nowMs += feeNoticeMs;
    const { answer } = operator.fakes;
    operator.fakes.answer = () => ({ kind: 'unsent' }) as never;
    const due = notices();
    await due.tick();
    expect(known()).toMatchObject({ feeRateBps: 0, nextFeeRateBps: 500 });
    operator.fakes.answer = answer;
    operator.fakes.nowMs += 10_000;
    await due.tick();
    expect(known()?.feeRateBps).toBe(500);
  });

  it('of a market that is not traded begins at once', async () => {
    const { body } = await send('PUT', 'markets/3/rules', { feeRateBps: 500 });
    expect(body).toMatchObject({ feeRateBps: 500 });
  });
});
