import type { Agent } from '@pm/domain/accounts/agent-directory';

/** An agent as its owner and itself see it: its key is never in it. */
export function agentView(agent: Agent, seenAtMs: number) {
  const lastActiveAtMs = Math.max(agent.lastActiveAtMs, seenAtMs);
  return {
    id: agent.id,
    name: agent.name,
    status: agent.status.toLowerCase(),
    createdAt: new Date(agent.createdAtMs).toISOString(),
    lastActiveAt: lastActiveAtMs === 0 ? null : new Date(lastActiveAtMs).toISOString(),
  };
}
