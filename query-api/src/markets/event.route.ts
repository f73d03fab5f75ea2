import type { DoorRoute } from '@pm/kit/http';
import type { CatalogEvent } from '@pm/schemas';
import { QueryReader } from '../door/query-reader.ts';
import { type ReadRequest, readRoute } from '../door/read-route.io.ts';
import { ReadRefusal, refusals } from '../door/refusal.ts';
import { creatorWallets } from '../social/creators.ts';
import { type CatalogPorts, eventAnswer } from './catalog-answers.io.ts';
import { parseCatalogId } from './catalog-id.ts';
import { tagsOf } from './wire-event.ts';

/** One event with its markets, tags and series, by id or slug, and its tags alone; hidden from creators it does not have. */
export function eventRoutes(ports: CatalogPorts): readonly DoorRoute[] {
  const { catalog } = ports;
  const route = (path: string) => ({ method: 'GET', path, family: 'gamma' }) as const;
  const byId = ({ params }: ReadRequest) => {
    const id = parseCatalogId(params['id'] ?? '');
    return id === null ? refusals.invalidId : (catalog.event(id) ?? refusals.idNotFound);
  };
  const bySlug = ({ params }: ReadRequest) =>
    catalog.eventBySlug(params['slug'] ?? '') ?? refusals.slugNotFound;
  const whole =
    (find: typeof byId, absent: ReadRefusal) =>
    async (request: ReadRequest): Promise<ReadRefusal | object> => {
      const found = scoped(ports, request, { found: find(request), absent });
      if (found instanceof ReadRefusal) return found;
      return await eventAnswer(ports, found.event, {
        dialect: request.dialect,
        creators: found.creators,
      });
    };
  return [
    readRoute(route('/events/:id'), whole(byId, refusals.idNotFound)),
    readRoute(route('/events/slug/:slug'), whole(bySlug, refusals.slugNotFound)),
    readRoute(route('/events/:id/tags'), (request) => {
      const absent = refusals.idNotFound;
      const found = scoped(ports, request, { found: byId(request), absent });
      return found instanceof ReadRefusal ? found : tagsOf(catalog, found.event);
    }),
  ];
}

/** What was found, unless none of its markets is of the creator asked for. */
function scoped(
  { catalog, lists }: CatalogPorts,
  { query }: ReadRequest,
  { found, absent }: { readonly found: CatalogEvent | ReadRefusal; readonly absent: ReadRefusal },
) {
  const read = new QueryReader(query, 'gamma');
  const creator = read.text('creator');
  if (read.refusal !== null) return read.refusal;
  if (found instanceof ReadRefusal) return found;
  const creators = creator === null ? null : creatorWallets(creator, lists.sites);
  const isShown =
    creators === null || catalog.creatorsOf(found.id).some((one) => creators.includes(one));
  return isShown ? { event: found, creators } : absent;
}
