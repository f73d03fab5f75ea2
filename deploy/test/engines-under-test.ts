import type { RunningEngines } from '../src/local/engines.ts';

export interface EnginesUnderTest {
  readonly engines: RunningEngines;
  /** Temporary folder with all their data. */
  readonly folder: string;
}

// Jest loads setup and teardown as separate modules of one process; only the global object is
// common to both.
const KEY = Symbol.for('@pm/deploy engines under test');
const store = globalThis as { [KEY]?: EnginesUnderTest };

export function rememberEngines(engines: EnginesUnderTest): void {
  store[KEY] = engines;
}

export function takeEngines(): EnginesUnderTest | undefined {
  const engines = store[KEY];
  delete store[KEY];
  return engines;
}
