import { type Field, integer } from '@pm/kit/config';
import { StackError } from '../local/stack-error.ts';

/** Partitions of a log that is made: on engines of this machine, and on those of another installation. */
export const firstPartitions = { local: 8, external: 64 } as const;

const { local, external } = firstPartitions;

/** The number of partitions as a variable. */
export const partitionsField: Field<number> = {
  ...integer('PM_PARTITIONS', {
    meaning:
      'Partitions of `orders` and `executions` (also `--partitions`). Set-up adds and opens those that are missing; more than that stay, since Kafka takes none away. Without it a log that is there gets none.',
    unit: 'partitions',
    min: 1,
    max: 1024,
    default: local,
  }),
  fallback: { value: local, shown: `${local}, or ${external} with STACK=external` },
};

/**
 * The number of partitions that is asked for, by an option of the command line before the variable; undefined when none
 * is. Throws a `StackError` for one that is out of range.
 */
export function partitionsOf(
  option: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): number | undefined {
  const { name, allowed, parse } = partitionsField;
  const given = option ?? env[name] ?? '';
  if (given === '') return undefined;
  const parsed = parse(given);
  if (parsed !== null && 'value' in parsed) return parsed.value;
  const where = option === undefined ? `${name}=${given}` : `--partitions ${given}`;
  throw new StackError('BAD_DESCRIPTION', `${where}: allowed is ${allowed}`);
}
