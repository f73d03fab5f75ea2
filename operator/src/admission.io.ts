import { mayUse } from '@pm/domain/operators/operators';
import { Fault } from '@pm/kit/fault';
import type { HttpApp } from '@pm/kit/http';
import { type OperatorEntry, type OperatorRole, operatorsMax } from '@pm/schemas/operators';
import type { OperatorRouteDeclaration } from '@pm/schemas/routes/route';
import { operatorRoutes } from '@pm/schemas/routes/routes';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { auditRecordOf } from './audit.route.ts';
import type { OperatorServices } from './operator-services.io.ts';
import { WindowCounts, type WindowLimit } from './window-counts.ts';

const minuteMs = 60_000;
const addressesMax = 10_000;

/** Requests of one operator, and those of one address without the token of an operator, each within a minute. */
export const operatorLimits = {
  operator: { most: 6_000, windowMs: minuteMs, namesMax: operatorsMax },
  strangers: { most: 10, windowMs: minuteMs, namesMax: addressesMax },
} as const satisfies Record<string, WindowLimit>;

type Services = Pick<OperatorServices, 'audit' | 'clock' | 'operators'>;

/**
 * Admits requests with the token of an operator that has the role of their route. Others are 401, and 429 once an
 * address has sent too many; the token of an operator is admitted from there too. What a role does not open is 403, and
 * on the audit trail unless it is a read. Throws the `Fault` `routes_differ` (stop) for a route that is not declared.
 */
export function admitOperators(app: HttpApp, services: Services): void {
  const roles = rolesByRoute();
  app.addHook('onRoute', (route) => {
    const method = route.method === 'HEAD' ? 'GET' : String(route.method);
    const operatorRole = roles.get(`${method} ${route.url}`);
    if (operatorRole === undefined)
      throw new Fault('routes_differ', 'stop', { facts: { unknown: `${method} ${route.url}` } });
    route.config = { ...route.config, operatorRole };
  });
  const refusal = refusals(services);
  app.addHook('onRequest', async (request, reply) => {
    const refused = refusal(request);
    if (refused === null) return;
    if (refused.status === 403 && request.method !== 'GET') {
      const { audit, clock } = services;
      await audit.append({ ...auditRecordOf(request, clock.nowMs()), status: refused.status });
    }
    await send(reply, refused);
  });
}

interface Refused {
  readonly status: 401 | 403 | 429 | 503;
  readonly error: string;
  readonly retryAfterSeconds?: number;
}

/**
 * Why a request is refused, or null; then it has its operator. The token is judged before anything is counted: many
 * share an address, and what others there send must not keep an operator from halting a market.
 */
function refusals({ operators, clock }: Services): (request: FastifyRequest) => Refused | null {
  const byOperator = new WindowCounts(operatorLimits.operator);
  const strangers = new WindowCounts(operatorLimits.strangers);
  return (request) => {
    const nowMs = clock.monotonicMs();
    const found = operators.find(tokenOf(request));
    if (found === 'unreadable')
      return { status: 503, error: 'the operators cannot be read', retryAfterSeconds: 1 };
    if (found === null)
      return strangers.take(request.ip, nowMs) ? unauthorized : tooMany(strangers, nowMs);
    request.operator = found;
    if (!byOperator.take(found.name, nowMs)) return tooMany(byOperator, nowMs);
    return roleProblem(found, request.routeOptions.config.operatorRole);
  };
}

const unauthorized: Refused = { status: 401, error: 'unauthorized' };

function tooMany(counts: WindowCounts, nowMs: number): Refused {
  const retryAfterSeconds = counts.secondsLeft(nowMs);
  return { status: 429, error: 'Too Many Requests', retryAfterSeconds };
}

/** Paths without a route have no role: they are 404 for every operator. */
function roleProblem({ roles }: OperatorEntry, role: OperatorRole | undefined): Refused | null {
  if (role === undefined || mayUse(roles, role)) return null;
  return { status: 403, error: `it takes the role ${role}` };
}

function tokenOf({ headers }: FastifyRequest): string {
  const [, token = ''] = /^Bearer ([\x21-\x7e]{1,256})$/.exec(headers.authorization ?? '') ?? [];
  return token;
}

async function send(reply: FastifyReply, refused: Refused): Promise<void> {
  const { status, error, retryAfterSeconds } = refused;
  if (status === 401) void reply.header('www-authenticate', 'Bearer');
  const wait = retryAfterSeconds === undefined ? {} : { retry_after_seconds: retryAfterSeconds };
  if (retryAfterSeconds !== undefined) void reply.header('retry-after', String(retryAfterSeconds));
  await reply.code(status).send({ error, ...wait });
}

function rolesByRoute(): ReadonlyMap<string, OperatorRole> {
  const declared: readonly OperatorRouteDeclaration[] = Object.values(operatorRoutes);
  return new Map(declared.map(({ method, path, role }) => [`${method} ${path}`, role]));
}
