import type { DoorRoute } from '@pm/kit/http';
import type { CatalogTag } from '@pm/schemas';
import { QueryReader } from '../door/query-reader.ts';
import { type ReadRequest, readRoute } from '../door/read-route.io.ts';
import { ReadRefusal, refusals } from '../door/refusal.ts';
import { creatorGroups } from '../social/creators.ts';
import { type CatalogPorts, listContext } from './catalog-answers.io.ts';
import { parseCatalogId } from './catalog-id.ts';
import { groupName } from './catalog-tables.ts';
import { readSpan } from './list-query.ts';
import { relatedTags } from './related-tags.ts';
import { tagAnswer } from './wire-event.ts';

const columns = { names: ['id', 'slug', 'label', 'createdAt', 'updatedAt'] };

type FindTag = (request: ReadRequest) => CatalogTag | ReadRefusal;

/** GET /tags, one tag by id or slug (the latter also without `slug/`), and the tags that stand beside one on events. */
export function tagRoutes(ports: CatalogPorts): readonly DoorRoute[] {
  const { catalog } = ports;
  const route = (path: string) => ({ method: 'GET', path, family: 'gamma' }) as const;
  const byId: FindTag = ({ params }) => {
    const id = parseCatalogId(params['id'] ?? '');
    return id === null ? refusals.invalidId : (catalog.tag(id) ?? refusals.idNotFound);
  };
  const bySlug: FindTag = ({ params }) =>
    catalog.tagBySlug(params['slug'] ?? '') ?? refusals.slugNotFound;
  const byEither: FindTag = ({ params }) => {
    const id = params['id'] ?? '';
    const absent = parseCatalogId(id) === null ? refusals.slugNotFound : refusals.idNotFound;
    return catalog.tag(id) ?? catalog.tagBySlug(id) ?? absent;
  };
  const answer = (find: FindTag, of: (tag: CatalogTag) => object) => (request: ReadRequest) => {
    const tag = find(request);
    return tag instanceof ReadRefusal ? tag : of(tag);
  };
  const related = (find: FindTag) =>
    answer(find, (tag) =>
      relatedTags(catalog, tag).map(({ rank, other }) => link(tag, other, rank)),
    );
  const relatedWhole = (find: FindTag) =>
    answer(find, (tag) => relatedTags(catalog, tag).map(({ other }) => tagAnswer(other)));
  return [
    readRoute(route('/tags'), (request) => tagList(ports, request)),
    readRoute(route('/tags/:id'), answer(byEither, tagAnswer)),
    readRoute(route('/tags/slug/:slug'), answer(bySlug, tagAnswer)),
    readRoute(route('/tags/:id/related-tags'), related(byId)),
    readRoute(route('/tags/:id/related-tags/tags'), relatedWhole(byId)),
    readRoute(route('/tags/slug/:slug/related-tags'), related(bySlug)),
    readRoute(route('/tags/slug/:slug/related-tags/tags'), relatedWhole(bySlug)),
  ];
}

function tagList(ports: CatalogPorts, { query, dialect }: ReadRequest): ReadRefusal | object {
  const { catalog, lists } = ports;
  const read = new QueryReader(query, 'gamma');
  const span = readSpan(read, columns, listContext(ports, dialect));
  const creator = read.text('creator');
  if (read.refusal !== null) return read.refusal;
  const groups = creator === null ? null : creatorGroups(creator, lists.sites);
  const first = { order: ['id'], ascending: false, offset: 0, limit: 1 };
  const test =
    groups === null
      ? null
      : ({ id }: CatalogTag) =>
          catalog.eventTable.page({ groups: [groupName.tag(id), groups] }, first).length > 0;
  return catalog.tagTable.page({ test }, span).map(tagAnswer);
}

/** A related tag as clients of the family know it. */
function link(tag: CatalogTag, other: CatalogTag, rank: number) {
  return {
    id: `${tag.id}-${other.id}`,
    tagID: Number(tag.id),
    relatedTagID: Number(other.id),
    rank,
  };
}
