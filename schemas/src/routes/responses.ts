import { Type } from 'typebox';
import { familyErrors, OperatorError } from '../http/error-bodies.ts';
import type {
  Declaration,
  OperatorRouteDeclaration,
  ResponseDeclaration,
  RouteDeclaration,
  RouteFamily,
} from './route.ts';

/** A response of a route with the schema of its body; undefined for bodies that are not JSON alone. */
export interface DeclaredResponse extends ResponseDeclaration {
  readonly status: number;
}

/** Errors that follow from what kind of route it is, with their texts. */
function commonErrors(
  route: Declaration & Partial<RouteDeclaration>,
): Readonly<Record<number, string>> {
  const proofs = route.auth.filter((one) => one !== 'none');
  const isPrivateWrite = route.door === 'ingress' && proofs.includes('l2');
  const takesBody = route.method !== 'GET';
  const isIngress = route.door !== 'query-api';
  return {
    ...(takesBody || isPrivateWrite
      ? {
          400: isPrivateWrite
            ? "the body is not JSON; '{address}' address banned"
            : 'the body is not JSON',
        }
      : {}),
    ...(proofs.length > 0 ? { 401: 'The credentials prove nothing, or the clock is off.' } : {}),
    ...(isPrivateWrite ? { 403: 'this API key may only read' } : {}),
    ...(takesBody && isIngress ? { 413: 'the body is too large' } : {}),
    ...(takesBody ? { 415: 'the content type of a body is application/json' } : {}),
    ...(route.takesIdempotencyKey === true
      ? {
          409: 'the first request with this Idempotency-Key is still running',
          422: 'Idempotency-Key was used with another request',
        }
      : {}),
    429: 'Too Many Requests',
    500: 'internal error',
    503: 'temporarily unavailable, try again shortly',
  };
}

/** Every response of a public route by ascending status, errors included. */
export function responsesOf(route: RouteDeclaration): readonly DeclaredResponse[] {
  return allOf(route, errorSchemaOf(route));
}

/** The same for a route of the operator's listener. */
export function operatorResponsesOf(route: OperatorRouteDeclaration): readonly DeclaredResponse[] {
  const errors = { 400: 'The body or a parameter is not of its form.', ...route.errors };
  const { 429: _unlimited, ...all } = Object.fromEntries(
    allOf({ ...route, errors }, OperatorError).map((one) => [one.status, one]),
  );
  return Object.values(all);
}

function allOf(route: Declaration, schema: Type.TSchema): readonly DeclaredResponse[] {
  const common = commonErrors(route);
  const own = route.errors ?? {};
  const statuses = new Set([
    ...Object.keys(common),
    ...Object.keys(own),
    ...Object.keys(route.responses),
  ]);
  return [...statuses]
    .map(Number)
    .sort((left, right) => left - right)
    .map((status) => {
      const declared = route.responses[status];
      if (declared !== undefined) return { status, ...declared };
      const texts = [own[status], common[status]].filter((text) => text !== undefined);
      return { status, description: texts.join('; '), schema };
    });
}

/** The bodies of its errors: those of the family, and of the mounts it has besides (conventions.md 1.0). */
function errorSchemaOf({ family, mounts = [] }: RouteDeclaration): Type.TSchema {
  const families = [...new Set<RouteFamily>([family, ...mounts])];
  const [first, ...others] = families.map((one) => familyErrors[one]);
  if (first === undefined || others.length === 0) return first ?? familyErrors.clob;
  return Type.Union([first, ...others]);
}
