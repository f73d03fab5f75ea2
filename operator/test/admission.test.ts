import { METHODS } from 'node:http';
import { mayUse } from '@pm/domain/operators/operators';
import { type OperatorRole, operatorRoles } from '@pm/schemas/operators';
import type { OperatorRouteDeclaration } from '@pm/schemas/routes/route';
import { operatorRoutes } from '@pm/schemas/routes/routes';
import { connectTo } from '../../kit/test/http/raw-talk.ts';
import { operatorLimits } from '../src/admission.io.ts';
import { listenerName, openOperator, token, tokenNamed } from './operator-fixture.ts';

const declared: readonly OperatorRouteDeclaration[] = Object.values(operatorRoutes);
const perPair = operatorRoles.flatMap((role) =>
  declared.map((route) => [role, `${route.method} ${route.path}`, route] as const),
);

const bearer = (shown: string) => ({ authorization: `Bearer ${shown}` });
let operator: Awaited<ReturnType<typeof openOperator>>;
beforeEach(async () => {
  operator = await openOperator();
});
afterEach(() => operator.app.close());

/** The first example of a route, by an operator with one token. */
async function ask(route: OperatorRouteDeclaration, shown: string) {
  const [{ params = {}, body }] = route.examples;
  const url = route.path.replace(/:(\w+)/g, (_all, name: string) => params[name] ?? '');
  const answer = await operator.app.inject({
    method: route.method,
    url,
    headers: bearer(shown),
    ...(body === undefined ? {} : { payload: body as object }),
  });
  return { status: answer.statusCode, body: answer.json() };
}

test.each(perPair)('%s is admitted to %s as its role says', async (role, _name, route) => {
  const { status, body } = await ask(route, tokenNamed(role));
  const refused = [403, { error: `it takes the role ${route.role}` }];
  if (mayUse([role], route.role)) expect([401, 403, 429]).not.toContain(status);
  else expect([status, body]).toEqual(refused);
});

test('money, resolutions and the mode of all markets have roles of their own', () => {
  const byRole = (role: OperatorRole) =>
    Object.entries(operatorRoutes).flatMap(([name, route]) => (route.role === role ? [name] : []));
  expect(byRole('treasury')).toEqual([
    ...['deposit', 'payOut', 'setWithdrawalFreeze', 'bindWallets', 'setWalletStatus'],
  ]);
  expect(byRole('resolver')).toEqual(['resolveMarket']);
  expect(byRole('admin')).toEqual(['setTradingMode']);
  const reads = declared.filter(({ method }) => method === 'GET');
  expect(reads.map(({ role }) => role)).toEqual(reads.map(() => 'viewer'));
});

test('a change that no role opens is on the audit trail, a read is not', async () => {
  const { deposit, setTradingMode } = operatorRoutes;
  await ask(deposit, tokenNamed('viewer'));
  await ask(setTradingMode, tokenNamed('catalog'));
  const { entries } = (await operator.get('/operator/audit')).body;
  expect(entries).toMatchObject([
    { who: 'catalog', action: 'POST /operator/trading-mode', status: 403 },
    { who: 'viewer', action: 'POST /operator/deposits', status: 403 },
  ]);
  expect(operator.transfers).toEqual([]);
});

test('a token that was removed or has expired opens nothing', async () => {
  const status = async () => (await operator.get('/operator/status')).status;
  expect(await status()).toBe(200);
  const { operators } = operator.fakes;
  if (operators === 'unreadable') throw new Error('there are operators');
  operator.fakes.operators = operators.map((one) => ({
    ...one,
    expiresAt: '2023-11-14T22:13:21Z',
  }));
  expect(await status()).toBe(200);
  operator.fakes.nowMs += 1_000;
  expect(await status()).toBe(401);
  operator.fakes.operators = operators.filter(({ name }) => name !== 'operator');
  expect(await status()).toBe(401);
});

test('no operator is admitted while the operators cannot be read', async () => {
  operator.fakes.operators = 'unreadable';
  expect(await operator.get('/operator/status')).toMatchObject({
    status: 503,
    body: { error: 'the operators cannot be read', retry_after_seconds: 1 },
  });
});

describe('limits', () => {
  const from = async (remoteAddress: string, shown: string | null) => {
    const url = '/operator/status';
    const headers = shown === null ? {} : bearer(shown);
    const answer = await operator.app.inject({ url, remoteAddress, headers });
    return { status: answer.statusCode, wait: answer.headers['retry-after'] };
  };

  test.each([
    ['with tokens of no operator', 'wrong'],
    ['without a token', null],
  ])(
    'requests %s are limited by address, which locks out no operator there',
    async (_how, shown) => {
      for (let sent = 0; sent < operatorLimits.strangers.most; sent += 1)
        expect((await from('10.0.0.1', shown)).status).toBe(401);
      expect(await from('10.0.0.1', shown)).toEqual({ status: 429, wait: '40' });
      expect((await from('10.0.0.1', token)).status).toBe(200);
      expect((await from('10.0.0.2', shown)).status).toBe(401);
      operator.fakes.nowMs += 40_000;
      expect((await from('10.0.0.1', shown)).status).toBe(401);
    },
  );

  test('12,000 requests without a token lock no operator of their address out', async () => {
    for (let sent = 0; sent < 12_000; sent += 1) await from('10.0.0.1', null);
    expect(await from('10.0.0.1', null)).toMatchObject({ status: 429 });
    expect(await from('10.0.0.1', token)).toMatchObject({ status: 200 });
  }, 30_000);

  test('requests of one operator are limited whatever their address', async () => {
    const { most } = operatorLimits.operator;
    for (let sent = 0; sent < most; sent += 1) {
      const { status } = await from(`10.0.0.${sent % 4}`, token);
      if (status !== 200) throw new Error(`request ${sent} was ${status}`);
    }
    expect((await from('10.0.0.9', token)).status).toBe(429);
    expect((await from('10.0.0.9', tokenNamed('alice'))).status).toBe(200);
  }, 30_000);
});

describe('a web page', () => {
  beforeEach(() => operator.app.listen({ host: '127.0.0.1', port: 0 }));

  /** The status of a request with the token of an operator, and whether the connection ends with it. */
  const statusOf = async (line: string, headers: readonly string[]) => {
    const talk = await connectTo(operator.app);
    const head = [`${line} HTTP/1.1`, `Authorization: Bearer ${token}`, ...headers];
    talk.send(`${head.join('\r\n')}\r\n\r\n`);
    const answer = await talk.hears('\r\n\r\n');
    talk.close();
    return [/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1], /^connection: close/im.test(answer)];
  };
  const ofPages = [
    ['Host: page.example'],
    ['Host: 127.0.0.1.page.example:80'],
    ['Host: localhost', 'Origin: https://page.example'],
    ['Host: localhost', 'Origin: null'],
    ['Host: localhost:80', 'Origin: http://localhost:81'],
    ['Host: localhost', 'Sec-Fetch-Site: cross-site'],
    ['Host: localhost', 'Sec-Fetch-Site: same-site'],
  ];

  test('is refused before routing, whatever the method and path, and with the token', async () => {
    // CONNECT names no path, and Node ends its connection without a listener.
    for (const method of METHODS.filter((name) => name !== 'CONNECT'))
      for (const headers of ofPages)
        expect([
          method,
          headers,
          ...(await statusOf(`${method} /operator/status`, headers)),
        ]).toEqual([method, headers, '403', true]);
    for (const path of ['/', '/operator/%ff', '/operator/nothing'])
      for (const headers of ofPages)
        expect([path, headers, ...(await statusOf(`GET ${path}`, headers))]).toEqual([
          ...[path, headers, '403', true],
        ]);
    const { entries } = (await operator.get('/operator/audit')).body;
    expect(entries).toEqual([]);
  });

  test('of the listener itself is none, nor is a tool at any of its names', async () => {
    for (const headers of [
      ['Host: localhost:1'],
      ['Host: 127.0.0.1'],
      ['Host: [::1]:18002'],
      [`Host: ${listenerName}:443`, `Origin: https://${listenerName}:443`],
      ['Host: localhost', 'Sec-Fetch-Site: none'],
      ['Host: localhost', 'Origin: http://localhost', 'Sec-Fetch-Site: same-origin'],
    ])
      expect([headers, ...(await statusOf('GET /operator/status', headers))]).toEqual([
        ...[headers, '200', false],
      ]);
  });
});
