import type { DoorRoute } from '@pm/kit/http';
import type { DoorPorts } from './ports.io.ts';

/** GET /time: Unix seconds as a bare number (conventions.md 1.1). */
export function timeRoute({ clock }: Pick<DoorPorts, 'clock'>): DoorRoute {
  return {
    method: 'GET',
    path: '/time',
    add(app, { url }) {
      app.get(url, async (_request, reply) => {
        const seconds = String(Math.floor(clock.nowMs() / 1000));
        return await reply.type('application/json; charset=utf-8').send(seconds);
      });
    },
  };
}
