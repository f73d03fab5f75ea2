import type { DoorRoute } from '@pm/kit/http';
import { type AuthPorts, authenticateReader } from '../door/authentication.io.ts';
import type { DoorPorts } from '../door/ports.io.ts';
import { agentView } from './agent-view.ts';

/** GET /api/v1/agents: the wallet's agents, oldest first (conventions.md 1.11). */
export function listAgentsRoute(
  ports: AuthPorts & Pick<DoorPorts, 'agents' | 'activity'>,
): DoorRoute {
  return {
    method: 'GET',
    path: '/api/v1/agents',
    add(app, { url }) {
      app.get(url, async (request, reply) => {
        const reader = authenticateReader(request, reply, ports);
        if (reader === null) return reply;
        const agents = ports.agents.list(reader.wallet);
        const seen = await ports.activity.seen(agents.map(({ id }) => id));
        return { data: agents.map((agent, index) => agentView(agent, seen[index] ?? 0)) };
      });
    },
  };
}
