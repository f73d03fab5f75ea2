import { type DoorRoute, refuse } from '@pm/kit/http';
import type { AgentCreation } from '@pm/schemas';
import { type AuthPorts, authenticate } from '../door/authentication.io.ts';
import type { DoorPorts } from '../door/ports.io.ts';
import { singleBodyMaxBytes } from '../door/request-checks.io.ts';
import { agentView } from './agent-view.ts';
import { refuseReserved } from './refuse-reserved.io.ts';

const detail = 'name is a text of 1 to 64 characters';

/** POST /api/v1/agents: one more agent, with its key, which is shown this once (conventions.md 1.11). */
export function createAgentRoute(
  ports: AuthPorts & Pick<DoorPorts, 'agents' | 'owners'>,
  isCreation: (value: unknown) => value is AgentCreation,
): DoorRoute {
  return {
    method: 'POST',
    path: '/api/v1/agents',
    add(app, { url }) {
      app.post(url, { bodyLimit: singleBodyMaxBytes }, async (request, reply) => {
        const caller = authenticate(request, reply, ports);
        if (caller === null || refuseReserved(caller.address, reply, ports)) return reply;
        if (!isCreation(request.body)) return refuse(reply, 'invalid_request', { detail });
        const made = await ports.agents.create(caller.address, request.body.name);
        if ('max' in made) return refuse(reply, 'too_many_agents', { max: made.max });
        return { ...agentView(made.agent, 0), key: made.key };
      });
    },
  };
}
