import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startContainerEngines } from '../containers/engines.ts';
import { startEngines } from '../local/engines.ts';
import { freeEnginePorts } from '../local/ports.ts';
import { StackError } from '../local/stack-error.ts';
import { engineMode } from '../stack/mode.ts';

/** Where tests on real engines find them: Kafka as host:port, the others as URLs. */
const engineVariables = {
  kafka: 'PM_TEST_KAFKA',
  registry: 'PM_TEST_REGISTRY',
  clickhouse: 'PM_TEST_CLICKHOUSE',
  redis: 'PM_TEST_REDIS',
} as const;

/** Engines that run for tests. */
export interface TestEngines {
  /** Their addresses, by the names of variables. */
  readonly variables: Readonly<Record<string, string>>;
  /** Stops them and deletes all their data. */
  stop(): Promise<void>;
}

/**
 * Whether all engines are given from outside; then nothing is to be started. Throws when only some are.
 */
export function areEnginesGiven(env: Readonly<Record<string, string | undefined>>): boolean {
  const names = Object.values(engineVariables);
  const given = names.filter((name) => (env[name] ?? '') !== '');
  if (given.length === 0) return false;
  if (given.length < names.length) throw new Error(`set all or none of ${names.join(', ')}`);
  return true;
}

/**
 * Starts the four engines in a temporary folder, with `STACK=containers` in containers. Rejects with a `StackError`
 * whose message begins with `engines:`.
 */
export async function startTestEngines(say: (line: string) => void): Promise<TestEngines> {
  const folder = await mkdtemp(join(tmpdir(), 'pm-engines-'));
  const beganMs = performance.now();
  const remove = () => rm(folder, { recursive: true, force: true });
  const start =
    engineMode(process.env).kind === 'containers' ? startContainerEngines : startEngines;
  try {
    const engines = await start({
      dataDir: join(folder, 'data'),
      logDir: join(folder, 'logs'),
      ports: await freeEnginePorts(),
      clickhousePassword: false,
      progress: (line) => say(`engines: ${line}`),
      // Tests fail by themselves once an engine is gone.
      onFatal: (failure) => console.error(failure.message),
    });
    say(`engines: all ready after ${((performance.now() - beganMs) / 1_000).toFixed(1)} s`);
    const { kafka, registry, clickhouse, redis } = engines.urls;
    const urls = { kafka, registry, clickhouse, redis };
    const variables = Object.entries(engineVariables).map(([name, variable]) => [
      variable,
      urls[name as keyof typeof urls],
    ]);
    const stop = async () => {
      await engines.stop();
      await remove();
    };
    return { variables: Object.fromEntries(variables), stop };
  } catch (error) {
    await remove();
    if (error instanceof StackError) error.message = `engines: ${error.message}`;
    throw error;
  }
}
