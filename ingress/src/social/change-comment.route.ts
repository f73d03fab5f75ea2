import type { HeldComment } from '@pm/domain/comments/threads';
import { type DoorRoute, refuse } from '@pm/kit/http';
import { type CommentEvent, hexBytes, type ReactionBody, type ReportBody } from '@pm/schemas';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { authenticate } from '../door/authentication.io.ts';
import { singleBodyMaxBytes } from '../door/request-checks.io.ts';
import type { Caller } from '../orders/check.ts';
import type { SocialPorts } from './ports.io.ts';
import { written } from './post-comment.route.ts';
import { textProblem, withPlainBreaks } from './text-checks.ts';

const reasonMaxChars = 200;

interface ChangeFacts {
  readonly comment: HeldComment;
  readonly caller: Caller;
}

/** What a request would change of a comment; null after the refusal was sent. */
type Change = (
  request: FastifyRequest,
  reply: FastifyReply,
  facts: ChangeFacts,
) => CommentEvent | null;

/** DELETE /comments/:id: its author takes it back, and with it its replies, also when it is hidden. */
export function deleteCommentRoute(ports: SocialPorts): DoorRoute {
  return changeRoute(
    { method: 'DELETE', path: '/comments/:id' },
    ports,
    (_request, reply, facts) => {
      const { comment, caller } = facts;
      if (comment.author === caller.address) return { kind: 'CommentDeleted', ...byCaller(facts) };
      refuse(reply, comment.isShown ? 'not_the_author' : 'comment_not_found');
      return null;
    },
  );
}

/** POST /comments/:id/reactions: the caller likes it; once counts. */
export function addReactionRoute(
  ports: SocialPorts,
  isBody: (value: unknown) => value is ReactionBody,
): DoorRoute {
  const route = { method: 'POST', path: '/comments/:id/reactions' } as const;
  const change = ofShown((request, reply, facts) => {
    if (!isBody(request.body ?? {})) return invalid(reply, 'reaction_type is HEART');
    return { kind: 'CommentReacted', active: true, ...byCaller(facts) };
  });
  return changeRoute(route, ports, change);
}

/** DELETE /comments/:id/reactions: the caller does not like it any more. */
export function dropReactionRoute(ports: SocialPorts): DoorRoute {
  const route = { method: 'DELETE', path: '/comments/:id/reactions' } as const;
  const change = ofShown((_request, _reply, facts) => ({
    kind: 'CommentReacted',
    active: false,
    ...byCaller(facts),
  }));
  return changeRoute(route, ports, change);
}

/** POST /comments/:id/reports: the caller finds that it should not be there; once counts. */
export function reportCommentRoute(
  ports: SocialPorts,
  isBody: (value: unknown) => value is ReportBody,
): DoorRoute {
  const route = { method: 'POST', path: '/comments/:id/reports' } as const;
  const change = ofShown((request, reply, facts) => {
    const body = request.body ?? {};
    if (!isBody(body)) return invalid(reply, 'its form');
    const reason = withPlainBreaks(body.reason ?? '');
    const problem = textProblem(reason, { min: 0, max: reasonMaxChars });
    if (problem !== null) return invalid(reply, `reason ${problem}`);
    return { kind: 'CommentReported', reason, ...byCaller(facts) };
  });
  return changeRoute(route, ports, change);
}

function invalid(reply: FastifyReply, detail: string): null {
  refuse(reply, 'invalid_comment', { detail });
  return null;
}

/** What is hidden is there for nobody, as if it were deleted. */
function ofShown(change: Change): Change {
  return (request, reply, facts) => {
    if (facts.comment.isShown) return change(request, reply, facts);
    refuse(reply, 'comment_not_found');
    return null;
  };
}

function byCaller({ comment, caller }: ChangeFacts) {
  return { commentId: comment.id, wallet: hexBytes(caller.address), timeMs: caller.nowMs };
}

function changeRoute(
  { method, path }: { readonly method: 'POST' | 'DELETE'; readonly path: string },
  ports: SocialPorts,
  change: Change,
): DoorRoute {
  return {
    method,
    path,
    add(app, { url }) {
      const handler = async (request: FastifyRequest, reply: FastifyReply) => {
        const caller = authenticate(request, reply, ports);
        if (caller === null) return reply;
        const comment = ports.comments.threads.find((request.params as { id: string }).id);
        if (comment === undefined) return refuse(reply, 'comment_not_found');
        const event = change(request, reply, { comment, caller });
        if (event === null) return reply;
        await ports.comments.write(event);
        return written(comment.id);
      };
      app.route({ method, url, bodyLimit: singleBodyMaxBytes, handler });
    },
  };
}
