import type { HeldComment } from '@pm/domain/comments/threads';
import type { CommentOrder } from '@pm/schemas/http/comments';
import { type KeysetStart, keysetOf } from '../markets/keyset-cursor.ts';
import type { CommentSort } from './comments-query.ts';

/** A comment with what a list is sorted by: the requested columns, and its number for those that tie. */
export interface SortedComment {
  readonly comment: HeldComment;
  readonly keys: readonly number[];
}

/** Sorts comments by the requested columns; equal ones by id, newest first unless ascending. */
export function sortComments(
  comments: readonly HeldComment[],
  { orders, ascending }: CommentSort,
  replyCount: (comment: HeldComment) => number,
): readonly SortedComment[] {
  const columnOf: Readonly<Record<CommentOrder, (comment: HeldComment) => number>> = {
    createdAt: (comment) => comment.createdAtMs,
    updatedAt: (comment) => comment.updatedAtMs,
    reactionCount: (comment) => comment.likes.size,
    replyCount,
    reportCount: (comment) => comment.reportCount,
    id: (comment) => Number(comment.id),
  };
  const columns = [...orders, 'id' as const].map((order) => columnOf[order]);
  const direction = ascending ? 1 : -1;
  return comments
    .map((comment) => ({ comment, keys: columns.map((keyOf) => keyOf(comment)) }))
    .sort((one, other) => direction * compare(one.keys, other.keys));
}

/** A page of a sorted list. */
export function pageFrom(
  sorted: readonly SortedComment[],
  { offset, limit }: { readonly offset: number; readonly limit: number },
): readonly HeldComment[] {
  return sorted.slice(offset, offset + limit).map(({ comment }) => comment);
}

/**
 * The page after a place in a list that is sorted by one column, and the cursor of the next page when there is one. The
 * comment that the place was made of may be gone.
 */
export function pageAfter(
  sorted: readonly SortedComment[],
  { sort, list, after, limit }: KeysetStart & { sort: CommentSort; limit: number },
): { readonly page: readonly HeldComment[]; readonly next: string | null } {
  const direction = sort.ascending ? 1 : -1;
  const isBehind = ({ keys }: SortedComment) =>
    after === null || direction * compare(keys, [Number(after.key), after.number]) > 0;
  const rest = sorted.filter(isBehind);
  const last = rest.length > limit ? rest[limit - 1] : undefined;
  const [key = 0, number = 0] = last?.keys ?? [];
  return {
    page: pageFrom(rest, { offset: 0, limit }),
    next: last === undefined ? null : keysetOf(list, { key, number }),
  };
}

function compare(one: readonly number[], other: readonly number[]): number {
  for (const [place, key] of one.entries()) {
    const difference = key - (other[place] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
