import type { DoorRoute } from '@pm/kit/http';
import { parseCatalogId } from '../../core/catalog-id.ts';
import { QueryReader } from '../../core/query-reader.ts';
import { ReadRefusal, refusals } from '../../core/refusal.ts';
import { readCommentsKeyset, readCommentsQuery } from '../../core/social/comments-query.ts';
import { pageAfter, pageFrom } from '../../core/social/list-comments.ts';
import { listComments, listThread } from '../../core/social/listed-comment.ts';
import { readRoute } from '../route.ts';
import { answerComments, commentsFor, type SocialPorts } from './comment-answers.ts';

/** GET /comments: comments at the top of an event, a series or a market, with their replies (conventions.md 6.4). */
export function commentsRoute(ports: SocialPorts): DoorRoute {
  const route = { method: 'GET', path: '/comments', family: 'gamma' } as const;
  return readRoute(route, async ({ query, dialect }) => {
    const asked = readCommentsQuery(query);
    if (asked instanceof ReadRefusal) return asked;
    const sorted = await commentsFor(ports, asked);
    if (sorted instanceof ReadRefusal) return sorted;
    const page = listComments(ports.social.threads, pageFrom(sorted, asked));
    const isFamily = dialect === 'family';
    return await answerComments(ports, page, { isFamily, wantsPositions: asked.getPositions });
  });
}

/** GET /comments/keyset: the same, page by page behind a cursor. */
export function commentsKeysetRoute(ports: SocialPorts): DoorRoute {
  const route = { method: 'GET', path: '/comments/keyset', family: 'gamma' } as const;
  return readRoute(route, async ({ query, dialect }) => {
    const asked = readCommentsKeyset(query);
    if (asked instanceof ReadRefusal) return asked;
    const sorted = await commentsFor(ports, asked);
    if (sorted instanceof ReadRefusal) return sorted;
    const { page, next } = pageAfter(sorted, asked);
    const comments = await answerComments(ports, listComments(ports.social.threads, page), {
      isFamily: dialect === 'family',
      wantsPositions: asked.getPositions,
    });
    return next === null ? { comments } : { comments, next_cursor: next };
  });
}

/** GET /comments/:id: one comment and all below it, as a list. */
export function commentRoute(ports: SocialPorts): DoorRoute {
  const route = { method: 'GET', path: '/comments/:id', family: 'gamma' } as const;
  return readRoute(route, async ({ params, query, dialect }) => {
    const id = parseCatalogId(params['id'] ?? '');
    const read = new QueryReader(query, 'gamma');
    const wantsPositions = read.boolean('get_positions') ?? false;
    if (id === null) return refusals.invalidId;
    if (read.refusal !== null) return read.refusal;
    const { threads } = ports.social;
    const comment = threads.find(id);
    if (!comment?.isShown) return new ReadRefusal(404, 'comment not found');
    const isFamily = dialect === 'family';
    return await answerComments(ports, listThread(threads, comment), { isFamily, wantsPositions });
  });
}
