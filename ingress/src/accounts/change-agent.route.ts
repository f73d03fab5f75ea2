import { type DoorRoute, refuse } from '@pm/kit/http';
import { type AgentId, parseAgentId, type WalletAddress } from '@pm/schemas';
import { type AuthPorts, authenticate } from '../door/authentication.io.ts';
import type { DoorPorts } from '../door/ports.io.ts';
import { singleBodyMaxBytes } from '../door/request-checks.io.ts';
import { agentView } from './agent-view.ts';
import { refuseReserved } from './refuse-reserved.io.ts';

type AgentPorts = AuthPorts & Pick<DoorPorts, 'agents' | 'activity' | 'owners'>;

/** What is done to an agent of the owner; null when he has no such agent. */
type Change = (owner: WalletAddress, id: AgentId) => Promise<object | null>;

/** POST /api/v1/agents/:id/pause and /resume; the same again changes nothing (conventions.md 1.11). */
export function pauseAgentRoute(ports: AgentPorts): DoorRoute {
  return changeRoute('POST', '/pause', ports, setStatus(ports, 'PAUSED'));
}

export function resumeAgentRoute(ports: AgentPorts): DoorRoute {
  return changeRoute('POST', '/resume', ports, setStatus(ports, 'ACTIVE'));
}

/** POST /api/v1/agents/:id/rotate: a fresh key, shown this once; the previous one works no more. */
export function rotateAgentRoute(ports: AgentPorts): DoorRoute {
  return changeRoute('POST', '/rotate', ports, async (owner, id) => {
    const rotated = await ports.agents.rotate(owner, id);
    if (rotated === null) return null;
    const [seenAtMs = 0] = await ports.activity.seen([id]);
    return { ...agentView(rotated.agent, seenAtMs), key: rotated.key };
  });
}

/** DELETE /api/v1/agents/:id: for ever. */
export function deleteAgentRoute(ports: AgentPorts): DoorRoute {
  return changeRoute('DELETE', '', ports, async (owner, id) =>
    (await ports.agents.delete(owner, id)) ? { deleted: true } : null,
  );
}

function setStatus({ agents, activity }: AgentPorts, status: 'ACTIVE' | 'PAUSED'): Change {
  return async (owner, id) => {
    const agent = await agents.setStatus(owner, id, status);
    if (agent === null) return null;
    const [seenAtMs = 0] = await activity.seen([id]);
    return agentView(agent, seenAtMs);
  };
}

function changeRoute(
  method: 'POST' | 'DELETE',
  action: '' | '/pause' | '/resume' | '/rotate',
  ports: AgentPorts,
  change: Change,
): DoorRoute {
  return {
    method,
    path: `/api/v1/agents/:id${action}`,
    add(app, { url }) {
      app.route({
        method,
        url,
        bodyLimit: singleBodyMaxBytes,
        handler: async (request, reply) => {
          const caller = authenticate(request, reply, ports);
          if (caller === null) return reply;
          if (action === '/rotate' && refuseReserved(caller.address, reply, ports)) return reply;
          const { id: text } = request.params as { readonly id: string };
          const id = parseAgentId(text);
          const done = id === null ? null : await change(caller.address, id);
          return done ?? refuse(reply, 'agent_not_found');
        },
      });
    },
  };
}
