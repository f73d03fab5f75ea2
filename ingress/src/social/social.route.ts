import type { DoorRoute } from '@pm/kit/http';
import { CommentBody, ProfileBody, ReactionBody, ReportBody } from '@pm/schemas';
import { checkerOf } from '../door/checker.ts';
import {
  addReactionRoute,
  deleteCommentRoute,
  dropReactionRoute,
  reportCommentRoute,
} from './change-comment.route.ts';
import type { SocialPorts } from './ports.io.ts';
import { postCommentRoute } from './post-comment.route.ts';
import { putProfileRoute } from './put-profile.route.ts';

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
