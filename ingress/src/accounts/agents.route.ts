import type { Agent } from '@pm/domain/accounts/agent-directory';
import { bearerAgent } from '@pm/domain/accounts/agent-key';
import { checkerOf } from '@pm/domain/requests/requests.io';
import { type HttpHandler, refusalBody, refuse } from '@pm/kit/http';
import { AgentCreation } from '@pm/schemas/http/keys';
import { type AgentId, parseAgentId, type WalletAddress } from '@pm/schemas/ids';
import { authenticate, authenticateReader } from '../http/authentication.io.ts';
import type { AccountServices } from './account-services.io.ts';
import { refuseLimit } from './entry-quota.io.ts';
import { refuseReserved } from './key-owner.io.ts';

/** The routes of agents, and of an agent that reads itself. */
export function agentRoutes(services: AccountServices): readonly HttpHandler[] {
  return [
    meRoute(services),
    listAgentsRoute(services),
    createAgentRoute(services, checkerOf(AgentCreation)),
    pauseAgentRoute(services),
    resumeAgentRoute(services),
    rotateAgentRoute(services),
    deleteAgentRoute(services),
  ];
}

/**
 * GET /api/v1/me: the agent whose key is sent; 401 for keys that are unknown, paused, rotated or deleted
 * (conventions.md 2.7).
 */
function meRoute(
  services: Pick<AccountServices, 'agentDirectory' | 'activity' | 'authentication'>,
): HttpHandler {
  return {
    method: 'GET',
    path: '/api/v1/me',
    add(app, { url }) {
      app.get(url, async (request, reply) => {
        const agent = bearerAgent(request.headers, services.agentDirectory);
        if (agent === null) {
          void reply.code(401).header('www-authenticate', 'Bearer');
          return await reply.send({ error: refusalBody('unauthorized_agent').error });
        }
        services.activity.mark(agent.id);
        return agentView(agent, services.authentication.clock.nowMs());
      });
    },
  };
}

/** GET /api/v1/agents: the wallet's agents, oldest first (conventions.md 2.7). */
function listAgentsRoute(
  services: Pick<AccountServices, 'authentication' | 'agents' | 'activity'>,
): HttpHandler {
  return {
    method: 'GET',
    path: '/api/v1/agents',
    add(app, { url }) {
      app.get(url, async (request, reply) => {
        const reader = authenticateReader(request, reply, services.authentication);
        if (reader === null) return reply;
        const agents = services.agents.list(reader.wallet);
        const seen = await services.activity.seen(agents.map(({ id }) => id));
        return { data: agents.map((agent, index) => agentView(agent, seen[index] ?? 0)) };
      });
    },
  };
}

const detail = 'name is a text of 1 to 64 characters';

/** POST /api/v1/agents: one more agent, with its key, which is shown this once (conventions.md 2.7). */
function createAgentRoute(
  services: Pick<AccountServices, 'authentication' | 'agents' | 'owners'>,
  isCreation: (value: unknown) => value is AgentCreation,
): HttpHandler {
  return {
    method: 'POST',
    path: '/api/v1/agents',
    add(app, { url }) {
      app.post(url, async (request, reply) => {
        const caller = authenticate(request, reply, services.authentication);
        if (caller === null || refuseReserved(caller.address, reply, services)) return reply;
        if (!isCreation(request.body)) return refuse(reply, 'invalid_request', { detail });
        const made = await services.agents.create(caller.address, request.body.name);
        if ('max' in made) return refuseLimit(reply, 'too_many_agents', made);
        return { ...agentView(made.agent, 0), key: made.key };
      });
    },
  };
}

type AgentServices = Pick<AccountServices, 'authentication' | 'agents' | 'activity' | 'owners'>;

/** A change of an agent; null when the owner has no such agent. */
type Change = (owner: WalletAddress, id: AgentId) => Promise<object | null>;

/** POST /api/v1/agents/:id/pause and /resume; the same again changes nothing (conventions.md 2.7). */
function pauseAgentRoute(services: AgentServices): HttpHandler {
  return changeRoute('POST', '/pause', services, setStatus(services, 'PAUSED'));
}

function resumeAgentRoute(services: AgentServices): HttpHandler {
  return changeRoute('POST', '/resume', services, setStatus(services, 'ACTIVE'));
}

/** POST /api/v1/agents/:id/rotate: a fresh key, shown this once; the previous one works no more. */
function rotateAgentRoute(services: AgentServices): HttpHandler {
  return changeRoute('POST', '/rotate', services, async (owner, id) => {
    const rotated = await services.agents.rotate(owner, id);
    if (rotated === null) return null;
    const [seenAtMs = 0] = await services.activity.seen([id]);
    return { ...agentView(rotated.agent, seenAtMs), key: rotated.key };
  });
}

/** DELETE /api/v1/agents/:id: for ever. */
function deleteAgentRoute(services: AgentServices): HttpHandler {
  return changeRoute('DELETE', '', services, async (owner, id) =>
    (await services.agents.delete(owner, id)) ? { deleted: true } : null,
  );
}

function setStatus({ agents, activity }: AgentServices, status: 'ACTIVE' | 'PAUSED'): Change {
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
  services: AgentServices,
  change: Change,
): HttpHandler {
  return {
    method,
    path: `/api/v1/agents/:id${action}`,
    add(app, { url }) {
      app.route({
        method,
        url,
        handler: async (request, reply) => {
          const caller = authenticate(request, reply, services.authentication);
          if (caller === null) return reply;
          if (action === '/rotate' && refuseReserved(caller.address, reply, services)) return reply;
          const { id: text } = request.params as { readonly id: string };
          const id = parseAgentId(text);
          const done = id === null ? null : await change(caller.address, id);
          return done ?? refuse(reply, 'agent_not_found');
        },
      });
    },
  };
}

/** An agent as its owner and itself see it: its key is never in it. */
function agentView(agent: Agent, seenAtMs: number) {
  const lastActiveAtMs = Math.max(agent.lastActiveAtMs, seenAtMs);
  return {
    id: agent.id,
    name: agent.name,
    status: agent.status.toLowerCase(),
    createdAt: new Date(agent.createdAtMs).toISOString(),
    lastActiveAt: lastActiveAtMs === 0 ? null : new Date(lastActiveAtMs).toISOString(),
  };
}
