import { commentIdAt, type HeldComment } from '@pm/domain/comments/threads';
import { textProblem, withPlainBreaks } from '@pm/domain/social/text-checks';
import { type HttpHandler, refuse } from '@pm/kit/http';
import type {
  CommentBody,
  CommentWritten,
  ReactionBody,
  ReportBody,
} from '@pm/schemas/http/comments';
import { hexBytes, type WalletAddress } from '@pm/schemas/ids';
import type { CommentEvent } from '@pm/schemas/log/comments';
import { freeEntries } from '@pm/schemas/redis/held-entries';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { depositFacts, refuseWithoutMoney } from '../accounts/entry-quota.io.ts';
import { readWithNewMarkets } from '../catalog/new-markets.io.ts';
import { authenticate } from '../http/authentication.io.ts';
import type { Caller } from '../orders/check.ts';
import {
  type CommentForm,
  type CommentRefusal,
  noSuchComment,
  parentNotListed,
  readCommentForm,
  replyRefusal,
} from './comment-form.ts';
import type { SocialServices } from './social-services.io.ts';

/**
 * POST /comments: says something about an event, a series or a market, or replies to a comment. With a `client_id` a
 * repeated request returns the first comment again (conventions.md 7.1).
 */
export function postCommentRoute(
  services: SocialServices,
  isBody: (value: unknown) => value is CommentBody,
): HttpHandler {
  return {
    method: 'POST',
    path: '/comments',
    add(app, { url }) {
      app.post(url, async (request, reply) => {
        const caller = authenticate(request, reply, services.authentication);
        if (caller === null) return reply;
        const { body } = request;
        const form = await readWithNewMarkets(
          () => (isBody(body) ? readCommentForm(body, services.listed) : 'its form'),
          (found) => found === parentNotListed,
          services.newMarkets,
        );
        if (typeof form === 'string') return refuse(reply, 'invalid_comment', { detail: form });
        const id = await post(services, form, caller);
        return typeof id === 'string' ? written(id) : refuse(reply, id.code, id.facts);
      });
    },
  };
}

/** The id of the comment, new or known by its name, or why there is none. */
async function post(
  services: SocialServices,
  form: CommentForm,
  caller: Caller,
): Promise<string | CommentRefusal> {
  const known = idOfNamed(services, caller.address, form);
  if (known !== undefined) return known;
  const { threads } = services.comments;
  const refusal = replyRefusal(form, threads);
  if (refusal !== null) return refusal;
  const held = { entries: threads.size, free: freeEntries.comments };
  if (!(await services.entryQuota.admits(held, caller.address))) {
    return { code: 'deposit_required', facts: depositFacts };
  }
  const offset = await services.comments.write(eventOf(form, caller.address, caller.nowMs));
  const id = idOfNamed(services, caller.address, form) ?? commentIdAt(offset);
  // The comment that it replies to may have been deleted by an earlier record.
  return threads.find(id) === undefined ? noSuchComment : id;
}

/**
 * Id of the comment with the client id of the form; of two requests at once with one client id the first record counts.
 */
function idOfNamed(
  { comments }: SocialServices,
  author: WalletAddress,
  { clientId }: CommentForm,
): string | undefined {
  return clientId === '' ? undefined : comments.threads.findNamed(author, clientId)?.id;
}

function written(id: string): CommentWritten {
  return { id, status: 'ok' };
}

function eventOf(form: CommentForm, author: WalletAddress, timeMs: number): CommentEvent {
  return {
    kind: 'CommentPosted',
    author: hexBytes(author),
    parentType: form.place.type,
    parentId: form.place.id,
    replyTo: form.replyTo,
    replyAddress: form.replyAddress === null ? null : hexBytes(form.replyAddress),
    body: form.body,
    clientId: form.clientId,
    timeMs,
  };
}

const reasonMaxChars = 200;

interface ChangeFacts {
  readonly comment: HeldComment;
  readonly caller: Caller;
}

/** The change of a comment that a request asks for; null after the refusal was sent. */
type Change = (
  request: FastifyRequest,
  reply: FastifyReply,
  facts: ChangeFacts,
) => CommentEvent | null;

/** DELETE /comments/:id: its author takes it back, and with it its replies, also when it is hidden. */
export function deleteCommentRoute(services: SocialServices): HttpHandler {
  return changeRoute(
    { method: 'DELETE', path: '/comments/:id' },
    services,
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
  services: SocialServices,
  isBody: (value: unknown) => value is ReactionBody,
): HttpHandler {
  const route = { method: 'POST', path: '/comments/:id/reactions' } as const;
  const change = ofShown((request, reply, facts) => {
    if (!isBody(request.body ?? {})) return invalid(reply, 'reaction_type is HEART');
    return { kind: 'CommentReacted', active: true, ...byCaller(facts) };
  });
  return changeRoute(route, services, change);
}

/** DELETE /comments/:id/reactions: the caller does not like it any more. */
export function dropReactionRoute(services: SocialServices): HttpHandler {
  const route = { method: 'DELETE', path: '/comments/:id/reactions' } as const;
  const change = ofShown((_request, _reply, facts) => ({
    kind: 'CommentReacted',
    active: false,
    ...byCaller(facts),
  }));
  return changeRoute(route, services, change);
}

/** POST /comments/:id/reports: the caller finds that it should not be there; once counts. */
export function reportCommentRoute(
  services: SocialServices,
  isBody: (value: unknown) => value is ReportBody,
): HttpHandler {
  const route = { method: 'POST', path: '/comments/:id/reports' } as const;
  const change = ofShown((request, reply, facts) => {
    const body = request.body ?? {};
    if (!isBody(body)) return invalid(reply, 'its form');
    const reason = withPlainBreaks(body.reason ?? '');
    const problem = textProblem(reason, { min: 0, max: reasonMaxChars });
    if (problem !== null) return invalid(reply, `reason ${problem}`);
    return { kind: 'CommentReported', reason, ...byCaller(facts) };
  });
  return changeRoute(route, services, change);
}

function invalid(reply: FastifyReply, detail: string): null {
  refuse(reply, 'invalid_comment', { detail });
  return null;
}

/** A hidden comment is not found, as if it were deleted. */
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

/** Votes are counted up to a number in all, so those without money get a part of it. */
async function hasRoomFor(
  event: CommentEvent,
  { address }: Caller,
  { comments, entryQuota }: SocialServices,
): Promise<boolean> {
  const isVote =
    event.kind === 'CommentReported' || (event.kind === 'CommentReacted' && event.active);
  const held = { entries: comments.threads.votes, free: freeEntries.commentVotes };
  return !isVote || (await entryQuota.admits(held, address));
}

function changeRoute(
  { method, path }: { readonly method: 'POST' | 'DELETE'; readonly path: string },
  services: SocialServices,
  change: Change,
): HttpHandler {
  return {
    method,
    path,
    add(app, { url }) {
      const handler = async (request: FastifyRequest, reply: FastifyReply) => {
        const caller = authenticate(request, reply, services.authentication);
        if (caller === null) return reply;
        const comment = services.comments.threads.find((request.params as { id: string }).id);
        if (comment === undefined) return refuse(reply, 'comment_not_found');
        const event = change(request, reply, { comment, caller });
        if (event === null) return reply;
        if (!(await hasRoomFor(event, caller, services))) return refuseWithoutMoney(reply);
        await services.comments.write(event);
        return written(comment.id);
      };
      app.route({ method, url, handler });
    },
  };
}
