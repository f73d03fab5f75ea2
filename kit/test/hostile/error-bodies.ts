import { ErrorResponse, TypedErrorResponse } from '@pm/schemas/http/reading';
import type { HttpRoute, RouteFamily } from '@pm/schemas/routes/route';
import { Value } from 'typebox/value';

/**
 * Whether a body is an error as the route's family words it (conventions.md 1.2); shared paths may have either form.
 */
export function isErrorOf({ family, mounts = [] }: HttpRoute, body: unknown): boolean {
  const families: readonly RouteFamily[] = [family, ...mounts];
  return families.some((one) =>
    Value.Check(one === 'gamma' ? TypedErrorResponse : ErrorResponse, body),
  );
}
