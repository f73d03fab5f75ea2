import type { Log } from '../../src/log/index.ts';
import { seenOf } from './canaries.ts';

/** A log that keeps all that rooms hand it, before anything is censored. */
export class KeptLog implements Log {
  readonly lines: string[] = [];

  debug(facts: object, message: string): void {
    this.lines.push(seenOf([message, facts]));
  }
  info(facts: object, message: string): void {
    this.debug(facts, message);
  }
  warn(facts: object, message: string): void {
    this.debug(facts, message);
  }
  error(facts: object, message: string): void {
    this.debug(facts, message);
  }
  child(): Log {
    return this;
  }
}
