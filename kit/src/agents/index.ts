export { AgentActivity, type AgentActivityOptions, flushIntervalMs } from './activity.ts';
export { type Agent, AgentDirectory } from './agent-directory.ts';
export { bearerAgent, newAgentKey } from './bearer.ts';
export { agentCredentials } from './credentials.ts';
export { markAgents } from './mark-agents.ts';
