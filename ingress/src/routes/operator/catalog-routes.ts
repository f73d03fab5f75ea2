import type { HttpApp } from '@pm/kit/http';
import {
  type EntryResult,
  EventChange,
  ImportMarket,
  MarketChange,
  NewEvent,
  SeriesChange,
  TagChange,
} from '@pm/schemas';
import type { FastifyReply } from 'fastify';
import {
  type EntryPlan,
  planEventChange,
  planMarketChange,
  planNewEvent,
  planSeriesChange,
  planTagChange,
} from '../../core/catalog-change.ts';
import type { ImportRefusal } from '../../core/catalog-facts.ts';
import type { PlanContext } from '../../core/catalog-plan.ts';
import { addCatalogRoute, sendOutcome } from './catalog.ts';
import { ImportRunner } from './import-runner.ts';
import { findMarket, MarketId } from './market-id.ts';
import type { OperatorPorts } from './ports.ts';
import { Turns } from './turns.ts';

/** What a plan comes to; null when there is no such entry. */
type Plan = EntryPlan | ImportRefusal | null;

/**
 * The import, and routes that make or change one event, market, tag or series. All take turns: each gives numbers and slugs
 * that the next must not give, and changes what the one before has written.
 */
export function addCatalogRoutes(app: HttpApp, ports: OperatorPorts): void {
  const turns = new Turns();
  const imports = new ImportRunner(ports, turns);
  const { catalog } = ports;
  const change = (reply: FastifyReply, plan: (context: PlanContext) => Plan) =>
    turns.run(() => carryOutPlan(ports, reply, plan));
  const params = MarketId;
  addCatalogRoute(app, imports);
  app.post('/operator/events', { schema: { body: NewEvent } }, (request, reply) =>
    change(reply, (context) => planNewEvent(request.body, context)),
  );
  app.patch('/operator/events/:id', { schema: { params, body: EventChange } }, (request, reply) =>
    change(reply, (context) => {
      const known = catalog.findEvent(request.params.id);
      return known === undefined ? null : planEventChange(known, request.body, context);
    }),
  );
  const oneMarket = { schema: { params, body: ImportMarket } };
  app.post('/operator/events/:id/markets', oneMarket, async (request, reply) => {
    const event = catalog.findEvent(request.params.id);
    if (event === undefined) return await reply.code(404).send({ error: 'event not found' });
    const { slug, title } = event;
    const outcome = await imports.run({ events: [{ slug, title, markets: [request.body] }] });
    return await sendOutcome(reply, outcome);
  });
  app.patch('/operator/markets/:id', { schema: { params, body: MarketChange } }, (request, reply) =>
    change(reply, (context) => {
      const known = findMarket(request.params.id, catalog);
      return known === undefined ? null : planMarketChange(known, request.body, context);
    }),
  );
  addGroupRoutes(app, ports, change);
}

/** Tags and series. */
function addGroupRoutes(
  app: HttpApp,
  { catalog }: OperatorPorts,
  change: (reply: FastifyReply, plan: (context: PlanContext) => Plan) => Promise<FastifyReply>,
): void {
  const params = MarketId;
  app.post('/operator/tags', { schema: { body: TagChange } }, (request, reply) =>
    change(reply, (context) => planTagChange(undefined, request.body, context)),
  );
  app.patch('/operator/tags/:id', { schema: { params, body: TagChange } }, (request, reply) =>
    change(reply, (context) => {
      const known = catalog.findTagById(request.params.id);
      return known === undefined ? null : planTagChange(known, request.body, context);
    }),
  );
  app.post('/operator/series', { schema: { body: SeriesChange } }, (request, reply) =>
    change(reply, (context) => planSeriesChange(undefined, request.body, context)),
  );
  app.patch('/operator/series/:id', { schema: { params, body: SeriesChange } }, (request, reply) =>
    change(reply, (context) => {
      const known = catalog.findSeriesById(request.params.id);
      return known === undefined ? null : planSeriesChange(known, request.body, context);
    }),
  );
}

async function carryOutPlan(
  { catalog, partitions, keccak, clock, writes }: OperatorPorts,
  reply: FastifyReply,
  plan: (context: PlanContext) => Plan,
): Promise<FastifyReply> {
  const planned = plan({ catalog, partitions, keccak, nowMs: clock.nowMs() });
  if (planned === null) return reply.code(404).send({ error: 'not found' });
  if (planned.kind === 'refused') {
    const { path, reason } = planned;
    return reply.code(reason === 'is taken' ? 409 : 400).send({ error: `${path} ${reason}`, path });
  }
  const { id, slug, entries } = planned;
  if (entries.length > 0) await writes.writeEntries(entries);
  const result: EntryResult = { id, slug, changed: entries.length > 0 };
  return reply.send(result);
}
