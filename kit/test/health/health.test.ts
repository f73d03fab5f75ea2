import { Fault } from '../../src/fault/index.ts';
import {
  type OpsListener,
  openOpsListener,
  type Readiness,
  type Serving,
} from '../../src/health/index.ts';
import { openMetrics } from '../../src/metrics/index.ts';

let listener: OpsListener;
let readiness: Readiness = { ready: true, reasons: [] };
let serving: Serving = { serving: true, reasons: [] };
let status: () => object = () => ({ partitions: [0, 1] });

beforeEach(async () => {
  const metrics = openMetrics('matcher');
  listener = await openOpsListener({
    host: '127.0.0.1',
    port: 0,
    metrics,
    health: { status: () => status(), ready: () => readiness, serving: () => serving },
  });
});

afterEach(async () => await listener.close());

async function ask(path: string, method = 'GET') {
  const answer = await fetch(`http://127.0.0.1:${listener.port}${path}`, { method });
  return {
    status: answer.status,
    sniffing: answer.headers.get('x-content-type-options'),
    type: answer.headers.get('content-type'),
    text: await answer.text(),
  };
}

describe('the operator listener', () => {
  test('lives', async () => {
    expect(await ask('/live')).toMatchObject({ status: 200, text: '{"live":true}' });
  });

  test('is ready, or says why not with 503', async () => {
    expect(await ask('/ready')).toMatchObject({ status: 200, text: '{"ready":true,"reasons":[]}' });
    readiness = { ready: false, reasons: ['kafka', 'restoring:3'] };
    const answer = await ask('/ready?verbose=1');
    expect([answer.status, JSON.parse(answer.text)]).toEqual([503, readiness]);
  });

  test('serves with a part away, which it names, or says with 503 that it does not', async () => {
    expect(await ask('/serving')).toMatchObject({
      status: 200,
      text: '{"serving":true,"reasons":[]}',
    });
    readiness = { ready: false, reasons: ['redis'] };
    serving = { serving: true, reasons: ['redis'] };
    const answers = [await ask('/ready'), await ask('/serving')];
    expect(answers.map((answer) => [answer.status, JSON.parse(answer.text)])).toEqual([
      [503, readiness],
      [200, serving],
    ]);
    serving = { serving: false, reasons: ['executions'] };
    const answer = await ask('/serving');
    expect([answer.status, JSON.parse(answer.text)]).toEqual([503, serving]);
  });

  test('gives metrics in Prometheus format and status in JSON', async () => {
    const metrics = await ask('/metrics');
    expect(metrics.type).toContain('text/plain');
    expect(metrics.text).toContain('process_cpu_seconds_total');
    expect(await ask('/status')).toMatchObject({ status: 200, text: '{"partitions":[0,1]}' });
  });

  test('says of every response that its type is not guessed', async () => {
    for (const path of ['/live', '/ready', '/serving', '/metrics', '/status', '/nothing'])
      expect([path, (await ask(path)).sniffing]).toEqual([path, 'nosniff']);
    expect(await ask('/live', 'POST')).toMatchObject({ sniffing: 'nosniff' });
  });

  test('answers other paths and methods in JSON', async () => {
    expect(await ask('/nothing')).toMatchObject({ status: 404, text: '{"error":"not found"}' });
    expect(await ask('/live', 'POST')).toMatchObject({ status: 405 });
  });

  test('survives a status that throws and keeps its text inside', async () => {
    status = () => {
      throw new Error('secret detail');
    };
    const answer = await ask('/status');
    expect([answer.status, answer.text]).toEqual([500, '{"error":"internal error"}']);
    expect((await ask('/live')).status).toBe(200);
  });

  test('refuses to start on a port that is taken', async () => {
    const options = { host: '127.0.0.1', port: listener.port, metrics: openMetrics('second') };
    const health = { status: () => ({}), ready: () => readiness, serving: () => serving };
    const second = openOpsListener({ ...options, health });
    await expect(second).rejects.toThrow(Fault);
    await expect(second).rejects.toMatchObject({ code: 'ops_port_unavailable', reaction: 'stop' });
  });
});
