import type { AvroEnum, AvroRecord, Infer } from '../avro/schema.ts';
import { address20, uuid16 } from './types.ts';

const sessionPhase = {
  type: 'enum',
  name: 'SessionPhase',
  symbols: ['LIVE', 'MISSED', 'ENDED'],
  default: 'LIVE',
  doc: 'LIVE: its heartbeats come. MISSED: they stopped, its orders are being canceled. ENDED: they are canceled.',
} as const satisfies AvroEnum;

/**
 * The compacted topic `sessions`: heartbeats and what became of those that stopped. Key: the API key as text; its
 * partition: `sessionPartitionOf`. A record is a request: it counts if its sequence is larger than that of the newest
 * record that counted, so of records that were written at once the first one wins, for every reader alike.
 *
 * A record without a value is a pulse: its key names the process that says so that it lives and the partition takes
 * records.
 */
export const sessionRecord = {
  type: 'record',
  name: 'SessionRecord',
  doc: 'The session of one API key from here on.',
  fields: [
    { name: 'apiKey', type: uuid16, doc: 'Whose.' },
    { name: 'wallet', type: address20, doc: 'The wallet of the key.' },
    { name: 'sequence', type: 'long', doc: 'One more than that of the state it follows.' },
    { name: 'phase', type: sessionPhase, doc: 'From here on.' },
    { name: 'heartbeatId', type: uuid16, doc: 'What the next heartbeat of the chain names.' },
    { name: 'recordId', type: uuid16, doc: 'Made for this record alone.' },
    { name: 'writer', type: uuid16, doc: 'The process that wrote it; while MISSED, who cancels.' },
    { name: 'beatAtMs', type: 'long', doc: 'The last heartbeat, Unix ms; decides nothing.' },
  ],
} as const satisfies AvroRecord;

export type SessionRecord = Infer<typeof sessionRecord>;
export type SessionPhase = SessionRecord['phase'];

/** The partition of a key's records. Keys are random, so any of their bytes spread them evenly. */
export function sessionPartitionOf(apiKeyBytes: Buffer, partitions: number): number {
  return apiKeyBytes.readUInt32BE(0) % partitions;
}
