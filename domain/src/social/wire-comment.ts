import type {
  CommentAuthor,
  CommentProfile,
  CommentReaction,
  WireComment,
} from '@pm/schemas/http/comments';
import { checksumAddress, type WalletAddress } from '@pm/schemas/ids';
import type { CommentParent } from '@pm/schemas/log/comments';
import type { HeldComment } from '../comments/threads.ts';
import type { Catalog } from '../markets/catalog.ts';
import { isoTime } from '../markets/wire-market.ts';
import type { ListedComment } from './listed-comment.ts';
import type { Profiles } from './profiles.ts';

/** Tokens of one wallet: numeric token id and base units. */
export type Holdings = ReadonlyMap<string, CommentAuthor['positions']>;

/** Data that comments are shown with. */
export interface CommentFrame {
  readonly profiles: Profiles;
  readonly catalog: Pick<Catalog, 'isCreator'>;
  /** The forms of the family, not those of the published interface. */
  readonly isFamily: boolean;
  /** Reactions shown of each comment. */
  readonly reactionsMax: number;
  /** By wallet, of the markets that the comment is about. */
  readonly holdings: Holdings;
}

const parentNames: Readonly<Record<CommentParent, string>> = {
  EVENT: 'Event',
  SERIES: 'Series',
  MARKET: 'market',
};

/** A comment with the replies that are listed inside it (conventions.md 7.1). */
export function wireComment(
  { comment, replyCount, replies }: ListedComment,
  frame: CommentFrame,
): WireComment {
  const parent = Number(comment.parentId);
  return {
    id: comment.id,
    body: comment.body,
    parentEntityType: parentNameOf(comment.parentType, frame),
    parentEntityID: Number.isSafeInteger(parent) ? parent : null,
    parentCommentID: comment.replyTo === '' && frame.isFamily ? null : comment.replyTo,
    userAddress: checksumAddress(comment.author),
    replyAddress: comment.replyAddress === null ? '' : checksumAddress(comment.replyAddress),
    createdAt: isoTime(comment.createdAtMs),
    updatedAt: isoTime(comment.updatedAtMs),
    profile: {
      ...profileOf(comment.author, frame),
      positions: frame.holdings.get(comment.author) ?? [],
    },
    reactions: reactionsOf(comment, frame),
    reportCount: comment.reportCount,
    reactionCount: comment.likes.size,
    replyCount,
    replies: replies.map((reply) => wireComment(reply, frame)),
  };
}

/** Clients of the family know events and series as parents, and drop the whole list over anything else. */
function parentNameOf(type: CommentParent, { isFamily }: CommentFrame): string | null {
  return type === 'MARKET' && isFamily ? null : parentNames[type];
}

/**
 * No wallet moderates, operators do: the published interface wants `isMod` nevertheless, and an empty object as the
 * optimized picture; in the family both are absent.
 */
function profileOf(wallet: WalletAddress, frame: CommentFrame): CommentProfile {
  return {
    ...frame.profiles.of(wallet),
    baseAddress: checksumAddress(wallet),
    isCreator: frame.catalog.isCreator(wallet),
    ...(frame.isFamily ? {} : { isMod: false, profileImageOptimized: {} }),
  };
}

function reactionsOf({ id, likes }: HeldComment, frame: CommentFrame): readonly CommentReaction[] {
  const shown: CommentReaction[] = [];
  for (const [wallet, sinceMs] of likes) {
    if (shown.length >= frame.reactionsMax) break;
    shown.push({
      id: `${id}-${wallet.slice(2)}`,
      commentID: frame.isFamily ? Number(id) : id,
      reactionType: 'HEART',
      icon: '',
      userAddress: checksumAddress(wallet),
      createdAt: isoTime(sinceMs),
      profile: profileOf(wallet, frame),
    });
  }
  return shown;
}
