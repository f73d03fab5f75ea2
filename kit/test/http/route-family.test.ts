import { openHttp } from '../../src/http/open.io.ts';
import { refuse } from '../../src/http/refuse.io.ts';
import { silentLog } from '../../src/log/index.ts';

/** Errors of the HTTP layer itself have the format of the route's family (conventions.md 1.2). */
const app = openHttp({ log: silentLog, bodyLimitBytes: 100 });
app.post('/comments', async (_request, reply) => refuse(reply, 'invalid_l2'));
app.post('/order', async (_request, reply) => refuse(reply, 'invalid_l2'));
app.get('/events/:id', async () => ({}));
app.get('/markets/:id', async () => ({}));
app.put('/gamma/profile', async () => {
  throw new Error('inside');
});
afterAll(() => app.close());

const get = async (url: string) => {
  const answer = await app.inject(url);
  return [answer.statusCode, answer.json()];
};

const send = async (method: 'POST' | 'PUT', url: string, payload = '{}') => {
  const headers = { 'content-type': 'application/json' };
  const answer = await app.inject({ method, url, payload, headers });
  return [answer.statusCode, answer.json()];
};

test('errors of the catalog family carry their type, those of other families do not', async () => {
  const error = 'Unauthorized/Invalid api key';
  expect(await send('POST', '/comments')).toEqual([
    401,
    { type: 'bad request', error, code: 'invalid_l2' },
  ]);
  expect(await send('POST', '/order')).toEqual([401, { error, code: 'invalid_l2' }]);
});

test('so do bodies that no route sees and faults', async () => {
  expect(await send('POST', '/comments', '{')).toEqual([
    400,
    { type: 'bad request', error: 'the body is not JSON' },
  ]);
  expect(await send('POST', '/comments', `"${'x'.repeat(40_000)}"`)).toEqual([
    413,
    { type: 'bad request', error: 'the body is too large' },
  ]);
  expect(await send('PUT', '/gamma/profile')).toEqual([
    500,
    { type: 'internal error', error: 'internal error' },
  ]);
});

test.each([
  ['/no/such/path', { error: 'not found' }],
  ['/', { error: 'not found' }],
  ['/clob/events', { error: 'not found' }],
  ['/gamma/nothing', { type: 'not found error', error: 'not found' }],
  ['/gamma', { type: 'not found error', error: 'not found' }],
  ['/events/7/nothing?slug=/data-api', { type: 'not found error', error: 'not found' }],
  ['http://example.test/gamma?x', { type: 'not found error', error: 'not found' }],
  ['/data-api/nothing', { error: 'not_found: not found' }],
  ['/positions/of/nobody', { error: 'not_found: not found' }],
  ['/data-apis', { error: 'not found' }],
])(
  '%s, which matches no route, has the error format of the family of its beginning',
  async (url, body) => {
    expect(await get(url)).toEqual([404, body]);
  },
);

test('so is a path that no route gets to see', async () => {
  const undecodable = 'the path cannot be decoded';
  expect(await get('/events/%ff')).toEqual([400, { type: 'bad request', error: undecodable }]);
  expect(await get('/data-api/%')).toEqual([400, { error: `bad_request: ${undecodable}` }]);
  expect(await get('/order/%c3')).toEqual([400, { error: undecodable }]);
  const error = 'a part of the path is too long';
  // The first routes of `/markets` are of another family than those with a parameter.
  for (const beginning of ['/events', '/markets']) {
    const long = await get(`${beginning}/${'1'.repeat(257)}`);
    expect(long).toEqual([414, { type: 'bad request', error }]);
  }
});

test('the family of a path of any length is found at once', async () => {
  expect(await get(`/gamma${'/'.repeat(1 << 20)}`)).toMatchObject([
    404,
    { type: 'not found error' },
  ]);
});
