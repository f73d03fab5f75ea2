import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';

/** A compiled check of a schema. */
export function checkerOf<const T extends TSchema>(schema: T) {
  const compiled = Compile(schema);
  return (value: unknown): value is Static<T> => compiled.Check(value);
}
