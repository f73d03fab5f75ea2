import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { HttpApp } from '../../src/http/app.io.ts';
import { contentCodingFor } from '../../src/http/content-coding.ts';
import { openHttp } from '../../src/http/open.io.ts';
import { silentLog } from '../../src/log/index.ts';

const list = JSON.stringify(Array.from({ length: 500 }, (_, id) => ({ id, title: 'Rain?' })));
let app: HttpApp;

beforeAll(async () => {
  app = openHttp({ log: silentLog, bodyLimitBytes: 1024, compresses: true });
  const json = 'application/json; charset=utf-8';
  app.get('/list', (_request, reply) => reply.type(json).send(list));
  app.get('/bytes', (_request, reply) => reply.type(json).send(Buffer.from(list)));
  app.get('/short', (_request, reply) => reply.type(json).send('[1]'));
  app.get('/page', (_request, reply) => reply.type('text/html').send(list));
  app.get('/refused', (_request, reply) => reply.code(400).type(json).send(list));
  await app.ready();
});
afterAll(() => app.close());

const ask = (url: string, encoding: string, method: 'GET' | 'HEAD' = 'GET') =>
  app.inject({ method, url, headers: { 'accept-encoding': encoding } });

test.each([
  [undefined, null],
  ['', null],
  ['identity', null],
  ['deflate, zstd', null],
  ['gzip', 'gzip'],
  ['gzip, deflate', 'gzip'],
  ['gzip, deflate, br, zstd', 'br'],
  ['GZIP;q=1, br;q=0.5', 'gzip'],
  ['br;q=0, gzip;q=0', null],
  ['br; q=0, *', 'gzip'],
  ['*', 'br'],
  ['*;q=0', null],
  ['gzip;q=x', null],
])('Accept-Encoding %p is served %p', (header, coding) => {
  expect(contentCodingFor(header)).toBe(coding);
});

test.each([
  ['/list', 'gzip', gunzipSync],
  ['/list', 'br', brotliDecompressSync],
  ['/bytes', 'gzip', gunzipSync],
  ['/bytes', 'br', brotliDecompressSync],
])('%s in %s is the same body in a tenth of the bytes', async (url, coding, unpack) => {
  const { headers, rawPayload } = await ask(url, coding);
  expect(headers).toMatchObject({ 'content-encoding': coding, vary: 'accept-encoding' });
  expect(Number(headers['content-length'])).toBe(rawPayload.length);
  expect(rawPayload.length).toBeLessThan(list.length / 10);
  expect(unpack(rawPayload).toString()).toBe(list);
  const head = await ask(url, coding, 'HEAD');
  expect([head.headers['content-length'], head.body]).toEqual([headers['content-length'], '']);
});

test.each([
  ['/list', 'identity'],
  ['/short', 'gzip'],
  ['/page', 'gzip'],
  ['/refused', 'gzip'],
])('%s for %s is sent as it is', async (url, encoding) => {
  const { headers, payload } = await ask(url, encoding);
  expect(headers['content-encoding']).toBeUndefined();
  expect(payload).toBe(url === '/short' ? '[1]' : list);
});
