import {
  catalogErrorType,
  dataErrorClass,
  type HttpRoute,
  type RouteFamily,
  routes,
  urlsOf,
} from '@pm/schemas';
import type { FastifyRequest } from 'fastify';
import type { HttpApp } from './app.ts';
import { tableMethod } from './door-routes.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whose words errors of this route are in, out of the table of routes; absent for routes that are not public. */
    family?: RouteFamily;
  }
}

/** Tells every public route its family: that of its mount, at the root its own. Call it before adding routes. */
export function nameFamilies(app: HttpApp): void {
  const families = familiesByUrl();
  app.addHook('onRoute', (route) => {
    const family = families.get(`${tableMethod(route)} ${route.url}`);
    if (family !== undefined) route.config = { ...route.config, family };
  });
}

function familiesByUrl(): ReadonlyMap<string, RouteFamily> {
  const families = new Map<string, RouteFamily>();
  for (const route of routes as readonly HttpRoute[]) {
    for (const { url, mount } of urlsOf(route)) {
      families.set(`${route.method} ${url}`, mount ?? route.family);
    }
  }
  return families;
}

/** Whose words an error of this request is in: those of its route, and of the path where no route took it. */
export function familyOf(request: FastifyRequest): RouteFamily {
  return request.routeOptions.config.family ?? familyOfTarget(request.url);
}

/** By the beginnings of public URLs, up to their first parameter; of those that families share, the first in the table. */
const familiesByBeginning: ReadonlyMap<string, RouteFamily> = beginnings();

function beginnings(): ReadonlyMap<string, RouteFamily> {
  const families = new Map<string, RouteFamily>();
  for (const route of routes as readonly HttpRoute[]) {
    for (const { url, mount } of urlsOf(route)) {
      for (const beginning of beginningsOf(url)) {
        if (beginning.includes(':')) break;
        if (!families.has(beginning)) families.set(beginning, mount ?? route.family);
      }
    }
  }
  return families;
}

/** `/a`, `/a/b`, `/a/b/c` of `/a/b/c`. */
function* beginningsOf(path: string): Generator<string> {
  for (let end = 0; end !== -1; ) {
    end = path.indexOf('/', end + 1);
    yield end === -1 ? path : path.slice(0, end);
  }
}

/** The family that a path belongs to as far as the table of routes knows its beginning; clob beyond. */
export function familyOfTarget(target: string): RouteFamily {
  const [path = ''] = originForm(target).split(/[?#]/, 1);
  let family: RouteFamily = 'clob';
  for (const beginning of beginningsOf(path)) {
    const known = familiesByBeginning.get(beginning);
    if (known === undefined) return family;
    family = known;
  }
  return family;
}

const absoluteForm = /^https?:\/\/[^/?#]+/i;

/** What a client asks for without naming the host, also when it spoke as to a proxy (RFC 9112 3.2.2). */
export function originForm(target: string): string {
  if (!absoluteForm.test(target)) return target;
  const rest = target.replace(absoluteForm, '');
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/** The body of an error in the words of a family (conventions.md 1.0). */
export function inWordsOf(
  family: RouteFamily,
  status: number,
  body: { readonly error: string },
): object {
  if (family === 'gamma') return { type: catalogErrorType(status), ...body };
  if (family === 'data') return { ...body, error: `${dataErrorClass(status)}: ${body.error}` };
  return body;
}
