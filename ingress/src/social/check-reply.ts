import { type CommentThreads, replyDepthMax, threadRepliesMax } from '@pm/domain/comments/threads';
import type { RefusalCode } from '@pm/schemas';
import type { CommentForm } from './comment-form.ts';

/** Why a comment is not taken. */
export interface CommentRefusal {
  readonly code: RefusalCode;
  readonly facts: Readonly<Record<string, string>>;
}

export const noSuchComment: CommentRefusal = { code: 'comment_not_found', facts: {} };

/** Why a comment cannot reply to what it names; null when it can, or replies to nothing (conventions.md 6.4). */
export function replyRefusal(
  { place, replyTo }: Pick<CommentForm, 'place' | 'replyTo'>,
  threads: Pick<CommentThreads, 'find' | 'replyTotal'>,
): CommentRefusal | null {
  if (replyTo === '') return null;
  const answered = threads.find(replyTo);
  if (!answered?.isShown) return noSuchComment;
  if (answered.parentType !== place.type || answered.parentId !== place.id) {
    return invalid('parent_comment_id is about something else than parent_entity_id');
  }
  if (answered.depth >= replyDepthMax) {
    return invalid(`replies are nested ${replyDepthMax} levels deep at most`);
  }
  if (threads.replyTotal(answered.top) >= threadRepliesMax) {
    return invalid(`a thread has ${threadRepliesMax} replies at most`);
  }
  return null;
}

function invalid(detail: string): CommentRefusal {
  return { code: 'invalid_comment', facts: { detail } };
}
