import type { HttpApp } from '@pm/kit/http';
import { ImportCatalog } from '@pm/schemas';
import type { FastifyReply } from 'fastify';
import type { ImportOutcome, ImportRunner } from './import-runner.ts';

/** 200 events with long texts. */
const importBodyMaxBytes = 16 * 1024 * 1024;

/** POST /operator/catalog: lists events and markets, or changes their words and rules; the same again changes nothing. */
export function addCatalogRoute(app: HttpApp, imports: ImportRunner): void {
  const options = { schema: { body: ImportCatalog }, bodyLimit: importBodyMaxBytes };
  app.post('/operator/catalog', options, async (request, reply) => {
    return await sendOutcome(reply, await imports.run(request.body));
  });
}

/** The result of an import, or the place in it that is wrong and why. */
export function sendOutcome(reply: FastifyReply, outcome: ImportOutcome): FastifyReply {
  if (outcome.kind === 'done') return reply.send(outcome.result);
  const { path } = outcome;
  if (outcome.kind === 'refused') {
    return reply.code(400).send({ error: `${path} ${outcome.reason}`, path });
  }
  return reply.code(outcome.status).send({ error: `${path}: ${outcome.text}`, path });
}
