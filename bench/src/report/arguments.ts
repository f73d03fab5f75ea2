import { parseArgs } from 'node:util';
import type { PublishOptions } from './report.ts';

export interface BenchArguments extends PublishOptions {
  /** A number given as `--<name> <value>`, or its default; both bounded. */
  number(name: string): number;
  flag(name: string): boolean;
}

export interface NumberRule {
  readonly default: number;
  readonly min: number;
  readonly max: number;
}

/** Reads `--json FILE`, `--write`, and the numbers of the benchmark. Throws for anything else. */
export function readArguments(
  numbers: Readonly<Record<string, NumberRule>>,
  flags: readonly string[] = [],
): BenchArguments {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  const { values } = parseArgs({
    options: {
      json: text,
      write: flag,
      ...Object.fromEntries(Object.keys(numbers).map((name) => [name, text])),
      ...Object.fromEntries(flags.map((name) => [name, flag])),
    },
  });
  const given = values as Readonly<Record<string, string | boolean | undefined>>;
  const json = given['json'];
  return {
    json: typeof json === 'string' ? json : undefined,
    write: given['write'] === true,
    flag: (name) => given[name] === true,
    number(name) {
      const rule = numbers[name];
      if (rule === undefined) throw new RangeError(`${name} is no number of this benchmark`);
      const value = given[name] === undefined ? rule.default : Number(given[name]);
      if (value >= rule.min && value <= rule.max) return value;
      throw new RangeError(`--${name} takes ${rule.min} to ${rule.max}`);
    },
  };
}
