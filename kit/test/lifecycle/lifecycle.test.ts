import { Fault } from '../../src/fault/index.ts';
import type { ProcessHost } from '../../src/lifecycle/host.io.ts';
import { type Lifecycle, runService } from '../../src/lifecycle/index.ts';
import type { Log, LogFacts } from '../../src/log/index.ts';

/** A process whose signals the test sends, and that notes what happens instead of ending. */
class FakeHost implements ProcessHost {
  readonly happened: string[] = [];
  signal: (signal: string) => void = () => {};
  parentGone: () => void = () => {};
  uncaught: (error: unknown) => void = () => {};
  links: readonly string[] = [];
  exited: Promise<number>;
  #exit: (code: number) => void = () => {};

  constructor() {
    this.exited = new Promise((resolve) => {
      this.#exit = resolve;
    });
  }

  onSignal(stop: (signal: string) => void): void {
    this.signal = stop;
  }
  onParentGone(stop: () => void): void {
    this.parentGone = stop;
  }
  onUncaught(fail: (error: unknown) => void): void {
    this.uncaught = fail;
  }
  serviceLinks(): readonly string[] {
    return this.links;
  }
  complain(line: string): void {
    this.happened.push(line);
  }
  exit(code: number): void {
    this.happened.push(`exit ${code}`);
    this.#exit(code);
  }
}

function logInto(lines: string[]): Log {
  const write = (level: string) => (facts: LogFacts, message: string) => {
    const variables = 'variables' in facts ? `: ${facts['variables']}` : '';
    lines.push(`${level} ${message}${variables}`);
  };
  const log: Log = {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: () => log,
  };
  return log;
}

async function run(host: FakeHost, start: (life: Lifecycle) => void | Promise<void>) {
  await runService(
    'test',
    async (life) => {
      life.useLog(logInto(host.happened));
      await start(life);
    },
    host,
  );
}

/** Two parts that note when they close. */
function openParts(host: FakeHost, life: Lifecycle): void {
  for (const part of ['engine', 'listener']) {
    life.onStop(part, async () => {
      await null;
      host.happened.push(`closed ${part}`);
    });
  }
}

describe('a service', () => {
  test.each([
    ['a signal', (host: FakeHost) => host.signal('SIGTERM'), 0],
    ['the end of its parent', (host: FakeHost) => host.parentGone(), 0],
    ['an uncaught error', (host: FakeHost) => host.uncaught(new Error('x')), 1],
  ])('closes in reverse order at %s and exits', async (_, cause, code) => {
    const host = new FakeHost();
    await run(host, (life) => openParts(host, life));
    cause(host);
    expect(await host.exited).toBe(code);
    expect(host.happened[0]).toBe('info ready');
    expect(host.happened.slice(-4)).toEqual([
      'closed listener',
      'closed engine',
      'info stopped',
      `exit ${code}`,
    ]);
  });

  test('fails with code 1 when a part says so, and aborts its signal', async () => {
    const host = new FakeHost();
    let fail: (error: unknown) => void = () => {};
    let signal: AbortSignal | null = null;
    await run(host, (life) => {
      signal = life.signal;
      fail = (error) => life.fail(error);
    });
    fail(new Fault('chain_broken', 'stop'));
    expect(await host.exited).toBe(1);
    expect(signal).toMatchObject({ aborted: true });
    expect(host.happened).toContain('error stopping after a fault');
  });

  test('closes what was opened when its start fails, and never says ready', async () => {
    const host = new FakeHost();
    await run(host, (life) => {
      openParts(host, life);
      throw new Error('no engine');
    });
    expect(await host.exited).toBe(1);
    expect(host.happened).toContain('closed engine');
    expect(host.happened).not.toContain('info ready');
  });

  test('names every problem of a configuration and exits with 2', async () => {
    const host = new FakeHost();
    await run(host, () => {
      throw new Fault('invalid_config', 'stop', { facts: { PM_A: 'missing', PM_B: 'given "x"' } });
    });
    expect(await host.exited).toBe(2);
    expect(host.happened).toEqual(expect.arrayContaining(['  PM_A: missing', '  PM_B: given "x"']));
  });

  test('warns once of the links of Kubernetes Services, with their names', async () => {
    const host = new FakeHost();
    host.links = ['PM_GATEWAY_PORT', 'PM_GATEWAY_SERVICE_HOST'];
    await run(host, () => {});
    expect(host.happened).toEqual([
      'warn links of Kubernetes Services are left alone: PM_GATEWAY_PORT,PM_GATEWAY_SERVICE_HOST',
      'info ready',
    ]);
  });

  test('goes on closing when a part throws or hangs', async () => {
    const host = new FakeHost();
    await run(host, (life) => {
      openParts(host, life);
      life.onStop('hanging', () => new Promise(() => {}), 20);
      life.onStop('throwing', () => {
        throw new Error('x');
      });
    });
    host.signal('SIGINT');
    expect(await host.exited).toBe(0);
    expect(host.happened.filter((line) => line === 'warn did not close cleanly')).toHaveLength(2);
    expect(host.happened).toContain('closed engine');
  });

  test('stops once, however often it is asked', async () => {
    const host = new FakeHost();
    await run(host, (life) => openParts(host, life));
    host.signal('SIGINT');
    host.signal('SIGTERM');
    host.uncaught(new Error('half closed'));
    await host.exited;
    await new Promise((resolve) => setImmediate(resolve));
    expect(host.happened.filter((line) => line.startsWith('exit'))).toEqual(['exit 0']);
    expect(host.happened).toContain('warn failed while stopping');
  });

  test('closes at once what opens while it stops', async () => {
    const host = new FakeHost();
    let opened: () => void = () => {};
    const opening = new Promise<void>((resolve) => {
      opened = resolve;
    });
    const running = run(host, async (life) => {
      await opening;
      openParts(host, life);
    });
    host.signal('SIGTERM');
    expect(await host.exited).toBe(0);
    opened();
    await running;
    await new Promise((resolve) => setImmediate(resolve));
    expect(host.happened).toEqual(expect.arrayContaining(['closed engine', 'closed listener']));
    expect(host.happened).not.toContain('info ready');
  });

  test('ends after the overall bound even if everything hangs', async () => {
    jest.useFakeTimers();
    try {
      const host = new FakeHost();
      await run(host, (life) => life.onStop('hanging', () => new Promise(() => {}), 60_000));
      host.signal('SIGTERM');
      await jest.advanceTimersByTimeAsync(9_999);
      expect(host.happened).not.toContain('exit 1');
      await jest.advanceTimersByTimeAsync(2);
      expect(host.happened).toEqual(
        expect.arrayContaining(['error did not stop in time', 'exit 1']),
      );
    } finally {
      jest.useRealTimers();
    }
  });
});
