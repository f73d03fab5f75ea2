/**
 * Every public route, the door that owns it, and the family of conventions it follows. The gateway is made from this table; a
 * door refuses to start when its routes and this table differ.
 */
export type Door = 'ingress' | 'query-api';

/** Families differ in error bodies; each family is also mounted under its prefix (conventions.md, Dialects). */
export type RouteFamily = 'clob' | 'gamma' | 'data';

export interface HttpRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Path with `:name` for parameters. */
  readonly path: string;
  readonly door: Door;
  readonly family: RouteFamily;
  /** Mounts it is served under, when it is not just that of its family. */
  readonly mounts?: readonly RouteFamily[];
  /** Served under its mounts only: at the root the path is not there, or means something else. */
  readonly atRoot?: false;
}

/** Where a family is mounted besides the root. */
export const familyMounts: Readonly<Record<RouteFamily, string>> = {
  clob: '/clob',
  gamma: '/gamma',
  data: '/data-api',
};

/** A URL pattern a route is served at; `mount` is null at the root. */
export interface RouteUrl {
  readonly url: string;
  readonly mount: RouteFamily | null;
}

/** Every URL pattern of a route: at the root unless it is not there, and under its mounts. */
export function urlsOf({
  path,
  family,
  mounts = [family],
  atRoot,
}: HttpRoute): readonly RouteUrl[] {
  const root: readonly RouteUrl[] = atRoot === false ? [] : [{ url: path, mount: null }];
  const mounted = mounts.flatMap((mount): readonly RouteUrl[] => {
    const prefix = familyMounts[mount];
    const whole = { url: prefix + path, mount };
    return path === '/' ? [{ url: prefix, mount }, whole] : [whole];
  });
  return [...root, ...mounted];
}
