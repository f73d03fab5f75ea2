import { createHash } from 'node:crypto';
import { AgentDirectory } from '@pm/domain/accounts/agent-directory';
import { parseAgentId, type WalletAddress } from '@pm/schemas/ids';
import { refusalText } from '@pm/schemas/refusals';
import { flushActivity } from '../../src/accounts/agent-activity.io.ts';
import { agentsMax } from '../../src/accounts/api-keys.io.ts';
import { call, type IngressUnderTest, owner } from '../ingress-fixture.ts';
import { ask, join } from '../keys-fixture.ts';
import { Processes } from '../processes-fixture.ts';
import { walletOf } from '../wallet-fixture.ts';

const processes = new Processes();
let ingress: IngressUnderTest;

beforeEach(async () => {
  ingress = await processes.first();
});
afterAll(() => processes.close());

const url = '/api/v1/agents';
const settled = () => new Promise((resolve) => setImmediate(resolve));
const wallet = owner.address as WalletAddress;

interface Made {
  readonly id: string;
  readonly key: string;
}

async function make(name = 'a bot'): Promise<Made> {
  const made = await call(ingress, { method: 'POST', url, body: JSON.stringify({ name }) });
  expect(made.status).toBe(200);
  return made.body;
}

const change = (id: string, action: string) =>
  call(ingress, { method: 'POST', url: `${url}/${id}/${action}` });

const me = (process: IngressUnderTest, key: string) =>
  ask(process, { method: 'GET', url: '/api/v1/me', headers: { authorization: `Bearer ${key}` } });

async function expectShut(process: IngressUnderTest, key: string): Promise<void> {
  const answer = await me(process, key);
  expect([answer.status, answer.body]).toEqual([401, { error: 'unauthorized' }]);
  expect(answer.headers['www-authenticate']).toBe('Bearer');
}

test('an agent is made with a key of 36 characters that is shown once and stored as its hash', async () => {
  const { id, key } = await make();
  expect(key).toMatch(/^pro_[A-Za-z0-9_-]{32}$/);
  const [settings, hashed] = processes.accounts.agents.records.map(({ value }) => value);
  expect(settings).toMatchObject({ kind: 'AgentSettings', name: 'a bot', status: 'ACTIVE' });
  const keyHash = createHash('sha256').update(key).digest();
  expect(hashed).toMatchObject({ kind: 'AgentKey', keyHash });
  expect(JSON.stringify(processes.accounts.agents.records)).not.toContain(key);
  const list = await call(ingress, { method: 'GET', url });
  const createdAt = new Date(ingress.fakes.nowMs).toISOString();
  expect(list.body).toEqual({
    data: [{ id, name: 'a bot', status: 'active', createdAt, lastActiveAt: null }],
  });
  expect((await make()).key).not.toBe(key);
});

test('an agent sees itself, in every process and after a restart', async () => {
  const peer = await processes.next();
  const { id, key } = await make();
  await settled();
  for (const process of [ingress, peer, await processes.next()]) {
    const answer = await me(process, key);
    expect(answer).toMatchObject({ status: 200, body: { id, name: 'a bot', status: 'active' } });
    expect(JSON.stringify(answer.body)).not.toContain(key);
  }
});

test('a paused agent is shut out until it is resumed; the same again changes nothing', async () => {
  const peer = await processes.next();
  const { id, key } = await make();
  for (let times = 0; times < 2; times += 1) {
    expect((await change(id, 'pause')).body).toMatchObject({ id, status: 'paused' });
  }
  expect(processes.accounts.agents.records).toHaveLength(3);
  await settled();
  for (const process of [ingress, peer, await processes.next()]) await expectShut(process, key);
  expect((await change(id, 'resume')).body).toMatchObject({ id, status: 'active' });
  await settled();
  for (const process of [ingress, peer, await processes.next()]) {
    expect((await me(process, key)).status).toBe(200);
  }
});

test('rotation ends the previous key at once, also that of a paused agent', async () => {
  const peer = await processes.next();
  const { id, key } = await make();
  const rotated = await change(id, 'rotate');
  expect(rotated.body).toMatchObject({ id, key: expect.stringMatching(/^pro_/) });
  await settled();
  for (const process of [ingress, peer, await processes.next()]) {
    await expectShut(process, key);
    expect((await me(process, rotated.body.key)).status).toBe(200);
  }
  await change(id, 'pause');
  const paused = await change(id, 'rotate');
  await expectShut(ingress, paused.body.key);
  await change(id, 'resume');
  expect((await me(ingress, paused.body.key)).status).toBe(200);
  await expectShut(ingress, rotated.body.key);
});

test('a deleted agent is gone for ever, whatever a process that does not know it yet writes', async () => {
  const peer = await processes.next();
  const { id, key } = await make();
  await settled();
  processes.accounts.agents.isHeldUp = true;
  const gone = await call(ingress, { method: 'DELETE', url: `${url}/${id}` });
  expect([gone.status, gone.body]).toEqual([200, { deleted: true }]);
  const late = await call(peer, { method: 'POST', url: `${url}/${id}/pause` });
  expect(late.status).toBe(200);
  await call(peer, { method: 'POST', url: `${url}/${id}/rotate` });
  processes.accounts.agents.goOn();
  for (const process of [ingress, peer, await processes.next()]) {
    await expectShut(process, key);
    expect((await call(process, { method: 'GET', url })).body).toEqual({ data: [] });
    const again = await call(process, { method: 'DELETE', url: `${url}/${id}` });
    expect([again.status, again.body.code]).toEqual([404, 'agent_not_found']);
  }
});

test('noting a use on one process does not bring back a key that another has rotated', async () => {
  const peer = await processes.next();
  const { id, key } = await make();
  await settled();
  await me(peer, key);
  processes.accounts.agents.isHeldUp = true;
  await change(id, 'rotate');
  await flushActivity({ ...peer.stores, ...fails });
  processes.accounts.agents.goOn();
  for (const process of [ingress, peer, await processes.next()]) await expectShut(process, key);
});

test('what compaction leaves says the same as the whole topic', async () => {
  const [first, second, third] = [await make('one'), await make('two'), await make('three')];
  await change(first.id, 'pause');
  await change(second.id, 'rotate');
  await change(first.id, 'resume');
  await call(ingress, { method: 'DELETE', url: `${url}/${third.id}` });
  const [whole, compacted] = [new AgentDirectory(), new AgentDirectory()];
  for (const { value } of processes.accounts.agents.records) if (value !== null) whole.apply(value);
  const left = processes.accounts.agents.compact();
  expect(left.length).toBeLessThan(processes.accounts.agents.records.length);
  for (const { value } of left) if (value !== null) compacted.apply(value);
  expect(compacted.listOf(wallet)).toEqual(whole.listOf(wallet));
  expect(
    compacted
      .listOf(wallet)
      .map(({ name }) => name)
      .sort(),
  ).toEqual(['one', 'two']);
  expect(compacted.madeBy(wallet)).toBe(3);
});

test('agents belong to who made them', async () => {
  const { id, key } = await make();
  const other = await join(ingress, walletOf(9));
  expect((await other.call({ method: 'GET', url })).body).toEqual({ data: [] });
  for (const sent of [
    { method: 'POST', url: `${url}/${id}/pause` },
    { method: 'POST', url: `${url}/${id}/rotate` },
    { method: 'DELETE', url: `${url}/${id}` },
    { method: 'POST', url: `${url}/not-an-id/resume` },
  ] as const) {
    const answer = await other.call(sent);
    expect([answer.status, answer.body]).toEqual([
      404,
      { error: refusalText('agent_not_found'), code: 'agent_not_found' },
    ]);
  }
  expect((await me(ingress, key)).status).toBe(200);
});

test.each([
  '{}',
  '[]',
  '{"name":""}',
  '{"name":7}',
  `{"name":"${'x'.repeat(65)}"}`,
  '{"name":"a\\u0000b"}',
  '"x"',
])('%s is no agent', async (body) => {
  const answer = await call(ingress, { method: 'POST', url, body });
  expect([answer.status, answer.body.code]).toEqual([400, 'invalid_request']);
  expect(processes.accounts.agents.records).toHaveLength(0);
});

test('agents are bounded, and a deleted one makes room', async () => {
  const { id } = await make();
  for (let made = 1; made < agentsMax; made += 1) await make();
  const body = '{"name":"x"}';
  const full = await call(ingress, { method: 'POST', url, body });
  expect([full.status, full.body]).toEqual([
    400,
    { error: refusalText('too_many_agents', { max: agentsMax }), code: 'too_many_agents' },
  ]);
  await call(ingress, { method: 'DELETE', url: `${url}/${id}` });
  expect((await call(ingress, { method: 'POST', url, body })).status).toBe(200);
});

test.each([
  ['no header', {}],
  ['another scheme', { authorization: `Basic pro_${'a'.repeat(32)}` }],
  ['an unknown key', { authorization: `Bearer pro_${'a'.repeat(32)}` }],
  ['a key cut short', { authorization: `Bearer pro_${'a'.repeat(31)}` }],
  ['another prefix', { authorization: `Bearer abc_${'a'.repeat(32)}` }],
  ['nothing behind it', { authorization: 'Bearer' }],
])('%s is no agent: 401 as a refused agent gets it', async (_title, headers) => {
  const answer = await ask(ingress, { method: 'GET', url: '/api/v1/me', headers });
  expect([answer.status, answer.body]).toEqual([401, { error: refusalText('unauthorized_agent') }]);
  expect(answer.headers['www-authenticate']).toBe('Bearer');
});

test('pages of any origin may ask, with a bearer key', async () => {
  const answer = await me(ingress, `pro_${'a'.repeat(32)}`);
  expect(answer.headers['access-control-allow-origin']).toBe('*');
  for (const path of ['/api/v1/me', url, `${url}/x/pause`]) {
    const preflight = await ingress.app.inject({ method: 'OPTIONS', url: path });
    expect(preflight.statusCode).toBe(204);
    expect(preflight.headers['access-control-allow-headers']).toMatch(
      /authorization.*content-type/,
    );
  }
});

const fails = {
  onFault: (error: unknown) => {
    throw error;
  },
};

describe('when an agent was seen last', () => {
  const flush = (process: IngressUnderTest) => flushActivity({ ...process.stores, ...fails });
  const shown = async (process: IngressUnderTest) =>
    (await call(process, { method: 'GET', url })).body.data[0].lastActiveAt;

  it('is known at once, noted once an interval, and on the log after a flush', async () => {
    const { key } = await make();
    await me(ingress, key);
    await me(ingress, key);
    const first = new Date(ingress.fakes.nowMs).toISOString();
    expect([await shown(ingress), processes.accounts.redis.writes]).toEqual([first, 1]);
    await flush(ingress);
    processes.accounts.redis.seen.clear();
    expect([await shown(ingress), await shown(await processes.next())]).toEqual([first, first]);
    expect(processes.accounts.agents.records).toHaveLength(3);
    ingress.fakes.nowMs += 60_000;
    ingress.fakes.monotonicMs += 60_000;
    await me(ingress, key);
    expect(await shown(ingress)).toBe(new Date(ingress.fakes.nowMs).toISOString());
  });

  it('comes to the log once, by one of all processes, and not when nothing moved', async () => {
    const peer = await processes.next();
    const { key } = await make();
    await me(ingress, key);
    await flush(ingress);
    await flush(peer);
    expect(processes.accounts.agents.records).toHaveLength(3);
    processes.accounts.redis.isHeld = false;
    await settled();
    await flush(peer);
    expect(processes.accounts.agents.records).toHaveLength(3);
  });

  it('does not need Redis', async () => {
    const { id, key } = await make();
    processes.accounts.redis.isAway = true;
    expect((await me(ingress, key)).status).toBe(200);
    expect(await shown(ingress)).toBeNull();
    await expect(flush(ingress)).rejects.toThrow('redis_unavailable');
    expect((await change(id, 'pause')).status).toBe(200);
  });

  it('is forgotten with the agent, and notes of nobody with it', async () => {
    const { id, key } = await make();
    await me(ingress, key);
    processes.accounts.redis.seen.set('not an id', '1');
    await call(ingress, { method: 'DELETE', url: `${url}/${id}` });
    await flush(ingress);
    await settled();
    expect(processes.accounts.redis.seen.has(id)).toBe(false);
    expect(
      ingress.services.accounts.agentDirectory.find(parseAgentId(id) as never),
    ).toBeUndefined();
  });
});
