import type { HttpApp } from '@pm/kit/http';
import {
  type EntryResult,
  EventChange,
  ImportCatalog,
  ImportMarket,
  MarketChange,
  NewEvent,
  OperatorEntryParams,
  SeriesChange,
  TagChange,
} from '@pm/schemas';
import type { FastifyReply } from 'fastify';
import type { ChangeContext } from '../catalog/change-draft.ts';
import {
  type EntryChangeSet,
  eventChange,
  marketChange,
  newEventChange,
  seriesChange,
  tagChange,
} from '../catalog/entry-change.ts';
import type { ImportRefusal } from '../catalog/facts.ts';
import { CatalogImporter, type CatalogImportResult } from '../catalog/importer.io.ts';
import type { CatalogServices } from '../catalog/matcher-market.io.ts';
import { problemOf, sendProblem } from './requests.io.ts';

/** A change set or a refusal; null when there is no such entry. */
type Plan = EntryChangeSet | ImportRefusal | null;

/** The import, and routes that make or change one event, market, tag or series. All take locks (`CatalogLocks`). */
export function addCatalogRoutes(app: HttpApp, services: CatalogServices): void {
  const { catalog, locks } = services;
  const change = (reply: FastifyReply, plan: (context: ChangeContext) => Plan) =>
    locks.catalog(() => carryOutPlan(services, reply, plan));
  const params = OperatorEntryParams;
  addImportRoutes(app, services);
  app.post('/operator/events', { schema: { body: NewEvent } }, (request, reply) =>
    change(reply, (context) => newEventChange(request.body, context)),
  );
  app.patch('/operator/events/:id', { schema: { params, body: EventChange } }, (request, reply) =>
    change(reply, (context) => {
      const known = catalog.findEvent(request.params.id);
      return known === undefined ? null : eventChange(known, request.body, context);
    }),
  );
  const oneMarket = { schema: { params, body: MarketChange } };
  app.patch('/operator/markets/:id', oneMarket, async (request, reply) => {
    const number = Number(request.params.id);
    const plan = (context: ChangeContext) => {
      const known = catalog.findMarket(number);
      return known === undefined ? null : marketChange(known, request.body, context);
    };
    const work = () => carryOutPlan(services, reply, plan);
    return await locks.catalog(() => locks.market(number, work));
  });
  addGroupRoutes(app, services, change);
}

/** Tags and series. */
function addGroupRoutes(
  app: HttpApp,
  { catalog }: CatalogServices,
  change: (reply: FastifyReply, plan: (context: ChangeContext) => Plan) => Promise<FastifyReply>,
): void {
  const params = OperatorEntryParams;
  app.post('/operator/tags', { schema: { body: TagChange } }, (request, reply) =>
    change(reply, (context) => tagChange(undefined, request.body, context)),
  );
  app.patch('/operator/tags/:id', { schema: { params, body: TagChange } }, (request, reply) =>
    change(reply, (context) => {
      const known = catalog.findTagById(request.params.id);
      return known === undefined ? null : tagChange(known, request.body, context);
    }),
  );
  app.post('/operator/series', { schema: { body: SeriesChange } }, (request, reply) =>
    change(reply, (context) => seriesChange(undefined, request.body, context)),
  );
  app.patch('/operator/series/:id', { schema: { params, body: SeriesChange } }, (request, reply) =>
    change(reply, (context) => {
      const known = catalog.findSeriesById(request.params.id);
      return known === undefined ? null : seriesChange(known, request.body, context);
    }),
  );
}

async function carryOutPlan(
  { catalog, partitions, keccak, clock, writer }: CatalogServices,
  reply: FastifyReply,
  plan: (context: ChangeContext) => Plan,
): Promise<FastifyReply> {
  const planned = plan({ catalog, partitions, keccak, nowMs: clock.nowMs() });
  if (planned === null) return reply.code(404).send({ error: 'not found' });
  if (planned.kind === 'refused') {
    return sendProblem(reply, problemOf(planned));
  }
  const { id, slug, entries } = planned;
  if (entries.length > 0) await writer.writeEntries(entries);
  const result: EntryResult = { id, slug, changed: entries.length > 0 };
  return reply.send(result);
}

/** 200 events with long texts. */
const importBodyMaxBytes = 16 * 1024 * 1024;

/**
 * POST /operator/catalog: lists events and markets, or changes their words and rules; the same again changes nothing.
 * And POST /operator/events/:id/markets: the same for one market of an event that is listed.
 */
function addImportRoutes(app: HttpApp, services: CatalogServices): void {
  const imports = new CatalogImporter(services);
  const options = { schema: { body: ImportCatalog }, bodyLimit: importBodyMaxBytes };
  app.post('/operator/catalog', options, async (request, reply) => {
    return await sendOutcome(reply, await imports.run(() => request.body));
  });
  const oneMarket = { schema: { params: OperatorEntryParams, body: ImportMarket } };
  app.post('/operator/events/:id/markets', oneMarket, async (request, reply) => {
    const { body, params } = request;
    const outcome = await imports.run(() => {
      const event = services.catalog.findEvent(params.id);
      if (event === undefined) return null;
      const { slug, title } = event;
      return { events: [{ slug, title, markets: [body] }] };
    });
    return await sendOutcome(reply, outcome, '/events/0/markets/0');
  });
}

/** The result of an import, or the place in it that is wrong and why; `within` is the place of the sent body in it. */
function sendOutcome(
  reply: FastifyReply,
  outcome: CatalogImportResult | null,
  within = '',
): FastifyReply {
  if (outcome === null) return reply.code(404).send({ error: 'event not found' });
  if (outcome.kind === 'done') return reply.send(outcome.result);
  const path = outcome.path.replace(within, '');
  if (outcome.kind === 'refused') return sendProblem(reply, problemOf({ ...outcome, path }));
  return sendProblem(reply, { ...outcome, text: `${path}: ${outcome.text}`, path });
}
