import fastify from 'fastify';
import { serveParent } from './child/child.ts';

/** One response of the bare server: its route and its bytes. */
export interface BareResult {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: string;
  readonly base64: string;
  readonly contentType: string;
}

/** The least work of a fastify server to send given bytes: the upper bound of a read's rate. */
await serveParent(async (answers: readonly BareResult[]) => {
  const app = fastify();
  for (const { method, url, base64, contentType } of answers) {
    const bytes = Buffer.from(base64, 'base64');
    const handler = (_request: unknown, reply: import('fastify').FastifyReply) => {
      reply.header('content-type', contentType).send(bytes);
    };
    app.route({ method, url, handler });
  }
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  return { info: url, work: async () => app.close() };
});
