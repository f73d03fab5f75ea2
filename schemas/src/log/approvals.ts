import type { AvroRecord, Infer } from '../avro/schema.ts';
import { hash32 } from './types.ts';

/**
 * The topic `approvals`: requests of operators that a second person decides on, and resolutions within their challenge
 * window. Key: `id`. The newest record of an id has its state.
 */
export const approval = {
  type: 'record',
  name: 'Approval',
  doc: 'A request that waits for a second operator or for the end of its window, or waited for one.',
  fields: [
    { name: 'id', type: 'string', doc: 'UUID.' },
    {
      name: 'action',
      type: 'string',
      doc: 'Name of the route in the description of the operator.',
    },
    { name: 'market', type: 'int', doc: 'Number of the market; 0 for other subjects.' },
    {
      name: 'subject',
      type: 'string',
      doc: 'The market or event by its number, or the wallet, that its path names, or empty.',
      default: '',
    },
    { name: 'body', type: 'string', doc: 'What was sent, as JSON.' },
    { name: 'bodySha256', type: hash32, doc: 'SHA-256 of the bytes that were sent.' },
    { name: 'requestedBy', type: 'string', doc: 'Name of the first operator.' },
    { name: 'requestedAtMs', type: 'long', doc: 'Unix milliseconds.' },
    { name: 'expiresAtMs', type: 'long', doc: 'From then on it can no longer be decided on.' },
    {
      name: 'decision',
      type: {
        type: 'enum',
        name: 'ApprovalDecision',
        symbols: ['NONE', 'APPROVED', 'REJECTED'],
        default: 'NONE',
        doc: 'What the second operator said; APPROVED without a name where no second one was needed.',
      },
      doc: 'NONE while it waits, or when it expired.',
    },
    { name: 'decidedBy', type: 'string', doc: 'Name of the second operator, or empty.' },
    { name: 'decidedAtMs', type: 'long', doc: 'Unix milliseconds, or 0.' },
    {
      name: 'paysAtMs',
      type: 'long',
      doc: 'When the challenge window of an approved resolution ends, Unix milliseconds; 0 without one.',
      default: 0,
    },
    {
      name: 'challengedBy',
      type: 'string',
      doc: 'Name of the operator whose challenge made the resolution void, or empty.',
      default: '',
    },
    {
      name: 'challengedAtMs',
      type: 'long',
      doc: 'Unix milliseconds, or 0. A challenge is never taken back by a later record of the id.',
      default: 0,
    },
    { name: 'challengeReason', type: 'string', doc: 'In words, or empty.', default: '' },
    {
      name: 'carriedOutAtMs',
      type: 'long',
      doc: 'When it was carried out, Unix milliseconds; 0 also for a resolution without a challenge window.',
      default: 0,
    },
  ],
} as const satisfies AvroRecord;

export type Approval = Infer<typeof approval>;
