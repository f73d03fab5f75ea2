import { bearerAgent } from '@pm/domain/accounts/agent-key';
import { type DoorRoute, refusalBody } from '@pm/kit/http';
import type { DoorPorts } from '../door/ports.io.ts';
import { agentView } from './agent-view.ts';

/** GET /api/v1/me: the agent whose key is sent; 401 for keys that are unknown, paused, rotated or deleted (conventions.md 1.11). */
export function meRoute(
  ports: Pick<DoorPorts, 'agentDirectory' | 'activity' | 'clock'>,
): DoorRoute {
  return {
    method: 'GET',
    path: '/api/v1/me',
    add(app, { url }) {
      app.get(url, async (request, reply) => {
        const agent = bearerAgent(request.headers, ports.agentDirectory);
        if (agent === null) {
          void reply.code(401).header('www-authenticate', 'Bearer');
          return await reply.send({ error: refusalBody('unauthorized_agent').error });
        }
        ports.activity.mark(agent.id);
        return agentView(agent, ports.clock.nowMs());
      });
    },
  };
}
