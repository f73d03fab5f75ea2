import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { operatorsFileIn } from '@pm/deploy/setup/operators';
import { addOperator, removeOperator } from '@pm/operate/operators/operators-file';
import {
  call,
  ExchangeUnderTest,
  order,
  place,
  until as untilTrue,
} from '../exchange-under-test.ts';
import { askOperator } from './ask-operator.ts';

let exchange: ExchangeUnderTest;
beforeAll(async () => {
  exchange = await ExchangeUnderTest.openLone('operators', 1);
}, 300_000);
afterAll(() => exchange?.close(), 60_000);

/** Time between two askings, milliseconds: ten wrong tokens of an address a minute are too many. */
const retryMs = 400;

/** Longest time after which a change of the file counts, milliseconds, on a busy machine. */
const pollBoundMs = 3_000;

const ask = (token: string, path: string, body?: object, port = exchange.operatorProcess.port) =>
  askOperator({ port }, token, path, body);

/** Asks again until the answer is as it should be. Rejects with the last answer after `pollBoundMs`. */
async function askUntil<T>(asking: () => Promise<T>, isRight: (answer: T) => boolean): Promise<T> {
  const endMs = performance.now() + pollBoundMs;
  for (;;) {
    const answer = await asking();
    if (isRight(answer)) return answer;
    if (performance.now() > endMs) throw new Error(`still ${JSON.stringify(answer)}`);
    await wait(retryMs);
  }
}

/** Waits until a token gets this status. */
async function until(token: string, status: number): Promise<void> {
  await askUntil(
    () => ask(token, 'status'),
    (answer) => answer.status === status,
  );
}

/** The newest requests of the trail, once the newest is of this action: the process reads it from its topic. */
async function trail(token: string, newest: string): Promise<unknown> {
  const { body } = await askUntil(
    () => ask(token, 'audit?limit=3'),
    (answer) => JSON.stringify(answer.body).includes(newest),
  );
  return body;
}

test('the operator’s listener is on loopback, in a process of its own, wherever the public one is', async () => {
  // A second address of the loopback interface stands for a public one.
  const publicHost = '127.0.0.2';
  const { process, port } = await exchange.openIngress(publicHost);
  const { port: operatorPort } = exchange.operatorProcess;
  const open = async (url: string) =>
    await fetch(url).then(
      ({ status }) => status,
      () => 'closed',
    );
  expect(await open(`http://${publicHost}:${port}/ok`)).toBe(200);
  expect(await open(`http://127.0.0.1:${port}/ok`)).toBe('closed');
  expect(await open(`http://127.0.0.1:${operatorPort}/operator/status`)).toBe(401);
  expect(await open(`http://${publicHost}:${operatorPort}/operator/status`)).toBe('closed');
  expect(await open(`http://${publicHost}:${port}/operator/status`)).toBe(404);
  process.kill('SIGTERM');
});

test('what a web page may have sent is refused, also with the token of an operator', async () => {
  const { operatorToken } = exchange.keys;
  const statusOf = (headers: Record<string, string>) =>
    new Promise<number | undefined>((resolve, reject) => {
      const { port } = exchange.operatorProcess;
      const authorization = `Bearer ${operatorToken}`;
      const options = { port, path: '/operator/status', headers: { authorization, ...headers } };
      request(options, (response) => resolve(response.resume().statusCode))
        .on('error', reject)
        .end();
    });
  expect(await statusOf({})).toBe(200);
  expect(await statusOf({ host: 'page.example' })).toBe(403);
  expect(await statusOf({ origin: 'https://page.example' })).toBe(403);
  expect(await statusOf({ 'sec-fetch-site': 'cross-site' })).toBe(403);
});

test('an operator is added with a role, is named on the trail, and is refused once removed', async () => {
  const file = operatorsFileIn(exchange.folder);
  const token = addOperator(file, { name: 'vera', roles: ['viewer'] });
  const catalogToken = addOperator(file, { name: 'carl', roles: ['catalog'] });
  for (const added of [token, catalogToken]) await until(added, 200);
  const halt = { mode: 'HALTED' };
  expect(await ask(token, 'markets/1/mode', halt)).toEqual({
    status: 403,
    body: { error: 'it takes the role catalog' },
  });
  expect((await ask(catalogToken, 'markets/1/mode', halt)).status).toBe(200);
  expect((await ask(catalogToken, 'trading-mode', { mode: 'OPEN' })).status).toBe(403);
  expect(await trail(token, 'POST /operator/trading-mode')).toMatchObject({
    entries: [
      { who: 'carl', action: 'POST /operator/trading-mode', status: 403 },
      { who: 'carl', action: 'POST /operator/markets/:id/mode', status: 200 },
      { who: 'vera', action: 'POST /operator/markets/:id/mode', status: 403 },
    ],
  });
  removeOperator(file, 'carl');
  await until(catalogToken, 401);
  expect((await ask(token, 'status')).status).toBe(200);
});

test('a resolution waits for a second person, survives a restart, and expires', async () => {
  const file = operatorsFileIn(exchange.folder);
  const rita = addOperator(file, { name: 'rita', roles: ['resolver'] });
  const ron = addOperator(file, { name: 'ron', roles: ['resolver'] });
  const two = { PM_SECOND_PERSON: 'on', PM_DEPOSIT_LIMIT_USDC: '100' };
  const first = await exchange.openOperator(two);
  const resolution = { payout0: '1' };
  const asked = await ask(rita, 'markets/1/resolve', resolution, first.port);
  expect(asked).toMatchObject({ status: 202, body: { state: 'pending', requestedBy: 'rita' } });
  const { id } = asked.body as { readonly id: string };
  first.process.kill('SIGKILL');
  const short = { ...two, PM_APPROVAL_SECONDS: '1' };
  const { process, port } = await exchange.openOperator(short);
  const decide = (token: string) => ask(token, `approvals/${id}`, { decision: 'approve' }, port);
  expect(await decide(rita)).toEqual({ status: 403, body: { error: 'a second person decides' } });
  expect(await decide(ron)).toMatchObject({
    status: 200,
    body: { approval: { state: 'approved', decidedBy: 'ron' }, result: { payout0: '1' } },
  });
  const owner = exchange.keys.operatorToken;
  const amount = '100.000001';
  const transferId = `0x${'7e'.repeat(32)}`;
  const deposits = { deposits: [{ transferId, wallet: `0x${'5a'.repeat(20)}`, amount }] };
  const waiting = await ask(owner, 'deposits', deposits, port);
  expect(waiting).toMatchObject({ status: 202, body: { state: 'pending', action: 'deposit' } });
  const { id: late } = waiting.body as { readonly id: string };
  const tina = addOperator(file, { name: 'tina', roles: ['treasury'] });
  // Its token is known before, or the answer would be another one.
  await untilTrue(async () => {
    const isKnown = (await ask(tina, 'status', undefined, port)).status === 200;
    const { body } = await ask(owner, `approvals/${late}`, undefined, port);
    if (!isKnown) await wait(retryMs);
    return isKnown && (body as { readonly state: string }).state === 'expired';
  });
  const answer = await ask(tina, `approvals/${late}`, { decision: 'approve' }, port);
  expect(answer).toEqual({
    status: 409,
    body: { error: 'it has expired: send the request again' },
  });
  process.kill('SIGTERM');
}, 120_000);

test('the question of a market is final once tokens of it were made, also for a process that has just started', async () => {
  const market = { slug: 'final', question: 'Final?', minOrderSize: '1' };
  const listed = await exchange.operator.importEvents([
    { slug: 'final', title: 'Final', markets: [market] },
  ]);
  const { id = '', conditionId = '' } = listed.markets[0] ?? {};
  const change = async (question: string, process = exchange.operatorProcess) =>
    (await exchange.operate('PATCH', `markets/${id}`, { question }, process)).status;
  expect(await change('Really final?')).toBe(200);
  const trader = await exchange.openTrader('100');
  const body = JSON.stringify({ conditionId, amount: '1', id: `0x${'f1'.repeat(32)}` });
  await untilTrue(async () => {
    const split = await call(exchange.ingress, trader, 'POST', '/account/split', { body });
    return split.status === 200;
  });
  let changes = 0;
  // The operator's process reads the split some milliseconds after its answer.
  await untilTrue(async () => {
    changes += 1;
    return (await change(`Never ${changes}?`)) === 409;
  });
  const restarted = await exchange.openOperator();
  expect(await change('Never again?', restarted)).toBe(409);
  restarted.process.kill('SIGTERM');
}, 120_000);

test('a market is halted while no ingress runs, and orders are booked while no process of the operator does', async () => {
  const market = { slug: 'apart', question: 'Apart?', minOrderSize: '1' };
  const listed = await exchange.operator.importEvents([
    { slug: 'apart', title: 'Apart', markets: [market] },
  ]);
  const { id = '', tokenIds: [token = ''] = [] } = listed.markets[0] ?? {};
  const trader = await exchange.openTrader('100');
  const admin = exchange.keys.operatorToken;
  await killed(exchange.ingress.process);
  expect((await ask(admin, `markets/${id}/mode`, { mode: 'HALTED' })).status).toBe(200);
  const ingress = await exchange.openIngress();
  // Until it has read an execution of the partition it takes no orders.
  const tryOne = async () =>
    JSON.stringify((await place(ingress, trader, [order(trader, token)])).body);
  await untilTrue(async () => (await tryOne()).includes('condition_paused'));
  expect((await ask(admin, `markets/${id}/mode`, { mode: 'OPEN' })).status).toBe(200);
  await killed(exchange.operatorProcess.process);
  await untilTrue(async () => (await tryOne()).includes('"status":"live"'));
}, 120_000);

async function killed(process: ChildProcess): Promise<void> {
  const ended = once(process, 'exit');
  process.kill('SIGKILL');
  await ended;
}
