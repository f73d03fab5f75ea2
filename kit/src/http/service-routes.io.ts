import {
  bodyMaxBytesOf,
  type HttpService,
  type RouteDeclaration,
  type RouteFamily,
  urlsOf,
} from '@pm/schemas/routes/route';
import { routes } from '@pm/schemas/routes/routes';
import type { FastifyRequest, RouteOptions } from 'fastify';
import { Fault } from '../fault/index.ts';
import type { HttpApp } from './app.io.ts';
import { familyOfTarget } from './route-family.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * The family whose error format this route has, from the table of routes; absent for routes that are not public.
     */
    family?: RouteFamily;
    /** Request and response types of a public route. */
    declaration?: RouteDeclaration;
  }
}

/** Root paths follow the specification, the mounts follow the family (conventions.md 1.1). */
export type Dialect = 'specification' | 'family';

/**
 * One public route: its declaration, or the method and path that name it in the table of routes, and how it is added to
 * the app under a path.
 */
export interface HttpHandler extends Pick<RouteDeclaration, 'method' | 'path'> {
  add(app: HttpApp, at: RoutePlace): void;
}

/** Where a route is added: `url` is the path, with its mount if it has one; `mount` is null at the root. */
export interface RoutePlace {
  readonly url: string;
  readonly dialect: Dialect;
  readonly mount: RouteFamily | null;
}

/**
 * Adds every route under all its paths in the table. Throws the `Fault` `routes_differ` (stop) when the routes differ
 * from the table's for this service: the gateway forwards by the table.
 */
export function registerRoutes(
  app: HttpApp,
  service: HttpService,
  handlers: readonly HttpHandler[],
): void {
  const table = routes.filter((route) => route.service === service);
  const wanted = new Map(table.map((route) => [nameOf(route), route]));
  const given = new Set(handlers.map(nameOf));
  const missing = [...wanted.keys()].filter((name) => !given.has(name));
  const unknown = [...given].filter((name) => !wanted.has(name));
  if (missing.length + unknown.length > 0 || given.size !== handlers.length) {
    const facts = { missing: missing.join(', '), unknown: unknown.join(', ') };
    throw new Fault('routes_differ', 'stop', { facts });
  }
  for (const route of handlers) {
    const listed = wanted.get(nameOf(route));
    for (const { url, mount } of listed === undefined ? [] : urlsOf(listed)) {
      route.add(app, { url, mount, dialect: mount === null ? 'specification' : 'family' });
    }
  }
}

function nameOf(route: { readonly method: string; readonly path: string }): string {
  return `${route.method} ${route.path}`;
}

/** The method of an added route in the table of routes: each GET also answers `HEAD`, without a body. */
export function tableMethod({ method }: Pick<RouteOptions, 'method'>): string {
  return method === 'HEAD' ? 'GET' : String(method);
}

/**
 * Gives every public route its declaration, its largest body, and its family: that of its mount, at the root its own.
 * Call it before adding routes. Fastify validates and serialises by none of it: the readers of the routes word their
 * errors as documented, and a schema of responses would drop and reorder fields.
 */
export function declareRoutes(app: HttpApp): void {
  const declared = declarationsByUrl();
  app.addHook('onRoute', (route) => {
    const found = declared.get(`${tableMethod(route)} ${route.url}`);
    if (found === undefined) return;
    route.config = { ...route.config, ...found };
    route.bodyLimit = bodyMaxBytesOf(found.declaration);
  });
}

interface Declared {
  readonly declaration: RouteDeclaration;
  readonly family: RouteFamily;
}

function declarationsByUrl(): ReadonlyMap<string, Declared> {
  const declared = routes.flatMap((declaration) =>
    urlsOf(declaration).map(({ url, mount }) => {
      const family = mount ?? declaration.family;
      return [`${declaration.method} ${url}`, { declaration, family }] as const;
    }),
  );
  return new Map(declared);
}

/** The family whose error format this request gets: that of its route, or of its path when no route matched. */
export function familyOf(request: FastifyRequest): RouteFamily {
  return request.routeOptions.config.family ?? familyOfTarget(request.url);
}
