import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startContainerEngines } from '../src/containers/engines.ts';
import { startEngines } from '../src/local/engines.ts';
import { freeEnginePorts } from '../src/local/ports.ts';
import { StackError } from '../src/local/stack-error.ts';
import { engineMode } from '../src/stack/mode.ts';
import { type EnginesUnderTest, rememberEngines } from './engines-under-test.ts';

const engineVariables = [
  'PM_TEST_KAFKA',
  'PM_TEST_REGISTRY',
  'PM_TEST_CLICKHOUSE',
  'PM_TEST_REDIS',
] as const;

/**
 * Starts the four engines for the tests on real engines and puts their addresses into PM_TEST_KAFKA
 * (host:port), PM_TEST_REGISTRY, PM_TEST_CLICKHOUSE and PM_TEST_REDIS (urls). Where these are set
 * from outside nothing is started, and with `STACK=containers` they run in containers.
 */
async function setUp(): Promise<void> {
  const given = engineVariables.filter((name) => (process.env[name] ?? '') !== '');
  if (given.length === engineVariables.length) {
    console.log('\nengines: using those of PM_TEST_*');
    return;
  }
  if (given.length > 0) throw new Error(`set all or none of ${engineVariables.join(', ')}`);
  rememberEngines(await start());
}

async function start(): Promise<EnginesUnderTest> {
  const folder = await mkdtemp(join(tmpdir(), 'pm-engines-'));
  const beginMs = Date.now();
  try {
    const start =
      engineMode(process.env).kind === 'containers' ? startContainerEngines : startEngines;
    const engines = await start({
      dataDir: join(folder, 'data'),
      logDir: join(folder, 'logs'),
      ports: await freeEnginePorts(),
      clickhousePassword: false,
      progress: (line) => console.log(`engines: ${line}`),
      // Jest decides: tests fail by themselves once an engine is gone.
      onFatal: (failure) => console.error(failure.message),
    });
    const { kafka, registry, clickhouse, redis } = engines.urls;
    process.env['PM_TEST_KAFKA'] = kafka;
    process.env['PM_TEST_REGISTRY'] = registry;
    process.env['PM_TEST_CLICKHOUSE'] = clickhouse;
    process.env['PM_TEST_REDIS'] = redis;
    console.log(`engines: all ready after ${((Date.now() - beginMs) / 1000).toFixed(1)} s`);
    return { engines, folder };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    if (error instanceof StackError) throw new Error(`engines: ${error.message}`);
    throw error;
  }
}

// Jest calls the default export; the rule has an exception here and in the teardown.
// biome-ignore lint/style/noDefaultExport: asked for by Jest's globalSetup
export default setUp;
