import { type DoorRoute, refuse } from '@pm/kit/http';
import {
  type CommentBody,
  type CommentEvent,
  type CommentWritten,
  commentIdAt,
  hexBytes,
  type WalletAddress,
} from '@pm/schemas';
import type { Caller } from '../../core/check-order.ts';
import { type CommentForm, readCommentForm } from '../../core/comment-form.ts';
import { authenticate } from '../authenticate.ts';
import { singleBodyMaxBytes } from '../route.ts';
import type { SocialPorts } from './ports.ts';

/**
 * POST /comments: says something about an event, a series or a market, or replies to a comment. With a `client_id` a
 * repeated request answers the first comment again (docs/conventions.md 6.4).
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
        return id === null ? refuse(reply, 'comment_not_found') : written(id);
      });
    },
  };
}

/** The id of the comment, new or known by its name; null when what it replies to is not there. */
async function post(ports: SocialPorts, form: CommentForm, caller: Caller): Promise<string | null> {
  const known = idOfNamed(ports, caller.address, form);
  if (known !== undefined) return known;
  const { threads } = ports.comments;
  if (form.replyTo !== '' && threads.find(form.replyTo) === undefined) return null;
  const offset = await ports.comments.write(eventOf(form, caller.address, caller.nowMs));
  return idOfNamed(ports, caller.address, form) ?? commentIdAt(offset);
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
