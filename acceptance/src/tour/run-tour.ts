import { setTimeout as sleep } from 'node:timers/promises';
import { ExchangeClient, type Signer } from '@pm/client';
import { makeFacts } from './facts.ts';
import { type Stop, stopsOf } from './stops.ts';

/** A read and its response. */
export interface Visit {
  readonly stop: Stop;
  /** Path and query of the request. */
  readonly target: string;
  /** HTTP status; 0 when there was no response. */
  readonly status: number;
  readonly body: string;
  /** Null when the read passes, else the reason. */
  readonly problem: string | null;
}

const timeoutMs = 10_000;
/**
 * Time of all reads together until they show what was just written; the slowest projection, the leaderboards, runs
 * every 15 s.
 */
const defaultVisibleMaxMs = 35_000;
const pauseMs = 500;
/** Longest wait for the tables before the first read. */
const tablesMaxMs = 15_000;

/**
 * Calls every read of an exchange as a new user: first it trades and comments with `visitor`, whose wallet needs money.
 * Reads that do not show it yet are repeated, all of them until one deadline. Returns whether all passed; rejects with
 * an `Error` when there is no market to trade in.
 */
export async function runTour(
  baseUrl: string,
  visitor: Signer,
  onVisit: (visit: Visit) => void,
): Promise<boolean> {
  const client = new ExchangeClient({ baseUrl, signer: visitor });
  await client.connect();
  const facts = await makeFacts(client, baseUrl, visitor.checksummed);
  await tablesHave(client, await nowOf(client));
  const isWell = await visitAll(stopsOf(facts), (stop) => visit(client, stop, baseUrl), onVisit);
  await client.cancelAll();
  return isWell;
}

/** The clock of the exchange, rounded up to a second; Unix milliseconds. */
async function nowOf(client: ExchangeClient): Promise<number> {
  return ((await client.get('getTime')) + 1) * 1_000;
}

/**
 * Waits until the tables have everything before this moment, for a while: some reports are remembered for a minute, so
 * a read that comes too early would be seen again.
 */
async function tablesHave(client: ExchangeClient, beforeMs: number): Promise<void> {
  const untilMs = performance.now() + tablesMaxMs;
  while (performance.now() < untilMs) {
    const { projections } = await client.get('getStatus');
    const tables = projections.find(({ projection }) => projection === 'tables');
    if (Date.parse(tables?.completeThrough ?? '') >= beforeMs) return;
    await sleep(pauseMs);
  }
}

/** Reports each visit once: when it passes, or at the deadline. No read waits for another one. */
export async function visitAll(
  stops: readonly Stop[],
  visitOne: (stop: Stop) => Promise<Visit>,
  onVisit: (visit: Visit) => void,
  visibleMaxMs: number = defaultVisibleMaxMs,
): Promise<boolean> {
  const deadlineMs = performance.now() + visibleMaxMs;
  let waiting = stops;
  for (;;) {
    const failed: Visit[] = [];
    for (const stop of waiting) {
      const visited = await visitOne(stop);
      if (visited.problem === null) onVisit(visited);
      else failed.push(visited);
    }
    if (failed.length === 0) return true;
    if (performance.now() > deadlineMs) {
      for (const visited of failed) onVisit(visited);
      return false;
    }
    waiting = failed.map(({ stop }) => stop);
    await sleep(pauseMs);
  }
}

async function visit(client: ExchangeClient, stop: Stop, baseUrl: string): Promise<Visit> {
  const [method = 'GET', pattern = '/'] = stop.route.split(' ');
  const path = pattern.replaceAll(/:(\w+)/g, (_, name) => stop.params?.[name] ?? '');
  const query = new URLSearchParams(stop.query).toString();
  const target = query === '' ? path : `${path}?${query}`;
  const request = { method: method as 'GET' | 'POST', path, body: stop.body };
  const signed = stop.isOwn === true ? client.signRequest(request).headers : {};
  try {
    const response = await fetch(baseUrl + target, {
      method,
      body: stop.body === undefined ? null : JSON.stringify(stop.body),
      headers: { 'content-type': 'application/json', ...signed },
      signal: AbortSignal.timeout(timeoutMs),
    });
    const body = await response.text();
    const { status } = response;
    return { stop, target, status, body, problem: problemOf(stop, status, body) };
  } catch (error) {
    return { stop, target, status: 0, body: '', problem: String(error) };
  }
}

function problemOf({ mayBeEmpty }: Stop, status: number, body: string): string | null {
  if (status === 404 && mayBeEmpty !== undefined) return null;
  if (status < 200 || status > 299) return 'it is refused';
  return mayBeEmpty === undefined && isEmpty(body) ? 'it is empty' : null;
}

/** Whether a body is an empty list, map or page. */
function isEmpty(body: string): boolean {
  if (!/^[[{]/.test(body)) return body === '';
  const value = JSON.parse(body) as Readonly<Record<string, unknown>>;
  const page = value['data'] ?? value;
  if (Array.isArray(page)) return page.length === 0;
  const fields = Object.values(value);
  const isFilled = (field: unknown) =>
    Array.isArray(field) ? field.length > 0 : typeof field === 'string' && field !== '';
  const lists = fields.filter((field) => Array.isArray(field));
  return fields.length === 0 || (lists.length > 0 && !fields.some(isFilled));
}
