import { commentIdAt } from '@pm/domain/comments/threads';
import { type DoorRoute, refuse } from '@pm/kit/http';
import {
  type CommentBody,
  type CommentEvent,
  type CommentWritten,
  hexBytes,
  type WalletAddress,
} from '@pm/schemas';
import type { Caller } from '../../core/check-order.ts';
import { type CommentRefusal, noSuchComment, replyRefusal } from '../../core/check-reply.ts';
import { type CommentForm, readCommentForm } from '../../core/comment-form.ts';
import { authenticate } from '../authenticate.ts';
import { singleBodyMaxBytes } from '../route.ts';
import type { SocialPorts } from './ports.ts';

/**
 * POST /comments: says something about an event, a series or a market, or replies to a comment. With a `client_id` a
 * repeated request answers the first comment again (conventions.md 6.4).
 */
export function postCommentRoute(
  ports: SocialPorts,
  isBody: (value: unknown) => value is CommentBody,
): DoorRoute {
  return {
    method: 'POST',
    path: '/comments',
    add(app, { url }) {
      app.post(url, { bodyLimit: singleBodyMaxBytes }, async (request, reply) => {
        const caller = authenticate(request, reply, ports);
        if (caller === null) return reply;
        const { body } = request;
        const form = isBody(body) ? readCommentForm(body, ports.listed) : 'its form';
        if (typeof form === 'string') return refuse(reply, 'invalid_comment', { detail: form });
        const id = await post(ports, form, caller);
        return typeof id === 'string' ? written(id) : refuse(reply, id.code, id.facts);
      });
    },
  };
}

/** The id of the comment, new or known by its name, or why there is none. */
async function post(
  ports: SocialPorts,
  form: CommentForm,
  caller: Caller,
): Promise<string | CommentRefusal> {
  const known = idOfNamed(ports, caller.address, form);
  if (known !== undefined) return known;
  const { threads } = ports.comments;
  const refusal = replyRefusal(form, threads);
  if (refusal !== null) return refusal;
  const offset = await ports.comments.write(eventOf(form, caller.address, caller.nowMs));
  const id = idOfNamed(ports, caller.address, form) ?? commentIdAt(offset);
  // What it replies to may have been deleted by a record before it.
  return threads.find(id) === undefined ? noSuchComment : id;
}

/** Of two requests at once with one name the first record counts. */
function idOfNamed(
  { comments }: SocialPorts,
  author: WalletAddress,
  { clientId }: CommentForm,
): string | undefined {
  return clientId === '' ? undefined : comments.threads.findNamed(author, clientId)?.id;
}

export function written(id: string): CommentWritten {
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
