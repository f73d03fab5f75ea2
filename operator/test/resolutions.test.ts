import { setImmediate as nextTurn } from 'node:timers/promises';
import { Fault } from '@pm/kit/fault';
import type { Approval } from '@pm/schemas/log/approvals';
import type { CatalogEntry } from '@pm/schemas/log/catalog';
import { MemoryTopic } from '../../ingress/test/table-fixture.ts';
import { retryMs, settleMs, unshownMaxMs } from '../src/resolutions.io.ts';
import { carriedOut, event, market, openOperator, token, tokenNamed } from './operator-fixture.ts';

const challengeMs = 600_000;
const rule = {
  isOn: true,
  limitsMicro: { deposit: 0, withdrawal: 0 },
  windowMs: 60_000,
  challengeMs,
};
const by = (shown: string) => ({ authorization: `Bearer ${shown}` });
const alice = by(tokenNamed('alice'));

let approvalsTopic: MemoryTopic<Approval>;
let catalogTopic: MemoryTopic<CatalogEntry>;
let operator: Awaited<ReturnType<typeof openOperator>>;

const open = (secondPerson = rule) =>
  openOperator(undefined, { secondPerson, approvalsTopic, catalogTopic });

beforeEach(async () => {
  approvalsTopic = new MemoryTopic();
  catalogTopic = new MemoryTopic();
  operator = await open();
  await operator.post('/operator/catalog', { events: [event('a', [market('a-1')])] });
});
afterEach(() => operator.app.close());

const listed = () => operator.catalog.findMarket(1);
const resolve = (payout0 = '1') => operator.post('/operator/markets/1/resolve', { payout0 });
const decide = (id: string, decision = 'approve') =>
  operator.post(`/operator/approvals/${id}`, { decision }, alice);
const challenge = (id: string, headers = alice) =>
  operator.post(`/operator/approvals/${id}/challenge`, { reason: 'it rained' }, headers);

async function propose(payout0 = '1'): Promise<string> {
  const { body } = await resolve(payout0);
  const { id } = body as { readonly id: string };
  expect((await decide(id)).status).toBe(200);
  return id;
}

async function pass(ms: number): Promise<void> {
  operator.fakes.nowMs += ms;
  await operator.services.resolutions.tick();
}

describe('an approved resolution', () => {
  it('is shown with its payout and time, and pays at the end of its window and not before', async () => {
    const endMs = operator.fakes.nowMs + challengeMs;
    const { body } = await resolve();
    expect(listed()).toMatchObject({ proposedPayout0: -1, paysAtMs: 0 });
    expect(await decide(body.id)).toMatchObject({
      status: 200,
      body: {
        approval: { state: 'proposed', paysAt: new Date(endMs).toISOString(), decidedBy: 'alice' },
        result: null,
      },
    });
    expect(listed()).toMatchObject({ proposedPayout0: 10_000, paysAtMs: endMs, payout0: -1 });
    await pass(challengeMs + settleMs - 1);
    expect(listed()?.payout0).toBe(-1);
    expect(operator.sent).toHaveLength(1);
    await pass(1);
    const closedAtMs = expect.any(Number);
    expect(listed()).toMatchObject({ payout0: 10_000, mode: 'RESOLVED', closed: true, closedAtMs });
    expect(listed()?.closedAtMs).toBeGreaterThan(0);
    expect((await operator.get(`/operator/approvals/${body.id}`)).body.state).toBe('carried_out');
    expect((await resolve()).status).toBe(200);
    expect((await resolve('0')).status).toBe(409);
  });

  it('waits until the clock of the partition has passed, too', async () => {
    await propose();
    operator.fakes.partitionsBehindMs = 5_000;
    await pass(challengeMs + settleMs + 4_999);
    expect(listed()?.payout0).toBe(-1);
    await pass(1);
    expect(listed()?.payout0).toBe(10_000);
  });

  it('has its window from the later of the two clocks', async () => {
    operator.fakes.partitionsBehindMs = -60_000;
    await propose();
    expect(listed()?.paysAtMs).toBe(operator.fakes.nowMs + 60_000 + challengeMs);
  });

  it('is the same one when it is asked for again, and no other is taken meanwhile', async () => {
    const id = await propose();
    expect(await resolve('1.0')).toMatchObject({ status: 202, body: { id, state: 'proposed' } });
    expect(await resolve('0')).toMatchObject({ status: 409 });
    expect(await decide(id)).toMatchObject({ status: 200, body: { result: null } });
  });

  it('stands in the way of another request of the market that waits', async () => {
    const other = (await resolve('0')).body.id;
    await propose('1');
    expect((await decide(other)).status).toBe(409);
    expect(listed()?.proposedPayout0).toBe(10_000);
  });

  it('is retried until the partition answers, and counted as due meanwhile', async () => {
    const id = await propose();
    operator.fakes.answer = () => ({ kind: 'pending' });
    await pass(challengeMs + settleMs);
    expect(operator.services.resolutions.dueCount()).toBe(1);
    expect((await challenge(id)).body.error).toContain('window has ended');
    operator.fakes.answer = carriedOut;
    await pass(retryMs - 1);
    expect(listed()?.payout0).toBe(-1);
    await pass(1);
    expect([listed()?.payout0, operator.services.resolutions.dueCount()]).toEqual([10_000, 0]);
    const { entries } = (await operator.get('/operator/audit?containing=/1/resolve')).body;
    expect(entries[0]).toMatchObject({
      who: `approval ${id}`,
      status: 200,
      body: '{"payout0":"1"}',
    });
  });

  it('is not carried out without a record on the audit trail', async () => {
    await propose();
    const { audit } = operator.fakes;
    operator.fakes.audit = () => {
      throw new Fault('not_sent', 'retry');
    };
    await pass(challengeMs + settleMs);
    expect(operator.sent).toHaveLength(1);
    operator.fakes.audit = audit;
    await pass(retryMs);
    expect(listed()?.payout0).toBe(10_000);
  });
});

describe('a challenge', () => {
  it('of any operator makes the resolution void, and another proposal needs approval and window', async () => {
    const id = await propose();
    const viewer = by(tokenNamed('viewer'));
    expect(await challenge(id, viewer)).toMatchObject({
      status: 200,
      body: { state: 'challenged', challengedBy: 'viewer', challengeReason: 'it rained' },
    });
    expect(listed()).toMatchObject({
      proposedPayout0: -1,
      challengedAtMs: operator.fakes.nowMs,
    });
    expect((await decide(id)).status).toBe(409);
    expect((await challenge(id)).body.challengedBy).toBe('viewer');
    await pass(challengeMs + settleMs);
    expect(listed()?.payout0).toBe(-1);
    const other = await propose('0');
    expect(listed()).toMatchObject({ proposedPayout0: 0, challengedAtMs: 0, challenges: 1 });
    expect((await challenge(id)).status).toBe(200);
    expect(listed()?.proposedPayout0).toBe(0);
    await pass(challengeMs + settleMs);
    expect(listed()?.payout0).toBe(0);
    expect((await challenge(other)).body.error).toBe('it is carried out');
  });

  it('is a way back for the one who proposed it, before and after the approval', async () => {
    const { body } = await resolve();
    expect((await challenge(body.id, by(token))).body).toMatchObject({ state: 'challenged' });
    expect((await decide(body.id)).status).toBe(409);
    expect((await challenge(await propose(), by(token))).body.challengedBy).toBe('operator');
  });

  it('is too late when the clock of the partition has passed the window, whatever that of the process says', async () => {
    const id = await propose();
    operator.fakes.partitionsBehindMs = -challengeMs;
    expect((await challenge(id)).body.error).toBe('its challenge window has ended');
  });

  it('that another process took, whose clock is behind, stops a resolution that is due here', async () => {
    const id = await propose();
    const { approvals } = operator.services;
    const { begin } = approvals;
    approvals.begin = async (due) => {
      operator.fakes.nowMs -= challengeMs + settleMs;
      expect((await challenge(due)).status).toBe(200);
      return await begin.call(approvals, due);
    };
    await pass(challengeMs + settleMs);
    expect((await operator.get(`/operator/approvals/${id}`)).body.state).toBe('challenged');
    expect(operator.sent).toHaveLength(1);
    expect(listed()?.payout0).toBe(-1);
  });

  it('takes a reason, a resolution, and an id that there is', async () => {
    const id = await propose();
    const path = `/operator/approvals/${id}/challenge`;
    expect((await operator.post(path, { reason: '' }, alice)).status).toBe(400);
    const unknown = '00000000-0000-0000-0000-000000000000';
    expect((await challenge(unknown)).status).toBe(404);
  });

  it('stays, whatever a process that had not read it writes later', async () => {
    const id = await propose();
    const stale = approvalsTopic.records.at(-1);
    await challenge(id);
    if (stale !== undefined) approvalsTopic.records.push(stale);
    const { app } = operator;
    operator = await open();
    await app.close();
    await pass(challengeMs + settleMs);
    // A window that the catalog does not show would begin again.
    await pass(unshownMaxMs);
    await pass(challengeMs + settleMs);
    expect(listed()?.payout0).toBe(-1);
  });
});

describe('after a restart', () => {
  async function restart(): Promise<void> {
    await nextTurn();
    const { nowMs } = operator.fakes;
    await operator.app.close();
    operator = await open();
    operator.fakes.nowMs = nowMs;
  }

  it('what was due while nothing ran is carried out', async () => {
    await propose();
    await restart();
    expect(listed()).toMatchObject({ payout0: -1, proposedPayout0: 10_000 });
    await pass(10 * challengeMs);
    expect(listed()?.payout0).toBe(10_000);
  });

  it('a window that the catalog never showed begins again', async () => {
    const { body } = await resolve();
    catalogTopic.fault = new Fault('not_sent', 'retry');
    expect((await decide(body.id)).status).toBe(503);
    catalogTopic.fault = null;
    operator.fakes.nowMs += challengeMs;
    await restart();
    await pass(settleMs);
    await pass(unshownMaxMs);
    const paysAtMs = operator.fakes.nowMs + challengeMs;
    expect(listed()).toMatchObject({ payout0: -1, proposedPayout0: 10_000, paysAtMs });
    await pass(challengeMs + settleMs);
    expect(listed()?.payout0).toBe(10_000);
  });

  it('a challenge that the catalog never showed is shown', async () => {
    const id = await propose();
    catalogTopic.fault = new Fault('not_sent', 'retry');
    expect((await challenge(id)).status).toBe(503);
    catalogTopic.fault = null;
    await restart();
    await pass(0);
    await pass(unshownMaxMs);
    expect(listed()).toMatchObject({ proposedPayout0: -1, challengedAtMs: expect.any(Number) });
  });

  it('an event is closed whose last resolution broke off', async () => {
    const id = await propose();
    const { finish } = operator.services.approvals;
    operator.services.approvals.finish = async () => {
      throw new Fault('not_sent', 'retry');
    };
    await pass(challengeMs + settleMs);
    operator.services.approvals.finish = finish;
    expect(listed()?.payout0).toBe(10_000);
    await restart();
    await pass(0);
    await pass(unshownMaxMs);
    expect((await operator.get(`/operator/approvals/${id}`)).body.state).toBe('carried_out');
    expect(operator.catalog.findEvent('1')?.closed).toBe(true);
  });
});

test('without a second person a resolution is proposed at once', async () => {
  await operator.app.close();
  operator = await open({ ...rule, isOn: false });
  const asked = await resolve();
  expect(asked).toMatchObject({ status: 202, body: { state: 'proposed', decidedBy: null } });
  expect((await resolve()).body.id).toBe(asked.body.id);
  expect((await resolve('0')).status).toBe(409);
  expect((await challenge(asked.body.id)).status).toBe(200);
  expect((await resolve('0')).status).toBe(202);
  await pass(challengeMs + settleMs);
  expect(listed()?.payout0).toBe(0);
});

test('a window that was begun is kept when later ones are switched off', async () => {
  await propose();
  await operator.app.close();
  operator = await open({ ...rule, isOn: false, challengeMs: 0 });
  expect((await resolve('1')).status).toBe(202);
  expect((await resolve('0')).status).toBe(409);
  expect(listed()?.payout0).toBe(-1);
});
