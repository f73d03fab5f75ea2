import { doorBounds } from '@pm/kit/http';
import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';

/** Bodies larger than this are refused before they are read to the end, bytes. */
export const singleBodyMaxBytes = 32 * 1024;
export const batchBodyMaxBytes = doorBounds.ingress.bodyLimitBytes;

/** The response of routes that take orders to a body that is no JSON or not of their shape. */
export const invalidPayload = { text: 'Invalid order payload', code: 'invalid_payload' } as const;

/** A compiled check of a schema. */
export function checkerOf<const T extends TSchema>(schema: T) {
  const compiled = Compile(schema);
  return (value: unknown): value is Static<T> => compiled.Check(value);
}
