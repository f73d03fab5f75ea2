import type { DoorRoute } from '@pm/kit/http';
import type { ReadPorts } from '../door/ports.ts';
import { sendAnswer } from '../door/read-route.io.ts';
import { wireStanding } from './progress.ts';

/**
 * GET /status. At the root: how far each projection is complete (conventions.md 1.16). Under the mounts: the plain text that
 * clients of the family take for health; with quotes it would not be.
 */
export function statusRoute({ standing }: Pick<ReadPorts, 'standing'>): DoorRoute {
  return {
    method: 'GET',
    path: '/status',
    add(app, { url, mount }) {
      app.get(url, (_request, reply) =>
        mount === null
          ? sendAnswer(reply, wireStanding(standing.standing()), 'gamma')
          : reply.type('text/plain; charset=utf-8').send('OK'),
      );
    },
  };
}
