import { Type } from 'typebox';
import { sample, uuid } from '../http/forms.ts';
import { AgentList, AgentView, AgentWithKey, KeyDeleted } from '../http/key-responses.ts';
import { AgentCreation } from '../http/keys.ts';
import { route } from './route.ts';

const base = { service: 'ingress', family: 'clob', mounts: [] } as const;
const one = {
  ...base,
  auth: ['l2'],
  params: Type.Object({ id: uuid }),
  errors: { 404: 'agent not found' },
  examples: [{ params: { id: sample.apiKey } }],
} as const;
const view = { 200: { description: 'The agent.', schema: AgentView } } as const;
const withKey = {
  200: { description: 'The agent with its key, which is not shown again.', schema: AgentWithKey },
} as const;

/**
 * Agents, managed by the wallet that owns them, and what an agent sees of itself: at the root alone (conventions.md
 * 2.7).
 */
export const agentRoutes = {
  getMe: route({
    ...base,
    auth: ['agent'],
    method: 'GET',
    path: '/api/v1/me',
    summary: 'The calling agent',
    responses: view,
    examples: [{}],
  }),
  listAgents: route({
    ...base,
    auth: ['l2', 'readOnlyKey'],
    method: 'GET',
    path: '/api/v1/agents',
    summary: 'The agents of the wallet, oldest first',
    responses: { 200: { description: 'Agents.', schema: AgentList } },
    examples: [{}],
  }),
  createAgent: route({
    ...base,
    auth: ['l2'],
    method: 'POST',
    path: '/api/v1/agents',
    limits: ['new-keys'],
    repetition: 'refused',
    summary: 'Create an agent',
    body: AgentCreation,
    responses: withKey,
    errors: {
      400: 'invalid request: name is a text of 1 to 64 characters; too many agents, max allowed: {max}',
      403: 'the address is reserved and can have no keys',
    },
    examples: [{ body: { name: 'market maker 1' } }],
  }),
  pauseAgent: route({
    ...one,
    method: 'POST',
    path: '/api/v1/agents/:id/pause',
    headers: ['X-Revocation-Pending'],
    repetition: 'brief',
    summary: 'Pause an agent',
    responses: view,
  }),
  resumeAgent: route({
    ...one,
    method: 'POST',
    path: '/api/v1/agents/:id/resume',
    repetition: 'brief',
    summary: 'Resume an agent',
    responses: view,
  }),
  rotateAgent: route({
    ...one,
    method: 'POST',
    path: '/api/v1/agents/:id/rotate',
    headers: ['X-Revocation-Pending'],
    repetition: 'refused',
    summary: 'Give an agent a new key',
    description: 'The key before it ends.',
    responses: withKey,
    errors: { ...one.errors, 403: 'the address is reserved and can have no keys' },
  }),
  deleteAgent: route({
    ...one,
    method: 'DELETE',
    path: '/api/v1/agents/:id',
    headers: ['X-Revocation-Pending'],
    repetition: 'harmless',
    summary: 'Delete an agent',
    responses: { 200: { description: 'Deleted.', schema: KeyDeleted } },
  }),
} as const;
