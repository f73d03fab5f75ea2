import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addressesOf } from '@pm/deploy/installation/read-addresses';
import { atServer } from '@pm/deploy/installation/server';
import { runLength } from '../../../kit/test/long-runs.ts';
import { killed, runSmoke, shortSmoke, wholeSmoke } from '../../src/smoke/run.ts';
import { verifyWorld } from '../../src/smoke/verify.ts';
import { openWorld, smokePlan, type World } from '../../src/smoke/world.ts';
import { engineUrls, namesOf } from '../services-under-test.ts';
import { type GuardedEngines, startGuardedEngines } from './guarded-engines.ts';

jest.setTimeout(420_000);

const seed = 1;
const partitions = 2;
/** No order is refused for want of money. */
const depositUsdc = '20000';
const length = runLength({ test: 1, deep: 2 }) === 1 ? shortSmoke : wholeSmoke;
/** Each account has rights under these names alone: a topic, key or table beside them fails the run. */
const name = `secured_${process.pid}`;
const names = namesOf(name);
let folder: string;
let engines: GuardedEngines;
let world: World;
const lines: string[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pm-secured-smoke-'));
  engines = await startGuardedEngines(folder, names);
  const accounts = Object.fromEntries(
    ['setup', 'audit', ...killed].map((name) => [name, engines.variablesOf(name)]),
  );
  const { urls, shared: access } = engines;
  const mode = { kind: 'external', urls, access } as const;
  world = await openWorld((line) => lines.push(line), smokePlan({ partitions, depositUsdc }), {
    mode,
    accounts,
  }).catch((error: unknown) => {
    throw new Error(lines.slice(-20).join('\n'), { cause: error });
  });
}, 240_000);

afterAll(async () => {
  await world?.end();
  await engines?.stop();
  await dropDatabase();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

/** The server is that of all tests. */
async function dropDatabase(): Promise<void> {
  const addresses = addressesOf(engineUrls(), {});
  await atServer(addresses, (server) => server.command(`DROP DATABASE IF EXISTS ${name}`));
}

test('the smoke run holds on engines with TLS where each service and tool has its own account', async () => {
  const options = { seed, ordersMin: 0, length };
  const result = await runSmoke(world, options, (line) => lines.push(line));
  const { checks, audit } = await verifyWorld(world, result);
  await result.streams.end();
  const broken = Object.entries(checks)
    .filter(([, problems]) => problems.length > 0)
    .map(([name, problems]) => [name, ...problems.slice(0, 3)]);
  expect(broken).toEqual([]);
  expect(audit.fills).toBeGreaterThan(50);
  expect(Object.keys(result.recoveryMs)).toEqual([...killed]);
  const { logDir } = world.stack;
  const logs = readdirSync(logDir).map((file) => readFileSync(join(logDir, file), 'utf8'));
  expect(logs.join('\n')).not.toMatch(/NOPERM|AUTHORIZATION_FAILED|canary-of/);
  process.stdout.write(
    `${audit.fills} fills, back after ${JSON.stringify(result.recoveryMs)} ms\n`,
  );
});
