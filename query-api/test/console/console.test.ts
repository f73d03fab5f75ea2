import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { HttpApp } from '@pm/kit/http';
import { readConsole } from '../../src/console/read-console.io.ts';
import { openListener, World } from '../in-memory.ts';

const folder = mkdtempSync(join(tmpdir(), 'console-'));
const page = `<!doctype html><title>Console</title>${'<p>text</p>'.repeat(50)}`;
let app: HttpApp;

beforeAll(async () => {
  mkdirSync(join(folder, 'assets'));
  writeFileSync(join(folder, 'index.html'), page);
  writeFileSync(join(folder, 'assets/index-0a1b2c3d.js'), 'export {};');
  writeFileSync(join(folder, '.built-from'), 'a hash');
  mkdirSync(join(folder, 'docs'));
  writeFileSync(join(folder, 'docs/index.html'), page);
  writeFileSync(join(folder, 'docs/start.js'), 'export {};');
  const world = new World();
  world.console = await readConsole(folder);
  app = openListener(world);
});
afterAll(async () => {
  await app.close();
  rmSync(folder, { recursive: true });
});

test.each(['/console/', '/console'])('%s is the page, under a policy of its own', async (url) => {
  const { statusCode, body, headers } = await app.inject(url);
  expect([statusCode, body]).toEqual([200, page]);
  const policy = String(headers['content-security-policy']);
  expect(policy).toContain("default-src 'self'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toMatch(/unsafe|data:|blob:|\*/);
  expect(headers['x-content-type-options']).toBe('nosniff');
  expect(headers['cache-control']).toBe('no-cache');
});

test('a browser that has the page is answered without it', async () => {
  const { headers } = await app.inject('/console/');
  const given = { 'if-none-match': String(headers.etag) };
  const again = await app.inject({ url: '/console/', headers: given });
  expect([again.statusCode, again.body]).toEqual([304, '']);
});

test('a file with a hash in its name is kept for good', async () => {
  const { headers, body } = await app.inject('/console/assets/index-0a1b2c3d.js');
  expect(body).toBe('export {};');
  expect(headers['content-type']).toBe('text/javascript; charset=utf-8');
  expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
});

test('the page of the API and its files are sent, under a policy that names no other server', async () => {
  const { body, headers } = await app.inject('/docs');
  expect(body).toBe(page);
  const policy = String(headers['content-security-policy']);
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toMatch(/https?:|unsafe-eval|\*/);
  const file = await app.inject('/docs/start.js');
  expect([file.statusCode, file.headers['cache-control']]).toEqual([200, 'no-cache']);
  expect((await app.inject('/docs/..%2Findex.html')).statusCode).toBe(404);
});

test('bytes are compressed where that is shorter and asked for', async () => {
  const headers = { 'accept-encoding': 'gzip, br' };
  const answer = await app.inject({ url: '/console/', headers });
  expect(answer.headers['content-encoding']).toBe('gzip');
  expect(gunzipSync(answer.rawPayload).toString()).toBe(page);
  const short = await app.inject({ url: '/console/assets/index-0a1b2c3d.js', headers });
  expect(short.headers['content-encoding']).toBeUndefined();
});

test.each(['index.html', '..%2Findex.html', '%2e%2e/index.html', '.built-from', 'x'.repeat(99)])(
  'what the build did not write is not found: %s',
  async (file) => {
    expect((await app.inject(`/console/assets/${file}`)).statusCode).toBe(404);
  },
);

test('without a build the console is not found', async () => {
  const world = new World();
  world.console = await readConsole(join(folder, 'absent'));
  const { statusCode } = await openListener(world).inject('/console/');
  expect(statusCode).toBe(404);
});
