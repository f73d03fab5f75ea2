import type { IncomingHttpHeaders } from 'node:http';
import {
  answeredHeader,
  type ClientAddress,
  errorStyleOf,
  familyOf,
  originForm,
  waitedHeader,
} from '@pm/kit/http';
import { traceparentHeader, traceparentOf } from '@pm/kit/traces';
import { refusalText } from '@pm/schemas/refusals';
import { headers as names } from '@pm/schemas/signing';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Dispatcher, Pool } from 'undici';
import { type AnsweredPlaces, clientNames } from './answered-places.ts';
import type { ClientConcurrencyLimit } from './client-concurrency-limit.ts';
import { rankFor, ServiceProcesses } from './service-processes.ts';

/** Longer than any bounded wait of a service. */
const serviceTimeoutMs = 30_000;

/** The base URL of a service, or those of its processes. */
export type ServiceUrls = string | readonly string[];

export function listOf(urls: ServiceUrls): readonly string[] {
  return typeof urls === 'string' ? [urls] : urls;
}

/** Connections to all processes of a service; `closePools` ends them. */
export function openPools(urls: ServiceUrls): ServiceProcesses<Pool> {
  const open = (url: string) =>
    // Without a limit of connections: beyond it requests would wait here, which nobody counts.
    new Pool(url, {
      pipelining: 1,
      headersTimeout: serviceTimeoutMs,
      bodyTimeout: serviceTimeoutMs,
    });
  return new ServiceProcesses(listOf(urls), open, answers);
}

/** A process answers this without waiting for anything. */
const probePath = '/ok';
const probeWithinMs = 1_000;

/** Whether a process answers a short request, over a connection of its own. */
async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(new URL(probePath, url), {
      signal: AbortSignal.timeout(probeWithinMs),
    });
    await response.body?.cancel();
    return true;
  } catch {
    return false;
  }
}

/** Ends all connections at once. */
export async function closePools(service: ServiceProcesses<Pool> | null): Promise<void> {
  service?.close();
  for (const { connection } of service?.all ?? []) await connection.destroy();
}

/** A service, the address that it gets of a client, and what bounds the requests there. */
export interface Target {
  readonly service: ServiceProcesses<Pool>;
  readonly addressOf: ClientAddress;
  /** Bounds the requests of each client; absent where nothing does. */
  readonly slots?: ClientConcurrencyLimit;
  /** Bounds the requests of all clients together with each process, by its URL. */
  readonly processSlots: ClientConcurrencyLimit;
  /**
   * How far in the log each client has been answered: the service names it in its responses, and gets it with requests.
   * Absent for a service that does neither.
   */
  readonly answered?: AnsweredPlaces;
  /** The gateway answers 503 itself. */
  onRefused(reason: Refusal): void;
}

/** Why the gateway answers 503 itself. */
export type Refusal = 'unreachable' | 'overloaded';

/** Forwards a request to its service, when its client has a slot, and answers with the response. */
export async function forward(
  request: FastifyRequest,
  reply: FastifyReply,
  target: Target,
): Promise<FastifyReply> {
  const { slots, onRefused } = target;
  const client = request.server.countedAddress(request.raw);
  const refuse = (reason: Refusal) => {
    onRefused(reason);
    return replyUnavailable(request, reply, refusals[reason]);
  };
  const releaseSlot = slots === undefined ? () => {} : await slots.enter(client);
  if (releaseSlot === null) return await refuse('overloaded');
  const answeredTo = target.answered === undefined ? [] : clientNames(request.headers, client);
  const sent = await send(request, target, { client, answeredTo });
  if (typeof sent === 'string') {
    releaseSlot();
    return await refuse(sent);
  }
  const { response, releaseProcessSlot } = sent;
  untilTaken(reply, () => {
    releaseProcessSlot();
    releaseSlot();
  });
  const { statusCode, headers, body } = response;
  const { [answeredHeader]: through } = headers;
  if (typeof through === 'string') target.answered?.take(answeredTo, through);
  return await reply
    .code(statusCode)
    .headers(endToEnd(headers, [answeredHeader]))
    .send(body);
}

/** Calls `end` once the client has taken the response, or has gone. */
function untilTaken({ raw }: FastifyReply, end: () => void): void {
  if (raw.closed || raw.destroyed) end();
  else raw.once('close', end);
}

/** A response whose headers have arrived, and what releases its slot at its process. */
interface Sent {
  readonly response: Dispatcher.ResponseData;
  releaseProcessSlot(): void;
}

/** The counted address of the client of a request, and the names by which its answers are kept. */
interface Named {
  readonly client: string;
  readonly answeredTo: readonly string[];
}

/**
 * Gets a response, or why there is none. A process that cannot be reached has got nothing of the request, so the next
 * one gets it; after that only the client may send it again.
 */
async function send(
  request: FastifyRequest,
  target: Target,
  { client, answeredTo }: Named,
): Promise<Sent | Refusal> {
  const { service, processSlots } = target;
  for (const process of service.inOrder(rankFor(callerOf(request, client)))) {
    const releaseProcessSlot = await processSlots.enter(process.url);
    if (releaseProcessSlot === null) return 'overloaded';
    try {
      // Made when it has a slot: the message says how long the request has waited.
      const ask = () => process.connection.request(messageOf(request, target, answeredTo));
      return { response: await service.watch(process, ask), releaseProcessSlot };
    } catch (error) {
      releaseProcessSlot();
      if (!isSlow(error)) service.rest(process);
      if (!isUnsent(error)) return 'unreachable';
    }
  }
  return 'unreachable';
}

const walletHeader = names.address.toLowerCase();

/** The wallet that a request names, else the address of its client: only the choice of a process depends on it. */
function callerOf({ headers }: FastifyRequest, client: string): string {
  const wallet = headers[walletHeader];
  return typeof wallet === 'string' ? wallet : client;
}

/** Errors of a connection that was never open. */
const connectCodes = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'UND_ERR_CONNECT_TIMEOUT',
]);

function isUnsent(error: unknown): boolean {
  return connectCodes.has(codeOf(error));
}

/** One request took too long, which says nothing about others. */
function isSlow(error: unknown): boolean {
  return codeOf(error) === 'UND_ERR_HEADERS_TIMEOUT';
}

function codeOf(error: unknown): string {
  return String(Reflect.get(Object(error), 'code'));
}

function messageOf(
  request: FastifyRequest,
  { addressOf, answered }: Pick<Target, 'addressOf' | 'answered'>,
  answeredTo: readonly string[],
): Dispatcher.RequestOptions {
  const { method, url, headers, id, body, trace, beganAtMs } = request;
  const through = answered?.of(answeredTo);
  return {
    method: method as Dispatcher.HttpMethod,
    path: originForm(url),
    headers: {
      // A trace that goes on is named below; the services trust that header of the gateway.
      ...endToEnd(headers, ['host', 'expect', 'content-length', traceparentHeader, answeredHeader]),
      // Clients' own headers do not name them.
      'x-forwarded-for': addressOf(request.raw),
      'x-request-id': id,
      [waitedHeader]: String(Math.round(performance.now() - beganAtMs)),
      ...(trace === undefined ? {} : { [traceparentHeader]: traceparentOf(trace) }),
      ...(through === undefined ? {} : { [answeredHeader]: through }),
    },
    body: Buffer.isBuffer(body) ? body : null,
  };
}

/** Headers of one connection and not of the message (RFC 9110 7.6.1), besides all that begin with `proxy-`. */
const hopByHop = ['connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade'];

/** The headers of a message without those of its connection, without those that these name, and without `others`. */
function endToEnd(
  headers: IncomingHttpHeaders,
  others: readonly string[] = [],
): IncomingHttpHeaders {
  const named = (headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase());
  const dropped = new Set([...hopByHop, ...named, ...others]);
  const kept = Object.entries(headers).filter(
    ([name]) => !(dropped.has(name) || name.startsWith('proxy-')),
  );
  return Object.fromEntries(kept);
}

const refusals: Readonly<Record<Refusal, { readonly error: string; readonly code?: string }>> = {
  unreachable: { error: 'the service behind this route is not reachable' },
  /** Too many requests wait, of the address of the client or of all with the process. */
  overloaded: { error: refusalText('overloaded'), code: 'overloaded' },
};

/** A 503 in the format of the route family (conventions.md 1.2). The gateway does not retry; the client does. */
function replyUnavailable(
  request: FastifyRequest,
  reply: FastifyReply,
  words: { readonly error: string; readonly code?: string },
): FastifyReply {
  const family = familyOf(request);
  const wait = family === 'clob' ? { retry_after_seconds: 1 } : {};
  return reply
    .code(503)
    .header('retry-after', '1')
    .send(errorStyleOf(family, 503, { ...words, ...wait }));
}
