import { parseArgs } from 'node:util';
import { watchMachine } from './machine.ts';
import type { PublishOptions } from './report.ts';

export interface BenchArguments extends PublishOptions {
  /** A number given as `--<name> <value>`, or its default; both bounded. */
  number(name: string): number;
  /** A text given as `--<name> <value>`, or its default. */
  text(name: string): string;
  flag(name: string): boolean;
}

export interface NumberRule {
  readonly default: number;
  readonly min: number;
  readonly max: number;
}

/**
 * Reads `--json FILE`, `--write`, and the numbers, flags and texts (with their defaults) of the benchmark; its run
 * begins here. Throws for anything else.
 */
export function readArguments(
  numbers: Readonly<Record<string, NumberRule>>,
  flags: readonly string[] = [],
  texts: Readonly<Record<string, string>> = {},
): BenchArguments {
  const machine = watchMachine();
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  const { values } = parseArgs({
    options: {
      json: text,
      write: flag,
      ...Object.fromEntries([numbers, texts].flatMap(Object.keys).map((name) => [name, text])),
      ...Object.fromEntries(flags.map((name) => [name, flag])),
    },
  });
  const given = values as Readonly<Record<string, string | boolean | undefined>>;
  const json = given['json'];
  return {
    json: typeof json === 'string' ? json : undefined,
    write: given['write'] === true,
    machine,
    flag: (name) => given[name] === true,
    text(name) {
      const value = given[name] ?? texts[name];
      if (typeof value === 'string') return value;
      throw new RangeError(`${name} is no text of this benchmark`);
    },
    number(name) {
      const rule = numbers[name];
      if (rule === undefined) throw new RangeError(`${name} is no number of this benchmark`);
      const value = given[name] === undefined ? rule.default : Number(given[name]);
      if (value >= rule.min && value <= rule.max) return value;
      throw new RangeError(`--${name} takes ${rule.min} to ${rule.max}`);
    },
  };
}
