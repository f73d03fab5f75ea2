import { setTimeout as wait } from 'node:timers/promises';
import { operatorsFileIn } from '@pm/deploy/setup/operators';
import { addOperator, removeOperator } from '@pm/operate/operators/operators-file';
import { ExchangeUnderTest } from '../exchange-under-test.ts';

let exchange: ExchangeUnderTest;
beforeAll(async () => {
  exchange = await ExchangeUnderTest.open('operators', 1);
}, 300_000);
afterAll(() => exchange?.close(), 60_000);

/** Longest time after which a change of the file counts, milliseconds, on a busy machine. */
const pollBoundMs = 3_000;

async function ask(token: string, path: string, body?: object) {
  const { operatorPort } = exchange.ingresses[0];
  const response = await fetch(`http://127.0.0.1:${operatorPort}/operator/${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as never };
}

/** Asks again until the answer is as it should be. Rejects with the last answer after `pollBoundMs`. */
async function askUntil<T>(asking: () => Promise<T>, isRight: (answer: T) => boolean): Promise<T> {
  const endMs = performance.now() + pollBoundMs;
  for (;;) {
    const answer = await asking();
    if (isRight(answer)) return answer;
    if (performance.now() > endMs) throw new Error(`still ${JSON.stringify(answer)}`);
    await wait(100);
  }
}

/** Waits until a token gets this status. */
async function until(token: string, status: number): Promise<void> {
  await askUntil(
    () => ask(token, 'status'),
    (answer) => answer.status === status,
  );
}

/** The newest requests of the trail, once the newest is of this action: ingress reads it from its topic. */
async function trail(token: string, newest: string): Promise<unknown> {
  const { body } = await askUntil(
    () => ask(token, 'audit?limit=3'),
    (answer) => JSON.stringify(answer.body).includes(newest),
  );
  return body;
}

test('the operator’s listener is on loopback wherever the public one is', async () => {
  // A second address of the loopback interface stands for a public one.
  const publicHost = '127.0.0.2';
  const { process, port, operatorPort } = await exchange.openIngress(publicHost);
  const open = async (url: string) =>
    await fetch(url).then(
      ({ status }) => status,
      () => 'closed',
    );
  expect(await open(`http://${publicHost}:${port}/ok`)).toBe(200);
  expect(await open(`http://127.0.0.1:${port}/ok`)).toBe('closed');
  expect(await open(`http://127.0.0.1:${operatorPort}/operator/status`)).toBe(401);
  expect(await open(`http://${publicHost}:${operatorPort}/operator/status`)).toBe('closed');
  process.kill('SIGTERM');
});

test('an operator is added with a role, is named on the trail, and is refused once removed', async () => {
  const file = operatorsFileIn(exchange.folder);
  const token = addOperator(file, { name: 'vera', roles: ['viewer'] });
  const catalogToken = addOperator(file, { name: 'carl', roles: ['catalog'] });
  await until(token, 200);
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
