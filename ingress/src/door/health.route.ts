import type { DoorRoute } from '@pm/kit/http';

/** GET /: `OK` as text, for everybody who does not ask for JSON and nothing else; JSON of the data family (conventions.md 1.1). */
export const rootRoute: DoorRoute = {
  method: 'GET',
  path: '/',
  add(app, { url, mount }) {
    app.get(url, async (request, reply) => {
      if (mount === 'data' || request.headers.accept === 'application/json') return { data: 'OK' };
      return await reply.type('text/plain; charset=utf-8').send('OK');
    });
  },
};
