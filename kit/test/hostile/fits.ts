import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';

const checks = new Map<TSchema, (value: unknown) => boolean>();

/** Whether a value is of a schema, which is compiled once. */
export function fits(schema: TSchema, value: unknown): boolean {
  const known = checks.get(schema);
  if (known !== undefined) return known(value);
  const compiled = Compile(schema);
  checks.set(schema, (one) => compiled.Check(one));
  return compiled.Check(value);
}
