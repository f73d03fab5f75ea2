import type { AgentId, WalletAddress } from '@pm/schemas/ids';
import type { Agent, AgentDirectory } from './agent-directory.ts';
import type { RawHeaders } from './auth-headers.ts';
import { hashOfKey } from './key-hash.ts';

const prefix = 'pro_';
/**
 * 24 bytes are 32 base64url characters, so the whole key has the 36 of its published format: 192 bits (conventions.md
 * 2.7).
 */
export const agentKeyBytes = 24;
const bearer = /^Bearer +(pro_[A-Za-z0-9_-]{32})$/i;

/** The text of a key made of `agentKeyBytes` random bytes. */
export function agentKeyFrom(random: Buffer): string {
  return prefix + random.toString('base64url');
}

/**
 * The agent whose key is sent as `Authorization: Bearer`, if it may act; null otherwise: reads take such a request as
 * anonymous (conventions.md 2.7). The key is found by its hash, so that the time does not reveal keys that are
 * nearly right.
 */
export function bearerAgent(headers: RawHeaders, agents: AgentDirectory): Agent | null {
  const key = bearerKey(headers);
  if (key === null) return null;
  const agent = agents.findByKey(hashOfKey(key));
  return agent?.status === 'ACTIVE' ? agent : null;
}

/** The key of an agent that a request names, known or not. */
export function bearerKey({ authorization }: RawHeaders): string | null {
  if (typeof authorization !== 'string') return null;
  return bearer.exec(authorization)?.[1] ?? null;
}

/**
 * Bearer keys of agents as credentials of the rate limits: a request with one counts for the agent and marks it as
 * active, whatever the route. A request with an invalid key is anonymous (conventions.md
 * 2.7).
 */
export function agentCredentials(
  agents: AgentDirectory,
  activity: { mark(agentId: AgentId): void },
) {
  return {
    claims: (headers: RawHeaders): boolean => bearerAgent(headers, agents) !== null,
    claimed: (headers: RawHeaders): string => bearerAgent(headers, agents)?.id ?? '',
    claimedPayer: (headers: RawHeaders): WalletAddress | null =>
      bearerAgent(headers, agents)?.owner ?? null,
    prove({ headers }: { readonly headers: RawHeaders }) {
      const agent = bearerAgent(headers, agents);
      if (agent === null) return null;
      activity.mark(agent.id);
      return { kind: 'agent', id: agent.id, payer: agent.owner } as const;
    },
  };
}
