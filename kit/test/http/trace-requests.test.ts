import { inspect } from 'node:util';
import type { HttpApp } from '../../src/http/app.io.ts';
import { openHttp } from '../../src/http/open.io.ts';
import { type Log, silentLog } from '../../src/log/index.ts';
import type { FinishedSpan } from '../../src/traces/span.ts';

const inShare = `${'1'.repeat(24)}00000000`;
const outOfShare = `${'1'.repeat(24)}ffffffff`;
const parentId = '2'.repeat(16);
const order = { traceId: '3'.repeat(32), spanId: '4'.repeat(16) };

function openApp(
  share: number,
  trustedProxies: readonly string[] = ['127.0.0.1'],
  log: Log = silentLog,
) {
  const spans: FinishedSpan[] = [];
  const traces = { share, add: (span: FinishedSpan) => spans.push(span) };
  const app: HttpApp = openHttp({
    log,
    bodyLimitBytes: 1_024,
    traces,
    trustedProxies,
  });
  app.get('/item/:id', async (request) => {
    request.trace?.orders.push(order);
    return { trace: request.trace ?? null };
  });
  app.get('/fails', async () => {
    throw new Error('broken');
  });
  return { app, spans };
}

const get = (app: HttpApp, url: string, traceparent?: string) =>
  app.inject({ method: 'GET', url, headers: traceparent === undefined ? {} : { traceparent } });

test('a request in the share continues the trace of a trusted proxy', async () => {
  const { app, spans } = openApp(0.5);
  const answer = await get(app, '/item/7', `00-${inShare}-${parentId}-01`);
  expect(spans).toHaveLength(1);
  const [span] = spans;
  expect(span).toMatchObject({
    traceId: inShare,
    parentId,
    name: 'GET /item/:id',
    kind: 'server',
    links: [order],
    failed: false,
    attributes: { 'http.route': '/item/:id', 'http.response.status_code': 200 },
  });
  expect(answer.json().trace.spanId).toBe(span?.spanId);
  expect(span?.endMs).toBeGreaterThanOrEqual(span?.startMs ?? Number.NaN);
});

test.each([
  ['whose caller records it, but whose id is not in the share', `00-${outOfShare}-${parentId}-01`],
  ['whose caller does not record it', `00-${inShare}-${parentId}-00`],
])('a request %s has no span', async (_which, header) => {
  const { app, spans } = openApp(0.5);
  const answer = await get(app, '/item/7', header);
  expect([answer.json().trace, spans]).toEqual([null, []]);
});

test.each([
  ['in', inShare, '01'],
  ['not in', outOfShare, '01'],
  ['not recorded, in', inShare, '00'],
])(
  'a caller whose trace is %s the share decides neither the id nor whether there is a span',
  async (_which, traceId, flags) => {
    const header = `00-${traceId}-${parentId}-${flags}`;
    const whole = openApp(1, []);
    await get(whole.app, '/item/7', header);
    expect(whole.spans).toMatchObject([
      { parentId: null, links: [order, { traceId, spanId: parentId }] },
    ]);
    expect(whole.spans[0]?.traceId).not.toBe(traceId);
    const tiny = openApp(0.000001, []);
    for (let times = 0; times < 50; times += 1) await get(tiny.app, '/item/7', header);
    expect(tiny.spans.length).toBeLessThan(3);
  },
);

test('a request without a caller begins a trace with the probability of the share', async () => {
  const whole = openApp(1);
  await get(whole.app, '/item/7');
  await get(whole.app, '/item/7', 'nonsense');
  expect(whole.spans.map(({ parentId: parent }) => parent)).toEqual([null, null]);
  expect(new Set(whole.spans.map(({ traceId }) => traceId)).size).toBe(2);
  const tiny = openApp(0.000001);
  for (let times = 0; times < 50; times += 1) await get(tiny.app, '/item/7');
  expect(tiny.spans.length).toBeLessThan(3);
});

test('a request that no route takes is named so, and one that fails is marked', async () => {
  const { app, spans } = openApp(1);
  await get(app, '/nowhere');
  await get(app, '/fails');
  expect(spans.map(({ name, failed }) => [name, failed])).toEqual([
    ['GET none', false],
    ['GET /fails', true],
  ]);
});

test('neither spans nor logs have the query of a request: some routes take a key there', async () => {
  const said: unknown[] = [];
  const say = (...words: unknown[]) => void said.push(words);
  const log = new Proxy(silentLog, { get: () => say });
  const { app, spans } = openApp(1, [], log);
  for (const path of ['/item/7', '/fails', '/nowhere', '/item/%ff'])
    await get(app, `${path}?address=0x1&key=a-read-only-key`);
  await app.close();
  expect([spans.length, said.length]).toEqual([3, 1]);
  expect(inspect({ spans, said }, { depth: null })).not.toContain('a-read-only-key');
});
