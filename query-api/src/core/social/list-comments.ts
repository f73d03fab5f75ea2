import type { HeldComment } from '@pm/schemas';
import type { CommentOrder, CommentSort } from './comments-query.ts';

/** Sorts comments by the columns asked for; equal ones by id, newest first unless ascending. */
export function sortComments(
  comments: readonly HeldComment[],
  { orders, ascending }: CommentSort,
  replyCount: (comment: HeldComment) => number,
): readonly HeldComment[] {
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
  return [...comments].sort((one, other) => {
    for (const value of columns) {
      const difference = value(one) - value(other);
      if (difference !== 0) return difference * direction;
    }
    return 0;
  });
}

/** The part behind the comment a cursor names, and the cursor of the next part when there is one. */
export function pageAfter(
  sorted: readonly HeldComment[],
  cursor: string | null,
  limit: number,
): { readonly page: readonly HeldComment[]; readonly next: string | null } {
  const from = cursor === null ? 0 : sorted.findIndex(({ id }) => id === cursor) + 1;
  const page = sorted.slice(from, from + limit);
  const more = from + limit < sorted.length;
  return { page, next: more ? (page.at(-1)?.id ?? null) : null };
}
