import { type ManagedProcess, processEnvironment } from '../local/managed-process.ts';
import { builtEntry } from '../local/paths.ts';
import { loopback } from '../local/ports.ts';
import { type Heaps, heapOf } from './heaps.ts';
import { processDefaults } from './process-defaults.ts';

export const demoName = 'demo';

/** The recorded day, played against the gateway. It has no listener, so it is ready when it runs. */
export function demoProcess(demo: {
  readonly dataDir: string;
  readonly logDir: string;
  readonly port: number;
  readonly marketsFile: string;
  readonly operatorPort: number;
  readonly operatorToken: string;
  readonly quoteSpeed: number;
  readonly tradeSpeed: number;
  readonly heaps?: Heaps | undefined;
}): ManagedProcess {
  const heap = heapOf(demoName, demo.heaps);
  return {
    ...processDefaults(demo, demoName),
    heap,
    args: [
      `--max-old-space-size=${heap.mebibytes}`,
      builtEntry('demo/main.js'),
      '--base-url',
      `http://${loopback}:${demo.port}`,
      '--markets',
      demo.marketsFile,
      '--quote-speed',
      String(demo.quoteSpeed),
      '--trade-speed',
      String(demo.tradeSpeed),
      '--operator-url',
      `http://${loopback}:${demo.operatorPort}`,
    ],
    env: processEnvironment({ PM_OPERATOR_TOKEN: demo.operatorToken }),
    dependsOn: ['gateway'],
    ports: [],
    ready: async () => {},
  };
}
