import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ProcessHost } from '../../src/lifecycle/host.io.ts';
import { type Lifecycle, type Operations, runService } from '../../src/lifecycle/index.ts';
import { runSpread } from '../../src/lifecycle/spread.io.ts';
import { type Log, silentLog } from '../../src/log/index.ts';
import { until } from '../kafka/deferred.ts';

const metrics = { text: async () => '', contentType: 'text/plain' };
const well = {
  status: () => ({ well: true }),
  ready: () => ({ ready: true, reasons: [] }),
  serving: () => ({ serving: true, reasons: [] }),
};
/** A drain that only a signal ends within the time of a test. */
const longMs = 60_000;

/** A service with a listener, whose signals the test sends. */
class Drained {
  readonly happened: string[] = [];
  readonly exited: Promise<number>;
  readonly server: Server = createServer((_request, response) => response.end('{}'));
  opsPort = 0;
  signal: () => void = () => {};
  parentGone: () => void = () => {};
  fail: (error: unknown) => void = () => {};
  #isAborted: () => boolean = () => false;
  #running: Promise<void> = Promise.resolve();

  constructor(drainMs: number, start: (operations: Operations) => Promise<void> = async () => {}) {
    this.exited = new Promise((exit) => {
      const host: ProcessHost = {
        onSignal: (stop) => {
          this.signal = () => stop('SIGTERM');
        },
        onParentGone: (stop) => {
          this.parentGone = stop;
        },
        onUncaught() {},
        complain() {},
        serviceLinks: () => [],
        exit,
      };
      this.#running = runService('test', (life) => this.#start(life, { drainMs, start }), host);
    });
  }

  async #start(
    life: Lifecycle,
    { drainMs, start }: { drainMs: number; start: (operations: Operations) => Promise<void> },
  ): Promise<void> {
    life.useLog(this.#log());
    this.fail = (error) => life.fail(error);
    this.#isAborted = () => life.signal.aborted;
    const operations = await life.operations({
      opsHost: '127.0.0.1',
      opsPort: 0,
      metrics,
      drainMs,
    });
    await start(operations);
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    life.onStop('listener', async () => {
      this.happened.push('listener closed');
      await new Promise((resolve) => this.server.close(resolve));
    });
    life.onStop('clients', () =>
      life.letLeave(['one', 'other'].map((name) => () => void this.happened.push(`${name} left`))),
    );
    operations.report(well);
  }

  #log(): Log {
    const info = (facts: object) => {
      this.opsPort = (facts as { readonly opsPort?: number }).opsPort ?? this.opsPort;
    };
    return { ...silentLog, info };
  }

  static async running(drainMs: number): Promise<Drained> {
    const drained = new Drained(drainMs);
    await drained.#running;
    return drained;
  }

  /** Statuses of `/live`, `/ready`, `/serving` and of the listener; what `/serving` says; whether closing has begun. */
  async look() {
    const { port } = this.server.address() as AddressInfo;
    const paths = ['/live', '/ready', '/serving'];
    const [live, ready, serving] = await Promise.all(paths.map((path) => this.ask(path)));
    const served = await fetch(`http://127.0.0.1:${port}/`);
    const statuses = [live?.status, ready?.status, serving?.status, served.status];
    return { statuses, reasons: serving?.body.reasons, isAborted: this.#isAborted() };
  }

  async ask(path: string) {
    const response = await fetch(`http://127.0.0.1:${this.opsPort}${path}`);
    return { status: response.status, body: (await response.json()) as { reasons: string[] } };
  }
}

const working = { statuses: [200, 200, 200, 200], reasons: [], isAborted: false };
const draining = { statuses: [200, 503, 503, 200], reasons: ['draining'], isAborted: false };

test('a signal makes a service not ready and not serving, and it goes on answering', async () => {
  const service = await Drained.running(longMs);
  expect(await service.look()).toEqual(working);
  service.signal();
  expect(await service.look()).toEqual(draining);
  expect(await service.look()).toEqual(draining);
  expect(service.happened).toEqual([]);
  service.signal();
  expect(await service.exited).toBe(0);
});

test('after the drain clients leave, and then the listener closes', async () => {
  const service = await Drained.running(100);
  service.signal();
  expect(await service.exited).toBe(0);
  expect(service.happened).toEqual(['one left', 'other left', 'listener closed']);
  await expect(service.ask('/live')).rejects.toThrow();
});

test('a second signal ends the drain, and all clients leave at once', async () => {
  const service = await Drained.running(longMs);
  service.signal();
  service.signal();
  expect(await service.exited).toBe(0);
  expect(service.happened).toEqual(['one left', 'other left', 'listener closed']);
});

test.each([
  ['the end of its parent', (service: Drained) => service.parentGone(), 0],
  ['a fault', (service: Drained) => service.fail(new Error('broken')), 1],
])('%s ends a drain, and begins none', async (_, end, code) => {
  const service = await Drained.running(longMs);
  service.signal();
  end(service);
  expect(await service.exited).toBe(code);
  const other = await Drained.running(longMs);
  end(other);
  expect(await other.exited).toBe(code);
});

test('a service without a time to drain stops at once', async () => {
  const service = await Drained.running(0);
  service.signal();
  expect(await service.exited).toBe(0);
});

test('the operations port is open during the start, and says what is loading', async () => {
  let loaded: () => void = () => {};
  const service = new Drained(longMs, async (operations) => {
    await operations.during('log', async () => {});
    await operations.during('catalog', () => new Promise<void>((resolve) => (loaded = resolve)));
  });
  await until(() => service.opsPort > 0, 'the port is open');
  const reasons = ['starting', 'loading:catalog'];
  await until(async () => (await service.ask('/ready')).body.reasons.length === 2, 'it loads');
  expect((await service.ask('/live')).status).toBe(200);
  expect(await service.ask('/ready')).toEqual({ status: 503, body: { ready: false, reasons } });
  expect(await service.ask('/serving')).toEqual({ status: 503, body: { serving: false, reasons } });
  expect(await service.ask('/status')).toEqual({ status: 200, body: { loading: ['catalog'] } });
  loaded();
  await until(async () => (await service.ask('/serving')).status === 200, 'it serves');
  service.signal();
  service.signal();
  expect(await service.exited).toBe(0);
});

test('a service that is asked to stop while it starts does not drain', async () => {
  const service = new Drained(longMs, () => new Promise(() => {}));
  await until(() => service.opsPort > 0, 'the port is open');
  service.signal();
  expect(await service.exited).toBe(0);
});

describe('clients that leave over a time', () => {
  const leaving = (count: number, left: number[]) =>
    Array.from({ length: count }, (_, number) => () => void left.push(number));

  test('leave in groups, each after a pause', async () => {
    const left: number[] = [];
    const { signal } = new AbortController();
    const over = runSpread(leaving(10, left), { overMs: 150, signal });
    expect(left).toHaveLength(4);
    await over;
    expect(left).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  test('leave at once when there is no time, or no more', async () => {
    const left: number[] = [];
    const hurry = new AbortController();
    await runSpread(leaving(3, left), { overMs: 0, signal: hurry.signal });
    expect(left).toEqual([0, 1, 2]);
    const hurried: number[] = [];
    const over = runSpread(leaving(100, hurried), { overMs: 60_000, signal: hurry.signal });
    expect(hurried.length).toBeLessThan(100);
    hurry.abort();
    await over;
    expect(hurried).toHaveLength(100);
  });
});
