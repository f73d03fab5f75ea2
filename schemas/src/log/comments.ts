import type { AvroEnum, AvroRecord, Infer } from '../avro/schema.ts';
import { address20 } from './types.ts';

/**
 * The topic `comments`: what was said about events, series and markets, one partition, append-only. The id of a
 * comment is the offset of its record plus one, as a decimal text: ids grow with time and need no counter. Everything
 * else refers to it. Readers fold the records in their order (`CommentThreads`), so every process has the same.
 */
const timeMs = {
  name: 'timeMs',
  type: 'long',
  doc: 'When ingress took it, Unix ms.',
} as const;
const commentId = { name: 'commentId', type: 'string', doc: 'The comment it is about.' } as const;

const parentType = {
  type: 'enum',
  name: 'CommentParent',
  symbols: ['EVENT', 'SERIES', 'MARKET'],
  default: 'EVENT',
  doc: 'What is commented on.',
} as const satisfies AvroEnum;

const commentPosted = {
  type: 'record',
  name: 'CommentPosted',
  doc: 'Somebody said something.',
  fields: [
    { name: 'author', type: address20, doc: 'Wallet of the API key it was written with.' },
    { name: 'parentType', type: parentType, doc: 'What is commented on.' },
    { name: 'parentId', type: 'string', doc: 'Its id in the catalog.' },
    { name: 'replyTo', type: 'string', doc: 'Id of the comment it replies to; empty when none.' },
    {
      name: 'replyAddress',
      type: ['null', address20],
      doc: 'Whom it replies to, if it says so.',
      default: null,
    },
    { name: 'body', type: 'string', doc: 'The text.' },
    {
      name: 'clientId',
      type: 'string',
      doc: "The author's own name for it: a second one with the same name is the first one again. Empty when none.",
    },
    timeMs,
  ],
} as const satisfies AvroRecord;

const commentDeleted = {
  type: 'record',
  name: 'CommentDeleted',
  doc: 'Its author took it back; its replies go with it.',
  fields: [commentId, { name: 'wallet', type: address20, doc: 'Who.' }, timeMs],
} as const satisfies AvroRecord;

const commentReacted = {
  type: 'record',
  name: 'CommentReacted',
  doc: 'A wallet likes it, or not any more.',
  fields: [
    commentId,
    { name: 'wallet', type: address20, doc: 'Who.' },
    { name: 'active', type: 'boolean', doc: 'False takes it back.' },
    timeMs,
  ],
} as const satisfies AvroRecord;

const commentReported = {
  type: 'record',
  name: 'CommentReported',
  doc: 'A wallet finds that it should not be there; counted once a wallet.',
  fields: [
    commentId,
    { name: 'wallet', type: address20, doc: 'Who.' },
    { name: 'reason', type: 'string', doc: 'Why, in its words; may be empty.' },
    timeMs,
  ],
} as const satisfies AvroRecord;

const commentHidden = {
  type: 'record',
  name: 'CommentHidden',
  doc: 'The operator hides it from readers, or shows it again.',
  fields: [commentId, { name: 'hidden', type: 'boolean', doc: 'False shows it again.' }, timeMs],
} as const satisfies AvroRecord;

export const commentEvent = {
  type: 'oneOf',
  name: 'CommentEvent',
  doc: 'Exactly one of its fields is set.',
  branches: [commentPosted, commentDeleted, commentReacted, commentReported, commentHidden],
} as const;

export type CommentEvent = Infer<typeof commentEvent>;
export type CommentParent = (typeof parentType.symbols)[number];
export type CommentPosted = Extract<CommentEvent, { kind: 'CommentPosted' }>;

/** Longest text of a comment, in code points (conventions.md 7.1). */
export const commentBodyMaxChars = 2_000;
