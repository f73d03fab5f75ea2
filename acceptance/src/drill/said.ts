import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { textAfter } from '@pm/deploy/local/process-log';

/** Most bytes of each log that are searched. */
const searchedMaxBytes = 4 * 1024 * 1024;

/**
 * Output that an operator sees from some moment on: lines of the stack and of commands, logs, reasons of health checks.
 */
export class Said {
  readonly #logDir: string;
  #lines: string[] = [];
  #logBytes = new Map<string, number>();

  constructor(logDir: string) {
    this.#logDir = logDir;
  }

  /** Forgets everything before. */
  begin(): void {
    this.#lines = [];
    this.#logBytes = new Map(this.#logs().map((file) => [file, statSync(file).size]));
  }

  note(line: string): void {
    if (!this.#lines.includes(line)) this.#lines.push(line);
  }

  has(words: string): boolean {
    return this.#lines.some((line) => line.includes(words)) || this.#inLogs(words);
  }

  /** Lines of the stack, of commands and of health checks, and each kind of warning in the logs of services. */
  get lines(): readonly string[] {
    const warnings = this.#logs().flatMap((file) => warningsIn(this.#textOf(file)));
    return [...this.#lines, ...new Set(warnings)];
  }

  #inLogs(words: string): boolean {
    return this.#logs().some((file) => this.#textOf(file).includes(words));
  }

  #textOf(file: string): string {
    return textAfter(file, this.#logBytes.get(file) ?? 0, searchedMaxBytes);
  }

  #logs(): readonly string[] {
    try {
      return readdirSync(this.#logDir)
        .filter((name) => name.endsWith('.log'))
        .map((name) => join(this.#logDir, name));
    } catch {
      return [];
    }
  }
}

/** Levels of pino. */
const warningLevel = 40;

interface LogLine {
  readonly level?: number;
  readonly service?: string;
  readonly msg?: string;
  readonly part?: string;
  readonly err?: { readonly message?: string };
}

function warningsIn(text: string): readonly string[] {
  return text.split('\n').flatMap((line) => {
    const parsed = lineOf(line);
    if (parsed === null || (parsed.level ?? 0) < warningLevel || parsed.part === 'kafkajs')
      return [];
    const { service = '', msg = '', err } = parsed;
    return [
      `${service} log: ${msg}${err?.message === undefined ? '' : `: ${codeOf(err.message)}`}`,
    ];
  });
}

function lineOf(line: string): LogLine | null {
  try {
    return JSON.parse(line) as LogLine;
  } catch {
    return null;
  }
}

/** A fault without the facts that differ each time. */
const codeOf = (message: string): string => message.replace(/ \(.*$/s, '');
