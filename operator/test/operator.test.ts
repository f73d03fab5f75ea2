import { createHash } from 'node:crypto';
import { Fault } from '@pm/kit/fault';
import { silentLog } from '@pm/kit/log';
import type { ExecutionEvent } from '@pm/schemas/log/executions';
import { TickRefinements } from '../src/catalog/tick-refinements.io.ts';
import { carriedOut, event, market, openOperator, token, tokenNamed } from './operator-fixture.ts';

test('lists markets that the books have, spread over the partitions', async () => {
  const operator = await openOperator();
  const events = [
    event('a', [market('a-1', { tickSize: '0.001', minOrderSize: '1' }), market('a-2')], {
      tags: ['Big News', 'Sports'],
      series: 'Weekly',
    }),
    event('b', [market('b-1'), market('b-2', { negRisk: true })], { tags: ['Sports'] }),
  ];
  const { status, body } = await operator.post('/operator/catalog', { events });
  expect(status).toBe(200);
  expect(body).toMatchObject({ created: 4, unchanged: 0, updated: 0 });
  expect(
    body.markets.map((one: { id: string; partition: number }) => [one.id, one.partition]),
  ).toEqual([
    ['1', 0],
    ['2', 1],
    ['3', 2],
    ['4', 0],
  ]);
  expect(operator.sent[0]).toMatchObject({
    partition: 0,
    command: {
      kind: 'SetMarket',
      market: 1,
      tick: 10,
      minSizeMicro: 1_000_000,
      feeRateBps: 0,
      mode: 'OPEN',
      takerDelayMs: 0,
    },
  });
  expect(operator.routed).toHaveLength(4);
  const kinds = operator.written.map((entry) =>
    entry.kind === 'CatalogMarket' && !entry.listed ? 'not listed' : entry.kind,
  );
  expect(kinds).toEqual([
    ...Array(4).fill('not listed'),
    'CatalogTag',
    'CatalogTag',
    'CatalogSeries',
    'CatalogEvent',
    'CatalogEvent',
    'CatalogMarket',
    'CatalogMarket',
    'CatalogMarket',
    'CatalogMarket',
  ]);
  const sports = operator.written[5];
  expect(operator.catalog.findEvent('2')).toMatchObject({
    tagIds: [Reflect.get(sports ?? {}, 'id')],
  });
  expect(operator.catalog.findMarket(4)?.negRiskMarketId).toHaveLength(32);
});

test('the same import again changes nothing; another word or rule changes just that', async () => {
  const operator = await openOperator();
  const body = {
    events: [
      event('a', [market('a-1'), market('a-2')], { tags: ['x'], endDate: '2026-12-31T00:00:00Z' }),
    ],
  };
  const first = await operator.post('/operator/catalog', body);
  const before = [operator.sent.length, operator.written.length, operator.routed.length];
  const again = await operator.post('/operator/catalog', body);
  expect(again.body).toMatchObject({
    created: 0,
    unchanged: 2,
    updated: 0,
    markets: first.body.markets,
  });
  expect([operator.sent.length, operator.written.length, operator.routed.length]).toEqual(before);
  const changed = {
    events: [
      event('a', [market('a-1', { question: 'else?' }), market('a-2', { tickSize: '0.001' })], {
        tags: ['x'],
      }),
    ],
  };
  expect((await operator.post('/operator/catalog', changed)).body).toMatchObject({
    created: 0,
    updated: 2,
  });
  expect(operator.sent.slice(before[0])).toMatchObject([{ command: { market: 2, tick: 10 } }]);
});

test('an import of what is new leaves everything else as it has become', async () => {
  const operator = await openOperator();
  const listing = event('a', [market('a-1'), market('a-2')]);
  const made = await operator.post('/operator/catalog', { events: [listing] });
  await operator.put('/operator/markets/1/rules', { feeRateBps: 77 });
  await operator.post('/operator/markets/1/resolve', { payout0: '1' });
  await operator.patch('/operator/markets/2', { slug: 'renamed' });
  await operator.patch('/operator/events/1', { slug: 'b', title: 'B' });
  const before = [operator.sent.length, operator.written.length];
  const whole = { events: [listing], onlyNew: true };
  const again = await operator.post('/operator/catalog', whole);
  expect([again.status, again.body]).toMatchObject([200, { created: 0, updated: 0, unchanged: 2 }]);
  expect([operator.sent.length, operator.written.length]).toEqual(before);
  const ids = (body: typeof made.body) => body.markets.map(({ id }: { id: string }) => id);
  expect(ids(again.body)).toEqual(ids(made.body));
  const more = { events: [event('b', [market('a-1'), market('b-1')])], onlyNew: true };
  const grown = await operator.post('/operator/catalog', more);
  expect([grown.status, grown.body]).toMatchObject([200, { created: 1, updated: 0, unchanged: 1 }]);
  expect(operator.catalog.findMarket(1)).toMatchObject({ feeRateBps: 77, payout0: 10_000 });
  expect(operator.catalog.findMarket(3)).toMatchObject({ slug: 'b-1', eventId: '1' });
  expect((await operator.post('/operator/catalog', { events: [listing] })).status).toBe(400);
});

test('an import leaves a tick that has become finer, and refuses one that does not fit into it', async () => {
  const operator = await openOperator();
  const listing = (tickSize: string) => ({ events: [event('a', [market('a-1', { tickSize })])] });
  await operator.post('/operator/catalog', listing('0.01'));
  await operator.put('/operator/markets/1/rules', { tickSize: '0.0025' });
  const sent = operator.sent.length;
  const again = await operator.post('/operator/catalog', listing('0.01'));
  expect([again.status, again.body]).toMatchObject([200, { created: 0, updated: 0, unchanged: 1 }]);
  const odd = await operator.post('/operator/catalog', listing('0.001'));
  expect([odd.status, odd.body.path]).toEqual([400, '/events/0/markets/0/tickSize']);
  expect([operator.catalog.findMarket(1)?.tick, operator.sent.length]).toEqual([25, sent]);
});

test.each([
  ['/events/0/markets/1/slug', [event('a', [market('x'), market('x')])]],
  ['/events/1/slug', [event('a', [market('x')]), event('a', [market('y')])]],
  ['/events/0/endDate', [event('a', [market('x')], { endDate: 'soon' })]],
  ['/events/0/markets/0/startDate', [event('a', [market('x', { startDate: '2026-13-45' })])]],
  ['/events/0/markets/0/minOrderSize', [event('a', [market('x', { minOrderSize: '0' })])]],
  ['/events/0/markets/0/tokenIds', [event('a', [market('x', { tokenIds: ['5', '5'] })])]],
  [
    '/events/0/markets/0/tokenIds',
    [event('a', [market('x', { tokenIds: ['9'.repeat(78), '5'] })])],
  ],
  [
    '/events/0/markets/1/slug',
    [event('a', [market('x', { tokenIds: ['5', '6'] }), market('y', { tokenIds: ['6', '7'] })])],
  ],
  ['/events/0/markets/0/tokenIds', [event('a', [market('new', { tokenIds: ['77', '78'] })])]],
  [
    '/events/0/markets/0/conditionId',
    [event('old', [market('old', { conditionId: `0x${'01'.repeat(32)}` })])],
  ],
  ['/events/0/markets/0/slug', [event('other', [market('old')])]],
])('an import that is wrong at %s writes nothing', async (path, events) => {
  const operator = await openOperator();
  await operator.post('/operator/catalog', {
    events: [event('old', [market('old', { tokenIds: ['77', '99'] })])],
  });
  const before = [operator.sent.length, operator.written.length];
  const { status, body } = await operator.post('/operator/catalog', { events });
  expect([status, body.path]).toEqual([400, path]);
  expect([operator.sent.length, operator.written.length]).toEqual(before);
});

test.each([
  {},
  { events: [] },
  { events: [{}] },
  { events: [event('a', [])] },
  { events: [event('a', [market('x', { tickSize: '0.3' })])] },
  { events: [event('a', [market('x')])], more: 1 },
])('%j is not an import', async (body) => {
  const operator = await openOperator();
  expect((await operator.post('/operator/catalog', body)).status).toBe(400);
  expect(operator.sent).toHaveLength(0);
});

test('a market that its book refuses is not in the catalog, and its number is not reused', async () => {
  const operator = await openOperator();
  const body = { events: [event('a', [market('x')])] };
  operator.fakes.answer = () => ({ kind: 'pending' });
  expect((await operator.post('/operator/catalog', body)).status).toBe(503);
  operator.fakes.answer = (command) => {
    const refused: ExecutionEvent = {
      kind: 'CommandRefused',
      command: 0,
      code: 'invalid_tick_size',
      requestId: null,
    };
    return command.kind === 'SetMarket' && command.market === 1
      ? {
          kind: 'executed',
          place: { partition: 0, inOffset: 1 },
          events: [{ index: 0, event: refused }],
        }
      : carriedOut(command);
  };
  expect((await operator.post('/operator/catalog', body)).status).toBe(409);
  expect([operator.catalog.marketCount, operator.catalog.unlisted()]).toEqual([0, []]);
  const third = await operator.post('/operator/catalog', body);
  expect([third.status, third.body.markets[0].id]).toEqual([200, '2']);
});

test('modes and resolutions go to the book first and stand in the catalog after', async () => {
  const operator = await openOperator();
  await operator.post('/operator/catalog', { events: [event('a', [market('x'), market('y')])] });
  expect((await operator.post('/operator/markets/1/mode', { mode: 'HALTED' })).body).toEqual({
    id: '1',
    mode: 'HALTED',
  });
  expect(operator.catalog.findMarket(1)?.mode).toBe('HALTED');
  expect((await operator.post('/operator/markets/9/mode', { mode: 'OPEN' })).status).toBe(404);
  expect((await operator.post('/operator/markets/1/mode', { mode: 'RESOLVED' })).status).toBe(400);
  for (const payout0 of ['2', '-1', '0.00001', 'x', '1e0']) {
    expect((await operator.post('/operator/markets/1/resolve', { payout0 })).status).toBe(400);
  }
  expect((await operator.post('/operator/markets/1/resolve', { payout0: '0.5' })).body).toEqual({
    id: '1',
    payout0: '0.5',
  });
  expect(operator.sent.at(-1)).toMatchObject({
    partition: 0,
    command: { kind: 'ResolveMarket', market: 1, payout0: 5000 },
  });
  expect(operator.catalog.findMarket(1)).toMatchObject({
    payout0: 5000,
    mode: 'RESOLVED',
    closed: true,
  });
  expect(operator.catalog.findEvent('1')?.closed).toBe(false);
  const sent = operator.sent.length;
  expect((await operator.post('/operator/markets/1/resolve', { payout0: '0.5' })).status).toBe(200);
  expect((await operator.post('/operator/markets/1/resolve', { payout0: '1' })).status).toBe(409);
  expect((await operator.post('/operator/markets/1/mode', { mode: 'OPEN' })).status).toBe(409);
  expect(operator.sent).toHaveLength(sent);
  await operator.post('/operator/markets/2/resolve', { payout0: '0' });
  expect(operator.catalog.findEvent('1')?.closed).toBe(true);
});

test('deposits are whole micro-USDC above nothing', async () => {
  const operator = await openOperator();
  const deposit = (amount: string) => ({
    transferId: `0x${'01'.repeat(32)}`,
    wallet: `0x${'02'.repeat(20)}`,
    amount,
  });
  const good = await operator.post('/operator/deposits', {
    deposits: [deposit('100'), deposit('0.000001')],
  });
  expect(good.body).toEqual({ accepted: 2 });
  expect(operator.transfers.map(({ amountMicro }) => amountMicro)).toEqual([100_000_000, 1]);
  for (const amount of ['0', '-1', '1e3', '0.0000001', '']) {
    expect(
      (await operator.post('/operator/deposits', { deposits: [deposit(amount)] })).status,
    ).toBe(400);
  }
  expect(operator.transfers).toHaveLength(2);
});

test('no deposit brings a wallet above a billion USDC, and one that was applied may be sent again', async () => {
  const operator = await openOperator();
  const deposit = (id: string, amount: string) => ({
    transferId: `0x${id.repeat(32)}`,
    wallet: `0x${'02'.repeat(20)}`,
    amount,
  });
  const credit = (...deposits: readonly object[]) =>
    operator.post('/operator/deposits', { deposits });
  operator.fakes.balance = { freeMicro: 400_000_000_000_000, heldMicro: 1, availableMicro: 0 };
  const above = { error: '/deposits/1/amount brings the wallet above 1000000000 USDC' };
  expect(await credit(deposit('01', '599999999'), deposit('02', '1'))).toMatchObject({
    status: 409,
    body: above,
  });
  expect(operator.transfers).toEqual([]);
  const first = [deposit('01', '599999999'), deposit('02', '0.999999')];
  expect((await credit(...first)).body).toEqual({ accepted: 2 });
  operator.fakes.balance = { freeMicro: 1_000_000_000_000_000, heldMicro: 0, availableMicro: 0 };
  expect((await credit(...first)).body).toEqual({ accepted: 2 });
  expect((await credit(deposit('03', '0.000001'))).status).toBe(409);
});

test.each([
  [{}],
  [{ authorization: 'Bearer x' }],
  [{ authorization: token }],
  [{ authorization: `bearer ${token}` }],
])('no route opens for %j', async (headers) => {
  const operator = await openOperator();
  const answer = await operator.post(
    '/operator/deposits',
    { deposits: [] },
    headers as Record<string, string>,
  );
  expect([answer.status, answer.body]).toEqual([401, { error: 'unauthorized' }]);
  expect((await operator.app.inject({ url: '/operator/status', headers })).statusCode).toBe(401);
});

test('what is not a read is in the audit with its caller, body and outcome, newest first', async () => {
  const operator = await openOperator();
  const shown = tokenNamed('alice');
  const headers = { authorization: `Bearer ${shown}`, 'x-operator-name': 'bob' };
  await operator.post('/operator/markets/9/mode', { mode: 'HALTED' }, headers);
  await operator.post('/operator/catalog', { events: [event('a', [market('x')])] });
  await operator.post('/operator/catalog', { events: [] });
  const answer = await operator.app.inject({ url: '/operator/audit', headers });
  const { entries } = answer.json();
  expect(entries).toMatchObject([
    { who: 'operator', action: 'POST /operator/catalog', status: 200 },
    {
      who: 'alice',
      tokenId: createHash('sha256').update(shown).digest('hex').slice(0, 8),
      action: 'POST /operator/markets/:id/mode',
      subject: '/operator/markets/9/mode',
      body: '{"mode":"HALTED"}',
      bodyBytes: 17,
      bodySha256: createHash('sha256').update('{"mode":"HALTED"}').digest('hex'),
      time: '2023-11-14T22:13:20.000Z',
      status: 404,
    },
  ]);
  const page = async (query: string) =>
    (await operator.app.inject({ url: `/operator/audit?${query}`, headers })).json();
  expect((await page('containing=mode')).entries).toHaveLength(1);
  expect((await page('limit=1&offset=1')).entries).toMatchObject([{ who: 'alice' }]);
  expect(await page('limit=0')).toMatchObject({ error: expect.stringContaining('limit') });
});

test('nothing is done that cannot be written to the audit', async () => {
  const operator = await openOperator();
  operator.fakes.audit = () => {
    throw new Fault('kafka_unavailable', 'retry');
  };
  const answer = await operator.post('/operator/catalog', { events: [event('a', [market('x')])] });
  expect(answer.status).toBe(503);
  expect(operator.sent).toHaveLength(0);
});

test('a market takes new rules in its book first, then in the catalog; what is not named stays', async () => {
  const operator = await openOperator();
  await operator.post('/operator/catalog', { events: [event('a', [market('a-1')])] });
  const rules = { tickSize: '0.001', takerDelayMs: 250, feeRateBps: 441, rewardsDailyRate: 12.5 };
  const { status, body } = await operator.put('/operator/markets/1/rules', rules);
  expect([status, body]).toMatchObject([200, { ...rules, minOrderSize: '5', id: '1' }]);
  expect(operator.sent.at(-1)?.command).toMatchObject({
    kind: 'SetMarket',
    tick: 10,
    takerDelayMs: 250,
    feeRateBps: 441,
    minSizeMicro: 5_000_000,
  });
  expect(operator.catalog.findMarket(1)).toMatchObject({
    tick: 10,
    takerDelayMs: 250,
    rewardsDailyMicro: 12_500_000,
  });
  for (const coarser of [{ tickSize: '0.01' }, { minOrderSize: '0' }]) {
    expect((await operator.put('/operator/markets/1/rules', coarser)).status).toBe(400);
  }
  expect((await operator.put('/operator/markets/9/rules', rules)).status).toBe(404);
  expect((await operator.put('/operator/markets/1/rules', { tick: 5 })).status).toBe(400);
});

test('the version of a fee schedule counts its changes, by rules and by imports', async () => {
  const operator = await openOperator();
  const list = (more: object) =>
    operator.post('/operator/catalog', { events: [event('a', [market('a-1', more)])] });
  const rule = (rules: object) => operator.put('/operator/markets/1/rules', rules);
  const version = () => operator.catalog.findMarket(1)?.feeVersion;
  const steps: readonly (readonly [() => Promise<{ readonly status: number }>, number])[] = [
    [() => list({ feeRateBps: 441 }), 1],
    [() => rule({ feeRateBps: 441, takerDelayMs: 250 }), 1],
    [() => rule({ feeRateBps: 200 }), 2],
    [() => rule({ feeRateBps: 200, rebateBps: 2_000 }), 3],
    [() => list({ description: 'Words.' }), 3],
    [() => list({ feeRateBps: 441 }), 4],
    [() => rule({ minOrderSize: '10' }), 4],
  ];
  for (const [step, due] of steps) {
    expect((await step()).status).toBe(200);
    expect(version()).toBe(due);
  }
});

test('a market of a partition that is not opened says so', async () => {
  const operator = await openOperator();
  operator.fakes.answer = () => ({ kind: 'unsent', code: 'partition_not_ready' });
  const { status, body } = await operator.post('/operator/catalog', {
    events: [event('a', [market('a-1')])],
  });
  expect([status, body.error]).toEqual([
    503,
    'slug a-1: partition 0 is not opened: set-up opens it, try again',
  ]);
});

test('the trading mode goes into every partition, and those without a result are named', async () => {
  const operator = await openOperator();
  const { status, body } = await operator.post('/operator/trading-mode', { mode: 'CANCEL_ONLY' });
  expect([status, body]).toEqual([200, { mode: 'CANCEL_ONLY', partitions: 3 }]);
  expect(operator.sent).toMatchObject(
    [0, 1, 2].map((partition) => ({
      partition,
      command: { kind: 'SetTradingMode', mode: 'CANCEL_ONLY' },
    })),
  );
  let next = 0;
  operator.fakes.answer = (command) => (next++ === 1 ? { kind: 'pending' } : carriedOut(command));
  const half = await operator.post('/operator/trading-mode', { mode: 'OPEN' });
  expect([half.status, half.body.partitions]).toEqual([503, [1]]);
  expect((await operator.post('/operator/trading-mode', { mode: 'RESOLVED' })).status).toBe(400);
});

test('the operator takes out the money that is there, and gets a refusal for the rest', async () => {
  const operator = await openOperator();
  const one = (byte: string, amount: string) => ({
    transferId: `0x${byte.repeat(32)}`,
    wallet: `0x${'01'.repeat(20)}`,
    amount,
  });
  const withdrawals = [one('0a', '2.5'), one('0b', '0')];
  const { status, body } = await operator.post('/operator/withdrawals', { withdrawals });
  expect(status).toBe(200);
  expect(body.results).toMatchObject([{ accepted: true, paid: '2.5' }, { accepted: false }]);
  expect(operator.transfers).toMatchObject([{ amountMicro: -2_500_000, generation: 4 }]);
  operator.fakes.withdrawn = 'insufficient';
  const none = await operator.post('/operator/withdrawals', { withdrawals: [one('0c', '1')] });
  expect(none.body.results[0].code).toBe('insufficient_balance_or_allowance');
  operator.fakes.withdrawn = 'conflict';
  const other = await operator.post('/operator/withdrawals', { withdrawals: [one('0a', '3')] });
  expect(other.body.results[0]).toMatchObject({
    accepted: false,
    code: 'idempotency_key_reused',
  });
  operator.fakes.withdrawn = 'applied';
  const again = await operator.post('/operator/withdrawals', { withdrawals: [one('0a', '2.5')] });
  expect(again.body.results[0].accepted).toBe(true);
  expect(operator.transfers).toHaveLength(1);
});

test('a market resolves half and half', async () => {
  const operator = await openOperator();
  await operator.post('/operator/catalog', { events: [event('a', [market('a-1')])] });
  const { status, body } = await operator.post('/operator/markets/1/resolve', { payout0: '0.5' });
  expect([status, body.payout0]).toEqual([200, '0.5']);
  expect(operator.sent.at(-1)?.command).toMatchObject({ kind: 'ResolveMarket', payout0: 5_000 });
});

describe('the freeze of withdrawals', () => {
  const address = '0x00000000000000000000000000000000000000AA';
  const path = `/operator/wallets/${address}/withdrawal-freeze`;
  const headers = { authorization: `Bearer ${token}` };

  it('is set and cleared with a reason, read back, listed, and refuses withdrawals', async () => {
    const operator = await openOperator();
    const get = async (url: string) => (await operator.app.inject({ url, headers })).json();
    const none = { address, frozen: false, unsound: false, free: '0', reason: '', changedAt: null };
    expect(await get(path)).toEqual(none);
    const frozen = { frozen: true, reason: 'under review' };
    expect((await operator.post(path, frozen)).body).toMatchObject({ ...frozen, free: '-2.5' });
    const { data } = await get('/operator/withdrawal-freezes?limit=5');
    expect(data).toMatchObject([{ address, ...frozen }]);
    const transferId = `0x${'0d'.repeat(32)}`;
    const withdrawals = [{ transferId, wallet: address, amount: '1' }];
    const refused = await operator.post('/operator/withdrawals', { withdrawals });
    expect(refused.body.results[0].code).toBe('withdrawals_frozen');
    expect(operator.givenBack).toEqual([transferId]);
    await operator.post(path, { frozen: false, reason: 'explained' });
    expect((await get('/operator/withdrawal-freezes')).data).toEqual([]);
    const paid = await operator.post('/operator/withdrawals', { withdrawals });
    expect(paid.body.results[0].accepted).toBe(true);
    expect((await operator.post(path, { frozen: true })).status).toBe(400);
  });

  it('of the zero address is that of every wallet', async () => {
    const operator = await openOperator();
    const all = `/operator/wallets/0x${'0'.repeat(40)}/withdrawal-freeze`;
    const withdrawals = [{ transferId: `0x${'0e'.repeat(32)}`, wallet: address, amount: '1' }];
    await operator.post(all, { frozen: true, reason: 'a market does not add up' });
    const refused = await operator.post('/operator/withdrawals', { withdrawals });
    expect(refused.body.results[0].code).toBe('withdrawals_frozen');
    await operator.post(all, { frozen: false, reason: 'explained' });
    const paid = await operator.post('/operator/withdrawals', { withdrawals });
    expect(paid.body.results[0].accepted).toBe(true);
  });
});

describe('what a wallet may do', () => {
  const address = '0x00000000000000000000000000000000000000AA';
  const path = `/operator/wallets/${address}/status`;
  const authorization = `Bearer ${token}`;

  it('is set, read back and listed with its reason, in the trail too', async () => {
    const operator = await openOperator();
    const get = async (url: string) =>
      (await operator.app.inject({ url, headers: { authorization } })).json();
    const asNew = { address, status: 'normal', reason: '', changedAt: null };
    expect(await get(path)).toEqual(asNew);
    const banned = { status: 'banned', reason: 'wash trading, case 7' };
    const set = await operator.post(path, banned);
    const expected = { address, ...banned, changedAt: '2023-11-14T22:13:20.000Z' };
    expect([set.status, set.body]).toEqual([200, { ...expected, canceled: 0 }]);
    expect(await get(path)).toEqual(expected);
    expect(await get('/operator/wallets')).toEqual({ data: [expected] });
    expect(JSON.stringify(await get('/operator/audit'))).toContain(address);
    await operator.post(path, { status: 'normal', reason: 'appeal won' });
    expect(await get('/operator/wallets?limit=5')).toEqual({ data: [] });
  });

  it.each([
    [path, { status: 'BANNED', reason: 'x' }],
    [path, { status: 'banned' }],
    [path, { status: 'banned', reason: '' }],
    [path, { status: 'banned', reason: 'x', more: 1 }],
    ['/operator/wallets/0x12/status', { status: 'banned', reason: 'x' }],
  ])('is not changed by POST %s with %j', async (url, body) => {
    const operator = await openOperator();
    expect((await operator.post(url, body)).status).toBe(400);
    const list = await operator.app.inject({
      url: '/operator/wallets',
      headers: { authorization },
    });
    expect(list.json()).toEqual({ data: [] });
  });

  it('takes the orders of a banned wallet off the books, of no other, and says when that is open', async () => {
    const operator = await openOperator();
    await operator.post(path, { status: 'closed_only', reason: 'x' });
    expect(operator.swept).toEqual([]);
    operator.fakes.swept = { canceled: 3, isUnconfirmed: false };
    const banned = await operator.post(path, { status: 'banned', reason: 'x' });
    expect(banned.body).toMatchObject({ status: 'banned', canceled: 3 });
    operator.fakes.swept = { canceled: 1, isUnconfirmed: true };
    const open = await operator.post(path, { status: 'banned', reason: 'x' });
    expect([open.status, open.body]).toMatchObject([503, { status: 'banned', canceled: 1 }]);
    expect(operator.swept).toEqual([address.toLowerCase(), address.toLowerCase()]);
  });

  it('is nobody’s to set without the token', async () => {
    const operator = await openOperator();
    expect((await operator.post(path, { status: 'banned', reason: 'x' }, {})).status).toBe(401);
  });
});

test('a market at extreme prices gets a finer tick once, and its other rules stay as they are by then', async () => {
  const operator = await openOperator();
  const markets = [market('a-1'), market('a-2', { tickSize: '0.001' })];
  await operator.post('/operator/catalog', { events: [event('a', markets)] });
  operator.sent.length = 0;
  const refining = new TickRefinements(operator.services.catalog, silentLog);
  operator.fakes.answer = (command) => {
    // The operator halts it at the same time.
    const halted = operator.catalog.findMarket(1);
    if (halted !== undefined) operator.catalog.take({ ...halted, mode: 'HALTED' });
    return carriedOut(command);
  };
  for (const number of [1, 1, 2, 7]) refining.note(number);
  await refining.settled();
  refining.note(1);
  expect(operator.sent).toMatchObject([
    { partition: 0, command: { kind: 'SetMarket', market: 1, tick: 10, tickOnly: true } },
  ]);
  expect(operator.catalog.findMarket(1)).toMatchObject({ tick: 10, mode: 'HALTED' });
});

test('a tick that could not be refined is tried again', async () => {
  const operator = await openOperator();
  await operator.post('/operator/catalog', { events: [event('a', [market('a-1')])] });
  const refining = new TickRefinements(operator.services.catalog, silentLog);
  operator.fakes.answer = () => ({ kind: 'pending' });
  refining.note(1);
  await refining.settled();
  expect(operator.catalog.findMarket(1)?.tick).toBe(100);
  operator.fakes.answer = carriedOut;
  refining.note(1);
  await refining.settled();
  expect(operator.catalog.findMarket(1)?.tick).toBe(10);
});
