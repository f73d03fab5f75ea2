import type { DoorRoute } from '@pm/kit/http';

/** GET /status under the mounts: the plain text that clients of the family take for health; with quotes it would not be. */
export function statusRoute(): DoorRoute {
  return {
    method: 'GET',
    path: '/status',
    add(app, { url }) {
      app.get(url, { exposeHeadRoute: false }, (_request, reply) =>
        reply.type('text/plain; charset=utf-8').send('OK'),
      );
    },
  };
}
