import type { ImportRefusal } from '@pm/domain/catalog/facts';
import type { HttpApp } from '@pm/kit/http';
import { ImportCatalog, ImportMarket } from '@pm/schemas/http/operator';
import {
  type EntryResult,
  EventChange,
  MarketChange,
  NewEvent,
  SeriesChange,
  TagChange,
} from '@pm/schemas/http/operator-catalog';
import { OperatorEntryParams } from '@pm/schemas/http/operator-responses';
import type { CatalogEntry } from '@pm/schemas/log/catalog';
import type { FastifyReply } from 'fastify';
import type { ChangeContext } from './catalog/change-draft.ts';
import {
  type EntryChangeSet,
  eventChange,
  marketChange,
  newEventChange,
  seriesChange,
  tagChange,
} from './catalog/entry-change.ts';
import { CatalogImporter, type CatalogImportResult } from './catalog/importer.io.ts';
import type { CatalogServices } from './catalog/matcher-market.io.ts';
import { changesEventTerms, changesTerms, refuseFinal } from './catalog/traded-terms.io.ts';
import { type OperatorProblem, problemOf, sendProblem } from './requests.io.ts';

/** A change set or a refusal; null when there is no such entry. */
type Plan = EntryChangeSet | ImportRefusal | null;

type Changed = Promise<EntryResult | OperatorProblem>;

/** The import, and routes that make or change one event, market, tag or series. All take locks (`CatalogLocks`). */
export function addCatalogRoutes(app: HttpApp, services: CatalogServices): void {
  const change = async (reply: FastifyReply, plan: (context: ChangeContext) => Plan) =>
    sendChanged(reply, await services.locks.catalog(() => carryOutPlan(services, plan)));
  const params = OperatorEntryParams;
  addImportRoutes(app, services);
  app.post('/operator/events', { schema: { body: NewEvent } }, (request, reply) =>
    change(reply, (context) => newEventChange(request.body, context)),
  );
  const oneEvent = { schema: { params, body: EventChange } };
  app.patch('/operator/events/:id', oneEvent, async (request, reply) =>
    sendChanged(reply, await editEvent(request.params.id, request.body, services)),
  );
  const oneMarket = { schema: { params, body: MarketChange } };
  app.patch('/operator/markets/:id', oneMarket, async (request, reply) =>
    sendChanged(reply, await editMarket(Number(request.params.id), request.body, services)),
  );
  addGroupRoutes(app, services, change);
}

/** PATCH /operator/events/:id. */
export function editEvent(id: string, sent: EventChange, services: CatalogServices): Changed {
  const plan = (context: ChangeContext) => planEvent(id, sent, context);
  return services.locks.catalog(() => carryOutPlan(services, plan));
}

/** PATCH /operator/markets/:id: a question and outcomes that were traded stay. */
export function editMarket(number: number, sent: MarketChange, services: CatalogServices): Changed {
  const { catalog, locks } = services;
  const work = async () => {
    const known = catalog.findMarket(number);
    const planned = planMarket(number, sent, contextOf(services));
    const entry = entryOf(planned, 'CatalogMarket');
    const problem =
      known === undefined || entry === null ? null : await refuseFinal(known, entry, services);
    return problem ?? (await carryOutPlan(services, () => planned));
  };
  return locks.catalog(() => locks.market(number, work));
}

function planEvent(id: string, sent: EventChange, context: ChangeContext): Plan {
  const known = context.catalog.findEvent(id);
  return known === undefined ? null : eventChange(known, sent, context);
}

function planMarket(number: number, sent: MarketChange, context: ChangeContext): Plan {
  const known = context.catalog.findMarket(number);
  return known === undefined ? null : marketChange(known, sent, context);
}

/** Whether the change needs a second person; not when it is refused anyway. */
export async function changesTermsOfEvent(
  id: string,
  sent: EventChange,
  services: CatalogServices,
): Promise<boolean> {
  const known = services.catalog.findEvent(id);
  const entry = entryOf(planEvent(id, sent, contextOf(services)), 'CatalogEvent');
  if (known === undefined || entry === null) return false;
  return await changesEventTerms(known, entry, services);
}

/** Whether the change of a market needs a second person; not when it is refused anyway. */
export async function changesTermsOfMarket(
  number: number,
  sent: MarketChange,
  services: CatalogServices,
): Promise<boolean> {
  const known = services.catalog.findMarket(number);
  const entry = entryOf(planMarket(number, sent, contextOf(services)), 'CatalogMarket');
  if (known === undefined || entry === null) return false;
  return await changesTerms(known, entry, services);
}

type EntryOf<Kind extends CatalogEntry['kind']> = Extract<CatalogEntry, { readonly kind: Kind }>;

/** The entry that a plan changes, which is its last; null when it changes none. */
function entryOf<Kind extends CatalogEntry['kind']>(plan: Plan, kind: Kind): EntryOf<Kind> | null {
  const entry = plan?.kind === 'planned' ? plan.entries.at(-1) : undefined;
  return entry?.kind === kind ? (entry as EntryOf<Kind>) : null;
}

function contextOf({ catalog, partitions, keccak, clock }: CatalogServices): ChangeContext {
  return { catalog, partitions, keccak, nowMs: clock.nowMs() };
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
  services: CatalogServices,
  plan: (context: ChangeContext) => Plan,
): Changed {
  const planned = plan(contextOf(services));
  if (planned === null) return { status: 404, text: 'not found' };
  if (planned.kind === 'refused') return problemOf(planned);
  const { id, slug, entries } = planned;
  if (entries.length > 0) await services.writer.writeEntries(entries);
  return { id, slug, changed: entries.length > 0 };
}

function sendChanged(reply: FastifyReply, result: Awaited<Changed>): FastifyReply {
  return 'status' in result ? sendProblem(reply, result) : reply.send(result);
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
