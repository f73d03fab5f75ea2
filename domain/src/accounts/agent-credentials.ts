import type { AgentActivity } from './agent-activity.io.ts';
import type { AgentDirectory } from './agent-directory.ts';
import { bearerAgent } from './agent-key.ts';
import type { RawHeaders } from './auth-headers.ts';

/**
 * Bearer keys of agents as credentials of `@pm/kit/http`: a request with one counts for the agent and marks it as active,
 * whatever the route. A key that opens nothing makes no claim: such a request is anonymous (conventions.md 1.11).
 */
export function agentCredentials(agents: AgentDirectory, activity: Pick<AgentActivity, 'mark'>) {
  return {
    claims: (headers: RawHeaders): boolean => bearerAgent(headers, agents) !== null,
    prove({ headers }: { readonly headers: RawHeaders }) {
      const agent = bearerAgent(headers, agents);
      if (agent === null) return null;
      activity.mark(agent.id);
      return { kind: 'agent', id: agent.id } as const;
    },
  };
}
