import { type HttpRoute, urlsOf } from '@pm/schemas/routes/route';
import { routes } from '@pm/schemas/routes/routes';
import type { InjectOptions } from 'fastify';
import type { HttpApp } from '../../src/http/app.io.ts';
import { openHttp } from '../../src/http/open.io.ts';
import { silentLog } from '../../src/log/index.ts';

/** Every public route, each of which says which one it is. */
const table: readonly HttpRoute[] = routes;
const all = table.flatMap((route) => urlsOf(route).map(({ url }) => ({ ...route, url })));
const methodsOf = new Map<string, string[]>();
let app: HttpApp;

beforeAll(async () => {
  app = openHttp({ log: silentLog, bodyLimitBytes: 1024, opensToPages: true });
  for (const { method, url } of all) {
    methodsOf.set(url, [...(methodsOf.get(url) ?? []), method]);
    app.route({ method, url, handler: async () => ({ route: `${method} ${url}` }) });
  }
  await app.ready();
});
afterAll(() => app.close());

const others = ['PUT', 'PATCH', 'DELETE', 'POST', 'TRACE', 'PROPFIND', 'PURGE', 'GET'];
const send = (method: string, url: string) =>
  app.inject({ method: method as InjectOptions['method'] & string, url });

/** A path of the route: a parameter is any text. */
const pathOf = (url: string) => url.replaceAll(/:\w+/g, '0x7f');

test('a slash at the end of a path changes nothing, at the root and under every mount', async () => {
  for (const { method, url } of all) {
    const path = pathOf(url).replace(/(.)\/$/, '$1');
    for (const sent of [path, `${path}?a=1`, path.replace(/([^/])$/, '$1/')]) {
      const { statusCode, body } = await send(method, sent);
      expect([sent, statusCode, body]).toEqual([
        sent,
        200,
        JSON.stringify({ route: `${method} ${url}` }),
      ]);
    }
  }
});

test('a method that a path does not have is 405, which names those that it has', async () => {
  for (const [url, methods] of methodsOf) {
    for (const method of others) {
      const { statusCode, headers } = await send(method, pathOf(url));
      const allowed = String(headers.allow ?? '').split(', ');
      if (statusCode === 200) continue;
      expect([method, url, statusCode]).toEqual([method, url, 405]);
      expect(allowed).toEqual(expect.arrayContaining(methods));
      expect(allowed).not.toContain(method);
    }
  }
});

test('HEAD is answered as GET, or is 405', async () => {
  for (const [url, methods] of methodsOf) {
    const { statusCode, body } = await send('HEAD', pathOf(url));
    expect([url, statusCode]).toEqual([url, methods.includes('GET') ? 200 : statusCode]);
    expect([200, 405]).toContain(statusCode);
    if (statusCode === 200) expect(body).toBe('');
  }
});

test('pages of any origin may call what takes no credentials, and the routes of agents', async () => {
  const isOpen = ({ url, ...route }: (typeof all)[number]) =>
    url.startsWith('/api/v1/') ||
    ('auth' in route && JSON.stringify(route.auth).includes('"none"'));
  const open = new Map<string, boolean>();
  for (const route of all) {
    const { method, url } = route;
    const { headers } = await send(method, pathOf(url));
    expect([method, url, headers['access-control-allow-origin']]).toEqual([
      method,
      url,
      isOpen(route) ? '*' : undefined,
    ]);
    open.set(url, (open.get(url) ?? false) || isOpen(route));
  }
  for (const [url, opens] of open) {
    const { statusCode, headers } = await send('OPTIONS', pathOf(url));
    expect(statusCode).toBe(204);
    expect(headers.allow).toContain('OPTIONS');
    if (opens) expect(headers['access-control-allow-origin']).toBe('*');
    expect(headers['access-control-allow-credentials']).toBeUndefined();
    // Signed requests cannot be sent by a page.
    expect(String(headers['access-control-allow-headers'])).not.toMatch(/service|poly/i);
  }
  expect((await send('OPTIONS', '/nothing')).statusCode).toBe(404);
});
