import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Fault } from '../../src/fault/index.ts';
import { waitForEngines } from '../../src/lifecycle/engine-wait.io.ts';
import type { ProcessHost } from '../../src/lifecycle/host.io.ts';
import { type Lifecycle, runService } from '../../src/lifecycle/index.ts';
import { silentLog } from '../../src/log/index.ts';
import { until } from '../kafka/deferred.ts';

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** An engine that is away for so many probes. */
function engine(name: string, awayFor: number) {
  const made = { name, probes: 0 };
  const probe = async () => {
    made.probes += 1;
    if (made.probes <= awayFor) throw new Error('away');
  };
  return Object.assign(made, { probe });
}

async function getJson(port: number, path: string) {
  const response = await fetch(`http://127.0.0.1:${port}${path}`);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

test('a wait ends when every engine answers, and says meanwhile what it waits for', async () => {
  const [kafka, registry] = [engine('kafka', 3), engine('registry', 1)];
  const opsPort = await freePort();
  const { signal } = new AbortController();
  const options = { opsHost: '127.0.0.1', opsPort, engines: [kafka, registry] };
  const waiting = waitForEngines(options, { log: silentLog, signal });
  await until(() => kafka.probes === 2, 'a second probe');
  await until(() => registry.probes === 2, 'a second probe');
  const ready = await getJson(opsPort, '/ready');
  expect(ready).toEqual({ status: 503, body: { ready: false, reasons: ['waiting:kafka'] } });
  expect((await getJson(opsPort, '/live')).status).toBe(200);
  expect((await getJson(opsPort, '/serving')).status).toBe(503);
  const { waiting: facts } = (await getJson(opsPort, '/status')).body;
  expect(facts).toMatchObject({ away: ['kafka'], sinceMs: expect.any(Number) });
  await waiting;
  expect(kafka.probes).toBe(4);
  await expect(getJson(opsPort, '/live')).rejects.toThrow();
});

test('a wait ends at once when it is not wanted any more, also during a probe', async () => {
  const opsPort = await freePort();
  const abort = new AbortController();
  const silent = { name: 'kafka', probe: () => new Promise<void>(() => {}) };
  const options = { opsHost: '127.0.0.1', opsPort, engines: [silent] };
  const waiting = waitForEngines(options, { log: silentLog, signal: abort.signal });
  await until(async () => (await getJson(opsPort, '/live')).status === 200, 'it listens');
  abort.abort();
  await waiting;
});

/** Runs a service and resolves with its exit code; `signal` asks it to stop. */
function serve(start: (life: Lifecycle) => Promise<void>) {
  let signal = (_name: string): void => {};
  const exited = new Promise<number>((exit) => {
    const host: ProcessHost = {
      onSignal: (stop) => {
        signal = stop;
      },
      onParentGone() {},
      onUncaught() {},
      serviceLinks: () => [],
      complain() {},
      exit,
    };
    void runService(
      'test',
      (life) => {
        life.useLog(silentLog);
        return start(life);
      },
      host,
    );
  });
  return { exited, signal: () => signal('SIGTERM') };
}

const away = new Fault('log_away', 'retry');

test('a service whose engine is away waits for it, closed, and ends with 75 to be started again', async () => {
  const opsPort = await freePort();
  const kafka = engine('kafka', 2);
  const closed: string[] = [];
  const { exited } = serve(async (life) => {
    life.needs({ opsHost: '127.0.0.1', opsPort, engines: [kafka] });
    life.onStop('client', () => void closed.push('client'));
    throw away;
  });
  await until(() => kafka.probes > 0, 'a probe');
  expect(closed).toEqual(['client']);
  expect(await exited).toBe(75);
  expect(kafka.probes).toBe(3);
});

test('a service that waits for an engine stops when it is asked to', async () => {
  const opsPort = await freePort();
  const kafka = engine('kafka', Number.POSITIVE_INFINITY);
  const { exited, signal } = serve(async (life) => {
    life.needs({ opsHost: '127.0.0.1', opsPort, engines: [kafka] });
    throw away;
  });
  await until(() => kafka.probes > 0, 'a probe');
  signal();
  expect(await exited).toBe(0);
});

test('a service that names no engines is started again at once; a fault that does not pass is none of an engine', async () => {
  const unnamed = serve(async () => {
    throw away;
  });
  expect(await unnamed.exited).toBe(75);
  const broken = serve(async (life) => {
    life.needs({ opsHost: '127.0.0.1', opsPort: 1, engines: [engine('kafka', 1)] });
    throw new Fault('chain_broken', 'stop');
  });
  expect(await broken.exited).toBe(1);
});
