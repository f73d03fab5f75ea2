import { Type } from 'typebox';
import type { HttpApp } from '../../src/http/app.io.ts';
import { listenerBounds } from '../../src/http/listener-bounds.ts';
import { openHttp } from '../../src/http/open.io.ts';
import { silentLog } from '../../src/log/index.ts';
import { connectTo } from './raw-talk.ts';

const Order = Type.Object(
  {
    price: Type.String({ pattern: '^0\\.\\d{1,4}$' }),
    size: Type.Integer({ minimum: 1, maximum: 1e15 }),
    postOnly: Type.Optional(Type.Boolean()),
    tags: Type.Optional(Type.Array(Type.String(), { maxItems: 2 })),
    note: Type.Optional(Type.Unknown()),
  },
  { additionalProperties: false },
);

let app: HttpApp;

beforeAll(async () => {
  app = openHttp({ log: silentLog, bodyLimitBytes: 1024 });
  app.post('/shapes', { schema: { body: Order } }, async (request) => ({
    body: request.body,
    raw: request.rawBody.toString(),
  }));
  const invalid = { text: 'Invalid order payload', code: 'invalid_payload' };
  app.post('/named', { schema: { body: Order }, config: { invalid } }, async () => 'taken');
  const { tooLarge } = listenerBounds['query-api'];
  app.post('/reading', { config: { tooLarge } }, async () => 'taken');
  app.delete('/order', async (request) => ({
    body: request.body ?? null,
    raw: request.rawBody.length,
  }));
  app.get('/order', async (request) => ({ raw: request.rawBody.length, query: request.query }));
  await app.listen({ host: '127.0.0.1', port: 0 });
});

afterAll(async () => await app.close());

type Method = 'POST' | 'DELETE' | 'GET' | 'PUT';

async function send(
  payload: string | Buffer,
  {
    type = 'application/json',
    method = 'POST',
    url = '/shapes',
  }: Partial<{ type: string | null; method: Method; url: string }> = {},
) {
  const headers = type === null ? {} : { 'content-type': type };
  const answer = await app.inject({ method, url, headers, payload });
  expect(answer.headers['content-type']).toMatch(/^application\/json/);
  expect(answer.body).not.toMatch(/at \/|node_modules|stack/);
  return { status: answer.statusCode, body: JSON.parse(answer.body) };
}

const good = '{"price":"0.57","size":100}';

describe('a body', () => {
  test('arrives as it was sent, in values and in bytes', async () => {
    const spaced = '{ "size": 100,\n "price": "0.57" }';
    expect(await send(spaced)).toEqual({
      status: 200,
      body: { body: { price: '0.57', size: 100 }, raw: spaced },
    });
  });

  test.each([
    'application/json',
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
    'Application/JSON; charset="utf-8"',
  ])('is taken as %s', async (type) => {
    expect((await send(good, { type })).status).toBe(200);
  });

  test.each([
    'text/plain',
    'text/plain;charset=UTF-8',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonp',
    'application/json-patch+json',
    'application/json; charset=utf-16',
    'application/json\t;x',
    'application/json, text/plain',
    'application/json/x',
    'json',
    '*/*',
    'application/',
    ' ',
  ])('is refused with 415 as %j', async (type) => {
    expect(await send(good, { type })).toEqual({
      status: 415,
      body: { error: 'the content type of a body is application/json' },
    });
  });

  test('is refused with 415 without a content type', async () => {
    expect((await send(Buffer.from(good), { type: null })).status).toBe(415);
  });

  test('is never taken unvalidated, whatever the content type', async () => {
    const names = ['application', 'APPLICATION', 'text', 'application/json', ''];
    const tails = [
      '/json',
      '/JSON ',
      '/json;',
      '/json;;',
      '/json; a=b',
      '/json\u00a0',
      ';charset=utf-8',
      '+json',
      '/json;charset',
      '/json;charset=utf-8;charset=utf-7',
    ];
    for (const name of names) {
      for (const tail of tails) {
        const answer = await send('{"price":1e21,"size":"100"}', { type: `${name}${tail}` });
        expect([name + tail, answer.status >= 400 && answer.status < 500]).toEqual([
          name + tail,
          true,
        ]);
      }
    }
  });

  test('beyond its limit is refused before it was sent, and the connection goes on', async () => {
    const head = 'POST /shapes HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n';
    const half = 'x'.repeat(1_000);
    const chunk = `3e8\r\n${half}\r\n`;
    for (const [first, rest] of [
      [`${head}Content-Length: 4000\r\n\r\n${half}`, half.repeat(3)],
      [`${head}Transfer-Encoding: chunked\r\n\r\n${chunk}${chunk}`, `${chunk}0\r\n\r\n`],
    ] as const) {
      const talk = await connectTo(app);
      talk.send(first);
      await talk.hears('"the body is too large"');
      talk.send(`${rest}GET /order HTTP/1.1\r\nHost: a\r\n\r\n`);
      await talk.hears('"raw":0');
      talk.close();
    }
  });

  test('is refused with 413 beyond its limit, or as its route says', async () => {
    const answer = await send(JSON.stringify({ price: '0.5', size: 1, note: 'x'.repeat(1024) }));
    expect(answer).toEqual({ status: 413, body: { error: 'the body is too large' } });
    const reading = await send(good.padEnd(2_000), { url: '/reading' });
    expect(reading).toEqual({ status: 400, body: { error: 'Payload exceeds the limit' } });
  });
});

describe('an empty body', () => {
  test('with a JSON content type is no body, for GET and DELETE', async () => {
    expect(await send('', { method: 'DELETE', url: '/order' })).toEqual({
      status: 200,
      body: { body: null, raw: 0 },
    });
    expect((await send('', { method: 'GET', url: '/order' })).status).toBe(200);
  });

  test('is not what a route with a body schema wants', async () => {
    expect(await send('')).toEqual({
      status: 400,
      body: { error: 'invalid request: body must be object' },
    });
    expect((await app.inject({ method: 'POST', url: '/shapes' })).statusCode).toBe(400);
  });

  test('does not take away the body of a DELETE that has one', async () => {
    expect(await send('{"orderID":"0x1"}', { method: 'DELETE', url: '/order' })).toEqual({
      status: 200,
      body: { body: { orderID: '0x1' }, raw: 17 },
    });
  });
});

describe('a hostile body', () => {
  test.each([
    ['a number for a text', '{"price":0.57,"size":100}', '/price must be string'],
    ['a text for a number', '{"price":"0.57","size":"100"}', '/size must be integer'],
    ['1e400', '{"price":"0.57","size":1e400}', '/size must be integer'],
    ['1e21', '{"price":"0.57","size":1e21}', '/size must be <= 1000000000000000'],
    ['1e21 for a text', '{"price":1e21,"size":1}', '/price must be string'],
    ['a fraction', '{"price":"0.57","size":1.5}', '/size must be integer'],
    ['null for a field', '{"price":null,"size":1}', '/price must be string'],
    ['null for all', 'null', 'body must be object'],
    ['an array for all', '[{"price":"0.57","size":1}]', 'body must be object'],
    ['an array for a field', '{"price":["0.57"],"size":1}', '/price must be string'],
    ['a text for an array', '{"price":"0.5","size":1,"tags":"a"}', '/tags must be array'],
    [
      'a text for a boolean',
      '{"price":"0.5","size":1,"postOnly":"true"}',
      '/postOnly must be boolean',
    ],
    [
      'a number for a boolean',
      '{"price":"0.5","size":1,"postOnly":1}',
      '/postOnly must be boolean',
    ],
    ['a field too many', '{"price":"0.57","size":1,"owner":"x"}', 'additional properties'],
    ['a field too few', '{"price":"0.57"}', 'required propert'],
    ['too many items', '{"price":"0.5","size":1,"tags":["a","b","c"]}', 'more than 2 items'],
    ['a bare text', '"x"', 'body must be object'],
  ])('with %s is refused with 400 that names the place', async (_, payload, words) => {
    const answer = await send(payload);
    expect(answer.status).toBe(400);
    expect(answer.body.error).toContain(words);
  });

  test.each([
    ['half a text', '{"price":"0.5'],
    ['two values', '{} {}'],
    ['a trailing comma', '{"price":"0.57","size":1,}'],
    ['single quotes', "{'price':'0.57'}"],
    ['NaN', '{"price":"0.57","size":NaN}'],
    ['a plus', '{"price":"0.57","size":+1}'],
    ['leading zeros', '{"price":"0.57","size":0100}'],
    ['a comment', '{"price":"0.57",/**/"size":1}'],
    ['a raw line break in a text', '{"price":"0\n.57","size":1}'],
    ['nothing but a space', ' '],
    ['a NUL', '\u0000'],
    ['__proto__', '{"price":"0.57","size":1,"__proto__":{"admin":true}}'],
    ['__proto__ in an escape', '{"price":"0.57","size":1,"\\u005f_proto__":{"admin":true}}'],
    ['__proto__ inside', '{"price":"0.57","size":1,"note":{"__proto__":{"admin":true}}}'],
    [
      'constructor.prototype',
      '{"price":"0.57","size":1,"constructor":{"prototype":{"admin":true}}}',
    ],
  ])('with %s is refused with 400', async (_, payload) => {
    expect(await send(payload)).toEqual({ status: 400, body: { error: 'the body is not JSON' } });
  });

  test('with repeated keys counts the last one', async () => {
    const answer = await send('{"price":"0.99","price":"0.01","size":1}');
    expect([answer.status, answer.body.body.price]).toEqual([200, '0.01']);
  });

  test('is refused with 400 when it is not UTF-8', async () => {
    const bytes = Buffer.concat([
      Buffer.from('{"price":"0.5","size":1,"note":"'),
      Buffer.from([0xff, 0xfe]),
      Buffer.from('"}'),
    ]);
    expect(await send(bytes)).toEqual({ status: 400, body: { error: 'the body is not UTF-8' } });
  });

  test.each([7, 8, 450])('nesting %d arrays deep is judged by the limit of 8', async (depth) => {
    const note = `${'['.repeat(depth)}${']'.repeat(depth)}`;
    const answer = await send(`{"price":"0.57","size":1,"note":${note}}`);
    expect(answer.status).toBe(depth <= 7 ? 200 : 400);
    if (depth > 7) expect(answer.body.error).toBe('the body nests deeper than 8 levels');
  });

  test('may have brackets, quotes and backslashes inside its texts', async () => {
    const note = `${'['.repeat(50)} \\" ${'{'.repeat(50)} \\\\`;
    const payload = `{"price":"0.57","size":1,"note":"${note}"}`;
    const answer = await send(payload);
    expect([answer.status, answer.body.raw]).toEqual([200, payload]);
  });

  test('gets the text of its route when the route has one', async () => {
    for (const payload of ['', '{', '{"price":1}', `{"note":${'['.repeat(20)}}`]) {
      expect(await send(payload, { url: '/named' })).toEqual({
        status: 400,
        body: { error: 'Invalid order payload', code: 'invalid_payload' },
      });
    }
  });

  test('never brings a 5xx, whatever bytes it has', async () => {
    let state = 12345;
    const random = () => {
      state = (Math.imul(state, 1103515245) + 12345) >>> 0;
      return state >>> 8;
    };
    for (let round = 0; round < 500; round += 1) {
      const bytes = Buffer.from(good);
      for (let change = 0; change <= round % 4; change += 1) {
        bytes[random() % bytes.length] = random() % 256;
      }
      const answer = await send(bytes);
      expect([200, 400]).toContain(answer.status);
    }
  });
});
