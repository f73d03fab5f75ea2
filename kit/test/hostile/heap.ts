import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Bytes of the heap in use after garbage collection. The event loop runs first: injected requests that never yield
 * leave scheduled work behind. A collection leaves some garbage to the next ones, so that one alone gives more.
 */
export async function heapInUse(collections = 3): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (let times = 0; times < collections; times += 1) {
    await turn();
    collect();
  }
  return process.memoryUsage().heapUsed;
}
