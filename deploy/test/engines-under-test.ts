import type { TestEngines } from '../src/commands/test-engines.ts';

// Jest loads setup and teardown as separate modules of one process; only the global object is
// common to both.
const testKey = Symbol.for('@pm/deploy engines under test');
const store = globalThis as { [testKey]?: TestEngines };

export function rememberEngines(engines: TestEngines): void {
  store[testKey] = engines;
}

export function takeEngines(): TestEngines | undefined {
  const engines = store[testKey];
  delete store[testKey];
  return engines;
}
