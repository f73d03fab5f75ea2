import type { DoorRoute } from '@pm/kit/http';
import { type CommentParent, parseWalletAddress } from '@pm/schemas';
import { QueryReader } from '../door/query-reader.ts';
import { readRoute } from '../door/read-route.io.ts';
import { refusals } from '../door/refusal.ts';
import { parseCatalogId } from '../markets/catalog-id.ts';
import { answerComments, type SocialPorts } from './comment-answers.io.ts';
import { readPage, readSort } from './comments-query.ts';
import { pageFrom, sortComments } from './list-comments.ts';
import { listComments, replyCounter } from './listed-comment.ts';

/** GET /comments/user_address/:user_address: what a wallet wrote, newest first. */
export function commentsByUserRoute(ports: SocialPorts): DoorRoute {
  const path = '/comments/user_address/:user_address';
  const route = { method: 'GET', path, family: 'gamma' } as const;
  return readRoute(route, async ({ params, query, dialect }) => {
    const read = new QueryReader(query, 'gamma');
    const { limit, offset } = readPage(read);
    const sort = readSort(read);
    const wantsPositions = read.boolean('get_positions') ?? false;
    const wallet = parseWalletAddress(params['user_address'] ?? '');
    if (wallet === null) read.fail('user_address is not an address');
    if (read.refusal !== null || wallet === null) return read.refusal ?? [];
    const { threads } = ports.social;
    const sorted = sortComments(threads.byAuthor(wallet), sort, replyCounter(threads));
    const page = listComments(threads, pageFrom(sorted, { offset, limit }));
    const isFamily = dialect === 'family';
    return await answerComments(ports, page, { isFamily, wantsPositions });
  });
}

/** GET /events/:id/comments/count and /series/:id/comments/count: comments and replies. */
export function commentCountRoute(
  ports: Pick<SocialPorts, 'catalog' | 'social'>,
  what: 'events' | 'series',
): DoorRoute {
  const route = { method: 'GET', path: `/${what}/:id/comments/count`, family: 'gamma' } as const;
  const type: CommentParent = what === 'events' ? 'EVENT' : 'SERIES';
  return readRoute(route, ({ params }) => {
    const id = parseCatalogId(params['id'] ?? '');
    if (id === null) return refusals.invalidId;
    const listed = what === 'events' ? ports.catalog.event(id) : ports.catalog.series(id);
    if (listed === undefined) return refusals.idNotFound;
    const { threads } = ports.social;
    const tops = threads.topsOf(type, id);
    return { count: tops.reduce((sum, top) => sum + 1 + threads.repliesOf(top.id).length, 0) };
  });
}
