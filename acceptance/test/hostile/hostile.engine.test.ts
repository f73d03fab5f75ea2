import { Agent, request as httpRequest } from 'node:http';
import { testAccounts } from '@pm/deploy/demo/wallets';
import { Dice } from '../../../kit/test/hostile/dice.ts';
import { firstSeed, runLength } from '../../../kit/test/long-runs.ts';
import { type Caller, Callers } from '../access/callers.ts';
import { WholeExchange } from '../whole-exchange.ts';
import { sendBroken } from './broken-bytes.ts';
import {
  type AnyRoute,
  type HostileRequest,
  hostileRequest,
  ofOperator,
  publicRoutes,
} from './hostile-request.ts';
import { type Answer, Judge } from './judge.ts';

// Hostile requests over connections to every listener of a running exchange (docs/testing.md).
const requests = runLength({ test: 2_000, deep: 250_000 });
const seed = firstSeed(20_261_124);
/** After so many the owner gets its key again, and trading is open again. */
const perRound = 500;
const atOnce = 16;
/** One request in this number is a connection with bytes that are no request. */
const brokenOneIn = 100;
/** How much more a process may hold at its most in the second half than at its most in the first. */
const growthMaxBytes = 96 * 1024 * 1024;
const watched = ['ingress', 'operator', 'query-api', 'streams', 'gateway'];

let exchange: WholeExchange;
let callers: Callers;
let agent: Agent;

beforeAll(async () => {
  const market = { slug: 'hostile', question: 'Hostile?', minOrderSize: '1' };
  const events = [{ slug: 'hostile', title: 'Hostile', markets: [market] }];
  exchange = await WholeExchange.open('hostile', { partitions: 2, events });
  await exchange.deposit(testAccounts().slice(0, 6), '1000');
  callers = await Callers.open(exchange);
  agent = new Agent({ keepAlive: true, maxSockets: atOnce });
}, 240_000);

afterAll(async () => {
  agent?.destroy();
  await exchange?.close();
}, 60_000);

/** The owner most often, so that requests come far. */
const publicCallers: readonly Caller[] = [
  ...(Array.from({ length: 10 }, () => 'owner') as Caller[]),
  ...(['none', 'none', 'none', 'none', 'otherKey', 'otherWallet', 'revoked'] as const),
  ...(['agent', 'pausedAgent', 'readOnly', 'closedOnly', 'banned', 'operator'] as const),
];
const operatorCallers: readonly Caller[] = [
  'admin',
  'admin',
  'viewer',
  'treasury',
  'none',
  'owner',
];

function textsOfExchange(): readonly string[] {
  const [market] = exchange.markets;
  const wallet = callers.owner.signer.checksummed;
  return [...(market?.tokenIds ?? []), market?.conditionId ?? '', wallet, '1', '10', 'MA==', '1d'];
}

async function send(base: string, sent: HostileRequest, caller: Caller): Promise<Answer> {
  const { method, url, body } = sent;
  const text = body?.toString('utf8') ?? '';
  const proof = await callers.headersOf(caller, { method, url, body: text }, false);
  const length = body === null ? {} : { 'content-length': String(body.length) };
  const headers = { ...sent.headers, ...proof, ...length };
  return await new Promise((resolve, reject) => {
    const { hostname, port } = new URL(base);
    const options = { agent, method, path: url, hostname, port, headers, timeout: 60_000 };
    const outgoing = httpRequest(options, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('error', reject);
      response.on('end', () => {
        const { statusCode: status = 0 } = response;
        resolve({ status, headers: response.headers, text: Buffer.concat(parts).toString('utf8') });
      });
    });
    outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer to ${method} ${url}`)));
    outgoing.on('error', reject);
    outgoing.end(body ?? undefined);
  });
}

/** A connection that the server ends while a body is still sent is an answer too: none is owed to such a body. */
const isCut = (error: unknown): boolean =>
  ['ECONNRESET', 'EPIPE'].includes((error as { code?: string }).code ?? '');

/** Sends rounds of requests; returns the most memory that each process held, by name. */
async function run(judge: Judge, dice: Dice, count: number): Promise<ReadonlyMap<string, number>> {
  const most = new Map<string, number>();
  const known = textsOfExchange();
  for (let sent = 0; sent < count; sent += perRound) {
    await exchange.operate('POST', 'trading-mode', { mode: 'OPEN' });
    // An operator's request among them may have banned it.
    const path = `wallets/${callers.owner.signer.address}/status`;
    await exchange.operate('POST', path, { status: 'normal', reason: 'a test' });
    await callers.renewOwner(exchange);
    let left = Math.min(perRound, count - sent);
    const worker = async () => {
      while (left > 0) {
        left -= 1;
        await one(judge, dice, known);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, worker));
    for (const { name, rssBytes } of exchange.processes) {
      most.set(name, Math.max(most.get(name) ?? 0, rssBytes));
    }
  }
  return most;
}

async function one(judge: Judge, dice: Dice, known: readonly string[]): Promise<void> {
  const isOperator = dice.isOneIn(8);
  const port = isOperator ? exchange.ports.operator : exchange.ports.gateway;
  if (dice.isOneIn(brokenOneIn)) {
    const { sent, statuses } = await sendBroken(port, dice);
    judge.broken(sent, statuses);
    return;
  }
  const all: readonly AnyRoute[] = isOperator ? ofOperator : publicRoutes;
  const request = hostileRequest(dice.pick(all), known, dice);
  const caller = dice.pick(isOperator ? operatorCallers : publicCallers);
  try {
    judge.judge(request, caller, await send(`http://127.0.0.1:${port}`, request, caller));
  } catch (error) {
    if (!isCut(error)) throw error;
    judge.count(0);
  }
}

test('hostile requests over all routes get documented answers, no 5xx, and leave no memory behind', async () => {
  const judge = new Judge();
  const dice = new Dice(seed);
  const first = await run(judge, dice, requests / 2);
  const second = await run(judge, dice, requests / 2);
  const statuses = [...judge.statuses].sort(([left], [right]) => left - right);
  const growth = watched.map((name) => [name, (second.get(name) ?? 0) - (first.get(name) ?? 0)]);
  process.stderr.write(
    `hostile: seed ${seed}, ${judge.sent} answers, by status ${JSON.stringify(statuses)}, ` +
      `bytes more in the second half ${JSON.stringify(growth)}\n`,
  );
  expect(judge.wrong).toEqual([]);
  expect(judge.sent).toBeGreaterThan(requests * 0.98);
  for (const status of [200, 400, 401, 403, 404, 415])
    expect([status, judge.statuses.get(status) ?? 0]).not.toEqual([status, 0]);
  for (const [name, bytes] of growth) {
    if (Number(bytes) > growthMaxBytes) throw new Error(`${name} holds ${bytes} bytes more`);
  }
  expect(exchange.processes.filter(({ restarts }) => restarts > 0)).toEqual([]);
}, 3_600_000);

test('after them an order rests and is canceled', async () => {
  await exchange.operate('POST', 'trading-mode', { mode: 'OPEN' });
  const added = { slug: 'after', title: 'After', markets: [{ slug: 'after', question: 'After?' }] };
  const { markets } = await exchange.operator.importEvents([added]);
  const signer = testAccounts()[5];
  if (signer === undefined) throw new Error('a sixth wallet');
  const client = exchange.client(signer);
  await client.connect();
  const intent = { tokenId: markets[0]?.tokenIds[0] ?? '', price: '0.10', size: '10' };
  const placed = await client.placeOrder({ ...intent, side: 'BUY' });
  expect(placed).toMatchObject({ success: true, status: 'live' });
  expect((await client.cancelAll()).canceled).toEqual([placed.orderID]);
}, 120_000);
