import { setTimeout as wait } from 'node:timers/promises';
import { loopback } from '@pm/deploy/local/ports';
import { sample } from '@pm/schemas/http/forms';
import {
  type Access,
  accessOf,
  operatorAccessOf,
  operatorPathInPublic,
  type Principal,
  principals,
} from '@pm/schemas/routes/access';
import type { Declaration } from '@pm/schemas/routes/route';
import { operatorRoutes, routes } from '@pm/schemas/routes/routes';
import { certainlyNewMs, order } from '../exchange-under-test.ts';
import { WholeExchange } from '../whole-exchange.ts';
import { type Asked, type Caller, Callers } from './callers.ts';

// Every route is sent its example by every kind of caller, and the answer is the one of docs/trading/access.md.
const names = Object.keys(principals) as readonly Principal[];
/** Sent last: it revokes the key of whoever may send it. */
const revoking = 'DELETE /auth/api-key';

let exchange: WholeExchange;
let callers: Callers;

beforeAll(async () => {
  const market = { slug: 'access', question: 'Access?', minOrderSize: '1' };
  const events = [{ slug: 'access', title: 'Access', markets: [market] }];
  exchange = await WholeExchange.open('access', { partitions: 1, events });
  callers = await Callers.open(exchange);
}, 240_000);

afterAll(() => exchange?.close(), 60_000);

type Route = Declaration & { readonly method: string; readonly path: string };

const nameOf = ({ method, path }: Route): string => `${method} ${path}`;

/** The example of a route with the market, token and wallet that there are. */
function askedOf(route: Route, principal: Caller): Asked {
  const [{ params = {}, query = {}, body }] = route.examples;
  const path = route.path.replace(/:(\w+)/g, (_, name: string) =>
    encodeURIComponent(params[name] ?? '1'),
  );
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of [value].flat()) search.append(name, one);
  }
  const url = search.size === 0 ? path : `${path}?${search}`;
  const text = body === undefined ? '' : JSON.stringify(bodyOf(route, principal, body));
  return { method: route.method, url: real(url), body: route.method === 'GET' ? '' : real(text) };
}

/** Orders are signed by the wallet of the caller: a refusal for its signature would hide the one for its status. */
function bodyOf(route: Route, principal: Caller, example: unknown): unknown {
  if (!nameOf(route).startsWith('POST /order') || route.path.includes('scoring')) return example;
  const { signer, key, domain } = callers.partyOf(principal);
  const [token = ''] = exchange.markets[0]?.tokenIds ?? [];
  const { submission } = order({ signer, trio: key, domain }, token, undefined, {
    aheadMs: certainlyNewMs,
  });
  return Array.isArray(example) ? [submission] : submission;
}

function real(text: string): string {
  const [market] = exchange.markets;
  const wallet = callers.owner.signer.checksummed;
  return text
    .replaceAll(sample.token, market?.tokenIds[0] ?? '')
    .replaceAll(sample.otherToken, market?.tokenIds[1] ?? '')
    .replaceAll(sample.condition, market?.conditionId ?? '')
    .replaceAll(sample.wallet, wallet);
}

interface Answer {
  readonly status: number;
  readonly codes: readonly unknown[];
  readonly text: string;
}

const triesMax = 20;
const betweenTriesMs = 250;

/** A 503 of a busy machine says nothing about who may call: the request is signed and sent again. */
async function ask(base: string, route: Route, principal: Caller): Promise<Answer> {
  for (let tries = 1; ; tries += 1) {
    const answer = await askOnce(base, route, principal);
    if (answer.status !== 503 || tries === triesMax) return answer;
    await wait(betweenTriesMs);
  }
}

async function askOnce(base: string, route: Route, principal: Caller): Promise<Answer> {
  const asked = askedOf(route, principal);
  const bySignature = route.auth.includes('l1') && !route.auth.includes('l2');
  const proof = await callers.headersOf(principal, asked, bySignature);
  const { method, url, body } = asked;
  const response = await fetch(base + url, {
    method,
    redirect: 'manual',
    headers: { ...(body === '' ? {} : { 'content-type': 'application/json' }), ...proof },
    body: body === '' ? null : body,
    signal: AbortSignal.timeout(30_000),
  });
  const text = await response.text();
  return { status: response.status, codes: codesOf(text), text };
}

function codesOf(text: string): readonly unknown[] {
  try {
    return [JSON.parse(text) as unknown].flat().map((one) => (one as { code?: unknown })?.code);
  } catch {
    return [];
  }
}

const statuses = { read_only_key: 403, user_banned: 400, closed_only: 400 } as const;
const accessCodes: readonly unknown[] = Object.keys(statuses);

/** The answer in the words of the table. */
function read({ status, codes, text }: Answer): string {
  const [code] = codes.filter((one) => accessCodes.includes(one));
  if (status === 403 && text.includes('it takes the role')) return 'roleless';
  // Response of the operator's listener after some bad tokens from one address.
  if (status === 429) return 'unproven';
  if (status === 401) return 'unproven';
  if (code !== undefined) return `${status} ${String(code)}`;
  if (status >= 500) return `failed with ${status}`;
  return 'served';
}

function wanted(access: Access): string {
  if (access.kind === 'refused')
    return `${access.each ? 200 : statuses[access.code]} ${access.code}`;
  return access.kind;
}

/** Cells whose answer differs, in words. */
async function differences(
  base: string,
  all: readonly Route[],
  tableOf: (route: Route) => Readonly<Partial<Record<Caller, Access>>>,
): Promise<readonly string[]> {
  const last = (route: Route) => Number(nameOf(route) === revoking);
  const found: string[] = [];
  for (const route of all.toSorted((left, right) => last(left) - last(right))) {
    const table = Object.entries(tableOf(route)) as readonly (readonly [Caller, Access])[];
    for (const [principal, access] of table) {
      const answer = await ask(base, route, principal);
      const [is, should] = [read(answer), wanted(access)];
      if (is !== should)
        found.push(`${nameOf(route)} by ${principal}: ${is} (${answer.status}), not ${should}`);
    }
  }
  return found;
}

test('every public route answers every caller as the table of access says', async () => {
  const found = await differences(exchange.baseUrls[0], routes as readonly Route[], (route) =>
    accessOf(route as (typeof routes)[number]),
  );
  expect(found).toEqual([]);
}, 300_000);

const ofOperator = Object.values(operatorRoutes) as readonly Route[];

test('every route of the operator answers every caller as the table of access says', async () => {
  const base = `http://${loopback}:${exchange.ports.operator}`;
  const found = await differences(base, ofOperator, (route) =>
    operatorAccessOf(route as (typeof operatorRoutes)[keyof typeof operatorRoutes]),
  );
  expect(found).toEqual([]);
}, 300_000);

test('no path of the operator is there on the public listener, whoever asks', async () => {
  expect(operatorPathInPublic).toEqual({ kind: 'absent' });
  for (const base of [exchange.baseUrls[0], `http://${loopback}:${exchange.ports.ingress}`]) {
    for (const route of ofOperator) {
      const statusFor = async (principal: Principal) =>
        [base, nameOf(route), principal, (await ask(base, route, principal)).status] as const;
      const answers = await Promise.all(names.map(statusFor));
      expect(answers).toEqual(names.map((principal) => [base, nameOf(route), principal, 404]));
    }
  }
}, 300_000);
