import type { DoorRoute } from '@pm/kit/http';

/** GET /ok: the JSON text `"OK"` (conventions.md 1.1). */
export const okRoute: DoorRoute = {
  method: 'GET',
  path: '/ok',
  add(app, { url }) {
    app.get(url, async (_request, reply) => {
      return await reply.type('application/json; charset=utf-8').send('"OK"');
    });
  },
};
