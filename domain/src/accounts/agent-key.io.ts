import { randomBytes } from 'node:crypto';
import { agentKeyBytes, agentKeyFrom } from './agent-key.ts';

/** A fresh key, to be shown once. */
export function newAgentKey(): string {
  return agentKeyFrom(randomBytes(agentKeyBytes));
}
