import { Fault } from '@pm/kit/fault';
import type { Approval } from '@pm/schemas/log/approvals';
import { MemoryTopic } from '../../ingress/test/table-fixture.ts';
import { Approvals, approvalsMax, type SecondPersonRule } from '../src/approvals.io.ts';
import {
  carriedOut,
  event,
  MemorySums,
  market,
  openOperator,
  token,
  tokenNamed,
} from './operator-fixture.ts';

const rule: SecondPersonRule = {
  isOn: true,
  limitsMicro: { deposit: 100_000_000, withdrawal: 100_000_000 },
  windowMs: 60_000,
  challengeMs: 0,
};
const limitUsdc = '100';

let approvalsTopic: MemoryTopic<Approval>;
let operator: Awaited<ReturnType<typeof openOperator>>;
beforeEach(async () => {
  approvalsTopic = new MemoryTopic();
  operator = await openOperator(undefined, { secondPerson: rule, approvalsTopic });
  await operator.post('/operator/catalog', { events: [event('a', [market('a-1')])] });
});
afterEach(() => operator.app.close());

const by = (shown: string) => ({ authorization: `Bearer ${shown}` });
const alice = by(tokenNamed('alice'));
const first = by(token);
const deposit = (amount: string, number = 1) => ({
  deposits: [
    {
      transferId: `0x${String(number).padStart(64, '0')}`,
      wallet: `0x${'02'.repeat(20)}`,
      amount,
    },
  ],
});
const decide = (id: string, decision: string, headers = alice) =>
  operator.post(`/operator/approvals/${id}`, { decision }, headers);
const resolve = (headers = first) =>
  operator.post('/operator/markets/1/resolve', { payout0: '1' }, headers);

describe('a resolution', () => {
  it('does nothing until another operator approves it', async () => {
    const asked = await resolve();
    expect(asked).toMatchObject({
      status: 202,
      body: { action: 'resolveMarket', market: '1', state: 'pending', requestedBy: 'operator' },
    });
    expect(operator.catalog.findMarket(1)?.payout0).toBe(-1);
    const own = await decide(asked.body.id, 'approve', first);
    expect([own.status, own.body]).toEqual([403, { error: 'a second person decides' }]);
    expect(operator.catalog.findMarket(1)?.payout0).toBe(-1);
    expect(await decide(asked.body.id, 'approve')).toMatchObject({
      status: 200,
      body: {
        approval: { state: 'approved', decidedBy: 'alice' },
        result: { id: '1', payout0: '1' },
      },
    });
    expect(operator.catalog.findMarket(1)?.payout0).toBe(10_000);
    expect(await resolve()).toMatchObject({ status: 200, body: { payout0: '1' } });
  });

  it('is decided on by the roles that may send it', async () => {
    const { body } = await resolve();
    for (const role of ['viewer', 'catalog', 'treasury'] as const) {
      const answer = await decide(body.id, 'approve', by(tokenNamed(role)));
      expect([answer.status, answer.body]).toEqual([403, { error: 'it takes the role resolver' }]);
    }
    expect((await decide(body.id, 'approve', by(tokenNamed('resolver')))).status).toBe(200);
  });

  it('that was rejected is not carried out', async () => {
    const { body } = await resolve();
    expect(await decide(body.id, 'reject')).toMatchObject({
      body: { approval: { state: 'rejected' }, result: null },
    });
    expect((await decide(body.id, 'approve')).status).toBe(409);
    expect(operator.catalog.findMarket(1)?.payout0).toBe(-1);
    expect((await resolve()).body.id).not.toBe(body.id);
  });

  it('expires', async () => {
    const { body } = await resolve();
    operator.fakes.nowMs += rule.windowMs;
    const late = await decide(body.id, 'approve');
    expect([late.status, late.body.error]).toEqual([409, expect.stringContaining('expired')]);
    const { data } = (await operator.get('/operator/approvals')).body;
    expect(data).toMatchObject([{ id: body.id, state: 'expired', decidedBy: null }]);
  });

  it('whose carrying out was interrupted is carried out by the same approval again', async () => {
    const { body } = await resolve();
    operator.fakes.answer = () => ({ kind: 'unsent' }) as never;
    expect((await decide(body.id, 'approve')).status).toBe(503);
    operator.fakes.answer = carriedOut;
    operator.fakes.nowMs += rule.windowMs;
    expect((await decide(body.id, 'approve')).status).toBe(200);
    expect(operator.catalog.findMarket(1)?.payout0).toBe(10_000);
  });

  it('of an unknown market asks no second person', async () => {
    const path = '/operator/markets/9/resolve';
    expect((await operator.post(path, { payout0: '1' })).status).toBe(404);
    expect(approvalsTopic.records).toEqual([]);
  });
});

describe('a deposit', () => {
  it('within the limit of a day needs one person, and more of the same day another', async () => {
    expect((await operator.post('/operator/deposits', deposit(limitUsdc))).status).toBe(200);
    const more = await operator.post('/operator/deposits', deposit('0.000001', 2));
    expect(more).toMatchObject({ status: 202, body: { action: 'deposit', market: null } });
    expect(operator.transfers).toHaveLength(1);
    expect(await decide(more.body.id, 'approve')).toMatchObject({
      body: { result: { accepted: 1 } },
    });
    expect(operator.transfers.map(({ amountMicro }) => amountMicro)).toEqual([100_000_000, 1]);
    operator.fakes.nowMs += 86_400_000;
    expect((await operator.post('/operator/deposits', deposit(limitUsdc, 3))).status).toBe(200);
  });

  it('counts for its day also after a restart and at another process', async () => {
    const daySums = new MemorySums();
    for (const [number, status] of [200, 202].entries()) {
      const process = await openOperator(undefined, { secondPerson: rule, daySums });
      const answer = await process.post('/operator/deposits', deposit('60', number));
      expect(answer.status).toBe(status);
      await process.app.close();
    }
  });

  it('needs a second person while the sums of the day are away', async () => {
    const daySums = {
      add: () => Promise.reject(new Fault('redis_unavailable', 'retry')),
    };
    const process = await openOperator(undefined, { secondPerson: rule, daySums });
    expect((await process.post('/operator/deposits', deposit('1'))).status).toBe(202);
    expect(process.transfers).toEqual([]);
    await process.app.close();
  });

  it('sent again while it waits is the same approval', async () => {
    const sent = () => operator.post('/operator/deposits', deposit('101'));
    const [one, other] = [await sent(), await sent()];
    expect(other.body.id).toBe(one.body.id);
    expect(approvalsTopic.records).toHaveLength(1);
  });
});

test('approvals survive a restart, and every step is on the audit trail', async () => {
  const { body } = await resolve();
  const restarted = await openOperator(undefined, { secondPerson: rule, approvalsTopic });
  await restarted.post('/operator/catalog', { events: [event('a', [market('a-1')])] });
  const path = `/operator/approvals/${body.id}`;
  expect((await restarted.get(path)).body).toMatchObject({
    state: 'pending',
    body: '{"payout0":"1"}',
  });
  expect((await restarted.post(path, { decision: 'approve' }, alice)).status).toBe(200);
  const { entries } = (await restarted.get('/operator/audit')).body;
  expect(entries[0]).toMatchObject({ who: 'alice', subject: path, status: 200 });
  await restarted.app.close();
});

test('only so many requests wait, and old decisions make room', async () => {
  const { approvals } = operator.services;
  expect(approvals).toBeInstanceOf(Approvals);
  const ask = (number: number) => {
    const body = Buffer.from(String(number));
    return approvals.request({ action: 'deposit', market: 0, subject: '', body }, 'operator');
  };
  for (let number = 0; number < approvalsMax; number += 1) await ask(number);
  expect(await ask(approvalsMax)).toMatchObject({ status: 409 });
  operator.fakes.nowMs += rule.windowMs;
  expect(await ask(approvalsMax)).toMatchObject({ decision: 'NONE' });
  expect(approvals.list()).toHaveLength(approvalsMax);
});
