import { createHash, randomUUID } from 'node:crypto';
import { type HttpApp, parseIntegerParam, type RawParam } from '@pm/kit/http';
import { type AuditRecord, auditBodyMaxChars } from '@pm/schemas/log/audit';
import type { FastifyRequest } from 'fastify';
import type { AuditEntry } from './audit-trail.io.ts';
import type { OperatorServices } from './operator-services.io.ts';
import { operatorOfRequest } from './requests.io.ts';

const pageDefault = 100;
const pageMax = 500;
const offsetMax = 5_000;
const containingMaxChars = 200;
const tokenIdChars = 8;

/**
 * Puts every request of an operator that is not a read on the topic `audit`: before it is carried out, so that nothing
 * is done that is not in the trail (503 when it cannot be written), and once more with the status of the response.
 * Routes need not do anything for it. Bodies that are refused by their schema change nothing and are not in it.
 */
export function auditRequests(app: HttpApp, { audit, clock }: OperatorServices): void {
  const asked = new WeakMap<object, AuditRecord>();
  app.addHook('preHandler', async (request) => {
    if (request.method === 'GET') return;
    const record = auditRecordOf(request, clock.nowMs());
    await audit.append(record);
    asked.set(request, record);
  });
  app.addHook('onResponse', async (request, reply) => {
    const record = asked.get(request);
    if (record === undefined) return;
    const finished = { ...record, timeMs: clock.nowMs(), status: reply.statusCode };
    await audit.append(finished).catch((error: unknown) => audit.onLost(finished, error));
  });
}

/** The record of a request of an operator before it is carried out. */
export function auditRecordOf(request: FastifyRequest, timeMs: number): AuditRecord {
  const { method, rawBody, routeOptions, url, ip } = request;
  const { name, tokenSha256 } = operatorOfRequest(request);
  return {
    id: randomUUID(),
    timeMs,
    who: name,
    tokenId: tokenSha256.slice(0, tokenIdChars),
    address: ip,
    action: `${method} ${routeOptions.url ?? ''}`,
    subject: url,
    body: rawBody.toString('utf8').slice(0, auditBodyMaxChars),
    bodyBytes: rawBody.length,
    bodySha256: sha256(rawBody),
    status: 0,
  };
}

/** GET /operator/audit: requests of operators with their results, newest first (`limit`, `offset`, `containing`). */
export function addAuditRoute(app: HttpApp, { audit }: OperatorServices): void {
  app.get('/operator/audit', async (request, reply) => {
    const query = request.query as Readonly<Record<string, RawParam>>;
    const limit = parseIntegerParam(query['limit'], { min: 1, max: pageMax });
    const offset = parseIntegerParam(query['offset'], { min: 0, max: offsetMax });
    const containing = query['containing'] ?? '';
    const isText = typeof containing === 'string' && containing.length <= containingMaxChars;
    if (limit === null || offset === null || !isText) {
      const error = `limit takes 1 to ${pageMax}, offset 0 to ${offsetMax}, containing a text`;
      return await reply.code(400).send({ error });
    }
    const asked = { limit: limit ?? pageDefault, offset: offset ?? 0, containing };
    return { entries: audit.page(asked).map(entryBody) };
  });
}

function entryBody({ timeMs, bodySha256, ...rest }: AuditEntry) {
  return {
    ...rest,
    time: new Date(timeMs).toISOString(),
    bodySha256: Buffer.from(bodySha256).toString('hex'),
  };
}

function sha256(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest();
}
