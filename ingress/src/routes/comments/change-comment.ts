import { type DoorRoute, refuse } from '@pm/kit/http';
import { type CommentEvent, hexBytes, type ReactionBody, type ReportBody } from '@pm/schemas';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../../core/check-order.ts';
import { textProblem } from '../../core/check-text.ts';
import { authenticate } from '../authenticate.ts';
import { singleBodyMaxBytes } from '../route.ts';
import type { SocialPorts } from './ports.ts';
import { written } from './post-comment.ts';

const reasonMaxChars = 200;

/** What a request would change of a comment; null after the refusal was sent. */
type Change = (
  request: FastifyRequest,
  reply: FastifyReply,
  facts: { readonly commentId: string; readonly caller: Caller },
) => CommentEvent | null;

/** DELETE /comments/:id: its author takes it back, and with it its replies. */
export function deleteCommentRoute(ports: SocialPorts): DoorRoute {
  return changeRoute(
    { method: 'DELETE', path: '/comments/:id' },
    ports,
    (_request, reply, facts) => {
      const { commentId, caller } = facts;
      if (ports.comments.threads.find(commentId)?.author !== caller.address) {
        refuse(reply, 'not_the_author');
        return null;
      }
      return { kind: 'CommentDeleted', ...byCaller(facts) };
    },
  );
}

/** POST /comments/:id/reactions: the caller likes it; once counts. */
export function addReactionRoute(
  ports: SocialPorts,
  isBody: (value: unknown) => value is ReactionBody,
): DoorRoute {
  const route = { method: 'POST', path: '/comments/:id/reactions' } as const;
  return changeRoute(route, ports, (request, reply, facts) => {
    if (isBody(request.body ?? {}))
      return { kind: 'CommentReacted', active: true, ...byCaller(facts) };
    refuse(reply, 'invalid_comment', { detail: 'reaction_type is HEART' });
    return null;
  });
}

/** DELETE /comments/:id/reactions: the caller does not like it any more. */
export function dropReactionRoute(ports: SocialPorts): DoorRoute {
  const route = { method: 'DELETE', path: '/comments/:id/reactions' } as const;
  return changeRoute(route, ports, (_request, _reply, facts) => ({
    kind: 'CommentReacted',
    active: false,
    ...byCaller(facts),
  }));
}

/** POST /comments/:id/reports: the caller finds that it should not be there; once counts. */
export function reportCommentRoute(
  ports: SocialPorts,
  isBody: (value: unknown) => value is ReportBody,
): DoorRoute {
  const route = { method: 'POST', path: '/comments/:id/reports' } as const;
  return changeRoute(route, ports, (request, reply, facts) => {
    const body = request.body ?? {};
    const reason = isBody(body) ? (body.reason ?? '') : null;
    if (reason !== null && textProblem(reason, { min: 0, max: reasonMaxChars }) === null) {
      return { kind: 'CommentReported', reason, ...byCaller(facts) };
    }
    refuse(reply, 'invalid_comment', { detail: 'the reason' });
    return null;
  });
}

function byCaller({ commentId, caller }: { commentId: string; caller: Caller }) {
  return { commentId, wallet: hexBytes(caller.address), timeMs: caller.nowMs };
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
        const commentId = (request.params as { id: string }).id;
        if (ports.comments.threads.find(commentId) === undefined) {
          return refuse(reply, 'comment_not_found');
        }
        const event = change(request, reply, { commentId, caller });
        if (event === null) return reply;
        await ports.comments.write(event);
        return written(commentId);
      };
      app.route({ method, url, bodyLimit: singleBodyMaxBytes, handler });
    },
  };
}
