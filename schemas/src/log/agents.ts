import type { AvroRecord, Infer } from '../avro/schema.ts';
import { address20, agentStatus, hash32, uuid16 } from './types.ts';

/**
 * The compacted topic `agents`. Each kind of fact has a key of its own (`agentKeyOf`), so that no writer carries what
 * it does not change: noting a use cannot bring a rotated key back, nor can a pause on a process that has not heard
 * of a deletion.
 */
const agentSettings = {
  type: 'record',
  name: 'AgentSettings',
  doc: 'An agent and whether it may act.',
  fields: [
    { name: 'agent', type: uuid16, doc: 'Its id.' },
    { name: 'owner', type: address20, doc: 'Whose.' },
    { name: 'name', type: 'string', doc: "The owner's word for it." },
    { name: 'status', type: agentStatus, doc: 'Paused agents prove nothing.' },
    { name: 'createdAtMs', type: 'long', doc: 'Unix milliseconds.' },
  ],
} as const satisfies AvroRecord;

const agentKey = {
  type: 'record',
  name: 'AgentKey',
  doc: 'The one key of an agent; a newer record makes the older key worthless.',
  fields: [
    { name: 'agent', type: uuid16, doc: 'The agent.' },
    { name: 'keyHash', type: hash32, doc: 'SHA-256 of the key as text, prefix included.' },
    { name: 'rotatedAtMs', type: 'long', doc: 'Unix milliseconds.' },
  ],
} as const satisfies AvroRecord;

const agentSeen = {
  type: 'record',
  name: 'AgentSeen',
  doc: 'When the key of an agent was used last, to the minute.',
  fields: [
    { name: 'agent', type: uuid16, doc: 'The agent.' },
    { name: 'lastActiveAtMs', type: 'long', doc: 'Unix milliseconds.' },
  ],
} as const satisfies AvroRecord;

const agentDeleted = {
  type: 'record',
  name: 'AgentDeleted',
  doc: 'The agent is gone for ever, whatever other records say.',
  fields: [
    { name: 'agent', type: uuid16, doc: 'The agent.' },
    { name: 'owner', type: address20, doc: 'Whose it was.' },
    { name: 'deletedAtMs', type: 'long', doc: 'Unix milliseconds.' },
  ],
} as const satisfies AvroRecord;

export const agentEntry = {
  type: 'oneOf',
  name: 'AgentEntry',
  doc: 'Exactly one of its fields is set.',
  branches: [agentSettings, agentKey, agentSeen, agentDeleted],
} as const;

export type AgentEntry = Infer<typeof agentEntry>;

/** The key under which an entry replaces its older version. */
export function agentKeyOf(entry: AgentEntry): string {
  return `${entry.agent.toString('hex')}:${entry.kind}`;
}
