import { pino } from 'pino';
import type { Log, LogLevel } from './log.ts';

/** Field names whose values are never written, at the top of the facts or one level below. */
const secretFields = ['secret', 'passphrase', 'signature', 'authorization', 'privateKey', 'token'];

/** One JSON line per entry on standard output; errors under `err` are serialised with their stack. */
export function openLog(service: string, level: LogLevel): Log {
  return pino({
    level,
    base: { service },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: { paths: secretFields.flatMap((field) => [field, `*.${field}`]), censor: '[secret]' },
  });
}
