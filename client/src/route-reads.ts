import { familyMounts, type RouteDeclaration, type RouteQuery } from '@pm/schemas/routes/route';
import { publicRoutes, type ResponseOf } from '@pm/schemas/routes/routes';
import type { Static, Type } from 'typebox';
import type { Query } from './http.ts';

type PublicRoutes = typeof publicRoutes;

/** Names of the declared routes that anyone may read. */
export type ReadName = {
  [Name in keyof PublicRoutes]: PublicRoutes[Name] extends {
    readonly method: 'GET';
    readonly auth: readonly ['none', ...unknown[]];
  }
    ? Name
    : never;
}[keyof PublicRoutes];

/** Parameters of a declared read: those of its path as text, and its query. */
export interface ReadInput<Name extends ReadName> {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: RouteQuery<PublicRoutes[Name]>;
}

/** The body of a good response under the mount of the family; that of the root where they do not differ. */
export type MountedResponseOf<Name extends ReadName> = PublicRoutes[Name] extends {
  readonly responses: { readonly 200: { readonly mounted: infer S extends Type.TSchema } };
}
  ? Static<S>
  : ResponseOf<Name>;

/**
 * Path and query of a declared read; `isMounted` asks under the mount of its family. Throws `RangeError` when a
 * parameter of the path is missing.
 */
export function readRequest<Name extends ReadName>(
  name: Name,
  { params = {}, query }: ReadInput<Name>,
  isMounted: boolean,
): { readonly path: string; readonly query: Query } {
  const route: RouteDeclaration = publicRoutes[name];
  const filled = route.path.replace(/:(\w+)/g, (_, key: string) => {
    const value = params[key] ?? '';
    if (value === '') throw new RangeError(`${name} needs ${key}`);
    return encodeURIComponent(value);
  });
  const mount = isMounted ? familyMounts[route.family] : '';
  return { path: mount + filled, query: queryOf(query ?? {}) };
}

/** Lists are joined by commas (conventions.md 1.2). */
function queryOf(query: object): Query {
  const texts = Object.entries(query).map(([key, value]) => [
    key,
    Array.isArray(value) ? value.join(',') : (value as string | undefined),
  ]);
  return Object.fromEntries(texts) as Query;
}
