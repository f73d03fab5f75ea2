import { execFileSync } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { openMetrics } from '../../src/metrics/index.ts';
import { openTraces, traceLimits } from '../../src/traces/open.io.ts';
import type { FinishedSpan, Traces } from '../../src/traces/span.ts';
import { TraceReceiver } from './receiver.ts';

const traceId = 'a'.repeat(32);
const spanOf = (number: number): FinishedSpan => ({
  traceId,
  spanId: String(number).padStart(16, '0'),
  parentId: null,
  name: `span ${number}`,
  kind: 'internal',
  startMs: performance.now(),
  endMs: performance.now(),
});

const limits = { ...traceLimits, delayMs: 10, exportMs: 300, closeMs: 500 };

/** Traces of a process, its counts by outcome, and its stop. */
async function open(otlpUrl: string, few: Partial<typeof traceLimits> = {}) {
  const metrics = openMetrics('test');
  const closers: (() => void | Promise<void>)[] = [];
  const traces = await openTraces(
    { otlpUrl, traceShare: 1 },
    {
      service: 'test',
      metrics,
      life: { onStop: (_name, close) => closers.push(close) },
      limits: { ...limits, ...few },
    },
  );
  const count = async (outcome: string) => {
    const found = new RegExp(`^pm_trace_spans_total.*outcome="${outcome}".* (\\d+)$`, 'm');
    return Number(found.exec(await metrics.text())?.[1] ?? 0);
  };
  const stop = async () => {
    for (const close of closers) await close();
  };
  return { traces: traces as Traces, count, stop };
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 300; tries += 1) {
    if (await isSo()) return;
    await wait(20);
  }
  throw new Error('it did not become so');
}

let receiver: TraceReceiver;
beforeEach(async () => {
  receiver = await TraceReceiver.open();
});
afterEach(async () => await receiver.close());

test('a span reaches the receiver with its ids, times, attributes and links', async () => {
  const { traces, count, stop } = await open(receiver.url);
  const link = { traceId: 'b'.repeat(32), spanId: 'c'.repeat(16) };
  const nowMs = performance.now();
  traces.add({
    ...spanOf(2),
    parentId: spanOf(1).spanId,
    kind: 'consumer',
    startMs: nowMs - 12.5,
    endMs: nowMs,
    attributes: { 'pm.partition': 3, 'pm.order.id': '0x12', whole: true },
    links: [link],
    failed: true,
  });
  await until(() => receiver.spans.length === 1);
  const [span] = receiver.spans;
  expect(span).toMatchObject({
    service: 'test',
    name: 'span 2',
    traceId,
    spanId: '0000000000000002',
    parentId: '0000000000000001',
    attributes: { 'pm.partition': 3, 'pm.order.id': '0x12', whole: true },
    links: [link],
    failed: true,
  });
  const { start = 0n, end = 0n } = span ?? {};
  expect(Number(end - start) / 1e6).toBeCloseTo(12.5, 2);
  expect(Math.abs(Number(end / 1_000_000n) - Date.now())).toBeLessThan(5_000);
  expect([...receiver.paths]).toEqual(['/v1/traces']);
  await until(async () => (await count('sent')) === 1);
  await stop();
});

test('the last spans are sent at the stop', async () => {
  const { traces, stop } = await open(receiver.url, { delayMs: 60_000 });
  traces.add(spanOf(1));
  await stop();
  expect(receiver.spans.map(({ name }) => name)).toEqual(['span 1']);
});

test('spans beyond the room are dropped and counted while the receiver hangs', async () => {
  receiver.mode = 'hangs';
  const { traces, count } = await open(receiver.url, { waitingMax: 10, batchMax: 5 });
  for (let number = 0; number < 25; number += 1) traces.add(spanOf(number));
  expect(await count('dropped')).toBe(15);
  await until(async () => (await count('failed')) === 10);
  receiver.mode = 'takes';
  traces.add(spanOf(99));
  await until(() => receiver.spans.some(({ name }) => name === 'span 99'));
});

test.each(['refuses', 'away'] as const)(
  'spans are lost and counted when the receiver %s',
  async (how) => {
    const url = receiver.url;
    if (how === 'refuses') receiver.mode = how;
    else await receiver.close();
    const { traces, count } = await open(url);
    traces.add(spanOf(1));
    await until(async () => (await count('failed')) === 1);
    if (how === 'away') receiver = await TraceReceiver.open();
  },
);

test.each([
  ['', 1],
  ['http://127.0.0.1:1', 0],
])('with the address %p and the share %p there are no traces', async (otlpUrl, traceShare) => {
  const life = { onStop: () => {} };
  const process = { service: 'test', metrics: openMetrics('test'), life };
  expect(await openTraces({ otlpUrl, traceShare }, process)).toBeNull();
});

test('without an address no package of OpenTelemetry but that of the metrics is loaded', () => {
  const built = new URL('../../dist/traces/index.js', `file://${__dirname}/`).href;
  const metrics = new URL('../../dist/metrics/index.js', `file://${__dirname}/`).href;
  const script = `
    import { createRequire } from 'node:module';
    import { openTraces } from '${built}';
    import { openMetrics } from '${metrics}';
    const { cache } = createRequire(import.meta.url);
    const loaded = () => Object.keys(cache).filter((file) => /@opentelemetry.(?!api.)/.test(file));
    const parts = { service: 'test', metrics: openMetrics('test'), life: { onStop() {} } };
    await openTraces({ otlpUrl: '', traceShare: 1 }, parts);
    const off = loaded().length;
    await openTraces({ otlpUrl: 'http://127.0.0.1:1', traceShare: 1 }, parts);
    console.log(JSON.stringify([off, loaded().length > 0]));
  `;
  const out = execFileSync(process.execPath, ['--input-type=module', '-e', script]);
  expect(JSON.parse(out.toString())).toEqual([0, true]);
});
