import { catalogErrorType, type HttpRoute, type RouteFamily, routes, urlsOf } from '@pm/schemas';
import type { FastifyRequest } from 'fastify';
import type { HttpApp } from './app.ts';

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
    const family = families.get(`${String(route.method)} ${route.url}`);
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

/** What stands before the text of an error of this route: `type` in the catalog family, nothing elsewhere. */
export function familyFields(request: FastifyRequest, status: number): { type?: string } {
  const { family } = request.routeOptions.config;
  return family === 'gamma' ? { type: catalogErrorType(status) } : {};
}
