import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Bytes of the heap in use after garbage collection. The event loop runs first: injected requests that never yield
 * leave scheduled work behind.
 */
export async function heapInUse(): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (let times = 0; times < 3; times += 1) {
    await turn();
    collect();
  }
  return process.memoryUsage().heapUsed;
}
