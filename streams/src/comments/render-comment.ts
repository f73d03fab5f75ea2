import type { Profiles } from '@pm/domain/social/profiles';
import { checksumAddress } from '@pm/schemas/ids';
import type { Message, StreamKey } from '../protocol/message.ts';
import { changeFields, snapshotFields } from '../protocol/render-book.ts';
import { plainMessage } from '../protocol/render-market.ts';
import type { CommentChange, CommentFeed, ShownComment } from './comment-feed.ts';

/** Comments that a subscription begins with. */
const newestMax = 20;
/** The topic of comments has one partition. */
const partition = 0;
const parentNames = { EVENT: 'Event', SERIES: 'Series', MARKET: 'market' } as const;

export function commentMessage(change: CommentChange, key: StreamKey, profiles: Profiles): Message {
  const { seq, prev, timeMs, eventId, action, comment } = change;
  const head = { seq, prev, at: { partition, offset: seq - 1, index: 0, timeMs } };
  const fields = {
    action,
    comment_id: change.commentId,
    comment: comment === null ? null : commentFields(comment, profiles),
  };
  const text = `${ofEvent('event', eventId)},${changeFields(head)},${fieldsOf(fields)}`;
  return plainMessage(head, key, text);
}

/** The newest comments of an event that are shown, the newest first. */
export function commentsSnapshot(
  feed: Pick<CommentFeed, 'newest' | 'seqOf' | 'offset' | 'timeMs'>,
  eventId: string,
  { key, profiles, isGap }: { key: StreamKey; profiles: Profiles; isGap: boolean },
): Message {
  const { offset, timeMs } = feed;
  const seq = feed.seqOf(eventId);
  const items = feed
    .newest(eventId, newestMax)
    .map((comment) => ({ comment_id: comment.id, ...commentFields(comment, profiles) }));
  const place = snapshotFields({ seq, partition, offset, timeMs }, isGap);
  const text = `${ofEvent('snapshot', eventId)},${place},${fieldsOf({ items })}`;
  const at = { partition, offset, index: -1, timeMs };
  return plainMessage({ seq, prev: seq, at }, key, text);
}

function commentFields(comment: ShownComment, profiles: Profiles) {
  const { parentType, parentId, replyTo, author, body, createdAtMs, reactions } = comment;
  return {
    parent_type: parentNames[parentType],
    parent_id: parentId,
    reply_to: replyTo,
    author: checksumAddress(author),
    name: profiles.of(author).name,
    body,
    created_at: createdAtMs,
    reactions,
  };
}

const ofEvent = (type: string, eventId: string): string =>
  `{"type":"${type}","channel":"comments","event":"${eventId}"`;

const fieldsOf = (fields: object): string => JSON.stringify(fields).slice(1);
