import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { namesOf, traceFields } from '@pm/kit/config';
import { mebibyte } from '../local/managed-process.ts';

/** Settings that all Node processes of the stack have in common. */
export function processDefaults(
  options: { readonly dataDir: string; readonly logDir: string },
  name: string,
) {
  return {
    name,
    command: process.execPath,
    cwd: options.dataDir,
    logFile: join(options.logDir, `${name}.log`),
    restart: true,
    stopSignal: 'SIGTERM' as const,
    stopTimeoutMs: 15_000,
    readyTimeoutMs: 240_000,
    memoryHintBytes: 150 * mebibyte,
    watchesStdin: true,
    prepare: async () => {
      await mkdir(options.dataDir, { recursive: true });
    },
  };
}

/** Headers for the receiver of traces, which the package reads itself. */
const receiverHeaders = 'OTEL_EXPORTER_OTLP_HEADERS';

/** Where traces go, as the environment of the stack says. */
export function traceEnvironment(): Readonly<Record<string, string>> {
  return givenOf([...namesOf(traceFields), receiverHeaders]);
}

/** Values of the variables in `names` that the environment of the stack sets. */
export function givenOf(names: readonly string[]): Readonly<Record<string, string>> {
  const given = names.flatMap((name) => {
    const value = process.env[name] ?? '';
    return value === '' ? [] : [[name, value] as const];
  });
  return Object.fromEntries(given);
}
