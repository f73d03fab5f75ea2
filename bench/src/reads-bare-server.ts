import fastify from 'fastify';
import { serveParent } from './child/child.ts';

export interface BareServerJob {
  readonly base64: string;
  readonly contentType: string;
}

/** The least a fastify server does to answer with given bytes: the ceiling of GET /book. */
await serveParent(async (job: BareServerJob) => {
  const bytes = Buffer.from(job.base64, 'base64');
  const app = fastify();
  app.get('/book', (_request, reply) => {
    reply.header('content-type', job.contentType).send(bytes);
  });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  return { info: url, work: async () => app.close() };
});
