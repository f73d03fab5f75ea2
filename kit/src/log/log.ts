/** A log entry of a room: a sentence and facts (ids and numbers, never orders, keys or bodies). */
export interface Log {
  debug(facts: LogFacts, message: string): void;
  info(facts: LogFacts, message: string): void;
  warn(facts: LogFacts, message: string): void;
  error(facts: LogFacts, message: string): void;
  /** A logger whose every line carries these facts. */
  child(facts: LogFacts): Log;
}

export type LogFacts = Readonly<Record<string, unknown>>;

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/** A log that discards everything, for tests and tools. */
export const silentLog: Log = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => silentLog,
};
