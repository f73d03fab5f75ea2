import type { HttpApp } from '@pm/kit/http';
import type { RouteDeclaration } from '@pm/schemas/routes/route';
import type { onRequestHookHandler } from 'fastify';

/** Runs a hook for requests of the public routes that are meant, under all their paths. Call before adding routes. */
export function onRequestOf(
  app: HttpApp,
  isMeant: (route: RouteDeclaration) => boolean,
  hook: onRequestHookHandler,
): void {
  app.addHook('onRoute', (route) => {
    const declaration = route.config?.declaration;
    if (declaration === undefined || !isMeant(declaration)) return;
    route.onRequest = [...[route.onRequest ?? []].flat(), hook];
  });
}
