import { openHttp, refuse } from '@pm/kit/http';
import { silentLog } from '@pm/kit/log';

/** Errors that the door words itself are in the words of the route's family (docs/conventions.md 1.0). */
const app = openHttp({ log: silentLog, bodyLimitBytes: 100 });
app.post('/comments', async (_request, reply) => refuse(reply, 'invalid_l2'));
app.post('/order', async (_request, reply) => refuse(reply, 'invalid_l2'));
app.put('/gamma/profile', async () => {
  throw new Error('inside');
});
afterAll(() => app.close());

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
  expect(await send('POST', '/comments', `"${'x'.repeat(200)}"`)).toEqual([
    413,
    { type: 'bad request', error: 'the body is too large' },
  ]);
  expect(await send('PUT', '/gamma/profile')).toEqual([
    500,
    { type: 'internal error', error: 'internal error' },
  ]);
});
