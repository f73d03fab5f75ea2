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
  /** Name of an error that many routes have alike: the families whose words it is in, and the kind of error. */
  readonly shared?: string;
}

const statusNames: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  409: 'Conflict',
  413: 'TooLarge',
  414: 'PathTooLong',
  415: 'UnsupportedMediaType',
  422: 'KeyReused',
  429: 'TooManyRequests',
  431: 'HeadersTooLarge',
  500: 'InternalError',
  503: 'Unavailable',
};

const operatorForbidden =
  'The operator has no role that opens this route, or a web page may have sent the request.';

/** Errors that follow from what kind of route it is, with their texts. */
function commonErrors(
  route: Declaration & Partial<RouteDeclaration> & Pick<Partial<OperatorRouteDeclaration>, 'role'>,
): Readonly<Record<number, string>> {
  const proofs = route.auth.filter((one) => one !== 'none');
  const isPrivateWrite = route.service === 'ingress' && proofs.includes('l2');
  const takesBody = route.method !== 'GET';
  const isIngress = route.service !== 'query-api';
  const hasPathParts = route.params !== undefined;
  const badRequests = [
    ...(hasPathParts ? ['the path cannot be decoded'] : []),
    ...(takesBody || isPrivateWrite ? ['the body is not JSON'] : []),
    ...(isPrivateWrite ? ["'{address}' address banned"] : []),
  ];
  return {
    ...(badRequests.length > 0 ? { 400: badRequests.join('; ') } : {}),
    ...(proofs.length > 0 ? { 401: 'The credentials prove nothing, or the clock is off.' } : {}),
    ...(isPrivateWrite ? { 403: 'this API key may only read' } : {}),
    ...(route.role === undefined ? {} : { 403: operatorForbidden }),
    ...(takesBody && isIngress ? { 413: 'the body is too large' } : {}),
    ...(hasPathParts ? { 414: 'a part of the path is too long' } : {}),
    ...(takesBody ? { 415: 'the content type of a body is application/json' } : {}),
    ...repetitionErrors(route),
    429: 'Too Many Requests',
    431: 'the headers are too large',
    500: 'internal error',
    503: 'temporarily unavailable, try again shortly',
  };
}

/** Errors of a request that came before. */
function repetitionErrors({
  takesIdempotencyKey,
  repetition = 'harmless',
}: Declaration & Partial<RouteDeclaration>): Readonly<Record<number, string>> {
  if (takesIdempotencyKey === true) {
    return { 422: 'Idempotency-Key was used with another request' };
  }
  if (repetition === 'harmless') return {};
  return { 409: 'this signed request was used before, sign it again with the present time' };
}

/** Every response of a public route by ascending status, errors included. */
export function responsesOf(route: RouteDeclaration): readonly DeclaredResponse[] {
  const families = [...new Set<RouteFamily>([route.family, ...(route.mounts ?? [])])];
  return allOf(route, { prefix: families.map(capital).join(''), schema: errorsOf(families) });
}

/** Every response of a route of the operator's listener by ascending status, errors included. */
export function operatorResponsesOf(route: OperatorRouteDeclaration): readonly DeclaredResponse[] {
  const errors = { 400: 'The body or a parameter is not of its form.', ...route.errors };
  return allOf({ ...route, errors }, { prefix: 'Operator', schema: OperatorError });
}

function allOf(
  route: Declaration,
  { prefix, schema }: { readonly prefix: string; readonly schema: Type.TSchema },
): readonly DeclaredResponse[] {
  const common = commonErrors(route);
  const own = route.errors ?? {};
  const statuses = [common, own, route.responses].flatMap((some) => Object.keys(some));
  return [...new Set(statuses)]
    .map(Number)
    .sort((left, right) => left - right)
    .map((status) => {
      const declared = route.responses[status];
      if (declared !== undefined) return { status, ...declared };
      const texts = [own[status], common[status]].filter((text) => text !== undefined);
      const error = { status, description: texts.join('; '), schema };
      return own[status] === undefined
        ? { ...error, shared: `${prefix}${statusNames[status] ?? status}` }
        : error;
    });
}

/** The bodies of errors in the words of one or of several families (conventions.md 1.2). */
function errorsOf(families: readonly RouteFamily[]): Type.TSchema {
  const [first = familyErrors.clob, ...others] = families.map((one) => familyErrors[one]);
  return others.length === 0 ? first : Type.Union([first, ...others]);
}

const capital = (word: string) => word.slice(0, 1).toUpperCase() + word.slice(1);
