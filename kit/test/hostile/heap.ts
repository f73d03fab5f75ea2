import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Bytes of the heap that are in use once everything forgotten is gone. The event loop turns first: injected requests that
 * never let it turn leave what they scheduled for it behind.
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
