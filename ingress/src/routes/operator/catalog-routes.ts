import type { HttpApp } from '@pm/kit/http';
import {
  type EntryResult,
  EventChange,
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
import type { PlanContext } from '../../core/catalog-draft.ts';
import type { ImportRefusal } from '../../core/catalog-facts.ts';
import { addImportRoutes } from './import-routes.ts';
import { MarketId } from './market-id.ts';
import type { OperatorPorts } from './ports.ts';
import { problemOf, sendProblem } from './problem.ts';

/** What a plan comes to; null when there is no such entry. */
type Plan = EntryPlan | ImportRefusal | null;

/** The import, and routes that make or change one event, market, tag or series. All take turns (`CatalogTurns`). */
export function addCatalogRoutes(app: HttpApp, ports: OperatorPorts): void {
  const { catalog, turns } = ports;
  const change = (reply: FastifyReply, plan: (context: PlanContext) => Plan) =>
    turns.catalog(() => carryOutPlan(ports, reply, plan));
  const params = MarketId;
  addImportRoutes(app, ports);
  app.post('/operator/events', { schema: { body: NewEvent } }, (request, reply) =>
    change(reply, (context) => planNewEvent(request.body, context)),
  );
  app.patch('/operator/events/:id', { schema: { params, body: EventChange } }, (request, reply) =>
    change(reply, (context) => {
      const known = catalog.findEvent(request.params.id);
      return known === undefined ? null : planEventChange(known, request.body, context);
    }),
  );
  const oneMarket = { schema: { params, body: MarketChange } };
  app.patch('/operator/markets/:id', oneMarket, async (request, reply) => {
    const number = Number(request.params.id);
    const plan = (context: PlanContext) => {
      const known = catalog.findMarket(number);
      return known === undefined ? null : planMarketChange(known, request.body, context);
    };
    const work = () => carryOutPlan(ports, reply, plan);
    return await turns.catalog(() => turns.market(number, work));
  });
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
    return sendProblem(reply, problemOf(planned));
  }
  const { id, slug, entries } = planned;
  if (entries.length > 0) await writes.writeEntries(entries);
  const result: EntryResult = { id, slug, changed: entries.length > 0 };
  return reply.send(result);
}
