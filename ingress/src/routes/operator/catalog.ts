import type { HttpApp } from '@pm/kit/http';
import { ImportCatalog } from '@pm/schemas';
import { ImportRunner } from './import-runner.ts';
import type { OperatorPorts } from './ports.ts';

/** 200 events with long texts. */
const importBodyMaxBytes = 16 * 1024 * 1024;

/** POST /operator/catalog: lists events and markets, or changes their words and rules; the same again changes nothing. */
export function addCatalogRoute(app: HttpApp, ports: OperatorPorts): void {
  const imports = new ImportRunner(ports);
  const options = { schema: { body: ImportCatalog }, bodyLimit: importBodyMaxBytes };
  app.post('/operator/catalog', options, async (request, reply) => {
    const outcome = await imports.run(request.body);
    if (outcome.kind === 'done') return outcome.result;
    if (outcome.kind === 'refused') {
      const { path, reason } = outcome;
      return await reply.code(400).send({ error: `${path} ${reason}`, path });
    }
    const { status, text, path } = outcome;
    return await reply.code(status).send({ error: `${path}: ${text}`, path });
  });
}
