import type { AvroRecord, Infer } from '../avro/schema.ts';
import { hash32 } from './types.ts';

/**
 * The topic `audit`: what an operator asked for and what came of it, append-only, one partition. Key: `id`. Two
 * records per request: the first, with status 0, is durable before anything is done; the second carries the status of
 * the answer.
 */
export const auditRecord = {
  type: 'record',
  name: 'AuditRecord',
  doc: 'One request of an operator, before or after it was carried out.',
  fields: [
    { name: 'id', type: 'string', doc: 'Of the request; its two records share it.' },
    { name: 'timeMs', type: 'long', doc: 'Unix milliseconds.' },
    {
      name: 'who',
      type: 'string',
      doc: 'The name of the operator whose token was shown, or `approval ID` for a resolution at the end of its window.',
    },
    {
      name: 'tokenId',
      type: 'string',
      doc: 'First 8 hex digits of the SHA-256 of the token that was shown.',
    },
    { name: 'address', type: 'string', doc: 'Network address of the caller.' },
    { name: 'action', type: 'string', doc: 'Method and route.' },
    { name: 'subject', type: 'string', doc: 'The path as it was sent.' },
    { name: 'body', type: 'string', doc: 'What was sent, cut at 4,096 characters.' },
    { name: 'bodyBytes', type: 'int', doc: 'Size of what was sent.' },
    { name: 'bodySha256', type: hash32, doc: 'SHA-256 of what was sent.' },
    { name: 'status', type: 'int', doc: 'HTTP status of the answer; 0 before there was one.' },
  ],
} as const satisfies AvroRecord;

export type AuditRecord = Infer<typeof auditRecord>;

/** Records of the audit carry no more of a body than this. */
export const auditBodyMaxChars = 4_096;
