import { groupName } from '@pm/domain/markets/catalog-tables';
import { parseCatalogId, QueryReader } from '@pm/domain/reading/query-reader';
import { ReadRefusal, refusals } from '@pm/domain/reading/refusal';
import type { HttpHandler } from '@pm/kit/http';
import type { CatalogSeries, CatalogTag } from '@pm/schemas/log/catalog';
import { type ReadRequest, readRoute } from '../http/read-route.io.ts';
import { creatorGroups } from '../social/creators.ts';
import { type CatalogParts, listContext } from './catalog-responses.io.ts';
import { readSpan, readState } from './list-query.ts';
import { eventSummary, relatedTags, seriesAnswer, tagAnswer } from './wire-event.ts';

const tagColumns = { names: ['id', 'slug', 'label', 'createdAt', 'updatedAt'] };

type FindTag = (request: ReadRequest) => CatalogTag | ReadRefusal;

/** GET /tags, one tag by id or slug (the latter also without `slug/`), and the tags that stand beside one on events. */
export function tagRoutes(parts: CatalogParts): readonly HttpHandler[] {
  const { catalog } = parts;
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
    readRoute(route('/tags'), (request) => tagList(parts, request)),
    readRoute(route('/tags/:id'), answer(byEither, tagAnswer)),
    readRoute(route('/tags/slug/:slug'), answer(bySlug, tagAnswer)),
    readRoute(route('/tags/:id/related-tags'), related(byId)),
    readRoute(route('/tags/:id/related-tags/tags'), relatedWhole(byId)),
    readRoute(route('/tags/slug/:slug/related-tags'), related(bySlug)),
    readRoute(route('/tags/slug/:slug/related-tags/tags'), relatedWhole(bySlug)),
  ];
}

function tagList(parts: CatalogParts, { query, dialect }: ReadRequest): ReadRefusal | object {
  const { catalog, sites } = parts;
  const read = new QueryReader(query, 'gamma');
  const span = readSpan(read, tagColumns, listContext(parts, dialect));
  const creator = read.text('creator');
  if (read.refusal !== null) return read.refusal;
  const groups = creator === null ? null : creatorGroups(creator, sites);
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
    id: linkId(BigInt(tag.id), BigInt(other.id)),
    tagID: Number(tag.id),
    relatedTagID: Number(other.id),
    rank,
  };
}

/** Readers of the family insist on a whole number, another one for each pair: the pairing of Cantor. */
function linkId(from: bigint, to: bigint): string {
  const sum = from + to;
  return String((sum * (sum + 1n)) / 2n + to);
}

const seriesColumns = { names: ['id', 'ticker', 'slug', 'title', 'createdAt', 'updatedAt'] };
const slugsMax = 100;
/** Events shown of a series: the newest. */
const eventsMax = 100;

/** GET /series, and one of them by id or slug, each with summaries of its newest events. */
export function seriesRoutes(parts: CatalogParts): readonly HttpHandler[] {
  const { catalog } = parts;
  const route = (path: string) => ({ method: 'GET', path, family: 'gamma' }) as const;
  const whole = (series: CatalogSeries | undefined, absent: ReadRefusal) =>
    series === undefined ? absent : withEvents(parts, series);
  return [
    readRoute(route('/series'), (request) => seriesList(parts, request)),
    readRoute(route('/series/:id'), ({ params }) => {
      const id = parseCatalogId(params['id'] ?? '');
      return id === null ? refusals.invalidId : whole(catalog.series(id), refusals.idNotFound);
    }),
    readRoute(route('/series/slug/:slug'), ({ params }) =>
      whole(catalog.seriesBySlug(params['slug'] ?? ''), refusals.slugNotFound),
    ),
  ];
}

function seriesList(parts: CatalogParts, { query, dialect }: ReadRequest): ReadRefusal | object {
  const { catalog, sites } = parts;
  const read = new QueryReader(query, 'gamma');
  const span = readSpan(read, seriesColumns, listContext(parts, dialect));
  const flags = readState(read);
  const slugs = read.list('slug', slugsMax, (text) => text);
  const recurrence = read.text('recurrence');
  const creator = read.text('creator');
  if (read.refusal !== null) return read.refusal;
  const only = slugs?.flatMap((slug) => catalog.seriesBySlug(slug) ?? []) ?? null;
  const groups = creator === null ? null : creatorGroups(creator, sites);
  const test = (series: CatalogSeries) =>
    (recurrence === null || series.recurrence === recurrence) &&
    (groups === null || newestEvents(parts, series, { groups: [groups], limit: 1 }).length > 0);
  return catalog.seriesTable
    .page({ flags, only, test }, span)
    .map((series) => withEvents(parts, series));
}

function withEvents(parts: CatalogParts, series: CatalogSeries) {
  const events = newestEvents(parts, series, { groups: [], limit: eventsMax });
  return { ...seriesAnswer(series), events: events.map(eventSummary) };
}

function newestEvents(
  { catalog }: CatalogParts,
  { id }: CatalogSeries,
  { groups, limit }: { readonly groups: readonly (readonly string[])[]; readonly limit: number },
) {
  const span = { order: ['id'], ascending: false, offset: 0, limit };
  return catalog.eventTable.page({ groups: [groupName.series(id), ...groups] }, span);
}
