import { takeEngines } from './engines-under-test.ts';

/** Stops the engines the setup started, and deletes all their data. */
async function tearDown(): Promise<void> {
  await takeEngines()?.stop();
}

// biome-ignore lint/style/noDefaultExport: asked for by Jest's globalTeardown
export default tearDown;
