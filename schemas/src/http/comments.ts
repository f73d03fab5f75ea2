import { type Static, Type } from 'typebox';
import { commentBodyMaxChars } from '../log/comments.ts';
import { profileMaxChars } from '../log/profiles.ts';

/**
 * Bodies of comments and profiles (conventions.md 7.1 and 7.2). Lengths are code points; ingress checks them after line
 * breaks and surrounding spaces are made plain, and says which is too long.
 */
const shortText = Type.String({ maxLength: 200 });

export const CommentBody = Type.Object({
  parent_entity_type: Type.Union([
    Type.Literal('Event'),
    Type.Literal('Series'),
    Type.Literal('market'),
  ]),
  parent_entity_id: Type.Union([
    shortText,
    Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
  ]),
  body: Type.String({ minLength: 1, maxLength: commentBodyMaxChars }),
  parent_comment_id: Type.Optional(Type.Union([shortText, Type.Null()])),
  reply_address: Type.Optional(
    Type.Union([
      Type.String({ maxLength: 42, description: 'Address of a wallet; empty for none.' }),
      Type.Null(),
    ]),
  ),
  client_id: Type.Optional(
    Type.String({
      pattern: '^[\\w.:-]{1,64}$',
      description: "The author's own name for it: a repeated request answers the first comment.",
    }),
  ),
});
export type CommentBody = Static<typeof CommentBody>;

/** Body of a comment that ingress reads before it says which text is too long. */
export const UncheckedComment = Type.Object({
  ...CommentBody.properties,
  body: Type.String({ maxLength: 8_000 }),
  reply_address: Type.Optional(Type.Union([shortText, Type.Null()])),
});

/** Columns that lists of comments are sorted by (conventions.md 7.1). */
export const commentOrders = [
  'createdAt',
  'updatedAt',
  'reactionCount',
  'replyCount',
  'reportCount',
  'id',
] as const;
export type CommentOrder = (typeof commentOrders)[number];

export const ReactionBody = Type.Object({
  reaction_type: Type.Optional(Type.Literal('HEART')),
});
export type ReactionBody = Static<typeof ReactionBody>;

export const ReportBody = Type.Object({ reason: Type.Optional(shortText) });
export type ReportBody = Static<typeof ReportBody>;

export const ProfileBody = Type.Object({
  name: Type.Optional(Type.String({ maxLength: profileMaxChars.name })),
  bio: Type.Optional(Type.String({ maxLength: profileMaxChars.bio })),
  profileImage: Type.Optional(
    Type.String({
      maxLength: profileMaxChars.image,
      description: 'An http address; empty for none.',
    }),
  ),
  xUsername: Type.Optional(
    Type.String({
      maxLength: profileMaxChars.xName + 1,
      description: `At most ${profileMaxChars.xName} letters, digits and _, after an @ or without it.`,
    }),
  ),
  displayUsernamePublic: Type.Optional(Type.Boolean()),
});
export type ProfileBody = Static<typeof ProfileBody>;

/** Body of a profile that ingress reads before it says which text is too long. */
export const UncheckedProfile = Type.Object({
  ...ProfileBody.properties,
  name: Type.Optional(shortText),
  bio: Type.Optional(Type.String({ maxLength: 2_000 })),
  profileImage: Type.Optional(Type.String({ maxLength: 2_000 })),
  xUsername: Type.Optional(shortText),
});

/** Response to a write about a comment. */
export const CommentWritten = Type.Object({ id: Type.String(), status: Type.Literal('ok') });
export type CommentWritten = Static<typeof CommentWritten>;

const Holding = Type.Object({ tokenId: Type.String(), positionSize: Type.String() });

export const PublicProfile = Type.Object({
  name: Type.String(),
  pseudonym: Type.String(),
  bio: Type.String(),
  proxyWallet: Type.String(),
  profileImage: Type.String(),
  displayUsernamePublic: Type.Boolean(),
});
export type PublicProfile = Static<typeof PublicProfile>;

/** A wallet as shown with what it likes. */
export const CommentProfile = Type.Object({
  ...PublicProfile.properties,
  baseAddress: Type.String(),
  isMod: Type.Optional(
    Type.Boolean({ description: 'False: operators moderate, and have no wallet.' }),
  ),
  isCreator: Type.Boolean({ description: 'Whether the wallet made a market.' }),
  profileImageOptimized: Type.Optional(Type.Object({})),
});
export type CommentProfile = Static<typeof CommentProfile>;

/** The author as shown with a comment. */
export const CommentAuthor = Type.Object({
  ...CommentProfile.properties,
  positions: Type.Array(Holding),
});
export type CommentAuthor = Static<typeof CommentAuthor>;

export const CommentReaction = Type.Object({
  id: Type.String(),
  commentID: Type.Union([Type.String(), Type.Integer()], {
    description: 'A number under the mount, whose clients take nothing else.',
  }),
  reactionType: Type.String(),
  icon: Type.String(),
  userAddress: Type.String(),
  createdAt: Type.String(),
  profile: CommentProfile,
});
export type CommentReaction = Static<typeof CommentReaction>;

/** A comment as read; an innermost `replies` is empty. */
export interface WireComment {
  readonly id: string;
  readonly body: string;
  /** Null under the mount for a market, which its clients do not know as a parent. */
  readonly parentEntityType: string | null;
  readonly parentEntityID: number | null;
  readonly parentCommentID: string | null;
  readonly userAddress: string;
  readonly replyAddress: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly profile: CommentAuthor;
  readonly reactions: readonly CommentReaction[];
  readonly reportCount: number;
  readonly reactionCount: number;
  readonly replyCount: number;
  readonly replies: readonly WireComment[];
}
