import { Fault } from '@pm/kit/fault';
import { type AgentId, agentIdFromBytes, walletFromBytes } from '@pm/schemas/ids';
import { type AgentEntry, agentKeyOf } from '@pm/schemas/log/agents';
import { redisKeys } from '@pm/schemas/redis/keys';
import fc from 'fast-check';
import { AgentActivity, agentUseBytes } from '../../src/accounts/agent-activity.io.ts';
import { AgentDirectory } from '../../src/accounts/agent-directory.ts';
import { newAgentKey } from '../../src/accounts/agent-key.io.ts';
import { agentCredentials, bearerAgent } from '../../src/accounts/agent-key.ts';
import { hashOfKey } from '../../src/accounts/key-hash.ts';

const idBytes = (at: number) => Buffer.alloc(16, at);
const idOf = (at: number): AgentId => agentIdFromBytes(idBytes(at));
const owner = Buffer.alloc(20, 7);
const wallet = walletFromBytes(owner);
const hash = (key: string) => hashOfKey(key);

const settings = (at: number, status: 'ACTIVE' | 'PAUSED' = 'ACTIVE'): AgentEntry => ({
  kind: 'AgentSettings',
  agent: idBytes(at),
  owner,
  name: `n${at}`,
  status,
  createdAtMs: at,
});
const keyed = (at: number, key: string): AgentEntry => ({
  kind: 'AgentKey',
  agent: idBytes(at),
  keyHash: hash(key),
  rotatedAtMs: 1,
});
const seen = (at: number, lastActiveAtMs: number): AgentEntry => ({
  kind: 'AgentSeen',
  agent: idBytes(at),
  lastActiveAtMs,
});
const deleted = (at: number): AgentEntry => ({
  kind: 'AgentDeleted',
  agent: idBytes(at),
  owner,
  deletedAtMs: 9,
});

const keys = ['k0', 'k1', 'k2'].map((name) => `pro_${name.padEnd(32, 'x')}`);

function folded(entries: readonly AgentEntry[]) {
  const agents = new AgentDirectory();
  for (const entry of entries) agents.apply(entry);
  const opened = keys.map((key) => bearerAgent({ authorization: `Bearer ${key}` }, agents)?.id);
  return { opened, list: agents.listOf(wallet), made: agents.madeBy(wallet), agents };
}

const entries = fc.array(
  fc.oneof(
    fc
      .record({ at: fc.nat(2), status: fc.constantFrom('ACTIVE', 'PAUSED') })
      .map((one) => settings(one.at, one.status as 'ACTIVE')),
    // A key is given out once, to one agent.
    fc.nat(2).map((at) => keyed(at, keys[at] ?? '')),
    fc.record({ at: fc.nat(2), time: fc.nat(99) }).map(({ at, time }) => seen(at, time)),
    fc.nat(2).map(deleted),
  ),
  { maxLength: 30 },
);

test('the records that compaction leaves give the same state as the whole topic, at any offsets', () => {
  fc.assert(
    fc.property(entries, (all) => {
      const growing = all.map((entry, at) =>
        entry.kind === 'AgentSeen' ? { ...entry, lastActiveAtMs: at } : entry,
      );
      const last = new Map(growing.map((entry, at) => [agentKeyOf(entry), at]));
      const left = growing.filter((entry, at) => last.get(agentKeyOf(entry)) === at);
      const { agents: _whole, ...whole } = folded(growing);
      const { agents: _left, ...compacted } = folded(left);
      expect(compacted).toEqual(whole);
    }),
  );
});

test('a deleted agent stays deleted, whatever comes before or after', () => {
  fc.assert(
    fc.property(entries, entries, (before, after) => {
      const { list, opened } = folded([...before, deleted(1), ...after]);
      expect(list.some(({ id }) => id === idOf(1))).toBe(false);
      expect(opened).not.toContain(idOf(1));
    }),
  );
});

test('only the newest key of an active agent opens anything', () => {
  const fold = (...more: AgentEntry[]) =>
    folded([settings(1), keyed(1, keys[0] ?? ''), ...more]).opened;
  expect(fold()).toEqual([idOf(1), undefined, undefined]);
  expect(fold(keyed(1, keys[1] ?? ''))).toEqual([undefined, idOf(1), undefined]);
  expect(fold(settings(1, 'PAUSED'))).toEqual([undefined, undefined, undefined]);
  expect(folded([keyed(1, keys[0] ?? '')]).opened).toEqual([undefined, undefined, undefined]);
});

test('a fresh key has 36 characters of its own', () => {
  const made = Array.from({ length: 100 }, newAgentKey);
  expect(new Set(made).size).toBe(100);
  for (const key of made) expect(key).toMatch(/^pro_[A-Za-z0-9_-]{32}$/);
});

test.each([
  ['once', 'Bearer KEY', true],
  ['in another case of the scheme', 'bearer KEY', true],
  ['with more spaces', 'Bearer   KEY', true],
  ['with a word behind it', 'Bearer KEY x', false],
  ['without a scheme', 'KEY', false],
  ['under another scheme', 'Basic KEY', false],
])('a key that is sent %s counts or not', (_title, header, counts) => {
  const { agents } = folded([settings(1), keyed(1, keys[0] ?? '')]);
  const authorization = header.replace('KEY', keys[0] ?? '');
  expect(bearerAgent({ authorization }, agents)?.id).toBe(counts ? idOf(1) : undefined);
  expect(bearerAgent({ authorization: [authorization, authorization] }, agents)).toBeNull();
});

test('credentials of an agent mark it; a key that opens nothing claims nothing', () => {
  const { agents } = folded([settings(1), keyed(1, keys[0] ?? '')]);
  const marked: AgentId[] = [];
  const credentials = agentCredentials(agents, { mark: (id) => void marked.push(id) });
  const headers = { authorization: `Bearer ${keys[0]}` };
  expect(credentials.claims(headers)).toBe(true);
  expect(marked).toEqual([]);
  const payer = agents.find(idOf(1))?.owner;
  expect(credentials.claimedPayer(headers)).toBe(payer);
  expect(credentials.prove({ headers })).toEqual({ kind: 'agent', id: idOf(1), payer });
  expect(marked).toEqual([idOf(1)]);
  for (const other of [{}, { authorization: `Bearer ${keys[1]}` }]) {
    expect(credentials.claims(other)).toBe(false);
    expect(credentials.prove({ headers: other })).toBeNull();
  }
});

test('a transient fault of Redis is ignored; another one is reported', async () => {
  const told: unknown[] = [];
  const open = (fault: Fault) => {
    const away = () => Promise.reject(fault);
    return new AgentActivity({
      redis: {
        hlen: away,
        hexists: away,
        hset: away,
        hmget: away,
        hgetall: away,
        hdel: away,
        eval: away,
        evalsha: away,
        script: away,
      },
      keys: redisKeys('t'),
      clock: { nowMs: () => 1_000_000, monotonicMs: () => 0 },
      onFault: (error) => void told.push(error),
    });
  };
  const passing = open(new Fault('redis_unavailable', 'retry'));
  passing.mark(idOf(1));
  passing.forget([idOf(1)]);
  expect(await passing.seen([idOf(1)])).toEqual([0]);
  const broken = open(new Fault('redis_refused', 'stop'));
  broken.mark(idOf(1));
  await expect(broken.seen([idOf(1)])).rejects.toThrow('redis_refused');
  expect(told).toMatchObject([{ code: 'redis_refused' }]);
});

test('uses of more agents than fit are not recorded, and those of known ones are', async () => {
  const seen = new Map<string, string>();
  const clock = { now: 1_000_000, nowMs: () => clock.now, monotonicMs: () => clock.now };
  const activity = new AgentActivity({
    redis: {
      hlen: async () => seen.size,
      hexists: async (_key, agent) => Number(seen.has(agent)),
      hset: async (_key, agent, text) => void seen.set(agent, text),
      hmget: async (_key, ...agents) => agents.map((agent) => seen.get(agent) ?? null),
      hgetall: async () => Object.fromEntries(seen),
      hdel: async () => 0,
      eval: async () => 0,
      evalsha: async () => 0,
      script: async () => null,
    },
    keys: redisKeys('t'),
    bytesMax: 2 * agentUseBytes,
    clock,
    onFault: () => {},
  });
  for (const at of [1, 2, 3]) {
    activity.mark(idOf(at));
    await new Promise(setImmediate);
  }
  clock.now += 60_000;
  activity.mark(idOf(1));
  await new Promise(setImmediate);
  expect(await activity.seen([idOf(1), idOf(2), idOf(3)])).toEqual([1_060_000, 1_000_000, 0]);
});

test('an agent is marked again after the interval, also when the clock is set back in between', async () => {
  const marks: string[] = [];
  const clock = { wallMs: 7_200_000, runMs: 0 };
  const activity = new AgentActivity({
    redis: {
      hlen: async () => 0,
      hexists: async () => 0,
      hset: async (_key, _agent, text) => void marks.push(text),
      hmget: async () => [],
      hgetall: async () => ({}),
      hdel: async () => 0,
      eval: async () => 0,
      evalsha: async () => 0,
      script: async () => null,
    },
    keys: redisKeys('t'),
    clock: { nowMs: () => clock.wallMs, monotonicMs: () => clock.runMs },
    onFault: () => {},
  });
  activity.mark(idOf(1));
  Object.assign(clock, { wallMs: 3_600_000, runMs: 9_999 });
  activity.mark(idOf(1));
  clock.runMs += 1;
  activity.mark(idOf(1));
  await new Promise(setImmediate);
  expect(marks).toEqual(['7200000', '3600000']);
});
