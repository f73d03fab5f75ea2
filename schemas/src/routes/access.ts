import { type OperatorRole, operatorRoles } from '../operators.ts';
import type { Authentication, OperatorRouteDeclaration, RouteDeclaration } from './route.ts';

/** Every kind of caller, by what it sends. */
export const principals = {
  none: 'no credentials',
  otherKey: 'the API key of another wallet with its own secret and address',
  otherWallet: 'its own API key, or its own signature, under the address of another wallet',
  revoked: 'an API key that was deleted',
  pausedAgent: 'the key of a paused agent',
  agent: 'the key of an agent',
  readOnly: 'a read-only key',
  closedOnly: 'an API key, or the signature, of a wallet that may only close positions',
  banned: 'an API key, or the signature, of a banned wallet',
  owner: 'an API key, or the signature, of a wallet without restrictions',
  operator: 'the token of an operator with every role',
} as const;
export type Principal = keyof typeof principals;

/** Callers of the operator's listener: those who are no operators, and an operator of each role. */
export type OperatorCaller = Exclude<Principal, 'operator'> | OperatorRole;

/**
 * Access of a caller to a route: it is served as far as its credentials go, its credentials prove nothing (401), the
 * path is not there (404), the operator lacks the role (403), or it is refused with a code; `each` is that code for
 * every item of a batch with status 200.
 */
export type Access =
  | { readonly kind: 'served' }
  | { readonly kind: 'unproven' }
  | { readonly kind: 'absent' }
  | { readonly kind: 'roleless' }
  | {
      readonly kind: 'refused';
      readonly code: 'read_only_key' | 'user_banned' | 'closed_only';
      readonly each: boolean;
    };

const served: Access = { kind: 'served' };
const unproven: Access = { kind: 'unproven' };
const refused = (code: (Access & { kind: 'refused' })['code'], each = false): Access => ({
  kind: 'refused',
  code,
  each,
});

/** Who may do what with a public route. */
export function accessOf(route: RouteDeclaration): Readonly<Record<Principal, Access>> {
  const { auth } = route;
  const takes = (proof: Authentication) => auth.includes(proof);
  const isOpen = takes('none');
  const unknown = isOpen ? served : unproven;
  const byWallet = takes('l2') || takes('l1') ? served : unknown;
  // An open route ignores credentials that it does not take; where it takes an API key too, a wrong one is refused.
  const wrong = isOpen && auth.length === 1 ? served : unproven;
  return {
    none: unknown,
    otherKey: wrong,
    otherWallet: wrong,
    revoked: wrong,
    pausedAgent: unknown,
    agent: takes('agent') ? served : unknown,
    readOnly: readOnlyAccess(route, wrong),
    closedOnly: closedOnlyAccess(route, byWallet),
    banned: bannedAccess(route, byWallet),
    owner: byWallet,
    operator: unknown,
  };
}

/**
 * Where an API key alone will do, writes say that the key may only read, and so do reads that declare it; elsewhere it
 * proves nothing.
 */
function readOnlyAccess(route: RouteDeclaration, wrong: Access): Access {
  const { auth, service, method, errors = {} } = route;
  if (auth.includes('readOnlyKey')) return served;
  const says = method !== 'GET' || 403 in errors;
  const isPrivate = service === 'ingress' && auth.includes('l2') && !auth.includes('l1');
  return isPrivate && says ? refused('read_only_key') : wrong;
}

function closedOnlyAccess({ opensPositions }: RouteDeclaration, served: Access): Access {
  if (opensPositions === undefined) return served;
  return refused('closed_only', opensPositions === 'each');
}

/** A banned wallet reads what is its own and changes nothing. */
function bannedAccess({ auth, service, method }: RouteDeclaration, served: Access): Access {
  const isPrivate = auth.includes('l2') || auth.includes('l1');
  return isPrivate && service === 'ingress' && method !== 'GET' ? refused('user_banned') : served;
}

/** Access of each caller to a route of the operator's listener; on the public listener the path is not there. */
export function operatorAccessOf({
  role,
}: Pick<OperatorRouteDeclaration, 'role'>): Readonly<Record<OperatorCaller, Access>> {
  const others = (Object.keys(principals) as readonly Principal[])
    .filter((name) => name !== 'operator')
    .map((name) => [name, unproven] as const);
  const operators = operatorRoles.map((own) => {
    const isOpen = role === 'viewer' || own === role || own === 'admin';
    return [own, isOpen ? served : { kind: 'roleless' }] as const;
  });
  return Object.fromEntries([...others, ...operators]) as Record<OperatorCaller, Access>;
}

/** Access of every caller to every path of the operator on the public listener. */
export const operatorPathInPublic: Access = { kind: 'absent' };
