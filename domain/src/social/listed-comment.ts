import { type CommentThreads, type HeldComment, threadRepliesMax } from '../comments/threads.ts';

/** A comment as it is listed: with how many are below it, and the first of those. */
export interface ListedComment {
  readonly comment: HeldComment;
  readonly replyCount: number;
  /** Their own `replies` are empty. */
  readonly replies: readonly ListedComment[];
}

type Threads = Pick<CommentThreads, 'repliesOf'>;

/** Replies and reactions shown inside one comment; the counts include all. */
const shownMax = 100;
/** Replies and reactions shown inside all comments of an answer, so that none is larger than some megabytes. */
const answerRepliesMax = 1_000;
const answerReactionsMax = 10_000;

/** Comments, each with what is below it. */
export function listComments(
  threads: Threads,
  comments: readonly HeldComment[],
): readonly ListedComment[] {
  const countOf = replyCounter(threads);
  const most = shareOf(answerRepliesMax, comments.length);
  return comments.map((comment) => ({
    comment,
    replyCount: countOf(comment),
    replies: bare(threads.repliesOf(comment.id).slice(0, most), countOf),
  }));
}

/** A comment with what is below it, followed by the same one by one. */
export function listThread(threads: Threads, comment: HeldComment): readonly ListedComment[] {
  const countOf = replyCounter(threads);
  const replies = bare(threads.repliesOf(comment.id).slice(0, threadRepliesMax), countOf);
  const first = { comment, replyCount: countOf(comment), replies: replies.slice(0, shownMax) };
  return [first, ...replies];
}

/** Returns how many comments are shown below one. A thread is counted once, for all its comments. */
export function replyCounter(threads: Threads): (comment: HeldComment) => number {
  const byTop = new Map<string, ReadonlyMap<string, number>>();
  return ({ id, top }) => {
    const counts = byTop.get(top) ?? countsOf(threads.repliesOf(top));
    byTop.set(top, counts);
    return counts.get(id) ?? 0;
  };
}

/** All comments of an answer, wherever they stand in it. */
export function commentsIn(listed: readonly ListedComment[]): readonly HeldComment[] {
  return listed.flatMap(({ comment, replies }) => [comment, ...commentsIn(replies)]);
}

/** Reactions shown of each comment in an answer of so many. */
export function reactionsShown(comments: number): number {
  return shareOf(answerReactionsMax, comments);
}

/**
 * How many are below each comment of a thread, whose replies are given oldest first: a reply is younger than what it
 * answers.
 */
function countsOf(replies: readonly HeldComment[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { id, replyTo } of replies.toReversed()) {
    counts.set(replyTo, (counts.get(replyTo) ?? 0) + (counts.get(id) ?? 0) + 1);
  }
  return counts;
}

function bare(
  replies: readonly HeldComment[],
  countOf: (comment: HeldComment) => number,
): readonly ListedComment[] {
  return replies.map((comment) => ({ comment, replyCount: countOf(comment), replies: [] }));
}

function shareOf(total: number, among: number): number {
  return Math.max(1, Math.min(shownMax, Math.floor(total / among)));
}
