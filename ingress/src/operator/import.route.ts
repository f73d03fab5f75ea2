import type { HttpApp } from '@pm/kit/http';
import { ImportCatalog, ImportMarket } from '@pm/schemas';
import type { FastifyReply } from 'fastify';
import { type ImportOutcome, ImportRunner } from '../catalog/importer.io.ts';
import { MarketId } from './market-id.ts';
import type { OperatorPorts } from './ports.io.ts';
import { problemOf, sendProblem } from './problems.io.ts';

/** 200 events with long texts. */
const importBodyMaxBytes = 16 * 1024 * 1024;

/**
 * POST /operator/catalog: lists events and markets, or changes their words and rules; the same again changes nothing. And
 * POST /operator/events/:id/markets: the same for one market of an event that is listed.
 */
export function addImportRoutes(app: HttpApp, ports: OperatorPorts): void {
  const imports = new ImportRunner(ports);
  const options = { schema: { body: ImportCatalog }, bodyLimit: importBodyMaxBytes };
  app.post('/operator/catalog', options, async (request, reply) => {
    return await sendOutcome(reply, await imports.run(() => request.body));
  });
  const oneMarket = { schema: { params: MarketId, body: ImportMarket } };
  app.post('/operator/events/:id/markets', oneMarket, async (request, reply) => {
    const { body, params } = request;
    const outcome = await imports.run(() => {
      const event = ports.catalog.findEvent(params.id);
      if (event === undefined) return null;
      const { slug, title } = event;
      return { events: [{ slug, title, markets: [body] }] };
    });
    return await sendOutcome(reply, outcome, '/events/0/markets/0');
  });
}

/** The result of an import, or the place in it that is wrong and why; `within` is where the body that was sent stands in it. */
function sendOutcome(
  reply: FastifyReply,
  outcome: ImportOutcome | null,
  within = '',
): FastifyReply {
  if (outcome === null) return reply.code(404).send({ error: 'event not found' });
  if (outcome.kind === 'done') return reply.send(outcome.result);
  const path = outcome.path.replace(within, '');
  if (outcome.kind === 'refused') return sendProblem(reply, problemOf({ ...outcome, path }));
  return sendProblem(reply, { ...outcome, text: `${path}: ${outcome.text}`, path });
}
