import { type ChildProcess, spawn } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { WaitsForEngines } from '../../src/local/managed-process.ts';
import { builtEntry } from '../../src/local/paths.ts';
import { holdFreePorts } from '../../src/local/ports.ts';
import { isAlive, startMarkOf } from '../../src/local/process-table.ts';
import type { Supervisor } from '../../src/local/supervisor.ts';
import {
  childSource,
  inOwnFolder,
  ProcessFolder,
  restartsOf,
  stateOf,
  until,
} from './process-folder.ts';

/** More of it: ends as soon as a file says so, and again at each start. */
const diesOnceDoomed = (code: number) => `
  const { existsSync } = require('node:fs');
  setInterval(() => existsSync(diary + '.doom') && process.exit(${code}), 20);
`;

const spawned: ChildProcess[] = [];

let processes: ProcessFolder;
let folder: string;

beforeEach(() => {
  processes = new ProcessFolder();
  folder = processes.folder;
});

afterEach(async () => {
  for (const child of spawned.splice(0)) child.kill('SIGKILL');
  await processes.close();
});

const fake: ProcessFolder['fake'] = (name, changes) => processes.fake(name, changes);
const start: ProcessFolder['start'] = (descriptions, changes) =>
  processes.start(descriptions, changes);

function diaryLines(): string[] {
  return readFileSync(processes.diary, 'utf8').trim().split('\n');
}

function pidOf(supervisor: Supervisor, name: string): number {
  return supervisor.status().find((status) => status.name === name)?.pid ?? 0;
}

describe('a supervisor', () => {
  it('closes its data folder to other users of the machine, also one that was open', async () => {
    const dataDir = join(folder, 'data');
    mkdirSync(dataDir, { mode: 0o755 });
    await start([]);
    expect(statSync(dataDir).mode & 0o777).toBe(0o700);
  });

  it('starts in the order of dependencies and stops in reverse', async () => {
    const chain = [fake('a'), fake('b', { dependsOn: ['a'] }), fake('c', { dependsOn: ['b'] })];
    const supervisor = await start(chain);
    expect(diaryLines()).toEqual(['a started', 'b started', 'c started']);
    await supervisor.stop();
    expect(diaryLines().slice(3)).toEqual(['c stopped', 'b stopped', 'a stopped']);
    expect(supervisor.status().map(({ state }) => state)).toEqual([
      'stopped',
      'stopped',
      'stopped',
    ]);
  });

  it('reports what its processes use', async () => {
    const supervisor = await start([fake('a')]);
    const [status] = supervisor.status();
    expect(status).toMatchObject({ name: 'a', state: 'ready', restarts: 0 });
    expect(isAlive(status?.pid ?? 0)).toBe(true);
    if (process.platform === 'linux') expect(status?.rssBytes).toBeGreaterThan(1_000_000);
  });

  it('starts a process with its priority', async () => {
    const supervisor = await start([fake('a'), fake('b', { niceness: 19 })]);
    expect(getPriority(pidOf(supervisor, 'a'))).toBe(getPriority());
    expect(getPriority(pidOf(supervisor, 'b'))).toBe(19);
  });

  it('starts a process again that died', async () => {
    const supervisor = await start([fake('a', { restart: true })]);
    const before = pidOf(supervisor, 'a');
    expect(supervisor.kill('a', 'SIGKILL')).toBe(true);
    await until(() => supervisor.status()[0]?.restarts === 1);
    await until(() => supervisor.status()[0]?.state === 'ready');
    expect(pidOf(supervisor, 'a')).not.toBe(before);
  });

  it.concurrent(
    'goes on with a process that is killed for fault injection, however often',
    inOwnFolder(async ({ fake, start }) => {
      const failures: Error[] = [];
      const options = { onFatal: (failure: Error): void => void failures.push(failure) };
      const supervisor = await start([fake('a', { restart: true })], options);
      for (let kills = 1; kills <= 12; kills += 1) {
        supervisor.kill('a', 'SIGKILL');
        await until(() => supervisor.status()[0]?.restarts === kills);
        await until(() => supervisor.status()[0]?.state === 'ready');
      }
      expect(failures).toEqual([]);
    }),
    60_000,
  );

  it.concurrent(
    'starts a process again that ends for an engine, however often',
    inOwnFolder(async ({ fake, start, diary }) => {
      const failures: Error[] = [];
      const options = { onFatal: (failure: Error): void => void failures.push(failure) };
      const waiting = fake('waiting', {
        restart: true,
        args: ['-e', `${childSource} ${diesOnceDoomed(75)}`, diary, 'waiting'],
      });
      const supervisor = await start([waiting], options);
      writeFileSync(`${diary}.doom`, '');
      await until(() => (supervisor.status()[0]?.restarts ?? 0) >= 3);
      await supervisor.stop();
      expect(failures).toEqual([]);
    }),
  );

  it.concurrent(
    'waits with a process for its engines, and says for which',
    inOwnFolder(async ({ fake, start }) => {
      let away: readonly string[] = ['kafka'];
      let looks = 0;
      const ready = async (): Promise<void> => {
        looks += 1;
        if (away.length > 0) throw new WaitsForEngines(away);
      };
      const supervisor = await start([fake('a')]);
      // Shorter than the pause between two looks.
      const starting = supervisor.start([fake('b', { ready, readyTimeoutMs: 100 })]);
      const stateOfB = () => supervisor.status().find(({ name }) => name === 'b');
      await until(() => stateOfB()?.state === 'waiting');
      await until(() => looks > 3);
      expect(stateOfB()).toMatchObject({ state: 'waiting', waitsFor: ['kafka'] });
      away = [];
      await starting;
      expect(stateOfB()).toMatchObject({ state: 'ready', waitsFor: [], restarts: 0 });
    }),
  );

  it.concurrent(
    'does not give up a process that dies while its engine is away',
    inOwnFolder(async ({ fake, start, diary }) => {
      const failures: Error[] = [];
      const options = { onFatal: (failure: Error): void => void failures.push(failure) };
      let isEngineBack = false;
      const ready = async (): Promise<void> => {
        if (!isEngineBack) throw new Error('not yet');
      };
      const engine = fake('engine', { restart: true });
      const service = fake('service', {
        restart: true,
        dependsOn: ['engine'],
        args: ['-e', `${childSource} ${diesOnceDoomed(1)}`, diary, 'service'],
      });
      const supervisor = await start([engine, service], options);
      Object.assign(engine, { ready });
      writeFileSync(`${diary}.doom`, '');
      supervisor.kill('engine', 'SIGKILL');
      await until(() => stateOf(supervisor, 'engine') === 'starting');
      const before = restartsOf(supervisor, 'service');
      await until(() => restartsOf(supervisor, 'service') >= before + 3);
      isEngineBack = true;
      await until(() => stateOf(supervisor, 'engine') === 'ready');
      expect(failures).toEqual([]);
    }),
    40_000,
  );

  it.concurrent(
    'starts with enough of several processes, and starts the others again for ever',
    inOwnFolder(async ({ fake, start }) => {
      const failures: Error[] = [];
      const options = { onFatal: (failure: Error): void => void failures.push(failure) };
      const quorum = { name: 'brokers', enough: 2 };
      const broken = { args: ['-e', 'process.exit(3)'] };
      const brokers = ['a', 'b', 'c'].map((name) =>
        fake(name, { restart: true, quorum, ...(name === 'b' ? broken : {}) }),
      );
      const service = fake('service', { dependsOn: ['a', 'b', 'c'] });
      const supervisor = await start([...brokers, service], options);
      expect(stateOf(supervisor, 'service')).toBe('ready');
      await until(() => restartsOf(supervisor, 'b') >= 3);
      expect(failures).toEqual([]);
      expect(['a', 'c'].map((name) => stateOf(supervisor, name))).toEqual(['ready', 'ready']);
    }),
  );

  it.concurrent.each([
    ['one of several again after a pause in which enough others take over', ['a', 'b', 'c'], 2],
    ['one of several again, also where the first start needed all', ['a', 'b', 'c'], 3],
    ['a process again after a pause in which another stands in for it', ['a', 'b'], null],
  ])(
    'starts %s, and goes on when these die, too',
    inOwnFolder(async ({ fake, start }, _, names, enough) => {
      const group = enough === null ? { standInGroup: 'g' } : { quorum: { name: 'g', enough } };
      const times = new Map<string, number>();
      const progress = (line: string): void => void times.set(line, performance.now());
      const supervisor = await start(
        names.map((name) => fake(name, { restart: true, ...group })),
        { progress },
      );
      await until(() => names.every((name) => stateOf(supervisor, name) === 'ready'));
      times.clear();
      const timeOf = (line: string): number => times.get(line) ?? 0;
      supervisor.kill('a', 'SIGKILL');
      await until(() => times.has('a: starting'));
      const pausedMs = timeOf('a: starting') - timeOf('a: died (signal SIGKILL)');
      expect(pausedMs).toBeGreaterThan(1_900);
      await until(() => stateOf(supervisor, 'a') === 'ready');
      for (const name of ['a', 'b']) supervisor.kill(name, 'SIGKILL');
      await until(() => restartsOf(supervisor, 'a') === 2 && restartsOf(supervisor, 'b') === 1);
      await until(() => ['a', 'b'].every((name) => stateOf(supervisor, name) === 'ready'));
    }),
  );

  it('does not start with fewer than enough of several processes', async () => {
    const quorum = { name: 'brokers', enough: 2 };
    const broken = { args: ['-e', 'process.exit(3)'] };
    const brokers = ['a', 'b', 'c'].map((name) =>
      fake(name, { restart: true, quorum, ...(name === 'a' ? {} : broken) }),
    );
    await expect(start([...brokers])).rejects.toThrow(/ended while it started \(exit code 3\)/);
  });

  it('stops all and reports why when a required process dies', async () => {
    const failures: Error[] = [];
    const options = { onFatal: (failure: Error): void => void failures.push(failure) };
    const supervisor = await start([fake('engine'), fake('service', { restart: true })], options);
    appendFileSync(join(folder, 'logs', 'engine.log'), 'the last words\n');
    supervisor.kill('engine', 'SIGKILL');
    await until(() => failures.length === 1);
    expect(failures[0]?.message).toMatch(/engine died \(signal SIGKILL\)[\s\S]*the last words/);
    expect(supervisor.status().map(({ pid, state }) => [pid, state])).toEqual([
      [undefined, 'failed'],
      [undefined, 'stopped'],
    ]);
  });

  it('restarts in good order what would be fatal when it died', async () => {
    const supervisor = await start([fake('engine')]);
    const before = pidOf(supervisor, 'engine');
    await supervisor.restart('engine');
    expect(diaryLines()).toEqual(['engine started', 'engine stopped', 'engine started']);
    expect(pidOf(supervisor, 'engine')).not.toBe(before);
  });

  it('kills what does not stop in time, suspended or not', async () => {
    const supervisor = await start([fake('stubborn', { stopTimeoutMs: 200 }), fake('frozen')]);
    const pids = [pidOf(supervisor, 'stubborn'), pidOf(supervisor, 'frozen')];
    supervisor.kill('frozen', 'SIGSTOP');
    await supervisor.stop();
    expect(pids.map(isAlive)).toEqual([false, false]);
    expect(diaryLines()).toContain('frozen stopped');
  });

  it('shows the end of the log of a process that cannot start, and stops the others', async () => {
    const broken = fake('broken', {
      args: ['-e', 'console.error("no such luck"); process.exit(3)'],
    });
    await expect(start([fake('a'), { ...broken, dependsOn: ['a'] }])).rejects.toThrow(
      /broken ended while it started \(exit code 3\)[\s\S]*no such luck/,
    );
    expect(diaryLines()).toEqual(['a started', 'a stopped']);
  });

  it('reports a command that does not exist', async () => {
    await expect(start([fake('a', { command: '/no/such/program' })])).rejects.toThrow(/ENOENT/);
  });

  it('gives up a process that never becomes ready', async () => {
    const never = async (): Promise<void> => Promise.reject(new Error('still asleep'));
    await expect(start([fake('a', { ready: never, readyTimeoutMs: 300 })])).rejects.toThrow(
      /a was not ready within 0.3 s \(still asleep\)/,
    );
  });

  it('refuses a port that is in use before it starts any process', async () => {
    const held = await holdFreePorts(1);
    await expect(start([fake('a', { ports: held.ports })])).rejects.toMatchObject({
      code: 'PORT_IN_USE',
    });
    await held.release();
    expect(existsSync(processes.diary)).toBe(false);
  });

  it('refuses a data folder another supervisor works on, and takes it once that is done', async () => {
    const first = await start([fake('a')]);
    await expect(start([fake('b')])).rejects.toMatchObject({ code: 'DATA_FOLDER_LOCKED' });
    await first.stop();
    await start([fake('b')]);
  });

  it('takes over the lock of a process that is gone', async () => {
    const first = await start([]);
    await first.stop();
    writeFileSync(
      join(folder, 'data', 'stack.lock'),
      JSON.stringify({ pid: process.pid, startMark: '1' }),
    );
    await start([fake('a')]);
  });

  it('refuses a disk that is nearly full', async () => {
    await expect(
      start([fake('a')], { minFreeBytes: Number.MAX_SAFE_INTEGER }),
    ).rejects.toMatchObject({
      code: 'DISK_NEARLY_FULL',
    });
  });

  it('refuses an unknown dependency and a duplicate name', async () => {
    await expect(start([fake('a', { dependsOn: ['z'] })])).rejects.toThrow(/must come after z/);
    await expect(start([fake('a'), fake('a')])).rejects.toThrow(/described twice/);
  });

  it('puts a large log aside at the start', async () => {
    const first = await start([fake('a')]);
    await first.stop();
    writeFileSync(join(folder, 'logs', 'a.log'), Buffer.alloc(9 * 1024 * 1024, 'x'));
    await start([fake('a')]);
    expect(readFileSync(join(folder, 'logs', 'a.log')).length).toBeLessThan(1000);
    expect(existsSync(join(folder, 'logs', 'a.log.1'))).toBe(true);
  });
});

/** A supervisor in a process of its own, so that it can be killed; runs one child named orphan. */
async function supervisorProcess(): Promise<{
  child: ChildProcess;
  orphan: number;
  watchdog: number;
}> {
  const description = fake('orphan');
  const script = `
    import { existsSync } from 'node:fs';
    import { startProcesses } from ${JSON.stringify(pathToFileURL(builtEntry('local/supervisor.js')).href)};
    const mark = ${JSON.stringify(`${processes.diary}.orphan`)};
    const description = { ...${JSON.stringify(description)}, prepare: async () => {}, ready: async () => {
      if (!existsSync(mark)) throw new Error('not yet');
    } };
    const dataDir = ${JSON.stringify(join(folder, 'data'))};
    const supervisor = await startProcesses({ dataDir, progress: () => {} }, [description]);
    console.log(supervisor.status()[0].pid);
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  spawned.push(child);
  const orphan = await new Promise<number>((resolve) => {
    child.stdout?.once('data', (text: Buffer) => resolve(Number(text.toString('utf8'))));
  });
  const children = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8');
  const watchdog =
    children
      .trim()
      .split(/\s+/)
      .map(Number)
      .find((pid) => pid !== orphan) ?? 0;
  return { child, orphan, watchdog };
}

const onLinux = process.platform === 'linux' ? describe : describe.skip;

onLinux('a supervisor that is killed', () => {
  it('leaves nothing running: its watchdog ends its processes', async () => {
    const { child, orphan, watchdog } = await supervisorProcess();
    child.kill('SIGKILL');
    await until(() => startMarkOf(orphan) === undefined);
    await until(() => startMarkOf(watchdog) === undefined);
  });

  it('together with its watchdog, leaves orphans that the next start ends', async () => {
    const { child, orphan, watchdog } = await supervisorProcess();
    process.kill(watchdog, 'SIGKILL');
    child.kill('SIGKILL');
    await until(
      () => startMarkOf(watchdog) === undefined && startMarkOf(child.pid ?? 0) === undefined,
    );
    expect(isAlive(orphan)).toBe(true);
    const lines: string[] = [];
    await start([fake('next')], { progress: (line) => lines.push(line) });
    expect(lines[0]).toBe('ended processes of an earlier run: orphan');
    expect(startMarkOf(orphan)).toBeUndefined();
  });

  it('leaves alone a stranger that was given the number of an orphan', async () => {
    const stranger = spawn('sleep', ['30'], { detached: true, stdio: 'ignore' });
    spawned.push(stranger);
    const first = await start([]);
    await first.stop();
    const pid = stranger.pid ?? 0;
    const record = { name: 'a', pid, command: 'sleep', supervisorPid: 2 };
    const records = [
      { ...record, startMark: '1' },
      { ...record, startMark: startMarkOf(pid) ?? '', command: 'kafka.Kafka' },
    ];
    writeFileSync(join(folder, 'data', 'stack.processes.json'), JSON.stringify(records));
    await start([fake('a')]);
    expect(isAlive(pid)).toBe(true);
  });
});
