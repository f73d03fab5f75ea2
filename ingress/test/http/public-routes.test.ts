import { openHttp, registerRoutes } from '@pm/kit/http';
import { silentLog } from '@pm/kit/log';
import { refusalText } from '@pm/schemas/refusals';
import { routes } from '@pm/schemas/routes/routes';
import { headers as names } from '@pm/schemas/signing';
import { wrongResponsesToMethods } from '../../../kit/test/http/odd-methods.ts';
import { healthRoutes } from '../../src/http/health.route.ts';
import { type IngressUnderTest, nowSeconds, openIngress, owner } from '../ingress-fixture.ts';
import { accepted } from '../signing-fixture.ts';
import { digestOf, hashStruct, separatorOf, walletOf } from '../wallet-fixture.ts';

let ingress: IngressUnderTest;
beforeAll(async () => {
  ingress = await openIngress();
});
afterAll(() => ingress.app.close());

const [rootRoute] = healthRoutes({ clock: { nowMs: () => 0 }, domains: accepted });
if (rootRoute === undefined) throw new Error('a first route');

test.each([
  ['/', '*/*', 'text/plain; charset=utf-8', 'OK'],
  ['/', 'application/json, text/plain', 'text/plain; charset=utf-8', 'OK'],
  ['/', 'application/json', 'application/json; charset=utf-8', '{"data":"OK"}'],
  [
    '/signing-domain',
    '*/*',
    'application/json; charset=utf-8',
    JSON.stringify({ ...accepted.own, familyDomains: accepted.family }),
  ],
  ['/ok', '*/*', 'application/json; charset=utf-8', '"OK"'],
  ['/time', '*/*', 'application/json; charset=utf-8', String(nowSeconds)],
  ['/version', '*/*', 'application/json; charset=utf-8', '{"version":2}'],
])('GET %s for %s is %s %s, at the root and under the mount', async (url, accept, type, text) => {
  for (const at of [url, `/clob${url}`]) {
    // All SDKs of the family send a JSON content type without a body.
    const headers = { accept, 'content-type': 'application/json' };
    const answer = await ingress.app.inject({ url: at, headers });
    expect([answer.statusCode, answer.headers['content-type'], answer.body]).toEqual([
      200,
      type,
      text,
    ]);
  }
});

test('a browser at the root is sent to the console, a program under the mounts is not', async () => {
  const headers = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
  const answer = await ingress.app.inject({ url: '/', headers });
  expect([answer.statusCode, answer.headers.location]).toEqual([302, '/console/']);
  for (const url of ['/clob', '/clob/', '/data-api']) {
    expect((await ingress.app.inject({ url, headers })).statusCode).toBe(200);
  }
  expect((await ingress.app.inject('/')).body).toBe('OK');
});

test('the root of /data-api is the health of the data family', async () => {
  for (const url of ['/data-api', '/data-api/']) {
    const answer = await ingress.app.inject({ url, headers: { accept: '*/*' } });
    expect([answer.statusCode, answer.json()]).toEqual([200, { data: 'OK' }]);
  }
});

test('every route has an answer to every method', async () => {
  const table = routes.filter((route) => route.service === 'ingress');
  expect(await wrongResponsesToMethods(ingress.app, table)).toEqual([]);
});

test('the service refuses to start when its routes are not those of the table', () => {
  const app = openHttp({ log: silentLog, bodyLimitBytes: 1000 });
  expect(() => registerRoutes(app, 'ingress', [rootRoute])).toThrow(/routes_differ.*POST \/order/);
  const unknown = { ...rootRoute, path: '/unknown' };
  expect(() => registerRoutes(app, 'ingress', [unknown])).toThrow(/unknown=GET \/unknown/);
});

function attestation(
  nonce: number,
  chainId: number,
  wallet = owner,
  timestamp = String(nowSeconds),
) {
  const fields = [
    { name: 'address', type: 'address' },
    { name: 'timestamp', type: 'string' },
    { name: 'nonce', type: 'uint256' },
    { name: 'message', type: 'string' },
  ];
  const message = 'This message attests that I control the given wallet';
  const values = { address: owner.address, timestamp, nonce, message };
  const struct = hashStruct(
    'ClobAuth(address address,string timestamp,uint256 nonce,string message)',
    fields,
    values,
  );
  const digest = digestOf(separatorOf({ name: 'ClobAuthDomain', version: '1', chainId }), struct);
  return {
    [names.address]: owner.address,
    [names.signature]: wallet.sign(digest),
    [names.timestamp]: timestamp,
    [names.nonce]: String(nonce),
  };
}

const create = (headers: Record<string, string>, payload?: string) =>
  ingress.app.inject({
    method: 'POST',
    url: '/auth/api-key',
    headers: { 'content-type': 'application/json', ...headers },
    ...(payload === undefined ? {} : { payload }),
  });
const derive = (headers: Record<string, string>) =>
  ingress.app.inject({ url: '/auth/derive-api-key?nonce=5', headers });

test('a wallet gets one key per nonce, the same from either chain, made once', async () => {
  const missing = await derive(attestation(23, 137));
  expect([missing.statusCode, missing.json()]).toEqual([
    404,
    { error: 'Could not derive api key!' },
  ]);
  const known = ingress.accounts.credentials.records.length;
  const made = await create(attestation(23, 137), '{"nonce":5}');
  expect(made.statusCode).toBe(200);
  const trio = made.json();
  expect(trio.apiKey).toMatch(
    /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  );
  expect(trio.secret).toMatch(/^[A-Za-z0-9_-]{43}=$/);
  expect(trio.passphrase).toMatch(/^[0-9a-f]{64}$/);
  expect((await create(attestation(23, 80002))).json()).toEqual(trio);
  expect((await derive(attestation(23, 80002))).json()).toEqual(trio);
  expect((await create(attestation(24, 137))).json().apiKey).not.toBe(trio.apiKey);
  expect(ingress.accounts.credentials.records).toHaveLength(known + 2);
});

test.each([
  ['another wallet', () => attestation(1, 137, walletOf(9))],
  ['another chain', () => attestation(1, 1)],
  ['another nonce', () => ({ ...attestation(1, 137), [names.nonce]: '2' })],
  ['no nonce in decimal', () => ({ ...attestation(1, 137), [names.nonce]: '0x1' })],
  ['no signature', () => ({ ...attestation(1, 137), [names.signature]: '' })],
  ['no headers', () => ({})],
])('a request for a key with %s is refused', async (_name, make) => {
  for (const answer of [await create(make()), await derive(make())]) {
    expect([answer.statusCode, answer.json()]).toEqual([401, { error: refusalText('invalid_l1') }]);
  }
});

test('a request for a key whose time is off gets the time, with the text that clients know', async () => {
  for (const seconds of [nowSeconds - 400, nowSeconds + 400]) {
    const answer = await create(attestation(1, 137, owner, String(seconds)));
    expect([answer.statusCode, answer.json()]).toEqual([
      401,
      {
        error: refusalText('invalid_l1'),
        code: 'timestamp_skew',
        server_time: ingress.services.clock.nowMs(),
      },
    ]);
  }
});
