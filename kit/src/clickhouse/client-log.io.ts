import {
  ClickHouseLogLevel,
  type ErrorLogParams,
  type Logger,
  type LogParams,
  type WarnLogParams,
} from '@clickhouse/client';
import type { Log } from '../log/index.ts';

/**
 * The client's log lines through ours. It calls every failed query an error; those come back as faults, whose reader
 * decides, so they are warnings here. Its arguments are left out: they quote SQL and parameters.
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
