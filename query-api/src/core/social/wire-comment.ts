import {
  type CommentAuthor,
  type CommentParent,
  type CommentReaction,
  checksumAddress,
  type HeldComment,
  type WalletAddress,
  type WireComment,
} from '@pm/schemas';
import { isoTime } from '../wire-market.ts';
import type { Profiles } from './profiles.ts';

/** Tokens of one wallet: numeric token id and base units. */
export type Holdings = ReadonlyMap<string, CommentAuthor['positions']>;

/** What a comment is shown with. */
export interface CommentFrame {
  readonly profiles: Profiles;
  /** The forms of the family, not those of the published interface. */
  readonly isFamily: boolean;
  repliesOf(top: string): readonly HeldComment[];
  /** By wallet, of the markets that the comment is about. */
  readonly holdings: Holdings;
}

/** Replies and reactions shown inside one comment; the counts tell of all. */
const repliesShownMax = 100;
const reactionsShownMax = 100;

const parentNames: Readonly<Record<CommentParent, string>> = {
  EVENT: 'Event',
  SERIES: 'Series',
  MARKET: 'market',
};

/** A comment with its thread when it stands at the top; a reply shows none (docs/conventions.md 6.4). */
export function wireComment(comment: HeldComment, frame: CommentFrame): WireComment {
  const isTop = comment.top === comment.id;
  const replies = isTop ? frame.repliesOf(comment.id) : [];
  const parent = Number(comment.parentId);
  return {
    id: comment.id,
    body: comment.body,
    parentEntityType: parentNames[comment.parentType],
    parentEntityID: Number.isSafeInteger(parent) ? parent : null,
    parentCommentID: comment.replyTo === '' && frame.isFamily ? null : comment.replyTo,
    userAddress: checksumAddress(comment.author),
    replyAddress: comment.replyAddress === null ? '' : checksumAddress(comment.replyAddress),
    createdAt: isoTime(comment.createdAtMs),
    updatedAt: isoTime(comment.updatedAtMs),
    profile: authorOf(comment.author, frame),
    reactions: reactionsOf(comment),
    reportCount: comment.reportCount,
    reactionCount: comment.likes.size,
    replyCount: replies.length,
    replies: replies.slice(0, repliesShownMax).map((reply) => wireComment(reply, frame)),
  };
}

/** The optimized picture is an empty object by the published interface; clients of the family want it absent. */
function authorOf(
  wallet: WalletAddress,
  { profiles, isFamily, holdings }: CommentFrame,
): CommentAuthor {
  return {
    ...profiles.of(wallet),
    baseAddress: checksumAddress(wallet),
    isMod: false,
    isCreator: false,
    ...(isFamily ? {} : { profileImageOptimized: {} }),
    positions: holdings.get(wallet) ?? [],
  };
}

function reactionsOf(comment: HeldComment): readonly CommentReaction[] {
  return [...comment.likes].slice(0, reactionsShownMax).map(([wallet, sinceMs]) => ({
    id: `${comment.id}-${wallet.slice(2)}`,
    commentID: comment.id,
    reactionType: 'HEART',
    icon: '',
    userAddress: checksumAddress(wallet),
    createdAt: isoTime(sinceMs),
  }));
}
