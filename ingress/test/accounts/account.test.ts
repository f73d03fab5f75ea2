import { parseWalletAddress, type WalletAddress } from '@pm/schemas/ids';
import type { ExecutionEvent } from '@pm/schemas/log/executions';
import type { Command } from '@pm/schemas/log/orders';
import type { RefusalCode } from '@pm/schemas/refusals';
import {
  answered,
  call,
  conditionId,
  type IngressUnderTest,
  lateConditionId,
  lateMarket,
  market,
  openIngress,
  owner,
  type SentRequest,
  trioIn,
} from '../ingress-fixture.ts';
import { OwnersTopic, ownerRecord } from '../owners-fixture.ts';
import { RetryMemory } from '../retry-fixture.ts';

let ingress: IngressUnderTest;
beforeEach(async () => {
  ingress = await openIngress();
  ingress.fakes.answer = carriedOut;
});
afterEach(() => ingress.app.close());

type Moving = Extract<Command, { kind: 'SplitPosition' | 'MergePosition' | 'RedeemPosition' }>;
const actions = {
  SplitPosition: 'SPLIT',
  MergePosition: 'MERGE',
  RedeemPosition: 'REDEEM',
} as const;

function carriedOut(command: Command) {
  const { kind, requestId, wallet, market: number } = command as Moving;
  const sums = { token0Micro: 1, token1Micro: 1, paidMicro: 7_500_000 };
  const action = actions[kind];
  return answered([
    { kind: 'PositionMoved', command: 0, action, wallet, market: number, requestId, ...sums },
  ]);
}

const ownerWallet = parseWalletAddress(owner.address) as WalletAddress;

const refusedAs = (code: RefusalCode) => (command: Command) => {
  const { requestId } = command as Moving;
  return answered([{ kind: 'CommandRefused', command: 0, code, requestId } as ExecutionEvent]);
};

const act = (action: string, body: object, more: Pick<SentRequest, 'headers' | 'signsKey'> = {}) =>
  call(ingress, { method: 'POST', url: `/account/${action}`, body: JSON.stringify(body), ...more });
/** With an `Idempotency-Key` that the signature covers. */
const keyed = (key: string) => ({ headers: { 'idempotency-key': key }, signsKey: true });
const ten = { condition_id: conditionId, amount: '10', id: 'first' };

test('an action for which there is no memory of all goes to the log under its id; a wallet that is full waits', async () => {
  await ingress.app.close();
  const retries = new RetryMemory();
  ingress = await openIngress(undefined, 0, retries);
  ingress.fakes.answer = carriedOut;
  retries.isFull = 'all';
  const [first, second] = [await act('split', ten), await act('split', ten)];
  expect([first.status, second.status]).toEqual([200, 200]);
  expect(first.body).toMatchObject({ id: 'first', success: true });
  expect(second.body).toEqual(first.body);
  expect(second.headers).not.toHaveProperty('idempotent-replayed');
  expect(retries.size).toBe(0);
  retries.isFull = 'wallet';
  const refused = await act('split', { ...ten, id: 'second' });
  expect([refused.status, refused.body.code]).toEqual([429, 'too_many_retry_keys']);
});

test('a split reserves its money and gets its response when the matcher has done it', async () => {
  const { status, body } = await act('split', ten);
  expect([status, body]).toEqual([
    200,
    {
      success: true,
      action: 'split',
      id: 'first',
      request_id: body.request_id,
      wallet: owner.address,
      condition_id: conditionId,
      amount: '10',
    },
  ]);
  expect(ingress.fakes.reserved).toEqual([body.request_id]);
  expect(ingress.fakes.sent).toMatchObject([
    {
      partition: market.partition,
      command: {
        kind: 'SplitPosition',
        sizeMicro: 10_000_000,
        holdMicro: 10_000_000,
        generation: 3,
        acceptedAtMs: ingress.fakes.nowMs,
      },
    },
  ]);
});

test('a merge and a redemption need no money; the redemption returns what it paid', async () => {
  ingress.fakes.reserve = 'not_ready';
  expect((await act('merge', ten)).body).toMatchObject({ success: true, amount: '10' });
  const { body } = await act('redeem', { conditionId, id: 'all' });
  expect(body).toMatchObject({ success: true, action: 'redeem', payout: '7.5' });
  expect(ingress.fakes.reserved).toEqual([]);
});

test('the same id is the same request on the log and gets the same response again', async () => {
  const first = await act('redeem', { condition_id: conditionId, id: 'once' });
  const again = await act('redeem', { condition_id: conditionId, id: 'once' });
  expect(again.body).toEqual(first.body);
  expect(again.headers['idempotent-replayed']).toBe('true');
  expect(ingress.fakes.sent).toHaveLength(1);
  const other = await act('redeem', { condition_id: conditionId }, keyed('twice'));
  expect([other.body.id, other.body.request_id === first.body.request_id]).toEqual([
    'twice',
    false,
  ]);
});

test('an id that means something else by now is refused', async () => {
  await act('split', ten);
  const other = await act('split', { ...ten, amount: '11' });
  expect([other.status, other.body.code]).toEqual([422, 'idempotency_key_reused']);
});

test('the request id follows from wallet, action, condition, amount and id', async () => {
  const ids = new Set<string>();
  for (const body of [ten, { ...ten, id: 'second' }, { ...ten, id: 'third', amount: '11' }])
    for (const action of ['split', 'merge']) ids.add((await act(action, body)).body.request_id);
  expect(ids.size).toBe(6);
  await ingress.app.close();
  ingress = await openIngress();
  ingress.fakes.answer = carriedOut;
  // The memory of requests is gone, so the same id passes: it must not meet what was reserved for another amount.
  ids.add((await act('split', { ...ten, amount: '12' })).body.request_id);
  expect(ids.size).toBe(7);
  ids.add((await act('split', { ...ten, id: 'second' })).body.request_id);
  expect(ids.size).toBe(7);
});

test('two keys of one wallet share the memory of requests: one id is one request', async () => {
  const second = trioIn(await ingress.keys.create(ownerWallet, '1'));
  expect(second.apiKey).not.toBe(ingress.trio.apiKey);
  const by = (trio: typeof second, body: object, action = 'split') =>
    call(ingress, {
      method: 'POST',
      url: `/account/${action}`,
      body: JSON.stringify(body),
      trio,
    });
  const first = await by(ingress.trio, { ...ten, amount: '0.01' });
  expect(first.status).toBe(200);
  const larger = await by(second, { ...ten, amount: '1000000' });
  expect([larger.status, larger.body.code]).toEqual([422, 'idempotency_key_reused']);
  const same = await by(second, { ...ten, amount: '0.01' });
  expect([same.status, same.body]).toEqual([200, first.body]);
  expect(ingress.fakes.sent).toHaveLength(1);
  await by(ingress.trio, { amount: '10', id: 'out' }, 'withdrawals');
  const more = await by(second, { amount: '4000', id: 'out' }, 'withdrawals');
  expect([more.status, more.body.code]).toEqual([422, 'idempotency_key_reused']);
  expect(ingress.fakes.transfers).toMatchObject([{ amountMicro: -10_000_000 }]);
});

test.each([
  ['split', { condition_id: conditionId, amount: '10' }],
  ['merge', { condition_id: conditionId, amount: '10' }],
  ['redeem', { condition_id: conditionId }],
  ['withdrawals', { amount: '5' }],
])(
  'POST /account/%s without an id is refused, also with a key that is not signed',
  async (action, body) => {
    for (const more of [{}, { headers: { 'idempotency-key': 'not-signed' } }]) {
      const { status, body: said } = await act(action, body, more);
      expect([status, said.code]).toEqual([400, 'request_id_required']);
      expect(said.error).toContain('needs an id');
    }
    expect([ingress.fakes.sent, ingress.fakes.transfers, ingress.retries.size]).toEqual([
      [],
      [],
      0,
    ]);
  },
);

test('a captured body whose quotes were changed is refused: it would be a request under another id', async () => {
  const wallet = owner.address;
  const captured = JSON.stringify({ amount: '5', id: 'pay-7', wallet });
  const forged = captured.replace('","wallet":"', "','wallet':'");
  expect(JSON.parse(forged).id).toBe(`pay-7','wallet':'${wallet}`);
  const send = (body: string, signedBody = body) =>
    call(ingress, { method: 'POST', url: '/account/withdrawals', body, signedBody });
  expect((await send(captured)).status).toBe(200);
  const again = await send(forged, captured);
  expect([again.status, again.body.code]).toEqual([401, 'invalid_l2']);
  expect(ingress.fakes.transfers).toHaveLength(1);
});

test('a request that was begun keeps its id, also when a retry of it comes to nothing', async () => {
  ingress.fakes.answer = () => ({ kind: 'pending' });
  expect((await act('split', ten)).body.code).toBe('action_unconfirmed');
  ingress.fakes.ready = false;
  expect((await act('split', ten)).status).toBe(425);
  ingress.fakes.ready = true;
  const other = await act('split', { ...ten, amount: '11' });
  expect([other.status, other.body.code]).toEqual([422, 'idempotency_key_reused']);
  ingress.fakes.answer = refusedAs('already_done');
  ingress.fakes.reserve = ({ amountMicro }) => (amountMicro === 0 ? 'already' : 'insufficient');
  expect((await act('split', ten)).status).toBe(200);
});

test('a captured request gets the response of the first one, however its header is changed', async () => {
  const captured = { amount: '5', id: 'mine' };
  const first = await act('withdrawals', captured);
  for (const key of ['a', 'b', 'c']) {
    const again = await act('withdrawals', captured, { headers: { 'idempotency-key': key } });
    expect([again.status, again.body]).toEqual([200, first.body]);
  }
  const signed = await act('withdrawals', { amount: '6' }, keyed('theirs'));
  expect([signed.status, signed.body.id]).toEqual([200, 'theirs']);
  expect(ingress.fakes.transfers).toHaveLength(2);
});

test('what the ledger holds for something else is refused and never sent', async () => {
  ingress.fakes.reserve = 'conflict';
  const { status, body } = await act('split', ten);
  expect([status, body.code, ingress.fakes.sent]).toEqual([422, 'idempotency_key_reused', []]);
  ingress.fakes.withdrawn = 'conflict';
  const out = await act('withdrawals', { amount: '5', id: 'out' });
  expect([out.status, out.body.code, ingress.fakes.transfers]).toEqual([
    422,
    'idempotency_key_reused',
    [],
  ]);
});

test('an action that the log did already is a success, whatever was forgotten', async () => {
  for (const code of ['duplicate', 'already_done'] as const) {
    ingress.fakes.answer = refusedAs(code);
    const { status, body } = await act('split', { ...ten, id: code });
    expect([status, body.success]).toEqual([200, true]);
  }
});

test('an action without a result may be sent again, and its split then asks the log without money', async () => {
  ingress.fakes.answer = () => ({ kind: 'pending' });
  const late = await act('split', ten);
  expect([late.status, late.body]).toMatchObject([
    503,
    { code: 'action_unconfirmed', id: 'first', retry_after_seconds: 1 },
  ]);
  ingress.fakes.answer = refusedAs('already_done');
  ingress.fakes.reserve = ({ amountMicro }) => (amountMicro === 0 ? 'already' : 'insufficient');
  const again = await act('split', ten);
  expect([again.status, again.body.request_id]).toEqual([200, late.body.request_id]);
  expect(ingress.fakes.sent.at(-1)?.command).toMatchObject({ holdMicro: 0 });
});

test('a split that was carried out is not refused for its own money after its retry key was forgotten', async () => {
  ingress.fakes.reserve = ({ amountMicro }) => (amountMicro === 0 ? 'reserved' : 'insufficient');
  ingress.fakes.answer = refusedAs('already_done');
  expect((await act('split', ten)).status).toBe(200);
  expect(ingress.fakes.sent).toMatchObject([{ command: { holdMicro: 0 } }]);
  // Such questions are limited.
  ingress.fakes.unfunded.wait = 9;
  const limited = await act('split', { ...ten, id: 'second' });
  expect([limited.status, limited.body]).toMatchObject([
    429,
    { code: 'rate_limited', retry_after_seconds: 9 },
  ]);
  expect(ingress.fakes.sent).toHaveLength(1);
});

test.each([
  ['split', 'insufficient_balance_or_allowance', 'insufficient_balance_or_allowance'],
  ['merge', 'insufficient_balance_or_allowance', 'insufficient_position'],
  ['merge', 'insufficient_position', 'insufficient_position'],
  ['redeem', 'market_not_ready', 'market_not_resolved'],
  ['split', 'market_resolved', 'market_resolved'],
] as const)('%s refused as %s is told as %s', async (action, code, told) => {
  ingress.fakes.answer = refusedAs(code);
  const asked = action === 'redeem' ? { condition_id: conditionId, id: 'all' } : ten;
  const { status, body } = await act(action, asked);
  expect([status, body.code, typeof body.error]).toEqual([400, told, 'string']);
});

test('missing money and unavailable engines are refused before anything is sent', async () => {
  ingress.fakes.reserve = 'insufficient';
  expect((await act('split', ten)).body.code).toBe('insufficient_balance_or_allowance');
  ingress.fakes.reserve = 'not_ready';
  expect((await act('split', ten)).body.code).toBe('ledger_not_ready');
  ingress.fakes.ready = false;
  expect((await act('merge', ten)).status).toBe(425);
  ingress.retries.isAway = true;
  expect((await act('merge', ten)).body.code).toBe('retries_unavailable');
  expect(ingress.fakes.sent).toHaveLength(0);
});

test('a split in a market that was listed a moment ago is carried out once that is read', async () => {
  ingress.fakes.lateMarkets.push(lateMarket);
  expect((await act('split', { ...ten, condition_id: lateConditionId })).status).toBe(200);
  expect(ingress.fakes.sent).toMatchObject([{ command: { market: lateMarket.market } }]);
});

test('a split that could not be sent gives its money back', async () => {
  ingress.fakes.answer = () => ({ kind: 'unsent', code: 'overloaded' });
  const { status, body } = await act('split', ten);
  expect([status, ingress.fakes.givenBack]).toEqual([503, [body.request_id]]);
});

test.each([
  ['split', { condition_id: conditionId }, 'invalid_request'],
  ['split', { ...ten, amount: 10 }, 'invalid_request'],
  ['split', { ...ten, amount: '0' }, 'invalid_request'],
  ['split', { ...ten, amount: '0.001' }, 'invalid_request'],
  ['split', { ...ten, amount: '1e3' }, 'invalid_request'],
  ['split', { ...ten, amount: '99999999999' }, 'invalid_request'],
  ['split', { ...ten, id: 'a b' }, 'invalid_request'],
  ['split', [], 'invalid_request'],
  ['merge', { ...ten, condition_id: `0x${'00'.repeat(32)}` }, 'condition_mismatch'],
  ['merge', { amount: '1', id: 'first' }, 'condition_mismatch'],
  ['merge', { ...ten, wallet: `0x${'77'.repeat(20)}` }, 'signer_mismatch'],
  ['redeem', { condition_id: conditionId, amount: '1' }, 'invalid_request'],
  ['withdrawals', {}, 'invalid_request'],
  ['withdrawals', { amount: '0' }, 'invalid_request'],
  ['withdrawals', { amount: 5 }, 'invalid_request'],
])('POST /account/%s %j is refused as %s', async (action, body, code) => {
  const answer = await act(action, body);
  expect([answer.status, answer.body.code]).toEqual([400, code]);
  expect([ingress.fakes.sent, ingress.fakes.transfers]).toEqual([[], []]);
});

test('a key of no visible characters is refused', async () => {
  const { id: _id, ...unnamed } = ten;
  const { body } = await act('merge', unnamed, keyed('x'.repeat(256)));
  expect(body).toEqual({
    error: 'Idempotency-Key must be 1 to 255 visible ASCII characters',
    code: 'idempotency_key_invalid',
  });
});

test('an account action of a contract wallet is for the address that it is bound to', async () => {
  const topic = new OwnersTopic();
  const wallet = `0x${'88'.repeat(20)}`;
  topic.records.push(ownerRecord(wallet, owner.address));
  await ingress.app.close();
  ingress = await openIngress(topic);
  ingress.fakes.answer = carriedOut;
  const { body } = await act('merge', { ...ten, wallet });
  expect([body.success, body.wallet]).toEqual([true, wallet]);
});

test('a withdrawal is held, written with its generation, and returns what was paid', async () => {
  const { status, body } = await act('withdrawals', { amount: '12.345678', id: 'out' });
  expect([status, body]).toMatchObject([
    200,
    { success: true, action: 'withdrawal', id: 'out', amount: '12.345678' },
  ]);
  expect(ingress.fakes.transfers).toMatchObject([{ amountMicro: -12_345_678, generation: 3 }]);
  expect(`0x${ingress.fakes.transfers[0]?.transferId.toString('hex')}`).toBe(body.request_id);
  await act('withdrawals', { amount: '12.345678', id: 'out' });
  expect(ingress.fakes.transfers).toHaveLength(1);
  ingress.fakes.paid = () => 1_500_000;
  const less = await act('withdrawals', { amount: '2', id: 'less' });
  expect([less.status, less.body.amount]).toEqual([200, '1.5']);
  ingress.fakes.paid = () => 0;
  const nothing = await act('withdrawals', { amount: '2', id: 'nothing' });
  expect([nothing.status, nothing.body.code]).toEqual([400, 'insufficient_balance_or_allowance']);
});

test('a frozen wallet withdraws nothing, and its hold is given back', async () => {
  ingress.fakes.frozen.add(ownerWallet);
  const { status, body } = await act('withdrawals', { amount: '1', id: 'out' });
  expect([status, body.code]).toEqual([403, 'withdrawals_frozen']);
  expect([ingress.fakes.transfers, ingress.fakes.givenBack]).toEqual([[], [body.request_id]]);
  ingress.fakes.withdrawn = 'already';
  const open = await act('withdrawals', { amount: '1', id: 'open' });
  expect([open.status, open.body.code]).toEqual([503, 'action_unconfirmed']);
  ingress.fakes.withdrawn = 'reserved';
  ingress.fakes.frozen.clear();
  expect((await act('withdrawals', { amount: '1', id: 'out' })).status).toBe(200);
});

test.each([
  ['insufficient', 400, 'insufficient_balance_or_allowance'],
  ['not_ready', 503, 'ledger_not_ready'],
] as const)('a withdrawal whose money is %s is not written', async (outcome, status, code) => {
  ingress.fakes.withdrawn = outcome;
  const answer = await act('withdrawals', { amount: '1', id: 'out' });
  expect([answer.status, answer.body.code, ingress.fakes.transfers]).toEqual([status, code, []]);
});

test('a withdrawal that the ledger has is a success; one on its way is written again, which counts once', async () => {
  ingress.fakes.withdrawn = 'applied';
  expect((await act('withdrawals', { amount: '1', id: 'a' })).status).toBe(200);
  expect(ingress.fakes.transfers).toHaveLength(0);
  ingress.fakes.withdrawn = 'already';
  ingress.fakes.written = 'unknown';
  ingress.fakes.paid = null;
  Object.assign(ingress.services.money, { pause: async () => {} });
  const unknown = await act('withdrawals', { amount: '1', id: 'b' });
  expect([unknown.status, unknown.body.code]).toEqual([503, 'action_unconfirmed']);
  ingress.fakes.paid = (askedMicro) => askedMicro;
  expect((await act('withdrawals', { amount: '1', id: 'b' })).status).toBe(200);
});

test('a withdrawal that was certainly not written takes itself out of its reservation', async () => {
  ingress.fakes.written = 'unsent';
  for (const [held, code] of [
    ['reserved', 'overloaded'],
    ['already', 'action_unconfirmed'],
  ] as const) {
    ingress.fakes.withdrawn = held;
    const { status, body } = await act('withdrawals', { amount: '1', id: held });
    expect([status, body.code]).toEqual([503, code]);
    expect(ingress.fakes.givenBack.at(-1)).toBe(body.request_id);
  }
});

test('a request whose first one still runs is refused, and so is one of too many keys', async () => {
  let goOn = () => {};
  ingress.fakes.answer = async (command) => {
    await new Promise<void>((resolve) => {
      goOn = resolve;
    });
    return carriedOut(command);
  };
  const running = act('merge', ten);
  while (ingress.fakes.sent.length === 0) await new Promise((resolve) => setImmediate(resolve));
  const second = await act('merge', ten);
  expect([second.status, second.body]).toMatchObject([
    503,
    { code: 'idempotency_in_progress', retry_after_seconds: 1 },
  ]);
  goOn();
  expect((await running).status).toBe(200);
  ingress.retries.begin = async () => ({ kind: 'full', text: '' });
  const full = await act('merge', ten);
  expect([full.status, full.body.code]).toEqual([429, 'too_many_retry_keys']);
});

test('the id of a request is in every response and stored with none', async () => {
  const ids = async () => {
    const body = { condition_id: conditionId, amount: '10' };
    return (await act('merge', body, keyed('a-name-of-my-own'))).body.id;
  };
  expect([await ids(), await ids()]).toEqual(['a-name-of-my-own', 'a-name-of-my-own']);
  const kept = JSON.stringify([...ingress.retries.entries]);
  expect(kept).toContain('merge');
  expect(kept).not.toContain('a-name-of-my-own');
});
