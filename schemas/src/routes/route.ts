/**
 * Every public route, the door that owns it, and the family of conventions it follows. The gateway and the proxy
 * configuration are made from this table; a door refuses to start when its routes and this table differ.
 */
export type Door = 'ingress' | 'query-api';

/** Families differ in error bodies; each family is also mounted under its prefix (docs/conventions.md, Dialects). */
export type RouteFamily = 'clob' | 'gamma' | 'data';

export interface HttpRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Path with `:name` for parameters. */
  readonly path: string;
  readonly door: Door;
  readonly family: RouteFamily;
}

/** Where a family is mounted besides the root. */
export const familyMounts: Readonly<Record<RouteFamily, string>> = {
  clob: '/clob',
  gamma: '/gamma',
  data: '/data-api',
};
