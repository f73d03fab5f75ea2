import type { DoorRoute } from '@pm/kit/http';
import { CommentBody, ProfileBody, ReactionBody, ReportBody } from '@pm/schemas';
import { checkerOf } from '../checker.ts';
import {
  addReactionRoute,
  deleteCommentRoute,
  dropReactionRoute,
  reportCommentRoute,
} from './change-comment.ts';
import type { SocialPorts } from './ports.ts';
import { postCommentRoute } from './post-comment.ts';
import { putProfileRoute } from './put-profile.ts';

/** The routes that write comments and profiles. */
export function socialRoutes(ports: SocialPorts): readonly DoorRoute[] {
  return [
    postCommentRoute(ports, checkerOf(CommentBody)),
    deleteCommentRoute(ports),
    addReactionRoute(ports, checkerOf(ReactionBody)),
    dropReactionRoute(ports),
    reportCommentRoute(ports, checkerOf(ReportBody)),
    putProfileRoute(ports, checkerOf(ProfileBody)),
  ];
}
