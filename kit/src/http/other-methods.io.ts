import type { HttpApp } from './app.io.ts';
import type { AnswerCount } from './observe.io.ts';
import { allowPages, isOpenToPages } from './response-headers.io.ts';
import { errorStyleOf, originForm } from './route-family.ts';
import { RoutePaths } from './route-paths.ts';
import { familyOf } from './service-routes.io.ts';

/**
 * Answers what matches no route: `OPTIONS` of a path with what it allows, other methods of it with 405, and paths that
 * nothing serves with 404. Call it before the routes are added.
 */
export function answerOtherMethods(
  app: HttpApp,
  { count, isOpen }: { readonly count: AnswerCount | null; readonly isOpen: boolean },
): void {
  const [all, open] = [new RoutePaths(), new RoutePaths()];
  app.addHook('onRoute', ({ method, url, config }) => {
    for (const one of [method].flat()) {
      all.add(one, url);
      if (isOpenToPages(url, config?.declaration?.auth)) open.add(one, url);
    }
  });
  app.setNotFoundHandler((request, reply) => {
    const [path = ''] = originForm(request.url).split(/[?#]/, 1);
    const methods = all.methodsAt(path);
    const status = statusOf(request.method, methods);
    void reply.code(status);
    if (status !== 404) void reply.header('allow', [...methods, 'OPTIONS'].join(', '));
    if (isOpen && status === 204) allowPages(reply, open.methodsAt(path));
    count?.unrouted(request.method, status);
    if (status === 204) return reply.send();
    const error = status === 405 ? 'the path takes other methods' : 'not found';
    return reply.send(errorStyleOf(familyOf(request), status, { error }));
  });
}

function statusOf(method: string, methods: readonly string[]): 204 | 404 | 405 {
  if (methods.length === 0) return 404;
  return method === 'OPTIONS' ? 204 : 405;
}
