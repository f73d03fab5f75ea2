import { Fault } from '@pm/kit/fault';
import { type ApiKeyId, parseWalletAddress } from '@pm/schemas/ids';
import { whileTimePasses } from '../../../kit/test/passing-time.ts';
import { call, type IngressUnderTest, openIngress, owner, trioIn } from '../ingress-fixture.ts';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const present = <T>(value: T | null | undefined): T => {
  if (value === null || value === undefined) throw new Error('it is there');
  return value;
};
const unknownId = '11111111-2222-4333-8444-555555555555';

let ingress: IngressUnderTest;
beforeEach(async () => {
  ingress = await openIngress();
});
afterEach(() => ingress.app.close());

const beat = (body?: unknown, more: object = {}) =>
  call(ingress, {
    method: 'POST',
    url: '/v1/heartbeats',
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...more,
  });
const bare = (body?: string) =>
  call(ingress, { method: 'POST', url: '/heartbeats', ...(body === undefined ? {} : { body }) });
const wrong = (expected: string) => ({
  error: 'Invalid Heartbeat ID',
  error_msg: 'Invalid Heartbeat ID',
  code: 'invalid_heartbeat',
  heartbeat_id: expected,
});
const idOf = ({ body }: { body: { heartbeat_id: string } }) => body.heartbeat_id;

test.each([[{ heartbeat_id: '' }], [{ heartbeat_id: null }], [{}], [undefined]])(
  'a chain starts with %j',
  async (body) => {
    const first = await beat(body);
    expect(first.status).toBe(200);
    expect(Object.keys(first.body)).toEqual(['heartbeat_id']);
    expect(idOf(first)).toMatch(uuid);
    const second = await beat({ heartbeat_id: idOf(first) });
    expect(second.status).toBe(200);
    expect(idOf(second)).not.toBe(idOf(first));
  },
);

test('an old or unknown id gets the expected one, which goes on', async () => {
  const first = await beat({ heartbeat_id: '' });
  const second = await beat({ heartbeat_id: idOf(first) });
  for (const id of [idOf(first), unknownId, 'no id at all']) {
    const answer = await beat({ heartbeat_id: id });
    expect([answer.status, answer.body]).toEqual([400, wrong(idOf(second))]);
  }
  expect((await beat({ heartbeat_id: idOf(second).toUpperCase() })).status).toBe(200);
});

test('an id without a chain gets an empty one', async () => {
  const answer = await beat({ heartbeat_id: unknownId });
  expect([answer.status, answer.body]).toEqual([400, wrong('')]);
  expect(ingress.sessionsTopic.said).toEqual([]);
});

test('an empty id restarts a chain that is alive', async () => {
  const first = await beat({ heartbeat_id: '' });
  const anew = await beat({ heartbeat_id: '' });
  expect(anew.status).toBe(200);
  expect((await beat({ heartbeat_id: idOf(first) })).body).toEqual(wrong(idOf(anew)));
});

test('of two heartbeats at once with one id the second is refused with the id of the first', async () => {
  const first = await beat({ heartbeat_id: '' });
  const both = [beat({ heartbeat_id: idOf(first) }), beat({ heartbeat_id: idOf(first) })];
  const answers = (await Promise.all(both)).sort((a, b) => a.status - b.status);
  expect(answers.map(({ status }) => status)).toEqual([200, 400]);
  expect(answers[1]?.body).toEqual(wrong(answers[0]?.body.heartbeat_id));
});

test('the bare heartbeat starts a session, feeds it, and leaves the chain where it is', async () => {
  const first = await bare();
  expect(first.body).toEqual({ status: 'ok', heartbeat_id: expect.stringMatching(uuid) });
  for (const body of [undefined, '{}', '[1,2]', '{"heartbeat_id":"x"}']) {
    expect((await bare(body)).body).toEqual(first.body);
  }
  expect(ingress.sessionsTopic.said.map(({ phase }) => phase)).toEqual(Array(5).fill('LIVE'));
  const next = await beat({ heartbeat_id: idOf(first) });
  expect((await bare()).body).toEqual({ status: 'ok', heartbeat_id: idOf(next) });
});

test.each([[[]], [5], ['text'], [{ heartbeat_id: 5 }], [{ heartbeat_id: {} }]])(
  '%j is no heartbeat',
  async (body) => {
    const answer = await beat(body);
    const refusal = { error: 'Invalid heartbeat payload', code: 'invalid_request' };
    expect([answer.status, answer.body]).toEqual([400, refusal]);
    expect(ingress.sessionsTopic.said).toEqual([]);
  },
);

test('a body that is no JSON is refused, and a request that proves nothing too', async () => {
  const broken = await call(ingress, { method: 'POST', url: '/v1/heartbeats', body: '{' });
  expect([broken.status, broken.body.error]).toEqual([400, 'Invalid heartbeat payload']);
  for (const url of ['/v1/heartbeats', '/heartbeats', '/clob/v1/heartbeats']) {
    const answer = await ingress.app.inject({ method: 'POST', url });
    expect([answer.statusCode, answer.json().code]).toEqual([401, 'invalid_l2']);
  }
  expect(ingress.sessionsTopic.said).toEqual([]);
});

test('each key has a session of its own', async () => {
  const mine = await beat({ heartbeat_id: '' });
  const wallet = present(parseWalletAddress(owner.address));
  const other = trioIn(await ingress.keys.create(wallet, '1'));
  const theirs = await beat({ heartbeat_id: idOf(mine) }, { trio: other });
  expect([theirs.status, theirs.body]).toEqual([400, wrong('')]);
  expect((await beat({ heartbeat_id: '' }, { trio: other })).status).toBe(200);
  expect((await beat({ heartbeat_id: idOf(mine) })).status).toBe(200);
});

test('a heartbeat that is not durable is not accepted', async () => {
  ingress.sessionsTopic.fault = new Fault('not_sent', 'retry');
  const answer = await beat({ heartbeat_id: '' });
  expect([answer.status, answer.body.code, answer.headers['retry-after']]).toEqual([
    503,
    'log_unavailable',
    '1',
  ]);
  ingress.sessionsTopic.fault = null;
  expect((await beat({ heartbeat_id: '' })).status).toBe(200);
});

test('while the orders of a missed session are being canceled no new one begins', async () => {
  const first = await beat({ heartbeat_id: '' });
  const { apiKey } = ingress.trio;
  const follows = present(ingress.process.table.find(apiKey as ApiKeyId));
  const change = { ...follows, follows, phase: 'MISSED' } as const;
  expect(await ingress.process.log.write(change)).toBe('counted');
  expect((await beat({ heartbeat_id: idOf(first) })).body).toEqual(wrong(''));
  // The watch of this process ends it at its next check, and the heartbeats that wait go on.
  const [started, fed] = await Promise.all([beat({ heartbeat_id: '' }), bare()]);
  expect([started.status, fed.status]).toEqual([200, 200]);
  const phases = ingress.sessionsTopic.said.map(({ phase }) => phase);
  expect(phases.slice(0, 4)).toEqual(['LIVE', 'MISSED', 'ENDED', 'LIVE']);
});

test('a session whose orders cannot be canceled yet gets a refusal to try again', async () => {
  await beat({ heartbeat_id: '' });
  const follows = present(ingress.process.table.find(ingress.trio.apiKey as ApiKeyId));
  ingress.process.kill();
  await ingress.sessionsTopic.append(
    ingress.process.log.partitionOf(follows.apiKey),
    follows.apiKey,
    {
      ...present(ingress.sessionsTopic.said[0]),
      sequence: 2,
      phase: 'MISSED',
    },
  );
  const next = await openIngress(
    ingress.topic,
    0,
    ingress.retries,
    ingress.accounts,
    ingress.sessionsTopic,
  );
  next.process.stop();
  const answers = await whileTimePasses(async () => [
    await call(next, { method: 'POST', url: '/v1/heartbeats', body: '{}' }),
    await call(next, { method: 'POST', url: '/heartbeats' }),
  ]);
  for (const { status, body, headers } of answers) {
    expect([status, body.code, headers['retry-after']]).toEqual([503, 'session_ending', '1']);
  }
  await next.app.close();
}, 10_000);
