import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { type ManagedProcess, WaitsForEngines } from '../../src/local/managed-process.ts';
import { holdFreePorts } from '../../src/local/ports.ts';
import type { Supervisor } from '../../src/local/supervisor.ts';
import { childSource, inOwnFolder, type ProcessFolder, stateOf, until } from './process-folder.ts';

/** Fills the heap as soon as a file says so, or at once. */
const fillsHeap = (condition: string) => `
  const { existsSync } = require('node:fs');
  const kept = [];
  const fill = () => { for (;;) kept.push({ kept: [kept.length] }); };
  setInterval(() => ${condition} && fill(), 20);
`;

function withHeap(own: ProcessFolder, name: string, condition: string): ManagedProcess {
  return own.fake(name, {
    restart: true,
    args: ['--max-old-space-size=20', '-e', childSource + fillsHeap(condition), own.diary, name],
    heap: { mebibytes: 20, variable: 'PM_HEAP_MB_QUERY_API' },
  });
}

/** A probe that fails with this until it is let succeed. */
function notYetReady(failure: Error) {
  let isReady = false;
  const ready = async (): Promise<void> => {
    if (!isReady) throw failure;
  };
  const becomesReady = () => {
    isReady = true;
  };
  return { ready, becomesReady };
}

/** On several threads: it uses a twentieth of a processor on a busy machine, too. */
const works = `
  const { Worker } = require('node:worker_threads');
  for (let count = 0; count < 4; count += 1) new Worker('for (;;);', { eval: true });
`;

const reasonOf = (supervisor: Supervisor, name: string) =>
  supervisor.status().find((one) => one.name === name)?.reason;

const full =
  /signal SIGABRT: out of memory, its heap of 20 MB is full; PM_HEAP_MB_QUERY_API=40 makes it larger/;

describe('a process whose heap is full', () => {
  it.concurrent(
    'is started again, with a line that has its heap and the setting of a larger one',
    inOwnFolder(async (own) => {
      const lines: string[] = [];
      const process = withHeap(own, 'query-api', "existsSync(diary + '.doom')");
      const progress = (line: string): void => void lines.push(line);
      const supervisor = await own.start([process], { progress });
      writeFileSync(`${own.diary}.doom`, '');
      await until(() => lines.some((line) => line.startsWith('query-api: died')));
      expect(lines.find((line) => line.startsWith('query-api: died'))).toMatch(full);
      rmSync(`${own.diary}.doom`);
      await until(() => stateOf(supervisor, 'query-api') === 'ready');
      expect(reasonOf(supervisor, 'query-api')).toBe('');
    }),
    60_000,
  );

  it.concurrent(
    'before it is ready says the same in the failure of the start',
    inOwnFolder(async (own) => {
      const never = { ready: () => Promise.reject(new Error('not yet')) };
      const starting = own.start([{ ...withHeap(own, 'query-api', 'true'), ...never }]);
      await expect(starting).rejects.toThrow(full);
    }),
    60_000,
  );
});

describe('a start that goes on without what fails', () => {
  const progressTo = (lines: string[]) => (line: string) => void lines.push(line);

  async function open(own: ProcessFolder, lines: string[] = []): Promise<Supervisor> {
    return await own.start([], { progress: progressTo(lines) });
  }

  it.concurrent(
    'serves with the others, also those that depend on it, and shows why one does not',
    inOwnFolder(async (own) => {
      const lines: string[] = [];
      const supervisor = await open(own, lines);
      const broken = own.fake('streams', {
        restart: true,
        args: ['-e', 'console.error("no such luck"); process.exit(3)'],
      });
      const gateway = own.fake('gateway', { restart: true, dependsOn: ['streams'] });
      const others = [own.fake('ingress', { restart: true }), broken, gateway];
      await supervisor.start(others, { goesOn: true });
      const states = ['ingress', 'gateway'].map((name) => stateOf(supervisor, name));
      expect(states).toEqual(['ready', 'ready']);
      expect(reasonOf(supervisor, 'streams')).toBe('ended while it started (exit code 3)');
      const [line] = lines.filter((one) => one.startsWith('streams: not ready'));
      expect(line).toMatch(/exit code 3[\s\S]*no such luck/);
    }),
  );

  it.concurrent(
    'starts what is not ready in its time again until it is',
    inOwnFolder(async (own) => {
      const supervisor = await open(own);
      const { ready, becomesReady } = notYetReady(new Error('still asleep'));
      const sleeper = own.fake('streams', { restart: true, ready, readyTimeoutMs: 300 });
      await supervisor.start([own.fake('ingress'), sleeper], { goesOn: true });
      // Its own start may count as work.
      expect(reasonOf(supervisor, 'streams')).toMatch(/^was not ready within .* \(still asleep\)/);
      await until(() => (supervisor.status().at(-1)?.restarts ?? 0) >= 2);
      becomesReady();
      await until(() => stateOf(supervisor, 'streams') === 'ready');
    }),
  );

  it.concurrent(
    'leaves a process that works alone until it is ready, and goes on without it meanwhile',
    inOwnFolder(async (own) => {
      const lines: string[] = [];
      const supervisor = await open(own, lines);
      const { ready, becomesReady } = notYetReady(new Error('loading:catalog'));
      const args = ['-e', works];
      const reads = own.fake('streams', { restart: true, args, ready, readyTimeoutMs: 1_000 });
      await supervisor.start([own.fake('ingress'), reads], { goesOn: true });
      const late = 'was not ready within 1 s (loading:catalog), and is working';
      expect(lines).toContain(`streams: ${late}`);
      becomesReady();
      await until(() => stateOf(supervisor, 'streams') === 'ready');
      const status = supervisor.status().at(-1);
      expect(status).toMatchObject({ restarts: 0, reason: '' });
    }),
  );

  it.concurrent(
    'does not end while a process works, though another one has failed',
    inOwnFolder(async (own) => {
      const supervisor = await open(own);
      const { ready, becomesReady } = notYetReady(new Error('loading:catalog'));
      const args = ['-e', works];
      const reads = own.fake('streams', { restart: true, args, ready, readyTimeoutMs: 1_000 });
      const broken = own.fake('ingress', { restart: true, args: ['-e', 'process.exit(3)'] });
      await supervisor.start([reads, broken], { goesOn: true });
      becomesReady();
      await until(() => stateOf(supervisor, 'streams') === 'ready');
    }),
  );

  it.concurrent(
    'starts what depends on a process that is not ready when its patience is over',
    inOwnFolder(async (own) => {
      const supervisor = await open(own);
      const { ready, becomesReady } = notYetReady(new Error('still asleep'));
      const all = [
        own.fake('streams', { restart: true, ready }),
        own.fake('gateway', { restart: true, dependsOn: ['streams'] }),
      ];
      const starting = supervisor.start(all, { goesOn: true, patienceMs: 100 });
      await until(() => stateOf(supervisor, 'gateway') === 'ready');
      expect(stateOf(supervisor, 'streams')).toBe('starting');
      becomesReady();
      await starting;
      expect(stateOf(supervisor, 'streams')).toBe('ready');
    }),
  );

  it.concurrent(
    'ends where none becomes ready that needs anything',
    inOwnFolder(async (own) => {
      const supervisor = await open(own);
      const broken = { restart: true, args: ['-e', 'process.exit(3)'] };
      const gateway = own.fake('gateway', { restart: true, standsAlone: true });
      const all = [own.fake('ingress', broken), own.fake('streams', broken), gateway];
      await expect(supervisor.start(all, { goesOn: true })).rejects.toThrow(/exit code 3/);
    }),
  );

  it.concurrent(
    'is over when a process has waited for its engine as long as others are patient',
    inOwnFolder(async (own) => {
      const supervisor = await open(own);
      const { ready, becomesReady } = notYetReady(new WaitsForEngines(['clickhouse']));
      const all = [own.fake('ingress'), own.fake('projectors', { restart: true, ready })];
      await supervisor.start(all, { goesOn: true, patienceMs: 300 });
      expect(stateOf(supervisor, 'projectors')).toBe('waiting');
      becomesReady();
      await until(() => stateOf(supervisor, 'projectors') === 'ready');
    }),
  );

  it.concurrent(
    'shows why a process ends again and again although its engine is there',
    inOwnFolder(async (own) => {
      const lines: string[] = [];
      const supervisor = await open(own, lines);
      const source = 'console.error("not in this time"); process.exit(75)';
      const away = own.fake('projectors', { restart: true, args: ['-e', source] });
      await supervisor.start([own.fake('ingress'), away], { goesOn: true });
      expect(lines.find((line) => line.startsWith('projectors: not ready'))).toMatch(
        /in this time/,
      );
    }),
  );

  it.concurrent(
    'ends at a wrong configuration, with its text',
    inOwnFolder(async (own) => {
      const supervisor = await open(own);
      const source = 'console.error("PM_BATCH_MS is no number"); process.exit(2)';
      const wrong = own.fake('streams', { restart: true, args: ['-e', source] });
      const starting = supervisor.start([own.fake('ingress'), wrong], { goesOn: true });
      await expect(starting).rejects.toThrow(/PM_BATCH_MS is no number/);
    }),
  );

  it.concurrent(
    'ends at a port that is taken',
    inOwnFolder(async (own) => {
      const supervisor = await open(own);
      const held = await holdFreePorts(1);
      const taken = own.fake('streams', { restart: true, ports: held.ports });
      const starting = supervisor.start([own.fake('ingress'), taken], { goesOn: true });
      await expect(starting).rejects.toMatchObject({ code: 'PORT_IN_USE' });
      await held.release();
      expect(existsSync(`${own.diary}.streams`)).toBe(false);
    }),
  );
});
