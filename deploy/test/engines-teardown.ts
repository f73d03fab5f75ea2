import { rm } from 'node:fs/promises';
import { takeEngines } from './engines-under-test.ts';

/** Stops the engines the setup started, and deletes all their data. */
async function tearDown(): Promise<void> {
  const started = takeEngines();
  if (started === undefined) return;
  await started.engines.stop();
  await rm(started.folder, { recursive: true, force: true });
}

// biome-ignore lint/style/noDefaultExport: asked for by Jest's globalTeardown
export default tearDown;
