import { areEnginesGiven, startTestEngines } from '../src/commands/test-engines.ts';
import { rememberEngines } from './engines-under-test.ts';

/**
 * Starts the four engines for the tests on real engines and puts their addresses into PM_TEST_KAFKA
 * (host:port), PM_TEST_REGISTRY, PM_TEST_CLICKHOUSE and PM_TEST_REDIS (urls). Where these are set
 * from outside, as by `npm test`, nothing is started.
 */
async function setUp(): Promise<void> {
  if (areEnginesGiven(process.env)) {
    console.log('\nengines: using those of PM_TEST_*');
    return;
  }
  const engines = await startTestEngines((line) => console.log(line));
  Object.assign(process.env, engines.variables);
  rememberEngines(engines);
}

// Jest calls the default export; the rule has an exception here and in the teardown.
// biome-ignore lint/style/noDefaultExport: asked for by Jest's globalSetup
export default setUp;
