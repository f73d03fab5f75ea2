import { parseCatalogId, QueryReader } from '@pm/domain/reading/query-reader';
import { ReadRefusal, refusals } from '@pm/domain/reading/refusal';
import { listComments, listThread, replyCounter } from '@pm/domain/social/listed-comment';
import type { HttpHandler } from '@pm/kit/http';
import { parseWalletAddress } from '@pm/schemas/ids';
import type { CommentParent } from '@pm/schemas/log/comments';
import { readRefusalText } from '@pm/schemas/read-refusals';
import { readRoute } from '../http/read-route.io.ts';
import { answerComments, type CommentParts, commentsFor } from './comment-responses.io.ts';
import { readCommentsKeyset, readCommentsQuery, readPage, readSort } from './comments-query.ts';
import { pageAfter, pageFrom, sortComments } from './list-comments.ts';

/** GET /comments: comments at the top of an event, a series or a market, with their replies (conventions.md 7.1). */
export function commentsRoute(parts: CommentParts): HttpHandler {
  const route = { method: 'GET', path: '/comments', family: 'gamma' } as const;
  return readRoute(route, async ({ query, dialect }) => {
    const isFamily = dialect === 'family';
    const requested = readCommentsQuery(query, { isFamily });
    if (requested instanceof ReadRefusal) return requested;
    const sorted = await commentsFor(parts, requested);
    if (sorted instanceof ReadRefusal) return sorted;
    const page = listComments(parts.threads, pageFrom(sorted, requested));
    return await answerComments(parts, page, { isFamily, wantsPositions: requested.getPositions });
  });
}

/** GET /comments/keyset: the same, page by page with a cursor. */
export function commentsKeysetRoute(parts: CommentParts): HttpHandler {
  const route = { method: 'GET', path: '/comments/keyset', family: 'gamma' } as const;
  return readRoute(route, async ({ query, dialect }) => {
    const isFamily = dialect === 'family';
    const requested = readCommentsKeyset(query, { isFamily });
    if (requested instanceof ReadRefusal) return requested;
    const sorted = await commentsFor(parts, requested);
    if (sorted instanceof ReadRefusal) return sorted;
    const { page, next } = pageAfter(sorted, requested);
    const comments = await answerComments(parts, listComments(parts.threads, page), {
      isFamily,
      wantsPositions: requested.getPositions,
    });
    return next === null ? { comments } : { comments, next_cursor: next };
  });
}

/** GET /comments/:id: one comment and all below it, as a list. */
export function commentRoute(parts: CommentParts): HttpHandler {
  const route = { method: 'GET', path: '/comments/:id', family: 'gamma' } as const;
  return readRoute(route, async ({ params, query, dialect }) => {
    const id = parseCatalogId(params['id'] ?? '');
    const read = new QueryReader(query, 'gamma');
    const wantsPositions = read.boolean('get_positions') ?? false;
    if (id === null) return refusals.invalidId;
    if (read.refusal !== null) return read.refusal;
    const { threads } = parts;
    const comment = threads.find(id);
    if (!comment?.isShown) return refusals.commentNotFound;
    const isFamily = dialect === 'family';
    return await answerComments(parts, listThread(threads, comment), { isFamily, wantsPositions });
  });
}

/** GET /comments/user_address/:user_address: what a wallet wrote, newest first. */
export function commentsByUserRoute(parts: CommentParts): HttpHandler {
  const path = '/comments/user_address/:user_address';
  const route = { method: 'GET', path, family: 'gamma' } as const;
  return readRoute(route, async ({ params, query, dialect }) => {
    const read = new QueryReader(query, 'gamma');
    const isFamily = dialect === 'family';
    const { limit, offset } = readPage(read, { isFamily });
    const sort = readSort(read);
    const wantsPositions = read.boolean('get_positions') ?? false;
    const wallet = parseWalletAddress(params['user_address'] ?? '');
    if (wallet === null) read.fail(readRefusalText('invalid_address', { name: 'user_address' }));
    if (read.refusal !== null || wallet === null) return read.refusal ?? [];
    const { threads } = parts;
    const sorted = sortComments(threads.byAuthor(wallet), sort, replyCounter(threads));
    const page = listComments(threads, pageFrom(sorted, { offset, limit }));
    return await answerComments(parts, page, { isFamily, wantsPositions });
  });
}

/** GET /events/:id/comments/count and /series/:id/comments/count: comments and replies. */
export function commentCountRoute(parts: CommentParts, what: 'events' | 'series'): HttpHandler {
  const route = { method: 'GET', path: `/${what}/:id/comments/count`, family: 'gamma' } as const;
  const type: CommentParent = what === 'events' ? 'EVENT' : 'SERIES';
  return readRoute(route, ({ params }) => {
    const id = parseCatalogId(params['id'] ?? '');
    if (id === null) return refusals.invalidId;
    const listed = what === 'events' ? parts.catalog.event(id) : parts.catalog.series(id);
    if (listed === undefined) return refusals.idNotFound;
    const { threads } = parts;
    const tops = threads.topsOf(type, id);
    return { count: tops.reduce((sum, top) => sum + 1 + threads.repliesOf(top.id).length, 0) };
  });
}
