import { Type } from 'typebox';
import { CommentAuthor, CommentReaction, PublicProfile } from './comments.ts';
import { count, dateTime, flag, orNull, text } from './forms.ts';

/** Bodies of the responses to reads of comments and profiles (conventions.md 7.1). */
const commentFields = {
  id: text,
  body: Type.String({ examples: ['It rained all night.'] }),
  parentEntityType: orNull(text),
  parentEntityID: orNull(Type.Integer()),
  parentCommentID: orNull(text),
  userAddress: text,
  replyAddress: text,
  createdAt: dateTime,
  updatedAt: dateTime,
  profile: CommentAuthor,
  reactions: Type.Array(CommentReaction),
  reportCount: count,
  reactionCount: count,
  replyCount: count,
};

/** A reply inside a comment; its own replies stand beside it. */
export const CommentReply = Type.Object({
  ...commentFields,
  replies: Type.Array(Type.Object({}), { maxItems: 0 }),
});
export const Comment = Type.Object({ ...commentFields, replies: Type.Array(CommentReply) });
export const CommentList = Type.Array(Comment);
export const CommentPage = Type.Object({
  comments: CommentList,
  next_cursor: Type.Optional(
    Type.String({ minLength: 1, description: 'Missing on the last page.' }),
  ),
});
export const CommentCount = Type.Object({ count });

/** PUT /profile answers what is stored. */
export const ProfileStored = Type.Object({
  proxyWallet: text,
  name: text,
  bio: text,
  profileImage: text,
  xUsername: text,
  displayUsernamePublic: flag,
});

/** How a wallet is shown. */
export const ProfileResponse = Type.Object({
  createdAt: Type.Optional(dateTime),
  ...PublicProfile.properties,
  users: Type.Array(Type.Object({ id: text, creator: flag, mod: flag })),
  xUsername: Type.Optional(text),
  verifiedBadge: flag,
});
