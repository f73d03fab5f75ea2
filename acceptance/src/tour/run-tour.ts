import { setTimeout as sleep } from 'node:timers/promises';
import { ExchangeClient, type Signer } from '@pm/client';
import { makeFacts } from './facts.ts';
import { type Stop, stopsOf } from './stops.ts';

/** What a stop of the tour saw. */
export interface Seen {
  readonly stop: Stop;
  /** Path and query as they were asked. */
  readonly target: string;
  /** HTTP status; 0 when there was no answer. */
  readonly status: number;
  readonly answer: string;
  /** Null when all is well, else what is not. */
  readonly wrong: string | null;
}

const timeoutMs = 15_000;
/** What was just written is asked for until it is there: the slowest projection is the leaderboards, every 15 s. */
const patienceMs = 45_000;
const pauseMs = 500;

/**
 * Visits every read of an exchange as a newcomer: first it trades and says something with `visitor`, who needs money, then it asks
 * for everything there is. Rejects with an `Error` when there is nothing to trade with.
 */
export async function runTour(
  baseUrl: string,
  visitor: Signer,
  onSeen: (seen: Seen) => void,
): Promise<boolean> {
  const client = new ExchangeClient({ baseUrl, signer: visitor });
  await client.connect();
  const facts = await makeFacts(client, visitor.checksummed);
  let isWell = true;
  for (const stop of stopsOf(facts)) {
    const seen = await visitUntilThere(client, stop, baseUrl);
    isWell &&= seen.wrong === null;
    onSeen(seen);
  }
  await client.cancelAll();
  return isWell;
}

async function visitUntilThere(client: ExchangeClient, stop: Stop, baseUrl: string): Promise<Seen> {
  const deadlineMs = performance.now() + patienceMs;
  for (;;) {
    const seen = await visit(client, stop, baseUrl);
    if (seen.wrong === null || performance.now() > deadlineMs) return seen;
    await sleep(pauseMs);
  }
}

async function visit(client: ExchangeClient, stop: Stop, baseUrl: string): Promise<Seen> {
  const [method = 'GET', pattern = '/'] = stop.route.split(' ');
  const path = pattern.replaceAll(/:(\w+)/g, (_, name) => stop.params?.[name] ?? '');
  const query = new URLSearchParams(stop.query).toString();
  const target = query === '' ? path : `${path}?${query}`;
  const request = { method: method as 'GET' | 'POST', path, body: stop.body };
  const headers = stop.isOwn === true ? client.signRequest(request).headers : {};
  const body = stop.body === undefined ? null : JSON.stringify(stop.body);
  const type = { 'content-type': 'application/json' };
  try {
    const response = await fetch(baseUrl + target, {
      ...{ method, body, headers: { ...type, ...headers } },
      signal: AbortSignal.timeout(timeoutMs),
    });
    const answer = await response.text();
    const { status } = response;
    return { stop, target, status, answer, wrong: wrongWith(stop, status, answer) };
  } catch (error) {
    return { stop, target, status: 0, answer: '', wrong: String(error) };
  }
}

function wrongWith({ mayBeEmpty }: Stop, status: number, answer: string): string | null {
  if (status === 404 && mayBeEmpty !== undefined) return null;
  if (status < 200 || status > 299) return 'it is refused';
  return mayBeEmpty === undefined && isEmpty(answer) ? 'it holds nothing' : null;
}

/** Whether an answer is an empty list, map or page. */
function isEmpty(answer: string): boolean {
  if (!/^[[{]/.test(answer)) return answer === '';
  const value = JSON.parse(answer) as Readonly<Record<string, unknown>>;
  const page = value['data'] ?? value;
  if (Array.isArray(page)) return page.length === 0;
  const fields = Object.values(value);
  const saysSomething = (field: unknown) =>
    Array.isArray(field) ? field.length > 0 : typeof field === 'string' && field !== '';
  const lists = fields.filter((field) => Array.isArray(field));
  return fields.length === 0 || (lists.length > 0 && !fields.some(saysSomething));
}
