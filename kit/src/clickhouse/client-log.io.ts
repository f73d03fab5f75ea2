import {
  ClickHouseLogLevel,
  type ErrorLogParams,
  type Logger,
  type LogParams,
  type WarnLogParams,
} from '@clickhouse/client';
import type { Log } from '../log/index.ts';

/**
 * Writes the client's log lines to our log. The client logs each failed query as an error; the caller gets a fault
 * for it and decides, so the log has a warning. Arguments are left out: they quote SQL and parameters.
 */
export function clientLog(log: Log): { LoggerClass: new () => Logger; level: ClickHouseLogLevel } {
  const own = log.child({ part: 'clickhouse' });
  class OurLogger implements Logger {
    trace(): void {}
    debug(): void {}
    info({ module, message }: LogParams): void {
      own.debug({ module }, message);
    }
    warn({ module, message }: WarnLogParams): void {
      own.warn({ module }, message);
    }
    error({ module, message, err }: ErrorLogParams): void {
      own.warn({ module, code: Reflect.get(err, 'code') }, message);
    }
  }
  return { LoggerClass: OurLogger, level: ClickHouseLogLevel.WARN };
}
