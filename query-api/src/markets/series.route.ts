import type { DoorRoute } from '@pm/kit/http';
import type { CatalogSeries } from '@pm/schemas';
import { QueryReader } from '../door/query-reader.ts';
import { type ReadRequest, readRoute } from '../door/read-route.io.ts';
import { type ReadRefusal, refusals } from '../door/refusal.ts';
import { creatorGroups } from '../social/creators.ts';
import { type CatalogPorts, listContext } from './catalog-answers.io.ts';
import { parseCatalogId } from './catalog-id.ts';
import { groupName } from './catalog-tables.ts';
import { readSpan, readState } from './list-query.ts';
import { eventSummary, seriesAnswer } from './wire-event.ts';

const columns = { names: ['id', 'ticker', 'slug', 'title', 'createdAt', 'updatedAt'] };
const slugsMax = 100;
/** Events shown of a series: the newest. */
const eventsMax = 100;

/** GET /series, and one of them by id or slug, each with summaries of its newest events. */
export function seriesRoutes(ports: CatalogPorts): readonly DoorRoute[] {
  const { catalog } = ports;
  const route = (path: string) => ({ method: 'GET', path, family: 'gamma' }) as const;
  const whole = (series: CatalogSeries | undefined, absent: ReadRefusal) =>
    series === undefined ? absent : withEvents(ports, series);
  return [
    readRoute(route('/series'), (request) => seriesList(ports, request)),
    readRoute(route('/series/:id'), ({ params }) => {
      const id = parseCatalogId(params['id'] ?? '');
      return id === null ? refusals.invalidId : whole(catalog.series(id), refusals.idNotFound);
    }),
    readRoute(route('/series/slug/:slug'), ({ params }) =>
      whole(catalog.seriesBySlug(params['slug'] ?? ''), refusals.slugNotFound),
    ),
  ];
}

function seriesList(ports: CatalogPorts, { query, dialect }: ReadRequest): ReadRefusal | object {
  const { catalog, lists } = ports;
  const read = new QueryReader(query, 'gamma');
  const span = readSpan(read, columns, listContext(ports, dialect));
  const flags = readState(read);
  const slugs = read.list('slug', slugsMax, (text) => text);
  const recurrence = read.text('recurrence');
  const creator = read.text('creator');
  if (read.refusal !== null) return read.refusal;
  const only = slugs?.flatMap((slug) => catalog.seriesBySlug(slug) ?? []) ?? null;
  const groups = creator === null ? null : creatorGroups(creator, lists.sites);
  const test = (series: CatalogSeries) =>
    (recurrence === null || series.recurrence === recurrence) &&
    (groups === null || newestEvents(ports, series, { groups: [groups], limit: 1 }).length > 0);
  return catalog.seriesTable
    .page({ flags, only, test }, span)
    .map((series) => withEvents(ports, series));
}

function withEvents(ports: CatalogPorts, series: CatalogSeries) {
  const events = newestEvents(ports, series, { groups: [], limit: eventsMax });
  return { ...seriesAnswer(series), events: events.map(eventSummary) };
}

function newestEvents(
  { catalog }: CatalogPorts,
  { id }: CatalogSeries,
  { groups, limit }: { readonly groups: readonly (readonly string[])[]; readonly limit: number },
) {
  const span = { order: ['id'], ascending: false, offset: 0, limit };
  return catalog.eventTable.page({ groups: [groupName.series(id), ...groups] }, span);
}
