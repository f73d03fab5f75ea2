import { pino } from 'pino';
import type { Log, LogLevel } from './log.ts';
import { SourcePlaces } from './source-places.io.ts';

/** Field names whose values are never written, at the top of the facts or one level below. */
const secretFields = ['secret', 'passphrase', 'signature', 'authorization', 'privateKey', 'token'];

/** One JSON line per entry on standard output; errors under `err` have their stack, with the places of sources. */
export function openLog(service: string, level: LogLevel): Log {
  const places = new SourcePlaces();
  /** An error with sources in its stack; another thrown value as it is. */
  const withSources = (thrown: Error) => {
    const facts = pino.stdSerializers.err(thrown);
    if (thrown instanceof Error) facts.stack = places.inStack(facts.stack);
    return facts;
  };
  return pino({
    level,
    base: { service },
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: withSources },
    redact: { paths: secretFields.flatMap((field) => [field, `*.${field}`]), censor: '[secret]' },
  });
}
