import type { RunningEngines } from '../src/local/engines.ts';

export interface EnginesUnderTest {
  readonly engines: Pick<RunningEngines, 'stop'>;
  /** Temporary folder with all their data. */
  readonly folder: string;
}

// Jest loads setup and teardown as separate modules of one process; only the global object is
// common to both.
const testKey = Symbol.for('@pm/deploy engines under test');
const store = globalThis as { [testKey]?: EnginesUnderTest };

export function rememberEngines(engines: EnginesUnderTest): void {
  store[testKey] = engines;
}

export function takeEngines(): EnginesUnderTest | undefined {
  const engines = store[testKey];
  delete store[testKey];
  return engines;
}
